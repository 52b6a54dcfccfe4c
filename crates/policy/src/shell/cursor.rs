//! The parser's place in the text, its limits and its errors.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::ast::{List, Word};
use super::heredoc::Pending;
use super::{Found, Grammar, MAX_COMMANDS, MAX_DEPTH, Unparsed};
use crate::text::{Span, byte};

pub(super) type Parsed<T> = Result<T, Unparsed>;

/// Reads a text `'s`; what stands verbatim in the original text `'t` is borrowed from it.
pub(super) struct Parser<'s, 't> {
    pub(super) text: &'s str,
    pub(super) at: usize,
    pub(super) grammar: Grammar,
    /// Where the part that is being read ends.
    pub(super) end: usize,
    /// The text up to there.
    pub(super) bytes: &'s [u8],
    origin: Origin<'s, 't>,
    pub(super) depth: usize,
    /// The deepest that was read so far.
    pub(super) deepest: usize,
    pub(super) commands: usize,
    /// Heredocs whose bodies begin behind the next newline.
    pub(super) pending: Vec<Pending>,
    /// Heredoc bodies by the place of their operator, in order.
    pub(super) bodies: Vec<(usize, Word<'t>)>,
    /// What the token before means for a reserved word that follows it.
    pub(super) before: Before,
    pub(super) scope: Scope,
    /// Ends of substitutions that were read before: bash looks for the end first, and reading
    /// each level twice would double the work with every level.
    pub(super) ends: BTreeMap<usize, usize>,
}

/// How the text relates to the one that a person wrote.
#[derive(Clone, Copy)]
pub(super) enum Origin<'s, 't> {
    /// It is that text.
    Verbatim(&'t str),
    /// It was rewritten (backticks unescaped, tabs removed); the offset of each byte.
    Rewritten(&'s [usize]),
}

/// Whether a reserved word may follow directly.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Before {
    /// A compound command ended, or a separator stands before.
    Separated,
    /// A word: what follows is a word too.
    Word,
}

/// What surrounds the place that is being read, or stands before it, and changes what bash does
/// there: a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Scope(u8);

impl Scope {
    /// In `$(…)`: a heredoc may end right before the parenthesis.
    pub(super) const SUBSTITUTION: Self = Self(1);
    /// In `((…) …)`, which bash reads a second time.
    pub(super) const REREAD: Self = Self(1 << 1);
    /// In an array.
    pub(super) const ARRAY: Self = Self(1 << 2);
    /// Behind a loop whose `in` bash still waits for.
    pub(super) const AWAITS_IN: Self = Self(1 << 3);
    /// `time` is a program here, not a reserved word.
    pub(super) const TIME_IS_WORD: Self = Self(1 << 4);
    /// Behind a `case`.
    pub(super) const CASE_SEEN: Self = Self(1 << 5);
    /// Behind a `coproc`.
    pub(super) const COPROC_SEEN: Self = Self(1 << 6);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn put(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Removes something; tells whether it was there.
    pub(super) fn take(&mut self, other: Self) -> bool {
        let had = self.has(other);
        self.0 &= !other.0;
        had
    }

    /// Leaves what also holds in a substitution.
    pub(super) fn inside(self) -> Self {
        let kept = Self::REREAD.0 | Self::CASE_SEEN.0 | Self::COPROC_SEEN.0;
        Self(self.0 & kept | Self::SUBSTITUTION.0)
    }

    /// Adds what is still so behind a substitution.
    pub(super) fn behind(self, inner: Self) -> Self {
        Self(self.0 | inner.0 & (Self::CASE_SEEN.0 | Self::COPROC_SEEN.0))
    }
}

impl<'t> Parser<'t, 't> {
    pub(super) fn new(text: &'t str, grammar: Grammar) -> Self {
        Self { grammar, ..Self::over(text, Origin::Verbatim(text), 0, 0) }
    }
}

impl<'s, 't> Parser<'s, 't> {
    pub(super) fn over(
        text: &'s str,
        origin: Origin<'s, 't>,
        depth: usize,
        commands: usize,
    ) -> Self {
        Self {
            text,
            at: 0,
            grammar: Grammar::Bash,
            end: text.len(),
            bytes: text.as_bytes(),
            origin,
            depth,
            deepest: depth,
            commands,
            pending: Vec::new(),
            bodies: Vec::new(),
            before: Before::Separated,
            scope: Scope::default(),
            ends: BTreeMap::new(),
        }
    }

    /// Reads the whole text.
    pub(super) fn script(&mut self) -> Parsed<List<'t>> {
        let mut list = self.list(super::list::Closer::End)?;
        if self.at < self.end {
            return Err(self.unexpected());
        }
        if !self.bodies.is_empty() {
            self.fill(&mut list);
        }
        Ok(list)
    }

