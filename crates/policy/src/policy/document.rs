//! One native policy text: statements for everyone, for agents and for tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{Commands, Env, Files, Limits, Network, Policy, Require, Tools};
use crate::dialect::{Dialect, Walls};
use crate::key::{Field, Item, Reader, Refusals, Setting, Sourced};
use crate::layer::{Choice, Layer, Origin, Scope};
use crate::name::{Anchors, ByteSize, Folder, Period};
use crate::text::{self, Diagnostic, Entry, Node, Severity, Source, Span, Value, visible};

/// What one policy text says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The dialect of the file it was read from; none for what options and variables say.
    pub dialect: Option<&'static Dialect>,
    /// Other texts whose statements come first.
    pub include: Vec<Sourced<Include>>,
    /// The project root it names; whoever loads the text decides what that starts from.
    pub root: Option<Sourced<Folder>>,
    /// Where another system's file switches confinement on or off, and for whom. Native files have
    /// no such switch: where none is set, the file counts.
    pub enabled: BTreeMap<Scope, Sourced<bool>>,
    /// For whom it is off only because nobody switched it on: there it says nothing, and lets nobody
    /// out either.
    pub unsaid: BTreeSet<Scope>,
    /// For everyone.
    pub policy: Policy,
    /// For each agent.
    pub agents: BTreeMap<Arc<str>, Policy>,
    /// For each task.
    pub tasks: BTreeMap<Arc<str>, Task>,
}

/// What a text says of one task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// The agent that carries it out.
    pub agent: Option<Arc<str>>,
    /// What it says.
    pub policy: Policy,
}

/// A text to read before this one: a path, or another system's name with an optional path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Include {
    /// The dialect written before the colon.
    pub dialect: Option<Box<str>>,
    /// The path as written; empty means the dialect's documented places.
    pub path: Box<str>,
}

impl Include {
    /// Splits `[DIALECT:]FILE`.
    pub fn new(text: &str) -> Self {
        match text.split_once(':') {
            Some((dialect, path))
                if !dialect.is_empty()
                    && dialect.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') =>
            {
                Self { dialect: Some(dialect.into()), path: path.into() }
            }
            _ => Self { dialect: None, path: text.into() },
        }
    }
}

