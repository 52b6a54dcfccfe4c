//! Values: where one ends, and what stands in its place.

use super::{GONE, HOLE, QUOTES};

/// What ends a word of a shell, and so what may be run behind it.
const ENDS: &[char] = &[';', '|', '&', '<', '>', '(', ')', '`', '\n'];

/// Returns what stands in place of a secret. What the shell puts in is told as it is written: a variable
/// is no secret, and a command is what runs.
pub(super) fn gone(value: &str) -> String {
    if !value.contains(HOLE) {
        return if value.is_empty() { String::new() } else { GONE.to_owned() };
    }
    let mut told = String::new();
    for (number, part) in value.split(HOLE).enumerate() {
        if number > 0 {
            told.push(HOLE);
        }
        if !part.is_empty() {
            told.push_str(GONE);
        }
    }
    told
}

/// Splits a text behind the value that it begins with, so that nothing else that runs is a part of it.
pub(super) fn split(text: &str) -> Value<'_> {
    if text.starts_with(GONE) {
        let (value, rest) = text.split_at(GONE.len());
        return Value { open: "", value, rest };
    }
    // `\"` in a text within a text.
    let (escape, rest) = match text.strip_prefix('\\') {
        Some(rest) if rest.starts_with(QUOTES) => ("\\", rest),
        Some(_) | None => ("", text),
    };
    if let Some(quote) = rest.chars().next().filter(|first| QUOTES.contains(first)) {
        let inside = rest.get(quote.len_utf8()..).unwrap_or_default();
        if let Some(end) = closing(inside, quote, escape) {
            let open = text.get(..escape.len() + quote.len_utf8()).unwrap_or_default();
            let value = inside.get(..end).unwrap_or_default();
            return Value { open, value, rest: inside.get(end..).unwrap_or_default() };
        }
        // One that nothing closes says nothing of where the value ends.
        let word = inside.find(|c: char| c.is_whitespace() || ENDS.contains(&c));
        let (value, rest) = inside.split_at(word.unwrap_or(inside.len()));
        let open = text.get(..escape.len() + quote.len_utf8()).unwrap_or_default();
        return Value { open, value, rest };
    }
    let end = text.find(|c: char| {
        c.is_whitespace() || ENDS.contains(&c) || QUOTES.contains(&c) || ",}]".contains(c)
    });
    let end = end.into_iter().chain(text.find("$(")).chain(text.find("\\\"")).min();
    let (value, rest) = text.split_at(end.unwrap_or(text.len()));
    Value { open: "", value, rest }
}

/// A value at the beginning of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Value<'t> {
    /// The quote in front of it.
    pub(super) open: &'t str,
    pub(super) value: &'t str,
    /// What stands behind it, its closing quote included.
    pub(super) rest: &'t str,
}

/// Finds the quote that closes a text.
fn closing(inside: &str, quote: char, escape: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if !escape.is_empty() {
            if c == '\\' && inside.get(at + 1..).is_some_and(|rest| rest.starts_with(quote)) {
                return Some(at);
            }
            continue;
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if quote != '\'' => escaped = true,
            _ if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// Finds the end of a list or an object that a text begins with.
pub(super) fn bracket(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_where_something_else_may_run() {
        #[rustfmt::skip]
        let cases = [
            ("abc def",         ("", "abc", " def")),
            ("abc;rm x",        ("", "abc", ";rm x")),
            ("'a b' c",         ("'", "a b", "' c")),
            ("\"a\\\"b\" c",    ("\"", "a\\\"b", "\" c")),
            ("\\\"ab\\\"}",     ("\\\"", "ab", "\\\"}")),
            ("'a b; rm",        ("'", "a", " b; rm")),
            ("a$(rm x)",        ("", "a", "$(rm x)")),
            ("",                ("", "", "")),
        ];
        for (text, (open, value, rest)) in cases {
            assert_eq!(split(text), Value { open, value, rest }, "{text}");
        }
        assert_eq!(bracket("{\"a\":[\"]\"]} x"), Some(11));
        assert_eq!(bracket("[1"), None);
        assert_eq!(gone(&format!("a{HOLE}b")), format!("[redacted]{HOLE}[redacted]"));
    }
}
