//! What is to be run.

use std::fmt;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

pub use palisade_apply::Input;
use palisade_plan::Trace;
use palisade_policy::decide::Asked;

/// One command to run: what, where, with which input, and where its output goes.
///
/// A list of words is a program and its arguments, which no shell reads:
///
/// ```
/// use palisade::Job;
///
/// let job = Job::from(["cargo", "test"]).cwd("crates/core").variable("RUST_LOG", "debug");
/// # drop(job);
/// ```
#[derive(Debug)]
pub struct Job {
    pub(super) words: Words,
    pub(super) cwd: Option<PathBuf>,
    pub(super) timeout: Option<Duration>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) stdin: Input,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    pub(super) signals: Signals,
    pub(super) trace: Trace,
    pub(super) brief: bool,
    pub(super) tool: Option<String>,
    pub(super) call_id: Option<String>,
}

/// What was asked for.
#[derive(Clone, Debug)]
pub(super) enum Words {
    Argv(Vec<String>),
    Shell(String),
}

/// Where output goes.
#[derive(Default)]
pub enum Output {
    /// Into the outcome, up to the policy's `limits.output`.
    #[default]
    Capture,
    /// Nowhere.
    Null,
    /// Into a descriptor: a pipe is handed to the command, a file is written for it.
    To(OwnedFd),
    /// To a function, piece by piece, as it comes.
    Each(Each),
}

/// A function that gets output piece by piece.
pub type Each = Box<dyn FnMut(&[u8]) + Send>;

/// What becomes of signals that reach this process while a command runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Signals {
    /// They are this process's own affair.
    #[default]
    Ours,
    /// They are passed on to the command. It takes the process's handlers meanwhile, so it is for
    /// programs that do nothing else.
    PassOn,
}

impl Job {
    /// Runs shell text, by bash where there is one and by `sh` otherwise.
    pub fn shell(text: impl Into<String>) -> Self {
        Self::of(Words::Shell(text.into()))
    }

    /// Runs a program with its arguments; no shell reads them.
    pub fn argv(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::of(Words::Argv(words.into_iter().map(Into::into).collect()))
    }

    /// Runs it in a folder of the project, instead of the one that the session was opened in.
    /// Relative ones start there.
    #[must_use]
    pub fn cwd(self, folder: impl Into<PathBuf>) -> Self {
        Self { cwd: Some(folder.into()), ..self }
    }

    /// Says which tool of an agent runs it: rules about that tool then count, and may pick another
    /// profile. Without one it counts as any shell's.
    #[must_use]
    pub fn tool(self, name: impl Into<String>) -> Self {
        Self { tool: Some(name.into()), ..self }
    }

    /// Says what the call is called by whoever makes it, for the record.
    #[must_use]
    pub fn call_id(self, id: impl Into<String>) -> Self {
        Self { call_id: Some(id.into()), ..self }
    }

    /// Ends it after this time, if the policy does not end it earlier.
    #[must_use]
    pub fn timeout(self, time: Duration) -> Self {
        Self { timeout: Some(time), ..self }
    }

    /// Gives it a variable, whatever the policy passes. The value is never shown or recorded.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Says what it reads; nothing otherwise.
    #[must_use]
    pub fn stdin(self, stdin: Input) -> Self {
        Self { stdin, ..self }
    }

    /// Says where its output goes; into the outcome otherwise.
    #[must_use]
    pub fn stdout(self, stdout: Output) -> Self {
        Self { stdout, ..self }
    }

    /// Says where its errors go; into the outcome otherwise.
    #[must_use]
    pub fn stderr(self, stderr: Output) -> Self {
        Self { stderr, ..self }
    }

    /// Says what becomes of signals that reach this process meanwhile.
    #[must_use]
    pub fn signals(self, signals: Signals) -> Self {
        Self { signals, ..self }
    }

    /// Has the outcome list what the command tried to write in vain. Every write then waits for us,
    /// which makes it slower.
    #[must_use]
    pub fn trace_writes(self) -> Self {
        Self { trace: Trace::Writes, ..self }
    }

    /// Looks neither for what the command changed that others will execute, nor for what it left in
    /// `/tmp`: the outcome is sooner there, and tells of none.
    #[must_use]
    pub fn brief(self) -> Self {
        Self { brief: true, ..self }
    }

    /// Puts its variables over an environment.
    pub(super) fn added_to(&self, environment: Vec<(String, String)>) -> Vec<(String, String)> {
        let mut environment = environment;
        for (name, value) in &self.variables {
            environment.retain(|(had, _)| had != name);
            environment.push((name.clone(), value.clone()));
        }
        environment
    }

    fn of(words: Words) -> Self {
        Self {
            words,
            cwd: None,
            timeout: None,
            variables: Vec::new(),
            stdin: Input::Null,
            stdout: Output::Capture,
            stderr: Output::Capture,
            signals: Signals::Ours,
            trace: Trace::Off,
            brief: false,
            tool: None,
            call_id: None,
        }
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Job {
    fn from(words: [T; N]) -> Self {
        Self::argv(words)
    }
}

impl<T: Into<String>> From<Vec<T>> for Job {
    fn from(words: Vec<T>) -> Self {
        Self::argv(words)
    }
}

impl From<&[&str]> for Job {
    fn from(words: &[&str]) -> Self {
        Self::argv(words.iter().copied())
    }
}

impl Output {
    /// Makes a pipe: what the command writes can be read from its other end while it runs. Read
    /// it to its end, or the command waits.
    ///
    /// # Errors
    ///
    /// When no more descriptors can be had.
    pub fn piped() -> io::Result<(Self, PipeReader)> {
        let (reader, writer) = io::pipe()?;
        Ok((Self::To(writer.into()), reader))
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capture => f.write_str("Capture"),
            Self::Null => f.write_str("Null"),
            Self::To(fd) => f.debug_tuple("To").field(fd).finish(),
            Self::Each(_) => f.write_str("Each(..)"),
        }
    }
}

impl Words {
    /// Returns the call as it is decided.
    pub(super) fn asked(&self) -> Asked<'_> {
        match self {
            Self::Argv(argv) => Asked::Argv(argv),
            Self::Shell(text) => Asked::Shell(text),
        }
    }

    /// Returns what is executed, and the shell that reads it, if one does (Ruling 13).
    pub(super) fn argv(&self) -> (Vec<String>, Option<&'static str>) {
        match self {
            Self::Argv(argv) => (argv.clone(), None),
            Self::Shell(text) => {
                let bash = std::path::Path::new("/bin/bash").is_file();
                let (shell, options): (_, &[&str]) = match bash {
                    true => ("/bin/bash", &["--norc", "--noprofile"]),
                    false => ("/bin/sh", &[]),
                };
                let words = std::iter::once(shell).chain(options.iter().copied()).chain(["-c"]);
                let argv = words.map(str::to_owned).chain([text.clone()]).collect();
                (argv, Some(shell))
            }
        }
    }
}
