//! Answers of models, as servers write them.

use serde_json::{Value, json};

use super::super::{Api, Call, Ending, OnRefusal, Reader, Ruling};

pub(super) const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Messages, Api::Gemini];

/// Writes an answer that says a text and asks for tools, as a stream.
pub(super) fn stream(api: Api, text: &str, tools: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut event = |value: Value| match api {
        Api::Chat | Api::Gemini | Api::Other => out.push_str(&format!("data: {value}\n\n")),
        Api::Responses | Api::Messages => {
            out.push_str(&format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()));
        }
    };
    let halves = |text: &str| {
        let (a, b) = text.split_at(text.len() / 2);
        [a.to_owned(), b.to_owned()]
    };
    match api {
        Api::Other => {}
        Api::Chat => {
            let mut chunk = |delta: Value, end: Value| {
                event(
                    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}),
                );
            };
            chunk(json!({"role": "assistant", "content": ""}), Value::Null);
            chunk(json!({"content": text}), Value::Null);
            for (at, (name, _)) in tools.iter().enumerate() {
                chunk(
                    json!({"tool_calls": [{"index": at, "id": format!("call_{at}"), "type": "function",
                    "function": {"name": name, "arguments": ""}}]}),
                    Value::Null,
                );
            }
            // Side by side, as nothing forbids.
            for half in 0..2 {
                for (at, (_, arguments)) in tools.iter().enumerate() {
                    chunk(
                        json!({"tool_calls": [{"index": at, "function": {"arguments": halves(arguments)[half]}}]}),
                        Value::Null,
                    );
                }
            }
            chunk(json!({}), if tools.is_empty() { "stop" } else { "tool_calls" }.into());
            event(
                json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}),
            );
            out.push_str("data: [DONE]\n\n");
        }
        Api::Messages => {
            event(
                json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
                "model": "m", "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}}}),
            );
            event(
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            );
            event(json!({"type": "ping"}));
            event(
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            );
            event(json!({"type": "content_block_stop", "index": 0}));
            for (at, (name, arguments)) in tools.iter().enumerate() {
                let index = at + 1;
                event(json!({"type": "content_block_start", "index": index,
                    "content_block": {"type": "tool_use", "id": format!("call_{at}"), "name": name, "input": {}}}));
                for half in halves(arguments) {
                    event(
                        json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": half}}),
                    );
                }
                event(json!({"type": "content_block_stop", "index": index}));
            }
            let stop = if tools.is_empty() { "end_turn" } else { "tool_use" };
            event(
                json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 5}}),
            );
            event(json!({"type": "message_stop"}));
        }
        Api::Gemini => {
            event(
                json!({"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}}),
            );
            let mut parts: Vec<Value> = tools.iter().enumerate().map(|(at, (name, arguments))| {
                let arguments: Value = serde_json::from_str(arguments).unwrap();
                json!({"functionCall": {"id": format!("call_{at}"), "name": name, "args": arguments}})
            }).collect();
            if parts.is_empty() {
                parts.push(json!({"text": ""}));
            }
            event(
                json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}),
            );
        }
        Api::Responses => {
            let mut number = 0;
            let mut event = |mut value: Value| {
                value["sequence_number"] = number.into();
                number += 1;
                event(value);
            };
            let answer = |status: &str, output: Value, usage: Value| {
                json!({"id": "resp_1", "object": "response", "created_at": 1,
                "status": status, "model": "m", "output": output, "usage": usage, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []})
            };
            event(
                json!({"type": "response.created", "response": answer("in_progress", json!([]), Value::Null)}),
            );
            let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
            let message = |content: Value, status: &str| json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content});
            event(
                json!({"type": "response.output_item.added", "output_index": 0, "item": message(json!([]), "in_progress")}),
            );
            event(
                json!({"type": "response.content_part.added", "output_index": 0, "item_id": "msg_1", "content_index": 0, "part": part("")}),
            );
            event(
                json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1", "content_index": 0, "delta": text}),
            );
            event(
                json!({"type": "response.output_text.done", "output_index": 0, "item_id": "msg_1", "content_index": 0, "text": text}),
            );
            event(
                json!({"type": "response.content_part.done", "output_index": 0, "item_id": "msg_1", "content_index": 0, "part": part(text)}),
            );
            event(
                json!({"type": "response.output_item.done", "output_index": 0, "item": message(json!([part(text)]), "completed")}),
            );
            let mut output = vec![message(json!([part(text)]), "completed")];
            for (at, (name, arguments)) in tools.iter().enumerate() {
                let item = |arguments: &str, status: &str| {
                    json!({"id": format!("fc_{at}"), "type": "function_call", "status": status,
                    "call_id": format!("call_{at}"), "name": name, "arguments": arguments})
                };
                let index = at + 1;
                event(
                    json!({"type": "response.output_item.added", "output_index": index, "item": item("", "in_progress")}),
                );
                for half in halves(arguments) {
                    event(
                        json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": format!("fc_{at}"), "delta": half}),
                    );
                }
                event(
                    json!({"type": "response.function_call_arguments.done", "output_index": index, "item_id": format!("fc_{at}"), "arguments": arguments}),
                );
                event(
                    json!({"type": "response.output_item.done", "output_index": index, "item": item(arguments, "completed")}),
                );
                output.push(item(arguments, "completed"));
            }
            let usage = json!({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15});
            event(
                json!({"type": "response.completed", "response": answer("completed", output.into(), usage)}),
            );
        }
    }
    out
}

/// Refuses what is to be written outside.
pub(super) fn judge(call: &Call) -> Ruling {
    if call.arguments.contains("/etc/") {
        Ruling::Swallow(format!("NO {}", call.name))
    } else {
        Ruling::Release
    }
}

pub(super) fn read(reader: &mut Reader, answer: &str) -> (String, Ending) {
    let mut out = reader.push(answer.as_bytes(), &mut judge).unwrap();
    let (rest, ending) = reader.end(&mut judge).unwrap();
    out.extend(rest);
    (String::from_utf8(out).unwrap(), ending)
}

pub(super) fn answered(api: Api, answer: &str) -> String {
    read(&mut Reader::new(api, OnRefusal::Answer), answer).0
}

/// Returns the objects of a stream.
pub(super) fn objects(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}