    /// Returns the byte at an offset; 0 behind the end, for no text contains a NUL.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Returns the next byte; line continuations before it are left behind.
    #[inline]
    pub(super) fn peek(&mut self) -> u8 {
        match self.byte(self.at) {
            b'\\' => self.peek_on(),
            byte => byte,
        }
    }

    /// The same at a backslash, of which there are few.
    #[cold]
    fn peek_on(&mut self) -> u8 {
        loop {
            let byte = self.byte(self.at);
            if byte != b'\\' || self.byte(self.at + 1) != b'\n' {
                return byte;
            }
            self.at += 2;
        }
    }

    /// Goes on if the next bytes are these; line continuations may stand before and between.
    pub(super) fn take(&mut self, wanted: &[u8]) -> bool {
        let start = self.at;
        for &byte in wanted {
            if self.peek() != byte {
                self.at = start;
                return false;
            }
            self.at += 1;
        }
        true
    }

    /// Tells whether the next bytes are these.
    pub(super) fn sees(&mut self, wanted: &[u8]) -> bool {
        let start = self.at;
        let seen = self.take(wanted);
        self.at = start;
        seen
    }

    /// Returns a part of the text as written.
    pub(super) fn raw(&self, from: usize, to: usize) -> &'s str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Returns a part of the text, borrowed if it stands in the original.
    #[inline]
    pub(super) fn slice(&self, from: usize, to: usize) -> Cow<'t, str> {
        match self.origin {
            Origin::Verbatim(text) => Cow::Borrowed(text.get(from..to).unwrap_or_default()),
            Origin::Rewritten(_) => self.copied(from, to),
        }
    }

    #[cold]
    fn copied(&self, from: usize, to: usize) -> Cow<'t, str> {
        Cow::Owned(self.raw(from, to).to_owned())
    }

    /// Returns a part of the text without its line continuations.
    pub(super) fn joined(&self, from: usize, to: usize) -> Cow<'t, str> {
        let raw = self.raw(from, to);
        match byte::has(raw, b'\\') && raw.contains("\\\n") {
            true => Cow::Owned(raw.replace("\\\n", "")),
            false => self.slice(from, to),
        }
    }

    /// Returns where a byte stands in the text that a person wrote.
    pub(super) fn original(&self, at: usize) -> usize {
        match self.origin {
            Origin::Verbatim(_) => at,
            Origin::Rewritten(offsets) => {
                offsets.get(at).or(offsets.last()).copied().unwrap_or_default()
            }
        }
    }

    /// Marks a part of the text that a person wrote.
    pub(super) fn span(&self, from: usize, to: usize) -> Span {
        Span::new(self.original(from), self.original(to))
    }

    /// Reads one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("the command nests deeper than {MAX_DEPTH} levels");
            return Err(self.error("too-deep", message, self.at, self.at + 1));
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let result = read(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Reads a part of the text as if nothing followed, and goes on behind it.
    pub(super) fn within<T>(
        &mut self,
        from: usize,
        to: usize,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let end = self.end;
        self.stop_at(to);
        self.at = from;
        let result = read(self)?;
        self.stop_at(end);
        self.at = to;
        Ok(result)
    }

    fn stop_at(&mut self, end: usize) {
        let bytes = self.text.as_bytes();
        self.end = end;
        self.bytes = bytes.get(..end).unwrap_or(bytes);
    }

    /// Reads what bash reads only when it gets there.
    pub(super) fn deferred<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        read(self).map_err(|error| Unparsed { found: Found::Running, ..error })
    }

    /// Counts a simple command.
    pub(super) fn count_command(&mut self, from: usize) -> Parsed<()> {
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            let message = format!("the text holds more than {MAX_COMMANDS} commands");
            return Err(self.error("too-many-commands", message, from, self.end));
        }
        Ok(())
    }

    pub(super) fn error(
        &self,
        code: &'static str,
        message: String,
        from: usize,
        to: usize,
    ) -> Unparsed {
        // The end may lie inside a character: the error then ends before it.
        let limit = to.min(self.text.len());
        let to = (from..=limit).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(from);
        Unparsed { code, message, span: self.span(from, to), found: Found::Reading }
    }

    /// Complains about what stands here.
    pub(super) fn unexpected(&self) -> Unparsed {
        let rest = self.raw(self.at, self.end);
        let Some(first) = rest.chars().next() else {
            let message = "the text ends in the middle of a command".to_owned();
            return self.error("unexpected-end", message, self.end, self.end);
        };
        let message = match first {
            '\n' => "a line ends where the shell expects more".to_owned(),
            first => format!("the shell does not expect `{first}` here"),
        };
        self.error("unexpected-token", message, self.at, self.at + first.len_utf8())
    }

    /// Complains about a construct that bash and we may read differently.
    pub(super) fn unsupported(&self, what: &str, from: usize) -> Unparsed {
        self.error("unsupported", what.to_owned(), from, self.at.max(from))
    }
}
