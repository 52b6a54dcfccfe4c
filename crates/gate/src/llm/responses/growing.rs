//! A call from its beginning to its end.
//!
//! A client may act on any of what it is told: the item as it was added, the pieces, what is said at
//! the end of the pieces, or the item when it is done. Only the last is judged, so all of them must
//! tell the same call. A beginning may leave out what it asks for, and never say something else.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::llm::kinds;

/// A call that is not done.
#[derive(Debug, Default)]
pub(super) struct Growing {
    /// The item as it was added.
    pub(super) item: Value,
    told: BTreeMap<(Part, u64), Told>,
    /// What events call it.
    named: Vec<Value>,
    torn: bool,
}

/// What pieces are of.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Part {
    Arguments,
    Input,
    /// The change of an operation on a file.
    Diff,
    /// One of the commands of a shell.
    Command,
}

#[derive(Debug, Default)]
struct Told {
    pieces: String,
    whole: Value,
}

/// Keys that name a call, or say whose it is. What results go by is none of them: a server of renown
/// gives some calls another `call_id` when they are done.
const NAMES: [&str; 5] = ["name", "namespace", "server_label", "execution", "type"];

impl Part {
    /// Tells by the kind of an event what it has a piece of.
    fn of(family: &str) -> Option<(Self, &'static str)> {
        let known = [
            ("_arguments", (Self::Arguments, "arguments")),
            ("_input", (Self::Input, "input")),
            ("_operation_diff", (Self::Diff, "diff")),
            ("_command", (Self::Command, "command")),
        ];
        known.into_iter().find(|(end, _)| family.ends_with(end)).map(|(_, part)| part)
    }

    fn in_item(self, item: &Value, number: u64) -> &Value {
        match self {
            Self::Arguments => &item["arguments"],
            Self::Input => &item["input"],
            Self::Diff => &item["operation"]["diff"],
            Self::Command => {
                usize::try_from(number).map_or(&Value::Null, |at| &item["action"]["commands"][at])
            }
        }
    }
}

impl Growing {
    /// Takes an event about the call.
    pub(super) fn take(&mut self, kind: &str, event: &Value) {
        let name = &event["name"];
        if !kinds::is_blank(name) && self.named.last() != Some(name) {
            self.named.push(name.clone());
        }
        let (family, verb) = kind.rsplit_once('.').unwrap_or((kind, ""));
        let part = Part::of(family);
        let own = part.map_or("", |(_, key)| key);
        let delta = &event["delta"];
        // What nobody here knows how to read, a client may.
        self.torn |= kinds::is_beside(event, &[own])
            || !(delta.is_null() || delta.is_string())
            || (part.is_none() && !is_unsaid(delta, &Value::Null));
        let Some((part, key)) = part else { return };
        let number = &event["command_index"];
        self.torn |= !number.is_null() && !number.is_u64();
        let number = number.as_u64().unwrap_or(0);
        let told = self.told.entry((part, number)).or_default();
        told.pieces.push_str(delta.as_str().unwrap_or_default());
        let whole = &event[key];
        if is_unsaid(whole, &Value::Null) {
            return;
        }
        let again = !told.whole.is_null() && told.whole != *whole;
        self.torn |= again || verb != "done";
        told.whole = whole.clone();
    }

    /// Whether events told of a call that a client carries out.
    pub(super) fn was_told(&self) -> bool {
        self.torn || !self.told.is_empty() || !self.named.is_empty()
    }

    /// Whether all that was said of the call is true of the item that is done.
    pub(super) fn agrees(&self, done: &Value) -> bool {
        let named = self.named.iter().all(|name| *name == done["name"]);
        let told = self.told.iter().all(|((part, number), told)| {
            let is = part.in_item(done, *number);
            let said = Value::from(told.pieces.as_str());
            let begun = part.in_item(&self.item, *number).as_str().unwrap_or_default();
            // Clients add pieces to the beginning, and two texts in a row are another text.
            let twice = *part != Part::Arguments && !begun.is_empty() && !told.pieces.is_empty();
            !twice
                && (told.pieces.is_empty() || is_same(&said, is))
                && (told.whole.is_null() || is_same(&told.whole, is))
        });
        !self.torn && told && named && begins(&self.item, done)
    }

    /// How many bytes are held.
    pub(super) fn held(&self) -> usize {
        self.told.values().map(|told| told.pieces.len() + 64).sum::<usize>() + self.named.len() * 64
    }
}

/// Whether an item as it was added is the beginning of the one that is done.
fn begins(added: &Value, done: &Value) -> bool {
    let Some(added) = added.as_object() else { return added.is_null() };
    added.iter().all(|(key, begun)| {
        let is = &done[key];
        match key.as_str() {
            name if NAMES.contains(&name) => begun.is_null() || begun == is,
            // Of a change to a file, what is changed comes piece by piece.
            "operation" => {
                is_begun(begun, is)
                    || (is_unsaid(&begun["diff"], &Value::Null)
                        && is_equal(&without(begun, "diff"), &without(is, "diff")))
            }
            key if key == "environment" || kinds::says_what(key) => is_begun(begun, is),
            _ => true,
        }
    })
}

/// Whether what a call asks for is said as it is, or not yet.
fn is_begun(begun: &Value, is: &Value) -> bool {
    is_unsaid(begun, is) || is_same(begun, is)
}

/// Whether a value says nothing that could be acted on. Numbers and kinds may be those of the end.
fn is_unsaid(value: &Value, end: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => value == end,
        Value::Array(list) => list.iter().all(|inner| is_unsaid(inner, &Value::Null)),
        Value::Object(map) => map.iter().all(|(key, inner)| {
            let end = &end[key.as_str()];
            (key == "type" && inner == end) || is_unsaid(inner, end)
        }),
    }
}

/// Whether two values say the same, where one may be written as a text.
fn is_same(said: &Value, is: &Value) -> bool {
    match (said, is) {
        (Value::String(text), Value::Object(_)) | (Value::Object(_), Value::String(text)) => {
            let read = crate::llm::json::read(text.as_bytes());
            let other = if said.is_object() { said } else { is };
            read.is_some_and(|read| is_equal(&read, other))
        }
        _ => is_equal(said, is),
    }
}

/// Whether two values are equal, where what is null may be missing.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys = one.keys().chain(other.keys());
            keys.all(|key| is_equal(&a[key.as_str()], &b[key.as_str()]))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_equal(a, b))
        }
        _ => a == b,
    }
}

fn without(value: &Value, key: &str) -> Value {
    let kept = value.as_object().into_iter().flatten().filter(|(known, _)| *known != key);
    let kept: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
    Value::Object(kept)
}
