//! What became of a command.

use std::time::Duration;

use palisade_plan::{Enforced, Note};

/// What became of a command, as far as the kernel and the supervisor know.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What it wrote to descriptor 1, if that was captured.
    pub stdout: Stream,
    /// What it wrote to descriptor 2, if that was captured.
    pub stderr: Stream,
    /// From its start to the end of its last process.
    pub duration: Duration,
    /// What held while it ran.
    pub enforced: Vec<Enforced>,
    /// What a person should know.
    pub notes: Vec<Note>,
    /// What it used.
    pub usage: Usage,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// It took longer than it may.
    TimedOut,
    /// It wrote nothing for longer than it may.
    Idle,
    /// Whoever started it stopped it.
    Stopped,
    /// Its program was not found.
    NotFound,
    /// Its program could not be started; the number is the kernel's errno.
    NotStarted(i32),
}

/// What was kept of an output stream.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Stream {
    /// The bytes that were kept.
    pub bytes: Vec<u8>,
    /// How many were dropped, after or before them.
    pub dropped: u64,
}

/// What a command and its descendants used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Usage {
    /// Processor time in programs.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// The most memory that one process had, in bytes.
    pub peak_memory: u64,
}

impl Outcome {
    /// Returns the number that programs read (Ruling 12): the command's own, −101 when it was
    /// stopped for time, 127 and 126 when it could not be started, 128+n for a signal.
    pub fn exit_code(&self) -> i32 {
        match self.end {
            End::Exited(code) => code,
            End::Signalled(signal) => 128 + signal,
            End::TimedOut | End::Idle => -101,
            End::Stopped => 128 + 9,
            End::NotFound => 127,
            End::NotStarted(_) => 126,
        }
    }

    /// Returns whether it was stopped for time.
    pub fn timed_out(&self) -> bool {
        matches!(self.end, End::TimedOut | End::Idle)
    }

    /// Returns whether any output was dropped.
    pub fn truncated(&self) -> bool {
        self.stdout.truncated() || self.stderr.truncated()
    }
}

impl Stream {
    /// Returns whether bytes were dropped.
    pub fn truncated(&self) -> bool {
        self.dropped > 0
    }

    /// Returns the line that says so to whoever reads the output.
    pub fn marker(&self) -> Option<String> {
        let dropped = self.dropped;
        self.truncated().then(|| format!("[palisade: {dropped} bytes of output not shown]"))
    }
}
