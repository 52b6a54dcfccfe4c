//! Where a name lies in a table. The build puts it there and looking finds it, by this one file.

/// Returns the first eight bytes of a name as a number that is in order as names are.
pub(super) fn start(name: &str) -> u64 {
    if let Some(first) = name.as_bytes().first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let shorter = name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte));
    shorter.checked_shl(64 - 8 * u32::try_from(name.len()).unwrap_or(8)).unwrap_or(0)
}

/// Returns where a name of this start and length is looked for first among `size` places.
pub(super) fn place(start: u64, length: usize, size: usize) -> usize {
    let mixed = (start ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    usize::try_from(mixed).unwrap_or_default() % size
}
