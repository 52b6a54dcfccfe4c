//! Remembering what happened to a call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use palisade_audit::{
    Because, CannotRecord, Decided, Durable, Ended, Event, Log, PolicyFile, What, redact,
    redact_shell,
};
use palisade_plan::Note;
use palisade_policy::decide::{Asked, Reason, Verdict};
use palisade_policy::layer::Layer;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::json::milliseconds;
use super::telemetry::Watch;
use super::{CannotRun, Outcome};
use crate::session::{Agreement, LoadedFile, Session};

/// Where events go, if anywhere. What fails is told once, and never stops a run.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    log: Option<Log>,
    trouble: Mutex<Trouble>,
    /// Whether it is written down which policy is in force.
    policy: AtomicBool,
}

/// What went wrong with recording.
#[derive(Debug, Default)]
enum Trouble {
    #[default]
    None,
    New(CannotRecord),
    Told,
}

/// A call, as it is recorded and asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded<'a> {
    pub(super) run: &'a str,
    pub(super) hash: &'a str,
    pub(super) asked: Asked<'a>,
    pub(super) root: &'a str,
    pub(super) cwd: &'a str,
    pub(super) variables: &'a [(String, String)],
}

impl Recorder {
    pub(super) fn new(log: Option<Result<Log, CannotRecord>>) -> Self {
        match log {
            None => Self::default(),
            Some(Ok(log)) => Self { log: Some(log), ..Self::default() },
            Some(Err(error)) => {
                Self { trouble: Mutex::new(Trouble::New(error)), ..Self::default() }
            }
        }
    }

    /// Whether anything is recorded at all.
    pub(super) fn records(&self) -> bool {
        self.log.is_some()
    }

    /// Returns the hash of a call, as it is asked about. Where there is a key, only who has it can
    /// tell which call that is: nobody tries out what a secret in it may be.
    pub(super) fn hash(
        &self,
        asked: Asked<'_>,
        root: &str,
        cwd: &str,
        variables: &[(String, String)],
    ) -> String {
        let hash = call_hash(asked, root, cwd, variables);
        let name = self.log.as_ref().and_then(|log| log.name_of(&hash));
        name.map_or(hash, |name| name.to_string())
    }

    /// Returns the hash that is recorded. Without a key it is that of what is recorded itself.
    fn recorded(&self, call: Recorded<'_>) -> String {
        let Recorded { hash, asked, root, cwd, variables, .. } = call;
        if self.log.as_ref().is_some_and(|log| log.name_of(hash).is_some()) {
            return hash.to_owned();
        }
        // Values are not recorded.
        let names: Vec<_> =
            variables.iter().map(|(name, _)| (name.clone(), String::new())).collect();
        match asked {
            Asked::Argv(argv) => call_hash(Asked::Argv(&redact(argv)), root, cwd, &names),
            Asked::Shell(text) | Asked::Words(text) => {
                call_hash(Asked::Shell(&redact_shell(text)), root, cwd, &names)
            }
        }
    }

    pub(super) fn decision(
        &self,
        call: Recorded<'_>,
        verdict: &Verdict,
        session: &Session,
        unconfined: bool,
    ) {
        let asked = match call.asked {
            Asked::Argv(argv) => palisade_audit::Asked::Argv(argv),
            Asked::Shell(text) | Asked::Words(text) => palisade_audit::Asked::Shell(text),
        };
        let hash = self.recorded(call);
        let what = What::Decision(Decided {
            call: palisade_audit::Call {
                asked,
                root: call.root,
                cwd: call.cwd,
                variables: call.variables.iter().map(|(name, _)| name.as_str()).collect(),
                hash: &hash,
            },
            verdict: verdict.answer().word(),
            reasons: verdict.reasons().iter().map(because).collect(),
            agent: session.agent(),
            task: session.task(),
            unconfined,
            policies: policies(session),
            left_out: session.ignored().iter().map(|part| part.key.as_str()).collect(),
        });
        let event = |run, what| Event { at: SystemTime::now(), run, what };
        if self.policy.swap(true, Ordering::Relaxed) {
            return self.append(&[event(call.run, what)]);
        }
        let loaded = What::Policy { root: call.root, files: policies(session) };
        self.append(&[event("", loaded), event(call.run, what)]);
    }

    pub(super) fn confirmation(
        &self,
        call: Recorded<'_>,
        answer: palisade_audit::Answered,
        by: &str,
    ) {
        let hash = self.recorded(call);
        self.record(call.run, What::Confirmation { answer, by, call: &hash });
    }

    pub(super) fn ended(&self, run: &str, ended: Result<&Outcome, &CannotRun>, watch: &Watch) {
        if !self.records() {
            return;
        }
        let (tool, call_id) = (watch.tool.as_deref(), watch.call_id.as_deref());
        let start_ms = milliseconds(watch.started);
        let what = What::Run(match ended {
            Ok(outcome) => Ended {
                tool,
                call_id,
                start_ms,
                executed: outcome.executed(),
                exit_code: Some(outcome.exit_code()),
                signal: outcome.signal(),
                duration_ms: milliseconds(outcome.duration()),
                code: outcome.code(),
                enforced: outcome.enforced(),
            },
            Err(error) => Ended {
                tool,
                call_id,
                start_ms,
                executed: false,
                exit_code: None,
                signal: None,
                duration_ms: 0.0,
                code: Some(error.code()),
                enforced: Value::Object(serde_json::Map::new()),
            },
        });
        self.record(run, what);
    }

