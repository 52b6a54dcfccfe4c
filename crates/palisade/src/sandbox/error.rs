//! Why nothing was run.

use std::io;
use std::path::PathBuf;

use palisade_apply::CannotStart;
use palisade_plan::CannotPlan;
use palisade_policy::policy::Profile;

use crate::places::shown;

/// Why a call that was permitted did not run. A refusal is not one of these: it is an outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotRun {
    /// The folder to run in is not there.
    #[error("`{}` is no folder to run in", shown(folder))]
    Folder {
        /// The folder.
        folder: PathBuf,
    },
    /// Its name is no text.
    #[error("the name of `{}` is no text", shown(folder))]
    NoText {
        /// The folder.
        folder: PathBuf,
    },
    /// The policy's rules pick a profile for this call that cannot be put in force for it alone.
    #[error("the rules pick the profile `{0}` for this command, which cannot be enforced yet")]
    Profile(Profile),
    /// No way to confine it.
    #[error(transparent)]
    Plan(#[from] CannotPlan),
    /// The walls could not be put up.
    #[error(transparent)]
    Start(#[from] CannotStart),
    /// The streams could not be opened.
    #[error("cannot make a pipe")]
    Pipe(#[source] io::Error),
    /// An error of ours.
    #[error("an internal error: {0}")]
    Internal(String),
}

impl CannotRun {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Folder { .. } | Self::NoText { .. } => "cwd",
            Self::Profile(_) => "profile",
            Self::Plan(error) => error.code(),
            Self::Start(error) => error.code(),
            Self::Pipe(_) => "pipe",
            Self::Internal(_) => "internal-error",
        }
    }

    /// Returns what the caller can do about it, when we know.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Folder { .. } | Self::NoText { .. } => "name another with --cwd",
            Self::Profile(_) => "take the profile out of the rule, or set it for the whole policy",
            Self::Plan(CannotPlan::Cwd { .. }) => "name a folder of the project with --cwd",
            Self::Plan(CannotPlan::Network(_)) => {
                "set network.mode to `deny-all`, or to `disabled` for the host's own network"
            }
            Self::Plan(CannotPlan::NotWritable(_)) => "take it out of files.write",
            Self::Plan(CannotPlan::Missing { remedy, .. }) => remedy.as_str(),
            Self::Start(CannotStart::Descriptor { .. }) => "hand over a pipe, a file or a terminal",
            Self::Plan(_) | Self::Start(_) | Self::Pipe(_) | Self::Internal(_) => return None,
        };
        Some(hint.to_owned())
    }
}
