//! Looking for one ASCII character in a short text, where the general search of `str` costs more
//! than the looking itself.

/// Every byte of a word set to one, and to its highest bit.
const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Returns where a text first has an ASCII character.
#[inline]
pub(crate) fn find(text: &str, wanted: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().position(|byte| *byte == wanted);
    };
    let (words, _) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        if let Some(found) = first_in(*word, wanted) {
            return Some(at * 8 + found);
        }
    }
    // What these have in common with those before them is not the wanted one.
    first_in(*last, wanted).map(|found| bytes.len() - 8 + found)
}

/// Returns whether a text has a byte.
#[inline]
pub(crate) fn has(text: &str, wanted: u8) -> bool {
    let bytes = text.as_bytes();
    // The last eight bytes may overlap those before them: they are looked at twice then.
    match bytes.last_chunk() {
        Some(last) => {
            let (words, _) = bytes.as_chunks::<8>();
            holds(*last, wanted) || words.iter().any(|word| holds(*word, wanted))
        }
        None => match spread(bytes) {
            Some(word) => holds(word, wanted),
            None => bytes.iter().fold(false, |found, byte| found | (*byte == wanted)),
        },
    }
}

/// Tells of every place at which a text has an ASCII character.
#[inline]
pub(crate) fn each(text: &str, wanted: u8, mut found: impl FnMut(usize)) {
    const LOWS: u64 = u64::from_ne_bytes([0x7f; 8]);
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(wanted));
        // The highest bit of each byte that is the wanted one, and no other bit.
        let mut hits = !(((word & LOWS) + LOWS) | word | LOWS);
        while hits != 0 {
            found(at + (hits.trailing_zeros() / 8) as usize);
            hits &= hits - 1;
        }
        at += 8;
    }
    for byte in rest {
        if *byte == wanted {
            found(at);
        }
        at += 1;
    }
}

/// Returns whether a text has one of two bytes.
#[inline]
pub(crate) fn has_either(text: &str, one: u8, other: u8) -> bool {
    let bytes = text.as_bytes();
    match bytes.last_chunk() {
        Some(last) => {
            let (words, _) = bytes.as_chunks::<8>();
            let either = |word| (marks(word, one) | marks(word, other)) != 0;
            either(*last) || words.iter().any(|word| either(*word))
        }
        None => match spread(bytes) {
            Some(word) => (marks(word, one) | marks(word, other)) != 0,
            None => bytes.iter().any(|byte| *byte == one || *byte == other),
        },
    }
}

/// Splits a text at the first of an ASCII character.
#[inline]
pub(crate) fn split_once(text: &str, wanted: u8) -> Option<(&str, &str)> {
    let at = find(text, wanted)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Returns what follows the last of an ASCII character; all of the text where there is none.
#[inline]
pub(crate) fn behind_last(text: &str, wanted: u8) -> &str {
    let at = text.bytes().rposition(|byte| byte == wanted);
    at.and_then(|at| text.get(at + 1..)).unwrap_or(text)
}

/// Returns four bytes or more, but less than eight, as eight: some of them twice.
#[inline]
fn spread(bytes: &[u8]) -> Option<[u8; 8]> {
    let ([a, b, c, d], [e, f, g, h]) = (*bytes.first_chunk()?, *bytes.last_chunk()?);
    Some([a, b, c, d, e, f, g, h])
}

/// Returns whether one of eight bytes is the wanted one.
#[inline]
fn holds(word: [u8; 8], wanted: u8) -> bool {
    marks(word, wanted) != 0
}

/// Returns which of eight bytes is the first wanted one.
#[inline]
fn first_in(word: [u8; 8], wanted: u8) -> Option<usize> {
    let marks = marks(word, wanted);
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

/// Marks the wanted ones of eight bytes by their highest bits, without looking at them one by one:
/// the lowest byte that becomes zero borrows from its highest bit. Behind the first one others may
/// be marked too.
#[inline]
fn marks(word: [u8; 8], wanted: u8) -> u64 {
    let word = u64::from_le_bytes(word) ^ (ONES * u64::from(wanted));
    word.wrapping_sub(ONES) & !word & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_wherever_it_stands() {
        let all = |text: &str| {
            let mut places = Vec::new();
            each(text, b'~', |at| places.push(at));
            places
        };
        assert_eq!(all("~~\u{7f}é~\u{fe}~~~~~"), [0, 1, 5, 8, 9, 10, 11, 12]);
        for length in 0..40_usize {
            assert_eq!(all(&"~".repeat(length)), (0..length).collect::<Vec<_>>());
            let text = "\u{7f}".repeat(length);
            assert_eq!((find(&text, b'~'), has(&text, b'~')), (None, false), "{length}");
            assert!(!has_either(&text, b'~', b'}'), "{length}");
            for at in 0..length {
                let text = format!("{}~{}", &text[..at], &text[at + 1..]);
                assert_eq!(
                    (find(&text, b'~'), has(&text, b'~')),
                    (Some(at), true),
                    "{length} {at}"
                );
                assert_eq!(behind_last(&text, b'~').len(), length - at - 1);
                assert_eq!(all(&text), [at], "{length} {at}");
                assert!(has_either(&text, b'~', 0) && has_either(&text, 0, b'~'), "{length} {at}");
                // Of several the first counts.
                let twice = format!("{text}~{text}");
                assert_eq!((find(&twice, b'~'), find(&twice, b'}')), (Some(at), None), "{twice}");
            }
        }
        assert!(has("é", 0xC3) && has("0123456789é", 0xA9) && !has("0123456789é", 0x29));
    }
}
