//! Every kind of call that a client acts on is judged, whatever labels it carries.

use serde_json::{Value, json};

use super::super::{Api, Asked, By, Call, OnRefusal, Reader, Ruling, calls};
use super::hidden::{ends, events, passed};

const ETC: &str = "/etc/passwd";

/// Returns the tools that calls of an answer are judged as, and whether each is flawed.
fn judged(reader: Reader, answer: &str) -> Vec<(String, bool)> {
    let mut reader = reader;
    let mut seen = Vec::new();
    let mut judge = |call: &Call| {
        seen.push((call.judged_as().to_owned(), call.flaw.is_some()));
        Ruling::Swallow("no".into())
    };
    let mut out = reader.push(answer.as_bytes(), &mut judge).unwrap();
    out.extend(reader.end(&mut judge).unwrap().0);
    let out = String::from_utf8(out).unwrap();
    assert!(seen.is_empty() || !out.contains(ETC), "{out}");
    seen
}

fn reader(api: Api) -> Reader {
    Reader::new(api, OnRefusal::Answer)
}

/// Writes an item as a whole answer and as a stream.
fn told(item: &Value) -> [String; 2] {
    let added = json!({"type": "response.output_item.added", "output_index": 0, "item": item});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    [json!({"id": "r", "output": [item]}).to_string(), events(&[added, done])]
}

fn shell(environment: Value) -> Value {
    json!({"type": "shell_call", "id": "s", "call_id": "c", "environment": environment,
        "action": {"commands": [format!("echo x > {ETC}")]}})
}

#[test]
fn every_item_that_a_client_acts_on_is_judged() {
    let arguments = json!({"path": ETC}).to_string();
    let command = format!("echo x > {ETC}");
    for (item, tool) in [
        (json!({"type": "function_call", "name": "f", "arguments": arguments}), "f"),
        (json!({"type": "custom_tool_call", "name": "f", "input": command}), "f"),
        (
            json!({"type": "local_shell_call", "action": {"type": "exec", "command": [command]}}),
            "local_shell",
        ),
        (shell(Value::Null), "shell"),
        (shell(json!({"type": "local"})), "shell"),
        (shell(json!({"type": "container_reference", "container_id": "x"})), "shell"),
        (
            json!({"type": "apply_patch_call", "operation": {"type": "delete_file", "path": ETC}}),
            "apply_patch",
        ),
        (json!({"type": "computer_call", "action": {"type": "type", "text": ETC}}), "computer"),
        (json!({"type": "computer_call", "actions": [{"type": "type", "text": ETC}]}), "computer"),
        (
            json!({"type": "tool_search_call", "execution": "server", "arguments": {"q": ETC}}),
            "tool_search",
        ),
        (
            json!({"type": "mcp_approval_request", "id": "m", "server_label": "l", "name": "f", "arguments": arguments}),
            "f",
        ),
    ] {
        for answer in told(&item) {
            assert_eq!(
                judged(reader(Api::Responses), &answer),
                [(tool.to_owned(), false)],
                "{answer}"
            );
        }
    }
    // Carried out elsewhere, whatever a client does.
    for kind in [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
    ] {
        let item = json!({"type": kind, "id": "i", "name": "f", "arguments": arguments});
        for answer in told(&item) {
            assert_eq!(passed(Api::Responses, answer.as_bytes()), (answer.clone(), None, 0));
            assert!(
                calls(Api::Responses, answer.as_bytes())
                    .unwrap()
                    .iter()
                    .all(|it| it.by == By::Server)
            );
        }
    }
}

#[test]
fn a_shell_is_elsewhere_only_if_the_request_asked_for_it_and_for_no_other() {
    let hosted = json!({"type": "shell", "environment": {"type": "container_auto"}});
    let local = json!({"type": "shell", "environment": {"type": "local"}});
    let bare = json!({"type": "shell"});
    let container = json!({"type": "container_reference", "container_id": "x"});
    for (tools, environment, times) in [
        (json!([hosted]), container.clone(), 0),
        (json!([hosted, {"type": "function", "name": "f"}]), container.clone(), 0),
        (json!([hosted]), json!({"type": "local"}), 1),
        (json!([hosted]), Value::Null, 1),
        (json!([hosted, local]), container.clone(), 1),
        (json!([bare]), container.clone(), 1),
        (json!([]), container, 1),
    ] {
        let body = json!({"model": "m", "tools": tools}).to_string();
        let asked = Asked::read(Api::Responses, "/v1/responses", body.as_bytes());
        for answer in told(&shell(environment.clone())) {
            let reader = reader(Api::Responses).knowing(asked.as_ref());
            assert_eq!(judged(reader, &answer).len(), times, "{tools} {answer}");
        }
    }
}

