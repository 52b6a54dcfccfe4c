//! Why a sandbox was not started. The command has not run.

use rustix::io::Errno;

/// Why a plan could not be put in force. The command has not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotStart {
    /// A text of the plan holds a zero byte.
    #[error("`{0}` holds a zero byte")]
    ZeroByte(String),
    /// A standard descriptor cannot be handed over.
    #[error("descriptor {number} cannot be handed to a sandbox: it is {what}")]
    Descriptor {
        /// 0, 1 or 2.
        number: u8,
        /// What it is.
        what: &'static str,
    },
    /// Something that the supervisor does before the sandbox exists.
    #[error("cannot {doing}")]
    Before {
        /// What.
        doing: &'static str,
        /// Why.
        #[source]
        errno: std::io::Error,
    },
    /// A step of the plan.
    #[error("step {number} of the plan failed: {step}")]
    Step {
        /// Its place in the plan.
        number: usize,
        /// What it is.
        step: String,
        /// Why.
        #[source]
        errno: std::io::Error,
    },
    /// The sandbox ended before the command was started, and did not say why.
    #[error("the sandbox was killed before its command started")]
    Lost,
}

impl CannotStart {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ZeroByte(_) => "zero-byte",
            Self::Descriptor { .. } => "standard-descriptor",
            Self::Before { .. } => "prepare",
            Self::Step { .. } => "step",
            Self::Lost => "lost",
        }
    }

    /// Returns the kernel's number for it, if the kernel said no.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Before { errno, .. } | Self::Step { errno, .. } => errno.raw_os_error(),
            Self::ZeroByte(_) | Self::Descriptor { .. } | Self::Lost => None,
        }
    }
}

/// Says what was being done before the sandbox existed.
pub(super) fn before(doing: &'static str) -> impl Fn(Errno) -> CannotStart {
    move |errno| CannotStart::Before { doing, errno: errno.into() }
}
