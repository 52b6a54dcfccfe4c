//! Hunks of unified diffs: how many lines they say they have, and how many they do have.

use super::line::Line;

/// What a hunk's header promises, less what has been seen of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hunk<'t> {
    /// What stands in front of the header, and so in front of each line.
    indent: &'t str,
    old: u64,
    new: u64,
}

/// A line of a hunk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Part<'t> {
    /// On both sides.
    Both(&'t str),
    /// On the old side.
    Old(&'t str),
    /// On the new side.
    New(&'t str),
    /// A note that the line before it has no end.
    Note,
    /// A line that some readers take for one on both sides, with its blank lost.
    Soft,
    /// None that a hunk may have.
    Foreign,
}

impl<'t> Hunk<'t> {
    /// Reads `@@ -1,2 +3,4 @@`; nothing where a line is no such header. Numbers that cannot be
    /// read promise more than any text has.
    pub(super) fn announced(line: Line<'t>) -> Option<Self> {
        let bare = line.bare();
        let ranges = bare.text.strip_prefix("@@ -")?;
        let indent = line.text.get(..bare.start - line.start).unwrap_or_default();
        let (old, rest) = ranges.split_once(' ').unwrap_or((ranges, ""));
        let new = rest.trim_start().strip_prefix('+').unwrap_or_default();
        let new = new.split([' ', '@']).next().unwrap_or_default();
        Some(Self { indent, old: length(old), new: length(new) })
    }

    /// Whether nothing stands in front of the header.
    pub(super) fn is_flush(&self) -> bool {
        self.indent.is_empty()
    }

    /// Whether all lines that were promised have been seen.
    pub(super) fn is_complete(&self) -> bool {
        self.old == 0 && self.new == 0
    }

    /// Whether a line behind the last one that was promised looks like one more. What follows is
    /// the header of another file, a signature, or no part of the patch.
    pub(super) fn runs_on(&self, line: Line<'t>) -> bool {
        let text = line.text.strip_prefix(self.indent).unwrap_or(line.text);
        let is_other =
            text.trim_end() == "--" || text.starts_with("---") || text.starts_with("+++");
        text.starts_with(['+', '-', ' ']) && !is_other && !text.trim().is_empty()
    }

    /// Takes the next line.
    pub(super) fn take(&mut self, line: Line<'t>) -> Part<'t> {
        let text = line.text.strip_prefix(self.indent).unwrap_or(line.text);
        let mut rest = text.chars();
        let (old, new, part) = match rest.next() {
            Some(' ') => (1, 1, Part::Both(rest.as_str())),
            Some('-') => (1, 0, Part::Old(rest.as_str())),
            Some('+') => (0, 1, Part::New(rest.as_str())),
            Some('\\') => (0, 0, Part::Note),
            Some('\t' | '=') | None => (1, 1, Part::Soft),
            Some(_) => return Part::Foreign,
        };
        match (self.old.checked_sub(old), self.new.checked_sub(new)) {
            (Some(old), Some(new)) => {
                (self.old, self.new) = (old, new);
                part
            }
            // More lines of one side than there are: the promise is broken.
            _ => Part::Foreign,
        }
    }
}

fn length(range: &str) -> u64 {
    let (start, length) = range.split_once(',').unwrap_or((range, "1"));
    match (start.parse::<u64>(), length.parse::<u64>()) {
        (Ok(_), Ok(length)) => length,
        _ => u64::MAX,
    }
}
