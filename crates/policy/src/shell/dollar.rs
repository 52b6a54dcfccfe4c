//! Expansions that begin with `$`.

use super::Grammar;
use super::ast::{List, Operation, Parameter, Piece, Quoting, Word};
use super::cursor::{Parsed, Parser, Scope};
use super::keyword::Keyword;
use super::list::Closer;
use super::pair::Pair;
use super::pieces::Pieces;
use super::quote::Style;

impl<'t> Parser<'_, 't> {
    /// Reads what `$` begins outside quotes; tells whether it began anything.
    pub(super) fn bare_dollar(&mut self, out: &mut Pieces<'t>) -> Parsed<bool> {
        let start = self.at;
        self.at += 1;
        let next = self.peek();
        self.at -= 1; // so that it stands one before the quote, wherever lines continue
        match next {
            b'\'' if self.grammar != Grammar::Posix => out.push(self.escaped()?),
            b'"' => {
                self.at += 1;
                self.double(out)?;
            }
            _ => {
                self.at = start;
                let Some(piece) = self.dollar(Quoting::Bare)? else { return Ok(false) };
                out.push(piece);
            }
        }
        Ok(true)
    }

    /// Reads an expansion, or nothing if the `$` stands for itself.
    pub(super) fn dollar(&mut self, quoting: Quoting) -> Parsed<Option<Piece<'t>>> {
        let start = self.at;
        self.at += 1;
        let from = self.at;
        let end = match self.peek() {
            b'(' => {
                self.at += 1;
                return self.parenthesis_expansion(quoting).map(Some);
            }
            b'{' => {
                self.at += 1;
                return self.nested(|parser| parser.braced(start, quoting)).map(Some);
            }
            b'[' => {
                let from = self.at + 1;
                let to = self.pair_end(from, Pair::OldArithmetic)?;
                let arithmetic = self.arithmetic(from, to)?;
                self.at = to + 1;
                return Ok(Some(Piece::Arithmetic(Box::new(arithmetic), quoting)));
            }
            b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => self.at + 1,
            _ => self.name_end(self.at),
        };
        if end == self.at {
            self.at = start;
            return Ok(None);
        }
        self.at = end;
        let name = self.joined(from, end);
        let parameter = Parameter {
            name,
            subscript: None,
            operation: Operation::Value,
            words: Vec::new(),
            quoting,
        };
        Ok(Some(Piece::Parameter(Box::new(parameter))))
    }

    /// Reads `$(…)` or `$((…))` behind the first parenthesis. Bash takes `$((` for arithmetic if
    /// its parentheses pair up, and else for a substitution that begins with a subshell.
    fn parenthesis_expansion(&mut self, quoting: Quoting) -> Parsed<Piece<'t>> {
        let start = self.at;
        if self.peek() != b'(' {
            return Ok(Piece::Command(self.substitution(Closer::Paren)?, quoting));
        }
        let from = self.at + 1;
        let to = self.arithmetic_end(start)?;
        if self.byte(to.saturating_sub(1)) == b')' && to > from && self.balanced(from, to - 1) {
            let arithmetic = self.arithmetic(from, to - 1)?;
            self.at = to + 1;
            return Ok(Piece::Arithmetic(Box::new(arithmetic), quoting));
        }
        let list = self.deferred(|parser| {
            parser.within(start, to, |parser| parser.substitution(Closer::End))
        })?;
        self.at = to + 1;
        Ok(Piece::Command(list, quoting))
    }

    /// Reads `<(…)` or `>(…)` behind the parenthesis. Bash looks for the end of `<((` first.
    pub(super) fn process(&mut self) -> Parsed<Piece<'t>> {
        let start = self.at;
        if self.peek() != b'(' {
            return Ok(Piece::Process(self.substitution(Closer::Paren)?));
        }
        let to = self.arithmetic_end(start)?;
        let list = self.deferred(|parser| {
            parser.within(start, to, |parser| parser.substitution(Closer::End))
        })?;
        self.at = to + 1;
        Ok(Piece::Process(list))
    }

    /// Reads the commands of a substitution and goes behind its end.
    pub(super) fn substitution(&mut self, closer: Closer) -> Parsed<List<'t>> {
        let start = self.at;
        let pending = std::mem::take(&mut self.pending);
        let bodies = std::mem::take(&mut self.bodies);
        let before = self.before;
        let inside = self.scope.inside();
        let scope = std::mem::replace(&mut self.scope, inside);
        let list = self.nested(|parser| {
            parser.blanks();
            // Right behind the parenthesis bash does not know `time`.
            let time = matches!(parser.keyword(), Some((Keyword::Time, _)));
            if time && closer == Closer::Paren {
                parser.scope.put(Scope::TIME_IS_WORD);
            }
            let mut list = parser.list(closer)?;
            match closer {
                Closer::Paren => {
                    if parser.peek() != b')' {
                        return Err(parser.open_expansion(start));
                    }
                    parser.at += 1;
                }
                Closer::Brace => parser.expect(Keyword::CloseBrace)?,
                Closer::End
                | Closer::Then
                | Closer::Do
                | Closer::Done
                | Closer::Branch
                | Closer::Arm => {
                    if parser.at < parser.end {
                        return Err(parser.unexpected());
                    }
                }
            }
            if !parser.pending.is_empty() {
                return Err(parser.unsupported("a heredoc begins and has no body", start));
            }
            parser.fill(&mut list);
            Ok(list)
        })?;
        self.pending = pending;
        self.bodies = bodies;
        self.before = before;
        self.scope = scope.behind(self.scope);
        Ok(list)
    }

    /// Reads `${…}` behind its brace.
    fn braced(&mut self, start: usize, quoting: Quoting) -> Parsed<Piece<'t>> {
        let from = self.at;
        let to = self.pair_end(from, self.brace(from, quoting))?;
        match self.peek() {
            b' ' | b'\t' | b'\n' | b'|' => {
                return self.deferred(|parser| parser.function_substitution(to, quoting));
            }
            b'(' => {
                self.at = to;
                return Err(self.unsupported("flags of another shell stand in `${…}`", start));
            }
            _ => {}
        }
        let parameter =
            self.deferred(|parser| parser.within(from, to, |parser| parser.parameter(quoting)))?;
        self.at = to + 1;
        Ok(Piece::Parameter(Box::new(parameter)))
    }

    /// Reads `${ …; }` and `${| …; }`: commands since bash 5.3, an error before. Where the two
    /// would not end at the same brace, nobody can tell what runs.
    fn function_substitution(&mut self, to: usize, quoting: Quoting) -> Parsed<Piece<'t>> {
        let start = self.at;
        self.take(b"|");
        let list = self.substitution(Closer::Brace)?;
        match self.at == to + 1 {
            true => Ok(Piece::Command(list, quoting)),
            false => Err(self.unsupported("versions of bash end this at different braces", start)),
        }
    }

    fn parameter(&mut self, quoting: Quoting) -> Parsed<Parameter<'t>> {
        let mut operation = Operation::Value;
        let start = self.at;
        match self.peek() {
            b'#' => {
                self.at += 1;
                if self.parameter_end().is_some_and(|end| end == self.end) {
                    operation = Operation::Length;
                } else {
                    self.at = start;
                }
            }
            b'!' => {
                self.at += 1;
                let at = self.at;
                match self.parameter_end() {
                    Some(end) if !matches!(self.byte(at), b'-' | b'?') || end == self.end => {
                        operation = Operation::Indirect;
                    }
                    _ => self.at = start,
                }
            }
            _ => {}
        }
        self.peek();
        let from = self.at;
        self.at = self.plain_parameter_end(from);
        let name = self.joined(from, self.at);
        let subscript = match self.peek() {
            b'[' if !name.is_empty() => Some(self.subscript()?),
            _ => None,
        };
        self.peek();
        let style = if quoting == Quoting::Bare { Style::Bare } else { Style::Live };
        let mut words: Vec<Word<'t>> = Vec::new();
        if self.at < self.end {
            let (found, length, style) = self.operation(style);
            // `${!x@P}` evaluates the value of what `x` names.
            if operation == Operation::Value || found == Operation::Evaluated {
                operation = found;
            }
            let from = (self.at + length).min(self.end);
            words.push(self.inner(from, self.end, style)?);
        }
        Ok(Parameter { name, subscript, operation, words, quoting })
    }

    /// Returns what the operator here does, its length, and how the words behind it are read.
    fn operation(&self, style: Style) -> (Operation, usize, Style) {
        let (first, second) = (self.byte(self.at), self.byte(self.at + 1));
        let (colon, operator) = if first == b':' { (1, second) } else { (0, first) };
        match operator {
            b'-' | b'=' => (Operation::Default, colon + 1, style),
            b'+' => (Operation::Alternative, colon + 1, style),
            b'?' => (Operation::Error, colon + 1, style),
            b'@' if colon == 0 && matches!(second, b'P' | b'A') => (Operation::Evaluated, 2, style),
            // Offsets and lengths are arithmetic.
            _ if colon == 1 => (Operation::Changed, 1, Style::Live),
            _ => (Operation::Changed, 0, style),
        }
    }

    /// Returns where the parameter that begins here ends, with its subscript.
    fn parameter_end(&mut self) -> Option<usize> {
        self.peek();
        let start = self.at;
        let end = self.plain_parameter_end(start);
        if end == start {
            return None;
        }
        if self.byte(end) != b'[' {
            return Some(end);
        }
        // A subscript is read again where it is taken down.
        let mut depth = 0_usize;
        for at in end..self.end {
            match self.byte(at) {
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    fn plain_parameter_end(&self, start: usize) -> usize {
        match self.byte(start) {
            b'0'..=b'9' => {
                let mut end = start;
                while self.byte(end).is_ascii_digit() {
                    end += 1;
                }
                end
            }
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => start + 1,
            _ => self.name_end(start),
        }
    }

    pub(super) fn open_expansion(&self, start: usize) -> super::Unparsed {
        if self.at < self.end {
            return self.unexpected();
        }
        let message = "an expansion is opened and not closed".to_owned();
        self.error("unterminated-expansion", message, start, self.end)
    }

    /// Goes behind a substitution without keeping it.
    pub(super) fn substitution_end(&mut self, from: usize) -> Parsed<usize> {
        if let Some(&end) = self.ends.get(&from) {
            return Ok(end);
        }
        let (at, commands) = (self.at, self.commands);
        self.at = from;
        self.substitution(Closer::Paren)?;
        let end = std::mem::replace(&mut self.at, at);
        self.ends.insert(from, end);
        self.commands = commands;
        Ok(end)
    }
}
