//! Events as JSON, redacted and bounded.

use serde_json::{Map, Value, json};

use super::{Asked, Because, Call, Event, HeadTrouble, PolicyFile, VERSION, What};
use crate::redact::{redact, redact_shell, redact_text};
use crate::time::timestamp;

/// The longest line that is written as it is. In a longer one every long text is cut.
const LONG: usize = 256 << 10;

/// How much of a text stays in a line that is too long.
const KEPT: usize = 4 << 10;

/// How many items of a list stay in such a line.
const ITEMS: usize = 128;

impl Event<'_> {
    /// Returns the event as one line, with its line end. Secrets on command lines are taken out, and
    /// what nobody will read is cut.
    pub fn line(&self) -> String {
        let mut event = self.json();
        let mut line = event.to_string();
        if line.len() > LONG {
            shorten(&mut event);
            line = event.to_string();
        }
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
                put("agent", told(decided.agent));
                put("task", told(decided.task));
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
                put("tool", told(ended.tool));
                put("call_id", told(ended.call_id));
                put("start_ms", ended.start_ms.into());
            }
            What::Tool(judged) => {
                put("event", "tool-call".into());
                put("tool", redact_text(judged.tool).into());
                put("call_id", told(judged.call_id));
                put("verdict", judged.verdict.into());
                put("reasons", judged.reasons.iter().map(because).collect());
                put("agent", told(judged.agent));
            }
            What::Policy { root, files } => {
                put("event", "policy-load".into());
                put("root", (*root).into());
                put("policies", files.iter().map(policy).collect());
            }
            What::Trust { trusted, root, files } => {
                put("event", "trust".into());
                put("trusted", (*trusted).into());
                put("root", (*root).into());
                put("files", files.clone().into());
            }
            What::Checkpoint { mac } => {
                put("event", "checkpoint".into());
                put("mac", mac.clone().into());
            }
            What::Recovered(found) => {
                put("event", "recovered".into());
                put("torn", found.torn.into());
                put("lost", found.lost.into());
                put("unproven", found.unproven.into());
                put("head", found.head.map(HeadTrouble::word).into());
            }
        }
        Value::Object(event)
    }
}

fn call(call: &Call<'_>) -> Value {
    let (argv, shell) = match call.asked {
        Asked::Argv(argv) => (redact(argv).into(), Value::Null),
        Asked::Shell(text) => (Value::Null, redact_shell(text).into()),
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

/// A name that somebody else gave.
fn told(name: Option<&str>) -> Value {
    name.map(redact_text).into()
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

/// Cuts long texts and lists, and says how much is gone.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > KEPT => {
            let whole = text.len();
            let end = (0..=KEPT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            text.push_str(&format!("… [{whole} bytes]"));
        }
        Value::Array(list) => {
            let whole = list.len();
            if whole > ITEMS {
                list.truncate(ITEMS);
                list.push(format!("… [{whole} items]").into());
            }
            list.iter_mut().for_each(shorten);
        }
        Value::Object(map) => map.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::super::{Answered, Connected, Decided};
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
    fn a_line_has_a_bound_whatever_stands_in_it() {
        let long = vec!["\u{1}".repeat(1 << 20), "é".repeat(1 << 20)];
        let many = vec!["x".to_owned(); 1 << 20];
        for argv in [long, many] {
            let call = Call {
                asked: Asked::Argv(&argv),
                root: "/",
                cwd: "/",
                variables: vec![],
                hash: "",
            };
            let decided = Decided {
                call,
                verdict: "allow",
                reasons: Vec::new(),
                agent: None,
                task: None,
                unconfined: false,
                policies: Vec::new(),
                left_out: Vec::new(),
            };
            let line = Event { at: at(), run: "1", what: What::Decision(decided) }.line();
            assert!(line.len() < LONG, "{}", line.len());
            assert!(line.contains("… [1048576 "), "{line}");
        }
    }

    #[test]
    fn every_answer_has_its_word() {
        let yes = [Answered::Yes, Answered::ForRun, Answered::Always];
        assert_eq!(yes.map(Answered::word), ["yes", "run", "always"]);
        let no = [Answered::No, Answered::Timeout, Answered::Nobody, Answered::Flood];
        assert_eq!(no.map(Answered::word), ["no", "timeout", "nobody", "flood"]);
        assert!(yes.into_iter().all(Answered::is_yes) && !no.into_iter().any(Answered::is_yes));
    }
}
