//! What is remembered: one event for each thing that happened to a call.

mod json;

use std::time::SystemTime;

use serde_json::Value;

/// The version of the schema. It changes when a field does not mean any more what it did.
pub const VERSION: u32 = 1;

/// Something that happened.
///
/// ```
/// use std::time::SystemTime;
/// use palisade_audit::{Answered, Event, What};
///
/// let event = Event {
///     at: SystemTime::UNIX_EPOCH,
///     run: "5a1e",
///     what: What::Confirmation { answer: Answered::Timeout, by: "terminal", call: "ab" },
/// };
/// assert!(event.line().starts_with(r#"{"version":1,"time":"1970-01-01T00:00:00.000Z","run":"5a1e""#));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// When.
    pub at: SystemTime,
    /// Which run it belongs to: all events of one call carry the same. Empty where it belongs to none.
    pub run: &'a str,
    /// What.
    pub what: What<'a>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What<'a> {
    /// A call was decided.
    Decision(Decided<'a>),
    /// A person was asked.
    Confirmation {
        /// What came back.
        answer: Answered,
        /// Who was asked, such as `terminal`.
        by: &'a str,
        /// The hash of the call that was shown, which is the one that runs.
        call: &'a str,
    },
    /// A person was asked about a host, while a program waited.
    HostConfirmation {
        /// What came back.
        answer: Answered,
        /// Who was asked, such as `terminal`.
        by: &'a str,
        /// The host.
        host: &'a str,
        /// Its port.
        port: u16,
        /// The plain request, where that is what was asked about: its method and path.
        request: Option<&'a str>,
    },
    /// A connection has ended, or did not come about.
    Connection(Connected<'a>),
    /// A call was carried out, or was not.
    Run(Ended<'a>),
    /// A model's tool call was judged.
    Tool(Judged<'a>),
    /// A policy was read and is in force for the calls that follow.
    Policy {
        /// The project.
        root: &'a str,
        /// The files that had a say, weakest first.
        files: Vec<PolicyFile<'a>>,
    },
    /// A person agreed to what a project's files open, or took that back.
    Trust {
        /// Whether they count in full from now on.
        trusted: bool,
        /// The project.
        root: &'a str,
        /// The files.
        files: Vec<String>,
    },
    /// The chain up to here was signed.
    Checkpoint {
        /// The signature; none where there is no key.
        mac: Option<String>,
    },
    /// Something was found amiss when the log was written to again.
    Recovered(Recovered),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The call's own name, as the model or the client has it.
    pub call_id: Option<&'a str>,
    /// `allow`, `ask` or `deny`.
    pub verdict: &'a str,
    /// Why it is no allow.
    pub reasons: Vec<Because<'a>>,
    /// The agent, if one was named.
    pub agent: Option<&'a str>,
}

/// What was found amiss, and what was done about it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Recovered {
    /// Bytes of a record that its writer did not finish; they were taken off.
    pub torn: u64,
    /// Records that this writer could not append before.
    pub lost: u64,
    /// Bytes behind the head that nothing shows to be ours; they stay where they are, outside the chain.
    pub unproven: u64,
    /// What was wrong with the head; none if nothing was.
    pub head: Option<HeadTrouble>,
}

/// What was wrong with the head when the log was written to again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HeadTrouble {
    /// It was not there, and the log was.
    Missing,
    /// It is nothing that we wrote.
    Damaged,
    /// Its signature is not ours.
    Foreign,
    /// More records of ours stood behind it than one writer leaves there: it was put back.
    Old,
}

/// A connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Connected<'a> {
    /// Who was meant: a name or an address.
    pub host: &'a str,
    /// The port; none for a question about a name.
    pub port: Option<u16>,
    /// The address that was dialled.
    pub address: Option<String>,
    /// How it came: `direct`, or through a proxy.
    pub via: &'a str,
    /// What became of it: `allowed`, `refused`, `cut`, `failed` or `untaken`.
    pub verdict: &'a str,
    /// Why; a name that never changes.
    pub code: Option<&'a str>,
    /// The entry of the policy that says so.
    pub rule: Option<&'a str>,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// How long it took.
    pub duration_ms: f64,
    /// Methods and paths of plain requests. Their queries are never recorded.
    pub requests: Vec<&'a str>,
    /// How many more there were.
    pub more_requests: u64,
}

/// A decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided<'a> {
    /// The call.
    pub call: Call<'a>,
    /// `allow`, `ask` or `deny`.
    pub verdict: &'a str,
    /// Why it is no allow.
    pub reasons: Vec<Because<'a>>,
    /// The agent, if one was named.
    pub agent: Option<&'a str>,
    /// The task, if one was named.
    pub task: Option<&'a str>,
    /// Whether the policy says that nothing is confined.
    pub unconfined: bool,
    /// The policy files that had a say, weakest first.
    pub policies: Vec<PolicyFile<'a>>,
    /// Keys that a project's file says and that were left out, because they widen. Values are never
    /// recorded.
    pub left_out: Vec<&'a str>,
}

