//! Calls that are one by their numbers, and another by the order in which they came.

use serde_json::{Value, json};

use super::super::Api;
use super::hidden::{delta, ends, events, passed, stop, with};

fn named(values: &[Value]) -> String {
    let name = |value: &Value| value["type"].as_str().unwrap_or_default().to_owned();
    values.iter().map(|value| format!("event: {}\ndata: {value}\n\n", name(value))).collect()
}

/// A start of a message that holds blocks already.
fn message(content: Value) -> Value {
    json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": content}})
}

fn begins(index: u64, name: &str) -> Value {
    let block = json!({"type": "tool_use", "id": name, "name": name, "input": {}});
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

#[test]
fn numbers_that_differ_from_the_order_of_blocks_end_the_answer() {
    let note = json!([{"type": "tool_use", "id": "w", "name": "write_file", "input": {}}]);
    let end = [
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    for attack in [
        // Clients count blocks: the piece goes to the second of these, and not to the first.
        vec![
            message(json!([])),
            begins(1, "note"),
            begins(2, "write_file"),
            delta(1),
            stop(1),
            stop(2),
        ],
        vec![message(note.clone()), begins(0, "note"), delta(0), stop(0)],
        // A second message, whose pieces go to the blocks of the first.
        [
            &[message(json!([])), begins(0, "write_file"), stop(0)][..],
            &end,
            &[message(json!([])), begins(0, "note"), delta(0), stop(0)],
        ]
        .concat(),
        [
            &[message(json!([])), begins(0, "write_file"), stop(0)][..],
            &end,
            &[begins(1, "note"), delta(1), stop(1)],
        ]
        .concat(),
        vec![
            message(json!([])),
            begins(0, "write_file"),
            message(json!([])),
            begins(0, "note"),
            delta(0),
            stop(0),
        ],
        // A piece that says of itself that it is none.
        vec![
            message(json!([])),
            begins(0, "write_file"),
            with(
                delta(0),
                "delta",
                Some(json!({"type": "text_delta", "partial_json": "{\"path\":\"/etc/passwd\"}"})),
            ),
            stop(0),
        ],
    ] {
        ends(Api::Messages, &events(&attack));
        ends(Api::Messages, &named(&attack));
    }
    // Blocks that stand in the start are counted, and a start that is told twice is one.
    let fine = [
        message(json!([])),
        message(note),
        begins(1, "note"),
        stop(1),
        end[0].clone(),
        end[1].clone(),
    ];
    assert_eq!(passed(Api::Messages, named(&fine).as_bytes()), (named(&fine), None, 2));
}

#[test]
fn events_with_and_without_names_do_not_mix() {
    let all = [message(json!([])), begins(0, "note"), begins(1, "write_file"), delta(0), stop(0)];
    let mut attack = named(&all[..1]) + &events(&all[1..2]) + &named(&all[2..]);
    ends(Api::Messages, &attack);
    attack = events(&all).replacen("data: ", "event: message\ndata: ", 2);
    ends(Api::Messages, &attack);
    ends(Api::Messages, &named(&all).replace("event: ", "event: ping\nevent: "));
    ends(Api::Messages, &format!("\u{feff}{}", named(&all)));
    let ping = "data: {\"type\":\"ping\"}\n\n";
    let fine = [named(&all[..1]), ping.to_owned()].concat();
    assert_eq!(passed(Api::Messages, fine.as_bytes()), (fine.clone(), None, 0));
    let created = json!({"type": "response.created", "response": {"id": "r", "output": []}});
    let item = |index: u64, name: &str| {
        json!({"type": "response.output_item.added", "output_index": index,
            "item": {"type": "function_call", "call_id": name, "name": name, "arguments": ""}})
    };
    let piece = json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"path\":\"/etc/passwd\"}"});
    let skips = [created.clone(), item(1, "note"), item(2, "write_file"), piece.clone()];
    ends(Api::Responses, &events(&skips));
    let again = [created.clone(), item(0, "write_file"), created, item(1, "note"), piece];
    ends(Api::Responses, &events(&again));
}

