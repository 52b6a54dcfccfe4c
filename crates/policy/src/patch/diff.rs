//! Unified, context and git diffs, in whatever stands around them.

use super::envelope::{self, Bodies};
use super::hunk::{Hunk, Part};
use super::line::{Line, Lines};
use super::name::Name;
use super::section::{Life, Section, Side, Way, Weight};
use super::{Lie, Touched, Unreadable, git, name, within_bounds};
use crate::text::Span;

/// What diffs touch.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) touched: Vec<Touched>,
    pub(super) unnamed: Option<Span>,
    /// The first hunk that is not as long as it says.
    pub(super) lie: Option<Lie>,
}

/// Reads every diff in a text that has these bodies in it.
pub(super) fn read<'t>(text: &'t str, bodies: &'t Bodies) -> Result<Found, Unreadable> {
    let mut reader = Reader {
        lines: Lines::new(text),
        section: Section::default(),
        found: Vec::new(),
        unnamed: None,
        old_line: None,
        last_hunk: 0,
        bodies,
        lie: None,
        named: 0,
    };
    while let Some(line) = reader.lines.next() {
        match Hunk::announced(line) {
            Some(hunk) => reader.hunk(line, hunk)?,
            None => {
                reader.header(line)?;
                reader.script(line)?;
            }
        }
    }
    reader.close();
    let Reader { found, unnamed, last_hunk, lie, .. } = reader;
    let counts = |touched: &Touched, weight| match weight {
        Weight::Alone => true,
        Weight::WithHunk => touched.span.start() < last_hunk,
    };
    let kept = found.into_iter().filter(|(touched, weight)| counts(touched, *weight));
    Ok(Found { touched: kept.map(|(touched, _)| touched).collect(), unnamed, lie })
}

struct Reader<'t> {
    lines: Lines<'t>,
    section: Section<'t>,
    found: Vec<(Touched, Weight)>,
    unnamed: Option<Span>,
    /// Where the line before this one starts, if it is a `---` header.
    old_line: Option<usize>,
    /// Where the last hunk starts.
    last_hunk: usize,
    bodies: &'t Bodies,
    lie: Option<Lie>,
    /// How many names were seen.
    named: usize,
}

impl<'t> Reader<'t> {
    /// Reads a hunk by counting, as `patch` and `git apply` do. Where its lines are not what its
    /// header promises, they are also read as if they were no hunk: other programs do not count.
    fn hunk(&mut self, header: Line<'t>, mut hunk: Hunk<'t>) -> Result<(), Unreadable> {
        self.starts_hunk(header);
        let body = self.lines.clone();
        let mut is_honest = hunk.is_flush();
        while !hunk.is_complete() {
            let mut ahead = self.lines.clone();
            let part = ahead.next().map_or(Part::Foreign, |line| hunk.take(line));
            self.section.line(part);
            match part {
                Part::Both(_) | Part::Old(_) | Part::New(_) | Part::Note => {}
                Part::Soft => is_honest = false,
                Part::Foreign => {
                    is_honest = false;
                    break;
                }
            }
            self.lines = ahead;
        }
        let end = self.lines.at();
        if !is_honest {
            self.section.is_opaque();
        }
        self.find_lie(header, &hunk);
        let mut before = None;
        for line in body.take_while(|line| line.start < end) {
            // Hardly any file has lines that start with `++ `, and many have comments with `-- `.
            if !is_honest {
                self.header(line)?;
            } else if line.text.starts_with("+++") {
                self.section.is_opaque();
                before.map_or(Ok(()), |before| self.header(before))?;
                self.header(line)?;
            } else {
                line.broken().try_for_each(|piece| self.header_line(piece))?;
            }
            before = line.text.starts_with("---").then_some(line);
        }
        Ok(())
    }

    /// Tells a hunk that has fewer lines than its header promises, or more. In a body the numbers
    /// mean nothing: there hunks are found by their lines.
    fn find_lie(&mut self, header: Line<'t>, hunk: &Hunk<'t>) {
        if self.lie.is_some() || self.bodies.holds(header.span()) {
            return;
        }
        let next = self.lines.clone().find(|line| !line.text.starts_with('\\'));
        let message = if !hunk.is_complete() {
            "a hunk has not the lines that its header promises"
        } else if next.is_some_and(|line| hunk.runs_on(line)) {
            "a hunk has more lines than its header promises"
        } else {
            return;
        };
        self.lie = Some(Lie { message, span: header.span() });
    }

    /// Reads a line that is no part of a hunk, and what some readers see as lines in it.
    fn header(&mut self, line: Line<'t>) -> Result<(), Unreadable> {
        self.header_line(line)?;
        line.broken().try_for_each(|piece| self.header_line(piece))
    }

    fn header_line(&mut self, line: Line<'t>) -> Result<(), Unreadable> {
        let old_line = self.old_line.take();
        let line = line.bare();
        let Some(rest) = line.after("---").or_else(|| line.after("***")) else {
            return match line.after("+++") {
                Some(rest) if rest.text.starts_with([' ', '\t']) => {
                    if let Some(old_line) = old_line {
                        self.section.confirm_from(old_line);
                    }
                    self.names(Side::New, rest, Weight::Alone)
                }
                Some(_) => Ok(()),
                None => self.other_header(line),
            };
        };
        if line.text.starts_with("***************") || is_range(rest.text) {
            self.starts_hunk(line);
        } else if rest.text.starts_with([' ', '\t'])
            && !(line.text.starts_with('*') && envelope::is_marker(rest))
        {
            self.starts_file();
            self.old_line = Some(line.start);
            self.names(Side::Old, rest, Weight::WithHunk)?;
        }
        Ok(())
    }

