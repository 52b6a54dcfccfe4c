//! One of Bloom's files: where sections stand in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::section::{OWN_KEYS, Section};
use crate::dialect::Input;
use crate::key::{Reader, nearest};
use crate::layer::{Layer, Origin, Scope};
use crate::name::Anchors;
use crate::text::{self, Diagnostic, Entry, Node, Source, Span, Value, visible};

/// What one file says, before files are seen together.
#[derive(Debug)]
pub(super) struct File {
    pub(super) layer: Layer,
    pub(super) source: Source,
    pub(super) sections: Vec<Section>,
    /// Every task with its agent, those without a section too.
    pub(super) tasks: BTreeMap<Arc<str>, Option<Arc<str>>>,
    /// Where the file leaves the sandbox at its default; none for a file of tasks alone.
    pub(super) config: Option<Origin>,
    pub(super) problems: Vec<Diagnostic>,
}

/// Agents that Bloom itself starts.
const AGENTS: [&str; 6] = ["claude", "copilot", "codex", "goose", "opencode", "cursor"];
/// Most agents or tasks in one file: each becomes a whole policy.
const MOST: usize = 1_000;

fn too_many(what: &str, node: &Node, cx: &mut Reader<'_>) {
    let message = format!("more than {MOST} {what}");
    cx.report(cx.complaint("too-many-sections", message, node.span));
}

/// Keys of a task that count.
const TASK_KEYS: [&str; 13] = [
    "agent",
    "agent_name",
    "command",
    "depends_on",
    "id",
    "instructions",
    "name",
    "prompt",
    "sandbox",
    "status",
    "subtasks",
    "title",
    "workspace",
];

/// Keys beside the agents that name none.
const RESERVED: [&str; 3] = ["defaultInteractive", "defaultNonInteractive", "timeout"];

/// Tells whether a text has a section of Bloom's.
pub(super) fn has_sections(node: &Node) -> bool {
    let bare = node
        .find("sandbox")
        .is_some_and(|sandbox| OWN_KEYS.iter().any(|key| sandbox.find(key).is_some()));
    let sandboxed = |node: &Node| children(node).iter().any(|node| node.find("sandbox").is_some());
    bare || ["agent", "tasks"].iter().any(|key| node.find(key).is_some_and(sandboxed))
}

impl File {
    /// Reads a text; what is wrong with it is among its problems.
    pub(super) fn read(input: &Input<'_>, anchors: &Anchors) -> Self {
        let mut file = Self {
            layer: input.layer,
            source: input.source.clone(),
            sections: Vec::new(),
            tasks: BTreeMap::new(),
            config: None,
            problems: Vec::new(),
        };
        match text::parse(input.source) {
            Ok(node) => {
                let mut cx = Reader::new(input.source, anchors, input.layer);
                file.take(&node, &mut cx);
                file.problems = cx.into_problems();
            }
            Err(problem) => file.problems.push(problem),
        }
        file
    }

    fn take(&mut self, whole: &Node, cx: &mut Reader<'_>) {
        let Some(entries) = cx.map(whole) else { return };
        let (bare, tasks) = (whole.find("sandbox"), whole.find("tasks"));
        // In a file of tasks `agent` may be something else than the map of agents.
        let agents = entries.iter().find(|entry| {
            let map = matches!(entry.value.value, Value::Map(_));
            &*entry.key == "agent" && (map || tasks.is_none())
        });
        if let Some(node) = bare {
            self.sections.extend(Section::read(Scope::Base, None, node, cx));
        }
        if let Some(entry) = agents {
            self.take_agents(&entry.value, cx);
        }
        if let Some(node) = tasks {
            self.take_tasks(node, cx);
        }
        if bare.is_some() || agents.is_some() || tasks.is_none() {
            let place = bare.map(|node| node.span).or(agents.map(|entry| entry.key_span));
            self.config = Some(cx.origin(place.unwrap_or_default()));
        }
        if self.sections.is_empty() && tasks.is_none() {
            let message = "no agent has a `sandbox` section: this file says nothing".into();
            let note = cx.complaint("no-section", message, Span::default()).warning();
            cx.report(note.hint("write one under `agent.NAME`, with `enabled: true`"));
        }
    }

