//! Compound commands.

use std::borrow::Cow;

use super::Grammar;
use super::ast::{Arm, CommandKind, List, Word};
use super::cursor::{Before, Parsed, Parser, Scope};
use super::keyword::Keyword;
use super::list::Closer;
use super::word::Kind;

impl<'t> Parser<'_, 't> {
    /// Tells whether a compound command begins here.
    pub(super) fn compound_begins(&mut self) -> bool {
        self.peek() == b'('
            || matches!(
                self.keyword(),
                Some((
                    Keyword::Case
                        | Keyword::For
                        | Keyword::If
                        | Keyword::OpenBrace
                        | Keyword::OpenTest
                        | Keyword::Select
                        | Keyword::Until
                        | Keyword::While,
                    _
                ))
            )
    }

    pub(super) fn compound(&mut self) -> Parsed<CommandKind<'t>> {
        if self.peek() == b'(' {
            return self.parenthesis();
        }
        let Some((keyword, end)) = self.keyword() else { return Err(self.unexpected()) };
        let start = std::mem::replace(&mut self.at, end);
        match keyword {
            Keyword::OpenBrace => {
                let list = self.full_list(Closer::Brace)?;
                self.expect(Keyword::CloseBrace)?;
                Ok(CommandKind::Group(list))
            }
            Keyword::If => self.branches(),
            Keyword::While | Keyword::Until => {
                let condition = self.full_list(Closer::Do)?;
                self.expect(Keyword::Do)?;
                let body = self.full_list(Closer::Done)?;
                self.expect(Keyword::Done)?;
                Ok(CommandKind::While { condition, body })
            }
            Keyword::For => {
                self.blanks();
                match self.sees(b"((") {
                    true => self.for_arithmetic(),
                    false => self.for_words(),
                }
            }
            Keyword::Select => self.for_words(),
            Keyword::Case => self.case(),
            Keyword::OpenTest => self.test(),
            Keyword::Bang
            | Keyword::CloseBrace
            | Keyword::CloseTest
            | Keyword::Coproc
            | Keyword::Do
            | Keyword::Done
            | Keyword::Elif
            | Keyword::Else
            | Keyword::Esac
            | Keyword::Fi
            | Keyword::Function
            | Keyword::In
            | Keyword::Then
            | Keyword::Time => {
                self.at = start;
                Err(self.unexpected())
            }
        }
    }

    /// Reads `( … )` or `(( … ))`. Bash looks for the `)` first: another right behind it makes it
    /// arithmetic.
    fn parenthesis(&mut self) -> Parsed<CommandKind<'t>> {
        let outside = self.scope.has(Scope::REREAD);
        if self.grammar != Grammar::Posix && self.sees(b"((") {
            let start = self.at;
            self.take(b"((");
            let from = self.at;
            let to = self.arithmetic_end(from)?;
            if self.byte(to + 1) == b')' {
                let arithmetic = self.arithmetic(from, to)?;
                self.at = to + 2;
                return Ok(CommandKind::Arithmetic(arithmetic));
            }
            let twice = self.raw(from, to);
            let waits = !self.pending.is_empty() && twice.contains('\n');
            if matches!(self.byte(to + 1), b'\n' | b'\\') || twice.contains('#') || waits {
                return Err(self.unsupported("lines or comments in `((…) …)`", start));
            }
            self.at = start;
            self.scope.put(Scope::REREAD);
        }
        self.take(b"(");
        let list = self.full_list(Closer::Paren)?;
        self.at += 1;
        if !outside {
            self.scope.take(Scope::REREAD);
        }
        Ok(CommandKind::Subshell(list))
    }

    fn branches(&mut self) -> Parsed<CommandKind<'t>> {
        let mut branches = Vec::with_capacity(1);
        loop {
            let condition = self.full_list(Closer::Then)?;
            self.expect(Keyword::Then)?;
            let body = self.full_list(Closer::Branch)?;
            branches.push((condition, body));
            let Some((keyword, end)) = self.keyword() else { return Err(self.unexpected()) };
            self.at = end;
            if keyword == Keyword::Elif {
                continue;
            }
            let mut otherwise = None;
            if keyword == Keyword::Else {
                otherwise = Some(self.full_list(Closer::Branch)?);
                self.expect(Keyword::Fi)?;
            }
            return Ok(CommandKind::If { branches, otherwise });
        }
    }

    fn for_words(&mut self) -> Parsed<CommandKind<'t>> {
        let name = self.loop_name()?;
        self.blanks();
        let mut words = None;
        if self.take(b";") {
            self.newlines()?;
            self.await_in();
            return Ok(CommandKind::For { name, words, body: self.loop_body()? });
        }
        let start = self.at;
        self.newlines()?;
        let lines = self.raw(start, self.at).contains('\n');
        match self.keyword() {
            // Bash may take this `in` for that of a `case` before.
            Some((Keyword::In, _)) if lines && self.scope.has(Scope::CASE_SEEN) => {
                return Err(self.unsupported("a loop's `in` on a line of its own", start));
            }
            Some((Keyword::In, end)) => {
                self.at = end;
                words = Some(self.loop_words()?);
                self.newlines()?;
            }
            Some((Keyword::Do, _)) => {}
            Some((Keyword::OpenBrace, _)) if lines => self.await_in(),
            _ => return Err(self.unexpected()),
        }
        Ok(CommandKind::For { name, words, body: self.loop_body()? })
    }

    /// After `for x; {` bash goes on waiting for an `in`, and takes the next one for it.
    fn await_in(&mut self) {
        if matches!(self.keyword(), Some((Keyword::OpenBrace, _))) {
            self.scope.put(Scope::AWAITS_IN);
        }
    }

    fn loop_name(&mut self) -> Parsed<Cow<'t, str>> {
        self.blanks();
        if !self.word_begins() {
            return Err(self.unexpected());
        }
        let start = self.at;
        let word = self.word(Kind::Argument)?;
        match word.plain() {
            Some(_) => Ok(self.joined(start, self.at)),
            None => Err(self.unsupported("a loop's variable must be a plain name", start)),
        }
    }

    fn loop_words(&mut self) -> Parsed<Vec<Word<'t>>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                b';' => {
                    self.at += 1;
                    return Ok(words);
                }
                b'\n' => {
                    self.newline()?;
                    return Ok(words);
                }
                _ if self.word_begins() => {
                    let start = self.at;
                    let word = self.word(Kind::Argument)?;
                    self.check_in(&word, start)?;
                    words.push(word);
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// Reads `do … done` or `{ … }`.
    fn loop_body(&mut self) -> Parsed<List<'t>> {
        let (closer, last, end) = match self.keyword() {
            Some((Keyword::Do, end)) => (Closer::Done, Keyword::Done, end),
            Some((Keyword::OpenBrace, end)) => (Closer::Brace, Keyword::CloseBrace, end),
            _ => return Err(self.unexpected()),
        };
        self.at = end;
        let body = self.full_list(closer)?;
        self.expect(last)?;
        Ok(body)
    }

    fn for_arithmetic(&mut self) -> Parsed<CommandKind<'t>> {
        self.take(b"((");
        let from = self.at;
        let to = self.arithmetic_end(from)?;
        if self.byte(to + 1) != b')' {
            self.at = to;
            return Err(self.unexpected());
        }
        let text = self.raw(from, to);
        let quotes = text.contains(['"', '\'', '`', '\\']);
        let brackets = text.matches('[').count();
        let odd =
            brackets != text.matches(']').count() || (brackets > 0 && (quotes || is_crossed(text)));
        let heredoc = text.contains("<<") && (quotes || text.contains('\n'));
        let comment = text.match_indices('#').any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            before.is_empty()
                || before.ends_with([' ', '\t', '\n', '(', ')', ';', '&', '|', '<', '>'])
        });
        if odd || heredoc || comment || text.contains("case") || text.contains("$$") {
            // Bash writes it down anew before it looks for the semicolons.
            let what = "`case`, `$$`, a comment, a heredoc or odd brackets in `for ((…))`";
            return Err(self.unsupported(what, from));
        }
        let head = self.arithmetic(from, to)?;
        if self.semicolons(from, to)? != 2 {
            let message = "a `for ((…))` needs three expressions".to_owned();
            return Err(self.error("unexpected-token", message, from, to));
        }
        self.at = to + 2;
        self.blanks();
        if self.peek() == b';' && !self.sees(b";;") {
            self.at += 1;
        }
        self.newlines()?;
        Ok(CommandKind::ForArithmetic { head, body: self.loop_body()? })
    }

    fn case(&mut self) -> Parsed<CommandKind<'t>> {
        self.scope.put(Scope::CASE_SEEN);
        self.blanks();
        if !self.word_begins() {
            return Err(self.unexpected());
        }
        let subject = self.word(Kind::Pattern)?;
        self.newlines()?;
        self.expect(Keyword::In)?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if let Some((Keyword::Esac, end)) = self.keyword() {
                self.at = end;
                return Ok(CommandKind::Case { subject, arms });
            }
            arms.push(self.arm()?);
            self.blanks();
            let more = self.take(b";;&") || self.take(b";;") || self.take(b";&");
            if !more {
                self.expect(Keyword::Esac)?;
                return Ok(CommandKind::Case { subject, arms });
            }
        }
    }

    fn arm(&mut self) -> Parsed<Arm<'t>> {
        self.take(b"(");
        let mut patterns = Vec::with_capacity(1);
        loop {
            self.blanks();
            if !self.word_begins() {
                return Err(self.unexpected());
            }
            let start = self.at;
            let pattern = self.word(Kind::Pattern)?;
            if pattern.plain() == Some("}") {
                // Bash may take it for the end of a group around the `case`.
                return Err(self.unsupported("a brace as a pattern", start));
            }
            self.check_in(&pattern, start)?;
            patterns.push(pattern);
            self.blanks();
            if self.take(b")") {
                break;
            }
            if !self.take(b"|") {
                return Err(self.unexpected());
            }
        }
        let body = self.list(Closer::Arm)?;
        self.before = Before::Separated;
        Ok(Arm { patterns, body })
    }
}

/// Whether brackets and braces end each other, as in `${[}]`.
fn is_crossed(text: &str) -> bool {
    let mut open = Vec::new();
    text.bytes().any(|byte| match byte {
        b'[' | b'{' => {
            open.push(byte);
            false
        }
        b']' => open.pop() != Some(b'['),
        b'}' => open.pop() != Some(b'{'),
        _ => false,
    })
}
