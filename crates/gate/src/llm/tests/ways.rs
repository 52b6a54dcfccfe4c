//! Calls that are told in two ways: what one client reads is not what another does, and not what is
//! judged.

use serde_json::{Value, json};

use super::super::{Api, Call, OnRefusal, Reader, Ruling};
use super::hidden::{delta, ends, events, passed, stop, with};
use super::items::{added, done};
use super::scripts::objects;

pub(super) const EVIL: &str = r#"{"path":"/etc/passwd"}"#;
pub(super) const SAFE: &str = r#"{"path":"a.rs"}"#;

/// Reads an answer of which every call would be allowed, and checks that no client gets any of what
/// it must not see.
pub(super) fn refused(api: Api, answer: &str) {
    let (out, fault, _) = passed(api, answer.as_bytes());
    assert!(fault.is_none(), "{api:?} {answer}");
    assert!(!out.contains("/etc/passwd"), "{api:?} {answer} -> {out}");
    assert!(out.contains("told in two ways"), "{api:?} {answer} -> {out}");
}

pub(super) fn same(api: Api, answer: &str, calls: usize) {
    let (out, fault, judged) = passed(api, answer.as_bytes());
    assert_eq!((out.as_str(), fault, judged), (answer, None, calls), "{api:?} {answer}");
}

fn chunk(choices: Value) -> Value {
    json!({"id": "x", "choices": choices})
}

fn entry(index: u64, id: &str, arguments: &str) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": "f", "arguments": arguments}})
}

#[test]
fn text_that_overtakes_a_call_carries_none() {
    let calls =
        json!({"role": "assistant", "content": "later", "tool_calls": [entry(0, "c", EVIL)]});
    let older = json!({"function_call": {"name": "f", "arguments": EVIL}});
    let end = chunk(json!([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]));
    for choices in [
        json!([{"index": 0, "delta": {"content": "first"}, "message": calls}]),
        json!([{"index": 0, "delta": {"content": "first"}, "message": older}]),
        json!([{"index": 0, "delta": {"content": "first", "tool_calls": calls["tool_calls"]}, "message": calls}]),
        json!([{"index": 0, "delta": {"content": "first"}}, {"index": 1, "delta": {}, "message": calls}]),
        json!([{"index": 0, "delta": {"content": "first"}}, {"index": 1, "message": older}]),
    ] {
        let mut judge = |_: &Call| Ruling::Swallow("NO".into());
        let mut reader = Reader::new(Api::Chat, OnRefusal::Answer);
        let answer = events(&[chunk(choices.clone())]);
        let first = reader.push(answer.as_bytes(), &mut judge).unwrap();
        let first = String::from_utf8(first).unwrap();
        assert!(first.contains("first") && !first.contains("/etc/passwd"), "{choices} {first}");
        assert!(!first.contains("later") && !first.contains("\"delta\":null"), "{choices} {first}");
        let mut rest =
            reader.push(events(std::slice::from_ref(&end)).as_bytes(), &mut judge).unwrap();
        rest.extend(reader.push(b"data: [DONE]\n\n", &mut judge).unwrap());
        let rest = String::from_utf8(rest).unwrap();
        assert!(rest.contains("NO") && !rest.contains("/etc/passwd"), "{choices} {rest}");
        assert!(
            objects(&rest).iter().all(|object| object["choices"][0]["delta"]["content"] != "first")
        );
    }
}