    fn take_agents(&mut self, node: &Node, cx: &mut Reader<'_>) {
        let Value::Map(entries) = &node.value else {
            return cx.wrong_type("agent", "a map of agents", node).unwrap_or_default();
        };
        if entries.len() > MOST {
            return too_many("agents", node, cx);
        }
        for entry in entries.iter().filter(|entry| !RESERVED.contains(&&*entry.key)) {
            let name = visible(&entry.key);
            if !matches!(entry.value.value, Value::Map(_)) {
                cx.wrong_type::<()>(&format!("agent.{name}"), "a map", &entry.value);
                continue;
            }
            let Some(sandbox) = entry.value.find("sandbox") else { continue };
            if !is_name(&entry.key) {
                nameless(entry.key_span, "agent", cx);
            } else if !AGENTS.contains(&&*entry.key) {
                let message = format!("Bloom brings no agent `{name}`");
                let note = cx.complaint("unknown-agent", message, entry.key_span).warning();
                cx.report(note.hint(format!("it brings {}", AGENTS.join(", "))));
            }
            let scope = Scope::Agent(Arc::from(&*entry.key));
            self.sections.extend(Section::read(scope, None, sandbox, cx));
        }
    }

    fn take_tasks(&mut self, node: &Node, cx: &mut Reader<'_>) {
        match &node.value {
            Value::List(items) if items.len() > MOST => too_many("tasks", node, cx),
            Value::Map(entries) if entries.len() > MOST => too_many("tasks", node, cx),
            Value::List(items) => {
                for item in items {
                    self.take_listed(item, cx);
                }
            }
            Value::Map(entries) => {
                for Entry { key, key_span, value } in entries {
                    self.take_task(Some((key, *key_span)), value, cx);
                }
            }
            Value::Null => {} // a list of tasks that has none yet
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                cx.wrong_type::<()>("tasks", "a list of tasks, or a map", node);
            }
        }
    }

    fn take_listed(&mut self, node: &Node, cx: &mut Reader<'_>) {
        let keys = ["id", "name", "title"];
        let named =
            keys.iter().find_map(|key| node.find(key).filter(|node| scalar(node).is_some()));
        let name = named.and_then(|node| Some((scalar(node)?, node.span)));
        self.take_task(name, node, cx);
    }

    fn take_task(&mut self, name: Option<(&str, Span)>, node: &Node, cx: &mut Reader<'_>) {
        if !matches!(node.value, Value::Map(_)) {
            return cx.wrong_type("tasks", "maps, one for each task", node).unwrap_or_default();
        }
        tell_slips(node, cx);
        if let Some(parts) = node.find("subtasks") {
            self.take_tasks(parts, cx);
        }
        let (agent, sandbox) = (task_agent(node, cx), node.find("sandbox"));
        let Some((name, span)) = name.filter(|(name, _)| is_name(name)) else {
            // Nobody could choose it, and what it closes would stay open.
            if sandbox.is_some() {
                nameless(node.span, "task", cx);
            }
            return;
        };
        let name: Arc<str> = name.into();
        if self.tasks.insert(Arc::clone(&name), agent.clone()).is_some() {
            let message = format!("there is another task `{}` in this file", visible(&name));
            cx.report(cx.complaint("duplicate-task", message, span));
        }
        if let Some(sandbox) = sandbox {
            let scope = Scope::Task(name);
            self.sections.extend(Section::read(scope, agent, sandbox, cx));
        }
    }
}

/// Tells of keys that are nearly one that counts. Bloom has many more, of which nothing is said.
fn tell_slips(task: &Node, cx: &mut Reader<'_>) {
    let Value::Map(entries) = &task.value else { return };
    for entry in entries.iter().filter(|entry| !TASK_KEYS.contains(&&*entry.key)) {
        if nearest(&entry.key, &TASK_KEYS).is_some() {
            cx.report(cx.unknown("tasks", entry, &TASK_KEYS).warning());
        }
    }
}

/// Returns who carries a task out: `agent_name` in Bloom's files, `agent` in ours.
fn task_agent(task: &Node, cx: &mut Reader<'_>) -> Option<Arc<str>> {
    let mut found: Option<&str> = None;
    for key in ["agent_name", "agent"] {
        let Some(node) = task.find(key) else { continue };
        let Some(name) = node.text().filter(|name| is_name(name)) else {
            cx.wrong_type::<()>(key, "an agent's name", node);
            continue;
        };
        if found.is_some_and(|other| other != name) {
            let message = "`agent_name` and `agent` name two agents".into();
            cx.report(cx.complaint("two-agents", message, node.span).hint("keep one of the two"));
        }
        found = Some(name);
    }
    found.map(Into::into)
}

pub(super) fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn nameless(span: Span, what: &str, cx: &mut Reader<'_>) {
    let message = format!("this {what} has no name, so nobody could choose it");
    cx.report(cx.complaint("name", message, span));
}

/// Returns the text of a name, which may look like a number.
fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Some(text),
        Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null => None,
    }
}

/// Returns the values of a list or a map.
fn children(node: &Node) -> Vec<&Node> {
    match &node.value {
        Value::List(items) => items.iter().collect(),
        Value::Map(entries) => entries.iter().map(|entry| &entry.value).collect(),
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::Text(_) => Vec::new(),
    }
}
