//! Looking for one ASCII character in a short text, where the general search of `str` costs more
//! than the looking itself.

/// Returns where a text first has an ASCII character.
pub(crate) fn find(text: &str, wanted: u8) -> Option<usize> {
    text.bytes().position(|byte| byte == wanted)
}

/// Returns whether a text has an ASCII character.
pub(crate) fn has(text: &str, wanted: u8) -> bool {
    text.bytes().any(|byte| byte == wanted)
}

/// Splits a text at the first of an ASCII character.
pub(crate) fn split_once(text: &str, wanted: u8) -> Option<(&str, &str)> {
    let at = find(text, wanted)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Returns what follows the last of an ASCII character; all of the text where there is none.
pub(crate) fn behind_last(text: &str, wanted: u8) -> &str {
    let at = text.bytes().rposition(|byte| byte == wanted);
    at.and_then(|at| text.get(at + 1..)).unwrap_or(text)
}