/// A policy file that had a say.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyFile<'a> {
    /// Whose it is, such as `user` or `project`.
    pub layer: &'a str,
    /// Where it lies.
    pub file: String,
    /// What it is written in.
    pub dialect: &'a str,
    /// Whether it counts in full: a project's only narrows until it is trusted.
    pub trusted: bool,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// What was asked for.
    pub asked: Asked<'a>,
    /// The project.
    pub root: &'a str,
    /// The folder it runs in.
    pub cwd: &'a str,
    /// Names of the variables that the caller added. Values are never recorded.
    pub variables: Vec<&'a str>,
    /// The hash of all that.
    pub hash: &'a str,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked<'a> {
    /// A program and its arguments.
    Argv(&'a [String]),
    /// Text for a shell.
    Shell(&'a str),
}

/// One reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Because<'a> {
    /// `ask` or `deny`.
    pub answer: &'a str,
    /// Its stable code.
    pub code: &'a str,
    /// Which check said so.
    pub axis: &'a str,
    /// What a person reads.
    pub message: &'a str,
}

/// What a person said.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answered {
    /// Yes, this once.
    Yes,
    /// Yes, and the same need not be asked again while this lasts.
    ForRun,
    /// Yes, and a rule says so from now on.
    Always,
    /// No.
    No,
    /// Nothing, in the time there was.
    Timeout,
    /// Nothing: there was nobody to ask.
    Nobody,
    /// Nothing: there were too many questions.
    Flood,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended<'a> {
    /// Whether the program was started.
    pub executed: bool,
    /// As in the outcome: −100 denied, −101 timed out, the command's own otherwise. None where we
    /// failed ourselves.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it took.
    pub duration_ms: f64,
    /// The code of the reason or of our own failure.
    pub code: Option<&'a str>,
    /// What held while it ran, layer by layer.
    pub enforced: Value,
    /// The tool that it ran for, if one was named.
    pub tool: Option<&'a str>,
    /// The call's own name, if it has one.
    pub call_id: Option<&'a str>,
    /// How long it took until it was started.
    pub start_ms: f64,
}

impl Answered {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::ForRun => "run",
            Self::Always => "always",
            Self::No => "no",
            Self::Timeout => "timeout",
            Self::Nobody => "nobody",
            Self::Flood => "flood",
        }
    }

    /// Returns whether it lets something happen.
    pub fn is_yes(self) -> bool {
        match self {
            Self::Yes | Self::ForRun | Self::Always => true,
            Self::No | Self::Timeout | Self::Nobody | Self::Flood => false,
        }
    }
}

impl HeadTrouble {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Damaged => "damaged",
            Self::Foreign => "foreign",
            Self::Old => "old",
        }
    }
}
