//! Why an ask was not answered with yes.

use std::fmt;

use palisade_audit::Answered;

use super::ask::Memory;

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
    /// The same was not answered with yes a moment ago, and was not asked again.
    Again,
    /// The program or service that the policy has asked gave no answer that counts.
    Unheard,
}

impl Unconfirmed {
    /// Returns why an answer is no yes; none if it is one.
    pub(super) fn of((answer, memory, far): (Answered, Memory, bool)) -> Option<Self> {
        match answer {
            Answered::No if memory == Memory::Known => Some(Self::Again),
            Answered::Nobody if far => Some(Self::Unheard),
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
            Self::Again => {
                "the same was not confirmed a moment ago, and is not asked again for a minute"
            }
            Self::Unheard => "whom the policy has asked gave no answer that counts",
            Self::Flood => "too many questions were asked lately; wait a minute",
        })
    }
}
