//! Backticks: the old command substitution, whose text is unescaped before it is read.

use super::ast::{Piece, Quoting};
use super::cursor::{Origin, Parsed, Parser};
use super::list::Closer;

impl<'t> Parser<'_, 't> {
    /// Reads a substitution in backticks.
    pub(super) fn backtick(&mut self, quoting: Quoting) -> Parsed<Piece<'t>> {
        let start = self.at;
        let end = self.skip_backtick(start)?;
        let from = start + 1;
        self.at = end + 1;
        let text = self.raw(from, end);
        let (text, offsets) = match text.contains('\\') {
            true => self.unescaped(from, end, quoting),
            false => (String::new(), Vec::new()),
        };
        let list = if offsets.is_empty() {
            self.deferred(|parser| {
                parser.within(from, end, |parser| parser.substitution(Closer::End))
            })?
        } else {
            let origin = Origin::Rewritten(&offsets);
            let mut inner = Parser::over(&text, origin, self.depth, self.commands);
            inner.grammar = self.grammar;
            let list = inner.deferred(|inner| inner.nested(Parser::script))?;
            self.commands = inner.commands;
            self.deepest = self.deepest.max(inner.deepest);
            list
        };
        self.at = end + 1;
        Ok(Piece::Command(list, quoting))
    }

    /// Takes out the backslashes that only keep `$`, backticks and each other from meaning
    /// something one level up, and line continuations.
    fn unescaped(&self, from: usize, end: usize, quoting: Quoting) -> (String, Vec<usize>) {
        let mut text = String::new();
        let mut offsets = Vec::new();
        let mut chars = self.raw(from, end).char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().copied();
            let (at, c) = match (c, next) {
                ('\\', Some((_, '\n'))) => {
                    chars.next();
                    continue;
                }
                ('\\', Some((at, c @ ('$' | '`' | '\\')))) => {
                    chars.next();
                    (at, c)
                }
                ('\\', Some((at, '"'))) if quoting == Quoting::Quoted => {
                    chars.next();
                    (at, '"')
                }
                _ => (at, c),
            };
            let original = self.original(from + at);
            offsets.extend((0..c.len_utf8()).map(|byte| original + byte));
            text.push(c);
        }
        offsets.push(self.original(end));
        (text, offsets)
    }
}
