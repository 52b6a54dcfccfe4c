//! Calls where no reader looks.
//!
//! An assembler knows where its API puts calls. A client may be more lenient: it may not care for
//! the case of a key, take an object for a list, or look elsewhere. So each message is walked once,
//! and whatever looks like a call in a place where its assembler does not look ends the answer.

use serde_json::{Map, Value};

use super::frame::Frame;
use super::kinds::{self, Acts, folded};
use super::{Api, Fault, messages, responses};

/// Keys that hold calls, folded.
const CALLS: [&str; 8] = [
    "toolcalls",
    "toolcall",
    "functioncall",
    "functioncalls",
    "tooluse",
    "tooluses",
    "partialargs",
    "partialjson",
];

/// Keys that readers go by. In another spelling some clients read them and others do not.
const KEYS: [&str; 33] = [
    "choices",
    "delta",
    "message",
    "tool_calls",
    "function_call",
    "function",
    "custom",
    "name",
    "arguments",
    "input",
    "id",
    "index",
    "type",
    "content",
    "content_block",
    "partial_json",
    "output",
    "output_index",
    "item",
    "response",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "partialArgs",
    "willContinue",
    "call_id",
    "finish_reason",
    "finishReason",
    "action",
    "actions",
    "operation",
    "environment",
];

/// The same, folded.
const FOLDED: [&str; 31] = [
    "choices",
    "delta",
    "message",
    "toolcalls",
    "functioncall",
    "function",
    "custom",
    "name",
    "arguments",
    "input",
    "id",
    "index",
    "type",
    "content",
    "contentblock",
    "partialjson",
    "output",
    "outputindex",
    "item",
    "response",
    "candidates",
    "parts",
    "args",
    "partialargs",
    "willcontinue",
    "callid",
    "finishreason",
    "action",
    "actions",
    "operation",
    "environment",
];

/// Looks through a message for what its API's assembler would not see.
pub(super) fn check(api: Api, frame: &Frame) -> Result<(), Fault> {
    let Some(value) = frame.json() else { return Ok(()) };
    // Some clients go by the name of an event, others by what it says of itself.
    if matches!(api, Api::Messages | Api::Responses)
        && let Some(name) = frame.named()
        && value["type"].as_str().map(str::as_bytes) != Some(name)
    {
        return Err(Fault::Unreadable);
    }
    let mut walk = Walk { api, top: value, whole: frame.is_whole(), path: Vec::new() };
    if walk.is_clean(value) { Ok(()) } else { Err(Fault::Unreadable) }
}

struct Walk<'v> {
    api: Api,
    top: &'v Value,
    whole: bool,
    path: Vec<&'v str>,
}

