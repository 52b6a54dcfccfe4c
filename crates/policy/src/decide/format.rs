//! What `printf` makes of its words, and what escapes stand for.

use super::scope::Value;
use crate::command::{Arg, Certainty, HOLE, Holed as _};
use crate::shell::MAX_TEXT;

/// Who reads escapes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reader {
    Bash,
    /// Some other program or shell, of which only so much is known as all have in common.
    Other,
}

/// Returns what a format and its words become, where all of them are known.
pub(super) fn formatted(args: &[Arg<'_>], reader: Reader) -> Option<Value> {
    let (args, is_marked) = match args {
        [mark, rest @ ..] if mark.text == "--" => (rest, true),
        _ => (args, false),
    };
    let (format, words) = args.split_first()?;
    let format = format.as_known().filter(|format| is_marked || !format.starts_with('-'))?;
    let words: Option<Vec<&str>> = words.iter().map(Arg::as_known).collect();
    let mut words = words?.into_iter().peekable();
    let mut text = String::new();
    // What is left over is taken by the same format once more.
    loop {
        let left = words.len();
        let mut parts = format.split('%');
        text.push_str(&unescaped(parts.next()?, reader)?);
        while let Some(part) = parts.next() {
            let mut rest = part.chars();
            match rest.next() {
                Some('s') => text.push_str(words.next().unwrap_or_default()),
                Some('b') => {
                    text.push_str(&unescaped(words.next().unwrap_or_default(), reader)?);
                }
                Some('d') => {
                    let plain = |word: &&str| {
                        !word.starts_with('0') && word.bytes().all(|b| b.is_ascii_digit())
                    };
                    text.push_str(words.next().filter(plain)?);
                }
                // `%%`: the part between the two is empty, and the next one is text.
                None => {
                    text.push('%');
                    rest = parts.next()?.chars();
                }
                Some(_) => return None,
            }
            text.push_str(&unescaped(rest.as_str(), reader)?);
        }
        if text.len() > MAX_TEXT {
            return None;
        }
        if words.peek().is_none() {
            break;
        }
        if words.len() == left {
            break;
        }
    }
    // The ends of lines are cut off where it is used, and no path ends in one.
    text.truncate(text.trim_end_matches('\n').len());
    let read = args.iter().any(|arg| hides(&arg.text));
    (!text.has_hole()).then(|| if read { uncovered(&text) } else { Value::known(text) })
}

/// What escapes with numbers became. Whoever hides a text is asked about it all the same, so it
/// counts as known but for its end.
fn uncovered(text: &str) -> Value {
    Value { text: format!("{text}{HOLE}"), certainty: Certainty::Partial }
}

/// Returns such a text without the end that is not known.
pub(super) fn shown(value: &Value) -> Value {
    Value::known(value.text.trim_end_matches(HOLE))
}

/// Whether a text has letters that stand there as numbers.
pub(super) fn hides(text: &str) -> bool {
    text.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c == 'x' || c.is_ascii_digit()))
}

/// Returns what `${x@E}` makes of a value.
pub(super) fn escaped(value: &Value) -> Option<Value> {
    let text = unescaped(&value.text, Reader::Bash)?;
    let known = Value { text: text.clone(), certainty: value.certainty };
    Some(if hides(&value.text) { uncovered(&text) } else { known })
}

/// Reads escapes as `printf` and `$'…'` do; `None` where readers differ, or where they make what is
/// no plain text.
fn unescaped(text: &str, reader: Reader) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        plain.push_str(before);
        let kind = behind.chars().next()?;
        let after = behind.get(kind.len_utf8()..)?;
        let (made, after) = match kind {
            '\\' => ('\\', after),
            'n' => ('\n', after),
            't' => ('\t', after),
            'r' => ('\r', after),
            // `%b` takes one more digit behind a zero than others do.
            '0' if numbered(after, 8, 3).is_some_and(|(_, end)| end.len() + 3 == after.len()) => {
                return None;
            }
            '0'..='7' => numbered(behind, 8, 3)?,
            'x' if reader == Reader::Bash => numbered(after, 16, 2)?,
            _ => return None,
        };
        plain.push(made);
        rest = after;
    }
    plain.push_str(rest);
    Some(plain)
}

/// Reads the number of an ASCII character, of at most so many digits.
fn numbered(text: &str, radix: u32, most: usize) -> Option<(char, &str)> {
    let count = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let (digits, after) = text.split_at_checked(count)?;
    let byte = u8::from_str_radix(digits, radix).ok()?;
    (byte.is_ascii() && byte != 0).then_some((char::from(byte), after))
}
