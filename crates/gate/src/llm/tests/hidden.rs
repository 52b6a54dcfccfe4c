//! Calls in places and shapes where no reader of ours looks, and clients may.

use serde_json::{Value, json};

use super::super::{Api, Call, Fault, OnRefusal, Reader, Ruling};
use super::scripts::{APIS, stream};

/// Returns what is passed on of an answer, and why no more is. Every call is allowed, and counted.
pub(super) fn passed(api: Api, answer: &[u8]) -> (String, Option<Fault>, usize) {
    let mut judged = 0;
    let mut judge = |_: &Call| {
        judged += 1;
        Ruling::Release
    };
    let mut reader = Reader::new(api, OnRefusal::Answer);
    let mut out = Vec::new();
    let fault = match reader.push(answer, &mut judge) {
        Ok(bytes) => {
            out.extend(bytes);
            match reader.end(&mut judge) {
                Ok((bytes, _)) => {
                    out.extend(bytes);
                    None
                }
                Err(fault) => Some(fault),
            }
        }
        Err(fault) => Some(fault),
    };
    (String::from_utf8_lossy(&out).into_owned(), fault, judged)
}

pub(super) fn ends(api: Api, answer: &str) {
    let (out, fault, _) = passed(api, answer.as_bytes());
    assert_eq!(fault, Some(Fault::Unreadable), "{api:?} {answer} -> {out}");
    assert!(!out.contains("/etc/passwd"), "{api:?} {answer} -> {out}");
}

pub(super) fn events(values: &[Value]) -> String {
    values.iter().map(|value| format!("data: {value}\n\n")).collect()
}

/// Sets a key, or takes it out.
pub(super) fn with(mut value: Value, key: &str, new: Option<Value>) -> Value {
    match new {
        Some(new) => value[key] = new,
        None => drop(value.as_object_mut().unwrap().remove(key)),
    }
    value
}

fn odd() -> [Option<Value>; 6] {
    [
        None,
        Some(json!("0")),
        Some(json!(0.0)),
        Some(Value::Null),
        Some(json!(-1)),
        Some(json!(u64::MAX)),
    ]
}

fn start(index: u64, input: Value) -> Value {
    json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": "t", "name": "write_file", "input": input}})
}

pub(super) fn delta(index: u64) -> Value {
    json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": "{\"path\":\"/etc/passwd\"}"}})
}

pub(super) fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

#[test]
fn a_piece_of_a_block_without_a_number_ends_the_answer() {
    for odd in odd() {
        let all = [start(0, json!({})), delta(0), stop(0)];
        let each = |at: usize| {
            let mut events = all.clone();
            events[at] = with(events[at].clone(), "index", odd.clone());
            events
        };
        for at in 0..3 {
            ends(Api::Messages, &events(&each(at)));
        }
        let none = all.clone().map(|event| with(event, "index", odd.clone()));
        ends(Api::Messages, &events(&none));
        let full = start(0, json!({"path": "/etc/passwd"}));
        ends(Api::Messages, &events(&[with(full, "index", odd.clone())]));
    }
}

#[test]
fn an_item_without_a_number_ends_the_answer() {
    let item = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "write_file",
        "arguments": "{\"path\":\"/etc/passwd\"}"});
    for odd in odd() {
        for event in [
            json!({"type": "response.output_item.done", "item": item}),
            json!({"type": "response.output_item.added", "item": item}),
            json!({"type": "response.function_call_arguments.delta", "delta": "{\"path\":\"/etc/passwd\"}"}),
            json!({"type": "response.function_call_arguments.done", "arguments": "{\"path\":\"/etc/passwd\"}"}),
        ] {
            ends(Api::Responses, &events(&[with(event, "output_index", odd.clone())]));
        }
    }
}

#[test]
fn what_comes_before_a_start_or_behind_a_stop_ends_the_answer() {
    ends(Api::Messages, &events(&[start(0, json!({})), stop(0), delta(0)]));
    ends(Api::Messages, &events(&[delta(0), start(0, json!({})), stop(0)]));
    ends(Api::Messages, &events(&[stop(0)]));
    let close = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    ends(Api::Messages, &events(&[start(0, json!({})), close, delta(0)]));
    // A second block under one number: which of both was judged?
    ends(
        Api::Messages,
        &events(&[start(0, json!({})), stop(0), start(0, json!({"path": "/etc/passwd"})), stop(0)]),
    );
    ends(
        Api::Messages,
        &events(&[
            start(0, json!({"path": "/etc/passwd"})),
            start(1, json!({})),
            stop(0),
            start(0, json!({})),
            stop(0),
            stop(1),
        ]),
    );
    let text = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    ends(Api::Messages, &events(&[text, delta(0), stop(0)]));
}

