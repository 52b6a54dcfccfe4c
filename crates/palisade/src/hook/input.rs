//! What an agent tells a hook.

use std::path::PathBuf;

use palisade_policy::interception::MAX_TEXT;
use palisade_policy::text::visible;
use serde_json::{Map, Value as Json, json};

use super::agent::{Agent, Facts, Stage};
use crate::json::{self, Unread};

/// The most that an agent may tell: what is judged of a call, and as much around it.
pub const MAX_INPUT: usize = 2 * MAX_TEXT;

/// What an agent told.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Heard {
    /// Something is about to be done.
    Call(Box<Call>),
    /// Nothing is.
    Nothing,
}

/// Something that is about to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) stage: Stage,
    /// The event, as the agent names it.
    pub(super) event: String,
    pub(super) tool: String,
    /// The arguments as they are judged, as JSON.
    pub(super) arguments: String,
    /// The arguments as they were told, where they can be replaced.
    pub(super) input: Map<String, Json>,
    /// The folder in which it is done.
    pub(super) cwd: Option<PathBuf>,
    /// The folders that the agent works in.
    pub(super) roots: Vec<PathBuf>,
    /// Whether the agent would run what nobody agreed to.
    pub(super) unasked: bool,
    /// What the agent or its model calls it.
    pub(super) call_id: Option<String>,
}

/// What cannot be read: the call it may be about must not happen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Unreadable(pub(super) String);

