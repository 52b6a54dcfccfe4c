//! What a client gets where a call is refused.

use serde_json::{Value, json};

use super::super::{Api, calls};
use super::scripts::{APIS, answered, objects, stream};

const GOOD: (&str, &str) = ("read_file", r#"{"path":"a.rs"}"#);
const BAD: (&str, &str) = ("write_file", r#"{"path":"/etc/passwd"}"#);

#[test]
fn what_is_allowed_passes_byte_for_byte() {
    for api in APIS {
        let sent = stream(api, "hello", &[GOOD, GOOD]);
        assert_eq!(answered(api, &sent), sent, "{api:?}");
    }
}

#[test]
fn other_calls_of_a_message_survive_and_no_half_call_is_left() {
    for api in APIS {
        for tools in [vec![GOOD, BAD], vec![BAD, GOOD], vec![BAD, GOOD, BAD, GOOD]] {
            let out = answered(api, &stream(api, "hello", &tools));
            let left = calls(api, out.as_bytes()).unwrap();
            let kept = tools.iter().filter(|tool| **tool == GOOD).count();
            assert_eq!(left.len(), kept, "{api:?} {out}");
            assert!(
                left.iter().all(|call| (call.name.as_str(), call.arguments.as_str()) == GOOD),
                "{left:?}"
            );
            assert!(!out.contains("passwd"), "{api:?} {out}");
            assert!(out.contains("NO write_file"), "{api:?} {out}");
        }
    }
}

#[test]
fn a_message_without_calls_left_ends_as_text_does() {
    for api in APIS {
        let out = answered(api, &stream(api, "hello", &[BAD]));
        assert!(calls(api, out.as_bytes()).unwrap().is_empty(), "{api:?} {out}");
        let objects = objects(&out);
        match api {
            Api::Other => {}
            Api::Chat => {
                let reasons: Vec<&Value> = objects
                    .iter()
                    .flat_map(|o| o["choices"].as_array().unwrap())
                    .map(|c| &c["finish_reason"])
                    .collect();
                assert!(
                    reasons.contains(&&json!("stop")) && !reasons.contains(&&json!("tool_calls")),
                    "{out}"
                );
                assert!(out.ends_with("data: [DONE]\n\n"));
            }
            Api::Messages => {
                assert_eq!(objects[objects.len() - 2]["delta"]["stop_reason"], "end_turn");
            }
            Api::Responses => {
                let answer = &objects.last().unwrap()["response"];
                assert_eq!(answer["output"][1]["content"][0]["text"], "NO write_file");
                assert_eq!(answer["output"][1]["id"], "msg_0");
                let numbers: Vec<u64> =
                    objects.iter().map(|o| o["sequence_number"].as_u64().unwrap()).collect();
                assert!(numbers.is_sorted(), "{numbers:?}");
            }
            Api::Gemini => {
                let candidate = &objects[1]["candidates"][0];
                assert_eq!(candidate["content"]["parts"], json!([{"text": "NO write_file"}]));
                assert_eq!(candidate["finishReason"], "STOP");
            }
        }
    }
}

#[test]
fn calls_that_stay_are_counted_without_gaps() {
    let out = answered(Api::Chat, &stream(Api::Chat, "", &[BAD, GOOD]));
    for object in objects(&out) {
        for entry in object["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            assert_eq!(entry["index"], 0, "{out}");
        }
    }
}

#[test]
fn an_answer_in_one_object_is_treated_alike() {
    let answers = [
        (
            Api::Chat,
            json!({"id": "c", "unknown": 1.50, "choices": [{"index": 0, "finish_reason": "tool_calls", "message":
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call_0", "type": "function",
            "function": {"name": "write_file", "arguments": BAD.1}}]}}]}),
        ),
        (
            Api::Chat,
            json!({"choices": [{"finish_reason": "function_call", "message": {"role": "assistant", "content": "x",
            "function_call": {"name": "write_file", "arguments": BAD.1}}}]}),
        ),
        (
            Api::Messages,
            json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "text", "text": "x"}, {"type": "tool_use", "id": "t", "name": "write_file", "input": {"path": "/etc/passwd"}}]}),
        ),
        (
            Api::Responses,
            json!({"id": "resp_1", "output": [{"type": "function_call", "id": "fc_1", "call_id": "call_1",
            "name": "write_file", "arguments": BAD.1}]}),
        ),
        (
            Api::Gemini,
            json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall":
            {"name": "write_file", "args": {"path": "/etc/passwd"}}}]}, "finishReason": "STOP"}]}),
        ),
        (
            Api::Gemini,
            json!({"response": {"candidates": [{"content": {"parts": [{"functionCall":
            {"name": "write_file", "args": {"path": "/etc/passwd"}}}]}}]}}),
        ),
        (
            Api::Gemini,
            json!([{"candidates": [{"content": {"parts": [{"functionCall":
            {"name": "write_file", "args": {"path": "/etc/passwd"}}}]}}]}]),
        ),
    ];
    for (api, answer) in answers {
        let out = answered(api, &answer.to_string());
        assert!(!out.contains("passwd") && out.contains("NO write_file"), "{out}");
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "{out}");
        assert!(!out.contains("tool_use") && !out.contains("\"tool_calls\""), "{out}");
        let allowed = answer.to_string().replace("/etc/passwd", "a.rs");
        let spaced = format!(" {allowed}\n");
        assert_eq!(answered(api, &spaced), spaced, "as it came");
    }
}
