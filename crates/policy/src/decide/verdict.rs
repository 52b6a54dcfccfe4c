//! What was decided, and why.

use std::fmt;

use crate::layer::{Layer, Origin};
use crate::permission::Source;
use crate::text::Span;

/// What was decided about one call. Where several have a say, the strictest [`Answer`] holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It may run.
    Allow(Permit),
    /// A person must say yes first; the reasons say why.
    Ask(Vec<Reason>),
    /// It does not run; the first reason is the one to show.
    Deny(Vec<Reason>),
}

/// Proof that a call was decided. Only deciding makes one, and a person's yes to what it asks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Permit(Source);

/// How strict an answer is: of two the greater holds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Answer {
    /// It may run.
    Allow,
    /// A person must say yes first.
    Ask,
    /// It does not run.
    Deny,
}

/// One reason for not allowing a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reason {
    /// Whether it asks or denies.
    pub answer: Answer,
    /// What a program matches on; stable between versions.
    pub code: &'static str,
    /// Which check said so.
    pub axis: Axis,
    /// What a person reads.
    pub message: String,
    /// The part of the text that it is about.
    pub span: Span,
    /// The line of the policy that says so.
    pub origin: Option<Origin>,
    /// What the caller may do instead.
    pub hint: Option<String>,
}

/// The checks, in the order in which they are reported.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Axis {
    /// Which program.
    Name,
    /// Which arguments: inline code, options that run something.
    Argv,
    /// How the text is built: what the shell would make of it.
    Structure,
    /// Which files.
    Path,
    /// Which rule of the policy.
    Rule,
}

impl Verdict {
    /// Makes the verdict that a list of reasons amounts to.
    pub(crate) fn of(reasons: Vec<Reason>) -> Self {
        Self::by(reasons, Source::ModePreset)
    }

    /// The same, with who allows it if nothing is against it.
    pub(crate) fn by(mut reasons: Vec<Reason>, source: Source) -> Self {
        let Some(strictest) = reasons.iter().map(|reason| reason.answer).max() else {
            return Self::Allow(Permit(source));
        };
        // A denial's list begins with what denies, axis by axis; the order of the text breaks ties.
        reasons.sort_by_key(|reason| (std::cmp::Reverse(reason.answer), reason.axis));
        match strictest {
            Answer::Allow => Self::Allow(Permit(source)),
            Answer::Ask => Self::Ask(reasons),
            Answer::Deny => Self::Deny(reasons),
        }
    }

    /// The verdict where deciding itself failed: a denial.
    pub fn failed() -> Self {
        Self::of(vec![Reason {
            answer: Answer::Deny,
            code: "internal-error",
            axis: Axis::Structure,
            message: "judging the call failed, so it is refused".to_owned(),
            span: Span::new(0, 0),
            origin: None,
            hint: None,
        }])
    }

    /// Returns the permit that a person's yes makes of an ask. A denial nobody can lift.
    pub fn confirmed(&self) -> Option<Permit> {
        match self {
            Self::Allow(permit) => Some(permit.clone()),
            Self::Ask(_) => Some(Permit(self.source())),
            Self::Deny(_) => None,
        }
    }

    /// Returns how strict it is.
    pub fn answer(&self) -> Answer {
        match self {
            Self::Allow(_) => Answer::Allow,
            Self::Ask(_) => Answer::Ask,
            Self::Deny(_) => Answer::Deny,
        }
    }

    /// Returns who decided.
    pub fn source(&self) -> Source {
        match self {
            Self::Allow(permit) => permit.0,
            Self::Ask(reasons) | Self::Deny(reasons) => {
                let strict = reasons.iter().filter(|reason| reason.answer == self.answer());
                strict.map(Reason::source).min().unwrap_or(Source::ModePreset)
            }
        }
    }

    /// Returns why it is not an allow, the first reason first.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Allow(_) => &[],
            Self::Ask(reasons) | Self::Deny(reasons) => reasons,
        }
    }

    /// Returns every check that was not passed, in order. Of a denial, what would only have been
    /// asked about is none of them.
    pub fn axes(&self) -> Vec<Axis> {
        let strict = self.reasons().iter().filter(|reason| reason.answer == self.answer());
        let mut axes: Vec<Axis> = strict.map(|reason| reason.axis).collect();
        axes.sort_unstable();
        axes.dedup();
        axes
    }
}

impl Reason {
    /// Returns who says so.
    pub fn source(&self) -> Source {
        match self.code {
            "hardline" | "device" | "power" | "kernel" | "exhausts" | "backdoor" => {
                Source::Hardline
            }
            "injected" => Source::Injected,
            "rule" => Source::UserRule,
            // A line of somebody's policy is a rule of theirs, in whatever list it stands.
            _ if self.origin.as_ref().is_some_and(|origin| origin.layer > Layer::Preset) => {
                Source::UserRule
            }
            _ => Source::ModePreset,
        }
    }
}

impl Answer {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Axis {
    /// Every check there is.
    pub const ALL: [Self; 5] = [Self::Name, Self::Argv, Self::Structure, Self::Path, Self::Rule];

    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Argv => "argv",
            Self::Structure => "structure",
            Self::Path => "path",
            Self::Rule => "rule",
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