#[test]
fn calls_are_counted_anew_where_numbers_and_order_differ() {
    let chunk = |choice: u64, entries: Value| json!({"choices": [{"index": choice, "delta": {"tool_calls": entries}, "finish_reason": null}]});
    let call = |index: Value, name: &str, arguments: &str| {
        let mut entry = json!({"id": name, "type": "function", "function": {"name": name, "arguments": arguments}});
        if !index.is_null() {
            entry["index"] = index;
        }
        entry
    };
    let path = "{\"path\":\"/etc/passwd\"}";
    let piece = |index: u64| chunk(0, json!([{"index": index, "function": {"arguments": path}}]));
    let close = |choice: u64| json!({"choices": [{"index": choice, "delta": {}, "finish_reason": "tool_calls"}]});
    // By its place in the list the piece belongs to the second, by its number to the first; or both
    // are one by their number, with a name that neither has. They are counted anew.
    for (attack, calls) in [
        (
            vec![
                chunk(0, json!([call(json!(1), "note", "")])),
                chunk(0, json!([call(json!(2), "write_file", "")])),
                piece(1),
                close(0),
            ],
            [("note", path), ("write_file", "{}")],
        ),
        (
            vec![
                chunk(0, json!([call(json!(0), "write_", path)])),
                chunk(0, json!([call(json!(0), "file", "")])),
                close(0),
            ],
            [("write_", path), ("file", "{}")],
        ),
    ] {
        let (out, fault, judged) = passed(Api::Chat, events(&attack).as_bytes());
        assert_eq!((fault, judged), (None, 2));
        let left = super::super::calls(Api::Chat, out.as_bytes()).unwrap();
        let left: Vec<_> = left.iter().map(|it| (&*it.name, &*it.arguments)).collect();
        assert_eq!(left, calls, "{out}");
        let numbers: Vec<&str> = out.split("\"index\":").skip(1).map(|rest| &rest[..1]).collect();
        assert!(!numbers.contains(&"2"), "{out}");
        assert!(numbers.contains(&"1"), "{out}");
    }
    for attack in [
        vec![
            chunk(0, json!([call(json!(0), "write_file", "")])),
            chunk(0, json!([call(Value::Null, "note", path)])),
            close(0),
        ],
        vec![
            chunk(0, json!([call(Value::Null, "write_file", "")])),
            chunk(0, json!([call(json!(0), "note", path)])),
            close(0),
        ],
        // Clients take the first name, the last, or all.
        vec![
            chunk(0, json!([call(json!(0), "write_file", "")])),
            chunk(0, json!([{"index": 0, "function": {"name": "x", "arguments": path}}])),
            close(0),
        ],
    ] {
        let (out, fault, _) = passed(Api::Chat, events(&attack).as_bytes());
        assert_eq!(fault, None);
        assert!(!out.contains("/etc/passwd"), "{out}");
    }
    for attack in [
        vec![
            chunk(1, json!([call(json!(0), "note", "")])),
            chunk(2, json!([call(json!(0), "write_file", "")])),
            chunk(1, json!([{"index": 0, "function": {"arguments": path}}])),
            close(1),
            close(2),
        ],
        vec![json!({"choices": [
            {"index": 0, "delta": {"tool_calls": [call(json!(0), "note", path)]}},
            {"index": 0, "delta": {"tool_calls": [call(json!(0), "write_file", "")]}},
        ]})],
    ] {
        ends(Api::Chat, &events(&attack));
    }
    // Servers that count none, one call that is not the first, and choices of text in any order.
    let none = json!([call(Value::Null, "a", "{}"), call(Value::Null, "b", "{}")]);
    for (fine, count) in [(none, 2), (json!([call(json!(1), "a", "{}")]), 1)] {
        let fine = events(&[chunk(0, fine), close(0)]);
        assert_eq!(passed(Api::Chat, fine.as_bytes()), (fine.clone(), None, count));
    }
    let says = |choice: u64| json!({"choices": [{"index": choice, "delta": {"content": "x"}}]});
    let text = [says(1), says(0)];
    assert_eq!(passed(Api::Chat, events(&text).as_bytes()), (events(&text), None, 0));
}

#[test]
fn calls_in_the_arguments_of_a_call_are_found() {
    let uses = json!([
        {"recipient_name": "functions.write_file", "parameters": {"path": "/etc/passwd"}},
        {"recipient_name": "note", "parameters": "{\"a\": 1}"},
        {"recipient_name": 1},
    ]);
    let arguments = json!({"tool_uses": uses}).to_string();
    let item = json!({"type": "function_call", "call_id": "c", "name": "multi_tool_use.parallel", "arguments": arguments});
    let answer = json!({"id": "r", "output": [item]}).to_string();
    let call = super::super::calls(Api::Responses, answer.as_bytes()).unwrap().remove(0);
    let inner = call.inner();
    let names: Vec<_> = inner.iter().map(|it| (&*it.name, &*it.arguments)).collect();
    assert_eq!(
        names,
        [("write_file", "{\"path\":\"/etc/passwd\"}"), ("note", "{\"a\": 1}"), ("", "null")]
    );
    assert!(inner[2].flaw.is_some());
}
