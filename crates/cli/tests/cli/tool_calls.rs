//! `palisade check --tool` and `palisade explain --tool`.

use serde_json::{Value as Json, json};

use crate::kit::World;

#[test]
fn a_tool_call_ends_with_the_number_of_its_verdict() {
    let world = World::new();
    for (tool, args, code) in [
        ("write_file", r#"{"path":"a"}"#, 0),
        ("write_file", r#"{"path":"/etc/x"}"#, 126),
        ("write_file", r#"{"path":"a""#, 126),
        ("write_file", "", 126),
        ("bash", r#"{"command":"git reset --hard"}"#, 3),
        ("bash", r#"{"command":"ls"}"#, 0),
        ("frobnicate", r#"{"path":"a"}"#, 126),
        ("read_file", r#"{"path":"/etc/hosts"}"#, 0),
    ] {
        let ran = world.run(&["check", "--tool", tool, "--args", args]);
        assert_eq!(ran.code, Some(code), "{tool} {args}: {}{}", ran.stdout, ran.stderr);
        let told = world.json(&["explain", "--json", "--tool", tool, "--args", args]);
        let verdict =
            ["allow", "ask", "deny"][[0, 3, 126].iter().position(|it| *it == code).unwrap()];
        assert_eq!(told["verdict"], verdict, "{tool} {args}");
    }
}

#[test]
fn what_a_person_should_know_is_told_to_programs_too() {
    let world = World::with_policy("version: 1\nnetwork: { allow: [example.com] }\n");
    for command in ["check", "explain"] {
        let call = [command, "--json", "--tool", "write_file", "--args", r#"{"path":"a"}"#];
        let told = world.json(&call);
        assert_eq!(told["verdict"], "allow");
        assert_eq!(told["warnings"].as_array().unwrap().len(), 1, "{told}");
        let command = world.json(&[command, "--json", "--", "ls"]);
        assert_eq!(told["warnings"], command["warnings"]);
    }
}

#[test]
fn arguments_come_from_standard_input_too_and_not_without_end() {
    let world = World::new();
    let check = ["check", "--json", "--tool", "write_file", "--args", "-"];
    let ran = world.run_with_input(br#"{"path":"a"}"#, &check);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let long = format!(r#"{{"path":"a","content":"{}"}}"#, "x".repeat(10_000_000));
    let ran = world.run_with_input(long.as_bytes(), &check);
    assert_eq!(ran.code, Some(126), "{}", ran.stderr);
    let told: Json = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["findings"][0]["code"], "arguments-too-long");
    let ran = world.run_with_input(b"\xff\xfe", &check);
    assert_eq!(ran.code, Some(125), "{}", ran.stdout);
}

#[test]
fn a_tool_without_arguments_and_a_tool_beside_a_command_are_wrong_usage() {
    let world = World::new();
    for arguments in [
        vec!["check", "--tool", "write_file"],
        vec!["check", "--args", "{}"],
        vec!["check", "--proxy", "--shell", "ls"],
        vec!["check", "--tool", "a", "--args", "{}", "--shell", "ls"],
        vec!["check", "--tool", "a", "--args", "{}", "--", "ls"],
        vec!["check", "--jsonl", "--tool", "a", "--args", "{}"],
    ] {
        assert_eq!(world.run(&arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn lines_of_tool_calls_are_answered() {
    let world = World::new();
    let call = |name: &str, arguments: Json, root: &str| json!({ "id": name, "kind": "toolcall", "name": name, "arguments": arguments, "root": root });
    let requests = [
        (call("write_file", json!({ "path": "a" }), "/srv/x"), "allow"),
        (call("write_file", json!("{\"path\":\"../a\"}"), "/srv/x"), "deny"),
        (call("bash", json!({ "command": "ls" }), "/srv/x"), "allow"),
        (call("write_file", json!(7), "/srv/x"), "deny"),
        (call("write_file", json!({ "path": "a" }), "srv"), "deny"),
        (call("write_file", json!({ "path": "c:/APP/a" }), r"C:\App"), "allow"),
        (call("write_file", json!({ "path": r"C:\App2\a" }), r"C:\App"), "deny"),
        (json!({ "kind": "path", "path": r"C:\app\a", "root": r"c:\APP" }), "allow"),
        (json!({ "kind": "path", "path": r"..\a", "root": r"c:\APP" }), "deny"),
        (json!({ "kind": "command", "cmd": "ls", "root": r"c:\APP" }), "deny"),
        (json!({ "kind": "toolcall", "raw": "{}", "root": "/srv/x" }), "deny"),
    ];
    let text: String = requests.iter().map(|(request, _)| format!("{request}\n")).collect();
    let ran = world.run_with_input(text.as_bytes(), &["check", "--jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let verdicts: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| {
            let answer: Json = serde_json::from_str(line).unwrap();
            answer["verdict"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(verdicts, requests.map(|(_, verdict)| verdict));
}

#[test]
fn a_key_that_stands_twice_is_seen_in_a_stream_too() {
    let world = World::new();
    let call = |arguments: &str, more: &str| {
        let request = format!(
            r#"{{"kind":"toolcall","name":"write_file","root":"/srv/x","arguments":{arguments}{more}}}"#
        );
        let ran = world.run_with_input(request.as_bytes(), &["check", "--jsonl"]);
        let answer: Json = serde_json::from_str(ran.stdout.trim()).unwrap();
        (answer["verdict"].as_str().unwrap().to_owned(), answer["code"].clone())
    };
    let deny = |code: &str| ("deny".to_owned(), json!(code));
    let twice = r#"{"path":"/etc/passwd","path":"a.txt"}"#;
    assert_eq!(call(twice, ""), deny("arguments-duplicate-key"));
    let once = r#"{"path":"a.txt"}"#;
    assert_eq!(call(once, ""), ("allow".to_owned(), Json::Null));
    assert_eq!(call(once, r#","name":"read_file""#), deny("bad-request"));
}

#[test]
fn what_a_model_says_cannot_repaint_the_terminal() {
    let world = World::new();
    let args = json!({ "path": "/etc/\u{1b}[2J", "\u{202e}": 1 }).to_string();
    for command in ["check", "explain"] {
        let ran = world.run(&[command, "--tool", "write_file\u{1b}[2J", "--args", &args]);
        assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
        let ran = world.run(&[command, "--tool", "write_file", "--args", &args]);
        assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
    }
}
