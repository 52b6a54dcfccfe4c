//! The same decision, told step by step.

use super::verdict::{Answer, Reason};
use crate::command::{Act, Arg, HOLE};
use crate::text::Span;

/// One step of a decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// The command that was looked at, as far as it is known.
    pub command: String,
    /// Where it stands in the person's text.
    pub span: Span,
    /// What was found about it; nothing means it is fine.
    pub reasons: Vec<Reason>,
    /// The files and hosts that it names, redirections among them.
    pub touches: Vec<Touch>,
}

/// A file or a host, and what is done with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Touch {
    /// `reads`, `writes`, `deletes`, `enters` or `reaches`.
    pub deed: &'static str,
    /// Its name, as far as it is known.
    pub what: String,
}

/// Notes steps, or nothing: most decisions need no story.
#[derive(Clone, Debug)]
pub(super) enum Trace {
    Off,
    On(Vec<Step>),
}

impl Trace {
    pub(super) fn command(&mut self, argv: &[Arg<'_>], span: Span) {
        let Self::On(steps) = self else { return };
        let words: Vec<&str> = argv.iter().map(|arg| &*arg.text).collect();
        let command = words.join(" ").replace(HOLE, "…");
        let step = Step { command, span, reasons: Vec::new(), touches: Vec::new() };
        // A loop's second round tells nothing new.
        if !steps.iter().any(|known| known.span == span && known.command == step.command) {
            steps.push(step);
        }
    }

    pub(super) fn found(&mut self, reason: &Reason) {
        let Self::On(steps) = self else { return };
        if steps.iter().flat_map(|step| &step.reasons).any(|known| is_same(known, reason)) {
            return;
        }
        match steps.last_mut() {
            Some(step) => step.reasons.push(reason.clone()),
            None => steps.push(Step {
                command: String::new(),
                span: reason.span,
                reasons: vec![reason.clone()],
                touches: Vec::new(),
            }),
        }
    }

    /// Notes what an act names.
    pub(super) fn act(&mut self, act: &Act<'_>) {
        let Self::On(steps) = self else { return };
        let (deed, arg) = match act {
            Act::Read(arg) | Act::Mention(arg) => ("reads", arg),
            Act::Write(arg) | Act::Link { name: arg, .. } => ("writes", arg),
            Act::Delete(arg, _) => ("deletes", arg),
            Act::Enter(arg) => ("enters", arg),
            Act::Connect(arg) => ("reaches", arg),
            Act::Send(_) | Act::Run(_) | Act::Raise(..) => return,
        };
        let touch = Touch { deed, what: arg.text.replace(HOLE, "…") };
        if steps.iter().flat_map(|step| &step.touches).any(|known| *known == touch) {
            return;
        }
        if steps.is_empty() {
            let (command, span) = (String::new(), arg.span);
            steps.push(Step { command, span, reasons: Vec::new(), touches: Vec::new() });
        }
        steps.iter_mut().next_back().into_iter().for_each(|step| step.touches.push(touch.clone()));
    }

    /// Returns a trace of the same kind without any step.
    pub(super) fn fresh(&self) -> Self {
        match self {
            Self::Off => Self::Off,
            Self::On(_) => Self::On(Vec::new()),
        }
    }

    /// Adds the steps of another.
    pub(super) fn append(&mut self, other: Self) {
        if let (Self::On(steps), Self::On(more)) = (self, other) {
            steps.extend(more);
        }
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        match self {
            Self::Off => Vec::new(),
            Self::On(steps) => steps,
        }
    }
}

impl Step {
    /// Returns how strict this step alone is.
    pub fn answer(&self) -> Answer {
        self.reasons.iter().map(|reason| reason.answer).max().unwrap_or(Answer::Allow)
    }
}

/// Whether two findings are one. Most are about different places, which is told at once.
pub(super) fn is_same(one: &Reason, other: &Reason) -> bool {
    one.span == other.span && one == other
}
