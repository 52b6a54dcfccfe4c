//! What an item of an answer is, and what stands in place of a call.

use serde_json::{Value, json};

use crate::llm::kinds::{self, Acts};
use crate::llm::{Api, By, Call, NAMELESS, TORN, UNKNOWN};

/// Who runs the shell of an answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in crate::llm) enum Shell {
    /// The client, as far as anybody knows.
    #[default]
    Client,
    /// A container of the API's: the client asked for one, and for no other shell.
    Hosted,
}

/// Whether an item is a call, whoever carries it out.
pub(in crate::llm) fn is_call(item: &Value) -> bool {
    kinds::of(Api::Responses, kind(item), item) != Acts::Nobody
}

/// Whether an item is a call that the API's own servers carry out, by its kind.
pub(super) fn is_of_server(item: &Value) -> bool {
    kinds::of(Api::Responses, kind(item), item) == Acts::Server
}

/// Reads an item that is a call.
pub(super) fn read(item: &Value, place: (u64, u64), shell: Shell) -> Call {
    let text = |key: &str| item[key].as_str().filter(|text| !text.is_empty());
    let kind = kind(item);
    let id = text("call_id").or(text("id")).unwrap_or_default();
    let name = text("name").unwrap_or(kind);
    let asks = match kinds::of(Api::Responses, kind, item) {
        Acts::Client(asks) => asks,
        Acts::Server => {
            let call = Call::new(id, name, told(item), place);
            return Call { by: By::Server, flaw: None, ..call };
        }
        Acts::Nobody | Acts::Said | Acts::Unknown => {
            let call = Call::new(id, name, item.to_string(), place);
            return Call { flaw: Some(UNKNOWN), kind: "function_call_output", ..call };
        }
    };
    let body = kinds::body(item, asks.body);
    let mut call = match body.as_deref() {
        // A tool that takes any text.
        Some([("input", Value::String(text))]) => Call::of_text(id, name, text.clone(), place),
        Some([("arguments", Value::String(text))]) => Call::new(id, name, text.clone(), place),
        Some([(key, value @ Value::Array(_))]) => {
            Call::new(id, name, json!({ *key: value }).to_string(), place)
        }
        Some([(_, value)]) => Call::new(id, name, value.to_string(), place),
        Some(_) | None => Call::new(id, name, item.to_string(), place),
    };
    (call.tool, call.kind) = (asks.tool, asks.answer);
    if asks.tool.is_empty() && text("name").is_none() {
        call.flaw = Some(NAMELESS);
    }
    if body.is_none() || kinds::is_beside(item, asks.body) {
        call.flaw = Some(TORN);
    }
    // What the item says of itself is not enough: whoever asked must have asked for it.
    let elsewhere = item["environment"]["type"] == "container_reference";
    if asks.hosted && elsewhere && shell == Shell::Hosted {
        (call.by, call.flaw) = (By::Server, None);
    }
    call
}

fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or_default()
}

/// Returns what a call of a server says, for those who list it.
fn told(item: &Value) -> String {
    let body = ["arguments", "action", "operation", "input", "code", "queries"];
    let body = body.into_iter().map(|key| &item[key]).find(|value| !value.is_null());
    match body {
        Some(Value::String(text)) if item["code"].is_null() => text.clone(),
        Some(value) => value.to_string(),
        None => item.to_string(),
    }
}

/// Returns the message that stands in place of a call. Its id follows from the call's, so that it is
/// the same wherever it is told.
pub(super) fn message(item: &Value, text: &str, status: &str) -> Value {
    let id = item["id"].as_str().or(item["call_id"].as_str()).unwrap_or_default();
    let id = id.split_once('_').map_or(id, |(_, id)| id);
    json!({
        "id": format!("msg_{id}"),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }],
    })
}
