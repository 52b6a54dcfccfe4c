//! What an agent asks permission for.
//!
//! Agents name no tool there, only its kind, and hand over what the tool was called with as they like.
//! Files stand in several places: each is judged, and the strictest answer counts.

use palisade_policy::decide::Answer;
use palisade_policy::interception::{Finding, ToolVerdict};
use serde_json::{Map, Value as Json, json};

use crate::decision::Guard;

/// The most files of one call that are judged; of a call with more a person decides, at least.
const MOST: usize = 256;

/// What was decided about a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decided {
    pub(super) answer: Answer,
    pub(super) findings: Vec<Finding>,
}

impl Decided {
    /// What tells nothing against it.
    fn bare(answer: Answer) -> Self {
        Self { answer, findings: Vec::new() }
    }

    /// The stricter answer counts; everything that was found is told.
    fn and(mut self, other: Option<Self>) -> Self {
        if let Some(other) = other {
            self.answer = self.answer.max(other.answer);
            self.findings.extend(other.findings);
        }
        self
    }

    /// An error of ours denies.
    pub(super) fn failed() -> Self {
        Self::bare(Answer::Deny)
    }
}

impl From<ToolVerdict> for Decided {
    fn from(verdict: ToolVerdict) -> Self {
        Self { answer: verdict.answer, findings: verdict.findings }
    }
}

/// Returns the name under which a call is remembered: what it was judged as.
pub(super) fn name(call: Option<&Json>) -> &'static str {
    let kind = call.and_then(|call| call.get("kind")).and_then(Json::as_str);
    kind.and_then(tool).unwrap_or("other")
}

/// Judges a call as hooks judge one. What tells too little to be judged is for a person.
pub(super) fn judged(guard: &Guard, call: Option<&Json>, cwd: &str) -> Decided {
    let Some(Json::Object(call)) = call else { return Decided::bare(Answer::Ask) };
    let Some(tool) = call.get("kind").and_then(Json::as_str).and_then(tool) else {
        return Decided::bare(Answer::Ask)
            .and(files(guard, "edit_file", call, cwd))
            .and(command(guard, call, cwd));
    };
    let by_files = files(guard, tool, call, cwd);
    let arguments = match call.get("rawInput") {
        Some(Json::Object(arguments)) if !arguments.is_empty() => {
            Some(Json::from(arguments.clone()))
        }
        Some(Json::String(text)) if tool == SHELL => Some(json!({ "command": text })),
        _ => None,
    };
    let by_command = command(guard, call, cwd).filter(|_| tool != SHELL);
    let by_arguments =
        arguments.map(|arguments| guard.tool_call(tool, &arguments.to_string(), cwd).into());
    // Only its text tells what a command does; of other calls the files are enough.
    let least = match (&by_arguments, &by_files) {
        (None, None) if tool == "think" => Answer::Allow,
        (None, Some(_)) if tool != SHELL => Answer::Allow,
        (None, _) => Answer::Ask,
        (Some(_), _) => Answer::Allow,
    };
    Decided::bare(least).and(by_arguments).and(by_files).and(by_command)
}

/// A command is one whatever the agent calls it.
fn command(guard: &Guard, call: &Map<String, Json>, cwd: &str) -> Option<Decided> {
    let arguments = call.get("rawInput").filter(|input| input.get("command").is_some())?;
    Some(guard.tool_call(SHELL, &arguments.to_string(), cwd).into())
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
fn files(guard: &Guard, tool: &str, call: &Map<String, Json>, cwd: &str) -> Option<Decided> {
    let list = |key: &str| call.get(key).and_then(Json::as_array).into_iter().flatten();
    let touched = list("locations").filter_map(path).map(|path| (tool, path));
    let is_diff = |content: &&Json| content.get("type").and_then(Json::as_str) == Some("diff");
    let written = list("content").filter(is_diff).filter_map(path).map(|path| ("write_file", path));
    let mut all = touched.chain(written);
    let judge = |(tool, path): (&str, &str)| {
        // A command says itself what it does with files; where it works says nothing of that.
        let tool = if tool == SHELL { "read_file" } else { tool };
        Decided::from(guard.tool_call(tool, &json!({ "path": path }).to_string(), cwd))
    };
    let together = |one: Decided, other: Decided| one.and(Some(other));
    let judged = all.by_ref().take(MOST).map(judge).reduce(together);
    let rest = all.next().map(|_| Decided::bare(Answer::Ask));
    judged.map(|judged| judged.and(rest))
}

fn path(of: &Json) -> Option<&str> {
    of.get("path").and_then(Json::as_str)
}