impl std::fmt::Display for Include {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.dialect {
            Some(dialect) => write!(f, "{dialect}:{}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// Keys that stand only at the top of a file, with what the manual says of them.
pub(crate) const TOP_KEYS: [(&str, &str, &str); 4] = [
    ("version", "`1`", "Version of this format."),
    ("include", "a list: `[DIALECT:]FILE`", "Files to read first; relative to this file."),
    (
        "agents",
        "a map of names to policies",
        "What differs for one agent; any key above but `root`.",
    ),
    (
        "tasks",
        "a map of names to policies",
        "What differs for one task, and `agent`, who carries it out.",
    ),
];

/// The sandbox runner's own names, and the keys they stand for.
pub(crate) const ALIASES: [(&str, &str); 5] = [
    ("project_root", "root"),
    ("max_output_bytes", "limits.output"),
    ("timeout_seconds", "limits.timeout"),
    ("denylist", "commands.deny"),
    ("interpreter_block", "commands.interpreters"),
];

impl Document {
    /// Reads a native policy text.
    ///
    /// # Errors
    ///
    /// Every problem of the text, in its order; the text is then not used at all.
    pub fn parse(
        source: &Source,
        layer: Layer,
        anchors: &Anchors,
    ) -> Result<Self, Vec<Diagnostic>> {
        let node = text::parse(source).map_err(|problem| vec![problem])?;
        Self::read(source, &node, layer, anchors)
    }

    /// Reads a native policy from a tree that was parsed before.
    ///
    /// # Errors
    ///
    /// As [`Document::parse`].
    pub fn read(
        source: &Source,
        node: &Node,
        layer: Layer,
        anchors: &Anchors,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut cx = Reader::new(source, anchors, layer);
        let mut document = Self::default();
        for entry in cx.map(node).unwrap_or_default() {
            document.take(entry, node, &mut cx);
        }
        document.check_standing(&mut cx);
        document.check_times(&mut cx);
        let problems = cx.into_problems();
        if problems.iter().any(|problem| problem.severity() == Severity::Error) {
            return Err(problems);
        }
        Ok(document)
    }

    /// Returns where the file says that it confines nothing for this choice: the task's switch
    /// counts before the agent's, and that before everyone's.
    pub fn switched_off(&self, choice: &Choice) -> Option<&Origin> {
        let (_, switch) = self.switch(choice)?;
        (!switch.value).then_some(&switch.origin)
    }

    /// Returns where the file was made to confine nothing for this choice, by somebody who said so.
    pub(crate) fn lets_out(&self, choice: &Choice) -> Option<&Origin> {
        let (scope, _) = self.switch(choice)?;
        self.switched_off(choice).filter(|_| !self.unsaid.contains(scope))
    }

    fn switch(&self, choice: &Choice) -> Option<(&Scope, &Sourced<bool>)> {
        let task = choice.task.clone().map(Scope::Task);
        let agent = choice.agent.clone().map(Scope::Agent);
        let mut scopes = task.into_iter().chain(agent).chain([Scope::Base]);
        scopes.find_map(|scope| self.enabled.get_key_value(&scope))
    }

    /// Returns whether the text can confine at all. Agentao's `permissions.json`, which has no
    /// switch, decides about calls and builds no walls.
    pub(crate) fn confines(&self) -> bool {
        let always = |dialect: &Dialect| dialect.manner.walls == Walls::Always;
        self.dialect.is_none_or(always) || !self.enabled.is_empty()
    }

    /// Returns whether some part of the text says what may be read, written or reached, or how much
    /// of that must hold.
    pub(crate) fn speaks_of_walls(&self) -> bool {
        let silent = Policy::default();
        self.policies().any(|said| {
            let Policy { files, network, limits, profile, require, nested, wrapper, .. } = said;
            *files != silent.files
                || *network != silent.network
                || *limits != silent.limits
                || *profile != silent.profile
                || *require != silent.require
                || *nested != silent.nested
                || *wrapper != silent.wrapper
        })
    }

    /// Returns every part of the text: for everyone, for each agent, for each task.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        let tasks = self.tasks.values().map(|task| &task.policy);
        std::iter::once(&self.policy).chain(self.agents.values()).chain(tasks)
    }

    /// Returns every part of the text, to be changed.
    pub(crate) fn policies_mut(&mut self) -> impl Iterator<Item = &mut Policy> {
        let tasks = self.tasks.values_mut().map(|task| &mut task.policy);
        std::iter::once(&mut self.policy).chain(self.agents.values_mut()).chain(tasks)
    }

    fn take(&mut self, entry: &Entry, whole: &Node, cx: &mut Reader<'_>) {
        match &*entry.key {
            "version" => {
                if entry.value.value != Value::Number("1".into()) {
                    let problem = cx.complaint(
                        "version",
                        "this version is not known".into(),
                        entry.value.span,
                    );
                    cx.report(problem.expected("expected the number 1, without quotes"));
                }
            }
            "include" => self.take_includes(entry, cx),
            "root" => self.take_root(&entry.value, cx),
            "agents" => {
                for (name, value) in sections(entry, cx) {
                    let scope = Scope::Agent(Arc::clone(&name));
                    if let Some(policy) = cx.scoped(scope, |cx| overlay(value, &[], cx)) {
                        self.agents.insert(name, policy);
                    }
                }
            }
            "tasks" => {
                for (name, value) in sections(entry, cx) {
                    let scope = Scope::Task(Arc::clone(&name));
                    if let Some(policy) = cx.scoped(scope, |cx| overlay(value, &["agent"], cx)) {
                        let agent =
                            value.find("agent").and_then(|agent| cx.text("an agent's name", agent));
                        self.tasks.insert(name, Task { agent: agent.map(Into::into), policy });
                    }
                }
            }
            alias if ALIASES.iter().any(|(name, _)| *name == alias) => {
                self.take_alias(entry, whole, cx);
            }
            _ => {
                if !self.policy.take(entry, cx) {
                    match section_of(&entry.key) {
                        Some(section) => cx.misplaced_key(entry, section),
                        None => {
                            let tops = TOP_KEYS.iter().map(|top| top.0);
                            let known: Vec<&str> =
                                tops.chain(Policy::KEYS.iter().copied()).collect();
                            cx.unknown_key(entry, &known);
                        }
                    }
                }
            }
        }
    }

    fn take_includes(&mut self, entry: &Entry, cx: &mut Reader<'_>) {
        for item in cx.list(&entry.value).unwrap_or_default() {
            if let Some(text) = cx.text("a file's path", item) {
                if text.is_empty() || text.chars().any(char::is_control) {
                    cx.expected::<()>("a file's path", item);
                }
                self.include
                    .push(Sourced { value: Include::new(text), origin: cx.origin(item.span) });
            }
        }
    }

    /// Reads the root without anchoring it: relative paths start from it, so it cannot itself.
    fn take_root(&mut self, value: &Node, cx: &mut Reader<'_>) {
        let Some(text) = cx.text("a folder's path", value) else { return };
        match text.parse() {
            Ok(root) => self.root = Some(Sourced { value: root, origin: cx.origin(value.span) }),
            Err(invalid) => {
                cx.invalid::<()>(value, &invalid);
            }
        }
    }

    /// Reads one of the sandbox runner's names into the key it stands for.
    fn take_alias(&mut self, entry: &Entry, whole: &Node, cx: &mut Reader<'_>) {
        let Some((alias, key)) = ALIASES.iter().find(|(alias, _)| *alias == &*entry.key) else {
            return;
        };
        let native = key.split('.').try_fold(whole, |node, part| node.find(part));
        if native.is_some() {
            let message = format!("`{alias}` and `{key}` are the same key");
            let problem = cx.complaint("alias-and-key", message, entry.key_span);
            cx.report(problem.hint("keep one of the two"));
            return;
        }
        let (value, origin) = (&entry.value, cx.origin(entry.value.span));
        let number = match &value.value {
            Value::Number(text) => Some(&**text),
            Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null | Value::Text(_) => None,
        };
        match *alias {
            "project_root" => self.take_root(value, cx),
            "denylist" => self.policy.commands.deny = Refusals::read(value, cx).unwrap_or_default(),
            "interpreter_block" => {
                self.policy.commands.interpreters = Refusals::read(value, cx).unwrap_or_default();
            }
            "max_output_bytes" => match number.map(str::parse::<ByteSize>) {
                Some(Ok(size)) => self.policy.limits.output = limit(size, origin),
                Some(Err(_)) | None => {
                    cx.expected::<()>("a whole number of bytes", value);
                }
            },
            _ => match number.and_then(|text| Period::from_seconds(text.parse().ok()?).ok()) {
                Some(time) => self.policy.limits.timeout = limit(time, origin),
                None => {
                    cx.expected::<()>("a number of seconds", value);
                }
            },
        }
    }

    /// Refuses what this layer may not say at all (Rulings 8 and 22).
    fn check_standing(&self, cx: &mut Reader<'_>) {
        let layer = cx.layer();
        if matches!(
            layer,
            Layer::User | Layer::CommandLine | Layer::Library | Layer::Project | Layer::BuiltIn
        ) {
            return; // a project's are left out when layers are resolved, with its other widenings
        }
        for policy in self.policies() {
            for (key, origin) in policy.reserved() {
                let message = format!("`{key}` is not for this file to say");
                let hint = "only the user's own file, the command line or the library may";
                let at = origin.place.map(|place| cx.source().offset(place)).unwrap_or_default();
                cx.report(cx.complaint("not-yours", message, Span::new(at, at + 1)).hint(hint));
            }
        }
    }

    /// Refuses times in which nothing can run: who writes them means something else.
    fn check_times(&self, cx: &mut Reader<'_>) {
        for policy in self.policies() {
            let Limits { timeout, idle, .. } = &policy.limits;
            for (key, time) in [("limits.timeout", timeout), ("limits.idle", idle)] {
                let zero = time.sourced().filter(|time| time.value.0 == Some(Period::ZERO));
                let Some(zero) = zero else { continue };
                let message = format!("`{key}` leaves no time to run in");
                let hint = "write a time such as `30s`, or `none` for no limit";
                let place = zero.origin.place;
                let at = place.map(|place| cx.source().offset(place)).unwrap_or_default();
                cx.report(cx.complaint("no-time", message, Span::new(at, at + 1)).hint(hint));
            }
        }
    }
}

impl Policy {
    /// Lists the statements that only the user, the command line or the library may make.
    pub(crate) fn reserved(&self) -> Vec<(&'static str, &Origin)> {
        let none = self.require.sourced().filter(|require| require.value == Require::None);
        let nested = self.nested.sourced().filter(|nested| nested.value != super::Nested::Off);
        let none = none.map(|require| ("require: none", &require.origin));
        none.into_iter().chain(nested.map(|nested| ("nested: userns", &nested.origin))).collect()
    }

