//! Many decisions in one process: one JSON object a line in, one out.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufWriter, Read as _, Write as _};

use palisade::policy::decide::{Answer, Asked, Verdict};
use palisade::policy::interception::Door;
use palisade::policy::jail::WindowsRoot;
use palisade::policy::patch;
use palisade::policy::permission::PrefixRules;
use palisade::policy::text::visible;
use palisade::policy::url::{Allowed, judge_host, judge_url};
use palisade::{Judges, OpenError};
use serde_json::{Value as Json, json};

use super::request::Request;
use crate::asking::Asking;
use crate::exit::Exit;
use crate::failure::Failure;

/// Longest line that is read; a longer one is answered with a denial.
const LONGEST: u64 = 8 << 20;

pub(super) fn run(asking: &Asking, without_tools: bool) -> Result<Exit, Failure> {
    let mut judges = Judges::new(asking.request()?);
    if without_tools {
        judges = judges.without_tools();
    }
    let mut input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = input.by_ref().take(LONGEST);
        let read = bounded.read_until(b'\n', &mut line);
        let read = read.map_err(|error| Failure::io("stdin", "cannot read requests", &error))?;
        if read == 0 {
            break;
        }
        let cut = line.last() != Some(&b'\n') && bounded.limit() == 0;
        if cut {
            input.skip_until(b'\n').ok();
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match Request::read(&line) {
            Some(request) if !cut => {
                let mut told = answer(&mut judges, &request);
                let ignored = request.keys().filter(|key| !is_known(&request, key));
                let ignored: Vec<&str> = ignored.collect();
                if !ignored.is_empty() {
                    told["ignored"] = ignored.into();
                }
                told
            }
            Some(_) => refused(&Json::Null, "bad-request", "the line is longer than 8 MiB"),
            None => {
                let message = "the line is no JSON object, or names a key twice";
                refused(&Json::Null, "bad-request", message)
            }
        };
        let written = writeln!(output, "{answer}");
        // A reader that waits for its answer gets it before the next request is waited for.
        let flushed = written.and_then(|()| output.flush());
        match flushed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) => return Err(Failure::io("stdout", "cannot write answers", &error)),
            Ok(()) => {}
        }
    }
    Ok(Exit::Success)
}

