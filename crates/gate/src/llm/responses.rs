//! OpenAI's Responses.
//!
//! An answer is a list of items, each added and done. An item that is a call waits until it is done,
//! and what comes meanwhile waits behind it, since clients add items in the order they come. The
//! last event tells all items once more, and is judged like the others.

mod growing;
mod item;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::frame::{Data, Frame};
use super::kinds::is_of_item;
use super::reader::{Assembler, Group, OnRefusal, Piece, Tally};
use super::{By, CUT, Call, Ruling, TORN, json};
use growing::Growing;
pub(super) use item::is_call;
use item::{Shell, is_of_server, message, read};

#[derive(Debug)]
pub(super) struct Responses {
    on: OnRefusal,
    shell: Shell,
    open: BTreeMap<u64, Growing>,
    done: Vec<Call>,
    /// Calls that are flawed, with their items: the end of the answer tells them again.
    flawed: Vec<(Call, Value)>,
    held: Vec<Frame>,
    held_bytes: usize,
    /// The items that are done, and the id of the answer.
    said: Vec<Value>,
    said_bytes: usize,
    id: Value,
    conversation: Value,
    usage: Value,
    /// Items that a client got before the first call of this answer.
    passed: Vec<Value>,
    sequence: u64,
    earlier: Option<Earlier>,
}

/// What a client has of answers before this one.
#[derive(Debug, Default)]
struct Earlier {
    /// What the first of them called itself; clients insist on one name.
    id: Value,
    items: Vec<Value>,
    sequence: u64,
    spent: Value,
}

/// Where a call stands: in the list of events, or in the answer as a whole.
const IN_STREAM: u64 = 0;
const IN_ANSWER: u64 = 1;

impl Assembler for Responses {
    fn take(&mut self, frame: Frame, out: &mut Vec<Piece>) {
        let Data::Json(value) = &frame.data else { return out.push(Piece::Pass(frame)) };
        let answer = if frame.is_whole() { value } else { &value["response"] };
        if answer["id"].is_string() {
            self.id = answer["id"].clone();
            self.conversation = answer["conversation"]["id"].clone();
        }
        if answer["usage"].is_object() {
            self.usage = answer["usage"].clone();
        }
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        let opens = matches!(
            kind.as_str(),
            "response.created" | "response.in_progress" | "response.queued"
        );
        if self.earlier.is_some() && opens {
            return;
        }
        if frame.is_whole() && self.said.is_empty() {
            self.said = answer["output"].as_array().cloned().unwrap_or_default();
        }
        let frame = self.continued(frame);
        let Some(value) = frame.json() else { return };
        self.sequence = value["sequence_number"].as_u64().unwrap_or(0).max(self.sequence);
        let answer = if frame.is_whole() { value } else { &value["response"] };
        if answer["output"].is_array() {
            let items = answer["output"].as_array().into_iter().flatten().enumerate();
            let calls: Vec<Call> = items
                .filter(|(_, item)| is_call(item))
                .map(|(at, item)| self.told_again(at as u64, item))
                .collect();
            self.flush(out);
            return out.push(if calls.is_empty() {
                Piece::Pass(frame)
            } else {
                Piece::Calls(Group { frames: vec![frame], calls })
            });
        }
        let value = value.clone();
        let index = value["output_index"].as_u64();
        match (kind.as_str(), index) {
            ("response.output_item.added", Some(index)) if is_call(&value["item"]) => {
                self.open.entry(index).or_default().item = value["item"].clone();
            }
            ("response.output_item.done", Some(index)) => self.item_done(index, &value["item"]),
            (kind, Some(index)) if is_of_item(kind) => {
                self.open.entry(index).or_default().take(kind, &value);
            }
            _ => {}
        }
        if self.open.is_empty() && self.done.is_empty() {
            return out.push(Piece::Pass(frame));
        }
        self.held_bytes += frame.size();
        self.held.push(frame);
        if self.open.is_empty() {
            self.flush(out);
        }
    }

    fn end(&mut self, _: &mut Vec<Piece>) {
        self.held.clear();
    }

