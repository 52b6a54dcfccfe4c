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
                collect_names(text, &mut names);
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

/// Collects variables: names that are not the tail of a number such as `0xff` or `16#ff`.
fn collect_names<'t>(text: &Cow<'t, str>, names: &mut Vec<Cow<'t, str>>) {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'@');
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while bytes.get(at).is_some_and(word) {
            at += 1;
        }
        let first = bytes.get(start).copied().unwrap_or_default();
        if at > start && !first.is_ascii_digit() {
            names.push(match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.get(start..at).unwrap_or_default()),
                Cow::Owned(text) => Cow::Owned(text.get(start..at).unwrap_or_default().to_owned()),
            });
        }
        at = at.max(start + 1);
    }
}