    fn other_header(&mut self, line: Line<'t>) -> Result<(), Unreadable> {
        if let Some(rest) = line.after("diff --git ") {
            self.close();
            self.section.is_git();
            for name in git::names(rest)? {
                self.name(Side::Both, name, Weight::Alone)?;
            }
        } else if let Some(rest) = line.after("diff --cc ").or(line.after("diff --combined ")) {
            self.close();
            self.names(Side::Both, rest, Weight::Alone)?;
        } else if let Some(rest) = line.after("Index:") {
            self.starts_file();
            self.names(Side::Both, rest, Weight::WithHunk)?;
        } else if let Some(rest) = line.after("Property changes on: ") {
            self.names(Side::Both, rest, Weight::Alone)?;
        } else if line.text.starts_with("GIT binary patch") {
            self.section.is_opaque();
        } else if let Some((_, mode)) = line.after("index ").and_then(|it| it.text.split_once(' '))
        {
            self.section.mode(mode, Life::Goes);
        } else if let Some((life, rest)) = mode(line) {
            self.section.mode(rest.text, life);
        } else if let Some((side, way, rest)) = moved(line) {
            let name = match name::quoted(rest)? {
                Some((name, _)) => name,
                None => Name::plain(rest),
            };
            self.section.moved(side, way, name)?;
        }
        Ok(())
    }

    fn names(&mut self, side: Side, rest: Line<'t>, weight: Weight) -> Result<(), Unreadable> {
        name::names(rest)?.into_iter().try_for_each(|name| self.name(side, name, weight))
    }

    fn name(&mut self, side: Side, name: Name<'t>, weight: Weight) -> Result<(), Unreadable> {
        self.named += 1;
        within_bounds(self.named, name.span)?;
        self.section.name(side, name, weight);
        Ok(())
    }

    /// Refuses what hides a patch: scripts for `ed`, which `patch` takes too, and mails that are
    /// not plain text. Takes note of diffs without any headers.
    fn script(&mut self, line: Line<'t>) -> Result<(), Unreadable> {
        let text = line.text.trim();
        if is_encoding(text) {
            let message = "the patch is a mail whose text is encoded";
            return Err(Unreadable::new("patch-encoded", message, line.span()));
        }
        let command = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
        if command.len() == text.len() || text.starts_with(',') {
            return Ok(());
        }
        let mut behind = command.chars();
        match behind.next() {
            Some('a' | 'c' | 'd' | 'i' | 's') if behind.as_str().is_empty() => {
                let message = "the patch is a script for `ed`, which may run commands";
                Err(Unreadable::new("patch-ed-script", message, line.span()))
            }
            Some('a' | 'c' | 'd') if is_numbers(behind.as_str()) => {
                self.starts_hunk(line);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A header behind a hunk is about another file.
    fn starts_file(&mut self) {
        if self.section.has_hunks() {
            self.close();
        }
    }

    fn starts_hunk(&mut self, line: Line<'t>) {
        if !self.section.is_named() {
            self.unnamed.get_or_insert(line.span());
        }
        self.section.starts_hunk();
        self.last_hunk = self.last_hunk.max(line.start);
    }

    fn close(&mut self) {
        self.found.extend(std::mem::take(&mut self.section).close());
    }
}

/// Reads a line with a file's mode.
fn mode(line: Line<'_>) -> Option<(Life, Line<'_>)> {
    let modes = [
        ("new file mode ", Life::Begins),
        ("deleted file mode ", Life::Ends),
        ("new mode ", Life::Goes),
        ("old mode ", Life::Goes),
    ];
    modes.into_iter().find_map(|(word, life)| Some((life, line.after(word)?)))
}

/// Reads a line about a file's second name.
fn moved(line: Line<'_>) -> Option<(Side, Way, Line<'_>)> {
    let moves = [
        ("rename from ", Side::Old, Way::Move),
        ("rename old ", Side::Old, Way::Move),
        ("rename to ", Side::New, Way::Move),
        ("rename new ", Side::New, Way::Move),
        ("copy from ", Side::Old, Way::Copy),
        ("copy to ", Side::New, Way::Copy),
    ];
    moves.into_iter().find_map(|(word, side, way)| Some((side, way, line.after(word)?)))
}

/// Whether a line of a mail's head says that `git am` will decode the text.
fn is_encoding(text: &str) -> bool {
    let Some((key, value)) = text.split_once(':') else { return false };
    key.eq_ignore_ascii_case("content-transfer-encoding")
        && !["7bit", "8bit", "binary"].iter().any(|it| value.trim().eq_ignore_ascii_case(it))
}

/// Whether a text is the range of a context diff's hunk: ` 1,5 ****`.
fn is_range(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let range = words.next().is_some_and(is_numbers);
    range
        && words.next().is_some_and(|end| matches!(end, "****" | "----"))
        && words.next().is_none()
}

fn is_numbers(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}