    /// Lists the statements that no project may make, trusted or not: those, and that no wall of ours
    /// is needed. What stands around everything is not for a project to know.
    pub(crate) fn never_a_projects(&self) -> Vec<(&'static str, &Origin)> {
        let external = self.require.sourced().filter(|it| it.value == Require::External);
        let external = external.map(|require| ("require: external", &require.origin));
        self.reserved().into_iter().chain(external).collect()
    }
}

fn limit<T: Item>(value: T, origin: Origin) -> Setting<crate::key::Limit<T>> {
    Setting::new(Sourced { value: crate::key::Limit(Some(value)), origin })
}

/// Finds the section that a key belongs to, for whoever forgot to indent it.
fn section_of(key: &str) -> Option<&'static str> {
    let sections = [
        ("files", Files::KEYS),
        ("network", Network::KEYS),
        ("commands", Commands::KEYS),
        ("tools", Tools::KEYS),
        ("limits", Limits::KEYS),
        ("env", Env::KEYS),
    ];
    sections.iter().find(|(_, keys)| keys.contains(&key)).map(|(section, _)| *section)
}

/// Most agents or tasks in one text: each is a whole policy.
const MAX_SECTIONS: usize = 1_000;

/// Returns the named parts of `agents` or `tasks`.
fn sections<'n>(entry: &'n Entry, cx: &mut Reader<'_>) -> Vec<(Arc<str>, &'n Node)> {
    let mut found = Vec::new();
    for part in cx.map(&entry.value).unwrap_or_default() {
        if found.len() == MAX_SECTIONS {
            let message = format!("more than {MAX_SECTIONS} of `{}`", visible(&entry.key));
            cx.report(cx.complaint("too-many-sections", message, part.key_span));
            break;
        }
        if part.key.trim().is_empty() || part.key.chars().any(char::is_control) {
            let message = format!("`{}` is no name", visible(&part.key));
            cx.report(cx.complaint("name", message, part.key_span));
        }
        found.push((Arc::from(&*part.key), &part.value));
    }
    found
}

