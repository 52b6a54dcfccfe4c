//! Gemini's generateContent and streamGenerateContent.
//!
//! A call stands whole in one part of a message, unless its arguments are sent piece by piece; then
//! everything waits until the last piece is there.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::frame::{Data, Frame};
use super::partial::Pieces;
use super::reader::{Assembler, Group, OnRefusal, Piece, Tally};
use super::{CUT, Call, Ruling, TORN, json, kinds};

#[derive(Debug)]
pub(super) struct Gemini {
    on: OnRefusal,
    open: BTreeMap<usize, Growing>,
    done: Vec<Call>,
    held: Vec<Frame>,
    held_bytes: usize,
    said: Vec<Value>,
    said_bytes: usize,
    usage: Value,
    earlier: Option<Value>,
}

/// A call whose arguments are not complete.
#[derive(Debug)]
struct Growing {
    /// Where it stands among the calls.
    place: usize,
    arguments: Arguments,
    part: usize,
    flaw: Option<&'static str>,
}

/// How the arguments of a call are told. Clients differ in what they make of both.
#[derive(Debug)]
enum Arguments {
    Whole(Value),
    InPieces(Pieces),
}

impl Assembler for Gemini {
    fn take(&mut self, frame: Frame, out: &mut Vec<Piece>) {
        let Data::Json(value) = &frame.data else {
            if matches!(frame.data, Data::Done) {
                self.flush(out);
            }
            return out.push(Piece::Pass(frame));
        };
        let usage = &body(value)["usageMetadata"];
        if usage.is_object() {
            self.usage = usage.clone();
        }
        let frame = self.continued(frame);
        let Some(value) = frame.json() else { return };
        for (candidate, index, part) in parts(body(value)) {
            self.part(candidate, index, part);
        }
        if self.open.is_empty() && self.done.is_empty() {
            return out.push(Piece::Pass(frame));
        }
        let is_whole = frame.is_whole();
        self.held_bytes += frame.size();
        self.held.push(frame);
        if self.open.is_empty() || is_whole {
            self.flush(out);
        }
    }

    fn end(&mut self, _: &mut Vec<Piece>) {
        self.held.clear();
    }

    fn refuse(&self, group: Group, rulings: &[Ruling]) -> Vec<Frame> {
        let mut begun = 0;
        let mut current: BTreeMap<usize, usize> = BTreeMap::new();
        let mut edit = |frame: &Frame| {
            let mut value = frame.json()?.clone();
            let body =
                if value["response"].is_object() { &mut value["response"] } else { &mut value };
            let candidates = body["candidates"].as_array_mut()?;
            for (number, candidate) in candidates.iter_mut().enumerate() {
                let Some(parts) = candidate["content"]["parts"].as_array_mut() else { continue };
                parts.retain_mut(|part| {
                    let Some(call) = call_of(part) else { return true };
                    let begins = call["name"].is_string();
                    let goes_on = call["willContinue"] == true;
                    let before = current.remove(&number).filter(|_| !begins);
                    let continues = before.is_some();
                    let at = before.unwrap_or_else(|| {
                        begun += 1;
                        begun - 1
                    });
                    if goes_on && (begins || continues) {
                        current.insert(number, at);
                    }
                    match rulings.get(at) {
                        Some(Ruling::Release) => true,
                        Some(Ruling::Swallow(text)) if begins => {
                            *part = json!({ "text": text });
                            true
                        }
                        Some(Ruling::Swallow(_)) | None => false,
                    }
                });
            }
            Some(frame.saying(value))
        };
        group.frames.iter().filter_map(&mut edit).collect()
    }

    fn close(&self, frame: Frame, _: Tally) -> Frame {
        frame
    }

    fn held(&self) -> usize {
        self.held_bytes + self.said_bytes
    }

    fn turn(&mut self) -> Value {
        Value::Array(std::mem::take(&mut self.said))
    }

    fn resume(&mut self) {
        let mut spent = self.earlier.take().unwrap_or_else(|| json!({}));
        json::add(&mut spent, &self.usage);
        *self = Self { earlier: Some(spent), ..Self::new(self.on) };
    }
}

impl Gemini {
    pub(super) fn new(on: OnRefusal) -> Self {
        Self {
            on,
            open: BTreeMap::new(),
            done: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
            said: Vec::new(),
            said_bytes: 0,
            usage: Value::Null,
            earlier: None,
        }
    }

    fn part(&mut self, candidate: usize, index: &Value, part: &Value) {
        let Some(call) = call_of(part) else {
            return self.remember(part);
        };
        let goes_on = call["willContinue"] == true;
        // Arguments under another name: some clients might read them. Or told as a whole and in pieces.
        let torn = kinds::body(call, &["args", "partialArgs"]).is_none()
            || kinds::is_beside(call, &["args"])
            || (is_told(call, "args") && is_told(call, "partialArgs"))
            // Pieces that go to one call by the candidate's number, and to another by its place.
            || (!index.is_null() && index.as_u64() != Some(candidate as u64) && is_piece(call));
        let begun = self.done.len();
        if torn && let Some(growing) = self.open.get_mut(&candidate) {
            growing.flaw = Some(TORN);
        }
        self.piece(candidate, part, call, goes_on);
        if torn {
            self.done.iter_mut().skip(begun).for_each(|call| call.flaw = Some(TORN));
            self.open.values_mut().for_each(|growing| growing.flaw = Some(TORN));
        }
    }