    fn refuse(&self, group: Group, rulings: &[Ruling]) -> Vec<Frame> {
        let fate: BTreeMap<(u64, u64), &Ruling> =
            group.calls.iter().map(|call| call.place).zip(rulings).collect();
        let mut told: BTreeMap<u64, ()> = BTreeMap::new();
        let mut out = Vec::new();
        for (at, frame) in group.frames.iter().enumerate() {
            let Some(value) = frame.json() else { continue };
            let is_answer = frame.is_whole() || value["response"]["output"].is_array();
            if is_answer {
                let mut value = value.clone();
                let answer = if frame.is_whole() { &mut value } else { &mut value["response"] };
                for (at, item) in answer["output"].as_array_mut().into_iter().flatten().enumerate()
                {
                    if let Some(Ruling::Swallow(text)) = fate.get(&(IN_ANSWER, at as u64)) {
                        *item = message(item, text, "completed");
                    }
                }
                out.push(frame.saying(value));
                continue;
            }
            let Some(index) = value["output_index"].as_u64() else {
                out.push(frame.clone());
                continue;
            };
            match fate.get(&(IN_STREAM, index)) {
                None | Some(Ruling::Release) => out.push(frame.clone()),
                Some(Ruling::Swallow(text)) => {
                    if told.insert(index, ()).is_none() {
                        let of = |frame: &Frame| {
                            let value = frame.json()?;
                            let same = value["output_index"].as_u64() == Some(index);
                            same.then(|| value["sequence_number"].as_u64()).flatten()
                        };
                        let last = group.frames.iter().skip(at).filter_map(of).max();
                        let mut item = group.frames.iter().skip(at).filter_map(|frame| {
                            let value = frame.json()?;
                            let same = value["output_index"].as_u64() == Some(index);
                            Some(&value["item"]).filter(|item| same && item.is_object())
                        });
                        let item = item.next_back().unwrap_or(&Value::Null);
                        out.extend(spoken(frame, value, index, item, text, last));
                    }
                }
            }
        }
        out
    }

    fn close(&self, frame: Frame, _: Tally) -> Frame {
        frame
    }

    fn held(&self) -> usize {
        let open: usize = self.open.values().map(Growing::held).sum();
        self.held_bytes + open + self.said_bytes
    }

    fn turn(&mut self) -> Value {
        json!({ "id": self.id, "items": std::mem::take(&mut self.said) })
    }

    fn kept_as(&self) -> Vec<String> {
        let names = [&self.id, &self.conversation].into_iter();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn known_as(&self) -> Option<(String, String)> {
        let shown = self.earlier.as_ref()?.id.as_str()?;
        Some((shown.to_owned(), self.id.as_str()?.to_owned()))
    }

    fn has_hosted_shell(&mut self) {
        self.shell = Shell::Hosted;
    }

    fn resume(&mut self) {
        let mut earlier = self.earlier.take().unwrap_or_default();
        if earlier.spent.is_null() {
            earlier.spent = json!({});
            earlier.id = self.id.clone();
        }
        json::add(&mut earlier.spent, &self.usage);
        earlier.items.append(&mut self.passed);
        earlier.sequence = self.sequence.saturating_add(1);
        *self = Self { earlier: Some(earlier), shell: self.shell, ..Self::new(self.on) };
    }
}

impl Responses {
    pub(super) fn new(on: OnRefusal) -> Self {
        Self {
            on,
            shell: Shell::Client,
            open: BTreeMap::new(),
            done: Vec::new(),
            flawed: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
            said: Vec::new(),
            said_bytes: 0,
            id: Value::Null,
            conversation: Value::Null,
            usage: Value::Null,
            passed: Vec::new(),
            sequence: 0,
            earlier: None,
        }
    }

    fn item_done(&mut self, index: u64, item: &Value) {
        let open = self.open.remove(&index);
        if self.on == OnRefusal::Retry {
            self.said_bytes += item.to_string().len();
            self.said.push(item.clone());
        }
        if !is_call(item) && open.is_none() {
            if self.done.is_empty() && self.held.is_empty() {
                self.passed.push(item.clone());
            }
            return;
        }
        let mut call = read(item, (IN_STREAM, index), self.shell);
        let begun = open.unwrap_or_default();
        // What it was called when it began is what a client may have gone by.
        let began_as_another = begun.item["type"].is_string() && begun.item["type"] != item["type"];
        let torn = if is_of_server(item) { begun.was_told() } else { !begun.agrees(item) };
        if began_as_another || torn || !is_call(item) {
            (call.by, call.flaw) = (By::Client, Some(TORN));
        }
        if call.flaw.is_some() {
            self.said_bytes += call.arguments.len() + item.to_string().len();
            self.flawed.push((call.clone(), item.clone()));
        }
        self.done.push(call);
    }

