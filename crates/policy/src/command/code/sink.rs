//! Where a reader puts what it finds.

use std::borrow::Cow;

use super::value::FOUND;
use crate::command::{Act, Arg, Certainty, Concern, Holed as _, Run};
use crate::text::Span;

/// Collects acts, and knows where in the person's text they are.
#[derive(Debug)]
pub(super) struct Sink<'t, 'a> {
    span: Span,
    at: Option<usize>,
    acts: &'a mut Vec<Act<'t>>,
    first: usize,
    raised: Vec<Concern>,
    /// Whether something was started.
    pub(super) spawns: bool,
    /// Whether bytes can be piped to another machine.
    pub(super) socket: bool,
    /// Whether something is sent to another machine.
    pub(super) sends: bool,
}

impl<'t, 'a> Sink<'t, 'a> {
    pub(super) fn new(span: Span, at: Option<usize>, acts: &'a mut Vec<Act<'t>>) -> Self {
        let first = acts.len();
        Self {
            span,
            at,
            acts,
            first,
            raised: Vec::new(),
            spawns: false,
            socket: false,
            sends: false,
        }
    }

    /// Returns the place of some bytes of the code.
    pub(super) fn place(&self, start: usize, end: usize) -> Span {
        self.at.map_or(self.span, |at| Span::new(at + start, at + end))
    }

    /// Returns an argument made of `text`, with its certainty.
    pub(super) fn arg(&self, text: impl Into<Cow<'t, str>>, start: usize, end: usize) -> Arg<'t> {
        let text = text.into();
        let certainty = if text.has_hole() {
            Certainty::Partial
        } else if text.contains(FOUND) {
            let text = text.replace(FOUND, "*");
            let span = self.place(start, end);
            return Arg { text: text.into(), certainty: Certainty::Pattern, span, verbatim: None };
        } else {
            Certainty::Known
        };
        Arg { text, certainty, span: self.place(start, end), verbatim: None }
    }

    /// Returns an argument that stands in the code byte for byte, from `from` on.
    pub(super) fn verbatim(
        &self,
        text: Cow<'t, str>,
        from: Option<usize>,
        bytes: (usize, usize),
    ) -> Arg<'t> {
        let Some(from) = from else { return self.arg(text, bytes.0, bytes.1) };
        let end = from + text.len();
        let arg = self.arg(text, from, end);
        // A pattern is spelled with other characters than the code.
        let same = arg.certainty != Certainty::Pattern;
        Arg { verbatim: self.at.filter(|_| same).map(|at| at + from), ..arg }
    }

    /// Returns an argument of which nothing is known.
    pub(super) fn unknown(&self, start: usize, end: usize) -> Arg<'t> {
        self.arg(HOLE_TEXT, start, end)
    }

    /// Returns whether that was said.
    pub(super) fn has_raised(&self, concern: Concern) -> bool {
        self.raised.contains(&concern)
    }

    /// Says something once.
    pub(super) fn raise(&mut self, concern: Concern, start: usize, end: usize) {
        self.spawns |= concern == Concern::Spawns;
        let span = self.place(start, end);
        if !self.raised.contains(&concern) {
            self.raised.push(concern);
            self.acts.push(Act::Raise(concern, span));
        }
    }

    pub(super) fn act(&mut self, act: Act<'t>) {
        self.spawns |= matches!(act, Act::Run(Run::Argv(_) | Run::Shell(_) | Run::Program(_)));
        self.acts.push(act);
    }

    /// Returns whether a file was read.
    pub(super) fn has_read(&self) -> bool {
        self.acts.iter().skip(self.first).any(|act| matches!(act, Act::Read(_)))
    }

    /// Says what only the whole shows.
    pub(super) fn finish(mut self) {
        let end = self.span.end().saturating_sub(self.at.unwrap_or_default());
        if self.socket && self.spawns {
            self.raise(Concern::Backdoor, 0, end);
        }
        if (self.sends || self.socket) && self.has_read() {
            self.raise(Concern::Exfiltrates, 0, end);
        }
    }
}

const HOLE_TEXT: &str = "\u{FDD0}";
