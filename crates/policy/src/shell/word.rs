//! Words: pieces up to a blank or an operator.

use super::ast::{Piece, Quoting, Word};
use super::brace::{Mark, MarkKind};
use super::cursor::{Parsed, Parser, Scope};
use super::keyword::breaks;
use super::pair::Pair;
use super::pieces::Pieces;
use super::quote::Style;

/// Where a word stands, and so what its characters mean.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Where a command begins: `name[…]` may hold blanks.
    Name,
    /// Behind it.
    Argument,
    /// An array's element: `[…]` may hold blanks.
    Element,
    /// Behind an assignment's `=`.
    Value,
    /// In `case`, and an operand of `[[ … ]]`.
    Pattern,
    /// Behind `==` in `[[ … ]]`, where extended patterns always work.
    Extended,
    /// Behind `=~`.
    Regex,
    /// Of a heredoc.
    Delimiter,
}

impl Kind {
    fn expands_braces(self) -> bool {
        matches!(self, Self::Name | Self::Argument | Self::Element)
    }
}

/// Bytes that are themselves anywhere in a word.
static PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let special = b"\0 \t\n()<>;&|\\'\"`$*?[{},~+@!";
    let mut at = 0;
    while at < special.len() {
        plain[special[at] as usize] = false;
        at += 1;
    }
    plain
};

/// Returns how many bytes at the beginning mean nothing.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !PLAIN[usize::from(byte)]).unwrap_or(bytes.len())
}

/// A word while it is read.
struct Draft<'t> {
    pieces: Pieces<'t>,
    marks: Vec<Mark>,
    start: usize,
    /// Where the literal text that was not taken down yet begins.
    from: usize,
    /// Whether that text continues the piece before.
    glued: bool,
    /// Up to where there is no `]`.
    unclosed: usize,
}

impl<'t> Word<'t> {
    /// Returns the text of a word in which nothing is quoted or expanded.
    #[inline]
    pub(super) fn plain(&self) -> Option<&str> {
        match &*self.pieces {
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

impl<'t> Parser<'_, 't> {
    /// Reads a word; it may be empty.
    pub(super) fn word(&mut self, kind: Kind) -> Parsed<Word<'t>> {
        self.word_from(self.at, Pieces::new(), kind)
    }

    /// Reads the rest of a word whose first pieces are known.
    pub(super) fn word_from(
        &mut self,
        start: usize,
        pieces: Pieces<'t>,
        kind: Kind,
    ) -> Parsed<Word<'t>> {
        if let Some(word) = self.plain_word(start, &pieces) {
            return Ok(word);
        }
        let mut draft =
            Draft { pieces, marks: Vec::new(), start, from: self.at, glued: false, unclosed: 0 };
        if matches!(kind, Kind::Name | Kind::Element) {
            self.leading_subscript(kind, &mut draft)?;
        }
        loop {
            self.at += plain_length(self.bytes.get(self.at..).unwrap_or_default());
            let byte = self.byte(self.at);
            if breaks(byte) && !self.goes_on(kind, &mut draft)? {
                break;
            }
            if !breaks(byte) {
                self.special(byte, start, kind, &mut draft)?;
            }
        }
        self.flush(&mut draft);
        let mut pieces = draft.pieces;
        if pieces.len() > 1 && self.byte(self.name_end(start)) == b'[' {
            self.check_dollars(start, self.at)?;
        }
        if !draft.marks.is_empty() {
            pieces = self.braces(pieces, &draft.marks)?;
        }
        Ok(Word { pieces, span: self.span(start, self.at) })
    }

