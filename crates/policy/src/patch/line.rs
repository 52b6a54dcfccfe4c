//! Lines, as the different readers of patches see them.

use crate::text::Span;

/// A piece of a text that some reader takes for a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    /// The text, without its end.
    pub(super) text: &'t str,
    /// Where it starts.
    pub(super) start: usize,
}

/// Goes through the lines of a text. Cheap to clone, so that a reader can look ahead.
#[derive(Clone, Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns where the next line starts.
    pub(super) fn at(&self) -> usize {
        self.at
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        self.at = (start + line.len() + 1).min(self.text.len());
        Some(Line { text: line.strip_suffix('\r').unwrap_or(line), start })
    }
}

impl<'t> Line<'t> {
    /// Returns the parts behind characters at which some programs also end a line, `\r` and form
    /// feed among them.
    pub(super) fn broken(self) -> impl Iterator<Item = Self> {
        let mut at = self.start;
        let pieces = self.text.split_inclusive(ends_line).map(move |piece| {
            let start = at;
            at += piece.len();
            Line { text: piece.trim_end_matches(ends_line), start }
        });
        pieces.skip(1)
    }

    /// Returns the line without what `patch` leaves out at its front: blanks, `X`, and the dashes
    /// of a forwarded mail.
    pub(super) fn bare(self) -> Self {
        let mut line = self.from(self.text.trim_start_matches([' ', '\t', 'X']));
        while let Some(rest) = line.text.strip_prefix("- ").filter(|rest| rest.starts_with('-')) {
            line = line.from(rest);
        }
        line
    }

    /// Returns what comes behind `word`, if the line starts with it.
    pub(super) fn after(self, word: &str) -> Option<Self> {
        self.text.strip_prefix(word).map(|rest| self.from(rest))
    }

    /// Returns the line without blanks around it.
    pub(super) fn trimmed(self) -> Self {
        let end = self.from(self.text.trim_start());
        Line { text: end.text.trim_end(), ..end }
    }

    /// Returns the whole line as a span.
    pub(super) fn span(self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }

    /// Returns this line from where its ending `rest` starts.
    fn from(self, rest: &'t str) -> Self {
        Line { text: rest, start: self.start + (self.text.len() - rest.len()) }
    }
}

fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\r' | '\u{b}'
            | '\u{c}'
            | '\u{1c}'
            | '\u{1d}'
            | '\u{1e}'
            | '\u{85}'
            | '\u{2028}'
            | '\u{2029}'
    )
}