#[test]
fn an_item_that_is_told_twice_ends_the_answer() {
    let done = |arguments: &str| {
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "function_call",
            "id": "f", "call_id": "c", "name": "write_file", "arguments": arguments}})
    };
    let open = json!({"type": "response.output_item.added", "output_index": 1,
        "item": {"type": "function_call", "name": "x", "arguments": ""}});
    ends(Api::Responses, &events(&[open, done("{\"path\":\"/etc/passwd\"}"), done("{}")]));
    let piece = json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"path\":\"/etc/passwd\"}"});
    ends(Api::Responses, &events(&[done("{}"), piece]));
}

#[test]
fn pieces_of_a_choice_that_has_ended_end_the_answer() {
    let chunk = |entry: Value, reason: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": reason}]});
    let first = chunk(
        json!({"index": 0, "id": "a", "function": {"name": "write_file", "arguments": ""}}),
        "tool_calls".into(),
    );
    let later = chunk(
        json!({"index": 0, "function": {"name": "note", "arguments": "{\"path\":\"/etc/passwd\"}"}}),
        Value::Null,
    );
    ends(Api::Chat, &events(&[first, later]));
    for odd in [json!("0"), json!(0.5), json!(-1)] {
        let entry = json!({"index": odd, "id": "a", "function": {"name": "write_file", "arguments": "{\"path\":\"/etc/passwd\"}"}});
        ends(Api::Chat, &events(&[chunk(entry, "tool_calls".into())]));
    }
}

#[test]
fn what_is_not_utf_8_ends_the_answer() {
    for api in APIS {
        let whole = r#"{"x":"/etc/passwd"}"#.to_owned();
        for text in [stream(api, "", &[("write_file", r#"{"path":"/etc/passwd"}"#)]), whole] {
            let units: Vec<u16> = text.encode_utf16().collect();
            let chars: Vec<u32> = text.chars().map(u32::from).collect();
            let mut forms: Vec<Vec<u8>> = vec![
                units.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
                units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
                chars.iter().flat_map(|c| c.to_le_bytes()).collect(),
                chars.iter().flat_map(|c| c.to_be_bytes()).collect(),
            ];
            for mark in [&[0xff, 0xfe][..], &[0xfe, 0xff], &[0xff, 0xfe, 0, 0], &[0, 0, 0xfe, 0xff]]
            {
                forms.extend(forms.clone().iter().take(4).map(|form| [mark, form].concat()));
            }
            for form in forms {
                let (out, fault, _) = passed(api, &form);
                assert_eq!(
                    (out.as_str(), fault),
                    ("", Some(Fault::Unreadable)),
                    "{api:?} {:?}",
                    &form[..8]
                );
            }
        }
        for text in ["\"x\"", "1", "<html>", "/*x*/{\"a\":1}", "\0{}", "null"] {
            let (out, fault, _) = passed(api, text.as_bytes());
            assert!(fault.is_some(), "{api:?} {text:?} {out}");
        }
    }
}

#[test]
fn lines_that_only_lenient_clients_read_end_the_answer() {
    for api in APIS {
        for answer in [
            "data: 1\ndata: {\"x\":\"/etc/passwd\"}\n\n",
            " data: {\"x\":\"/etc/passwd\"}\n\n",
            "Data: {\"x\":\"/etc/passwd\"}\n\n",
            "data : {\"x\":\"/etc/passwd\"}\n\n",
            "\0data: {\"x\":\"/etc/passwd\"}\n\n",
            "data: x {\"x\":\"/etc/passwd\"}\n\n",
            "data: {\"a\":\ndata: {\"x\":\"/etc/passwd\"}\ndata: }\n\n",
            ": x\u{b}data: {\"x\":\"/etc/passwd\"}\n\n",
            ": x\u{2028}data: {\"x\":\"/etc/passwd\"}\n\n",
            "{\"x\":\"/etc/passwd\"}\ndata: x\n\n",
        ] {
            ends(api, answer);
        }
        let pretty = "data: {\ndata:   \"a\": [1]\ndata: }\n\n";
        let fine = format!(
            ": keep-alive\n\nevent: ping\nid: 1\nretry: 10\ndata: {{\"type\":\"ping\"}}\n\n{pretty}data: hello\n\n"
        );
        assert_eq!(passed(api, fine.as_bytes()), (fine.clone(), None, 0), "{api:?}");
    }
}

#[test]
fn calls_where_no_reader_looks_end_the_answer() {
    let function = json!({"name": "write_file", "arguments": "{\"path\":\"/etc/passwd\"}"});
    let entry = json!({"id": "c", "type": "function", "function": function});
    let chat =
        json!({"choices": [{"message": {"tool_calls": [entry]}, "finish_reason": "tool_calls"}]});
    let block = json!({"type": "tool_use", "id": "t", "name": "write_file", "input": {"path": "/etc/passwd"}});
    let message = json!({"type": "message", "content": [block]});
    let item = json!({"type": "function_call", "call_id": "c", "name": "write_file", "arguments": "{\"path\":\"/etc/passwd\"}"});
    let answer = json!({"id": "r", "output": [item]});
    let part = json!({"functionCall": {"name": "write_file", "args": {"path": "/etc/passwd"}}});
    let gemini = json!({"candidates": [{"content": {"parts": [part]}}]});
    let own = [
        (Api::Chat, chat),
        (Api::Messages, message),
        (Api::Responses, answer),
        (Api::Gemini, gemini),
    ];
    for (api, value) in &own {
        // Its own API has it judged; any other refuses it, and so does one that is wrapped.
        assert_eq!(
            passed(*api, value.to_string().as_bytes()),
            (value.to_string(), None, 1),
            "{api:?}"
        );
        for other in APIS.into_iter().filter(|other| other != api).chain([Api::Other]) {
            ends(other, &value.to_string());
            ends(other, &events(std::slice::from_ref(value)));
        }
        ends(*api, &json!({"x": value}).to_string());
        ends(*api, &format!("data: [{value}]\n\n"));
        let text = value.to_string();
        for (from, to) in [
            ("tool_calls\":", "Tool_calls\":"),
            ("choices", "Choices"),
            ("functionCall", "FunctionCall"),
            ("function\":", "Function\":"),
            ("\"arguments", "\"Arguments"),
            ("\"args", "\"Args"),
            ("\"input", "\"Input"),
            ("\"function_call\"", "\"Function_Call\""),
            ("\"content", "\"Content"),
            ("output", "outPut"),
            ("parts", "part\u{17f}"),
            ("\"name", "\"Name"),
        ] {
            if text.contains(from) {
                ends(*api, &text.replace(from, to));
            }
        }
        // An object in place of a list.
        for key in ["tool_calls", "choices", "content", "output", "parts", "candidates"] {
            let from = format!("\"{key}\":[");
            if let Some(at) = text.find(&from) {
                let mut value: Value = serde_json::from_str(&text).unwrap();
                unlist(&mut value, key);
                ends(*api, &value.to_string());
                assert!(at > 0);
            }
        }
    }
    let unnamed = json!({"index": 0, "content_block": block, "x": 1});
    ends(Api::Messages, &format!("event: content_block_start\ndata: {unnamed}\n\n"));
    let piece = json!({"index": 0, "delta": delta(0)["delta"]});
    ends(Api::Messages, &format!("event: content_block_delta\ndata: {piece}\n\n"));
    ends(
        Api::Messages,
        &format!(
            "event: content_block_delta\ndata: {}\n\n",
            with(delta(0), "type", Some("ping".into()))
        ),
    );
    ends(Api::Responses, &json!({"output": [with(item, "type", None)]}).to_string());
    let both = json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "x", "args": {}},
        "function_call": {"name": "write_file", "args": {"path": "/etc/passwd"}}}]}}]});
    ends(Api::Gemini, &both.to_string());
}