#[test]
fn an_entry_has_one_name_one_body_and_one_number() {
    let whole = |entry: &Value| {
        chunk(
            json!([{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": "tool_calls"}]),
        )
    };
    for (key, value) in [
        ("name", json!("/etc/passwd")),
        ("input", json!({"path": "/etc/passwd"})),
        ("args", json!({"path": "/etc/passwd"})),
        ("arguments", json!(EVIL)),
        ("tool_name", json!("/etc/passwd")),
    ] {
        let odd = with(entry(0, "a", SAFE), key, Some(value.clone()));
        refused(Api::Chat, &events(&[whole(&odd)]));
        let alone = json!({"index": 0, key: value});
        let first = chunk(json!([{"index": 0, "delta": {"tool_calls": [entry(0, "a", SAFE)]}}]));
        refused(Api::Chat, &events(&[first, whole(&alone)]));
    }
    let mut odd = entry(0, "a", SAFE);
    odd["function"]["tool_input"] = json!(EVIL);
    refused(Api::Chat, &events(&[whole(&odd)]));
    for (key, value) in [
        ("name", json!("f")),
        ("arguments", json!(SAFE)),
        ("input", json!("")),
        ("name", Value::Null),
    ] {
        let fine = with(entry(0, "a", SAFE), key, Some(value));
        same(Api::Chat, &events(&[whole(&fine)]), 1);
    }
    let two =
        json!([{"index": 0, "delta": {"tool_calls": [entry(0, "a", ""), entry(1, "a", EVIL)]}}]);
    ends(Api::Chat, &events(&[chunk(two)]));
    let first =
        json!([{"index": 0, "delta": {"tool_calls": [entry(0, "a", ""), entry(1, "b", "")]}}]);
    let crossed = json!([{"index": 0, "delta": {"tool_calls": [entry(0, "b", EVIL)]}}]);
    ends(Api::Chat, &events(&[chunk(first), chunk(crossed)]));
    // Each choice counts for itself.
    let choice = |index: u64| json!({"index": index, "delta": {"tool_calls": [entry(index, "f:0", SAFE)]}, "finish_reason": "tool_calls"});
    same(Api::Chat, &events(&[chunk(json!([choice(0), choice(1)]))]), 1);
}

#[test]
fn arguments_come_whole_or_in_pieces() {
    let part = |call: Value| json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}, "index": 0}]});
    let told = |calls: &[Value]| events(&calls.iter().cloned().map(part).collect::<Vec<_>>());
    let piece = |path: &str| json!([{"jsonPath": "$.path", "stringValue": path}]);
    let (safe, evil) = (json!({"path": "a.rs"}), json!({"path": "/etc/passwd"}));
    for calls in [
        vec![json!({"name": "f", "args": safe, "partialArgs": piece("/etc/passwd")})],
        vec![json!({"name": "f", "args": evil, "partialArgs": piece("a.rs")})],
        vec![
            json!({"name": "f", "args": safe, "willContinue": true}),
            json!({"partialArgs": piece("/etc/passwd")}),
        ],
        vec![
            json!({"name": "f", "partialArgs": piece("a.rs"), "willContinue": true}),
            json!({"args": evil}),
        ],
        vec![json!({"name": "f", "args": safe, "willContinue": true}), json!({"args": evil})],
        vec![json!({"name": "f", "willContinue": true}), json!({"args": evil})],
        vec![
            json!({"name": "f", "willContinue": true}),
            json!({"partialArgs": piece("a.rs"), "parameters": evil}),
        ],
        vec![json!({"name": "f", "partialArgs": [piece("src")[0], piece("/etc/passwd")[0]]})],
        vec![
            json!({"name": "f", "partialArgs": piece("src"), "willContinue": true}),
            json!({"partialArgs": piece("/etc/passwd")}),
        ],
    ] {
        refused(Api::Gemini, &told(&calls));
    }
    // By their numbers, the second piece goes to the other call.
    let candidate = |index: u64, call: Value| json!({"content": {"parts": [{"functionCall": call}]}, "index": index});
    let goes_on = |name: &str| json!({"name": name, "willContinue": true});
    let crossed = [
        json!({"candidates": [candidate(1, goes_on("read")), candidate(0, goes_on("write"))]}),
        json!({"candidates": [candidate(0, json!({"partialArgs": piece("/etc/passwd")}))]}),
        json!({"candidates": [candidate(1, json!({})), candidate(0, json!({}))]}),
    ];
    refused(Api::Gemini, &events(&crossed));
    let other = [
        json!({"name": "f", "id": "a", "willContinue": true}),
        json!({"id": "b", "partialArgs": piece("/etc/passwd")}),
    ];
    refused(Api::Gemini, &told(&other));
    for key in ["will_continue", "partial_args", "Args"] {
        ends(Api::Gemini, &told(&[json!({"name": "f", "args": evil, key: true})]));
    }
    let more = json!([{"jsonPath": "$.path", "stringValue": "a", "willContinue": true}]);
    for calls in [
        vec![json!({"name": "f", "args": safe}), json!({"name": "f", "args": {}})],
        vec![
            json!({"name": "f", "args": {}, "willContinue": true}),
            json!({"partialArgs": more, "willContinue": true}),
            json!({"partialArgs": piece(".rs"), "willContinue": true}),
            json!({}),
        ],
    ] {
        let count = calls.iter().filter(|call| call["name"].is_string()).count();
        same(Api::Gemini, &told(&calls), count);
    }
}

