//! The kinds of requests: what may stand in each, and who answers it.

use std::collections::BTreeSet;

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

/// Why a request is answered with a denial.
#[derive(Debug)]
pub(super) struct Refused {
    code: &'static str,
    message: String,
}

/// Answers one request. What cannot be understood is denied, and what means nothing is told.
pub(super) fn answer(judges: &mut Judges, request: &Request<'_>) -> Json {
    let id = &request["id"];
    let kind = match Kind::of(request) {
        Ok(kind) => kind,
        Err(refused) => return refused.told(id),
    };
    // The number comes first, whoever answers.
    let mut told = json!({ "id": null });
    let answer = (kind.answer)(judges, request).unwrap_or_else(|refused| refused.told(id));
    if let (Some(told), Json::Object(members)) = (told.as_object_mut(), answer) {
        told.extend(members);
    }
    told["id"] = id.clone();
    let is_known = |key: &str| matches!(key, "id" | "kind") || kind.keys.contains(&key);
    let ignored: Vec<&str> = request.keys().filter(|key| !is_known(key)).collect();
    if !ignored.is_empty() {
        told["ignored"] = ignored.into();
    }
    told
}

/// A kind of request.
struct Kind {
    name: &'static str,
    /// The keys that mean something in it, or say what is plain without them.
    keys: &'static [&'static str],
    answer: fn(&mut Judges, &Request<'_>) -> Result<Json, Refused>,
}

#[rustfmt::skip]
const KINDS: [Kind; 6] = [
    Kind { name: "command",  keys: &["cmd", "argv", "shell", "root", "cwd"], answer: command },
    Kind { name: "path",     keys: &["path", "root"],                        answer: path },
    Kind { name: "patch",    keys: &["patch", "root", "format"],             answer: patch_ },
    Kind { name: "url",      keys: &["url", "host", "allow"],                answer: url },
    Kind { name: "policy",   keys: &["policy", "cmd"],                       answer: policy },
    Kind { name: "toolcall", keys: TOOL_CALL,                                answer: tool_call },
];

impl Kind {
    /// Returns the kind of a request; without a word about it, it is a command.
    fn of(request: &Request<'_>) -> Result<&'static Self, Refused> {
        let name = optional(request, "kind")?.unwrap_or("command");
        KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
            Refused::new("unknown-kind", format!("there is no kind `{}`", visible(name)))
        })
    }
}

fn command(judges: &mut Judges, request: &Request<'_>) -> Result<Json, Refused> {
    let root = root(request)?;
    let cwd = optional(request, "cwd").ok().map(|cwd| cwd.unwrap_or(root));
    let cwd = cwd.filter(|cwd| cwd.starts_with('/'));
    let cwd = cwd.ok_or_else(|| Refused::request("`cwd` is no absolute path"))?;
    let shell = switch(request, "shell")?;
    let argv: Vec<String>;
    let asked = match &request["argv"] {
        Json::Null => match (text(request, "cmd")?, shell) {
            (cmd, Some(false)) => Asked::Words(cmd),
            (cmd, Some(true) | None) => Asked::Shell(cmd),
        },
        // Of two commands only one would be judged.
        Json::Array(_) if !request["cmd"].is_null() => {
            return Err(Refused::request("there are both `argv` and `cmd`: say one of them"));
        }
        Json::Array(_) if shell == Some(true) => {
            return Err(Refused::request("`argv` is for no shell, and `shell` is true"));
        }
        Json::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Json::as_str).collect();
            let words = words.ok_or_else(|| Refused::request("a word of `argv` is no text"))?;
            argv = words.into_iter().map(str::to_owned).collect();
            Asked::Argv(&argv)
        }
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
            return Err(Refused::request("`argv` is no list of words"));
        }
    };
    Ok(verdict(&judges.command_at(asked, root, cwd)?))
}

fn path(judges: &mut Judges, request: &Request<'_>) -> Result<Json, Refused> {
    let (root, path) = (any_root(request)?, text(request, "path")?);
    if judges.path(path, root)? {
        return Ok(json!({ "verdict": "allow" }));
    }
    let message = format!("`{}` is outside project root", visible(path));
    Err(Refused::new("outside-root", message))
}

fn patch_(judges: &mut Judges, request: &Request<'_>) -> Result<Json, Refused> {
    let (root, patch) = (root(request)?, text(request, "patch")?);
    let mut answer = verdict(&judges.patch(patch, root)?);
    if let Ok(patch) = patch::read(patch) {
        // Not every reader of lines knows that a line separator in a name ends none.
        let paths = patch.touched.iter().map(|touched| visible(&touched.path));
        answer["files"] = paths.collect::<BTreeSet<_>>().into_iter().collect();
    }
    Ok(answer)
}

fn url(_: &mut Judges, request: &Request<'_>) -> Result<Json, Refused> {
    let allow: Option<Vec<&str>> = match &request["allow"] {
        Json::Null => Some(Vec::new()),
        Json::Array(hosts) => hosts.iter().map(Json::as_str).collect(),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => None,
    };
    let Some(Ok(allowed)) = allow.map(Allowed::read) else {
        return Err(Refused::new("bad-allow", "`allow` is no list of host patterns".into()));
    };
    let (judged, asked) = match (optional(request, "url")?, optional(request, "host")?) {
        (Some(url), None) => (judge_url(url, &allowed), url),
        (None, Some(host)) => (judge_host(host, &allowed), host),
        (Some(_), Some(_)) => {
            return Err(Refused::request("there are both `url` and `host`: say one of them"));
        }
        (None, None) => return Err(missing("url")),
    };
    let mut answer = match judged.refusal {
        None => json!({ "verdict": "allow" }),
        Some(why) => {
            let message = format!("`{}` {why}", visible(asked));
            Refused::new(why.code(), message).told(&Json::Null)
        }
    };
    if let Some(host) = judged.host {
        answer["host"] = host.to_string().trim_matches(['[', ']']).into();
    }
    Ok(answer)
}

