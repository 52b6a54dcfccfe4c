//! Redirections.

use super::Grammar;
use super::ast::{Descriptor, Piece, Redirection, RedirectionOperator, Word};
use super::cursor::{Parsed, Parser, Scope};
use super::heredoc::{Pending, Tabs};
use super::pieces::Pieces;
use super::word::Kind;

impl<'t> Parser<'_, 't> {
    /// Reads a redirection, if one begins here.
    pub(super) fn redirection(&mut self) -> Parsed<Option<Redirection<'t>>> {
        let start = self.at;
        let descriptor = match self.peek() {
            b'<' | b'>' if self.sees(b"<(") || self.sees(b">(") => return Ok(None),
            b'<' | b'>' => None,
            b'&' if self.grammar != Grammar::Posix && self.sees(b"&>") => None,
            b'0'..=b'9' | b'{' => {
                let Some(descriptor) = self.descriptor() else {
                    self.at = start;
                    return Ok(None);
                };
                Some(descriptor)
            }
            _ => return Ok(None),
        };
        let operator_at = self.at;
        let operator = self.operator();
        if operator == RedirectionOperator::HereString && self.grammar == Grammar::Posix {
            return Err(self.unexpected());
        }
        if operator == RedirectionOperator::Heredoc {
            return self.heredoc_operator(start, operator_at, descriptor).map(Some);
        }
        self.blanks();
        let duplicates = matches!(
            operator,
            RedirectionOperator::DuplicateInput | RedirectionOperator::DuplicateOutput
        );
        let target = if duplicates && self.peek() == b'-' {
            // Bash reads `-` by itself here: what follows it is another word.
            self.at += 1;
            let span = self.span(self.at - 1, self.at);
            Word { pieces: Pieces::from(Piece::Literal(self.slice(self.at - 1, self.at))), span }
        } else if self.word_begins() && self.target_begins(duplicates) {
            let from = self.at;
            let word = self.word(Kind::Argument)?;
            self.check_element(from)?;
            word
        } else {
            return Err(self.unexpected());
        };
        Ok(Some(Redirection { descriptor, operator, target, span: self.span(start, self.at) }))
    }

    /// Tells whether what stands here is no descriptor of another redirection. A number may be the
    /// target of `>&` all the same.
    fn target_begins(&mut self, duplicates: bool) -> bool {
        (duplicates && self.peek() != b'{') || !self.descriptor_stands_here()
    }

    /// Tells whether a descriptor stands here in front of `<` or `>`: no word, then.
    pub(super) fn descriptor_stands_here(&mut self) -> bool {
        let start = self.at;
        let found = matches!(self.peek(), b'0'..=b'9' | b'{') && self.descriptor().is_some();
        self.at = start;
        found
    }

    /// Refuses `{name[…]}` in front of `<` or `>` where its subscript is more than a plain word.
    #[inline]
    pub(super) fn check_element(&self, start: usize) -> Parsed<()> {
        if !matches!(self.byte(self.at), b'<' | b'>') {
            return Ok(());
        }
        let raw = self.joined(start, self.at);
        match raw.starts_with('{') && raw.ends_with("]}") {
            true => Err(self.unsupported("an array's element as a descriptor", start)),
            false => Ok(()),
        }
    }

    /// Reads `2`, `{name}` or `{name[1]}` in front of `<` or `>`.
    fn descriptor(&mut self) -> Option<Descriptor<'t>> {
        let start = self.at;
        let descriptor = if self.peek() == b'{' {
            self.at += 1;
            self.peek(); // a line may continue here
            let from = self.at;
            let mut to = self.name_end(from);
            if to > from && self.byte(to) == b'[' {
                let inside = to + 1;
                to = inside;
                while self.byte(to).is_ascii_alphanumeric() {
                    to += 1;
                }
                // `{a[}` and `{a[]}` are words like others.
                if to == inside || self.byte(to) != b']' {
                    return None;
                }
                to += 1;
            }
            self.at = to;
            if to == from || !self.take(b"}") {
                return None;
            }
            Descriptor::Variable(self.joined(from, to))
        } else {
            while self.peek().is_ascii_digit() {
                self.at += 1;
            }
            // What is no descriptor is a word.
            let number: i32 = self.joined(start, self.at).parse().ok()?;
            Descriptor::Number(number.unsigned_abs())
        };
        let follows = matches!(self.peek(), b'<' | b'>');
        (follows && !self.sees(b"<(") && !self.sees(b">(")).then_some(descriptor)
    }

    fn operator(&mut self) -> RedirectionOperator {
        use RedirectionOperator as Operator;
        const OPERATORS: [(&[u8], Operator); 12] = [
            (b"<<<", Operator::HereString),
            (b"<<", Operator::Heredoc),
            (b"<&", Operator::DuplicateInput),
            (b"<>", Operator::ReadWrite),
            (b"<", Operator::Read),
            (b">>", Operator::Append),
            (b">&", Operator::DuplicateOutput),
            (b">|", Operator::Clobber),
            (b">", Operator::Write),
            (b"&>>", Operator::AppendBoth),
            (b"&>", Operator::WriteBoth),
            (b"", Operator::Read),
        ];
        // The first byte leaves out half of them.
        let first = self.peek();
        let may_be = |text: &[u8]| text.first().is_none_or(|byte| *byte == first);
        let found = OPERATORS.iter().find(|(text, _)| may_be(text) && self.take(text));
        found.map_or(Operator::Read, |&(_, operator)| operator)
    }

    /// Reads `<<-` or `<<` and the delimiter; the body follows behind the line.
    fn heredoc_operator(
        &mut self,
        start: usize,
        operator_at: usize,
        descriptor: Option<Descriptor<'t>>,
    ) -> Parsed<Redirection<'t>> {
        if self.scope.has(Scope::REREAD) {
            return Err(self.unsupported("a heredoc in `((…) …)`", start));
        }
        let tabs = if self.take(b"-") { Tabs::Removed } else { Tabs::Kept };
        self.blanks();
        if !self.word_begins() || self.descriptor_stands_here() {
            return Err(self.unexpected());
        }
        let from = self.at;
        let word = self.word(Kind::Delimiter)?;
        let mut delimiter = String::new();
        let mut quoted = false;
        for piece in &word.pieces {
            match piece {
                Piece::Literal(text) => delimiter.push_str(text),
                Piece::Quoted(text) => {
                    quoted = true;
                    delimiter.push_str(text);
                }
                Piece::Glob { .. }
                | Piece::Brace(_)
                | Piece::Tilde(_)
                | Piece::Parameter(_)
                | Piece::Command(..)
                | Piece::Arithmetic(..)
                | Piece::Process(_)
                | Piece::Array(_) => {
                    return Err(self.unsupported("a heredoc's delimiter must be plain text", from));
                }
            }
        }
        if delimiter.contains('\n') {
            return Err(self.unsupported("a heredoc's delimiter must be one line", from));
        }
        let at = self.original(operator_at);
        self.pending.push(Pending { at, delimiter, quoted, tabs });
        let span = self.span(start, self.at);
        // The span is the key by which the body finds its way back.
        let target = Word { pieces: Pieces::new(), span: self.span(operator_at, operator_at) };
        Ok(Redirection { descriptor, operator: RedirectionOperator::Heredoc, target, span })
    }
}
