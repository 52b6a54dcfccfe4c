//! Anthropic's Messages.
//!
//! An answer is a list of blocks, each with a start and a stop. A block that is a call waits for its
//! stop; blocks that begin meanwhile wait behind it, since clients add them in the order they come.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::frame::{Data, Frame};
use super::kinds::{self, Acts};
use super::reader::{Assembler, Group, OnRefusal, Piece, Tally};
use super::{Api, By, Call, NAMELESS, Ruling, TORN, UNKNOWN, json};

#[derive(Debug, Default)]
pub(super) struct Messages {
    on: OnRefusal,
    open: BTreeMap<u64, Block>,
    done: Vec<Call>,
    held: Vec<Frame>,
    held_bytes: usize,
    /// The blocks as far as they are there, for asking again.
    said: BTreeMap<u64, Value>,
    said_bytes: usize,
    usage: Value,
    /// How many blocks a client has seen of answers before this one, and what these used.
    earlier: Option<(u64, Value)>,
    /// How many blocks were there before the first call.
    blocks: u64,
    calls: u64,
}

#[derive(Debug)]
struct Block {
    block: Value,
    input: String,
}

impl Assembler for Messages {
    fn take(&mut self, frame: Frame, out: &mut Vec<Piece>) {
        let Data::Json(value) = &frame.data else { return out.push(Piece::Pass(frame)) };
        if frame.is_whole() {
            return self.whole(frame, out);
        }
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            "message_start" => {
                self.usage = value["message"]["usage"].clone();
                if self.earlier.is_some() {
                    return;
                }
                let calls = calls(&value["message"]["content"]);
                if !calls.is_empty() {
                    return out.push(Piece::Calls(Group { frames: vec![frame], calls }));
                }
            }
            "message_delta" => {
                json_merge(&mut self.usage, &value["usage"]);
                self.flush(out);
                let frame = self.continued(frame);
                return out.push(Piece::Close(frame));
            }
            "ping" | "error" => return out.push(Piece::Pass(frame)),
            _ => {}
        }
        let frame = self.continued(frame);
        let Some(value) = frame.json() else { return };
        let index = value["index"].as_u64();
        match (kind.as_str(), index) {
            ("content_block_start", Some(index)) => {
                let block = value["content_block"].clone();
                let is_first = block["type"] == "tool_use" && self.calls == 0;
                self.calls += u64::from(block["type"] == "tool_use");
                if self.calls == 0 || is_first {
                    self.blocks = index + u64::from(!is_first);
                }
                if self.on == OnRefusal::Retry {
                    self.said.insert(index, block.clone());
                }
                // A second start of an open block tells it in two ways.
                if let Some(torn) = self.open.remove(&index) {
                    let mut call = torn.call(index);
                    call.flaw = Some(TORN);
                    self.done.push(call);
                }
                if is_call(&block) {
                    self.open.insert(index, Block { block, input: String::new() });
                }
            }
            ("content_block_delta", Some(index)) => {
                self.grow(index, &value["delta"]);
            }
            ("content_block_stop", Some(index)) => {
                if let Some(block) = self.open.remove(&index) {
                    let call = block.call(index);
                    if let (Some(said), Ok(input)) =
                        (self.said.get_mut(&index), serde_json::from_str::<Value>(&call.arguments))
                    {
                        said["input"] = input;
                    }
                    self.done.push(call);
                }
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
        let fate: BTreeMap<u64, &Ruling> =
            group.calls.iter().map(|call| call.place.1).zip(rulings).collect();
        let mut out = Vec::new();
        for frame in group.frames {
            let Some(value) = frame.json() else { continue };
            let whole = if frame.is_whole() { Some("") } else { None };
            let whole = whole.or((value["type"] == "message_start").then_some("message"));
            if let Some(key) = whole {
                let mut value = value.clone();
                let message = if key.is_empty() { &mut value } else { &mut value[key] };
                rewrite(message, &fate);
                out.push(frame.saying(value));
                continue;
            }
            let index = value["index"].as_u64();
            match index.and_then(|index| fate.get(&index)) {
                None | Some(Ruling::Release) => out.push(frame),
                Some(Ruling::Swallow(text)) if value["type"] == "content_block_start" => {
                    let block = json!({ "type": "text", "text": "" });
                    let delta = json!({ "type": "text_delta", "text": text });
                    out.extend([
                        frame.saying(json!({ "type": "content_block_start", "index": index, "content_block": block })),
                        frame.saying(json!({ "type": "content_block_delta", "index": index, "delta": delta })),
                        frame.saying(json!({ "type": "content_block_stop", "index": index })),
                    ]);
                }
                Some(Ruling::Swallow(_)) => {}
            }
        }
        out
    }

    fn close(&self, frame: Frame, tally: Tally) -> Frame {
        let Some(value) = frame.json() else { return frame };
        let stop = &value["delta"]["stop_reason"];
        if tally.released > 0 || tally.refused == 0 || *stop != "tool_use" {
            return frame;
        }
        let mut value = value.clone();
        value["delta"]["stop_reason"] = "end_turn".into();
        frame.saying(value)
    }

    fn held(&self) -> usize {
        let open: usize = self.open.values().map(|block| block.input.len()).sum();
        self.held_bytes + open + self.said_bytes
    }

    fn turn(&mut self) -> Value {
        Value::Array(std::mem::take(&mut self.said).into_values().collect())
    }

    fn resume(&mut self) {
        let (_, mut spent) = self.earlier.take().unwrap_or((0, json!({})));
        json::add(&mut spent, &self.usage);
        *self = Self { earlier: Some((self.blocks, spent)), ..Self::new(self.on) };
    }
}

impl Messages {
    pub(super) fn new(on: OnRefusal) -> Self {
        Self { on, ..Self::default() }
    }