#[test]
fn kinds_that_nobody_knows_are_refused_where_they_carry_a_call() {
    for (kind, key) in [
        ("new_call", "x"),
        ("New-Call", "x"),
        ("step", "arguments"),
        ("step", "Command"),
        ("step", "call_id"),
        ("edit", "patch"),
        ("other_approval_request", "x"),
    ] {
        let item = json!({"type": kind, "id": "i", "name": "f", key: {"path": ETC}});
        for answer in told(&item) {
            assert_eq!(
                judged(reader(Api::Responses), &answer),
                [("f".to_owned(), true)],
                "{answer}"
            );
        }
        if key != "call_id" {
            let message = json!({"type": "message", "content": [item]}).to_string();
            assert_eq!(
                judged(reader(Api::Messages), &message),
                [("f".to_owned(), true)],
                "{message}"
            );
        }
    }
    for key in ["toolCall", "shellCall", "mcp_call"] {
        let part =
            json!({"candidates": [{"content": {"parts": [{key: {"args": {"path": ETC}}}]}}]});
        ends(Api::Gemini, &part.to_string());
        ends(Api::Gemini, &events(&[part]));
    }
    let function = json!({"name": "f", "arguments": "{}"});
    for entry in [
        json!({"id": "c", "type": "shell", "function": function}),
        json!({"id": "c", "type": "function", "function": function, "shell": {"command": ETC}}),
        json!({"id": "c", "type": "custom", "function": function}),
        json!({"id": "c", "type": "function", "custom": {"name": "f", "input": ETC}}),
    ] {
        let answer = json!({"choices": [{"message": {"tool_calls": [entry]}}]}).to_string();
        assert_eq!(judged(reader(Api::Chat), &answer), [("f".to_owned(), true)], "{answer}");
        let chunk = events(&[
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": "tool_calls"}]}),
        ]);
        assert_eq!(judged(reader(Api::Chat), &chunk), [("f".to_owned(), true)], "{chunk}");
    }
    // What carries none passes as it came.
    for (api, value) in [
        (Api::Responses, json!({"id": "r", "output": [{"type": "mood", "text": "x"}]})),
        (Api::Messages, json!({"type": "message", "content": [{"type": "mood", "text": "x"}]})),
        (
            Api::Gemini,
            json!({"candidates": [{"content": {"parts": [{"mood": {"x": 1}, "text": "x"}]}}]}),
        ),
        (
            Api::Gemini,
            json!({"candidates": [{"content": {"parts": [{"executableCode": {"code": "1"}}]}}]}),
        ),
        (Api::Chat, json!({"choices": [{"message": {"content": "x", "mood": {"x": 1}}}]})),
    ] {
        let answer = value.to_string();
        assert_eq!(passed(api, answer.as_bytes()), (answer.clone(), None, 0));
    }
}

#[test]
fn what_an_item_says_in_a_place_of_another_kind_is_not_passed_over() {
    for item in [
        json!({"type": "shell_call", "call_id": "c", "arguments": "{}", "action": {"commands": [ETC]}}),
        json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "input": ETC}),
        json!({"type": "apply_patch_call", "call_id": "c", "operation": {"type": "x"}, "patch": ETC}),
    ] {
        for answer in told(&item) {
            let seen = judged(reader(Api::Responses), &answer);
            assert!(matches!(seen.as_slice(), [(_, true)]), "{answer} {seen:?}");
        }
    }
}

#[test]
fn a_call_that_looks_like_one_that_was_allowed_is_judged_as_what_it_is() {
    let body = json!({"commands": [format!("echo x > {ETC}")]});
    let first = json!({"type": "function_call", "call_id": "c", "name": "shell_call", "arguments": body.to_string()});
    let second = json!({"type": "shell_call", "call_id": "c", "action": body});
    let answer = json!({"id": "r", "output": [first, second]}).to_string();
    let seen = judged(reader(Api::Responses), &answer);
    let tools: Vec<&str> = seen.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["shell_call", "shell"]);
}

