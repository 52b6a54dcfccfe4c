//! Messages to the kernel's network, as bytes (netlink(7)).

/// Several messages that are sent at once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Messages {
    bytes: Vec<u8>,
    answered: u32,
}

/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// `NLM_F_ACK`: the kernel says how it went.
const ANSWER: u16 = 4;
/// `NLM_F_CREATE` and `NLM_F_EXCL`: there is none yet.
pub(super) const NEW: u16 = 0x400 | 0x200;
/// `NLM_F_CREATE` and `NLM_F_APPEND`: it comes last.
pub(super) const LAST: u16 = 0x400 | 0x800;
/// `NLA_F_NESTED`.
const NESTED: u16 = 1 << 15;

impl Messages {
    /// Returns the messages, one behind the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns how many of them the kernel answers.
    pub fn answered(&self) -> u32 {
        self.answered
    }

    /// Adds a message that is answered.
    pub(super) fn add(&mut self, kind: u16, flags: u16, body: impl FnOnce(&mut Body<'_>)) {
        self.answered += 1;
        self.put(kind, flags | ANSWER, body);
    }

    /// Adds a message that is not.
    pub(super) fn put(&mut self, kind: u16, flags: u16, body: impl FnOnce(&mut Body<'_>)) {
        let start = self.bytes.len();
        let number = self.answered;
        self.bytes.extend([0; 4]);
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend((flags | REQUEST).to_ne_bytes());
        self.bytes.extend(number.to_ne_bytes());
        self.bytes.extend([0; 4]);
        body(&mut Body { bytes: &mut self.bytes });
        let length = u32::try_from(self.bytes.len() - start).unwrap_or(u32::MAX);
        set(&mut self.bytes, start, length.to_ne_bytes());
    }
}

/// What is in a message, while it is written.
pub(super) struct Body<'m> {
    bytes: &'m mut Vec<u8>,
}

impl Body<'_> {
    /// Writes what comes before the attributes.
    pub(super) fn head<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes.extend(bytes);
        self.fill();
    }

    /// Writes an attribute.
    pub(super) fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.attributes(kind, |body| body.bytes.extend(value));
    }

    /// Writes a text, which ends with a zero.
    pub(super) fn text(&mut self, kind: u16, text: &str) {
        self.attributes(kind, |body| {
            body.bytes.extend(text.bytes());
            body.bytes.push(0);
        });
    }

    /// Writes a number of the network's: its bytes are in the other order.
    pub(super) fn number(&mut self, kind: u16, number: u32) {
        self.attribute(kind, &number.to_be_bytes());
    }

    /// Writes an attribute that is made of others.
    pub(super) fn nested(&mut self, kind: u16, body: impl FnOnce(&mut Body<'_>)) {
        self.attributes(kind | NESTED, body);
    }

    fn attributes(&mut self, kind: u16, body: impl FnOnce(&mut Body<'_>)) {
        let start = self.bytes.len();
        self.bytes.extend([0; 2]);
        self.bytes.extend(kind.to_ne_bytes());
        body(&mut Body { bytes: self.bytes });
        let length = u16::try_from(self.bytes.len() - start).unwrap_or(u16::MAX);
        set(self.bytes, start, length.to_ne_bytes());
        self.fill();
    }

    /// Everything begins at a multiple of four.
    fn fill(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

fn set<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes.iter_mut().skip(at).zip(value).for_each(|(to, from)| *to = from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_what_is_there_and_places_what_is_filled() {
        let mut messages = Messages::default();
        messages.add(20, NEW, |body| {
            body.head([1, 2]);
            body.nested(4, |body| body.text(1, "ab"));
            body.number(2, 7);
        });
        messages.put(16, 0, |_| {});
        let expected = [
            &40_u32.to_ne_bytes()[..],
            &20_u16.to_ne_bytes(),
            &0x605_u16.to_ne_bytes(),
            &1_u32.to_ne_bytes(),
            &[0; 4],
            &[1, 2, 0, 0],
            &12_u16.to_ne_bytes(),
            &0x8004_u16.to_ne_bytes(),
            &7_u16.to_ne_bytes(),
            &1_u16.to_ne_bytes(),
            b"ab\0\0",
            &8_u16.to_ne_bytes(),
            &2_u16.to_ne_bytes(),
            &[0, 0, 0, 7],
            &16_u32.to_ne_bytes(),
            &16_u16.to_ne_bytes(),
            &1_u16.to_ne_bytes(),
            &1_u32.to_ne_bytes(),
            &[0; 4],
        ];
        assert_eq!(messages.bytes(), expected.concat());
        assert_eq!(messages.answered(), 1);
    }
}
