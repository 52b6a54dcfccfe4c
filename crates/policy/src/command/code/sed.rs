//! sed, with GNU's additions.

use super::sink::Sink;
use super::token::Unread;
use crate::command::{Act, Concern, HOLE, Run};
use crate::text::Span;

/// Reads a sed script.
pub(super) fn read<'t>(code: &'t str, mut out: Sink<'t, '_>) {
    let mut reader = Reader { code, pos: 0 };
    while reader.pos < code.len() {
        if reader.command(&mut out).is_err() {
            out.raise(Concern::Unclear, 0, code.len());
            break;
        }
    }
    out.finish();
}

/// Most parts that are not known and are looked at one by one.
const MOST_HOLES: usize = 16;

/// Whether a part that is not known stands where a command or a flag may: an `e` there runs what
/// comes out. In front of a command it is an address, and elsewhere a pattern or a text.
pub(super) fn has_open_hole(code: &str) -> bool {
    let holes = || code.match_indices(HOLE);
    let runs = |at: usize| {
        let (before, behind) = code.split_at_checked(at).unwrap_or_default();
        let behind = behind.strip_prefix(HOLE).unwrap_or(behind);
        let tried = [&before.replace(HOLE, "0"), "e", &behind.replace(HOLE, "0")].concat();
        let mut acts = Vec::new();
        read(&tried, Sink::new(Span::default(), None, &mut acts));
        acts.iter().any(|act| matches!(act, Act::Raise(Concern::Spawns, _)))
    };
    holes().nth(MOST_HOLES).is_some() || holes().any(|(at, _)| runs(at))
}

struct Reader<'t> {
    code: &'t str,
    pos: usize,
}

