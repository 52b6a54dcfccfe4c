//! How a command ends (Ruling 11).

use std::panic::{UnwindSafe, catch_unwind};
use std::process::ExitCode;

/// How a command ended. Most wrong usage is clap's to report; it ends with 2 too.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Success,
    /// Somebody would have to be asked first.
    Undecided,
    /// We failed, and nothing was run.
    Failed,
    /// A person said no.
    Declined,
    /// The policy says no.
    Denied,
    /// Nothing was asked.
    Usage,
    /// As the command that was run did, or as its outcome says.
    Ran(u8),
}

impl Exit {
    /// Runs `command`; a bug of ours that panics ends like every other failure.
    pub(crate) fn of(command: impl FnOnce() -> Self + UnwindSafe) -> Self {
        catch_unwind(command).unwrap_or(Self::Failed)
    }

    /// Returns how an answer to an agent's hook ends: most agents go on at any number but 2.
    pub(crate) fn refusing(self) -> Self {
        match self {
            Self::Success | Self::Ran(0) => self,
            Self::Undecided
            | Self::Failed
            | Self::Declined
            | Self::Denied
            | Self::Usage
            | Self::Ran(_) => Self::Usage,
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Usage => 2,
            Self::Undecided => 3,
            Self::Failed => 125,
            Self::Declined | Self::Denied => 126,
            Self::Ran(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_ruling() {
        let codes = [
            Exit::Success,
            Exit::Undecided,
            Exit::Failed,
            Exit::Declined,
            Exit::Denied,
            Exit::Usage,
            Exit::Ran(7),
        ];
        assert_eq!(codes.map(Exit::code), [0, 3, 125, 126, 126, 2, 7]);
    }

    #[test]
    fn a_hook_that_fails_refuses() {
        assert_eq!(Exit::of(|| panic!("a bug made for this test")).refusing().code(), 2);
        for exit in [Exit::Failed, Exit::Denied, Exit::Undecided, Exit::Ran(7), Exit::Ran(2)] {
            assert_eq!(exit.refusing().code(), 2);
        }
        assert_eq!(Exit::Ran(0).refusing().code(), 0);
    }

    #[test]
    fn a_panic_ends_as_a_failure() {
        assert_eq!(Exit::of(|| Exit::Declined), Exit::Declined);
        assert_eq!(Exit::of(|| panic!("a bug made for this test")), Exit::Failed);
    }
}
