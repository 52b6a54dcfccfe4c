//! Asking a model again.

use serde_json::{Value, json};

use super::super::{Api, Asked, Ending, OnRefusal, Reader, calls};
use super::scripts::{APIS, objects, read, stream};

const GOOD: (&str, &str) = ("write_file", r#"{"path":"a.rs"}"#);
const BAD: (&str, &str) = ("write_file", r#"{"path":"/etc/passwd"}"#);

fn request(api: Api) -> Asked {
    let body = match api {
        Api::Other => json!({}),
        Api::Chat | Api::Messages => {
            json!({"model": "m", "messages": [{"role": "user", "content": "go"}], "kept": 1})
        }
        Api::Responses => json!({"model": "m", "input": "go", "store": false, "kept": 1}),
        Api::Gemini => {
            json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}], "kept": 1})
        }
    };
    Asked::read(api, "/v1beta/models/m:streamGenerateContent", body.to_string().as_bytes()).unwrap()
}

#[test]
fn an_answer_that_follows_a_refused_one_is_read_as_the_rest_of_it() {
    for api in APIS {
        let mut reader = Reader::new(api, OnRefusal::Retry);
        let (first, ending) = read(&mut reader, &stream(api, "let me", &[BAD, BAD]));
        assert!(
            first.contains("let me") && !first.contains("passwd") && !first.contains("NO "),
            "{api:?} {first}"
        );
        let Ending::Refused(refused) = ending else { panic!("{api:?}") };
        assert_eq!(refused.calls.len(), 2, "{api:?}");
        reader.resume();
        let (second, ending) = read(&mut reader, &stream(api, "instead", &[GOOD]));
        assert!(matches!(ending, Ending::Done), "{api:?}");
        let all = format!("{first}{second}");
        let left = calls(api, all.as_bytes()).unwrap();
        assert_eq!(left.len(), 1, "{api:?} {all}");
        let objects = objects(&all);
        match api {
            Api::Other => {}
            Api::Chat => {
                assert!(objects.iter().all(|o| o["id"] == "chatcmpl-1"));
                let usage: Vec<&Value> =
                    objects.iter().map(|o| &o["usage"]).filter(|u| u.is_object()).collect();
                assert_eq!(
                    usage,
                    [&json!({"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30})]
                );
                assert_eq!(all.matches("[DONE]").count(), 1);
            }
            Api::Messages => {
                assert_eq!(all.matches("event: message_start").count(), 1);
                let starts: Vec<u64> = objects
                    .iter()
                    .filter(|o| o["type"] == "content_block_start")
                    .map(|o| o["index"].as_u64().unwrap())
                    .collect();
                assert_eq!(starts, [0, 1, 2], "{all}");
                let end = objects.iter().find(|o| o["type"] == "message_delta").unwrap();
                assert_eq!(end["usage"], json!({"input_tokens": 20, "output_tokens": 10}));
                assert_eq!(end["delta"]["stop_reason"], "tool_use");
            }
            Api::Responses => {
                assert_eq!(all.matches("event: response.created").count(), 1);
                let added: Vec<u64> = objects
                    .iter()
                    .filter(|o| o["type"] == "response.output_item.added")
                    .map(|o| o["output_index"].as_u64().unwrap())
                    .collect();
                assert_eq!(added, [0, 1, 2], "{all}");
                let end = &objects.last().unwrap()["response"];
                assert_eq!(end["usage"]["total_tokens"], 30);
                assert_eq!(end["output"].as_array().unwrap().len(), 3);
                let numbers: Vec<u64> =
                    objects.iter().map(|o| o["sequence_number"].as_u64().unwrap()).collect();
                assert!(numbers.is_sorted(), "{numbers:?}");
            }
            Api::Gemini => {
                assert_eq!(objects.last().unwrap()["usageMetadata"]["totalTokenCount"], 30);
            }
        }
    }
}

#[test]
fn a_message_with_calls_that_are_allowed_is_answered() {
    for api in APIS {
        for tools in [[BAD, GOOD], [GOOD, BAD]] {
            let mut reader = Reader::new(api, OnRefusal::Retry);
            let (out, ending) = read(&mut reader, &stream(api, "x", &tools));
            assert!(matches!(ending, Ending::Done), "{api:?}");
            assert_eq!(calls(api, out.as_bytes()).unwrap().len(), 1, "{api:?}");
            assert!(out.contains("NO write_file"), "{api:?} {out}");
        }
    }
}

#[test]
fn who_gives_up_says_so_in_place_of_the_calls() {
    for api in APIS {
        let mut reader = Reader::new(api, OnRefusal::Retry);
        let (mut out, _) = read(&mut reader, &stream(api, "x", &[BAD]));
        out.push_str(&String::from_utf8(reader.give_up("the end")).unwrap());
        assert!(out.contains(r"NO write_file\n\nthe end"), "{api:?} {out}");
        assert!(calls(api, out.as_bytes()).unwrap().is_empty());
        assert!(
            !out.contains(r#""tool_calls""#) && !out.contains(r#""tool_use""#),
            "{api:?} {out}"
        );
    }
}

#[test]
fn the_model_is_told_what_became_of_its_calls() {
    for api in APIS {
        let mut reader = Reader::new(api, OnRefusal::Retry);
        let Ending::Refused(refused) = read(&mut reader, &stream(api, "let me", &[BAD])).1 else {
            panic!()
        };
        let again = request(api).again(&refused);
        let body: Value = serde_json::from_slice(&again.text()).unwrap();
        assert_eq!(body["kept"], 1);
        match api {
            Api::Other => {}
            Api::Chat => assert_eq!(
                body["messages"],
                json!([
                    {"role": "user", "content": "go"},
                    {"role": "assistant", "content": "let me", "tool_calls": [{"id": "call_0", "type": "function",
                        "function": {"name": "write_file", "arguments": BAD.1}}]},
                    {"role": "tool", "tool_call_id": "call_0", "content": "NO write_file"},
                ])
            ),
            Api::Messages => assert_eq!(
                body["messages"],
                json!([
                    {"role": "user", "content": "go"},
                    {"role": "assistant", "content": [{"type": "text", "text": "let me"},
                        {"type": "tool_use", "id": "call_0", "name": "write_file", "input": {"path": "/etc/passwd"}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0", "is_error": true, "content": "NO write_file"}]},
                ])
            ),
            Api::Responses => {
                let kinds: Vec<&str> = body["input"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|item| item["type"].as_str().unwrap_or("user"))
                    .collect();
                assert_eq!(kinds, ["user", "message", "function_call", "function_call_output"]);
                assert_eq!(
                    body["input"][3],
                    json!({"type": "function_call_output", "call_id": "call_0", "output": "NO write_file"})
                );
            }
            Api::Gemini => assert_eq!(
                body["contents"],
                json!([
                    {"role": "user", "parts": [{"text": "go"}]},
                    {"role": "model", "parts": [{"text": "let me"},
                        {"functionCall": {"id": "call_0", "name": "write_file", "args": {"path": "/etc/passwd"}}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "write_file", "response": {"error": "NO write_file"}, "id": "call_0"}}]},
                ])
            ),
        }
    }
}

#[test]
fn a_conversation_that_the_server_keeps_gets_the_results_that_it_misses() {
    let mut reader = Reader::new(Api::Responses, OnRefusal::Retry);
    let Ending::Refused(refused) = read(&mut reader, &stream(Api::Responses, "x", &[BAD])).1 else {
        panic!()
    };
    let body = json!({"model": "m", "previous_response_id": "resp_1", "input": "go on"});
    let mut next =
        Asked::read(Api::Responses, "/v1/responses", body.to_string().as_bytes()).unwrap();
    assert_eq!(next.previous(), Some("resp_1"));
    next.add_results(&refused.calls);
    next.add_results(&refused.calls);
    let body: Value = serde_json::from_slice(&next.text()).unwrap();
    assert_eq!(
        body["input"],
        json!([
            {"type": "function_call_output", "call_id": "call_0", "output": "NO write_file"},
            {"role": "user", "content": "go on"},
        ])
    );
}

#[test]
fn tools_are_taken_out_of_the_offer() {
    let offers = [
        (
            Api::Chat,
            json!({"tools": [{"type": "function", "function": {"name": "a"}}, {"type": "function", "function": {"name": "b"}}],
            "tool_choice": {"type": "function", "function": {"name": "b"}}}),
            json!({"tools": [{"type": "function", "function": {"name": "a"}}], "tool_choice": "auto"}),
        ),
        (
            Api::Messages,
            json!({"tools": [{"name": "a"}, {"name": "b"}], "tool_choice": {"type": "tool", "name": "b"}}),
            json!({"tools": [{"name": "a"}], "tool_choice": {"type": "auto"}}),
        ),
        (
            Api::Responses,
            json!({"tools": [{"type": "function", "name": "b"}], "tool_choice": "required", "x": 1}),
            json!({"x": 1}),
        ),
        (
            Api::Gemini,
            json!({"tools": [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}],
            "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["a", "b"]}}}),
            json!({"tools": [{"functionDeclarations": [{"name": "a"}]}], "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["a"]}}}),
        ),
    ];
    for (api, body, expected) in offers {
        let mut asked =
            Asked::read(api, "/v1beta/models/m:generateContent", body.to_string().as_bytes())
                .unwrap();
        assert_eq!(asked.offer(&mut |name| name != "b"), 1, "{api:?}");
        assert_eq!(serde_json::from_slice::<Value>(&asked.text()).unwrap(), expected, "{api:?}");
        assert_eq!(asked.offer(&mut |name| name != "b"), 0, "{api:?}");
    }
}

#[test]
fn folders_are_found_where_agents_tell_them() {
    for (api, body) in [
        (
            Api::Messages,
            json!({"system": [{"type": "text", "text": "x\n<env>\nWorking directory: /srv/app\n</env>"}], "messages": []}),
        ),
        (
            Api::Responses,
            json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "<environment_context>\n  <cwd>/srv/app</cwd>\n"}]}]}),
        ),
        (
            Api::Chat,
            json!({"metadata": {"project_root": "/srv/app"}, "messages": [{"role": "system", "content": "- Current working directory: /srv/app"},
            {"role": "tool", "content": "Working directory: /etc"}]}),
        ),
    ] {
        let asked = Asked::read(api, "", body.to_string().as_bytes()).unwrap();
        assert_eq!(asked.folders(), ["/srv/app"], "{api:?}");
    }
}
