//! One `sandbox` section, as it is written.

use std::sync::Arc;

use crate::key::{Count, Item, Limit, Reader, Sourced};
use crate::layer::{Origin, Scope};
use crate::name::{Folder, HostPattern, Invalid, PathPattern};
use crate::policy::NetworkMode;
use crate::text::{Entry, Node, Span, Value, visible};

/// What one section says. A key that is not written is none: it may be inherited.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// For whom.
    pub(super) scope: Scope,
    /// The agent that carries the task out.
    pub(super) agent: Option<Arc<str>>,
    /// Where it begins.
    pub(super) origin: Origin,
    pub(super) span: Span,
    pub(super) enabled: Option<Sourced<bool>>,
    pub(super) mode: Option<Sourced<NetworkMode>>,
    pub(super) domains: Option<Listed<HostPattern>>,
    pub(super) writable: Option<Listed<Folder>>,
    pub(super) hidden: Option<Listed<PathPattern>>,
    pub(super) processes: Option<Sourced<Limit<Count>>>,
    pub(super) workspace: Option<(bool, Span)>,
    /// Where Bloom itself would let the agent work.
    pub(super) other_workspace: Option<(Folder, Span)>,
}

/// A list, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Listed<T> {
    pub(super) span: Span,
    pub(super) entries: Vec<Sourced<T>>,
}

/// Keys that no other system's `sandbox` section has.
pub(super) const OWN_KEYS: [&str; 6] = [
    "networkPolicy",
    "allowedDomains",
    "writablePaths",
    "denyReadPaths",
    "processLimit",
    "workspaceWritable",
];

const KEYS: [&str; 8] = [
    "enabled",
    "networkPolicy",
    "allowedDomains",
    "writablePaths",
    "denyReadPaths",
    "processLimit",
    "workspaceWritable",
    "enableWeakerNestedSandbox",
];

impl Section {
    /// Reads the section of an agent, of a task with its agent, or of everyone.
    pub(super) fn read(
        scope: Scope,
        agent: Option<Arc<str>>,
        node: &Node,
        cx: &mut Reader<'_>,
    ) -> Option<Self> {
        cx.scoped(scope.clone(), |cx| {
            let mut section = Self {
                scope,
                agent,
                origin: cx.origin(node.span),
                span: node.span,
                enabled: None,
                mode: None,
                domains: None,
                writable: None,
                hidden: None,
                processes: None,
                workspace: None,
                other_workspace: None,
            };
            let Value::Map(entries) = &node.value else {
                return cx.wrong_type("sandbox", "a map", node);
            };
            for entry in entries {
                section.take(entry, cx);
            }
            Some(section)
        })
    }

    fn take(&mut self, entry: &Entry, cx: &mut Reader<'_>) {
        let Entry { key, value: node, .. } = entry;
        match &**key {
            "enabled" => {
                let origin = cx.origin(node.span);
                self.enabled = switch(key, node, cx).map(|value| Sourced { value, origin });
            }
            "networkPolicy" => self.mode = mode(key, node, cx),
            "allowedDomains" => self.domains = list(key, node, cx, domain),
            "writablePaths" => self.writable = list(key, node, cx, path),
            "denyReadPaths" => self.hidden = list(key, node, cx, path),
            "processLimit" => self.processes = processes(key, node, cx),
            "workspaceWritable" => {
                self.workspace = switch(key, node, cx).map(|value| (value, node.span));
            }
            "enableWeakerNestedSandbox" => {
                if switch(key, node, cx) == Some(true) {
                    let message = format!("`{key}` has no effect: nesting needs no weaker walls");
                    cx.report(cx.complaint("no-effect", message, entry.key_span).warning());
                }
            }
            "workspacePath" => {
                let found: Option<Folder> = node.text().and_then(|text| path(node, text, cx));
                self.other_workspace = found.map(|folder| (folder, node.span));
                let message = format!(
                    "`{key}` only hides the folder from other agents: this one's workspace is the \
                     project's root"
                );
                let note = cx.complaint("no-effect", message, entry.key_span).warning();
                cx.report(note.hint("choose another root with --root"));
            }
            _ => {
                cx.report(cx.unknown("sandbox", entry, &KEYS).warning());
            }
        }
    }
}

fn switch(key: &str, node: &Node, cx: &mut Reader<'_>) -> Option<bool> {
    match node.value {
        Value::Bool(on) => Some(on),
        Value::List(_) | Value::Map(_) | Value::Null | Value::Number(_) | Value::Text(_) => {
            cx.wrong_type(key, "true or false", node)
        }
    }
}

fn mode(key: &str, node: &Node, cx: &mut Reader<'_>) -> Option<Sourced<NetworkMode>> {
    if node.text().is_none() {
        return cx.wrong_type(key, &format!("one of {}", NetworkMode::takes()), node);
    }
    let value = NetworkMode::read(node, cx)?;
    Some(Sourced { value, origin: cx.origin(node.span) })
}

/// Reads the most processes there may be; zero stands for any number.
fn processes(key: &str, node: &Node, cx: &mut Reader<'_>) -> Option<Sourced<Limit<Count>>> {
    let number = match &node.value {
        Value::Number(text) => text.parse::<u64>().ok(),
        Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null | Value::Text(_) => None,
    };
    let Some(number) = number else {
        return cx.wrong_type(key, "a whole number, 0 for no limit", node);
    };
    let value = Limit((number > 0).then_some(Count(number)));
    Some(Sourced { value, origin: cx.origin(node.span) })
}

fn list<T>(
    key: &str,
    node: &Node,
    cx: &mut Reader<'_>,
    read: impl Fn(&Node, &str, &mut Reader<'_>) -> Option<T>,
) -> Option<Listed<T>> {
    let Value::List(items) = &node.value else {
        return cx.wrong_type(key, "a list", node);
    };
    let mut entries = Vec::new();
    for item in items {
        let Some(text) = item.text() else {
            cx.wrong_type::<()>(key, "a list of texts", item);
            continue;
        };
        if let Some(value) = read(item, text, cx) {
            entries.push(Sourced { value, origin: cx.origin(item.span) });
        }
    }
    Some(Listed { span: node.span, entries })
}

/// Reads a host. Native patterns know more than Bloom does, and that more is refused.
fn domain(node: &Node, text: &str, cx: &mut Reader<'_>) -> Option<HostPattern> {
    let pattern = HostPattern::read(node, cx)?;
    let foreign = if let Some(apex) = text.strip_prefix('.') {
        let problem = format!("`{}` starts with a dot", visible(text));
        let hint = format!("write `{0}` and `*.{0}` if both are meant", visible(apex));
        Invalid::new("bloom-domain", problem).with_hint(hint)
    } else if text.contains('/') {
        let problem = format!("`{}` is a network, not a domain", visible(text));
        Invalid::new("bloom-domain", problem).with_hint("name the hosts one by one")
    } else {
        return Some(pattern);
    };
    cx.invalid(node, &foreign)
}

fn path<T: Item>(node: &Node, text: &str, cx: &mut Reader<'_>) -> Option<T> {
    let path = T::read(node, cx)?;
    if !text.starts_with(['/', '~']) {
        let message = format!("`{}` is taken from the project's root", visible(text));
        let note = cx.complaint("relative-path", message, node.span).warning();
        cx.report(note.hint("Bloom documents absolute paths and `~`; write one of these"));
    }
    Some(path)
}
