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
            Some(request) if !cut => answer(&mut judges, &request),
            Some(_) | None => json!({ "id": null, "verdict": "deny", "code": "bad-request" }),
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
    let refused = |code: &str| json!({ "id": id, "verdict": "deny", "code": code });
    // Without a root there is nothing that a path could be outside of.
    let root = text("root").filter(|root| root.starts_with('/'));
    // Tool calls are also made in projects on Windows; commands and patches are judged for Unix.
    let any_root = text("root").filter(|it| it.starts_with('/') || WindowsRoot::read(it).is_some());
    match text("kind").unwrap_or("command") {
        "command" => {
            let Some(root) = root else { return refused("bad-root") };
            let argv: Vec<String>;
            let asked = if let Some(words) = request["argv"].as_array() {
                argv = words.iter().map(|word| word.as_str().unwrap_or("\0").to_owned()).collect();
                Asked::Argv(&argv)
            } else {
                let Some(cmd) = text("cmd") else { return refused("bad-request") };
                match &request["shell"] {
                    Json::Bool(false) => Asked::Words(cmd),
                    Json::Bool(true) | Json::Null => Asked::Shell(cmd),
                    Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                        return refused("bad-request");
                    }
                }
            };
            verdict(id, judges.command(asked, root))
        }
        "patch" => {
            let Some(root) = root else { return refused("bad-root") };
            let Some(patch) = text("patch") else { return refused("bad-request") };
            let mut answer = verdict(id, judges.patch(patch, root));
            if let Ok(patch) = patch::read(patch) {
                // Not every reader of lines knows that a line separator in a name ends none.
                let paths = patch.touched.iter().map(|touched| visible(&touched.path));
                answer["files"] = paths.collect::<BTreeSet<_>>().into_iter().collect();
            }
            answer
        }
        "toolcall" => {
            let Some(root) = any_root else { return refused("bad-root") };
            let Some(name) = text("name") else { return refused("bad-request") };
            let arguments = match &request["arguments"] {
                Json::String(text) => text.clone(),
                Json::Object(_) => request.written("arguments").to_owned(),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                    return refused("bad-request");
                }
            };
            let door = match &request["proxy"] {
                Json::Bool(true) => Door::Proxy,
                Json::Bool(false) | Json::Null => Door::Hook,
                Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                    return refused("bad-request");
                }
            };
            match judges.tool_call(door, name, &arguments, root) {
                Ok(verdict) => {
                    let mut told = super::tool::told(&verdict);
                    let first = verdict.findings.first().map(|finding| finding.reason.code);
                    told["id"] = id.clone();
                    told["code"] = first.into();
                    told
                }
                Err(error) => refused(error.code()),
            }
        }
        "policy" => {
            let Some(rules) = PrefixRules::read(&request["policy"]) else {
                return refused("bad-policy");
            };
            let Some(cmd) = text("cmd") else { return refused("bad-request") };
            match judges.prefixes(&rules, cmd) {
                Ok(answer) => {
                    json!({ "id": id, "verdict": answer.map_or("no_match", Answer::word) })
                }
                Err(error) => refused(error.code()),
            }
        }
        "path" => {
            let Some(root) = any_root else { return refused("bad-root") };
            let Some(path) = text("path") else { return refused("bad-request") };
            match judges.path(path, root) {
                Ok(true) => json!({ "id": id, "verdict": "allow" }),
                Ok(false) => refused("outside-root"),
                Err(error) => refused(error.code()),
            }
        }
        "url" => {
            let allow: Option<Vec<&str>> = match &request["allow"] {
                Json::Null => Some(Vec::new()),
                Json::Array(hosts) => hosts.iter().map(Json::as_str).collect(),
                Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => None,
            };
            let Some(Ok(allowed)) = allow.map(Allowed::read) else { return refused("bad-allow") };
            let judged = match (text("url"), text("host")) {
                (Some(url), _) => judge_url(url, &allowed),
                (None, Some(host)) => judge_host(host, &allowed),
                (None, None) => return refused("bad-request"),
            };
            let mut answer = match judged.refusal {
                None => json!({ "id": id, "verdict": "allow" }),
                Some(why) => json!({ "id": id, "verdict": "deny", "code": why.code() }),
            };
            if let Some(host) = judged.host {
                answer["host"] = host.to_string().trim_matches(['[', ']']).into();
            }
            answer
        }
        _ => refused("unknown-kind"),
    }
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