/// Answers one request. What cannot be understood is denied.
fn answer(judges: &mut Judges, request: &Request<'_>) -> Json {
    let id = &request["id"];
    let text = |key: &str| request[key].as_str();
    let refused = |code: &str, message: &str| refused(id, code, message);
    let failed = |error: &OpenError| refused(error.code(), &error.to_string());
    let no_root = || refused("bad-root", "`root` is no absolute path");
    let missing = |key: &str| refused("bad-request", &format!("`{key}` is no text, or missing"));
    let no_switch =
        |key: &str| refused("bad-request", &format!("`{key}` is neither true nor false"));
    // Without a root there is nothing that a path could be outside of.
    let root = text("root").filter(|root| root.starts_with('/'));
    // Tool calls are also made in projects on Windows; commands and patches are judged for Unix.
    let any_root = text("root").filter(|it| it.starts_with('/') || WindowsRoot::read(it).is_some());
    match text("kind").unwrap_or("command") {
        "command" => {
            let Some(root) = root else { return no_root() };
            let cwd = match &request["cwd"] {
                Json::Null => root,
                Json::String(cwd) if cwd.starts_with('/') => cwd,
                Json::Bool(_)
                | Json::Number(_)
                | Json::String(_)
                | Json::Array(_)
                | Json::Object(_) => {
                    return refused("bad-request", "`cwd` is no absolute path");
                }
            };
            let argv: Vec<String>;
            let asked = if let Some(words) = request["argv"].as_array() {
                let words: Option<Vec<&str>> = words.iter().map(Json::as_str).collect();
                let Some(words) = words else {
                    return refused("bad-request", "a word of `argv` is no text");
                };
                argv = words.into_iter().map(str::to_owned).collect();
                Asked::Argv(&argv)
            } else {
                let Some(cmd) = text("cmd") else { return missing("cmd") };
                match &request["shell"] {
                    Json::Bool(false) => Asked::Words(cmd),
                    Json::Bool(true) | Json::Null => Asked::Shell(cmd),
                    Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                        return no_switch("shell");
                    }
                }
            };
            verdict(id, judges.command_at(asked, root, cwd))
        }
        "patch" => {
            let Some(root) = root else { return no_root() };
            let Some(patch) = text("patch") else { return missing("patch") };
            let mut answer = verdict(id, judges.patch(patch, root));
            if let Ok(patch) = patch::read(patch) {
                // Not every reader of lines knows that a line separator in a name ends none.
                let paths = patch.touched.iter().map(|touched| visible(&touched.path));
                answer["files"] = paths.collect::<BTreeSet<_>>().into_iter().collect();
            }
            answer
        }
        "toolcall" => {
            let Some(root) = any_root else { return no_root() };
            let Some(name) = text("name") else { return missing("name") };
            let arguments = match &request["arguments"] {
                Json::String(text) => text.clone(),
                Json::Object(_) => request.written("arguments").to_owned(),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                    let message = "`arguments` is neither an object nor a text of one";
                    return refused("bad-request", message);
                }
            };
            let door = match &request["proxy"] {
                Json::Bool(true) => Door::Proxy,
                Json::Bool(false) | Json::Null => Door::Hook,
                Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                    return no_switch("proxy");
                }
            };
            match judges.tool_call(door, name, &arguments, root) {
                Ok(verdict) => {
                    let mut told = super::tool::told(&verdict);
                    let first = verdict.findings.first().map(|finding| &finding.reason);
                    told["id"] = id.clone();
                    told["code"] = first.map(|reason| reason.code).into();
                    told["message"] = first.map(|reason| &*reason.message).into();
                    told
                }
                Err(error) => failed(&error),
            }
        }
        "policy" => {
            let Some(rules) = PrefixRules::read(&request["policy"]) else {
                return refused("bad-policy", "`policy` is no map of rules");
            };
            let Some(cmd) = text("cmd") else { return missing("cmd") };
            match judges.prefixes(&rules, cmd) {
                Ok(answer) => {
                    json!({ "id": id, "verdict": answer.map_or("no_match", Answer::word) })
                }
                Err(error) => failed(&error),
            }
        }
        "path" => {
            let Some(root) = any_root else { return no_root() };
            let Some(path) = text("path") else { return missing("path") };
            match judges.path(path, root) {
                Ok(true) => json!({ "id": id, "verdict": "allow" }),
                Ok(false) => {
                    refused("outside-root", &format!("`{}` is outside project root", visible(path)))
                }
                Err(error) => failed(&error),
            }
        }
        "url" => {
            let allow: Option<Vec<&str>> = match &request["allow"] {
                Json::Null => Some(Vec::new()),
                Json::Array(hosts) => hosts.iter().map(Json::as_str).collect(),
                Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => None,
            };
            let Some(Ok(allowed)) = allow.map(Allowed::read) else {
                return refused("bad-allow", "`allow` is no list of host patterns");
            };
            let judged = match (text("url"), text("host")) {
                (Some(url), _) => judge_url(url, &allowed),
                (None, Some(host)) => judge_host(host, &allowed),
                (None, None) => return missing("url"),
            };
            let mut answer = match judged.refusal {
                None => json!({ "id": id, "verdict": "allow" }),
                Some(why) => {
                    let asked = text("url").or(text("host")).unwrap_or_default();
                    refused(why.code(), &format!("`{}` {why}", visible(asked)))
                }
            };
            if let Some(host) = judged.host {
                answer["host"] = host.to_string().trim_matches(['[', ']']).into();
            }
            answer
        }
        other => refused("unknown-kind", &format!("there is no kind `{}`", visible(other))),
    }
}

fn refused(id: &Json, code: &str, message: &str) -> Json {
    json!({ "id": id, "verdict": "deny", "code": code, "message": message })
}

/// Whether a key means something in a request of its kind, or says what is plain without it.
fn is_known(request: &Request<'_>, key: &str) -> bool {
    let keys: &[&str] = match request["kind"].as_str().unwrap_or("command") {
        "command" => &["cmd", "argv", "shell", "root", "cwd"],
        "patch" => &["patch", "root", "format"],
        "toolcall" => &["name", "arguments", "root", "proxy"],
        "policy" => &["policy", "cmd"],
        "path" => &["path", "root"],
        "url" => &["url", "host", "allow"],
        _ => return true,
    };
    matches!(key, "id" | "kind") || keys.contains(&key)
}

fn verdict(id: &Json, decided: Result<Verdict, OpenError>) -> Json {
    match decided {
        Ok(verdict) => {
            let codes: Vec<&str> = verdict.reasons().iter().map(|reason| reason.code).collect();
            json!({
                "id": id,
                "verdict": verdict.answer().word(),
                "code": codes.first(),
                "codes": codes,
                "message": verdict.reasons().first().map(|reason| &reason.message),
            })
        }
        Err(error) => {
            json!({ "id": id, "verdict": "deny", "code": error.code(), "message": error.to_string() })
        }
    }
}