/// Reads what an agent tells.
pub(super) fn read(agent: Agent, bytes: &[u8]) -> Result<Heard, Unreadable> {
    let facts = agent.facts();
    if bytes.len() > MAX_INPUT {
        return Err(wrong("it is longer than a call that can be judged"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is no text in UTF-8"))?;
    let told = json::read(text.as_bytes()).map_err(|unread| wrong(&unread.to_string()))?;
    let Json::Object(told) = told else { return Err(wrong("it is no object")) };
    let (event, stage) = staged(facts, &told)?;
    let (tool, given) = match stage {
        Stage::Other => return Ok(Heard::Nothing),
        Stage::Before | Stage::Permission => {
            let tool = first(&told, &["tool_name", "toolName", "tool"]);
            let given = first(&told, &["tool_input", "toolArgs", "args"]);
            (text_of(tool, "the name of the tool")?, given)
        }
        Stage::Shell => ("shell".to_owned(), told.get("command")),
        Stage::Read => ("read_file".to_owned(), told.get("file_path")),
    };
    let input = match (stage, given) {
        (_, None) => return Err(wrong("the input of the tool is missing")),
        (Stage::Shell, Some(Json::String(text))) => object(json!({ "command": text })),
        (Stage::Read, Some(Json::String(path))) => object(json!({ "path": path })),
        (Stage::Before | Stage::Permission, Some(Json::Object(input))) => input.clone(),
        // What a model wrote: it is judged as it stands, in every reading.
        (Stage::Before | Stage::Permission, Some(Json::String(text))) => {
            let input = match json::read(text.as_bytes()) {
                Ok(Json::Object(input)) => input,
                Ok(_) | Err(Unread::Broken(_)) => Map::new(),
                Err(twice @ Unread::Twice(_)) => return Err(wrong(&twice.to_string())),
            };
            return Ok(call(&told, (event, stage), tool, (text.clone(), input)));
        }
        _ => return Err(wrong("the input of the tool is no object")),
    };
    let arguments = judged(facts, &tool, &input);
    Ok(call(&told, (event, stage), tool, (arguments, input)))
}

fn call(
    told: &Map<String, Json>,
    (event, stage): (String, Stage),
    tool: String,
    (arguments, input): (String, Map<String, Json>),
) -> Heard {
    let path = |value: &Json| value.as_str().filter(|text| !text.is_empty()).map(PathBuf::from);
    let roots = told.get("workspace_roots").and_then(Json::as_array);
    let mode = told.get("permission_mode").and_then(Json::as_str);
    Heard::Call(Box::new(Call {
        stage,
        event,
        tool,
        arguments,
        input,
        cwd: told.get("cwd").and_then(path),
        roots: roots.into_iter().flatten().filter_map(path).collect(),
        unasked: mode == Some("bypassPermissions"),
        call_id: first(told, &["tool_use_id", "callID"]).and_then(Json::as_str).map(cut),
    }))
}

/// Returns the start of a name that an agent made up: it is told, and never judged by.
fn cut(name: &str) -> String {
    name.chars().take(200).collect()
}

/// Returns the event, and what becomes of it. An event that nobody knows may be one that could have
/// been refused.
fn staged(facts: &Facts, told: &Map<String, Json>) -> Result<(String, Stage), Unreadable> {
    let named = match first(told, &["hook_event_name", "event"]) {
        Some(name) => text_of(Some(name), "the name of the event")?,
        // Copilot names no event: what came of a tool is told only afterwards.
        None if facts.name == "copilot" && told.contains_key("toolResult") => "postToolUse".into(),
        None if facts.name == "copilot" && told.contains_key("toolName") => "preToolUse".into(),
        None => return Err(wrong("the name of the event is missing")),
    };
    match facts.events.iter().find(|(name, _)| *name == named) {
        Some((_, stage)) => Ok((named, *stage)),
        None => Err(wrong(&format!("nobody knows the event `{}`", visible(&named)))),
    }
}

/// Returns the arguments under the names that the tool itself has for them.
fn judged(facts: &Facts, tool: &str, input: &Map<String, Json>) -> String {
    let renamed = facts.renamed.iter().find(|(known, from, to)| {
        *known == tool && input.contains_key(*from) && !input.contains_key(*to)
    });
    let Some((_, from, to)) = renamed else { return Json::from(input.clone()).to_string() };
    let named = |name: &String| if name == from { (*to).to_owned() } else { name.clone() };
    let input: Map<_, _> = input.iter().map(|(name, value)| (named(name), value.clone())).collect();
    Json::from(input).to_string()
}

fn first<'j>(told: &'j Map<String, Json>, names: &[&str]) -> Option<&'j Json> {
    names.iter().find_map(|name| told.get(*name))
}

fn text_of(value: Option<&Json>, what: &str) -> Result<String, Unreadable> {
    match value {
        Some(Json::String(text)) if !text.is_empty() => Ok(text.clone()),
        Some(_) => Err(wrong(&format!("{what} is no text"))),
        None => Err(wrong(&format!("{what} is missing"))),
    }
}

fn object(value: Json) -> Map<String, Json> {
    let Json::Object(map) = value else { return Map::new() };
    map
}

fn wrong(why: &str) -> Unreadable {
    Unreadable(format!("what the agent told cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(agent: Agent, told: Json) -> Result<Heard, Unreadable> {
        read(agent, told.to_string().as_bytes())
    }

    fn a_call(agent: Agent, told: Json) -> Call {
        match heard(agent, told) {
            Ok(Heard::Call(call)) => *call,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_agent_tells_of_a_call_in_its_own_way() {
        let nested = |event: &str| {
            json!({ "hook_event_name": event, "cwd": "/a", "tool_name": "Bash",
                    "tool_input": { "command": "ls" } })
        };
        let shell = r#"{"command":"ls"}"#;
        for (agent, told, tool) in [
            (Agent::Claude, nested("PreToolUse"), "Bash"),
            (Agent::Claude, nested("PermissionRequest"), "Bash"),
            (Agent::Codex, nested("PreToolUse"), "Bash"),
            (Agent::Gemini, nested("BeforeTool"), "Bash"),
            (Agent::Copilot, nested("PreToolUse"), "Bash"),
            (
                Agent::Copilot,
                json!({ "cwd": "/a", "toolName": "bash", "toolArgs": { "command": "ls" } }),
                "bash",
            ),
            (Agent::Copilot, json!({ "cwd": "/a", "toolName": "bash", "toolArgs": shell }), "bash"),
            (
                Agent::Cursor,
                json!({ "hook_event_name": "beforeShellExecution", "cwd": "/a", "command": "ls" }),
                "shell",
            ),
            (
                Agent::Cursor,
                json!({ "hook_event_name": "beforeMCPExecution", "cwd": "/a", "tool_name": "x",
                        "tool_input": shell, "command": "npx server" }),
                "x",
            ),
            (
                Agent::OpenCode,
                json!({ "event": "tool.execute.before", "cwd": "/a", "tool": "bash",
                        "args": { "command": "ls" } }),
                "bash",
            ),
        ] {
            let call = a_call(agent, told.clone());
            assert_eq!((&*call.tool, &*call.arguments), (tool, shell), "{agent} {told}");
            assert_eq!(call.cwd, Some("/a".into()), "{agent} {told}");
        }
        let read = json!({ "hook_event_name": "beforeReadFile", "file_path": "/a/b" });
        let call = a_call(Agent::Cursor, read);
        assert_eq!((&*call.tool, &*call.arguments), ("read_file", r#"{"path":"/a/b"}"#));
    }

    #[test]
    fn a_patch_is_judged_under_the_name_that_it_has() {
        let told = json!({ "hook_event_name": "PreToolUse", "tool_name": "apply_patch",
                           "tool_input": { "command": "*** Begin Patch" } });
        assert_eq!(a_call(Agent::Codex, told).arguments, r#"{"patch":"*** Begin Patch"}"#);
    }

    #[test]
    fn what_is_broken_unknown_or_missing_is_no_call_that_passes() {
        for agent in Agent::ALL {
            for bytes in [
                &b""[..],
                b"{",
                b"[]",
                b"null",
                b"\"x\"",
                b"\xff",
                b"{}",
                br#"{"hook_event_name":"New","tool_name":"Bash","tool_input":{}}"#,
                br#"{"hook_event_name":7,"tool_name":"Bash","tool_input":{}}"#,
                br#"{"hook_event_name":"PreToolUse"}"#,
                br#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#,
                br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":null}"#,
                br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":[]}"#,
                br#"{"hook_event_name":"PreToolUse","tool_name":"","tool_input":{}}"#,
                br#"{"hook_event_name":"beforeShellExecution","command":["ls"]}"#,
                br#"{"hook_event_name":"beforeReadFile"}"#,
                br#"{"event":"tool.execute.before","tool":"bash"}"#,
            ] {
                let heard = read(agent, bytes);
                assert!(heard.is_err(), "{agent} {:?}", String::from_utf8_lossy(bytes));
            }
            let deep = "[".repeat(100_000);
            assert!(read(agent, deep.as_bytes()).is_err());
            assert!(read(agent, &vec![b' '; MAX_INPUT + 1]).is_err());
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_no_call() {
        let once =
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
        assert!(read(Agent::Claude, once.as_bytes()).is_ok());
        for twice in [
            r#"{"hook_event_name":"PostToolUse","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#,
            r#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /","command":"ls"}}"#,
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"comm\u0061nd":"rm -rf /","command":"ls"}}"#,
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","a":[{"b":1,"b":2}]}}"#,
        ] {
            let why = read(Agent::Claude, twice.as_bytes()).unwrap_err().0;
            assert!(why.contains("twice"), "{twice}: {why}");
        }
        // Copilot hands on the text that the model wrote.
        let text = r#"{"command":"rm -rf /","command":"ls"}"#;
        let told = json!({ "cwd": "/a", "toolName": "bash", "toolArgs": text });
        assert!(heard(Agent::Copilot, told).is_err());
    }

    #[test]
    fn what_cannot_be_refused_any_more_is_left_alone() {
        for (agent, event) in [
            (Agent::Claude, "PostToolUse"),
            (Agent::Codex, "Stop"),
            (Agent::Gemini, "AfterTool"),
            (Agent::Cursor, "afterFileEdit"),
        ] {
            assert_eq!(heard(agent, json!({ "hook_event_name": event })), Ok(Heard::Nothing));
        }
        let after = json!({ "toolName": "bash", "toolArgs": {}, "toolResult": {} });
        assert_eq!(heard(Agent::Copilot, after), Ok(Heard::Nothing));
    }
}
