//! Looking for one ASCII character in a short text, where the general search of `str` costs more
//! than the looking itself.

/// Every byte of a word set to one, and to its highest bit.
const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Returns where a text first has an ASCII character.
#[inline]
pub(crate) fn find(text: &str, wanted: u8) -> Option<usize> {
    text.bytes().position(|byte| byte == wanted)
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
        None => bytes.iter().fold(false, |found, byte| found | (*byte == wanted)),
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

/// Returns whether one of eight bytes is the wanted one, without looking at them one by one: the
/// lowest byte that becomes zero borrows from its highest bit.
#[inline]
fn holds(word: [u8; 8], wanted: u8) -> bool {
    let word = u64::from_ne_bytes(word) ^ (ONES * u64::from(wanted));
    word.wrapping_sub(ONES) & !word & HIGHS != 0
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
            for at in 0..length {
                let text = format!("{}~{}", &text[..at], &text[at + 1..]);
                assert_eq!(
                    (find(&text, b'~'), has(&text, b'~')),
                    (Some(at), true),
                    "{length} {at}"
                );
                assert_eq!(behind_last(&text, b'~').len(), length - at - 1);
                assert_eq!(all(&text), [at], "{length} {at}");
            }
        }
        assert!(has("é", 0xC3) && has("0123456789é", 0xA9) && !has("0123456789é", 0x29));
    }
}
