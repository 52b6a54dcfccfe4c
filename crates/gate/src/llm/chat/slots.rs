//! Which piece belongs to which call.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::llm::kinds::{self, Acts};
use crate::llm::{Api, Call, NAMELESS, TORN, UNKNOWN, json as strict};

/// The number under which the older way to ask for a function goes.
pub(super) const LEGACY: u64 = u64::MAX;

/// The calls of an answer as far as they are there, by choice.
#[derive(Debug, Default)]
pub(super) struct Slots(BTreeMap<u64, Vec<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    form: Form,
    flaw: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Form {
    #[default]
    Json,
    /// A tool that takes any text.
    Text,
}

impl Slots {
    /// Adds a piece, and returns the place of the call that it belongs to. Calls that stand `apart`
    /// are complete: each piece is one.
    pub(super) fn absorb(&mut self, choice: u64, entry: &Value, apart: bool) -> u64 {
        let slots = self.0.entry(choice).or_default();
        let at = if apart { None } else { place(slots, entry) };
        let at = at.unwrap_or_else(|| {
            let mut slot = Slot { index: entry["index"].as_u64(), ..Slot::default() };
            // Some are counted and some are not: which is which?
            let mixed = slots.iter().any(|other| slot.index.is_some() != other.index.is_some());
            slot.flaw = (mixed && !apart).then_some(TORN);
            slots.push(slot);
            slots.len() - 1
        });
        if let Some(slot) = slots.get_mut(at) {
            slot.take(entry);
        }
        at as u64
    }

    /// Whether there are several calls whose numbers are not their places: clients that go by the one
    /// and clients that go by the other would put different calls together.
    pub(super) fn skip(&self) -> bool {
        self.0.values().any(|slots| {
            let numbers = slots.iter().filter_map(|slot| slot.index).filter(|it| *it != LEGACY);
            slots.len() > 1 && numbers.enumerate().any(|(at, index)| at as u64 != index)
        })
    }

    /// Returns the calls, complete or not.
    pub(super) fn calls(self) -> Vec<Call> {
        let mut calls = Vec::new();
        for (choice, slots) in self.0 {
            for (at, slot) in slots.into_iter().enumerate() {
                let make = match slot.form {
                    Form::Json => Call::new,
                    Form::Text => Call::of_text,
                };
                let place = (choice, at as u64);
                let mut call = make(&slot.id, &slot.name, slot.arguments, place);
                call.kind = match slot.form {
                    Form::Json if slot.index == Some(LEGACY) => "legacy",
                    Form::Json => "function",
                    Form::Text => "custom",
                };
                let nameless = slot.name.is_empty().then_some(NAMELESS);
                call.flaw = slot.flaw.or(nameless).or(call.flaw);
                calls.push(call);
            }
        }
        calls
    }
}

/// Finds the call that a piece continues; none if it begins one.
fn place(slots: &mut [Slot], entry: &Value) -> Option<usize> {
    let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let found = match entry["index"].as_u64() {
        Some(index) => slots.iter().rposition(|slot| slot.index == Some(index))?,
        // Without a number, a name or an id begins a call.
        None if text(&entry["id"]) || text(&entry["function"]["name"]) => return None,
        None => {
            let last = slots.last_mut()?;
            // A client that counts from nought would add it to the first.
            if last.index.is_some() {
                last.flaw = Some(TORN);
            }
            slots.len() - 1
        }
    };
    let slot = slots.get_mut(found)?;
    let id = entry["id"].as_str().unwrap_or_default();
    if id.is_empty() || slot.id.is_empty() || id == slot.id {
        return Some(found);
    }
    // Two calls under one number: some servers count none. A client that goes by the number would
    // read one call, so the first must be complete.
    if !strict::is_object(&slot.arguments) {
        slot.flaw = Some(TORN);
    }
    None
}

impl Slot {
    fn take(&mut self, entry: &Value) {
        self.flaw = self.flaw.or(odd(entry));
        if let Some(id) = entry["id"].as_str().filter(|id| !id.is_empty()) {
            id.clone_into(&mut self.id);
        }
        for (key, input, form) in
            [("function", "arguments", Form::Json), ("custom", "input", Form::Text)]
        {
            // Which of both is meant?
            if entry["function"].is_object() && entry["custom"].is_object() {
                self.flaw = Some(TORN);
            }
            let body = &entry[key];
            if !body.is_object() {
                continue;
            }
            if form == Form::Text {
                self.form = form;
            }
            let is_other =
                kinds::body(body, &[input]).is_none() || kinds::is_beside(body, &[input]);
            if is_other {
                self.flaw = Some(TORN);
            }
            if let Some(name) = body["name"].as_str().filter(|name| !name.is_empty()) {
                if self.name.is_empty() {
                    name.clone_into(&mut self.name);
                } else if name != self.name {
                    // Some clients put pieces of a name together, others take the first or the last.
                    self.name.push_str(name);
                    self.flaw = Some(TORN);
                }
            }
            match &body[input] {
                Value::String(text) => self.arguments.push_str(text),
                Value::Null => {}
                other
                @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    self.arguments.push_str(&other.to_string());
                }
            }
        }
        if !self.is_beside(entry) {
            self.flaw = Some(TORN);
        }
    }

    /// Whether what stands beside the body of an entry says the same.
    fn is_beside(&self, entry: &Value) -> bool {
        let bodies = [(&entry["function"], "arguments"), (&entry["custom"], "input")];
        let beside = entry.as_object().into_iter().flatten();
        beside.filter(|(_, value)| !kinds::is_blank(value)).all(|(key, value)| {
            let is_said = |(body, input): &(&Value, &str)| input == key && body[*input] == *value;
            match key.as_str() {
                "name" => value.as_str() == Some(&self.name),
                key => !kinds::says_what(key) || bodies.iter().any(is_said),
            }
        })
    }
}

/// Says what is wrong with an entry that is no call as this API has them, or several in one.
fn odd(entry: &Value) -> Option<&'static str> {
    let kind = entry["type"].as_str().filter(|kind| !kind.is_empty());
    let unknown = |(key, inner): (&String, &Value)| {
        inner.is_object() && kinds::of(Api::Chat, key, inner) == Acts::Unknown
    };
    let is_known = |kind| matches!(kinds::of(Api::Chat, kind, entry), Acts::Client(_));
    if !kind.is_none_or(is_known) || entry.as_object().into_iter().flatten().any(unknown) {
        return Some(UNKNOWN);
    }
    let other = match kind {
        Some("function") => "custom",
        Some("custom") => "function",
        Some(_) | None => return None,
    };
    entry[other].is_object().then_some(TORN)
}
