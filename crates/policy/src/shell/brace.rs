//! Brace expansion: `{a,b}` and `{1..9}`.

use super::MAX_DEPTH;
use super::ast::{Piece, Word};
use super::cursor::{Parsed, Parser};
use super::pieces::Pieces;

/// A brace or comma that stands unquoted in a word.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    /// Which piece it is.
    pub(super) piece: usize,
    /// Where it stands.
    pub(super) at: usize,
    pub(super) kind: MarkKind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MarkKind {
    Open,
    Comma,
    Close,
}

/// An open brace: its place among the pieces kept so far, and the commas behind it.
struct Open {
    piece: usize,
    at: usize,
    commas: Vec<(usize, usize)>,
}

impl<'t> Parser<'_, 't> {
    /// Makes pieces between braces alternatives. Braces without a partner, a comma or a range
    /// remain text.
    pub(super) fn braces(&mut self, pieces: Pieces<'t>, marks: &[Mark]) -> Parsed<Pieces<'t>> {
        let mut out = Vec::with_capacity(pieces.len());
        let mut open: Vec<Open> = Vec::new();
        let mut marks = marks.iter().peekable();
        for (index, piece) in pieces.into_iter().enumerate() {
            let Some(mark) = marks.next_if(|mark| mark.piece == index) else {
                out.push(piece);
                continue;
            };
            match mark.kind {
                MarkKind::Open => {
                    self.deepest = self.deepest.max(self.depth + open.len());
                    if self.depth + open.len() >= MAX_DEPTH {
                        let message = format!("braces nest deeper than {MAX_DEPTH} levels");
                        return Err(self.error("too-deep", message, mark.at, mark.at + 1));
                    }
                    open.push(Open { piece: out.len(), at: mark.at, commas: Vec::new() });
                    out.push(piece);
                }
                MarkKind::Comma => {
                    if let Some(brace) = open.last_mut() {
                        brace.commas.push((out.len(), mark.at));
                    }
                    out.push(piece);
                }
                MarkKind::Close => match open.pop() {
                    Some(brace) if !brace.commas.is_empty() => {
                        let alternatives = self.alternatives(&mut out, &brace, mark.at);
                        out.push(Piece::Brace(alternatives));
                    }
                    Some(brace) if is_range(out.get(brace.piece + 1..).unwrap_or_default()) => {
                        let span = self.span(brace.at + 1, mark.at);
                        let pieces = join(out.drain(brace.piece + 1..));
                        out.pop();
                        let range = Word { pieces, span };
                        out.push(Piece::Brace(letters(&range).unwrap_or_else(|| vec![range])));
                    }
                    Some(_) | None => out.push(piece),
                },
            }
        }
        Ok(join(out))
    }

    fn alternatives(&self, out: &mut Vec<Piece<'t>>, brace: &Open, close: usize) -> Vec<Word<'t>> {
        let mut words = Vec::with_capacity(brace.commas.len() + 1);
        let mut end = close;
        let first = std::iter::once((brace.piece, brace.at));
        for (piece, at) in first.chain(brace.commas.iter().copied()).rev() {
            let pieces = join(out.drain((piece + 1).min(out.len())..));
            out.pop(); // the comma, or the brace
            words.push(Word { pieces, span: self.span(at + 1, end) });
            end = at;
        }
        words.reverse();
        words
    }
}

/// Joins text that fell apart at braces.
fn join<'t>(pieces: impl IntoIterator<Item = Piece<'t>>) -> Pieces<'t> {
    let mut out = Pieces::new();
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(Piece::Literal(before)), Piece::Literal(text)) => before.to_mut().push_str(&text),
            (_, piece) => out.push(piece),
        }
    }
    out
}

/// Tells `1..9`, `a..z` and `1..9..2`.
fn is_range(pieces: &[Piece<'_>]) -> bool {
    let [Piece::Literal(text)] = pieces else { return false };
    let mut parts = text.split("..");
    let (Some(from), Some(to)) = (parts.next(), parts.next()) else { return false };
    let step = parts.next();
    let letter = |part: &str| part.len() == 1 && part.bytes().all(|b| b.is_ascii_alphabetic());
    let ends = is_number(from) && is_number(to) || letter(from) && letter(to);
    ends && step.is_none_or(is_number) && parts.next().is_none()
}

/// Returns the letters that a range goes through, written out: they are few enough.
fn letters<'t>(range: &Word<'t>) -> Option<Vec<Word<'t>>> {
    let [Piece::Literal(text)] = &*range.pieces else { return None };
    let mut parts = text.split("..");
    let [from] = *parts.next()?.as_bytes() else { return None };
    let [to] = *parts.next()?.as_bytes() else { return None };
    if from == to || !from.is_ascii_alphabetic() || !to.is_ascii_alphabetic() {
        return None;
    }
    let step =
        parts.next().map_or(Some(1), |step| step.trim_start_matches(['-', '+']).parse().ok());
    let letter = |byte: u8| {
        let text = char::from(byte).to_string().into();
        Word { pieces: Pieces::from(Piece::Literal(text)), span: range.span }
    };
    let (low, high) = (from.min(to), from.max(to));
    let step = step.unwrap_or(usize::MAX).max(1);
    let words: Vec<Word<'t>> = if from < to {
        (low..=high).step_by(step).map(letter).collect()
    } else {
        (low..=high).rev().step_by(step).map(letter).collect()
    };
    match &*words {
        // As one that begins where it ends.
        [_] => {
            let text = format!("{0}..{0}", char::from(from)).into();
            Some(vec![Word { pieces: Pieces::from(Piece::Literal(text)), span: range.span }])
        }
        _ => Some(words),
    }
}

fn is_number(part: &str) -> bool {
    part.parse::<i64>().is_ok()
}
