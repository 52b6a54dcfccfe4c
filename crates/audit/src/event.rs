//! What is remembered: one event for each thing that happened to a call.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::redact::{redact, redact_text};
use crate::time::timestamp;

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
    /// Which run it belongs to: all events of one call carry the same.
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
    /// Yes.
    Yes,
    /// No.
    No,
    /// Nothing, in the time there was.
    Timeout,
    /// Nothing: there was nobody to ask.
    Nobody,
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
}

impl Event<'_> {
    /// Returns the event as one line, with its line end. Secrets on command lines are taken out.
    pub fn line(&self) -> String {
        let mut line = self.json().to_string();
        line.push('\n');
        line
    }

    /// Returns the event as an object, redacted.
    pub fn json(&self) -> Value {
        let mut event = Map::new();
        let mut put = |name: &str, value: Value| drop(event.insert(name.to_owned(), value));
        put("version", VERSION.into());
        put("time", timestamp(self.at).into());
        put("run", self.run.into());
        match &self.what {
            What::Decision(decided) => {
                put("event", "decision".into());
                put("call", call(&decided.call));
                put("verdict", decided.verdict.into());
                put("reasons", decided.reasons.iter().map(because).collect());
                put("agent", decided.agent.into());
                put("task", decided.task.into());
                put("unconfined", decided.unconfined.into());
                put("policies", decided.policies.iter().map(policy).collect());
                put("left_out", decided.left_out.clone().into());
            }
            What::Confirmation { answer, by, call } => {
                put("event", "confirmation".into());
                put("answer", answer.word().into());
                put("by", (*by).into());
                put("call", (*call).into());
            }
            What::HostConfirmation { answer, by, host, port, request } => {
                put("event", "host-confirmation".into());
                put("answer", answer.word().into());
                put("by", (*by).into());
                put("host", (*host).into());
                put("port", (*port).into());
                put("request", request.map(without_query).into());
            }
            What::Connection(one) => {
                put("event", "connection".into());
                put("host", one.host.into());
                put("port", one.port.into());
                put("address", one.address.clone().into());
                put("via", one.via.into());
                put("verdict", one.verdict.into());
                put("code", one.code.into());
                put("rule", one.rule.into());
                put("sent", one.sent.into());
                put("received", one.received.into());
                put("duration_ms", one.duration_ms.into());
                put("requests", one.requests.iter().map(|it| without_query(it)).collect());
                put("more_requests", one.more_requests.into());
            }
            What::Run(ended) => {
                put("event", "run".into());
                put("executed", ended.executed.into());
                put("exit_code", ended.exit_code.into());
                put("signal", ended.signal.into());
                put("duration_ms", ended.duration_ms.into());
                put("code", ended.code.into());
                put("enforced", ended.enforced.clone());
            }
        }
        Value::Object(event)
    }
}

impl Answered {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Timeout => "timeout",
            Self::Nobody => "nobody",
        }
    }
}

fn call(call: &Call<'_>) -> Value {
    let (argv, shell) = match call.asked {
        Asked::Argv(argv) => (redact(argv).into(), Value::Null),
        Asked::Shell(text) => (Value::Null, redact_text(text).into()),
    };
    json!({
        "argv": argv,
        "shell": shell,
        "root": call.root,
        "cwd": call.cwd,
        "variables": call.variables,
        "hash": call.hash,
    })
}

fn policy(file: &PolicyFile<'_>) -> Value {
    let PolicyFile { layer, file, dialect, trusted } = file;
    json!({ "layer": layer, "file": file, "dialect": dialect, "trusted": trusted })
}

/// Takes the query out of a request: it may hold anything.
fn without_query(request: &str) -> String {
    match request.split_once('?') {
        Some((path, _)) => redact_text(&format!("{path}?…")),
        None => redact_text(request),
    }
}

/// A message may repeat what stands on the command line.
fn because(reason: &Because<'_>) -> Value {
    json!({
        "answer": reason.answer,
        "code": reason.code,
        "axis": reason.axis,
        "message": redact_text(reason.message),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_042)
    }

    #[test]
    fn an_event_is_one_line_and_holds_no_secret() {
        let argv = ["curl", "--token=abc", "-H", "Authorization: Bearer xyz", "a\nb"];
        let argv = argv.map(str::to_owned);
        let what = What::Decision(Decided {
            call: Call {
                asked: Asked::Argv(&argv),
                root: "/home/dev/app",
                cwd: "/home/dev/app",
                variables: vec!["API_TOKEN"],
                hash: "00ff",
            },
            verdict: "deny",
            reasons: vec![Because {
                answer: "deny",
                code: "network",
                axis: "rule",
                message: "`--token=abc` goes out",
            }],
            agent: None,
            task: Some("fetch"),
            unconfined: false,
            policies: vec![PolicyFile {
                layer: "project",
                file: "/home/dev/app/.palisade/policy.yaml".into(),
                dialect: "native",
                trusted: false,
            }],
            left_out: vec!["files.write"],
        });
        let line = Event { at: at(), run: "1", what }.line();
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        assert!(!line.contains("abc") && !line.contains("xyz"), "{line}");
        insta::assert_snapshot!(line.trim_end(), @r#"{"version":1,"time":"2027-01-15T08:00:00.042Z","run":"1","event":"decision","call":{"argv":["curl","--token=[redacted]","-H","Authorization: Bearer [redacted]","a\nb"],"shell":null,"root":"/home/dev/app","cwd":"/home/dev/app","variables":["API_TOKEN"],"hash":"00ff"},"verdict":"deny","reasons":[{"answer":"deny","code":"network","axis":"rule","message":"`--token=[redacted]` goes out"}],"agent":null,"task":"fetch","unconfined":false,"policies":[{"layer":"project","file":"/home/dev/app/.palisade/policy.yaml","dialect":"native","trusted":false}],"left_out":["files.write"]}"#);
    }

    #[test]
    fn a_connection_is_told_without_what_was_asked_in_it() {
        let what = What::Connection(Connected {
            host: "a.test",
            port: Some(80),
            address: Some("192.0.2.1".into()),
            via: "direct",
            verdict: "cut",
            code: Some("budget-upload"),
            rule: Some("a.test"),
            sent: 7,
            received: 9,
            duration_ms: 1.5,
            requests: vec!["GET /x?token=abc"],
            more_requests: 1,
        });
        let line = Event { at: at(), run: "1", what }.line();
        insta::assert_snapshot!(line.trim_end(), @r#"{"version":1,"time":"2027-01-15T08:00:00.042Z","run":"1","event":"connection","host":"a.test","port":80,"address":"192.0.2.1","via":"direct","verdict":"cut","code":"budget-upload","rule":"a.test","sent":7,"received":9,"duration_ms":1.5,"requests":["GET /x?…"],"more_requests":1}"#);
    }

    #[test]
    fn every_answer_has_its_word() {
        let all = [Answered::Yes, Answered::No, Answered::Timeout, Answered::Nobody];
        assert_eq!(all.map(Answered::word), ["yes", "no", "timeout", "nobody"]);
    }
}
