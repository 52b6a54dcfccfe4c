//! Reserved words, blanks and comments: what stands between words.

use std::borrow::Cow;

use super::Grammar;
use super::cursor::{Parsed, Parser};

/// Words that mean something where a command may begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Keyword {
    Bang,
    Case,
    CloseBrace,
    CloseTest,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    In,
    OpenBrace,
    OpenTest,
    Select,
    Then,
    Time,
    Until,
    While,
}

impl Keyword {
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "!" => Self::Bang,
            "case" => Self::Case,
            "coproc" => Self::Coproc,
            "do" => Self::Do,
            "done" => Self::Done,
            "elif" => Self::Elif,
            "else" => Self::Else,
            "esac" => Self::Esac,
            "fi" => Self::Fi,
            "for" => Self::For,
            "function" => Self::Function,
            "if" => Self::If,
            "in" => Self::In,
            "select" => Self::Select,
            "then" => Self::Then,
            "time" => Self::Time,
            "until" => Self::Until,
            "while" => Self::While,
            "{" => Self::OpenBrace,
            "}" => Self::CloseBrace,
            "[[" => Self::OpenTest,
            "]]" => Self::CloseTest,
            _ => return None,
        })
    }
}

impl Keyword {
    /// Tells words that only bash reserves.
    fn is_of_bash(self) -> bool {
        matches!(
            self,
            Self::CloseTest
                | Self::Coproc
                | Self::Function
                | Self::OpenTest
                | Self::Select
                | Self::Time
        )
    }
}

/// The longest reserved word has so many letters.
const LONGEST: usize = "function".len();

/// What the small letters at the beginning of a word tell.
enum Letters {
    /// They are the whole word, which ends here.
    Alone(usize),
    /// They are a part of a word that is not reserved.
    Part,
    /// It takes more than that to tell.
    Unclear,
}

/// Tells bytes that end a word.
#[inline]
pub(super) fn breaks(byte: u8) -> bool {
    matches!(byte, 0 | b' ' | b'\t' | b'\n' | b'(' | b')' | b'<' | b'>' | b';' | b'&' | b'|')
}

/// Tells whether a reserved word may begin with two bytes. A line may continue between them.
#[inline]
fn may_begin(first: u8, second: u8) -> bool {
    match first {
        b'!' | b'[' | b']' | b'{' | b'}' => true,
        b'c' => matches!(second, b'a' | b'o' | b'\\'),
        b'd' => matches!(second, b'o' | b'\\'),
        b'e' => matches!(second, b'l' | b's' | b'\\'),
        b'f' => matches!(second, b'i' | b'o' | b'u' | b'\\'),
        b'i' => matches!(second, b'f' | b'n' | b'\\'),
        b's' => matches!(second, b'e' | b'\\'),
        b't' => matches!(second, b'h' | b'i' | b'\\'),
        b'u' => matches!(second, b'n' | b'\\'),
        b'w' => matches!(second, b'h' | b'\\'),
        _ => false,
    }
}

impl<'t> Parser<'_, 't> {
    /// Skips blanks, line continuations and a comment.
    #[inline]
    pub(super) fn blanks(&mut self) {
        // Nearly always one, or none.
        if self.byte(self.at) == b' ' {
            self.at += 1;
        }
        if matches!(self.byte(self.at), b' ' | b'\t' | b'#' | b'\\') {
            self.more_blanks();
        }
    }

    #[inline(never)]
    fn more_blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.at += 1,
                b'#' => {
                    while !matches!(self.byte(self.at), 0 | b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and newlines; the bodies of heredocs begin behind a newline.
    pub(super) fn newlines(&mut self) -> Parsed<()> {
        loop {
            self.blanks();
            if self.byte(self.at) != b'\n' {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Goes behind a newline and the heredocs that begin there.
    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        match self.pending.is_empty() {
            true => Ok(()),
            false => self.heredocs(),
        }
    }

    /// Returns the reserved word that stands here, and where it ends.
    #[inline(always)]
    pub(super) fn keyword(&mut self) -> Option<(Keyword, usize)> {
        let first = self.peek();
        // Nearly no word begins as one of them does.
        if may_begin(first, self.byte(self.at + 1)) { self.reserved() } else { None }
    }

    #[inline(never)]
    fn reserved(&self) -> Option<(Keyword, usize)> {
        let (keyword, end) = match self.letters() {
            Letters::Alone(end) => (Keyword::of(self.raw(self.at, end))?, end),
            Letters::Part => return None,
            Letters::Unclear => {
                let (word, end) = self.bare_word(LONGEST)?;
                (Keyword::of(&word)?, end)
            }
        };
        (self.grammar != Grammar::Posix || !keyword.is_of_bash()).then_some((keyword, end))
    }

    /// Tells by the small letters that stand here whether they are a word of their own.
    fn letters(&self) -> Letters {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().take(LONGEST + 1).take_while(|byte| byte.is_ascii_lowercase());
        let length = length.count();
        match rest.get(length) {
            _ if length == 0 => Letters::Unclear,
            _ if length > LONGEST => Letters::Part,
            // Lines may continue in a word, and `a<(b)` is one.
            Some(b'\\' | b'<' | b'>') => Letters::Unclear,
            Some(byte) if !breaks(*byte) => Letters::Part,
            Some(_) | None => Letters::Alone(self.at + length),
        }
    }

    /// Returns a word without quotes and expansions that stands here, and where it ends; nothing
    /// for a longer one.
    pub(super) fn bare_word(&self, longest: usize) -> Option<(Cow<'t, str>, usize)> {
        let (mut end, mut length) = (self.at, 0);
        loop {
            let byte = self.byte(end);
            match byte {
                b'\\' if self.byte(end + 1) == b'\n' => end += 1,
                b'\'' | b'"' | b'\\' | b'$' | b'`' => return None,
                byte if breaks(byte) => break,
                _ => length += 1,
            }
            end += 1;
            if length > longest {
                return None;
            }
        }
        // `a<(b)` is one word.
        if matches!(self.byte(end), b'<' | b'>') && self.byte(end + 1) == b'(' {
            return None;
        }
        // Most words stand on one line.
        let text = match length == end - self.at {
            true => self.slice(self.at, end),
            false => self.joined(self.at, end),
        };
        (length > 0).then_some((text, end))
    }

    /// Goes behind a reserved word that must stand here.
    pub(super) fn expect(&mut self, wanted: Keyword) -> Parsed<()> {
        match self.keyword() {
            Some((found, end)) if found == wanted => {
                self.at = end;
                Ok(())
            }
            _ => Err(self.unexpected()),
        }
    }
}