impl<'t> Reader<'t> {
    /// Reads one command with its addresses.
    fn command(&mut self, out: &mut Sink<'t, '_>) -> Result<(), Unread> {
        self.skip(|c| c.is_whitespace() || c == ';');
        if self.pos >= self.code.len() {
            return Ok(());
        }
        self.address()?;
        self.skip(char::is_whitespace);
        if self.rest().starts_with(',') {
            self.pos += 1;
            self.skip(char::is_whitespace);
            self.address()?;
        }
        self.skip(|c| c.is_whitespace() || c == '!');
        let start = self.pos;
        match self.next()? {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
            | 'z' | 'F' => self.end(),
            '#' => {
                self.line();
                Ok(())
            }
            'a' | 'i' | 'c' => {
                self.text();
                Ok(())
            }
            ':' | 'b' | 't' | 'T' | 'v' => self.label(),
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(|c| c == ' ' || c.is_ascii_digit());
                self.end()
            }
            'r' | 'R' => {
                self.file(out, Act::Read);
                Ok(())
            }
            'w' | 'W' => {
                self.file(out, Act::Write);
                Ok(())
            }
            'e' => {
                self.skip(|c| c == ' ' || c == '\t');
                let from = self.pos;
                let command = self.line();
                if command.is_empty() {
                    out.raise(Concern::Spawns, start, self.pos);
                } else {
                    out.act(Act::Run(Run::Shell(out.verbatim(command.into(), Some(from), (0, 0)))));
                }
                Ok(())
            }
            'y' => {
                let delimiter = self.next()?;
                self.part(delimiter, Part::Text)?;
                self.part(delimiter, Part::Text)?;
                self.end()
            }
            's' => {
                let delimiter = self.next()?;
                self.part(delimiter, Part::Pattern)?;
                self.part(delimiter, Part::Text)?;
                self.flags(start, out)
            }
            _ => Err(Unread),
        }
    }

    /// Goes behind a label or a version.
    fn label(&mut self) -> Result<(), Unread> {
        self.skip(|c| c == ' ' || c == '\t');
        self.skip(|c| !c.is_whitespace() && c != ';' && c != '}');
        // For some a closing brace ends it, for others it is a part of it: what follows it must
        // mean the same to both.
        let after = self.rest().trim_start_matches('}');
        if after.len() < self.rest().len()
            && !after.is_empty()
            && !after.starts_with(|c: char| c == ';' || c.is_whitespace())
        {
            return Err(Unread);
        }
        self.end()
    }

    fn address(&mut self) -> Result<(), Unread> {
        match self.rest().chars().next() {
            Some('0'..='9' | '+' | '~') => {
                self.skip(|c| c.is_ascii_digit() || c == '+' || c == '~');
            }
            Some('$') => self.pos += 1,
            Some(c @ ('/' | '\\')) => {
                self.pos += 1;
                let delimiter = if c == '\\' { self.next()? } else { c };
                self.part(delimiter, Part::Pattern)?;
                self.skip(|c| c == 'I' || c == 'M');
            }
            Some(_) | None => {}
        }
        Ok(())
    }

    /// Reads the flags of `s`: among them one that runs what comes out, and one that writes it.
    fn flags(&mut self, start: usize, out: &mut Sink<'t, '_>) -> Result<(), Unread> {
        loop {
            match self.rest().chars().next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => self.pos += 1,
                Some('e') => {
                    self.pos += 1;
                    out.raise(Concern::Spawns, start, self.pos);
                }
                Some('w') => {
                    self.pos += 1;
                    self.file(out, Act::Write);
                    return Ok(());
                }
                Some(_) | None => return self.end(),
            }
        }
    }

    /// Goes behind the next `delimiter`.
    fn part(&mut self, delimiter: char, part: Part) -> Result<(), Unread> {
        if delimiter == '\n' || delimiter == '\\' {
            return Err(Unread);
        }
        let mut class = None;
        // Whether a list of characters ended at `\]`: some say it did, some that it goes on.
        let mut doubt = false;
        loop {
            let at = self.pos;
            let next = self.next()?;
            match class {
                Some(_) if next == '[' && self.rest().starts_with([':', '.', '=']) => {
                    self.named_class()?;
                }
                Some(_) if next == '\\' && self.rest().starts_with(']') => {
                    self.pos += 1;
                    (class, doubt) = (None, true);
                }
                Some(_) if next == '\n' => return Err(Unread),
                Some(first) if next == ']' && at > first => class = None,
                Some(_) => {}
                None if next == '\\' => {
                    self.next()?;
                }
                None if next == delimiter => return if doubt { Err(Unread) } else { Ok(()) },
                None if next == ']' => doubt = false,
                None if part == Part::Pattern && next == '[' => {
                    class = Some(self.pos + usize::from(self.rest().starts_with('^')));
                }
                None => {}
            }
        }
    }

    /// Goes behind the end of `[:alpha:]`.
    fn named_class(&mut self) -> Result<(), Unread> {
        let mark = self.next()?;
        let rest = self.rest();
        let mut ends = rest
            .match_indices(']')
            .filter(|(at, _)| rest.get(..*at).is_some_and(|name| name.ends_with(mark)));
        self.pos += ends.next().ok_or(Unread)?.0 + 1;
        Ok(())
    }

    /// Reads the text of `a`, `i` and `c`: lines, as long as they end with a backslash that is
    /// not itself protected by one.
    fn text(&mut self) {
        let goes_on = |line: &str| {
            let shown = line.trim_end_matches('\\');
            (line.len() - shown.len()) % 2 == 1
        };
        while goes_on(self.line()) && self.pos < self.code.len() {
            self.pos += 1;
        }
    }

    fn file(&mut self, out: &mut Sink<'t, '_>, act: fn(crate::command::Arg<'t>) -> Act<'t>) {
        self.skip(|c| c == ' ' || c == '\t');
        let from = self.pos;
        let path = self.line();
        if !["/dev/stdout", "/dev/stderr", "/dev/stdin", ""].contains(&path) {
            out.act(act(out.verbatim(path.into(), Some(from), (0, 0))));
        }
    }

    /// Goes behind the end of a command.
    fn end(&mut self) -> Result<(), Unread> {
        self.skip(|c| c == ' ' || c == '\t' || c == '\r');
        match self.rest().chars().next() {
            None | Some('}' | '#') => Ok(()),
            Some(';' | '\n') => {
                self.pos += 1;
                Ok(())
            }
            // Behind `{` and `}` the next command may follow at once.
            Some(_)
                if self
                    .code
                    .get(..self.pos)
                    .is_some_and(|done| done.trim_end().ends_with(['{', '}'])) =>
            {
                Ok(())
            }
            Some(_) => Err(Unread),
        }
    }

    /// Returns the rest of the line.
    fn line(&mut self) -> &'t str {
        let rest = self.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        self.pos += line.len();
        line
    }

    fn skip(&mut self, skips: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.pos += rest.find(|c| !skips(c)).unwrap_or(rest.len());
    }

    fn next(&mut self) -> Result<char, Unread> {
        let next = self.rest().chars().next().ok_or(Unread)?;
        self.pos += next.len_utf8();
        Ok(next)
    }

    fn rest(&self) -> &'t str {
        self.code.get(self.pos..).unwrap_or_default()
    }
}

/// What a part of `s` is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Pattern,
    Text,
}
