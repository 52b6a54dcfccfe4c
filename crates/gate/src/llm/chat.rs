//! OpenAI's Chat Completions.
//!
//! Calls grow in pieces, side by side, and nothing but the end of a choice tells that they are
//! complete. So all of them wait for it, and text passes by.

mod slots;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::frame::{Data, Frame};
use super::reader::{Assembler, Group, OnRefusal, Piece, Tally};
use super::{Ruling, json};
use slots::{LEGACY, Slots};

/// What of a piece of a message is held.
const HELD: [&str; 2] = ["tool_calls", "function_call"];

#[derive(Debug, Default)]
pub(super) struct Chat {
    on: OnRefusal,
    slots: Slots,
    held: Vec<Frame>,
    held_bytes: usize,
    /// Choices that have calls and no end yet.
    open: BTreeSet<u64>,
    text: String,
    usage: Value,
    /// What the first answer of a turn called itself, and what answers before this one used.
    earlier: Option<(Value, Value)>,
    named: Value,
}

impl Assembler for Chat {
    fn take(&mut self, frame: Frame, out: &mut Vec<Piece>) {
        let value = match &frame.data {
            Data::Json(value) => value,
            Data::Nothing => return out.push(Piece::Pass(frame)),
            Data::Done => {
                self.flush(out);
                return out.push(Piece::Pass(frame));
            }
        };
        if value["usage"].is_object() {
            self.usage = value["usage"].clone();
        }
        if self.named.is_null() {
            self.named = value.clone();
        }
        let frame = self.continued(frame);
        let Some(value) = frame.json() else { return };
        let (mut calls, mut ends, mut says) = (false, false, false);
        for choice in choices(value) {
            let number = choice["index"].as_u64().unwrap_or(0);
            for key in ["delta", "message"] {
                let body = &choice[key];
                for entry in entries(body) {
                    self.slots.absorb(number, &entry, key == "message");
                    self.open.insert(number);
                    calls = true;
                }
                if let Some(text) = body["content"].as_str().filter(|text| !text.is_empty()) {
                    if self.on == OnRefusal::Retry {
                        self.text.push_str(text);
                    }
                    says |= key == "delta";
                }
            }
            if !choice["finish_reason"].is_null() || frame.is_whole() {
                ends |= self.open.remove(&number);
            }
        }
        if !calls && !ends {
            return out.push(Piece::Pass(frame));
        }
        let frame = if says && calls && !frame.is_whole() { split(&frame, out) } else { frame };
        self.held_bytes += frame.size();
        self.held.push(frame);
        if ends && self.open.is_empty() {
            self.flush(out);
        }
    }

    fn end(&mut self, _: &mut Vec<Piece>) {
        // Calls of a choice that never ended are cut off.
        self.held.clear();
    }

    fn refuse(&self, group: Group, rulings: &[Ruling]) -> Vec<Frame> {
        let mut slots = Slots::default();
        let mut out = Vec::new();
        let last = group.frames.len().saturating_sub(1);
        let mut told: BTreeSet<u64> = BTreeSet::new();
        for (at, frame) in group.frames.iter().enumerate() {
            let Some(mut value) = frame.json().cloned() else { continue };
            let template = value.clone();
            let mut empty = true;
            for choice in value["choices"].as_array_mut().into_iter().flatten() {
                let number = choice["index"].as_u64().unwrap_or(0);
                let fate = Fate::of(number, &group, rulings);
                for key in ["delta", "message"] {
                    if choice[key].is_object() {
                        edit(&mut choice[key], number, &mut slots, &fate, key == "message");
                    }
                }
                let ends = !choice["finish_reason"].is_null();
                if (ends || at == last) && !fate.texts.is_empty() && told.insert(number) {
                    if choice["message"].is_object() {
                        say(&mut choice["message"], &fate.texts);
                    } else {
                        out.push(frame.saying(spoken(&template, number, &fate.texts)));
                    }
                }
                let asked = matches!(
                    choice["finish_reason"].as_str(),
                    Some("tool_calls" | "function_call")
                );
                if asked && fate.kept.is_empty() {
                    choice["finish_reason"] = "stop".into();
                }
                let delta = choice["delta"].as_object();
                let says = delta.is_some_and(|delta| delta.values().any(|value| !value.is_null()));
                empty &= !ends && !says && !choice["message"].is_object();
            }
            if !empty || value["usage"].is_object() {
                out.push(frame.saying(value));
            }
        }
        out
    }

    fn close(&self, frame: Frame, _: Tally) -> Frame {
        frame
    }

    fn held(&self) -> usize {
        self.held_bytes + self.text.len()
    }

    fn turn(&mut self) -> Value {
        json!({ "content": std::mem::take(&mut self.text) })
    }

    fn resume(&mut self) {
        let named = std::mem::take(&mut self.named);
        let (named, mut spent) = self.earlier.take().unwrap_or((named, json!({})));
        json::add(&mut spent, &std::mem::take(&mut self.usage));
        *self = Self { earlier: Some((named, spent)), ..Self::new(self.on) };
    }
}

impl Chat {
    pub(super) fn new(on: OnRefusal) -> Self {
        Self { on, ..Self::default() }
    }

