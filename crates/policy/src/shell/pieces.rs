//! What a word consists of: nearly always one piece, and then nothing is allocated.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::ast::Piece;

/// The pieces of a word, side by side.
#[derive(Clone, Eq, PartialEq)]
pub struct Pieces<'t>(Held<'t>);

/// One is never held as several: pieces that are the same are held the same way.
#[derive(Clone, Eq, PartialEq)]
enum Held<'t> {
    One(Piece<'t>),
    Several(Vec<Piece<'t>>),
}

impl<'t> Pieces<'t> {
    /// None yet.
    pub(super) const fn new() -> Self {
        Self(Held::Several(Vec::new()))
    }

    /// Adds a piece at the end.
    pub(super) fn push(&mut self, piece: Piece<'t>) {
        match &mut self.0 {
            Held::Several(pieces) if !pieces.is_empty() => pieces.push(piece),
            Held::Several(_) => self.0 = Held::One(piece),
            Held::One(_) => {
                let mut pieces = Vec::with_capacity(4);
                pieces.extend(std::mem::take(self));
                pieces.push(piece);
                self.0 = Held::Several(pieces);
            }
        }
    }
}

impl Default for Pieces<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'t> From<Piece<'t>> for Pieces<'t> {
    #[inline]
    fn from(piece: Piece<'t>) -> Self {
        Self(Held::One(piece))
    }
}

impl<'t> FromIterator<Piece<'t>> for Pieces<'t> {
    fn from_iter<I: IntoIterator<Item = Piece<'t>>>(pieces: I) -> Self {
        let mut all = Self::new();
        pieces.into_iter().for_each(|piece| all.push(piece));
        all
    }
}

impl<'t> IntoIterator for Pieces<'t> {
    type Item = Piece<'t>;
    type IntoIter =
        std::iter::Chain<std::option::IntoIter<Piece<'t>>, std::vec::IntoIter<Piece<'t>>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, several) = match self.0 {
            Held::One(piece) => (Some(piece), Vec::new()),
            Held::Several(pieces) => (None, pieces),
        };
        one.into_iter().chain(several)
    }
}

impl<'p, 't> IntoIterator for &'p Pieces<'t> {
    type Item = &'p Piece<'t>;
    type IntoIter = std::slice::Iter<'p, Piece<'t>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'t> Deref for Pieces<'t> {
    type Target = [Piece<'t>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Held::One(piece) => std::slice::from_ref(piece),
            Held::Several(pieces) => pieces,
        }
    }
}

impl DerefMut for Pieces<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.0 {
            Held::One(piece) => std::slice::from_mut(piece),
            Held::Several(pieces) => pieces,
        }
    }
}

impl fmt::Debug for Pieces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_same_however_they_came_together() {
        let piece = |text: &'static str| Piece::Literal(text.into());
        let mut pushed = Pieces::new();
        assert!(pushed.is_empty() && pushed == Pieces::default());
        for (at, text) in ["a", "b", "c"].into_iter().enumerate() {
            pushed.push(piece(text));
            let collected: Pieces<'_> =
                ["a", "b", "c"].into_iter().take(at + 1).map(piece).collect();
            assert_eq!((pushed.len(), &pushed), (at + 1, &collected));
            assert_eq!(pushed.clone().into_iter().collect::<Vec<_>>(), pushed.to_vec());
        }
        assert_eq!(Pieces::from(piece("a")), std::iter::once(piece("a")).collect());
        assert_eq!(format!("{:?}", Pieces::from(piece("a"))), r#"[Literal("a")]"#);
        if let Some(last) = pushed.last_mut() {
            *last = piece("d");
        }
        assert_eq!(pushed, ["a", "b", "d"].into_iter().map(piece).collect());
    }
}
