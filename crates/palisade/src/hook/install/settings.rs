//! Where each agent keeps its settings, and what our part of them is.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::{CannotInstall, Command, Scope, Where};
use crate::hook::agent::Agent;
use crate::hook::jsonc::{Kind, Node, spliced};

/// Where settings lie, and how a hook stands in them.
struct Settings {
    /// The file in the agent's folder.
    file: &'static str,
    /// The variable that names the agent's folder, and where that is otherwise, from the home.
    folder: (Option<&'static str>, &'static str),
    /// Where it is in a project.
    project: &'static str,
    /// Events under `hooks`; none if the whole file is ours.
    events: &'static [&'static str],
    /// What stands in a file that has nothing else.
    around: fn() -> Json,
    /// The entry of one event.
    entry: fn(&str) -> Json,
}

fn settings(agent: Agent) -> Settings {
    let bare = || json!({});
    let versioned = || json!({ "version": 1 });
    match agent {
        Agent::Claude => Settings {
            file: "settings.json",
            folder: (Some("CLAUDE_CONFIG_DIR"), ".claude"),
            project: ".claude",
            events: &["PreToolUse"],
            around: bare,
            entry: |text| {
                json!({ "matcher": "*",
                        "hooks": [{ "type": "command", "command": text, "timeout": 60 }] })
            },
        },
        Agent::Codex => Settings {
            file: "hooks.json",
            folder: (Some("CODEX_HOME"), ".codex"),
            project: ".codex",
            events: &["PreToolUse"],
            around: bare,
            entry: |text| json!({ "hooks": [{ "type": "command", "command": text, "timeout": 60 }] }),
        },
        Agent::Copilot => Settings {
            file: "palisade.json",
            folder: (None, ".copilot/hooks"),
            project: ".github/hooks",
            events: &["preToolUse"],
            around: versioned,
            entry: |text| json!({ "type": "command", "bash": text, "timeoutSec": 60 }),
        },
        Agent::Cursor => Settings {
            file: "hooks.json",
            folder: (None, ".cursor"),
            project: ".cursor",
            events: &["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"],
            around: versioned,
            entry: |text| json!({ "command": text, "timeout": 60 }),
        },
        Agent::Gemini => Settings {
            file: "settings.json",
            folder: (None, ".gemini"),
            project: ".gemini",
            events: &["BeforeTool"],
            around: bare,
            entry: |text| {
                json!({ "matcher": "*", "hooks": [{ "name": "palisade", "type": "command",
                                                    "command": text, "timeout": 60000 }] })
            },
        },
        Agent::OpenCode => Settings {
            file: "palisade.js",
            folder: (Some("OPENCODE_CONFIG_DIR"), ".config/opencode"),
            project: ".opencode",
            events: &[],
            around: bare,
            entry: |_| Json::Null,
        },
    }
}

/// Returns the file that the hook stands in.
pub(super) fn file(place: &Where<'_>) -> PathBuf {
    let Settings { file, folder: (variable, below), project, .. } = settings(place.agent);
    let given = variable.and_then(|name| place.folder(name));
    let config = || {
        place
            .folder("XDG_CONFIG_HOME")
            .map(|it| it.join("opencode"))
            .filter(|_| place.agent == Agent::OpenCode)
    };
    let folder = match place.scope {
        Scope::Project => place.root.join(project),
        Scope::User => given.or_else(config).unwrap_or_else(|| place.home.join(below)),
    };
    let folder = if place.agent == Agent::OpenCode { folder.join("plugins") } else { folder };
    folder.join(file)
}

/// Returns the settings with the hook in them.
pub(super) fn installed(
    agent: Agent,
    file: &Path,
    before: Option<&str>,
    command: &Command,
) -> Result<String, CannotInstall> {
    let (settings, text) = (settings(agent), command.text(agent));
    if settings.events.is_empty() {
        let ours = before.is_none_or(|text| is_installed(agent, text));
        return if ours { Ok(plugin(command)) } else { Err(odd(file, "it is not of our making")) };
    }
    let entry = (settings.entry)(&text);
    let Some(before) = before.filter(|text| !text.trim().is_empty()) else {
        let mut whole = (settings.around)();
        for event in settings.events {
            whole["hooks"][event] = json!([entry]);
        }
        return Ok(format!("{whole:#}\n"));
    };
    let mut after = before.to_owned();
    for event in settings.events {
        after = with_entry(file, &after, event, agent, &text, &entry)?;
    }
    Ok(after)
}

/// Returns the settings with the hook at one event.
fn with_entry(
    file: &Path,
    text: &str,
    event: &str,
    agent: Agent,
    command: &str,
    entry: &Json,
) -> Result<String, CannotInstall> {
    let root = read(file, text)?;
    let Some(hooks) = root.get("hooks") else {
        return Ok(root.with(text, Some("hooks"), &json!({ event: [entry] })));
    };
    if !matches!(hooks.kind, Kind::Object(_)) {
        return Err(odd(file, "`hooks` is no object"));
    }
    let Some(list) = hooks.get(event) else {
        return Ok(hooks.with(text, Some(event), &json!([entry])));
    };
    let Kind::Array(items) = &list.kind else {
        return Err(odd(file, &format!("`hooks.{event}` is no list")));
    };
    // Ours with other options is replaced, and no second one is added.
    match items.iter().find_map(|item| ours(item, agent)) {
        Some((start, end)) => Ok(spliced(text, start, end, &Json::from(command).to_string())),
        None => Ok(list.with(text, None, entry)),
    }
}