fn unlist(value: &mut Value, key: &str) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                if name == key && inner.is_array() {
                    *inner = inner[0].take();
                } else {
                    unlist(inner, key);
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| unlist(inner, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn what_only_looks_like_a_call_passes() {
    let tools = json!([{"type": "function", "name": "x", "parameters": {"properties": {"tool_calls": {"type": "array"}}}}]);
    let answer = json!({"id": "r", "tools": tools, "parallel_tool_calls": true, "output": []});
    let chat = json!({"choices": [{"message": {"content": "\"tool_calls\": [", "tool_calls": null, "function_call": null}}]});
    for (api, value) in [(Api::Responses, answer), (Api::Chat, chat)] {
        assert_eq!(passed(api, value.to_string().as_bytes()), (value.to_string(), None, 0));
    }
    // What a tool is given is its own business.
    let block = json!({"type": "tool_use", "id": "t", "name": "x", "input": {"Name": 1, "tool_calls": [1], "type": "tool_use"}});
    let message = json!({"type": "message", "content": [block]}).to_string();
    assert_eq!(passed(Api::Messages, message.as_bytes()), (message.clone(), None, 1));
}

#[test]
fn text_for_a_tool_that_is_json_is_judged_as_arguments() {
    let text = "{\"path\":\"/etc/passwd\"}";
    let chat = json!({"choices": [{"message": {"tool_calls": [{"id": "c", "type": "custom",
        "custom": {"name": "write_file", "input": text}}]}}]});
    let item = json!({"output": [{"type": "custom_tool_call", "call_id": "c", "name": "write_file", "input": text}]});
    for (api, value) in [(Api::Chat, chat), (Api::Responses, item)] {
        let call = super::super::calls(api, value.to_string().as_bytes()).unwrap().remove(0);
        assert_eq!(call.arguments, text, "{api:?}");
    }
    let flawed = [
        json!({"id": "c", "function": {"arguments": text}}),
        json!({"id": "c", "function": {"name": "x", "arguments": text}, "custom": {"name": "x", "input": "y"}}),
    ];
    for entry in flawed {
        let value = json!({"choices": [{"message": {"tool_calls": [entry]}}]});
        let call = super::super::calls(Api::Chat, value.to_string().as_bytes()).unwrap().remove(0);
        assert!(call.flaw.is_some(), "{call:?}");
    }
}
