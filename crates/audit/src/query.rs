//! Reading a log again: which events, and how a person reads them.

use std::collections::BTreeSet;
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use palisade_policy::text::visible;
use serde_json::Value;

use crate::hash::Key;
use crate::log::{plain_reading, segments};
use crate::record::{self, Line};
use crate::seal;

/// How many runs are remembered whose agent was asked for.
const RUNS: usize = 100_000;

/// Which events are wanted. What is not said is not asked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Not earlier than this, as RFC 3339 in UTC.
    pub since: Option<String>,
    /// Earlier than this.
    pub until: Option<String>,
    /// What happened, such as `decision`.
    pub event: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// The agent; all events of its runs.
    pub agent: Option<String>,
    /// `allow`, `ask`, `deny`, or what became of a connection.
    pub verdict: Option<String>,
    /// The code of a reason, or the entry of the policy that says so.
    pub rule: Option<String>,
    /// A path that the call names, or works in.
    pub path: Option<String>,
    /// A host that was reached, or that the call names.
    pub host: Option<String>,
    runs: BTreeSet<String>,
}

/// Tells of every event of a log, the oldest first. Lines that are none are passed over, and so are those
/// that the key did not seal, where there is a key; `verify` tells of them. Returns how many that were.
///
/// # Errors
///
/// When a file cannot be read.
pub fn read(
    log: &Path,
    key: Option<&Key>,
    mut tell: impl FnMut(&[u8], Value) -> ControlFlow<()>,
) -> io::Result<u64> {
    let mut foreign = 0;
    for segment in segments(log)? {
        let file = match plain_reading(&segment.path) {
            // Anybody may have put it there: `verify` tells of it.
            Err(_) if segment.first.is_some() => continue,
            opened => opened?,
        };
        let reader = BufReader::with_capacity(1 << 18, file);
        let told = record::lines::<Told>(reader, |line| match line {
            Line::Whole(line) if key.is_some() && !seal::look(line, key).ours => {
                foreign += 1;
                Ok(())
            }
            Line::Whole(line) => {
                let told = serde_json::from_slice(line).map(|value| tell(line, value));
                if told.is_ok_and(|told| told.is_break()) { Err(Told::Enough) } else { Ok(()) }
            }
            Line::TooLong | Line::Torn(_) => Ok(()),
        });
        match told {
            Ok(()) => {}
            Err(Told::Enough) => break,
            Err(Told::Failed(error)) => return Err(error),
        }
    }
    Ok(foreign)
}

enum Told {
    Enough,
    Failed(io::Error),
}