    /// Returns what went wrong, the first time it is asked for.
    pub(super) fn trouble(&self) -> Option<Note> {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *trouble, Trouble::Told) {
            Trouble::New(error) => Some(Note { code: "audit", message: error.to_string() }),
            Trouble::None => {
                *trouble = Trouble::None;
                None
            }
            Trouble::Told => None,
        }
    }

    fn record(&self, run: &str, what: What<'_>) {
        self.append(&[Event { at: SystemTime::now(), run, what }]);
    }

    /// Appends events that belong together, if anything is recorded.
    pub(super) fn append(&self, events: &[Event<'_>]) {
        let Some(log) = &self.log else { return };
        if let Err(error) = log.append(events, Durable::No) {
            let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*trouble, Trouble::None) {
                *trouble = Trouble::New(error);
            }
        }
    }
}

fn policies(session: &Session) -> Vec<PolicyFile<'_>> {
    session.files().iter().map(|file| heard(file, session)).collect()
}

/// Tells of a policy file, and whether it could widen anything.
fn heard<'s>(file: &'s LoadedFile, session: &Session) -> PolicyFile<'s> {
    let agreed = session.project_files().map(|project| project.agreement);
    let trusted = file.layer != Layer::Project || agreed == Some(Agreement::Trusted);
    let path = file.path.to_string_lossy().into_owned();
    PolicyFile { layer: file.layer.word(), file: path, dialect: file.dialect, trusted }
}

fn because(reason: &Reason) -> Because<'_> {
    Because {
        answer: reason.answer.word(),
        code: reason.code,
        axis: reason.axis.word(),
        message: &reason.message,
    }
}

/// Returns a name for a run that no other has.
pub(super) fn run_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let text = format!("{} {} {count}", since.as_nanos(), std::process::id());
    hex(&Sha256::digest(text)).chars().take(16).collect()
}

/// Returns the hash of a call: of every word of it, where it runs, and the names of what is added
/// to its environment. It binds an answer to a question, and stays in memory.
fn call_hash(asked: Asked<'_>, root: &str, cwd: &str, variables: &[(String, String)]) -> String {
    let mut hash = Sha256::new();
    // Lengths in front of texts: two calls never make the same row of bytes.
    let mut add = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    match asked {
        Asked::Argv(argv) => {
            add("argv");
            argv.iter().for_each(|word| add(word));
        }
        Asked::Shell(text) | Asked::Words(text) => {
            add("shell");
            add(text);
        }
    }
    [root, cwd].into_iter().for_each(&mut add);
    for (name, value) in variables {
        add(name);
        add(super::confirm::told(name, value).as_deref().unwrap_or_default());
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_call_is_in_its_hash() {
        let words = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let variables = [("A".to_owned(), "b".to_owned())];
        let (one, two) = (words(&["a", "b"]), words(&["a b"]));
        let hashes = [
            call_hash(Asked::Argv(&one), "/r", "/r", &[]),
            call_hash(Asked::Argv(&two), "/r", "/r", &[]),
            call_hash(Asked::Shell("a b"), "/r", "/r", &[]),
            call_hash(Asked::Argv(&one), "/r", "/r/x", &[]),
            call_hash(Asked::Argv(&one), "/", "/r", &[]),
            call_hash(Asked::Argv(&one), "/r", "/r", &variables),
            call_hash(Asked::Argv(&one), "/r", "/r", &[("A".to_owned(), "c".to_owned())]),
        ];
        let mut different = hashes.to_vec();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), hashes.len());
        assert_eq!(hashes[0], call_hash(Asked::Argv(&one), "/r", "/r", &[]));
    }

    #[test]
    fn nobody_without_the_key_can_try_what_a_secret_in_a_call_was() {
        let folder = palisade_testkit::Project::new();
        let (path, argv) = (folder.path("log/e.jsonl"), ["x", "--token", "hunter2"]);
        let argv = argv.map(str::to_owned);
        let guess = call_hash(Asked::Argv(&argv), "/r", "/r", &[]);
        for key in [Some(palisade_audit::Key::new([7; 32])), None] {
            let keyed = key.is_some();
            let log = Log::open(&path, key, palisade_audit::Rotation::default());
            let recorder = Recorder::new(Some(log));
            let hash = recorder.hash(Asked::Argv(&argv), "/r", "/r", &[]);
            let call = Recorded {
                run: "1",
                hash: &hash,
                asked: Asked::Argv(&argv),
                root: "/r",
                cwd: "/r",
                variables: &[],
            };
            recorder.confirmation(call, palisade_audit::Answered::Yes, "terminal");
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains(&guess), "{text}");
            assert_eq!(text.contains(&hash), keyed, "what was asked about is found in the record");
        }
    }

    #[test]
    fn no_two_runs_have_the_same_name() {
        assert_ne!(run_name(), run_name());
    }

    #[test]
    fn what_goes_wrong_is_told_once() {
        let because = std::io::Error::other("full");
        let failed = CannotRecord { path: "/x".into(), because };
        let recorder = Recorder::new(Some(Err(failed)));
        assert_eq!(recorder.trouble().map(|note| note.code), Some("audit"));
        assert_eq!(recorder.trouble(), None);
        assert_eq!(Recorder::new(None).trouble(), None);
    }
}
