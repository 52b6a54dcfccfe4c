//! Assignments and arrays.

use std::borrow::Cow;

use super::ast::{Assignment, AssignmentMode, Piece, Word};
use super::cursor::{Parsed, Parser, Scope};
use super::pair::Pair;
use super::pieces::Pieces;
use super::quote::Style;
use super::word::Kind;

/// Whether an argument may be an array, as those of `declare` may.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ArrayAllowed {
    No,
    Yes,
}

impl Assignment<'_> {
    /// Tells an assignment without subscript and array.
    pub(super) fn is_plain(&self) -> bool {
        let array = |piece: &Piece<'_>| matches!(piece, Piece::Array(_));
        self.subscript.is_none() && !self.value.pieces.iter().any(array)
    }
}

impl<'t> Parser<'_, 't> {
    /// Returns where a variable's name that begins here ends.
    pub(super) fn name_end(&self, start: usize) -> usize {
        let mut end = start;
        loop {
            match self.byte(end) {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => end += 1,
                b'0'..=b'9' if end > start => end += 1,
                b'\\' if self.byte(end + 1) == b'\n' && end > start => end += 2,
                _ => return end,
            }
        }
    }

    /// Reads an assignment, if one begins here.
    pub(super) fn assignment(&mut self) -> Parsed<Option<Assignment<'t>>> {
        let start = self.at;
        self.at = self.name_end(start);
        if self.at == start {
            return Ok(None);
        }
        let name = (start, self.at);
        let subscript = match self.peek() {
            b'=' | b'+' => None,
            b'[' => Some(self.subscript()?),
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        let Some(mode) = self.mode() else {
            self.at = start;
            return Ok(None);
        };
        let from = self.at;
        let mut pieces = Pieces::new();
        if self.peek() == b'(' {
            pieces.push(self.array()?);
        }
        let value = self.word_from(from, pieces, Kind::Value)?;
        let span = self.span(start, self.at);
        let name = self.joined(name.0, name.1);
        Ok(Some(Assignment { name, subscript, mode, value, span }))
    }

    /// Reads an argument; those of `declare` and its kin may be `name=(…)`.
    pub(super) fn argument(&mut self, arrays: ArrayAllowed) -> Parsed<Word<'t>> {
        let start = self.at;
        if arrays == ArrayAllowed::No {
            let word = self.word(Kind::Argument)?;
            if self.scope.has(Scope::SUBSTITUTION) || self.scope.has(Scope::COPROC_SEEN) {
                self.check_argument(start)?;
            }
            return Ok(word);
        }
        self.at = self.name_end(start);
        if self.at > start && self.mode().is_some() && self.peek() == b'(' {
            let head = Piece::Literal(self.joined(start, self.at));
            let array = self.array()?;
            let word = self.word_from(start, Pieces::from_iter([head, array]), Kind::Value);
            return word;
        }
        self.at = start;
        let word = self.word(Kind::Argument)?;
        self.check_argument(start)?;
        Ok(word)
    }

    /// Refuses an array where bash may or may not allow it.
    fn check_argument(&self, start: usize) -> Parsed<()> {
        match self.byte(self.at) == b'(' && self.raw(start, self.at).ends_with('=') {
            true => Err(self.unsupported("an array as an argument", start)),
            false => Ok(()),
        }
    }

    /// Refuses a backslash in an array in `$(…)`: some versions of bash lose it.
    pub(super) fn check_backslash(&self, start: usize) -> Parsed<()> {
        match self.scope.has(Scope::ARRAY) && self.scope.has(Scope::SUBSTITUTION) {
            true => Err(self.unsupported("a backslash in an array in `$(…)`", start)),
            false => Ok(()),
        }
    }

    /// Refuses `$$(` between double quotes in a subscript: bash takes it for `$` and a substitution
    /// when it looks for the end of the subscript again.
    pub(super) fn check_dollars(&self, from: usize, to: usize) -> Parsed<()> {
        match self.raw(from, to).contains('"') && self.joined(from, to).contains("$$(") {
            true => Err(self.unsupported("`$$(` between quotes in a subscript", from)),
            false => Ok(()),
        }
    }

    /// Goes behind `=` or `+=`.
    fn mode(&mut self) -> Option<AssignmentMode> {
        if self.take(b"=") {
            return Some(AssignmentMode::Replace);
        }
        self.take(b"+=").then_some(AssignmentMode::Append)
    }

    /// Reads `[…]`, in which expansions are live even between single quotes.
    pub(super) fn subscript(&mut self) -> Parsed<Word<'t>> {
        let from = self.at + 1;
        let to = self.pair_end(from, Pair::Subscript)?;
        self.check_dollars(from, to)?;
        let word = self.inner(from, to, Style::Live)?;
        self.at = to + 1;
        Ok(word)
    }

    /// Reads `(…)` behind an assignment's `=`.
    fn array(&mut self) -> Parsed<Piece<'t>> {
        if self.scope.has(Scope::COPROC_SEEN) || !self.pending.is_empty() {
            // Bash loses count of what came before, or of the lines that a heredoc takes.
            return Err(self.unsupported("an array behind `coproc` or `<<`", self.at));
        }
        self.take(b"(");
        let outside = self.scope.has(Scope::ARRAY);
        self.scope.put(Scope::ARRAY);
        self.nested(|parser| {
            let mut elements = Vec::new();
            loop {
                parser.newlines()?;
                if parser.take(b")") {
                    if !outside {
                        parser.scope.take(Scope::ARRAY);
                    }
                    return Ok(Piece::Array(elements));
                }
                if !parser.word_begins() {
                    return Err(parser.unexpected());
                }
                elements.push(parser.element()?);
            }
        })
    }

    fn element(&mut self) -> Parsed<Assignment<'t>> {
        let start = self.at;
        let (mut subscript, mut mode) = (None, AssignmentMode::Replace);
        let mut kind = Kind::Element;
        if self.peek() == b'[' {
            let inside = self.subscript()?;
            if let Some(found) = self.mode() {
                (subscript, mode, kind) = (Some(inside), found, Kind::Value);
            } else {
                self.at = start;
            }
        }
        let value = self.word(kind)?;
        self.check_argument(start)?;
        let span = self.span(start, self.at);
        Ok(Assignment { name: Cow::Borrowed(""), subscript, mode, value, span })
    }
}