#[test]
fn calls_in_calls_are_found_at_every_depth_and_there_is_an_end_to_it() {
    let wrap = |list: &str, name: &str, body: &str, inner: Value| json!({list: [{name: "functions.f", body: inner}]});
    let call = |arguments: &Value| {
        let item = json!({"type": "function_call", "call_id": "c", "name": "batch", "arguments": arguments.to_string()});
        let answer = json!({"id": "r", "output": [item]}).to_string();
        calls(Api::Responses, answer.as_bytes()).unwrap().remove(0)
    };
    for (list, name, body) in [
        ("tool_uses", "recipient_name", "parameters"),
        ("invocations", "tool_name", "input"),
        ("tool_calls", "tool", "parameters"),
        ("calls", "name", "arguments"),
    ] {
        let mut arguments = json!({"path": ETC});
        for depth in 1..=6_usize {
            arguments = wrap(list, name, body, arguments);
            let inner = call(&arguments).inner();
            let flawed = inner.iter().any(|it| it.flaw.is_some());
            assert_eq!(flawed, depth > 4, "{list} {depth}");
            assert!(flawed || (inner.len() == depth && inner.iter().all(|it| it.name == "f")));
            assert!(
                flawed
                    || inner
                        .iter()
                        .any(|it| it.arguments.contains(ETC) && !it.arguments.contains(list))
            );
        }
        for (count, fits) in [(128, true), (129, false), (100_000, false)] {
            let entry = json!({name: "f", body: {}});
            let inner = call(&json!({list: vec![entry; count]})).inner();
            assert_eq!(inner.iter().all(|it| it.flaw.is_none()), fits, "{list} {count}");
            assert!(inner.len() <= 129);
        }
    }
    // A list as a text, one that is written as a chat has it, and one of which nobody knows what is meant.
    let text = json!({"tool_uses": json!([{"recipient_name": "f", "parameters": {}}]).to_string()});
    let chat =
        json!({"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    for arguments in [text, chat] {
        let inner = call(&arguments).inner();
        assert_eq!(
            (inner.len(), inner[0].flaw, inner[0].name.as_str()),
            (1, None, "f"),
            "{arguments}"
        );
    }
    let both = json!({"calls": [{"name": "f", "tool": "g", "args": {}}]});
    assert!(call(&both).inner()[0].flaw.is_some());
    assert!(
        call(&json!({"calls": [{"name": "Ann", "phone": 1}], "tool_uses": 3})).inner().is_empty()
    );
}

#[test]
fn what_is_said_carries_no_call_and_a_call_has_its_arguments_in_one_place() {
    let arguments = json!({"path": ETC}).to_string();
    for kind in ["message", "reasoning"] {
        let item = json!({"type": kind, "call_id": "c", "name": "f", "arguments": arguments});
        for answer in told(&item) {
            assert_eq!(
                judged(reader(Api::Responses), &answer),
                [("f".to_owned(), true)],
                "{answer}"
            );
        }
    }
    for (api, answer) in [
        (
            Api::Messages,
            json!({"type": "message", "content": [{"type": "text", "name": "f", "input": {"path": ETC}}]}),
        ),
        (
            Api::Messages,
            json!({"type": "message", "content": [{"type": "tool_use", "name": "f", "input": {}, "arguments": {"path": ETC}}]}),
        ),
        (
            Api::Gemini,
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "arguments": {"path": ETC}}}]}}]}),
        ),
        (
            Api::Gemini,
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}, "parameters": {"path": ETC}}}]}}]}),
        ),
        (
            Api::Chat,
            json!({"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}", "parameters": {"path": ETC}}}]}}]}),
        ),
        (
            Api::Chat,
            json!({"choices": [{"message": {"function_call": {"name": "f", "input": arguments}}}]}),
        ),
    ] {
        let answer = answer.to_string();
        assert_eq!(judged(reader(api), &answer), [("f".to_owned(), true)], "{answer}");
    }
}

#[test]
fn a_name_with_characters_that_nobody_sees_is_refused() {
    for name in [
        "write_file\u{200b}",
        "\u{feff}write_file",
        "write\u{ad}_file",
        "write_file\n",
        "write_file\0",
    ] {
        let message = json!({"type": "message", "content": [{"type": "tool_use", "name": name, "input": {"path": ETC}}]});
        let seen = judged(reader(Api::Messages), &message.to_string());
        assert_eq!(seen, [(name.to_owned(), true)]);
    }
    let fine = json!({"type": "message", "content": [{"type": "tool_use", "name": "schreibe_\u{e4}", "input": {"path": ETC}}]});
    assert!(!judged(reader(Api::Messages), &fine.to_string())[0].1);
}