    fn flush(&mut self, out: &mut Vec<Piece>) {
        if !self.held.is_empty() {
            let (slots, mut frames) =
                (std::mem::take(&mut self.slots), std::mem::take(&mut self.held));
            let counts_anew = slots.skip();
            let calls = slots.calls();
            if counts_anew {
                let all = vec![Ruling::Release; calls.len()];
                frames = self.refuse(Group { frames, calls: calls.clone() }, &all);
            }
            out.push(Piece::Calls(Group { frames, calls }));
        }
        (self.held_bytes, self.open) = (0, BTreeSet::new());
    }

    /// Makes a message of a later answer one of the first: a client reads one.
    fn continued(&self, frame: Frame) -> Frame {
        let (Some((named, spent)), Some(value)) = (&self.earlier, frame.json()) else {
            return frame;
        };
        let mut value = value.clone();
        for key in ["id", "created"] {
            if !value[key].is_null() && !named[key].is_null() {
                value[key] = named[key].clone();
            }
        }
        if value["usage"].is_object() {
            json::add(&mut value["usage"], spent);
        }
        frame.saying(value)
    }
}

/// What becomes of the calls of one choice.
struct Fate {
    /// The calls that stay, by their place; where each is in this list is its new number.
    kept: Vec<u64>,
    texts: Vec<String>,
}

impl Fate {
    fn of(choice: u64, group: &Group, rulings: &[Ruling]) -> Self {
        let mut fate = Self { kept: Vec::new(), texts: Vec::new() };
        for (call, ruling) in group.calls.iter().zip(rulings) {
            match ruling {
                _ if call.place.0 != choice => {}
                Ruling::Release => fate.kept.push(call.place.1),
                Ruling::Swallow(text) => fate.texts.push(text.clone()),
            }
        }
        fate
    }
}

/// Takes refused calls out of a message, and counts the others anew: clients count without gaps.
fn edit(body: &mut Value, choice: u64, slots: &mut Slots, fate: &Fate, apart: bool) {
    let Some(map) = body.as_object_mut() else { return };
    if let Some(Value::Array(list)) = map.get_mut("tool_calls") {
        list.retain_mut(|entry| {
            let place = slots.absorb(choice, entry, apart);
            let kept = fate.kept.iter().position(|kept| *kept == place);
            if let (Some(number), Some(_)) = (kept, entry.get("index")) {
                entry["index"] = number.into();
            }
            kept.is_some()
        });
        if list.is_empty() {
            map.remove("tool_calls");
        }
    }
    if let Some(call) = map.get("function_call").filter(|call| call.is_object()) {
        let place = slots.absorb(choice, &legacy(call), apart);
        if !fate.kept.contains(&place) {
            map.remove("function_call");
        }
    }
}

/// Adds a text to a message.
fn say(message: &mut Value, texts: &[String]) {
    let text = texts.join("\n\n");
    match &mut message["content"] {
        Value::String(content) if !content.is_empty() => {
            content.push_str("\n\n");
            content.push_str(&text);
        }
        Value::Array(parts) => parts.push(json!({ "type": "text", "text": text })),
        content @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => {
            *content = text.into();
        }
    }
}

/// Makes a message that says a text.
fn spoken(template: &Value, choice: u64, texts: &[String]) -> Value {
    let mut value = template.clone();
    let delta = json!({ "content": texts.join("\n\n") });
    value["choices"] = json!([{ "index": choice, "delta": delta, "finish_reason": null }]);
    if let Some(map) = value.as_object_mut() {
        map.remove("usage");
    }
    value
}

/// Lets the text of a message pass that also holds pieces of calls, and returns the rest. Only what
/// grows can be taken apart: a message that stands beside it is held as it is.
fn split(frame: &Frame, out: &mut Vec<Piece>) -> Frame {
    let (Some(text), Some(calls)) = (frame.json(), frame.json()) else { return frame.clone() };
    let (mut text, mut calls) = (text.clone(), calls.clone());
    for choice in text["choices"].as_array_mut().into_iter().flatten() {
        choice["finish_reason"] = Value::Null;
        let Some(choice) = choice.as_object_mut() else { continue };
        choice.remove("message");
        if let Some(delta) = choice.entry("delta").or_insert_with(|| json!({})).as_object_mut() {
            delta.retain(|key, _| !HELD.contains(&key.as_str()));
        }
    }
    for choice in calls["choices"].as_array_mut().into_iter().flatten() {
        if let Some(delta) = choice.get_mut("delta").and_then(Value::as_object_mut) {
            delta.retain(|key, _| HELD.contains(&key.as_str()));
        }
    }
    if let Some(map) = text.as_object_mut() {
        map.remove("usage");
    }
    out.push(Piece::Pass(frame.saying(text)));
    frame.saying(calls)
}

fn choices(value: &Value) -> impl Iterator<Item = &Value> {
    value["choices"].as_array().into_iter().flatten()
}

/// Lists the pieces of calls in a message.
fn entries(body: &Value) -> Vec<Value> {
    let mut entries: Vec<Value> = body["tool_calls"].as_array().cloned().unwrap_or_default();
    entries.extend(Some(&body["function_call"]).filter(|call| call.is_object()).map(legacy));
    entries
}

/// Writes the older way to ask for a function as the newer one.
fn legacy(call: &Value) -> Value {
    json!({ "index": LEGACY, "function": call })
}
