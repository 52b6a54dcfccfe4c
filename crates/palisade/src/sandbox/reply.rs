//! Why an ask was not answered with yes.

use std::fmt;

use palisade_audit::Answered;

/// Why an ask was not answered with yes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unconfirmed {
    /// A person said no.
    Declined,
    /// Nobody answered in time.
    Silence,
    /// There was nobody to ask.
    Nobody,
    /// Too much was asked.
    Flood,
}

impl Unconfirmed {
    /// Returns why an answer is no yes; none if it is one.
    pub(super) fn of(answer: Answered) -> Option<Self> {
        match answer {
            Answered::Yes | Answered::ForRun | Answered::Always => None,
            Answered::Flood => Some(Self::Flood),
            Answered::No => Some(Self::Declined),
            Answered::Timeout => Some(Self::Silence),
            Answered::Nobody => Some(Self::Nobody),
        }
    }
}

impl fmt::Display for Unconfirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Declined => "a person said no",
            Self::Silence => "nobody confirmed it in time",
            Self::Nobody => "nobody is here to confirm it",
            Self::Flood => "too many questions were asked lately; wait a minute",
        })
    }
}