/// Reads what a text says for one agent or task: any key of the policy but the root.
// Apart, as most texts speak of nobody, and a policy takes much of a stack.
#[inline(never)]
fn overlay(node: &Node, besides: &[&str], cx: &mut Reader<'_>) -> Option<Policy> {
    let mut policy = Policy::default();
    for entry in cx.map(node)? {
        if besides.contains(&&*entry.key) {
            continue;
        }
        if &*entry.key == "root" || !policy.take(entry, cx) {
            let keys = Policy::KEYS.iter().copied().filter(|key| *key != "root");
            let known: Vec<&str> = besides.iter().copied().chain(keys).collect();
            cx.unknown_key(entry, &known);
        }
    }
    Some(policy)
}

/// Describes a whole native file for the JSON Schema.
pub(crate) fn schema() -> Json {
    let mut properties = Policy::properties();
    let mut overlay = properties.clone();
    overlay.remove("root");
    let mut task = overlay.clone();
    task.insert(
        "agent".into(),
        json!({ "type": "string", "description": "The agent that carries it out." }),
    );
    let map = |properties: serde_json::Map<String, Json>| {
        json!({ "type": "object", "additionalProperties": {
            "type": "object", "properties": properties, "additionalProperties": false,
        } })
    };
    let mut tops = [
        json!({ "const": 1 }),
        json!({ "type": "array", "items": { "type": "string" } }),
        map(overlay),
        map(task),
    ];
    for (top, (key, _, about)) in tops.iter_mut().zip(TOP_KEYS) {
        top["description"] = json!(about);
        properties.insert(key.into(), top.take());
    }
    for (alias, key) in ALIASES {
        let schema = match alias {
            "project_root" => json!({ "type": "string" }),
            "denylist" | "interpreter_block" => {
                json!({ "type": "array", "items": { "type": "string" } })
            }
            _ => json!({ "type": "number", "minimum": 0 }),
        };
        properties.insert(alias.into(), schema);
        properties[alias]["description"] = json!(format!("Another name for `{key}`."));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

#[cfg(test)]
mod tests;