    /// Reads a call that the end of the answer tells. One that was refused is refused again.
    fn told_again(&self, at: u64, item: &Value) -> Call {
        let place = (IN_ANSWER, at);
        let id = |item: &Value| item["id"].as_str().or(item["call_id"].as_str()).map(str::to_owned);
        let is = |(call, known): &&(Call, Value)| {
            call.place.1 == at || (id(item).is_some() && id(known) == id(item))
        };
        match self.flawed.iter().find(is) {
            Some((call, _)) => Call { place, ..call.clone() },
            None => read(item, place, self.shell),
        }
    }

    /// Ends the waiting. An item that is still open was cut off.
    fn flush(&mut self, out: &mut Vec<Piece>) {
        for (index, Growing { item, .. }) in std::mem::take(&mut self.open) {
            let call = read(&item, (IN_STREAM, index), self.shell);
            self.done.push(Call { flaw: Some(CUT), ..call });
        }
        let (frames, calls) = (std::mem::take(&mut self.held), std::mem::take(&mut self.done));
        if !frames.is_empty() {
            out.push(Piece::Calls(Group { frames, calls }));
        }
        self.held_bytes = 0;
    }

    /// Makes a message of a later answer one of the first.
    fn continued(&self, frame: Frame) -> Frame {
        let (Some(earlier), Some(value)) = (&self.earlier, frame.json()) else { return frame };
        let mut value = value.clone();
        if let Some(index) = value["output_index"].as_u64() {
            value["output_index"] = (index + earlier.items.len() as u64).into();
        }
        if let Some(number) = value["sequence_number"].as_u64() {
            value["sequence_number"] = number.saturating_add(earlier.sequence).into();
        }
        let is_whole = frame.is_whole();
        let answer = if is_whole { &mut value } else { &mut value["response"] };
        if answer["usage"].is_object() {
            json::add(&mut answer["usage"], &earlier.spent);
        }
        if answer["id"].is_string() && earlier.id.is_string() {
            answer["id"] = earlier.id.clone();
        }
        if let Some(output) = answer["output"].as_array_mut() {
            output.splice(0..0, earlier.items.iter().cloned());
        }
        if !is_whole && value["response"].is_null() {
            value.as_object_mut().map(|map| map.remove("response"));
        }
        frame.saying(value)
    }
}

/// Tells a text as the item in place of a call.
fn spoken(
    frame: &Frame,
    first: &Value,
    index: u64,
    item: &Value,
    text: &str,
    last: Option<u64>,
) -> Vec<Frame> {
    let whole = message(item, text, "completed");
    let mut begun = message(item, text, "in_progress");
    begun["content"] = json!([]);
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] });
    let id = &whole["id"];
    let events = [
        json!({ "type": "response.output_item.added", "item": begun }),
        json!({ "type": "response.content_part.added", "item_id": id, "content_index": 0, "part": part("") }),
        json!({ "type": "response.output_text.delta", "item_id": id, "content_index": 0, "delta": text, "logprobs": [] }),
        json!({ "type": "response.output_text.done", "item_id": id, "content_index": 0, "text": text, "logprobs": [] }),
        json!({ "type": "response.content_part.done", "item_id": id, "content_index": 0, "part": part(text) }),
        json!({ "type": "response.output_item.done", "item": whole }),
    ];
    let start = first["sequence_number"].as_u64();
    let events = events.into_iter().enumerate().map(|(at, mut event)| {
        event["output_index"] = index.into();
        // The numbers of the call's own events; where these are fewer, the last one again.
        if let (Some(start), Some(last)) = (start, last) {
            event["sequence_number"] = start.saturating_add(at as u64).min(last).into();
        }
        frame.saying(event)
    });
    events.collect()
}