fn policy(judges: &mut Judges, request: &Request<'_>) -> Result<Json, Refused> {
    let rules = PrefixRules::read(&request["policy"])
        .ok_or_else(|| Refused::new("bad-policy", "`policy` is no map of rules".into()))?;
    let answer = judges.prefixes(&rules, text(request, "cmd")?)?;
    Ok(json!({ "verdict": answer.map_or("no_match", Answer::word) }))
}

/// A call, or an answer of a model with calls in it.
const TOOL_CALL: &[&str] = &["name", "arguments", "root", "proxy", "provider", "transport", "raw"];

fn tool_call(judges: &mut Judges, request: &Request<'_>) -> Result<Json, Refused> {
    if let Some(raw) = optional(request, "raw")? {
        return recorded(request, raw);
    }
    let (root, name) = (any_root(request)?, text(request, "name")?);
    let arguments = match &request["arguments"] {
        Json::String(text) => text,
        Json::Object(_) => request.written("arguments"),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
            return Err(Refused::request("`arguments` is neither an object nor a text of one"));
        }
    };
    let proxied = switch(request, "proxy")? == Some(true);
    let door = if proxied { Door::Proxy } else { Door::Hook };
    let verdict = judges.tool_call(door, name, arguments, root)?;
    let mut told = super::tool::told(&verdict);
    let first = verdict.findings.first().map(|finding| &finding.reason);
    told["code"] = first.map(|reason| reason.code).into();
    told["message"] = first.map(|reason| &*reason.message).into();
    Ok(told)
}

/// Lists the calls in an answer of a model, as the proxy puts them together.
fn recorded(request: &Request<'_>, raw: &str) -> Result<Json, Refused> {
    let provider = text(request, "provider")?;
    let transport = optional(request, "transport")?.unwrap_or_default();
    let lines = || raw.split('\n').filter(|line| !line.trim().is_empty());
    let events = transport.starts_with("json-lines");
    let events = events.then(|| lines().map(|line| format!("data: {line}\n\n")).collect());
    let answer: String = events.unwrap_or_else(|| raw.to_owned());
    let calls = palisade::proxy::recorded_calls(provider, answer.as_bytes());
    let calls = calls.ok_or_else(|| {
        Refused::new("bad-answer", "`raw` is no answer of this provider that can be read".into())
    })?;
    Ok(json!({ "tool_calls": calls }))
}

/// Without a root there is nothing that a path could be outside of.
fn root<'r>(request: &'r Request<'_>) -> Result<&'r str, Refused> {
    any_root(request).ok().filter(|root| root.starts_with('/')).ok_or_else(no_root)
}

/// Tool calls are also made in projects on Windows; commands and patches are judged for Unix.
fn any_root<'r>(request: &'r Request<'_>) -> Result<&'r str, Refused> {
    let is_root = |root: &&str| root.starts_with('/') || WindowsRoot::read(root).is_some();
    request["root"].as_str().filter(is_root).ok_or_else(no_root)
}

fn no_root() -> Refused {
    Refused::new("bad-root", "`root` is no absolute path".into())
}

/// Returns a text that may be missing, but may be nothing else.
fn optional<'r>(request: &'r Request<'_>, key: &str) -> Result<Option<&'r str>, Refused> {
    match &request[key] {
        Json::Null => Ok(None),
        Json::String(text) => Ok(Some(text)),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => Err(missing(key)),
    }
}

fn text<'r>(request: &'r Request<'_>, key: &str) -> Result<&'r str, Refused> {
    optional(request, key)?.ok_or_else(|| missing(key))
}

fn missing(key: &str) -> Refused {
    Refused::request(&format!("`{key}` is no text, or missing"))
}

fn switch(request: &Request<'_>, key: &str) -> Result<Option<bool>, Refused> {
    match &request[key] {
        Json::Null => Ok(None),
        Json::Bool(on) => Ok(Some(*on)),
        Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            Err(Refused::request(&format!("`{key}` is neither true nor false")))
        }
    }
}

fn verdict(verdict: &Verdict) -> Json {
    let codes: Vec<&str> = verdict.reasons().iter().map(|reason| reason.code).collect();
    json!({
        "verdict": verdict.answer().word(),
        "code": codes.first(),
        "codes": codes,
        "message": verdict.reasons().first().map(|reason| &reason.message),
    })
}

impl Refused {
    fn new(code: &'static str, message: String) -> Self {
        Self { code, message }
    }

    /// A request that is not one.
    pub(super) fn request(message: &str) -> Self {
        Self { code: "bad-request", message: message.to_owned() }
    }

    /// Returns the answer to the request with this number.
    pub(super) fn told(&self, id: &Json) -> Json {
        json!({ "id": id, "verdict": "deny", "code": self.code, "message": self.message })
    }
}

impl From<OpenError> for Refused {
    fn from(error: OpenError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
