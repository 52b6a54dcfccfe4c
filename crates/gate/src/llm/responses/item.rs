//! What an item of an answer is, and what stands in place of a call.

use serde_json::{Value, json};

use crate::llm::{By, Call, NAMELESS};

/// Whether an item is a call, whoever carries it out: the API names all of them alike.
pub(in crate::llm) fn is_call(item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or_default();
    kind.ends_with("_call")
}

/// Whether an event is about a call that a client carries out.
pub(in crate::llm) fn is_of_call(kind: &str) -> bool {
    let kind = kind.strip_prefix("response.").unwrap_or(kind);
    let of =
        ["function_call", "custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call"];
    of.into_iter().any(|of| kind.starts_with(of)) && !kind.starts_with("shell_call_output")
}

/// Reads an item that is a call.
pub(super) fn read(item: &Value, place: (u64, u64)) -> Call {
    let text = |key: &str| item[key].as_str().filter(|text| !text.is_empty());
    let kind = text("type").unwrap_or_default();
    let id = text("call_id").or(text("id")).unwrap_or_default();
    let name = text("name").unwrap_or(kind);
    let (tool, by) = match kind {
        "local_shell_call" => ("local_shell", By::Client),
        "shell_call" if item["environment"]["type"] == "container_reference" => {
            ("shell", By::Server)
        }
        "shell_call" => ("shell", By::Client),
        "apply_patch_call" => ("apply_patch", By::Client),
        "computer_call" => ("computer", By::Client),
        "tool_search_call" if item["execution"] == "server" => ("", By::Server),
        "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "mcp_call" => ("", By::Server),
        _ => ("", By::Client),
    };
    let body = ["arguments", "action", "operation", "input", "code", "queries"];
    let body = body.into_iter().map(|key| (key, &item[key])).find(|(_, value)| !value.is_null());
    let arguments = match body {
        Some(("input", Value::String(text))) => text.clone(),
        Some(("arguments", Value::String(text))) => text.clone(),
        Some((_, value)) => value.to_string(),
        None => item.to_string(),
    };
    // A tool that takes any text.
    let of_text = matches!(body, Some(("input", Value::String(_))));
    let make = if of_text { Call::of_text } else { Call::new };
    let mut call = make(id, name, arguments, place);
    (call.tool, call.by) = (tool, by);
    call.kind = output(kind);
    if matches!(kind, "function_call" | "custom_tool_call") && text("name").is_none() {
        call.flaw = Some(NAMELESS);
    }
    if by == By::Server {
        call.flaw = None;
    }
    call
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

/// Returns the kind of item that answers a kind of call.
fn output(kind: &str) -> &'static str {
    match kind {
        "custom_tool_call" => "custom_tool_call_output",
        "local_shell_call" => "local_shell_call_output",
        "shell_call" => "shell_call_output",
        "apply_patch_call" => "apply_patch_call_output",
        _ => "function_call_output",
    }
}