    fn piece(&mut self, candidate: usize, part: &Value, call: &Value, goes_on: bool) {
        if let Some(name) = call["name"].as_str() {
            if let Some(cut) = self.open.remove(&candidate) {
                self.complete(Growing { flaw: Some(CUT), ..cut });
            }
            let id = call["id"].as_str().unwrap_or_default();
            let arguments = call.get("args").filter(|arguments| !arguments.is_null());
            let arguments = arguments.cloned().unwrap_or_else(|| json!({}));
            let place = self.done.len();
            let number = place as u64;
            self.done.push(Call::new(id, name, arguments.to_string(), (0, number)));
            self.remember(part);
            let pieces = call["partialArgs"].as_array();
            if goes_on || pieces.is_some() {
                let part = self.said.len().saturating_sub(1);
                let whole = is_told(call, "args");
                let arguments = if whole {
                    Arguments::Whole(arguments)
                } else {
                    Arguments::InPieces(Pieces::default())
                };
                let growing = Growing { place, arguments, part, flaw: None };
                self.grow(candidate, growing, call, goes_on);
            }
        } else if let Some(mut growing) = self.open.remove(&candidate) {
            // What goes on does so in pieces, and is not told anew.
            let begun = self.done.get(growing.place).map_or("", |call| &call.id);
            let id = call["id"].as_str().unwrap_or_default();
            if is_told(call, "args") || (!id.is_empty() && id != begun) {
                growing.flaw = Some(TORN);
            }
            self.grow(candidate, growing, call, goes_on);
        } else {
            // A piece of a call that nothing began.
            let mut call = Call::new("", "", String::new(), (0, self.done.len() as u64));
            call.flaw = Some(TORN);
            self.done.push(call);
        }
    }

    fn grow(&mut self, candidate: usize, mut growing: Growing, call: &Value, goes_on: bool) {
        for piece in call["partialArgs"].as_array().into_iter().flatten() {
            let added = match &mut growing.arguments {
                Arguments::InPieces(pieces) => pieces.add(piece),
                Arguments::Whole(_) => None,
            };
            if added.is_none() {
                growing.flaw = Some(TORN);
            }
            self.held_bytes += piece.to_string().len();
        }
        if goes_on {
            self.open.insert(candidate, growing);
        } else {
            self.complete(growing);
        }
    }

    fn complete(&mut self, growing: Growing) {
        let Growing { place, arguments, part, flaw } = growing;
        let arguments = match arguments {
            Arguments::Whole(arguments) => arguments,
            Arguments::InPieces(pieces) => pieces.into_arguments(),
        };
        if let Some(said) = self.said.get_mut(part)
            && said["functionCall"].is_object()
        {
            said["functionCall"] =
                json!({ "name": said["functionCall"]["name"], "args": arguments });
        }
        if let Some(call) = self.done.get_mut(place) {
            let complete = Call::new(&call.id, &call.name, arguments.to_string(), call.place);
            *call = Call { flaw: flaw.or(complete.flaw), ..complete };
        }
    }

    fn remember(&mut self, part: &Value) {
        if self.on == OnRefusal::Retry {
            self.said_bytes += part.to_string().len();
            self.said.push(part.clone());
        }
    }

    fn flush(&mut self, out: &mut Vec<Piece>) {
        for (_, growing) in std::mem::take(&mut self.open) {
            self.complete(Growing { flaw: Some(CUT), ..growing });
        }
        let (frames, calls) = (std::mem::take(&mut self.held), std::mem::take(&mut self.done));
        if !frames.is_empty() {
            out.push(Piece::Calls(Group { frames, calls }));
        }
        self.held_bytes = 0;
    }

    /// Makes a message of a later answer one of the first.
    fn continued(&self, frame: Frame) -> Frame {
        let Some(spent) = &self.earlier else { return frame };
        let frame = frame.continuing();
        let Some(mut value) = frame.json().cloned() else { return frame };
        let body = if value["response"].is_object() { &mut value["response"] } else { &mut value };
        if !body["usageMetadata"].is_object() {
            return frame;
        }
        json::add(&mut body["usageMetadata"], spent);
        frame.saying(value)
    }
}

/// Whether a call tells arguments in a way, be it none.
fn is_told(call: &Value, key: &str) -> bool {
    !kinds::is_blank(&call[key])
}

/// Some servers wrap the answer.
fn body(value: &Value) -> &Value {
    if value["response"].is_object() { &value["response"] } else { value }
}

/// Whether a call is told in several messages, or may be.
fn is_piece(call: &Value) -> bool {
    !call["name"].is_string() || call["willContinue"] == true || is_told(call, "partialArgs")
}

/// Lists the parts of a message, with the place and the number of the candidate of each.
fn parts(body: &Value) -> impl Iterator<Item = (usize, &Value, &Value)> {
    let candidates = body["candidates"].as_array().into_iter().flatten().enumerate();
    candidates.flat_map(|(number, candidate)| {
        let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
        parts.map(move |part| (number, &candidate["index"], part))
    })
}

/// Returns the call in a part, in either spelling.
fn call_of(part: &Value) -> Option<&Value> {
    ["functionCall", "function_call"]
        .into_iter()
        .map(|key| &part[key])
        .find(|call| call.is_object())
}
