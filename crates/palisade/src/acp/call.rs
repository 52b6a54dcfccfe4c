//! What an agent asks permission for.
//!
//! Agents name no tool there, only its kind, and hand over what the tool was called with as they like.
//! Files stand in several places: each is judged, and the strictest answer counts.

use palisade_policy::decide::Answer;
use serde_json::{Map, Value as Json, json};

use crate::decision::Guard;

/// The most files of one call that are judged; of a call with more a person decides, at least.
const MOST: usize = 256;

/// Judges a call as hooks judge one. What tells too little to be judged is for a person.
pub(super) fn judged(guard: &Guard, call: Option<&Json>, cwd: &str) -> Answer {
    let Some(Json::Object(call)) = call else { return Answer::Ask };
    let Some(tool) = call.get("kind").and_then(Json::as_str).and_then(tool) else {
        return files(guard, "edit_file", call, cwd).max(Some(Answer::Ask)).unwrap_or(Answer::Ask);
    };
    let by_files = files(guard, tool, call, cwd);
    let arguments = match call.get("rawInput") {
        Some(Json::Object(arguments)) if !arguments.is_empty() => {
            Some(Json::from(arguments.clone()))
        }
        Some(Json::String(text)) if tool == SHELL => Some(json!({ "command": text })),
        _ => None,
    };
    // A command is one whatever the agent calls it.
    let command = arguments.as_ref().filter(|it| tool != SHELL && it.get("command").is_some());
    let by_command = command.map(|it| guard.tool_call(SHELL, &it.to_string(), cwd).answer);
    let by_arguments =
        arguments.map(|arguments| guard.tool_call(tool, &arguments.to_string(), cwd).answer);
    // Only its text tells what a command does; of other calls the files are enough.
    let least = match (by_arguments, by_files) {
        (None, None) if tool == "think" => Answer::Allow,
        (None, Some(_)) if tool != SHELL => Answer::Allow,
        (None, _) => Answer::Ask,
        (Some(_), _) => Answer::Allow,
    };
    // None is less than any answer.
    by_arguments.max(by_files).max(by_command).max(Some(least)).unwrap_or(Answer::Ask)
}

const SHELL: &str = "execute";

/// Returns the tool that a kind of calls is judged as.
fn tool(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "execute" => SHELL,
        "edit" => "edit_file",
        "delete" => "delete_file",
        "move" => "move_file",
        "read" => "read_file",
        "search" => "search_files",
        "fetch" => "web_fetch",
        "think" => "think",
        "switch_mode" => "switch_mode",
        _ => return None,
    })
}

/// Judges the files that a call says it is about; none where it names none.
fn files(guard: &Guard, tool: &str, call: &Map<String, Json>, cwd: &str) -> Option<Answer> {
    let list = |key: &str| call.get(key).and_then(Json::as_array).into_iter().flatten();
    let touched = list("locations").filter_map(path).map(|path| (tool, path));
    let is_diff = |content: &&Json| content.get("type").and_then(Json::as_str) == Some("diff");
    let written = list("content").filter(is_diff).filter_map(path).map(|path| ("write_file", path));
    let mut all = touched.chain(written);
    let judge = |(tool, path): (&str, &str)| {
        // A command says itself what it does with files; where it works says nothing of that.
        let tool = if tool == SHELL { "read_file" } else { tool };
        guard.tool_call(tool, &json!({ "path": path }).to_string(), cwd).answer
    };
    let judged = all.by_ref().take(MOST).map(judge).max();
    let rest = all.next().map(|_| Answer::Ask);
    judged.max(rest)
}

fn path(of: &Json) -> Option<&str> {
    of.get("path").and_then(Json::as_str)
}