/// Returns whether the hook stands in a text.
pub(super) fn is_installed(agent: Agent, text: &str) -> bool {
    let settings = settings(agent);
    if settings.events.is_empty() {
        return text.starts_with(MARK);
    }
    let Ok(root) = Node::read(text) else { return false };
    let lists = settings.events.iter().filter_map(|event| root.get("hooks")?.get(event));
    let mut lists = lists.map(|list| match &list.kind {
        Kind::Array(items) => items.iter().any(|item| ours(item, agent).is_some()),
        Kind::Object(_) | Kind::Text(_) | Kind::Other => false,
    });
    lists.any(|is_ours| is_ours)
}

/// Returns the settings without the hook; none if nothing of them is left.
pub(super) fn uninstalled(
    agent: Agent,
    file: &Path,
    text: &str,
) -> Result<Option<String>, CannotInstall> {
    let settings = settings(agent);
    if settings.events.is_empty() {
        return Ok(if is_installed(agent, text) { None } else { Some(text.to_owned()) });
    }
    let mut after = text.to_owned();
    for event in settings.events {
        loop {
            let root = read(file, &after)?;
            let Some(hooks) = root.get("hooks") else { break };
            let Some(list) = hooks.get(event) else { break };
            let Kind::Array(items) = &list.kind else { break };
            let Some(at) = items.iter().position(|item| ours(item, agent).is_some()) else { break };
            after = list.without(&after, at);
            after = pruned(file, &after, event)?;
        }
    }
    let is_ours_alone = after != text && settings.file == "palisade.json";
    let left = read(file, &after)?;
    let is_empty = left.get("hooks").is_none();
    Ok(Some(after).filter(|_| !(is_ours_alone && is_empty)))
}

/// Takes out what holds nothing any more.
fn pruned(file: &Path, text: &str, event: &str) -> Result<String, CannotInstall> {
    let root = read(file, text)?;
    let place = |node: &Node, key: &str| match &node.kind {
        Kind::Object(members) => members.iter().position(|member| member.key == key),
        Kind::Array(_) | Kind::Text(_) | Kind::Other => None,
    };
    let is_empty = |node: &Node| match &node.kind {
        Kind::Object(members) => members.is_empty(),
        Kind::Array(items) => items.is_empty(),
        Kind::Text(_) | Kind::Other => false,
    };
    let Some(hooks) = root.get("hooks") else { return Ok(text.to_owned()) };
    let mut after = text.to_owned();
    if hooks.get(event).is_some_and(is_empty)
        && let Some(at) = place(hooks, event)
    {
        after = hooks.without(&after, at);
    }
    let root = read(file, &after)?;
    if root.get("hooks").is_some_and(is_empty)
        && let Some(at) = place(&root, "hooks")
    {
        after = root.without(&after, at);
    }
    Ok(after)
}

/// Finds the command of ours in an entry, and where it stands.
fn ours(item: &Node, agent: Agent) -> Option<(usize, usize)> {
    match &item.kind {
        Kind::Text(text) => {
            let is_ours = text.contains("palisade") && text.contains(&format!(" hook {agent}"));
            is_ours.then_some((item.start, item.end))
        }
        Kind::Object(members) => members.iter().find_map(|member| ours(&member.value, agent)),
        Kind::Array(items) => items.iter().find_map(|item| ours(item, agent)),
        Kind::Other => None,
    }
}

fn read(file: &Path, text: &str) -> Result<Node, CannotInstall> {
    let root = Node::read(text)
        .map_err(|broken| CannotInstall::Broken { file: file.to_owned(), line: broken.line })?;
    match root.kind {
        Kind::Object(_) => Ok(root),
        Kind::Array(_) | Kind::Text(_) | Kind::Other => Err(odd(file, "it is no object")),
    }
}

fn odd(file: &Path, what: &str) -> CannotInstall {
    CannotInstall::Shape { file: file.to_owned(), what: what.to_owned() }
}

/// What our plugin begins with.
const MARK: &str = "// Palisade's plugin for OpenCode";

/// Writes the plugin. What is not an allow, a program that is missing too, throws.
fn plugin(command: &Command) -> String {
    let mut words = vec!["hook".to_owned(), "opencode".to_owned()];
    words.extend(command.options.iter().cloned());
    let (program, words) = (Json::from(command.program.as_str()), json!(words));
    format!(
        r#"{MARK}, written by `palisade hook install opencode`.
// It asks before each tool. Whatever is not an allow stops the call, an error too.
import {{ spawnSync }} from "node:child_process"

export const Palisade = async ({{ directory, worktree }}) => ({{
  "tool.execute.before": async (input, output) => {{
    const told = {{ event: "tool.execute.before", tool: input.tool, args: output.args,
      cwd: directory, workspace_roots: [worktree && worktree !== "/" ? worktree : directory] }}
    const ran = spawnSync({program}, {words}, {{ input: JSON.stringify(told), encoding: "utf8",
      timeout: 60000, maxBuffer: 64 * 1024 * 1024 }})
    let answer = {{}}
    try {{ answer = JSON.parse(ran.stdout) ?? {{}} }} catch {{}}
    if (ran.error || ran.status !== 0 || answer.decision !== "allow")
      throw new Error(answer.reason || ran.stderr || `palisade did not answer: ${{ran.error}}`)
    if (answer.args) Object.assign(output.args, answer.args)
  }},
}})
"#
    )
}
