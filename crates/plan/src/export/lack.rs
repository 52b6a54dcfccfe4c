//! What another engine does not carry, by name.

use std::str::FromStr;

use crate::plan::{Enforced, Plan, Strength};

/// Something that holds in a plan of ours and may not hold elsewhere. The words never change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lack {
    /// Hidden names do not exist; elsewhere they are covered.
    Absence,
    /// Homes of tools have layers that take what is written.
    Caches,
    /// Arguments of system calls are looked at, not only which call it is.
    CallArguments,
    /// A person is asked first, where the policy says so.
    Confirmation,
    /// Nothing but checked standard descriptors is open.
    Descriptors,
    /// No device of the host is there but harmless ones.
    Devices,
    /// No file gets larger than so many bytes.
    FileSize,
    /// Nobody can look into the first process.
    FirstProcess,
    /// Hosts that are named can be reached; elsewhere none can.
    Hosts,
    /// Root inside is an ordinary user outside.
    Identity,
    /// Without output for too long, a command is ended.
    Idle,
    /// The second wall.
    Landlock,
    /// What the host mounts later does not appear inside.
    LateMounts,
    /// A link that is protected cannot be replaced.
    Links,
    /// All processes together have so much memory.
    Memory,
    /// System calls that nobody knew when the filter was written do not exist.
    NewCalls,
    /// Everything ends with whoever started it.
    Orphans,
    /// Output is cut after so many bytes.
    Output,
    /// No program gains rights by being started.
    Privileges,
    /// Nobody sees processes outside.
    ProcessNamespace,
    /// There are at most so many processes.
    Processes,
    /// Servers inside are reached from the host at ports that the policy lists.
    Published,
    /// Somebody takes care of processes that lost their parent.
    Reaper,
    /// What ran, and how it ended, is recorded where the policy says.
    Record,
    /// Walls are tried before the command starts.
    SelfTest,
    /// Sockets of the host in the home folder lead nowhere.
    Sockets,
    /// System calls that nobody needs are refused.
    SystemCalls,
    /// There are terminals of its own.
    Terminals,
    /// A command is ended after a time.
    Time,
    /// Writes in vain are told.
    Trace,
    /// Users inside are not those outside.
    UserNamespace,
    /// Protected files that the host replaces are protected again, names that slipped through are set
    /// aside, and hidden names that come are hidden.
    Watch,
}

/// What is missing, and what that means.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Missing {
    /// Its name.
    pub lack: Lack,
    /// What a person reads.
    pub what: String,
}

impl Lack {
    /// All of them.
    pub const ALL: [Self; 32] = [
        Self::Absence,
        Self::Caches,
        Self::CallArguments,
        Self::Confirmation,
        Self::Descriptors,
        Self::Devices,
        Self::FileSize,
        Self::FirstProcess,
        Self::Hosts,
        Self::Identity,
        Self::Idle,
        Self::Landlock,
        Self::LateMounts,
        Self::Links,
        Self::Memory,
        Self::NewCalls,
        Self::Orphans,
        Self::Output,
        Self::Privileges,
        Self::ProcessNamespace,
        Self::Processes,
        Self::Published,
        Self::Reaper,
        Self::Record,
        Self::SelfTest,
        Self::Sockets,
        Self::SystemCalls,
        Self::Terminals,
        Self::Time,
        Self::Trace,
        Self::UserNamespace,
        Self::Watch,
    ];

    /// Returns the word that people write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Absence => "absence",
            Self::Caches => "caches",
            Self::CallArguments => "call-arguments",
            Self::Confirmation => "confirmation",
            Self::Descriptors => "descriptors",
            Self::Devices => "devices",
            Self::FileSize => "file-size",
            Self::FirstProcess => "first-process",
            Self::Hosts => "hosts",
            Self::Identity => "identity",
            Self::Idle => "idle",
            Self::Landlock => "landlock",
            Self::LateMounts => "late-mounts",
            Self::Links => "links",
            Self::Memory => "memory",
            Self::NewCalls => "new-calls",
            Self::Orphans => "orphans",
            Self::Output => "output",
            Self::Privileges => "privileges",
            Self::ProcessNamespace => "process-namespace",
            Self::Processes => "processes",
            Self::Published => "published",
            Self::Reaper => "reaper",
            Self::Record => "record",
            Self::SelfTest => "self-test",
            Self::Sockets => "sockets",
            Self::SystemCalls => "system-calls",
            Self::Terminals => "terminals",
            Self::Time => "time",
            Self::Trace => "trace",
            Self::UserNamespace => "user-namespace",
            Self::Watch => "watch",
        }
    }
}

impl FromStr for Lack {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|lack| lack.word() == text);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Self::word);
            format!(
                "`{text}` is nothing that an engine may lack; it is one of {}",
                words.join(", ")
            )
        })
    }
}

/// Tells what is missing in one line for each.
pub(super) fn told(missing: &[Missing]) -> String {
    let lines = missing.iter().map(|it| format!("\n  {}: {}", it.lack.word(), it.what));
    lines.collect()
}

/// What was found missing so far, each name once.
#[derive(Debug, Default)]
pub(super) struct Missed(Vec<Missing>);

impl Missed {
    /// Notes what only our own supervisor does.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut missed = Self::default();
        let is_window = |it: &Enforced| matches!(it.strength, Strength::Window(_));
        let watches = plan.enforced().iter().any(is_window) || plan.after().is_some();
        let left = watches.then_some(
            "a protected file that the host replaces is open afterwards, and names made in other \
             letter cases and folders stay",
        );
        let comes = plan.coming().map(|_| "what comes to have a hidden name can be read");
        let what: Vec<&str> = left.into_iter().chain(comes).collect();
        if !what.is_empty() {
            missed.add(Lack::Watch, what.join("; "));
        }
        let bounds = plan.bounds();
        if bounds.idle.is_some() {
            missed.add(Lack::Idle, "a silent command is not ended");
        }
        if bounds.streamed.is_some() {
            missed.add(Lack::Output, "output is not cut");
        }
        missed
    }

    /// Notes something, unless its name was noted before.
    pub(super) fn add(&mut self, lack: Lack, what: impl Into<String>) {
        if !self.0.iter().any(|known| known.lack == lack) {
            self.0.push(Missing { lack, what: what.into() });
        }
    }

    /// Takes back what an engine carries after all.
    pub(super) fn has(&mut self, lacks: &[Lack]) {
        self.0.retain(|missing| !lacks.contains(&missing.lack));
    }

    /// Returns what was noted, by name.
    pub(super) fn list(mut self) -> Vec<Missing> {
        self.0.sort_by_key(|missing| missing.lack.word());
        self.0
    }
}