#[test]
fn a_block_grows_by_its_own_pieces_alone() {
    let block = json!({"type": "tool_use", "id": "t", "name": "write_file", "input": {}});
    let start =
        |block: &Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    for odd in [
        json!({"type": "text_delta", "text": EVIL}),
        json!({"type": "thinking_delta", "thinking": EVIL}),
        json!({"type": "input_json_delta", "partial_json": "{}", "input": {"path": "/etc/passwd"}}),
        json!({"type": "input_json_delta", "partial_json": "{}", "text": EVIL}),
        json!({"type": "input_json_delta", "partial_json": "{}", "name": "/etc/passwd"}),
        json!({"type": "input_json_delta", "partial_json": "{}", "tool_input": EVIL}),
    ] {
        ends(Api::Messages, &events(&[start(&block), with(delta(0), "delta", Some(odd)), stop(0)]));
    }
    for (key, value) in [
        ("arguments", json!(EVIL)),
        ("tool_name", json!("/etc/passwd")),
        ("toolInput", json!(EVIL)),
        ("function", json!({"name": "write_file", "arguments": EVIL})),
    ] {
        let odd = with(block.clone(), key, Some(value));
        refused(Api::Messages, &events(&[start(&odd), stop(0)]));
        refused(
            Api::Messages,
            &json!({"type": "message", "role": "assistant", "content": [odd]}).to_string(),
        );
    }
    let fine = with(block, "caller", Some(json!({"type": "direct"})));
    let plain = json!({"type": "input_json_delta", "partial_json": "{}", "text": "", "p": "ab"});
    same(Api::Messages, &events(&[start(&fine), with(delta(0), "delta", Some(plain)), stop(0)]), 1);
}

#[test]
fn keys_that_look_like_those_of_calls_end_the_answer() {
    for key in [
        "tool_calls\0",
        "tool_calls\0x",
        "tool_calls ",
        " tool_calls",
        "tool_calls\t",
        "tool_calls\n",
        "tool-calls",
        "toolCalls",
        "\u{feff}tool_calls",
        "tool_calls\u{200b}",
        "tool\u{ad}_calls",
        "TOOL_CALLS",
    ] {
        let call = json!([{"index": 0, "delta": {key: [entry(0, "a", EVIL)]}}]);
        ends(Api::Chat, &events(&[chunk(call)]));
    }
    for key in ["delta\0", "\u{feff}delta", "mes-sage"] {
        let call =
            json!([{"index": 0, "delta": {"content": "x"}, key: {"content": "/etc/passwd"}}]);
        ends(Api::Chat, &events(&[chunk(call)]));
    }
    for kind in ["function_call\0", "function_call\n", "\u{feff}function_call", "function-call"] {
        let odd = json!({"type": kind, "id": "i", "name": "f", "arguments": EVIL});
        ends(Api::Responses, &events(&[added(&odd), done(&odd)]));
    }
    for key in ["functionCall\0", "functionCall ", "\u{feff}functionCall", "function-call"] {
        let part = json!({"candidates": [{"content": {"parts": [{key: {"name": "f", "args": {"path": "/etc/passwd"}}}]}}]});
        ends(Api::Gemini, &events(&[part]));
    }
}
