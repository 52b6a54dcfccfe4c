//! What the tasks of a file are to do, apart from what they may: `palisade run --tasks` reads it.
//!
//! Bloom's files say who does a task and what it is told; where it works and with which command are
//! keys of ours, which Bloom passes over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::file::is_name;
use crate::key::Reader;
use crate::layer::Layer;
use crate::name::{Anchors, Folder};
use crate::text::{self, Diagnostic, Node, Severity, Source, Span, Value, visible};

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Its name.
    pub name: Arc<str>,
    /// Who does it.
    pub agent: Option<Arc<str>>,
    /// Where, if the file says so.
    pub workspace: Option<Folder>,
    /// By which command, if the file says so.
    pub command: Option<WorkCommand>,
    /// What the agent is told.
    pub instructions: Option<String>,
    /// Tasks that must have been done before.
    pub after: Vec<Arc<str>>,
    /// Whether the file says that it was done.
    pub done: bool,
    /// Where it stands, for complaints.
    pub span: Span,
}

/// How a task is done.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WorkCommand {
    /// A program and its arguments.
    Argv(Vec<String>),
    /// Text for a shell.
    Shell(String),
}

/// Words for a task that needs nothing more.
const DONE: [&str; 4] = ["done", "done_pending_merge", "cancelled", "canceled"];

/// Reads the tasks of a file, those before which they must be done first.
///
/// # Errors
///
/// What is wrong with the file; tasks that wait for each other, or for one that is not there.
pub fn work(source: &Source, anchors: &Anchors) -> Result<Vec<Work>, Vec<Diagnostic>> {
    let tree = text::parse(source).map_err(|problem| vec![problem])?;
    let mut cx = Reader::new(source, anchors, Layer::CommandLine);
    let mut found = Vec::new();
    match tree.find("tasks") {
        Some(node) => take_all(node, &mut found, &mut cx),
        None => {
            let message = "there are no `tasks` in this file".into();
            cx.report(cx.complaint("no-tasks", message, tree.span));
        }
    }
    let sorted = in_order(found, &mut cx);
    let problems = cx.into_problems();
    if problems.iter().any(|problem| problem.severity() == Severity::Error) {
        return Err(problems);
    }
    Ok(sorted)
}

fn take_all(node: &Node, found: &mut Vec<Work>, cx: &mut Reader<'_>) {
    match &node.value {
        Value::List(items) => {
            for item in items {
                let keys = ["id", "name", "title"];
                let name = keys.iter().find_map(|key| scalar(item.find(key)?));
                take(name, item, found, cx);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                take(Some(&entry.key), &entry.value, found, cx);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
            cx.wrong_type::<()>("tasks", "a list of tasks, or a map", node);
        }
    }
}

fn take(name: Option<&str>, node: &Node, found: &mut Vec<Work>, cx: &mut Reader<'_>) {
    let Some(name) = name.filter(|name| is_name(name)) else {
        cx.report(cx.complaint("name", "this task has no name".into(), node.span));
        return;
    };
    let text = |keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| node.find(key).and_then(Node::text));
        found.next().map(str::to_owned)
    };
    let workspace = node.find("workspace");
    let workspace = workspace
        .or_else(|| node.find("sandbox").and_then(|sandbox| sandbox.find("workspacePath")));
    let workspace = workspace.and_then(|node| {
        let read = cx.text("a folder's path", node)?.parse::<Folder>();
        let read = read.and_then(|folder| folder.anchored(cx.anchors()));
        read.map_or_else(|invalid| cx.invalid(node, &invalid), Some)
    });
    let command = node.find("command").and_then(|node| command(node, cx));
    let after = match node.find("depends_on").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(scalar).map(Arc::from).collect(),
        Some(Value::Text(one) | Value::Number(one)) => vec![Arc::from(&**one)],
        Some(Value::Bool(_) | Value::Map(_) | Value::Null) | None => Vec::new(),
    };
    let done = text(&["status"]).is_some_and(|status| DONE.contains(&status.as_str()));
    let before = found.len();
    if let Some(parts) = node.find("subtasks") {
        take_all(parts, found, cx);
    }
    // A task that is only the sum of others has nothing to do itself.
    let instructions = text(&["instructions", "prompt", "title"]);
    let is_sum = found.len() > before && command.is_none() && instructions.is_none();
    if found.iter().any(|other| *other.name == *name) {
        let message = format!("there is another task `{}` in this file", visible(name));
        cx.report(cx.complaint("duplicate-task", message, node.span));
    } else if !is_sum {
        found.push(Work {
            name: name.into(),
            agent: text(&["agent_name", "agent"]).map(Into::into),
            workspace,
            command,
            instructions,
            after,
            done,
            span: node.span,
        });
    }
}

fn command(node: &Node, cx: &mut Reader<'_>) -> Option<WorkCommand> {
    let wanted = "a list of words, or text for a shell";
    match &node.value {
        Value::Text(text) if !text.trim().is_empty() => Some(WorkCommand::Shell(text.to_string())),
        Value::List(items) if !items.is_empty() => {
            let words: Option<Vec<String>> =
                items.iter().map(|item| scalar(item).map(str::to_owned)).collect();
            words.map(WorkCommand::Argv).or_else(|| cx.wrong_type("command", wanted, node))
        }
        Value::Bool(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Null
        | Value::Number(_)
        | Value::Text(_) => cx.wrong_type("command", wanted, node),
    }
}

/// Sorts tasks so that each comes after those it waits for.
fn in_order(mut found: Vec<Work>, cx: &mut Reader<'_>) -> Vec<Work> {
    let names: BTreeSet<Arc<str>> = found.iter().map(|task| Arc::clone(&task.name)).collect();
    for task in &found {
        for other in task.after.iter().filter(|other| !names.contains(*other)) {
            let message = format!(
                "`{}` waits for `{}`, which is not here",
                visible(&task.name),
                visible(other)
            );
            cx.report(cx.complaint("no-such-task", message, task.span));
        }
    }
    let mut sorted: Vec<Work> = Vec::new();
    let mut placed: BTreeMap<Arc<str>, ()> = BTreeMap::new();
    while let Some(at) = found.iter().position(|task| {
        task.after.iter().all(|other| placed.contains_key(other) || !names.contains(other))
    }) {
        let task = found.remove(at);
        placed.insert(Arc::clone(&task.name), ());
        sorted.push(task);
    }
    if let Some(task) = found.first() {
        let message = format!("`{}` waits for itself, by way of others", visible(&task.name));
        cx.report(cx.complaint("tasks-in-a-circle", message, task.span));
    }
    sorted
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Some(text),
        Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null => None,
    }
}
