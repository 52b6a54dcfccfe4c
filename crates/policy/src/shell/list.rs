//! Lists and pipelines.

use super::Grammar;
use super::ast::{Connector, Item, List, Pipeline, Waiting};
use super::cursor::{Before, Parsed, Parser, Scope};
use super::keyword::Keyword;

/// What ends a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Closer {
    /// The end of the text.
    End,
    /// `)`
    Paren,
    /// `}`
    Brace,
    /// `then`
    Then,
    /// `do`
    Do,
    /// `done`
    Done,
    /// `elif`, `else`, `fi`
    Branch,
    /// `;;`, `;&`, `;;&`, `esac`
    Arm,
}

impl Closer {
    fn is(self, keyword: Keyword) -> bool {
        match self {
            Self::End | Self::Paren => false,
            Self::Brace => keyword == Keyword::CloseBrace,
            Self::Then => keyword == Keyword::Then,
            Self::Do => keyword == Keyword::Do,
            Self::Done => keyword == Keyword::Done,
            Self::Branch => matches!(keyword, Keyword::Elif | Keyword::Else | Keyword::Fi),
            Self::Arm => keyword == Keyword::Esac,
        }
    }
}

impl<'t> Parser<'_, 't> {
    /// Reads commands up to what closes them, which stays.
    pub(super) fn list(&mut self, closer: Closer) -> Parsed<List<'t>> {
        // Nearly no list is empty.
        let mut items = Vec::with_capacity(4);
        self.before = Before::Separated;
        loop {
            self.newlines()?;
            if self.closes(closer) {
                break;
            }
            let mut item = self.item()?;
            self.blanks();
            match self.peek() {
                b';' if !self.sees(b";;") && !self.sees(b";&") => self.at += 1,
                b'&' => {
                    self.at += 1;
                    item.waiting = Waiting::Background;
                }
                b'\n' => self.newline()?,
                _ => {
                    items.push(item);
                    if self.closes(closer) {
                        break;
                    }
                    return Err(self.unexpected());
                }
            }
            items.push(item);
            self.before = Before::Separated;
        }
        if closer == Closer::End {
            self.heredocs()?;
        }
        Ok(List { items })
    }

    /// Reads a list in which something must stand.
    pub(super) fn full_list(&mut self, closer: Closer) -> Parsed<List<'t>> {
        let list = self.list(closer)?;
        match list.items.is_empty() {
            true => Err(self.unexpected()),
            false => Ok(list),
        }
    }

    /// Tells whether the list ends here. A reserved word closes it only where a command may begin.
    fn closes(&mut self, closer: Closer) -> bool {
        match closer {
            Closer::End => self.peek() == 0,
            Closer::Paren => self.peek() == b')',
            Closer::Arm if self.sees(b";;") || self.sees(b";&") => true,
            Closer::Brace
            | Closer::Then
            | Closer::Do
            | Closer::Done
            | Closer::Branch
            | Closer::Arm => {
                self.before != Before::Word
                    && self.keyword().is_some_and(|(keyword, _)| closer.is(keyword))
            }
        }
    }

    fn item(&mut self) -> Parsed<Item<'t>> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let connector = if self.take(b"&&") {
                Connector::And
            } else if self.take(b"||") {
                Connector::Or
            } else {
                return Ok(Item { first, rest, waiting: Waiting::Foreground });
            };
            self.newlines()?;
            rest.push((connector, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline<'t>> {
        if self.prefixes()? {
            return Ok(Pipeline { stages: Vec::new() });
        }
        let mut stages = Vec::with_capacity(4);
        loop {
            stages.push(self.command()?);
            self.blanks();
            if self.peek() != b'|' || self.sees(b"||") {
                return Ok(Pipeline { stages });
            }
            self.at += 1;
            self.behind_pipe()?;
        }
    }

    /// Goes behind what is left of a `|` and the lines that end there.
    fn behind_pipe(&mut self) -> Parsed<()> {
        let both = self.grammar != Grammar::Posix && self.take(b"&");
        self.blanks();
        if !both && self.byte(self.at) == b'\n' {
            self.newline()?;
            self.blanks();
        }
        // Behind any other line's end `time` is reserved again, and no part of a pipeline.
        let reserved = self.byte(self.at) == b'\n';
        self.newlines()?;
        match self.keyword() {
            Some((Keyword::Time, _)) if reserved => Err(self.unexpected()),
            _ => Ok(()),
        }
    }

    /// Goes behind `!` and `time`; tells whether the pipeline ends there.
    fn prefixes(&mut self) -> Parsed<bool> {
        self.blanks();
        if self.scope.take(Scope::TIME_IS_WORD) {
            return Ok(false);
        }
        let mut last = None;
        while let Some((keyword @ (Keyword::Bang | Keyword::Time), end)) = self.keyword() {
            self.at = end;
            self.blanks();
            if keyword == Keyword::Time {
                for option in ["-p", "--"] {
                    if let Some((_, end)) = self.bare_word(2).filter(|(word, _)| word == option) {
                        self.at = end;
                        self.blanks();
                    }
                }
            }
            if last.is_some() && self.scope.has(Scope::REREAD) {
                // Bash swaps the two before it reads again.
                return Err(self.unsupported("`!` and `time` in `((…) …)`", self.at));
            }
            last = Some(keyword);
        }
        if last.is_none() {
            return Ok(false);
        }
        self.before = Before::Separated;
        let ends = match self.peek() {
            0 | b'\n' => true,
            b';' => !self.sees(b";;") && !self.sees(b";&"),
            _ => false,
        };
        Ok(ends)
    }
}