impl<'v> Walk<'v> {
    fn is_clean(&mut self, value: &'v Value) -> bool {
        match value {
            Value::Array(list) => {
                self.path.push("*");
                let clean = list.iter().all(|item| self.is_clean(item));
                self.path.pop();
                clean
            }
            Value::Object(map) => self.is_clean_map(map, value),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }

    fn is_clean_map(&mut self, map: &'v Map<String, Value>, value: &'v Value) -> bool {
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        let place = self.place(value);
        let is_stray = kinds::is_call(kind) && place != Place::Call;
        if place == Place::Wrong || is_stray || kinds::is_misspelt(kind) {
            return false;
        }
        for (key, inner) in map {
            // Some clients cut a key at a NUL. No API has one there.
            if key.contains('\0') {
                return false;
            }
            let plain = folded(key);
            if !KEYS.contains(&key.as_str()) && FOLDED.contains(&&*plain) {
                return false;
            }
            self.path.push(key);
            let clean = self.is_clean_entry(place, &plain, inner);
            self.path.pop();
            if !clean {
                return false;
            }
        }
        true
    }

    fn is_clean_entry(&mut self, place: Place, plain: &str, inner: &'v Value) -> bool {
        let key = self.path.last().copied().unwrap_or_default();
        // What a tool is given, and what a request offered, is no part of an answer's own shape.
        if (place == Place::Call
            && matches!(
                key,
                "input" | "arguments" | "args" | "action" | "actions" | "operation" | "results"
            ))
            || self.is_echo()
        {
            return true;
        }
        let holds = CALLS.contains(&plain);
        let empty = inner.is_null() || inner.as_array().is_some_and(Vec::is_empty);
        if holds && !empty && !self.is_read(inner) {
            return false;
        }
        self.is_clean(inner)
    }

    /// What an object is, by where it stands.
    fn place(&self, value: &Value) -> Place {
        let kind = self.top["type"].as_str().unwrap_or_default();
        match (self.api, self.path.as_slice()) {
            (Api::Messages, ["content", "*"]) if self.whole => call_if(messages::is_call(value)),
            (Api::Messages, ["message", "content", "*"]) if kind == "message_start" => {
                call_if(messages::is_call(value))
            }
            (Api::Messages, ["content_block"]) if kind == "content_block_start" => {
                call_if(messages::is_call(value))
            }
            (Api::Responses, ["output", "*"]) if self.whole => item(value),
            (Api::Responses, ["response", "output", "*"]) if !self.whole => item(value),
            (Api::Responses, ["item"])
                if matches!(kind, "response.output_item.added" | "response.output_item.done") =>
            {
                item(value)
            }
            (
                Api::Chat,
                ["choices", "*", "delta" | "message", "tool_calls", "*", "function" | "custom"],
            ) => Place::Call,
            (Api::Chat, ["choices", "*", "delta" | "message", "function_call"]) => Place::Call,
            (Api::Gemini, path) => self.gemini(path, value),
            _ => Place::Other,
        }
    }

    fn gemini(&self, path: &[&str], value: &Value) -> Place {
        match self.in_body(path) {
            ["candidates", "*", "content", "parts", "*"] => {
                let both = !value["functionCall"].is_null() && !value["function_call"].is_null();
                let parts = value.as_object().into_iter().flatten();
                let unknown = |(key, inner): (&String, &Value)| {
                    kinds::of(Api::Gemini, key, inner) == Acts::Unknown
                };
                if both || parts.into_iter().any(unknown) { Place::Wrong } else { Place::Other }
            }
            ["candidates", "*", "content", "parts", "*", "functionCall" | "function_call"] => {
                Place::Call
            }
            _ => Place::Other,
        }
    }

    /// Whether the assembler reads the calls that a key holds.
    fn is_read(&self, inner: &Value) -> bool {
        let kind = self.top["type"].as_str().unwrap_or_default();
        match (self.api, self.path.as_slice()) {
            (Api::Chat, ["choices", "*", "delta" | "message", "tool_calls"]) => {
                inner.as_array().is_some_and(|list| list.iter().all(Value::is_object))
            }
            (Api::Chat, ["choices", "*", "delta" | "message", "function_call"]) => {
                inner.is_object()
            }
            (Api::Messages, ["delta", "partial_json"]) => {
                kind == "content_block_delta" && inner.is_string()
            }
            (Api::Gemini, path) => match self.in_body(path) {
                ["candidates", "*", "content", "parts", "*", "functionCall" | "function_call"] => {
                    inner.is_object()
                }
                [.., "functionCall" | "function_call", "partialArgs"] => inner.is_array(),
                _ => false,
            },
            _ => false,
        }
    }

    /// Leaves out what some servers wrap Gemini's answers in.
    fn in_body<'p>(&self, path: &'p [&'v str]) -> &'p [&'v str] {
        match path {
            ["response", rest @ ..] if self.top["response"].is_object() => rest,
            _ if self.top["response"].is_object() => &[],
            _ => path,
        }
    }

    /// Whether an answer repeats here what the request said.
    fn is_echo(&self) -> bool {
        const ECHO: [&str; 6] =
            ["tools", "tool_choice", "instructions", "metadata", "text", "prompt"];
        match self.path.as_slice() {
            [key] => self.api == Api::Responses && self.whole && ECHO.contains(key),
            ["response", key] => self.api == Api::Responses && !self.whole && ECHO.contains(key),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// The assembler reads a call here.
    Call,
    /// Something that cannot be read in one way.
    Wrong,
    Other,
}

fn call_if(is_call: bool) -> Place {
    if is_call { Place::Call } else { Place::Other }
}

fn item(item: &Value) -> Place {
    if item["type"].is_string() { call_if(responses::is_call(item)) } else { Place::Wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_folded() {
        for key in KEYS {
            assert!(FOLDED.contains(&&*folded(key)), "{key}");
        }
        assert!(FOLDED.iter().all(|known| KEYS.iter().any(|key| folded(key) == *known)));
    }
}
