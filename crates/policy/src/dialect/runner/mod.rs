//! The sandbox runner's small form: its five names, and nothing else.
//!
//! Choosing this form chooses the preset `runner`, so the runner's defaults hold for every name
//! that is not given.

#[cfg(test)]
mod tests;

use super::{
    Dialect, DocumentedPlace, Input, Likeness, Manner, Reading, Readings, RootKey, Surroundings,
    all, settled,
};
use crate::builtin::BuiltIn;
use crate::key::{Reader, Refusals, Setting, Sourced};
use crate::name::CommandName;
use crate::policy::{ALIASES, Document, Preset};
use crate::text::{self, Diagnostic, Node, Source, Value};

/// The sandbox runner's configuration.
pub(super) static RUNNER: Dialect = Dialect {
    name: "runner",
    about: "the sandbox runner's configuration: project_root, max_output_bytes, timeout_seconds, \
            denylist, interpreter_block",
    detect,
    places,
    read,
    write: None,
    manner: Manner { root: RootKey::AtTop, ..Manner::USUAL },
};

fn detect(_source: &Source, node: Option<&Node>) -> Likeness {
    let entries = match node.map(|node| &node.value) {
        Some(Value::Map(entries)) => entries.as_slice(),
        Some(Value::Bool(_) | Value::List(_) | Value::Null | Value::Number(_) | Value::Text(_))
        | None => &[],
    };
    if !entries.is_empty() && entries.iter().all(|entry| is_name(&entry.key)) {
        Likeness::Shape
    } else {
        Likeness::No
    }
}

/// The runner documents no file of its own: its configuration is handed over in code.
fn places(_around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    Vec::new()
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    all(inputs.iter().map(|input| read_one(input, around)))
}

fn read_one(input: &Input<'_>, around: &Surroundings<'_>) -> Result<Reading, Vec<Diagnostic>> {
    let Input { source, layer } = *input;
    let node = text::parse(source).map_err(|problem| vec![problem])?;
    let mut cx = Reader::new(source, around.anchors, layer);
    let known: Vec<&str> = ALIASES.iter().map(|(name, _)| *name).collect();
    for entry in cx.map(&node).unwrap_or_default() {
        if !is_name(&entry.key) {
            cx.unknown_key(entry, &known);
        }
    }
    let preset = Sourced { value: Preset::Runner, origin: cx.origin(node.span) };
    let mut notes = settled(cx.into_problems())?;
    let mut document = Document::read(source, &node, layer, around.anchors)?;
    document.policy.preset = Setting::new(preset);

    let defaults = BuiltIn::read(around.anchors)?.preset(Preset::Runner)?.commands.clone();
    let said = &document.policy.commands;
    for (name, said, default) in [
        ("denylist", &said.deny, &defaults.deny),
        ("interpreter_block", &said.interpreters, &defaults.interpreters),
    ] {
        let stay = staying(said, default);
        if let Some(given) = node.find(name).filter(|_| !stay.is_empty()) {
            let message = format!("`{name}` adds to the runner's own list; these stay on it");
            let note = Diagnostic::new(source, "list-adds", message).at(given.span).warning();
            notes.push(note.expected(stay.join(", ")));
        }
    }
    Ok(Reading { layer, document, notes })
}

fn is_name(key: &str) -> bool {
    ALIASES.iter().any(|(name, _)| *name == key)
}

/// Returns the names of the runner's own list that the given one does not repeat.
fn staying(said: &Refusals<CommandName>, default: &Refusals<CommandName>) -> Vec<String> {
    let repeated = |name: &&CommandName| said.values().any(|said| said == *name);
    default.values().filter(|name| !repeated(name)).map(ToString::to_string).collect()
}