impl From<io::Error> for Told {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl Filter {
    /// Returns whether an event is wanted. Events are to be handed over in their order.
    pub fn wants(&mut self, event: &Value) -> bool {
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        if let Some(agent) = &self.agent {
            let run = text("run");
            if text("agent") == agent {
                if !run.is_empty() && self.runs.len() < RUNS {
                    self.runs.insert(run.to_owned());
                }
            } else if !self.runs.contains(run) {
                return false;
            }
        }
        self.since.as_deref().is_none_or(|since| text("time") >= since)
            && self.until.as_deref().is_none_or(|until| text("time") < until)
            && is(&self.event, text("event"))
            && is(&self.run, text("run"))
            && is(&self.verdict, text("verdict"))
            && self.rule.as_deref().is_none_or(|rule| names_rule(event, rule))
            && self.path.as_deref().is_none_or(|path| names_path(event, path))
            && self.host.as_deref().is_none_or(|host| names_host(event, host))
    }
}

fn names_rule(event: &Value, rule: &str) -> bool {
    let reasons = event["reasons"].as_array().into_iter().flatten();
    let mut codes = reasons.flat_map(|reason| [&reason["code"], &reason["axis"]]);
    codes.any(|it| it == rule) || event["rule"] == rule || event["code"] == rule
}

/// The words of a call, its shell text taken apart at blanks and quotes.
fn words(event: &Value) -> Vec<&str> {
    let call = &event["call"];
    let argv = call["argv"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let apart = |c: char| c.is_whitespace() || "'\"`;|&<>()=".contains(c);
    let shell = call["shell"].as_str().into_iter().flat_map(|text| text.split(apart));
    argv.chain(shell).collect()
}

fn names_path(event: &Value, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let below = |text: &str| {
        text.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let call = &event["call"];
    let folders = [&call["root"], &call["cwd"], &event["root"]];
    let files = event["files"].as_array().into_iter().flatten();
    let policies = event["policies"].as_array().into_iter().flatten().map(|it| &it["file"]);
    folders.into_iter().chain(files).chain(policies).filter_map(Value::as_str).any(below)
        || words(event).into_iter().any(below)
}

fn names_host(event: &Value, host: &str) -> bool {
    let below = |text: &str| {
        text.strip_suffix(host).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let of_word = |word: &str| {
        let word = word.split_once("://").map_or(word, |(_, rest)| rest);
        let place = word.split(['/', '?', '#']).next().unwrap_or_default();
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        below(place.rsplit_once(':').map_or(place, |(place, _)| place))
    };
    event["host"].as_str().is_some_and(below) || words(event).into_iter().any(of_word)
}

/// Returns an event as a line for a person. Nothing in it acts on a terminal.
pub fn shown(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let number = |name: &str| event[name].to_string();
    let what = match text("event") {
        "decision" => {
            let call = &event["call"];
            let argv = call["argv"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let argv: Vec<&str> = argv.collect();
            let command = call["shell"].as_str().map_or_else(|| argv.join(" "), str::to_owned);
            format!("{:<7} {command}{}", text("verdict"), codes(event))
        }
        "tool-call" => format!("{:<7} {}{}", text("verdict"), text("tool"), codes(event)),
        "confirmation" => format!("{:<7} by {}", text("answer"), text("by")),
        "host-confirmation" => {
            format!("{:<7} {}:{} by {}", text("answer"), text("host"), number("port"), text("by"))
        }
        "connection" => {
            let port = event["port"].as_u64().map(|port| format!(":{port}")).unwrap_or_default();
            let why = event["code"].as_str().map(|code| format!(" [{code}]")).unwrap_or_default();
            format!("{:<7} {}{port}{why}", text("verdict"), text("host"))
        }
        "run" => {
            let why = event["code"].as_str().map(|code| format!(" [{code}]")).unwrap_or_default();
            format!("exit {} after {} ms{why}", number("exit_code"), number("duration_ms"))
        }
        "policy-load" | "trust" => text("root").to_owned(),
        "recovered" => {
            let head = event["head"].as_str().map(|it| format!(", head {it}")).unwrap_or_default();
            let [torn, lost, unproven] = ["torn", "lost", "unproven"].map(number);
            format!("torn {torn}, lost {lost}, unproven {unproven}{head}")
        }
        _ => String::new(),
    };
    let line = format!("{} {:<12} {what}", text("time"), text("event"));
    visible(line.trim_end())
}

fn codes(event: &Value) -> String {
    let reasons = event["reasons"].as_array().into_iter().flatten();
    let codes: Vec<&str> = reasons.filter_map(|reason| reason["code"].as_str()).collect();
    if codes.is_empty() { String::new() } else { format!(" [{}]", codes.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decision() -> Value {
        json!({
            "time": "2027-01-15T08:00:00.042Z", "run": "1", "event": "decision", "agent": "codex",
            "verdict": "deny", "reasons": [{ "code": "outside", "axis": "path" }],
            "call": {
                "argv": null, "shell": "cat '/etc/\u{1b}[2Kx' https://me@a.example.com:8/x",
                "root": "/home/dev/app", "cwd": "/home/dev/app/src",
            },
        })
    }

    #[test]
    fn each_question_finds_what_it_asks_for_and_nothing_else() {
        type Set = fn(&mut Filter, &str);
        let since: Set = |it, value| it.since = Some(value.into());
        let until: Set = |it, value| it.until = Some(value.into());
        let agent: Set = |it, value| it.agent = Some(value.into());
        let verdict: Set = |it, value| it.verdict = Some(value.into());
        let rule: Set = |it, value| it.rule = Some(value.into());
        let path: Set = |it, value| it.path = Some(value.into());
        let host: Set = |it, value| it.host = Some(value.into());
        #[rustfmt::skip]
        let cases = [
            (since,   "2027-01-15T08:00:00.042Z", true),
            (since,   "2027-01-15T08:00:00.043Z", false),
            (until,   "2027-01-15T08:00:00.042Z", false),
            (until,   "2028",                     true),
            (agent,   "codex",                    true),
            (agent,   "claude",                   false),
            (verdict, "deny",                     true),
            (verdict, "allow",                    false),
            (rule,    "outside",                  true),
            (rule,    "path",                     true),
            (rule,    "other",                    false),
            (path,    "/home/dev/app",            true),
            (path,    "/home/dev/app/src/",       true),
            (path,    "/home/dev/ap",             false),
            (path,    "/etc",                     true),
            (host,    "example.com",              true),
            (host,    "a.example.com",            true),
            (host,    "ample.com",                false),
            (host,    "b.example.com",            false),
        ];
        for (set, value, wanted) in cases {
            let mut filter = Filter::default();
            set(&mut filter, value);
            assert_eq!(filter.wants(&decision()), wanted, "{value}");
        }
    }

    #[test]
    fn all_events_of_an_agents_run_are_found() {
        let mut filter = Filter { agent: Some("codex".into()), ..Filter::default() };
        let end = |run: &str| json!({ "run": run, "event": "run" });
        assert!(!filter.wants(&end("1")));
        assert!(filter.wants(&decision()));
        assert!(filter.wants(&end("1")) && !filter.wants(&end("2")));
    }

    #[test]
    fn a_line_for_a_person_repaints_nothing() {
        assert_eq!(
            shown(&decision()),
            "2027-01-15T08:00:00.042Z decision     deny    cat '/etc/\\u{1b}[2Kx' \
             https://me@a.example.com:8/x [outside]"
        );
        assert!(!shown(&json!({ "event": "\u{202e}" })).contains('\u{202e}'));
    }
}