    /// Reads a word that is only text, as most are.
    fn plain_word(&mut self, start: usize, pieces: &[Piece<'t>]) -> Option<Word<'t>> {
        let end = self.at + plain_length(self.bytes.get(self.at..)?);
        let ends = matches!(self.byte(end), 0 | b' ' | b'\t' | b'\n' | b';' | b')' | b'&');
        if !ends || end == self.at || !pieces.is_empty() {
            return None;
        }
        let pieces = Pieces::from(Piece::Literal(self.slice(self.at, end)));
        self.at = end;
        Some(Word { pieces, span: self.span(start, end) })
    }

    /// Reads arguments as long as they are only text; returns where the last of them ends.
    pub(super) fn static_arguments(&mut self, words: &mut Vec<Word<'t>>) -> Option<usize> {
        let mut last = None;
        while let Some((end, quotes)) = self.static_end() {
            words.push(self.static_word(end, quotes));
            self.at = end;
            last = Some(end);
            self.blanks();
        }
        last
    }

    /// Reads an argument that is only text.
    pub(super) fn static_argument(&mut self) -> Option<Word<'t>> {
        let (end, quotes) = self.static_end()?;
        let word = self.static_word(end, quotes);
        self.at = end;
        Some(word)
    }

    /// Returns where an argument ends that is only text, bare or in one pair of quotes, as most are,
    /// and how many bytes at either end are no part of it. What ends it ends every word, and so no
    /// sign in it or behind it means anything else.
    #[inline(always)]
    fn static_end(&self) -> Option<(usize, usize)> {
        let bytes = self.bytes.get(self.at..)?;
        let (&first, rest) = bytes.split_first()?;
        let (length, quotes) = match first {
            // A comment.
            b'#' => return None,
            b'\'' => (rest.iter().position(|&byte| byte == b'\'')? + 2, 1),
            b'"' => {
                let means = |&byte: &u8| matches!(byte, b'"' | b'$' | b'`' | b'\\');
                let length = rest.iter().position(means)?;
                (rest.get(length) == Some(&b'"')).then_some((length + 2, 1))?
            }
            _ => (plain_length(bytes), 0),
        };
        let next = bytes.get(length).copied().unwrap_or(0);
        let ends = matches!(next, 0 | b' ' | b'\t' | b'\n' | b';' | b')' | b'&' | b'|');
        // A plain `in` may be one for which bash still waits.
        (ends && length > 0 && !self.scope.has(Scope::AWAITS_IN))
            .then_some((self.at + length, quotes))
    }

    /// Returns the word from here to an end that is only text.
    #[inline]
    fn static_word(&self, end: usize, quotes: usize) -> Word<'t> {
        let text = self.slice(self.at + quotes, end - quotes);
        let piece = if quotes > 0 { Piece::Quoted(text) } else { Piece::Literal(text) };
        Word { pieces: Pieces::from(piece), span: self.span(self.at, end) }
    }

    /// Takes a byte that may mean something.
    fn special(&mut self, byte: u8, start: usize, kind: Kind, draft: &mut Draft<'t>) -> Parsed<()> {
        match byte {
            b'\\' => {
                if self.byte(self.at + 1) != b'\n' {
                    self.check_backslash(self.at)?;
                }
                self.backslash(draft);
            }
            b'\'' => {
                self.flush(draft);
                draft.pieces.push(self.single()?);
                draft.from = self.at;
            }
            b'"' => {
                self.flush(draft);
                self.double(&mut draft.pieces)?;
                draft.from = self.at;
            }
            b'`' => {
                self.flush(draft);
                draft.pieces.push(self.backtick(Quoting::Bare)?);
                draft.from = self.at;
            }
            b'$' => {
                self.flush(draft);
                match self.bare_dollar(&mut draft.pieces)? {
                    true => draft.from = self.at,
                    false => {
                        draft.from = self.at;
                        self.at += 1;
                    }
                }
            }
            _ if kind == Kind::Delimiter => self.at += 1,
            b'*' | b'?' | b'+' | b'@' | b'!' => self.star(byte, kind, draft)?,
            b'[' => self.bracket(draft),
            b'{' | b',' | b'}' if kind.expands_braces() => self.mark(byte, draft),
            b'~' => self.tilde(start, kind, draft),
            _ => self.at += 1,
        }
        Ok(())
    }