    fn whole(&mut self, frame: Frame, out: &mut Vec<Piece>) {
        let Some(value) = frame.json() else { return };
        if let Some(usage) = value.get("usage") {
            self.usage = usage.clone();
        }
        for (index, block) in value["content"].as_array().into_iter().flatten().enumerate() {
            if self.on == OnRefusal::Retry {
                self.said.insert(index as u64, block.clone());
            }
        }
        let calls = calls(&value["content"]);
        let frame = match &self.earlier {
            Some((_, spent)) if value["usage"].is_object() => {
                let mut value = value.clone();
                json::add(&mut value["usage"], spent);
                frame.saying(value)
            }
            Some(_) | None => frame,
        };
        out.push(if calls.is_empty() {
            Piece::Pass(frame)
        } else {
            Piece::Calls(Group { frames: vec![frame], calls })
        });
    }

    fn grow(&mut self, index: u64, delta: &Value) {
        if let (Some(block), Some(piece)) =
            (self.open.get_mut(&index), delta["partial_json"].as_str())
        {
            block.input.push_str(piece);
        }
        let Some(said) = self.said.get_mut(&index) else { return };
        for (kind, key) in [
            ("text_delta", "text"),
            ("thinking_delta", "thinking"),
            ("signature_delta", "signature"),
        ] {
            if delta["type"] == kind
                && let Some(more) = delta[key].as_str()
            {
                let so_far = said[key].as_str().unwrap_or_default();
                said[key] = format!("{so_far}{more}").into();
                self.said_bytes += more.len();
            }
        }
    }

    /// Ends the waiting. A block that is still open was cut off.
    fn flush(&mut self, out: &mut Vec<Piece>) {
        for (index, block) in std::mem::take(&mut self.open) {
            let mut call = block.call(index);
            call.flaw = Some(super::CUT);
            self.done.push(call);
        }
        let (frames, calls) = (std::mem::take(&mut self.held), std::mem::take(&mut self.done));
        if !frames.is_empty() {
            out.push(Piece::Calls(Group { frames, calls }));
        }
        self.held_bytes = 0;
    }

    /// Makes a message of a later answer one of the first.
    fn continued(&self, frame: Frame) -> Frame {
        let (Some((before, spent)), Some(value)) = (&self.earlier, frame.json()) else {
            return frame;
        };
        let mut value = value.clone();
        if let Some(index) = value["index"].as_u64() {
            value["index"] = (index + before).into();
        }
        if value["type"] == "message_delta" {
            let mut usage = self.usage.clone();
            json::add(&mut usage, spent);
            value["usage"] = usage;
        }
        frame.saying(value)
    }
}

impl Block {
    fn call(self, index: u64) -> Call {
        let Self { block, input } = self;
        let begun = &block["input"];
        let is_empty = begun.as_object().is_none_or(serde_json::Map::is_empty);
        let torn = !is_empty && !input.is_empty();
        let input = if is_empty { input } else { begun.to_string() };
        let mut call = read(&block, input, index);
        if torn {
            call.flaw = Some(TORN);
        }
        call
    }
}

/// Whether a block is a call, whoever carries it out.
pub(super) fn is_call(block: &Value) -> bool {
    acts(block) != Acts::Nobody
}

fn acts(block: &Value) -> Acts {
    kinds::of(Api::Messages, block["type"].as_str().unwrap_or_default(), block)
}

fn read(block: &Value, input: String, index: u64) -> Call {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    let name = if text("name").is_empty() { text("type") } else { text("name") };
    let mut call = Call::new(text("id"), name, input, (0, index));
    match acts(block) {
        Acts::Client(_) if text("name").is_empty() => call.flaw = Some(NAMELESS),
        Acts::Client(asks)
            if kinds::body(block, asks.body).is_none() || kinds::is_beside(block, asks.body) =>
        {
            call.flaw = Some(TORN);
        }
        Acts::Client(_) => {}
        Acts::Server => (call.by, call.flaw) = (By::Server, None),
        Acts::Nobody | Acts::Said | Acts::Unknown => call.flaw = Some(UNKNOWN),
    }
    call
}

/// Lists the calls among the blocks of a complete message.
fn calls(content: &Value) -> Vec<Call> {
    let blocks = content.as_array().into_iter().flatten().enumerate();
    blocks
        .filter(|(_, block)| is_call(block))
        .map(|(index, block)| {
            let input = block.get("input").map_or_else(|| block.to_string(), Value::to_string);
            read(block, input, index as u64)
        })
        .collect()
}

/// Puts texts in place of refused calls.
fn rewrite(message: &mut Value, fate: &BTreeMap<u64, &Ruling>) {
    let mut left = false;
    for (index, block) in message["content"].as_array_mut().into_iter().flatten().enumerate() {
        match fate.get(&(index as u64)) {
            Some(Ruling::Swallow(text)) => *block = json!({ "type": "text", "text": text }),
            Some(Ruling::Release) | None => left |= block["type"] == "tool_use",
        }
    }
    if message["stop_reason"] == "tool_use" && !left {
        message["stop_reason"] = "end_turn".into();
    }
}

/// Takes later figures over earlier ones, as the API means them.
fn json_merge(usage: &mut Value, later: &Value) {
    let (Some(usage), Some(later)) = (usage.as_object_mut(), later.as_object()) else {
        if usage.is_null() {
            *usage = later.clone();
        }
        return;
    };
    for (key, value) in later.iter().filter(|(_, value)| !value.is_null()) {
        usage.insert(key.clone(), value.clone());
    }
}
