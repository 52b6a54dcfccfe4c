//! Where a text at hand lies in the text that a person wrote.

use super::walk::Walk;
use crate::command::Arg;
use crate::text::Span;

/// Longest part of a text that is shown in a message as it is written.
const LONGEST_SHOWN: usize = 60;

/// Where a nested text lies in the outermost one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mapping {
    /// It stands there byte for byte, from this byte on.
    Shift(usize),
    /// It was quoted or computed: the whole argument is its place.
    Whole(Span),
}

/// Where an input is written. It may be read in a text inside that one, whose places are others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) span: Span,
    /// Where it begins, if it stands there byte for byte.
    pub(super) verbatim: Option<usize>,
    mapping: Mapping,
}

impl<'j> Walk<'j> {
    /// Translates a place of the text at hand.
    pub(super) fn place(&self, span: Span) -> Span {
        match self.mapping {
            Mapping::Shift(by) => Span::new(span.start() + by, span.end() + by),
            Mapping::Whole(whole) => whole,
        }
    }

    /// Returns a part of the text at hand as a person wrote it.
    pub(super) fn as_written(&self, span: Span) -> Option<&'j str> {
        let Mapping::Shift(_) = self.mapping else { return None };
        let span = self.place(span);
        let text = self.written.get(span.start()..span.end())?;
        (!text.is_empty() && text.len() <= LONGEST_SHOWN && !text.contains('\n')).then_some(text)
    }

    /// Looks at a text that stands in an argument, so that places in it are reported truly.
    pub(super) fn within(&mut self, arg: &Arg<'_>, inner: impl FnOnce(&mut Self)) {
        let outer = self.mapping;
        self.mapping = match (outer, arg.verbatim) {
            (Mapping::Shift(by), Some(at)) => Mapping::Shift(by + at),
            (Mapping::Shift(_), None) => Mapping::Whole(self.place(arg.span)),
            (Mapping::Whole(whole), _) => Mapping::Whole(whole),
        };
        inner(self);
        self.mapping = outer;
    }

    /// Returns the place of an input that stands in the text at hand.
    pub(super) fn written_at(&self, span: Span, verbatim: Option<usize>) -> Written {
        Written { span, verbatim, mapping: self.mapping }
    }

    /// Looks at an input where it is written.
    pub(super) fn where_written(&mut self, at: Written, inner: impl FnOnce(&mut Self)) {
        self.mapped(at.mapping, inner);
    }

    /// Returns where a part of the text at hand lies in the outermost one.
    pub(super) fn mapping_at(&self, start: usize) -> Mapping {
        match self.mapping {
            Mapping::Shift(by) => Mapping::Shift(by + start),
            whole @ Mapping::Whole(_) => whole,
        }
    }

    /// Looks at a text whose place in the outermost one is all of `span`.
    pub(super) fn whole(&mut self, span: Span, inner: impl FnOnce(&mut Self)) {
        self.mapped(Mapping::Whole(span), inner);
    }

    /// Looks at a text that lies elsewhere in the outermost one.
    pub(super) fn mapped(&mut self, mapping: Mapping, inner: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.mapping, mapping);
        inner(self);
        self.mapping = outer;
    }
}
