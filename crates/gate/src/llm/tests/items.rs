//! Items that are told in two ways as they are added, as they grow, and when they are done.

use serde_json::{Value, json};

use super::super::{Api, Call, Ending, OnRefusal, Reader, Ruling};
use super::hidden::{ends, events, passed, with};
use super::scripts::read;
use super::ways::{EVIL, SAFE, refused, same};

fn event(kind: &str, more: Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}"), "output_index": 0, "item_id": "i"});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn item(kind: &str, more: &Value) -> Value {
    let mut item =
        json!({"type": kind, "id": "i", "call_id": "c", "name": "f", "status": "completed"});
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    item
}

pub(super) fn added(item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": 0, "item": item})
}

pub(super) fn done(item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": 0, "item": item})
}

fn completed(item: &Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "r", "output": [item]}})
}

/// Kinds of items: what one asks for, what another does, and how one begins that has not said it.
fn kinds() -> Vec<(&'static str, Value, Value, Value)> {
    let patch = |path: &str| json!({"input": format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n")});
    let operation = |path: &str, diff: &str| json!({"operation": {"type": "create_file", "path": path, "diff": diff}});
    let shell = |commands: Value| json!({"action": {"commands": commands, "timeout_ms": 9}});
    let exec = |command: Value| json!({"action": {"type": "exec", "command": command, "env": {}}});
    vec![
        (
            "function_call",
            json!({"arguments": EVIL}),
            json!({"arguments": SAFE}),
            json!({"arguments": ""}),
        ),
        ("custom_tool_call", patch("/etc/passwd"), patch("a.rs"), json!({"input": ""})),
        (
            "apply_patch_call",
            operation("/etc/passwd", "+x"),
            operation("a.rs", "+x"),
            operation("a.rs", ""),
        ),
        ("shell_call", shell(json!(["cat /etc/passwd"])), shell(json!(["ls"])), shell(json!([]))),
        (
            "local_shell_call",
            exec(json!(["cat", "/etc/passwd"])),
            exec(json!(["ls"])),
            exec(json!([])),
        ),
        (
            "computer_call",
            json!({"action": {"type": "type", "text": "/etc/passwd"}}),
            json!({"action": {"type": "type", "text": "a"}}),
            json!({"action": null}),
        ),
        (
            "tool_search_call",
            json!({"arguments": {"q": "/etc/passwd"}}),
            json!({"arguments": {"q": "a"}}),
            json!({"arguments": {}}),
        ),
        (
            "mcp_approval_request",
            json!({"arguments": EVIL}),
            json!({"arguments": SAFE}),
            json!({"arguments": SAFE}),
        ),
    ]
}

#[test]
fn an_item_begins_as_it_ends() {
    for (kind, evil, safe, begun) in kinds() {
        let (evil, safe, begun) = (item(kind, &evil), item(kind, &safe), item(kind, &begun));
        refused(Api::Responses, &events(&[added(&evil), done(&safe)]));
        refused(Api::Responses, &events(&[added(&evil), done(&safe), completed(&safe)]));
        for first in [&safe, &begun] {
            same(Api::Responses, &events(&[added(first), done(&safe), completed(&safe)]), 1);
        }
    }
    // A part of what is asked for is something else.
    let shell = |action: Value| item("shell_call", &json!({"action": action}));
    for (begun, is) in [
        (
            json!({"commands": ["rm -r /etc/passwd"]}),
            json!({"commands": ["rm -r /etc/passwd", "ls"]}),
        ),
        (
            json!({"commands": ["rm *"]}),
            json!({"commands": ["rm *"], "working_directory": "/etc/passwd"}),
        ),
    ] {
        refused(Api::Responses, &events(&[added(&shell(begun)), done(&shell(is))]));
    }
    // Keys beside those of the kind, and another kind.
    let safe = item("function_call", &json!({"arguments": SAFE}));
    for (key, value) in [
        ("input", json!(EVIL)),
        ("tool_input", json!({"path": "/etc/passwd"})),
        ("name", json!("g")),
    ] {
        refused(
            Api::Responses,
            &events(&[added(&with(safe.clone(), key, Some(value))), done(&safe)]),
        );
    }
}

#[test]
fn an_item_of_a_later_answer_begins_as_it_ends() {
    for (kind, evil, safe, _) in kinds() {
        let (evil, safe) = (item(kind, &evil), item(kind, &safe));
        let mut reader = Reader::new(Api::Responses, OnRefusal::Retry);
        let denied = item("function_call", &json!({"arguments": "{\"path\":\"/etc/x\"}"}));
        let (out, ending) =
            read(&mut reader, &events(&[added(&denied), done(&denied), completed(&denied)]));
        assert!(matches!(ending, Ending::Refused(_)) && out.is_empty(), "{out}");
        reader.resume();
        let mut judge = |_: &Call| Ruling::Release;
        let answer = events(&[added(&evil), done(&safe), completed(&safe)]);
        let mut out = reader.push(answer.as_bytes(), &mut judge).unwrap();
        let (rest, ending) = reader.end(&mut judge).unwrap();
        out.extend(rest);
        let Ending::Refused(refused) = ending else { panic!("{kind}") };
        assert_eq!(refused.calls.len(), 1, "{kind}: the model is told once");
        out.extend(reader.give_up("end"));
        let out = String::from_utf8(out).unwrap();
        assert!(
            !out.contains("/etc/passwd") && !out.contains(&format!("\"{kind}\"")),
            "{kind} {out}"
        );
    }
}

#[test]
fn pieces_of_an_item_are_what_it_is() {
    let function = item("function_call", &json!({"arguments": SAFE}));
    let begun = with(function.clone(), "arguments", Some(json!("")));
    let patch = item(
        "apply_patch_call",
        &json!({"operation": {"type": "create_file", "path": "a", "diff": "+x"}}),
    );
    let shell = item("shell_call", &json!({"action": {"commands": ["ls", "pwd"]}}));
    let text = item("custom_tool_call", &json!({"input": "x /etc/passwd"}));
    for (item, pieces) in [
        (&function, vec![event("function_call_arguments.delta", json!({"delta": EVIL}))]),
        (&function, vec![event("function_call_arguments.done", json!({"arguments": EVIL}))]),
        (
            &function,
            vec![event(
                "function_call_arguments.done",
                json!({"arguments": SAFE, "name": "/etc/passwd"}),
            )],
        ),
        (
            &function,
            vec![event("function_call_arguments.done", json!({"arguments": SAFE, "input": EVIL}))],
        ),
        (
            &function,
            vec![event("function_call_arguments.delta", json!({"delta": {"path": "/etc/passwd"}}))],
        ),
        (&function, vec![event("function_call_code.delta", json!({"delta": EVIL}))]),
        (
            &function,
            vec![
                event("function_call_arguments.done", json!({"arguments": EVIL})),
                event("function_call_arguments.done", json!({"arguments": SAFE})),
            ],
        ),
        (
            &patch,
            vec![event("apply_patch_call_operation_diff.delta", json!({"delta": "+/etc/passwd"}))],
        ),
        (
            &patch,
            vec![event("apply_patch_call_operation_diff.done", json!({"diff": "+/etc/passwd"}))],
        ),
        (
            &shell,
            vec![event(
                "shell_call_command.delta",
                json!({"command_index": 0, "delta": "cat /etc/passwd"}),
            )],
        ),
        (
            &shell,
            vec![event(
                "shell_call_command.done",
                json!({"command_index": 1, "command": "cat /etc/passwd"}),
            )],
        ),
        (
            &shell,
            vec![event(
                "shell_call_command.added",
                json!({"command_index": 1, "command": "cat /etc/passwd"}),
            )],
        ),
        (
            &shell,
            vec![event(
                "shell_call_command.done",
                json!({"command_index": 7, "command": "cat /etc/passwd"}),
            )],
        ),
        // Added to what the beginning said, the pieces are another text.
        (&text, vec![event("custom_tool_call_input.delta", json!({"delta": "x /etc/passwd"}))]),
    ] {
        let first = if item == &function { &begun } else { item };
        let all = [&[added(first)][..], &pieces, &[done(item), completed(item)]].concat();
        refused(Api::Responses, &events(&all));
    }
    let blank = item("shell_call", &json!({"action": {"commands": []}}));
    let diff = |diff: &str| {
        with(
            patch.clone(),
            "operation",
            Some(json!({"type": "create_file", "path": "a", "diff": diff})),
        )
    };
    for all in [
        vec![
            added(&begun),
            event(
                "function_call_arguments.delta",
                json!({"delta": &SAFE[..5], "obfuscation": "x"}),
            ),
            event("function_call_arguments.delta", json!({"delta": &SAFE[5..]})),
            event("function_call_arguments.done", json!({"arguments": SAFE, "name": "f"})),
            done(&function),
        ],
        vec![
            added(&diff("")),
            event("apply_patch_call_operation_diff.delta", json!({"delta": "+x"})),
            event("apply_patch_call_operation_diff.done", json!({"diff": "+x"})),
            done(&patch),
        ],
        vec![
            added(&blank),
            event("shell_call_command.added", json!({"command_index": 0, "command": ""})),
            event("shell_call_command.delta", json!({"command_index": 0, "delta": "ls"})),
            event("shell_call_command.done", json!({"command_index": 0, "command": "ls"})),
            event("shell_call_command.added", json!({"command_index": 1, "command": ""})),
            event("shell_call_command.delta", json!({"command_index": 1, "delta": "pwd"})),
            event("shell_call_command.done", json!({"command_index": 1, "command": "pwd"})),
            done(&shell),
        ],
    ] {
        same(Api::Responses, &events(&all), 1);
    }
}

#[test]
fn what_is_called_one_thing_and_counted_as_another_ends_the_answer() {
    let item = |id: &str, arguments: &str| json!({"type": "function_call", "id": id, "call_id": id, "name": id, "arguments": arguments});
    let at = |index: u64, event: Value| with(event, "output_index", Some(index.into()));
    let piece = |index: u64, id: &str| json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": EVIL});
    let said = json!({"type": "message", "id": "m", "content": []});
    let word = |id: &str| json!({"type": "response.output_text.delta", "output_index": 0, "item_id": id, "delta": "/etc/hosts"});
    for all in [
        vec![added(&item("a", "")), at(1, added(&item("b", ""))), piece(0, "b")],
        vec![added(&item("a", "")), piece(0, "z")],
        vec![added(&item("a", "")), at(1, added(&item("a", ""))), piece(0, "a")],
        vec![added(&item("a", "")), done(&item("b", EVIL))],
        vec![added(&item("a", "")), done(&item("a", "{}")), at(1, done(&item("a", EVIL)))],
        vec![added(&said), done(&said), at(1, added(&item("m", EVIL)))],
        vec![added(&item("a", "")), at(1, added(&said)), word("m"), piece(0, "a")],
    ] {
        ends(Api::Responses, &events(&all));
    }
    // What is said may have a new name in each event; some servers hide them.
    same(Api::Responses, &events(&[added(&said), word("x"), word("y"), done(&said)]), 0);
}

#[test]
fn an_item_says_what_to_do_in_one_place() {
    let safe = item("function_call", &json!({"arguments": SAFE}));
    for (key, value) in [
        ("tool_input", json!(EVIL)),
        ("function", json!({"name": "f", "arguments": EVIL})),
        ("toolName", json!("/etc/passwd")),
    ] {
        let odd = with(safe.clone(), key, Some(value));
        refused(Api::Responses, &events(&[added(&odd), done(&odd)]));
        refused(Api::Responses, &json!({"id": "r", "output": [odd]}).to_string());
    }
    let caller = with(safe, "caller", Some(json!({"type": "program", "caller_id": "c"})));
    same(Api::Responses, &events(&[added(&caller), done(&caller)]), 1);
}

#[test]
fn a_call_of_a_server_is_not_told_as_a_clients() {
    let server = item("mcp_call", &json!({"server_label": "s", "arguments": "{}"}));
    let alone = json!({"delta": EVIL});
    for events_ in [
        vec![event("function_call_arguments.delta", alone.clone())],
        vec![event("function_call_arguments.done", json!({"name": "f", "arguments": EVIL}))],
        vec![event("shell_call_command.done", json!({"command": "cat /etc/passwd"}))],
        vec![event("function_call.in_progress", json!({"name": "/etc/passwd"}))],
    ] {
        refused(
            Api::Responses,
            &events(&[&[added(&server)][..], &events_, &[done(&server)]].concat()),
        );
    }
    let own = event("mcp_call_arguments.delta", json!({"delta": "{}"}));
    let begun = with(server.clone(), "arguments", Some(json!("")));
    let (_, fault, judged) =
        passed(Api::Responses, events(&[added(&begun), own, done(&server)]).as_bytes());
    assert_eq!((fault, judged), (None, 0));
    let shell = item("shell_call", &json!({"action": {"commands": ["ls"]}}));
    let odd = event(
        "shell_call_command.done",
        json!({"command_index": "7", "command": "ls", "x": "/etc/passwd"}),
    );
    refused(Api::Responses, &events(&[added(&shell), odd, done(&shell)]));
}
