//! Where bracketed text ends.
//!
//! Bash counts brackets before it reads what stands between them. Its rules differ by the kind of
//! bracket, and a text that we would end elsewhere is a text that we would read differently.

use super::Grammar;
use super::ast::Quoting;
use super::cursor::{Parsed, Parser, Scope};

/// The kinds of brackets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Pair {
    /// `((…))`, `$((…))`: up to `)`.
    Arithmetic,
    /// `$[…]`
    OldArithmetic,
    /// `${…}`
    Parameter,
    /// The same where a single quote stands for itself: `"${x:-'}"` in other shells than bash.
    QuotedParameter,
    /// `(…)` in a regular expression or an extended pattern.
    Pattern,
    /// `name[…]`
    Subscript,
}

impl Pair {
    fn brackets(self) -> (u8, u8) {
        match self {
            Self::Arithmetic | Self::Pattern => (b'(', b')'),
            Self::OldArithmetic | Self::Subscript => (b'[', b']'),
            Self::Parameter | Self::QuotedParameter => (b'{', b'}'),
        }
    }

    /// Tells whether `$` and this bracket begin an expansion that is skipped as a whole.
    fn skips(self, bracket: u8) -> bool {
        match self {
            Self::Arithmetic | Self::OldArithmetic => bracket == b'(',
            Self::Parameter | Self::QuotedParameter | Self::Subscript => {
                matches!(bracket, b'(' | b'{' | b'[')
            }
            Self::Pattern => false,
        }
    }
}

impl Parser<'_, '_> {
    /// Returns the place of the bracket that closes the one before `from`.
    pub(super) fn pair_end(&mut self, from: usize, pair: Pair) -> Parsed<usize> {
        let at = self.at;
        let end = self.nested(|parser| parser.scan_pair(from, pair))?;
        self.at = at;
        Ok(end)
    }

    /// Returns the place of the `)` that closes `((`, behind its second parenthesis.
    pub(super) fn arithmetic_end(&mut self, from: usize) -> Parsed<usize> {
        self.pair_end(from, Pair::Arithmetic)
    }

    fn scan_pair(&mut self, from: usize, pair: Pair) -> Parsed<usize> {
        let (open, close) = pair.brackets();
        let mut count = 1_usize;
        let mut at = from;
        let mut dollar = false;
        let mut angle = false;
        loop {
            let byte = self.byte(at);
            match byte {
                0 => {
                    self.at = self.end;
                    return Err(self.open_expansion(from.saturating_sub(1)));
                }
                b'\\' if self.byte(at + 1) == b'\n' => {
                    at += 2;
                    continue;
                }
                b'\\' => at += 1,
                byte if byte == close => {
                    count -= 1;
                    if count == 0 {
                        return Ok(at);
                    }
                }
                b'(' | b'{' | b'[' if dollar && pair.skips(byte) => {
                    let quoted = pair == Pair::QuotedParameter;
                    let quoting = if quoted { Quoting::Quoted } else { Quoting::Bare };
                    at = self.skip_expansion(at, quoting)?;
                }
                b'(' if angle && matches!(pair, Pair::Parameter | Pair::Subscript) => {
                    at = self.skip_expansion(at, Quoting::Bare)?;
                }
                // A plain brace means nothing in `${…}`.
                byte if byte == open && byte != b'{' => count += 1,
                b'\'' if pair == Pair::QuotedParameter => {}
                b'\'' => at = self.skip_single(at, dollar)?,
                b'"' => at = self.nested(|parser| parser.skip_double(at))?,
                b'`' => at = self.skip_backtick(at)?,
                _ => {}
            }
            dollar = byte == b'$' && !dollar;
            angle = matches!(byte, b'<' | b'>') && !angle;
            at += 1;
        }
    }

    /// Counts the semicolons that part the expressions of `for ((…))`: those in quotes and in most
    /// expansions do not.
    pub(super) fn semicolons(&mut self, from: usize, to: usize) -> Parsed<usize> {
        let mut count = 0;
        let mut at = from;
        while at < to {
            match self.byte(at) {
                b'\\' => at += 1,
                b';' => count += 1,
                b'\'' => at = self.skip_single(at, at > from && self.byte(at - 1) == b'$')?,
                b'"' => at = self.skip_double(at)?,
                b'`' => at = self.skip_backtick(at)?,
                b'$' if matches!(self.byte(at + 1), b'(' | b'{') => {
                    at = self.skip_expansion(at + 1, Quoting::Bare)?;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(count)
    }

    /// Returns what kind of bracket a `${` is, whose inside begins at `from`.
    pub(super) fn brace(&self, from: usize, quoting: Quoting) -> Pair {
        let name = (from..self.end)
            .find(|at| !matches!(self.byte(*at), b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z'));
        let operator = name.map_or(0, |end| self.byte(end));
        let plain = self.grammar != Grammar::Bash
            && quoting == Quoting::Quoted
            && matches!(operator, b':' | b'-' | b'=' | b'+' | b'?');
        if plain { Pair::QuotedParameter } else { Pair::Parameter }
    }

    /// Returns the place of the bracket that closes the one at `at`, behind a `$`.
    fn skip_expansion(&mut self, at: usize, quoting: Quoting) -> Parsed<usize> {
        let pair = match self.byte(at) {
            b'{' => self.brace(at + 1, quoting),
            b'[' => Pair::OldArithmetic,
            _ => {
                self.at = at + 1;
                if self.peek() != b'(' {
                    return self.substitution_end(at + 1).map(|end| end - 1);
                }
                Pair::Arithmetic
            }
        };
        self.nested(|parser| parser.scan_pair(at + 1, pair))
    }

    fn skip_single(&self, at: usize, dollar: bool) -> Parsed<usize> {
        let escapes = dollar && self.grammar != Grammar::Posix;
        let mut end = at + 1;
        loop {
            match self.byte(end) {
                0 => return Err(self.open_quote(at)),
                // Bash decodes it before it reads again.
                b'\\' if escapes && self.scope.has(Scope::REREAD) => {
                    return Err(self.unsupported("an escape in `((…) …)`", at));
                }
                b'\'' => return Ok(end),
                b'\\' if escapes => end += 2,
                _ => end += 1,
            }
        }
    }

    /// Returns the place of the next backtick that is not escaped.
    pub(super) fn skip_backtick(&self, at: usize) -> Parsed<usize> {
        let mut end = at + 1;
        loop {
            match self.byte(end) {
                0 => return Err(self.open_quote(at)),
                b'`' => return Ok(end),
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
    }

    fn skip_double(&mut self, start: usize) -> Parsed<usize> {
        let mut at = start + 1;
        let mut dollar = false;
        loop {
            let byte = self.byte(at);
            match byte {
                0 => return Err(self.open_quote(start)),
                b'"' => return Ok(at),
                b'\\' if self.byte(at + 1) == b'\n' => {
                    at += 2;
                    continue;
                }
                b'\\' => at += 1,
                b'`' => at = self.skip_backtick(at)?,
                b'(' | b'{' | b'[' if dollar => at = self.skip_expansion(at, Quoting::Quoted)?,
                _ => {}
            }
            dollar = byte == b'$' && !dollar;
            at += 1;
        }
    }
}
