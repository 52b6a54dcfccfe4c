//! Why a task stopped before it could give an answer.

use std::fmt;
use std::io;

/// One sentence that names the file or program and says what went wrong.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Says what was attempted and why the system refused.
    pub(crate) fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self(format!("{what}: {error}"))
    }

    /// Refuses an argument that the command does not know.
    pub(crate) fn argument(command: &str, argument: &str) -> Self {
        Self(format!("`{command}` does not know `{argument}`; see `cargo xtask {command} --help`"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(format!("cannot write the report: {error}"))
    }
}
