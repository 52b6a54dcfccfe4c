//! What became of a command.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use palisade_plan::{Enforced, Level, Note};

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
    /// How much of it all there was.
    pub level: Level,
    /// What held while it ran.
    pub enforced: Vec<Enforced>,
    /// What a person should know.
    pub notes: Vec<Note>,
    /// What it used.
    pub usage: Usage,
    /// The limit that ended it, if one did.
    pub limit: Option<Bound>,
    /// Limits that it met and went on, or ended by itself.
    pub reached: Vec<Bound>,
    /// What it tried to write in vain, if that was traced.
    pub violations: Violations,
    /// What it wrote and started, if that was traced.
    pub used: Used,
    /// What it changed that somebody else will execute later.
    pub touched: Vec<Touched>,
    /// Files in the private /tmp, which is gone; nothing is known if the command was ended by us.
    pub left_in_tmp: Option<Vec<PathBuf>>,
    /// Whether any of its processes lives on.
    pub survivors: Survivors,
}

/// An upper bound, by its name in a policy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bound {
    /// `limits.timeout`
    Time,
    /// `limits.idle`
    Idle,
    /// `limits.output`
    Output,
    /// `limits.processes`
    Processes,
    /// `limits.memory`
    Memory,
    /// `limits.cpu`
    Cpu,
    /// `limits.file_size`
    FileSize,
    /// `limits.open_files`
    OpenFiles,
    /// `limits.tmp`
    Tmp,
}

/// What a command tried to write in vain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violations {
    /// Nobody was told: it was not asked for, or could not be.
    Unavailable,
    /// What was predicted from each call before the kernel decided.
    Predicted(Vec<Violation>),
}

/// What a command wrote and started, as far as somebody watched. It is predicted as violations are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Used {
    /// Files and folders that it changed, or tried to where it may.
    pub written: BTreeSet<PathBuf>,
    /// Programs that it started.
    pub programs: BTreeSet<PathBuf>,
    /// Whether there was more than is kept.
    pub more: bool,
}

/// One thing that a command tried in vain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// What it tried: `open`, `mkdir`, `remove`…
    pub operation: &'static str,
    /// On which path.
    pub path: PathBuf,
    /// Which key of the policy forbids it.
    pub rule: &'static str,
    /// What to do about it.
    pub remedy: String,
    /// How often.
    pub times: u64,
}

/// A file that was changed and that somebody else will execute, or act upon, later.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Touched {
    /// Which.
    pub path: PathBuf,
    /// By what it is executed: `hook`, `ci`, `package scripts`…
    pub why: &'static str,
}

/// Whether processes of a command live on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Survivors {
    /// None does: the kernel has ended their namespace.
    None,
    /// That could not be shown.
    Unproved,
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

impl Bound {
    /// Returns the name of the key that sets it, as policies and programs spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Time => "timeout",
            Self::Idle => "idle",
            Self::Output => "output",
            Self::Processes => "processes",
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::FileSize => "file_size",
            Self::OpenFiles => "open_files",
            Self::Tmp => "tmp",
        }
    }
}

impl Survivors {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unproved => "unproved",
        }
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
