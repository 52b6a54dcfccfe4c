//! Words that hold what the text has others say as it runs: a substitution, or a variable that was
//! given one or that was read. A variable that the text never sets is whoever started it to answer
//! for.

use super::walk::Walk;
use crate::command::Holed as _;
use crate::shell::{Operation, Piece, Word};
use crate::text::Span;

impl Walk<'_> {
    /// Returns the places of such words.
    pub(super) fn made_late(&self, words: &[Word<'_>]) -> Vec<Span> {
        let is_late = |word: &&Word<'_>| word.pieces.iter().any(|piece| self.is_late(piece));
        words.iter().filter(is_late).map(|word| word.span).collect()
    }

    /// Whether the word at a place is one.
    pub(super) fn is_made_late(&self, span: Span) -> bool {
        self.late.contains(&span)
    }

    fn is_late(&self, piece: &Piece<'_>) -> bool {
        match piece {
            Piece::Command(..) => true,
            Piece::Parameter(parameter) => {
                let set = self.scope.variable(&parameter.name);
                parameter.operation != Operation::Length
                    && set.is_some_and(|value| value.text.has_hole())
            }
            Piece::Literal(_)
            | Piece::Quoted(_)
            | Piece::Glob { .. }
            | Piece::Brace(_)
            | Piece::Tilde(_)
            | Piece::Arithmetic(..)
            | Piece::Process(_)
            | Piece::Array(_) => false,
        }
    }
}
