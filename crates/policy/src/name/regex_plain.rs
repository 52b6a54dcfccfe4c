//! Which regular expressions need not be compiled to know that they will compile.
//!
//! Compiling one costs up to a millisecond, parsing it one microsecond, and most rules of a policy
//! are never asked in one run. So a pattern that parses and uses only the plain constructs below
//! is compiled when first used; any other is compiled at once, to find its errors where it is
//! written.

use std::str::Chars;

/// How many classes a plain pattern may hold: each becomes kilobytes of the engine's 1 MiB.
const CLASSES: usize = 12;
const LONGEST: usize = 512;

/// Returns whether `text`, if the engine's parser accepts it, surely compiles within its limits.
pub(super) fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    let mut classes = 0;
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => is_plain_escape(&mut chars, &mut classes),
            '[' => {
                classes += 1;
                is_plain_class(&mut chars, &mut classes)
            }
            '(' => is_plain_group(chars.as_str()),
            '{' | '}' | ']' => false,
            c => c.is_ascii_graphic() || c == ' ',
        };
        if !plain {
            return false;
        }
    }
    classes <= CLASSES && text.len() <= LONGEST
}

fn is_plain_escape(chars: &mut Chars<'_>, classes: &mut usize) -> bool {
    match chars.next() {
        Some('s' | 'S' | 'w' | 'W' | 'd' | 'D') => {
            *classes += 1;
            true
        }
        Some('b' | 'A' | 'z') => true,
        Some(c) => ".*+?()[]{}|^$\\/-".contains(c),
        None => false,
    }
}

fn is_plain_group(rest: &str) -> bool {
    !rest.starts_with('?') || ["?:", "?=", "?!", "?i)"].iter().any(|kind| rest.starts_with(kind))
}

/// Reads to the end of a class whose `[` has been read.
fn is_plain_class(chars: &mut Chars<'_>, classes: &mut usize) -> bool {
    if chars.as_str().starts_with('^') {
        chars.next();
    }
    let mut empty = true;
    while let Some(c) = chars.next() {
        let plain = match c {
            ']' => return !empty,
            '\\' => is_plain_escape(chars, classes) && !chars.as_str().starts_with('-'),
            c if chars.as_str().starts_with('-') => {
                chars.next();
                let same = |kind: fn(&char) -> bool, end: char| kind(&c) && kind(&end) && c <= end;
                chars.next().is_some_and(|end| {
                    same(char::is_ascii_digit, end)
                        || same(char::is_ascii_lowercase, end)
                        || same(char::is_ascii_uppercase, end)
                })
            }
            c => c.is_ascii_alphanumeric() || " _./:;,=@|\"'<>#%!?*+$()".contains(c),
        };
        if !plain {
            return false;
        }
        empty = false;
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::regex::{compile, parse};
    use super::*;

    #[test]
    fn everyday_rules_are_plain_and_doubtful_ones_are_not() {
        for text in ["^(git|ls) ", r"\brm\s+-[a-z]*f\b", "read_file", r"(?i)curl[^|;]*\|\s*sh"] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "[z-a]", "a{9}", r"\p{X}", r"(a)\1", "(?<=a)", "(?P<a>b)", "[a&&b]", "[[:x:]]",
            "(?x) #",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_plain_and_parses_also_compiles(
            text in "(a|b|-|\\.|\\*|\\+|\\?|\\||\\^|\\$|\\(|\\)|\\(\\?[:=!]|\\(\\?i\\)|\\[\\^?|\\]|\\\\[sSwWdDbAz.\\]\\[]){1,24}",
        ) {
            if is_plain(&text) && parse(&text).is_ok() {
                prop_assert!(compile(&text).is_ok(), "{}: {:?}", text, compile(&text).err());
            }
        }
    }
}
