//! What a backslash stands for in a string.

use std::borrow::Cow;

use super::token::{Lexer, Unread};
use crate::command::HOLE;

impl<'t> Lexer<'t> {
    /// Returns what the backslash here stands for with what follows it, and goes behind that.
    pub(super) fn escape(&mut self) -> Result<Cow<'t, str>, Unread> {
        let rest = self.rest().get(1..).unwrap_or_default();
        let Some(kind) = rest.chars().next() else { return Err(Unread) };
        let body = rest.get(kind.len_utf8()..).unwrap_or_default();
        let (char, len) = match kind {
            'n' => (Some('\n'), 0),
            't' => (Some('\t'), 0),
            'r' => (Some('\r'), 0),
            '\n' => (None, 0),
            'e' => (Some('\u{1b}'), 0),
            'x' => number(body, 16, 2),
            'u' | 'U' => number(body, 16, if kind == 'u' { 4 } else { 8 }),
            'N' if body.starts_with('{') => {
                let end =
                    body.bytes().take(LONGEST_NAME).position(|byte| matches!(byte, b'}' | b'\n'));
                let name = end.and_then(|end| body.get(1..end)).unwrap_or_default();
                (Some(named(name)), end.map_or(0, |end| end + 1))
            }
            '0'..='7' => {
                let (char, len) = number(rest, 8, 3);
                (char, len.saturating_sub(1))
            }
            other => (Some(other), 0),
        };
        self.pos += 1 + kind.len_utf8() + len;
        Ok(char.map_or(Cow::Borrowed(""), |char| char.to_string().into()))
    }
}

/// Returns the character of that name, as far as paths and commands are made of them.
fn named(name: &str) -> char {
    let name = name.to_ascii_uppercase();
    let letter = |kind: &str| name.strip_prefix(kind).filter(|letter| letter.len() == 1);
    let small = letter("LATIN SMALL LETTER ").map(str::to_ascii_lowercase);
    let large = letter("LATIN CAPITAL LETTER ").map(str::to_owned);
    if let Some(letter) = small.or(large).and_then(|letter| letter.chars().next()) {
        return letter;
    }
    match &*name {
        "SOLIDUS" => '/',
        "FULL STOP" => '.',
        "LOW LINE" => '_',
        "HYPHEN-MINUS" => '-',
        "TILDE" => '~',
        "SPACE" => ' ',
        _ => HOLE,
    }
}

/// The longest name of a character that is read.
const LONGEST_NAME: usize = 128;

/// Returns the digits between braces that `body` begins with, if there are no more than eight.
fn braced(body: &str) -> Option<&str> {
    let digits = body.strip_prefix('{')?;
    let end = digits.bytes().take(9).position(|byte| byte == b'}')?;
    digits.get(..end)
}

fn number(body: &str, radix: u32, most: usize) -> (Option<char>, usize) {
    let (digits, extra) = match braced(body) {
        Some(digits) => (digits, 2),
        None => {
            let len = body.chars().take(most).take_while(|c| c.is_digit(radix)).count();
            (body.get(..len).unwrap_or_default(), 0)
        }
    };
    let char = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    (Some(char.unwrap_or(HOLE)), digits.len() + extra)
}
