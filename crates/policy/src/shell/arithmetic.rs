//! Arithmetic.

use std::borrow::Cow;

use super::ast::{Arithmetic, Piece};
use super::cursor::{Parsed, Parser};
use super::quote::Style;

impl<'t> Parser<'_, 't> {
    /// Reads an expression whose end is known.
    pub(super) fn arithmetic(&mut self, from: usize, to: usize) -> Parsed<Arithmetic<'t>> {
        let expression = self.inner(from, to, Style::Live)?;
        let mut names = Vec::new();
        for piece in &expression.pieces {
            if let Piece::Quoted(text) = piece {
                names.extend(names_in(text).map(|(from, to)| match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.get(from..to).unwrap_or_default()),
                    Cow::Owned(text) => {
                        Cow::Owned(text.get(from..to).unwrap_or_default().to_owned())
                    }
                }));
            }
        }
        Ok(Arithmetic { expression, names })
    }

    /// Tells whether parentheses pair up; those in quotes do not count.
    pub(super) fn balanced(&self, from: usize, to: usize) -> bool {
        let mut depth = 0_usize;
        let mut at = from;
        while at < to {
            match self.byte(at) {
                b'\\' => at += 1,
                quote @ (b'\'' | b'"') => {
                    at += 1;
                    while at < to && self.byte(at) != quote {
                        at += 1 + usize::from(quote == b'"' && self.byte(at) == b'\\');
                    }
                }
                b'(' => depth += 1,
                b')' => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return false,
                },
                _ => {}
            }
            at += 1;
        }
        depth == 0
    }
}

/// Finds variables: names that are not the tail of a number such as `0xff` or `16#ff`.
fn names_in(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'@');
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        loop {
            let rest = bytes.get(at..)?;
            let start = at + rest.iter().position(|&byte| word(byte))?;
            let rest = bytes.get(start..)?;
            at = start + rest.iter().take_while(|&&byte| word(byte)).count();
            if !rest.first()?.is_ascii_digit() {
                return Some((start, at));
            }
        }
    })
}
