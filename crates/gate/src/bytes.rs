//! A place in bytes that somebody else wrote: whatever is not there is `None`.

/// What is left to read. Nothing here can panic, and nothing is copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn rest(self) -> &'b [u8] {
        self.0
    }

    /// Reads the next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads the next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Reads a length of one byte, and that many bytes.
    pub(crate) fn short(&mut self) -> Option<&'b [u8]> {
        let length = self.u8()?;
        self.take(length.into())
    }

    /// Reads a length of two bytes, and that many bytes.
    pub(crate) fn long(&mut self) -> Option<&'b [u8]> {
        let length = self.u16()?;
        self.take(length.into())
    }
}