#[test]
fn calls_in_calls_are_found_however_they_are_written() {
    let call = |arguments: &str| {
        let item = json!({"type": "function_call", "call_id": "c", "name": "batch", "arguments": arguments});
        let answer = json!({"id": "r", "output": [item]}).to_string();
        calls(Api::Responses, answer.as_bytes()).unwrap().remove(0)
    };
    let body = json!({"path": ETC});
    let text = body.to_string();
    let entry = json!({"tool_name": "write_file", "params": body});
    for arguments in [
        json!({"calls": [entry]}),
        json!({"calls": [entry.to_string()]}),
        json!({"calls": [[entry]]}),
        json!({"calls": json!([entry.to_string()]).to_string()}),
        json!({"batch": {"calls": [entry]}}),
        json!({"batch": [{"x": {"Tool-Calls": [{"Name": "write_file", "Args": text}]}}]}),
        json!({"toolUses": [{"recipientName": "functions.write_file", "parameters": text}]}),
        json!({"calls": [{"tool": "write_file", "path": ETC}]}),
        json!({"calls": [{"custom": {"name": "write_file", "input": text}}]}),
        json!({"tool_name": "write_file", "server_name": "s", "arguments": text}),
        json!({"name": "write_file", "arguments": body}),
        json!({"steps": [{"name": "write_file", "kwargs": body}]}),
        json!({"function": "write_file", "arguments": body}),
    ] {
        let inner = call(&arguments.to_string()).inner();
        assert_eq!(inner.len(), 1, "{arguments} {inner:?}");
        let found = (inner[0].name.as_str(), inner[0].flaw, inner[0].arguments.as_str());
        assert_eq!(found, ("write_file", None, text.as_str()), "{arguments}");
    }
    // Which of both, and what is it?
    for arguments in [
        format!(r#"{{"calls": [], "calls": [{entry}]}}"#),
        json!({"tool_calls": [{"write_file": body}]}).to_string(),
        json!({"tool_calls": [{"do": "write_file", "at": ETC}]}).to_string(),
        json!({"calls": ["{\"tool\": \"write_file\", \"path\": "]}).to_string(),
        json!({"calls": [{"tool": "note", "params": {}, "args": body}]}).to_string(),
    ] {
        let inner = call(&arguments).inner();
        assert!(inner.iter().any(|it| it.flaw.is_some()), "{arguments} {inner:?}");
    }
    // What a tool is given is no call because it has a name.
    for arguments in [
        json!({"path": "launch.json", "content": json!([{"name": "x", "args": {"a": 1}}]).to_string()}),
        json!({"configurations": [{"name": "x", "args": ["--y"]}]}),
        json!({"name": "a.json", "input": "{}"}),
    ] {
        assert!(call(&arguments.to_string()).inner().is_empty(), "{arguments}");
    }
}

#[test]
fn a_kind_that_nobody_knows_is_refused_whatever_it_calls_its_arguments() {
    let named = |key: &str| json!({"name": "write_file", key: {"path": ETC}});
    for part in [
        json!({"toolCall": named("params")}),
        json!({"toolCall": [named("args")]}),
        json!({"tool_call": {"name": "write_file", "path": ETC}}),
        json!({"serverCall": named("with")}),
    ] {
        let answer = json!({"candidates": [{"content": {"parts": [part]}}]}).to_string();
        ends(Api::Gemini, &answer);
    }
    for key in ["params", "kwargs", "payload", "with"] {
        let mut item = named(key);
        item["type"] = "run_tool".into();
        for answer in told(&item) {
            let seen = judged(reader(Api::Responses), &answer);
            assert!(
                !seen.is_empty() && seen.iter().all(|(_, flawed)| *flawed),
                "{answer} {seen:?}"
            );
        }
        let message = json!({"type": "message", "content": [item]}).to_string();
        let seen = judged(reader(Api::Messages), &message);
        assert!(matches!(seen.as_slice(), [(_, true)]), "{message} {seen:?}");
    }
}
