//! One argument, as far as it is known before the command runs.

use std::borrow::Cow;

use crate::text::{self, Span};

/// Stands in an argument's text for a part that is only known at run time. A noncharacter: texts
/// that contain it are refused before anything reads them.
pub const HOLE: char = '\u{FDD0}';

/// A text that may be known in part.
pub(crate) trait Holed {
    /// Returns whether a part is only known at run time.
    fn has_hole(&self) -> bool;
}

impl Holed for str {
    #[inline]
    fn has_hole(&self) -> bool {
        // Nearly no text has that byte.
        text::byte::has(self, 0xEF) && self.contains(HOLE)
    }
}

/// One argument as the program will see it, as far as that can be told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Arg<'t> {
    /// The text after the shell's unquoting, with [`HOLE`] for what is not known.
    pub text: Cow<'t, str>,
    /// How much of it is known.
    pub certainty: Certainty,
    /// Where it stands in the text that a person wrote.
    pub span: Span,
    /// Where its text begins there, if it stands there byte for byte: a place inside the argument
    /// is then a place in the person's text.
    pub verbatim: Option<usize>,
}

/// How much of an argument is known; of two parts the less known one counts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Certainty {
    /// All of it.
    Known,
    /// An unquoted file name pattern: the text as written stands for names that match it.
    Pattern,
    /// It is one word, with [`HOLE`]s.
    Partial,
    /// It has [`HOLE`]s, and may turn into any number of words.
    Many,
}

impl<'t> Arg<'t> {
    /// An argument that is wholly known.
    pub fn known(text: impl Into<Cow<'t, str>>, span: Span) -> Self {
        Self { text: text.into(), certainty: Certainty::Known, span, verbatim: None }
    }

    /// Returns the text if no part of it waits for run time. A pattern is not known.
    pub fn as_known(&self) -> Option<&str> {
        (self.certainty == Certainty::Known).then_some(&*self.text)
    }

    /// Returns the text up to the first part that is not known.
    pub fn known_start(&self) -> &str {
        self.text.split(HOLE).next().unwrap_or_default()
    }

    /// Returns the argument from byte `from` on: the value of `--name=value`.
    ///
    /// `None` if `from` is not a character's first byte.
    pub fn tail(&self, from: usize) -> Option<Self> {
        let text: Cow<'t, str> = match &self.text {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(from..)?),
            Cow::Owned(text) => Cow::Owned(text.get(from..)?.to_owned()),
        };
        let has_hole = text.has_hole();
        let certainty = match self.certainty {
            Certainty::Partial | Certainty::Many if !has_hole => Certainty::Known,
            certainty @ (Certainty::Known
            | Certainty::Pattern
            | Certainty::Partial
            | Certainty::Many) => certainty,
        };
        let verbatim = self.verbatim.map(|start| start + from);
        let span = verbatim.map_or(self.span, |start| Span::new(start, start + text.len()));
        Some(Self { text, certainty, span, verbatim })
    }
}
