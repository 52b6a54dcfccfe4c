//! The names that give patterns away.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::fold::fold;
use super::marks::{has_wildcard, is_special};
use crate::name::{NameIn, Step};
use crate::text::byte;

/// Places of patterns that may match: nearly always few.
pub(super) type Candidates = SmallVec<[usize; 16]>;

/// What the letters of a name are known to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Letters {
    Ascii,
    Any,
}

/// Names that are folded, each with the place of a pattern that has it, sorted by name and place.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    keys: Vec<Key>,
    /// A bit for each, so that most names need not be looked for.
    noted: [u64; 16],
    /// A bit for the two bytes that each begins with.
    begun: [u64; 16],
}

#[derive(Clone, Debug)]
struct Key {
    /// What the name begins with: most are told apart by that alone.
    start: u64,
    name: NameIn,
    place: usize,
}

impl Keys {
    /// Sorts names that are folded, each with the place of a pattern that has it.
    pub(super) fn new(names: Vec<(NameIn, usize)>) -> Self {
        let (mut noted, mut begun) = ([0; 16], [0; 16]);
        for (name, _) in &names {
            let first = |at: usize| name.as_bytes().get(at).copied().unwrap_or(b'/');
            let (word, bit) = beginning(first(0), first(1));
            if let Some(word) = begun.get_mut(word) {
                *word |= bit;
            }
            let (word, bit) = slot(name);
            if let Some(word) = noted.get_mut(word) {
                *word |= bit;
            }
        }
        let key = |(name, place): (NameIn, usize)| Key { start: start(&name), name, place };
        let mut keys: Vec<Key> = names.into_iter().map(key).collect();
        keys.sort_unstable_by(|a, b| {
            let order = a.start.cmp(&b.start).then_with(|| (*a.name).cmp(&b.name));
            order.then_with(|| a.place.cmp(&b.place))
        });
        Self { keys, noted, begun }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns whether one of several ASCII names, with a `/` between them, may be among these.
    pub(super) fn may_begin(&self, names: &str) -> bool {
        let bytes = names.as_bytes();
        let begins = |at: usize| {
            let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'/');
            let (word, bit) = beginning(byte(at), byte(at + 1));
            self.begun.get(word).is_some_and(|word| word & bit != 0)
        };
        let mut found = begins(0);
        byte::each(names, b'/', |at| found |= begins(at + 1));
        found
    }

    /// Finds a name, or those that a shell's pattern may match.
    pub(super) fn find_either(&self, name: &str, found: &mut Candidates) {
        match has_wildcard(name) {
            true => self.find_like(name, found),
            false => self.find(name, Letters::Any, found),
        }
    }

    #[inline]
    pub(super) fn find(&self, name: &str, letters: Letters, found: &mut Candidates) {
        let (word, bit) = slot(name);
        // Folding changes neither the length of an ASCII name nor, but for case, its letters.
        if letters == Letters::Any || self.noted.get(word).is_some_and(|word| word & bit != 0) {
            self.look_up(name, found);
        }
    }

    pub(super) fn look_up(&self, name: &str, found: &mut Candidates) {
        let name = fold(name);
        let wanted = start(&name);
        let order = |key: &Key| key.start.cmp(&wanted).then_with(|| (*key.name).cmp(&name));
        let from = self.keys.partition_point(|key| order(key) == Ordering::Less);
        let behind = self.keys.get(from..).unwrap_or_default();
        let same = behind.iter().take_while(|key| order(key) == Ordering::Equal);
        found.extend(same.map(|key| key.place));
    }

    /// Finds the names that a shell's pattern may match.
    fn find_like(&self, pattern: &str, found: &mut Candidates) {
        let pattern = fold(pattern);
        // Most are told by what the pattern begins and ends with, without reading all of it.
        let (start, end) = (
            pattern.bytes().position(is_special).and_then(|at| pattern.as_bytes().get(..at)),
            pattern.bytes().rposition(is_special).and_then(|at| pattern.as_bytes().get(at + 1..)),
        );
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        let from = self.keys.partition_point(|key| key.name.as_bytes() < start);
        let mut step = None;
        for Key { name, place, .. } in self.keys.get(from..).unwrap_or_default() {
            if !name.as_bytes().starts_with(start) {
                break;
            }
            let ends = name.bytes().next_back() == end.last().copied() || end.is_empty();
            if ends
                && name.as_bytes().ends_with(end)
                && step.get_or_insert_with(|| Step::pattern(&pattern)).may_be(name)
            {
                found.push(*place);
            }
        }
    }
}

/// Returns the first bytes of a name as a number that sorts as they do.
fn start(name: &str) -> u64 {
    match name.as_bytes().first_chunk() {
        Some(start) => u64::from_be_bytes(*start),
        None => {
            let start = name.bytes().fold(0, |start, byte| start << 8 | u64::from(byte));
            start.checked_shl(8 * (8 - u32::try_from(name.len()).unwrap_or(8))).unwrap_or(0)
        }
    }
}

/// Returns where two bytes are noted that names begin with; behind the only one stands a `/`.
fn beginning(one: u8, two: u8) -> (usize, u64) {
    // With this bit a capital letter is the small one.
    let place = usize::from(one | 0x20) * 37 + usize::from(two | 0x20);
    (place / 64 % 16, 1 << (place % 64))
}

/// Returns where a name is noted, by its ends, its middle and its length: a word, and a bit of it.
fn slot(name: &str) -> (usize, u64) {
    let bytes = name.as_bytes();
    let at = |byte: Option<&u8>| usize::from(byte.map_or(0, u8::to_ascii_lowercase));
    let middle = at(bytes.get(bytes.len() / 2));
    let place = at(bytes.first()) * 31 + at(bytes.last()) * 7 + middle * 131 + bytes.len();
    (place / 64 % 16, 1 << (place % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_with_all_its_places() {
        let names = [
            "a",
            "ab",
            "abcdefg",
            "abcdefgh",
            "abcdefghi",
            "abcdefghj",
            "é",
            "\u{7f}",
            "b",
            "",
            "ab",
            "abcdefghi",
            "a\u{1}",
            "ab\u{1}",
        ];
        let keys =
            Keys::new(names.iter().enumerate().map(|(at, name)| ((*name).into(), at)).collect());
        let sorted = keys.keys.is_sorted_by_key(|key| (&*key.name, key.place));
        assert!(sorted, "{:?}", keys.keys);
        for name in names.into_iter().chain(["abc", "abcdefghk", "c", "\u{80}"]) {
            let mut found = Candidates::new();
            keys.find(name, Letters::Any, &mut found);
            let folded = fold(name);
            let expected: Vec<usize> = (0..names.len()).filter(|at| names[*at] == folded).collect();
            assert_eq!(found.to_vec(), expected, "{name:?}");
            // None of them is passed over by how it begins, whatever its case.
            let name = if names.contains(&name) && !name.is_empty() { name } else { "b" };
            let upper = name.to_uppercase();
            for path in [name.to_owned(), format!("z/{upper}"), format!("z/{name}/z")] {
                assert!(keys.may_begin(&path) || !path.is_ascii(), "{path:?}");
            }
        }
        assert!(!keys.may_begin("z/y/xx"));
        let mut found = Candidates::new();
        keys.find_either("ab*", &mut found);
        assert_eq!(found.to_vec(), [1, 10, 13, 2, 3, 4, 11, 5]);
    }
}
