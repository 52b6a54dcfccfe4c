//! The three streams of a command, as a caller hands them over.

use std::io::PipeWriter;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What the command reads.
#[derive(Debug, Default)]
pub enum Input {
    /// Nothing: it ends at once.
    #[default]
    Null,
    /// These bytes.
    Bytes(Vec<u8>),
    /// What a descriptor gives. It is read for the command, because a descriptor of a file leads
    /// around every wall, a pipe can be written by whoever reads it, and a socket reaches more than
    /// its peer. What the command does not read of a file or a pipe stays there. For a terminal the command gets one
    /// of its own, and this one is read for it: key by key, in its own modes until the end; on macOS
    /// it is handed over.
    From(OwnedFd),
}

/// Where the command's output goes.
#[derive(Debug, Default)]
pub enum Output {
    /// Nowhere.
    Null,
    /// Into the outcome.
    #[default]
    Capture,
    /// Into a descriptor, which is written for the command as with [`Input::From`], while somebody
    /// waits for it.
    To(OwnedFd),
    /// Into a pipe that was made for this command alone: it is handed over.
    Pipe(PipeWriter),
}

/// The three streams of a command.
#[derive(Debug, Default)]
pub struct Streams {
    /// Descriptor 0.
    pub stdin: Input,
    /// Descriptor 1.
    pub stdout: Output,
    /// Descriptor 2.
    pub stderr: Output,
}

impl Streams {
    /// Returns streams that are copies of these descriptors, usually the caller's own. What is a
    /// terminal outside is one inside: see [`Input::From`] and
    /// [`Running::wait_attended`](crate::Running::wait_attended).
    ///
    /// # Errors
    ///
    /// When a descriptor cannot be copied, because it is closed or there are too many.
    pub fn over(
        stdin: BorrowedFd<'_>,
        stdout: BorrowedFd<'_>,
        stderr: BorrowedFd<'_>,
    ) -> std::io::Result<Self> {
        Ok(Self {
            stdin: Input::From(stdin.try_clone_to_owned()?),
            stdout: Output::To(stdout.try_clone_to_owned()?),
            stderr: Output::To(stderr.try_clone_to_owned()?),
        })
    }
}
