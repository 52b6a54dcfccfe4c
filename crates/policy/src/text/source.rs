//! A text with a name, and places in it.

use std::fmt;
use std::sync::Arc;

use super::byte;

/// A policy text and the name it is known by in messages.
///
/// Cloning is cheap: both parts are shared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source {
    name: Arc<str>,
    shown: Arc<str>,
    text: Arc<str>,
    /// Where each line starts: places are asked for once per value.
    lines: Arc<[usize]>,
    letters: Letters,
}

/// What the characters of a text are known to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Letters {
    /// Each is one byte.
    Ascii,
    Any,
}

impl Source {
    /// Names a text.
    pub fn new(name: &str, text: &str) -> Self {
        let mut lines = Vec::with_capacity(1 + text.len() / 16);
        lines.push(0);
        byte::each(text, b'\n', |at| lines.push(at + 1));
        let name: Arc<str> = name.into();
        Self {
            shown: Arc::clone(&name),
            name,
            text: text.into(),
            lines: lines.into(),
            letters: if text.is_ascii() { Letters::Ascii } else { Letters::Any },
        }
    }

    /// Gives the text another name in messages: the path as a person wrote it.
    #[must_use]
    pub fn shown_as(mut self, shown: &str) -> Self {
        self.shown = shown.into();
        self
    }

    /// Returns the name for messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the name, usually a whole path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name, shared.
    pub fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line and column of a byte offset; both start at 1. Columns count characters, and
    /// bytes where a line is longer than anybody writes: places are asked for once per value.
    pub fn place(&self, offset: usize) -> Place {
        let at = self.boundary(offset);
        let line = self.line_index(at);
        let start = self.lines[line];
        if self.letters == Letters::Ascii {
            return Place { line: count(line + 1), column: count(at - start + 1) };
        }
        let before = &self.text.as_bytes()[start..at];
        let (near, far) = before.split_at(before.len().min(4096));
        let characters = near.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        Place { line: count(line + 1), column: count(characters + far.len() + 1) }
    }

    /// Returns the byte offset of a line and column; of the text's end where there is no such place.
    pub fn offset(&self, place: Place) -> usize {
        let line = usize::try_from(place.line).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(&start) = self.lines.get(line) else { return self.text.len() };
        let column = usize::try_from(place.column).unwrap_or(usize::MAX).saturating_sub(1);
        self.text[start..].char_indices().nth(column).map_or(self.text.len(), |(at, _)| start + at)
    }

    /// Returns the line that holds a byte offset, without its end, and the offset it starts at.
    pub(super) fn line_at(&self, offset: usize) -> (usize, &str) {
        let line = self.line_index(self.boundary(offset));
        let start = self.lines[line];
        let end = self.lines.get(line + 1).map_or(self.text.len(), |next| next - 1);
        (start, self.text[start..end].trim_end_matches('\r'))
    }

    /// Returns a line, counted from 0, as it is but for the line feed, and the offset it starts at.
    pub(super) fn line(&self, index: usize) -> Option<(usize, &str)> {
        let start = *self.lines.get(index)?;
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next - 1);
        Some((start, self.text.get(start..end)?))
    }

    fn line_index(&self, at: usize) -> usize {
        self.lines.partition_point(|&start| start <= at) - 1
    }

    fn boundary(&self, offset: usize) -> usize {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// A stretch of a text, in bytes.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// Marks the bytes from `start` up to, but not including, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Returns the first byte's offset.
    pub fn start(self) -> usize {
        self.start
    }

    /// Returns the offset behind the last byte.
    pub fn end(self) -> usize {
        self.end
    }
}

/// A line and a column, as people count them.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
