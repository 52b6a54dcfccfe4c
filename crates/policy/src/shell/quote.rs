//! Quoted text, and text in which only expansions mean something.

use super::ast::{Piece, Quoting, Word};
use super::cursor::{Parsed, Parser};
use super::pieces::Pieces;

/// What characters mean in a part of a word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Style {
    /// Quotes work.
    Bare,
    /// Between double quotes, up to the next one.
    Double,
    /// An unquoted heredoc's body.
    Heredoc,
    /// Arithmetic, subscripts, and `${…}` between double quotes. Bash ignores some quotes here and
    /// honours others; whatever it could expand counts as expanded.
    Live,
}

impl<'t> Parser<'_, 't> {
    /// Reads `'…'`.
    pub(super) fn single(&mut self) -> Parsed<Piece<'t>> {
        let from = self.at + 1;
        let Some(length) = self.raw(from, self.end).find('\'') else {
            return Err(self.open_quote(self.at));
        };
        self.at = from + length + 1;
        Ok(Piece::Quoted(self.slice(from, from + length)))
    }

    /// Reads `"…"`.
    pub(super) fn double(&mut self, out: &mut Pieces<'t>) -> Parsed<()> {
        let start = self.at;
        let before = out.len();
        self.at += 1;
        self.run_into(Style::Double, out)?;
        if self.byte(self.at) != b'"' {
            return Err(self.open_quote(start));
        }
        self.at += 1;
        if out.len() == before {
            out.push(Piece::Quoted(self.slice(self.at, self.at)));
        }
        Ok(())
    }

    /// Reads `$'…'`.
    pub(super) fn escaped(&mut self) -> Parsed<Piece<'t>> {
        let start = self.at;
        let from = start + 2;
        let mut end = from;
        loop {
            match self.byte(end) {
                0 => return Err(self.open_quote(start)),
                b'\'' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        let text = self.raw(from, end);
        if !text.contains('\\') {
            return Ok(Piece::Quoted(self.slice(from, end)));
        }
        self.check_backslash(start)?;
        let text = super::escape::decode(text);
        if text.chars().any(|c| matches!(c, '\u{fdd0}'..='\u{fdef}')) {
            return Err(self.unsupported("an escape stands for a noncharacter", start));
        }
        Ok(Piece::Quoted(text.into()))
    }

    /// Reads a part of a word whose end is known.
    pub(super) fn inner(&mut self, from: usize, to: usize, style: Style) -> Parsed<Word<'t>> {
        let span = self.span(from, to);
        let pieces = self.deferred(|parser| {
            parser.within(from, to, |parser| {
                parser.nested(|parser| match style {
                    Style::Bare => parser.bare(),
                    Style::Double | Style::Heredoc | Style::Live => parser.run(style),
                })
            })
        })?;
        Ok(Word { pieces, span })
    }

    /// Reads text with expansions up to the end of the part.
    pub(super) fn run(&mut self, style: Style) -> Parsed<Pieces<'t>> {
        let mut out = Pieces::new();
        self.run_into(style, &mut out)?;
        Ok(out)
    }

    fn run_into(&mut self, style: Style, out: &mut Pieces<'t>) -> Parsed<()> {
        let mut from = self.at;
        // Text with escapes taken out, from before `from`.
        let mut text = String::new();
        loop {
            let byte = self.byte(self.at);
            match byte {
                0 => break,
                b'"' if style == Style::Double => break,
                b'\\' => {
                    let next = self.byte(self.at + 1);
                    let escapes = match next {
                        b'$' | b'`' | b'\\' | b'\n' => true,
                        b'"' => style != Style::Heredoc,
                        b'}' => style == Style::Live,
                        _ => false,
                    };
                    if escapes {
                        text.push_str(self.raw(from, self.at));
                        from = self.at + 1 + usize::from(next == b'\n');
                        self.at += 1;
                    }
                    self.at += 1;
                }
                b'$' | b'`' => {
                    let at = self.at;
                    let piece = match byte {
                        b'`' => Some(self.backtick(Quoting::Quoted)?),
                        _ => self.dollar(Quoting::Quoted)?,
                    };
                    let Some(piece) = piece else {
                        self.at = at + 1;
                        continue;
                    };
                    self.push_run(&mut text, from, at, out);
                    out.push(piece);
                    from = self.at;
                }
                b'<' | b'>' if style == Style::Live && self.byte(self.at + 1) == b'(' => {
                    self.push_run(&mut text, from, self.at, out);
                    self.at += 2;
                    out.push(self.process()?);
                    from = self.at;
                }
                _ => self.at += 1,
            }
        }
        self.push_run(&mut text, from, self.at, out);
        Ok(())
    }

    fn push_run(&self, text: &mut String, from: usize, to: usize, out: &mut Pieces<'t>) {
        if text.is_empty() {
            if from < to {
                out.push(Piece::Quoted(self.slice(from, to)));
            }
            return;
        }
        let mut text = std::mem::take(text);
        text.push_str(self.raw(from, to));
        out.push(Piece::Quoted(text.into()));
    }

    /// Reads text in which quotes work, up to the end of the part.
    fn bare(&mut self) -> Parsed<Pieces<'t>> {
        let mut out = Pieces::new();
        let mut from = self.at;
        loop {
            let at = self.at;
            let byte = self.byte(at);
            match byte {
                b'\'' | b'"' | b'`' | b'$' | b'\\' | 0 => {}
                b'<' | b'>' if self.byte(at + 1) == b'(' => {}
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if from < at {
                out.push(Piece::Literal(self.slice(from, at)));
            }
            match byte {
                0 => return Ok(out),
                b'\'' => out.push(self.single()?),
                b'"' => self.double(&mut out)?,
                b'`' => out.push(self.backtick(Quoting::Bare)?),
                b'$' => {
                    if !self.bare_dollar(&mut out)? {
                        from = at;
                        self.at = at + 1;
                        continue;
                    }
                }
                b'\\' => {
                    let next = self.raw(at + 1, self.end).chars().next();
                    let width = next.map_or(0, char::len_utf8);
                    if next != Some('\n') {
                        out.push(Piece::Quoted(self.slice(at + 1, at + 1 + width)));
                    }
                    self.at = at + 1 + width;
                }
                _ => {
                    self.at += 2;
                    out.push(self.process()?);
                }
            }
            from = self.at;
        }
    }

    pub(super) fn open_quote(&self, start: usize) -> super::Unparsed {
        let message = "a quote is opened and not closed".to_owned();
        self.error("unterminated-quote", message, start, self.end)
    }
}
