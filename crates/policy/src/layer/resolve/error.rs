//! Why there is no policy in force.

use crate::text::Diagnostic;

/// Why no policy could be worked out.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotResolve {
    /// The task exists in no file.
    #[error("there is no task `{task}`")]
    NoSuchTask {
        /// The task that was asked for.
        task: String,
        /// The tasks there are.
        known: Vec<String>,
    },
    /// A text that Palisade itself brings cannot be read.
    #[error("a built-in policy cannot be read: {problem}")]
    BuiltIn {
        /// What is wrong with it.
        problem: String,
    },
    /// The task is for somebody else.
    #[error("the task `{task}` is for the agent `{wanted}`, not for `{given}`")]
    OtherAgent {
        /// The task that was asked for.
        task: String,
        /// The agent its file names.
        wanted: String,
        /// The agent that was given.
        given: String,
    },
}

impl CannotResolve {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BuiltIn { .. } => "built-in",
            Self::NoSuchTask { .. } => "no-such-task",
            Self::OtherAgent { .. } => "other-agent",
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::BuiltIn { .. } => "name the project and the home folder by absolute paths".into(),
            Self::NoSuchTask { known, .. } if known.is_empty() => {
                "no policy file defines tasks".into()
            }
            Self::NoSuchTask { known, .. } => format!("known tasks: {}", known.join(", ")),
            Self::OtherAgent { wanted, .. } => {
                format!("leave --agent out, or say --agent {wanted}")
            }
        }
    }
}

impl From<Vec<Diagnostic>> for CannotResolve {
    fn from(problems: Vec<Diagnostic>) -> Self {
        let problem = problems.first().map(ToString::to_string).unwrap_or_default();
        Self::BuiltIn { problem }
    }
}
