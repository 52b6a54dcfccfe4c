//! `[[ … ]]`: its own small grammar of operators.

use super::ast::{CommandKind, Piece, Word};
use super::cursor::{Parsed, Parser};
use super::keyword::Keyword;
use super::pieces::Pieces;
use super::word::Kind;

impl<'t> Parser<'_, 't> {
    /// Reads what follows `[[`, and the `]]`.
    pub(super) fn test(&mut self) -> Parsed<CommandKind<'t>> {
        let mut words = Vec::new();
        self.test_list(&mut words)?;
        self.expect(Keyword::CloseTest)?;
        Ok(CommandKind::Test(words))
    }

    fn test_list(&mut self, words: &mut Vec<Word<'t>>) -> Parsed<()> {
        loop {
            self.test_term(words)?;
            self.blanks();
            if !self.test_operator(b"&&", words) && !self.test_operator(b"||", words) {
                return Ok(());
            }
        }
    }

    /// Takes down an operator, if it stands here.
    fn test_operator(&mut self, operator: &[u8], words: &mut Vec<Word<'t>>) -> bool {
        self.peek();
        let start = self.at;
        let found = self.take(operator);
        if found {
            let pieces = Pieces::from(Piece::Literal(self.joined(start, self.at)));
            words.push(Word { pieces, span: self.span(start, self.at) });
        }
        found
    }

    fn test_term(&mut self, words: &mut Vec<Word<'t>>) -> Parsed<()> {
        self.newlines()?;
        if self.test_operator(b"(", words) {
            self.nested(|parser| parser.test_list(words))?;
            return match self.test_operator(b")", words) {
                true => self.newlines(),
                false => Err(self.unexpected()),
            };
        }
        if matches!(self.keyword(), Some((Keyword::CloseTest, _))) {
            // Bash drops such a line without a word.
            return Err(self.unsupported("an operand is missing in `[[ … ]]`", self.at));
        }
        let left = self.operand(Kind::Pattern)?;
        let operator = left.plain();
        if operator == Some("!") {
            words.push(left);
            return self.nested(|parser| parser.test_term(words));
        }
        if operator.is_some_and(is_unary) {
            words.push(left);
            self.blanks();
            words.push(self.operand(Kind::Pattern)?);
            return self.newlines();
        }
        words.push(left);
        self.blanks();
        self.test_tail(words)
    }

    /// Reads the operator and the right operand, if there are any.
    fn test_tail(&mut self, words: &mut Vec<Word<'t>>) -> Parsed<()> {
        let ends = match self.peek() {
            b')' => true,
            b'&' => self.sees(b"&&"),
            b'|' => self.sees(b"||"),
            b']' => matches!(self.keyword(), Some((Keyword::CloseTest, _))),
            _ => false,
        };
        if ends {
            return Ok(());
        }
        let redirects = [b"<<", b"<&", b"<>", b">>", b">&", b">|"];
        if redirects.iter().any(|operator| self.sees(*operator)) {
            return Err(self.unexpected());
        }
        let process = self.sees(b"<(") || self.sees(b">(");
        let mut kind = Kind::Pattern;
        if process || !(self.test_operator(b"<", words) || self.test_operator(b">", words)) {
            let operator = self.operand(Kind::Pattern)?;
            kind = match operator.plain() {
                Some("=" | "==" | "!=") => Kind::Extended,
                Some("=~") => Kind::Regex,
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef") => {
                    Kind::Pattern
                }
                _ => return Err(self.unexpected()),
            };
            words.push(operator);
        }
        self.blanks();
        words.push(self.operand(kind)?);
        self.newlines()
    }

    fn operand(&mut self, kind: Kind) -> Parsed<Word<'t>> {
        let closes = matches!(self.keyword(), Some((Keyword::CloseTest, _)));
        let begins =
            self.word_begins() || (kind == Kind::Regex && matches!(self.peek(), b'(' | b'|'));
        // Bash reads `]]()` as one, and wants another `]]`.
        if kind == Kind::Regex && (closes || !begins) {
            return Err(self.unsupported("an empty regular expression", self.at));
        }
        if closes || !begins || self.descriptor_stands_here() {
            return Err(self.unexpected());
        }
        self.word(kind)
    }
}

fn is_unary(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter))
}