    /// Takes a byte that would end the word, where it does not: `<(…)`, and parentheses and bars of
    /// patterns.
    fn goes_on(&mut self, kind: Kind, draft: &mut Draft<'t>) -> Parsed<bool> {
        match self.byte(self.at) {
            b'<' | b'>' if self.sees(b"<(") || self.sees(b">(") => {
                self.flush(draft);
                self.at += 1;
                self.take(b"(");
                draft.pieces.push(self.process()?);
                draft.from = self.at;
            }
            b'(' if kind == Kind::Regex => {
                self.flush(draft);
                self.parenthesized(self.at, draft)?;
            }
            b'|' if kind == Kind::Regex => self.at += 1,
            // Bash takes `$*(` for a pattern here, and expands `$*` all the same.
            b'(' if kind == Kind::Extended && self.at > draft.start => {
                return Err(self.unsupported("a parenthesis behind an expansion", self.at));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the parentheses of a pattern that begins at `start`.
    fn parenthesized(&mut self, start: usize, draft: &mut Draft<'t>) -> Parsed<()> {
        let from = self.at + 1;
        let to = self.pair_end(from, Pair::Pattern)?;
        let inside = self.inner(from, to, Style::Bare)?;
        self.at = to + 1;
        draft.pieces.push(Piece::Glob { text: self.slice(start, self.at), parts: vec![inside] });
        draft.from = self.at;
        Ok(())
    }

    /// Takes down the literal text before this place.
    fn flush(&mut self, draft: &mut Draft<'t>) {
        if draft.from < self.at {
            let text = self.slice(draft.from, self.at);
            match draft.pieces.last_mut() {
                Some(Piece::Literal(before)) if draft.glued => before.to_mut().push_str(&text),
                _ => draft.pieces.push(Piece::Literal(text)),
            }
        }
        draft.from = self.at;
        draft.glued = false;
    }

    fn backslash(&mut self, draft: &mut Draft<'t>) {
        let literal = draft.from < self.at || draft.glued;
        self.flush(draft);
        let next = self.byte(self.at + 1);
        if next == b'\n' {
            self.at += 2;
            draft.from = self.at;
            draft.glued = literal;
            return;
        }
        if next == 0 {
            // A backslash at the very end stands for itself.
            draft.pieces.push(Piece::Quoted(self.slice(self.at, self.at + 1)));
            self.at += 1;
        } else {
            let from = self.at + 1;
            let width = self.raw(from, self.end).chars().next().map_or(1, char::len_utf8);
            draft.pieces.push(Piece::Quoted(self.slice(from, from + width)));
            self.at = from + width;
        }
        draft.from = self.at;
    }

    fn star(&mut self, byte: u8, kind: Kind, draft: &mut Draft<'t>) -> Parsed<()> {
        let at = self.at;
        if kind == Kind::Extended {
            self.at += 1;
            let extended = self.peek() == b'(';
            let paren = std::mem::replace(&mut self.at, at);
            if extended {
                self.flush(draft);
                self.at = paren;
                return self.parenthesized(at, draft);
            }
        }
        if matches!(byte, b'*' | b'?') {
            self.flush(draft);
            self.at += 1;
            let text = self.slice(at, self.at);
            draft.pieces.push(Piece::Glob { text, parts: Vec::new() });
            draft.from = self.at;
        } else {
            self.at += 1;
        }
        Ok(())
    }

    /// Takes a `[`: a pattern only if a `]` follows in the same word.
    fn bracket(&mut self, draft: &mut Draft<'t>) {
        let start = self.at;
        let mut end = start + 1;
        if matches!(self.byte(end), b'!' | b'^') {
            end += 1;
        }
        end += usize::from(self.byte(end) == b']');
        end = end.max(draft.unclosed);
        while !breaks(self.byte(end))
            && !matches!(self.byte(end), b']' | b'\\' | b'\'' | b'"' | b'`' | b'$')
        {
            end += 1;
        }
        match self.byte(end) {
            b']' => end += 1,
            byte if breaks(byte) => {
                draft.unclosed = end;
                self.at += 1;
                return;
            }
            // A quote or an expansion: what the pattern is, nobody can tell.
            _ => {
                draft.unclosed = end;
                end = start + 1;
            }
        }
        self.flush(draft);
        self.at = end;
        draft.pieces.push(Piece::Glob { text: self.slice(start, end), parts: Vec::new() });
        draft.from = end;
    }

    /// Notes a brace or a comma; whether they mean anything is known at the word's end.
    fn mark(&mut self, byte: u8, draft: &mut Draft<'t>) {
        if byte != b'{' && draft.marks.is_empty() {
            self.at += 1;
            return;
        }
        if byte == b'{' && self.byte(self.at + 1) == b'}' {
            self.at += 2;
            return;
        }
        let kind = match byte {
            b'{' => MarkKind::Open,
            b',' => MarkKind::Comma,
            _ => MarkKind::Close,
        };
        self.flush(draft);
        draft.marks.push(Mark { piece: draft.pieces.len(), at: self.at, kind });
        self.at += 1;
        self.flush(draft);
    }

    fn tilde(&mut self, start: usize, kind: Kind, draft: &mut Draft<'t>) {
        let at = self.at;
        self.at += 1;
        let begins = match (kind, self.raw(start, at).as_bytes()) {
            (_, []) => true,
            (Kind::Value, [.., b':']) => true,
            (Kind::Argument | Kind::Name, head @ [.., b'=' | b':']) => {
                let name = self.name_end(start).max(start) - start;
                head.get(name) == Some(&b'=') && name > 0
            }
            _ => false,
        };
        // Only text that stands right before it counts, not the end of an expansion.
        if !begins || (draft.from == at && at > start && !draft.pieces.is_empty()) {
            return;
        }
        let mut end = at + 1;
        while matches!(self.byte(end), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'+')
            || (self.byte(end) == b'\\' && self.byte(end + 1) == b'\n')
        {
            end += 1 + usize::from(self.byte(end) == b'\\');
        }
        let closes = match self.byte(end) {
            b'/' => true,
            b':' => kind == Kind::Value || at > start,
            byte => breaks(byte),
        };
        if closes {
            self.at = at;
            self.flush(draft);
            draft.pieces.push(Piece::Tilde(self.joined(at + 1, end)));
            self.at = end;
            draft.from = end;
        }
    }

    /// Reads `name[…]` where a command begins, and `[…]` in an array: bash takes blanks in it.
    fn leading_subscript(&mut self, kind: Kind, draft: &mut Draft<'t>) -> Parsed<()> {
        let start = self.at;
        let name = if kind == Kind::Name { self.name_end(start) } else { start };
        if self.byte(name) != b'[' || (kind == Kind::Name && name == start) {
            return Ok(());
        }
        self.at = name;
        let inside = self.subscript()?;
        draft.pieces.push(Piece::Glob { text: self.slice(start, self.at), parts: vec![inside] });
        draft.from = self.at;
        Ok(())
    }
}
