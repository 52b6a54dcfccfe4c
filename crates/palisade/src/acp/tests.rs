//! Both sides of a conversation.

use palisade_testkit::{Home, Project};

use super::*;
use crate::{Request, Session};

struct World {
    home: Home,
    project: Project,
    policy: &'static str,
}

impl World {
    fn new() -> Self {
        let project = Project::new().file("Cargo.toml", "[package]\n").dir("deep").dir(".vscode");
        Self { home: Home::new(), project, policy: "version: 1\n" }
    }

    fn adapter(&self) -> Adapter {
        let home = Home::new().file(".config/palisade/policy.yaml", self.policy);
        let home = if self.policy == "version: 1\n" { &self.home } else { &home };
        let session =
            Session::open(&Request::new(self.project.root(), home.env().clone())).unwrap();
        Adapter::new(Guard::new(&session))
    }
}

const OPTIONS: [(&str, &str); 4] = [
    ("always", "allow_always"),
    ("yes", "allow_once"),
    ("no", "reject_once"),
    ("never", "reject_always"),
];

fn asks(call: &Json) -> Vec<u8> {
    let options = OPTIONS.map(|(id, kind)| json!({ "optionId": id, "name": id, "kind": kind }));
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    let method = "session/request_permission";
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string().into()
}

fn read(line: &[u8]) -> Json {
    serde_json::from_slice(line).unwrap()
}

/// Returns the answer that the agent gets at once; none if a person is asked.
fn answered(adapter: &mut Adapter, call: &Json) -> Option<Json> {
    match adapter.hear_agent(&asks(call)).unwrap() {
        Said::ToAgent(line) => Some(read(&line)["result"]["outcome"].clone()),
        Said::ToEditor(_) => None,
    }
}

#[test]
fn what_the_policy_decides_is_answered_and_the_rest_is_asked() {
    let world = World::new();
    let mut adapter = world.adapter();
    let inside = world.project.path("deep/file");
    let execute = |text: &str| json!({ "kind": "execute", "rawInput": { "command": text } });
    let at = |kind: &str, path: &Path| json!({ "kind": kind, "locations": [{ "path": path }] });
    let outside = Path::new("/etc/passwd");
    let diff = |path: &Path| json!({ "kind": "other", "content": [{ "type": "diff", "path": path, "newText": "x" }] });
    let cases = [
        (execute("ls"), Some("yes")),
        (execute("sudo rm -rf /"), Some("no")),
        (json!({ "kind": "execute", "rawInput": "ls" }), Some("yes")),
        (json!({ "kind": "execute", "title": "ls" }), None),
        (json!({ "kind": "execute", "locations": [{ "path": inside }] }), None),
        (json!({ "kind": "read", "rawInput": { "command": "rm -rf /" } }), Some("no")),
        (at("edit", &inside), Some("yes")),
        (at("edit", outside), Some("no")),
        (at("delete", outside), Some("no")),
        (at("edit", "deep/../../up".as_ref()), Some("no")),
        (json!({ "kind": "edit", "rawInput": { "path": inside } }), Some("yes")),
        (
            json!({ "kind": "edit", "rawInput": { "path": inside },
                 "locations": [{ "path": inside }, { "path": outside }] }),
            Some("no"),
        ),
        (
            json!({ "kind": "edit", "rawInput": { "path": inside },
                 "content": [{ "type": "diff", "path": outside }] }),
            Some("no"),
        ),
        (json!({ "kind": "edit" }), None),
        (json!({ "kind": "think" }), Some("yes")),
        (diff(&inside), None),
        (diff(outside), Some("no")),
        (json!({ "kind": "made-up", "rawInput": { "path": inside } }), None),
        (json!({}), None),
        (Json::Null, None),
        (json!([1]), None),
    ];
    for (call, expected) in cases {
        let answer = answered(&mut adapter, &call);
        let chosen = answer.as_ref().map(|answer| answer["optionId"].as_str().unwrap());
        assert_eq!(chosen, expected, "{call}");
    }
}

#[test]
fn a_call_of_very_many_files_is_for_a_person() {
    let world = World::new();
    let path = world.project.path("deep/file");
    let many = |count| json!({ "kind": "edit", "locations": vec![json!({ "path": path }); count] });
    assert!(answered(&mut world.adapter(), &many(256)).is_some());
    assert_eq!(answered(&mut world.adapter(), &many(257)), None);
}

#[test]
fn a_person_is_not_offered_to_end_all_questions_and_answers_with_what_is_offered() {
    let world = World::new();
    let mut adapter = world.adapter();
    let call = json!({ "kind": "made-up" });
    let answers = [
        (json!({ "outcome": { "outcome": "selected", "optionId": "yes" } }), true),
        (json!({ "outcome": { "outcome": "selected", "optionId": "no" } }), true),
        (json!({ "outcome": { "outcome": "cancelled" } }), true),
        (json!({ "outcome": { "outcome": "selected", "optionId": "always" } }), false),
        (json!({ "outcome": { "outcome": "selected" } }), false),
        (json!({}), false),
    ];
    for (answer, passes) in answers {
        let Some(Said::ToEditor(line)) = adapter.hear_agent(&asks(&call)) else { panic!() };
        let asked = read(&line);
        let offered = asked["params"]["options"].as_array().unwrap().iter();
        let offered: Vec<&str> = offered.map(|it| it["optionId"].as_str().unwrap()).collect();
        assert_eq!(offered, ["yes", "no", "never"]);
        assert_eq!((&asked["id"], &asked["params"]["toolCall"]), (&json!(7), &call));
        let line = json!({ "jsonrpc": "2.0", "id": 7, "result": answer }).to_string();
        let Some(Said::ToAgent(told)) = adapter.hear_editor(line.as_bytes()) else { panic!() };
        let outcome = read(&told)["result"].clone();
        let expected = if passes { answer.clone() } else { option::cancelled() };
        assert_eq!(outcome, expected, "{answer}");
    }
}

#[test]
fn where_no_answer_fits_nothing_happens() {
    let world = World::new();
    let mut adapter = world.adapter();
    let asks = |kinds: &[&str], call: &Json| {
        let options: Vec<Json> =
            kinds.iter().map(|kind| json!({ "optionId": kind, "kind": kind })).collect();
        json!({ "jsonrpc": "2.0", "id": 1, "method": "session/request_permission",
                "params": { "toolCall": call, "options": options } })
        .to_string()
    };
    let (good, bad) = (
        json!({ "kind": "execute", "rawInput": { "command": "ls" } }),
        json!({ "kind": "execute", "rawInput": { "command": "sudo rm -rf /" } }),
    );
    let mut outcome = |text: String| match adapter.hear_agent(text.as_bytes()).unwrap() {
        Said::ToAgent(line) => read(&line)["result"]["outcome"]["outcome"].clone(),
        Said::ToEditor(_) => "asked".into(),
    };
    assert_eq!(outcome(asks(&["allow_once"], &bad)), "cancelled");
    assert_eq!(outcome(asks(&[], &bad)), "cancelled");
    assert_eq!(outcome(asks(&["allow_always"], &good)), "cancelled", "it would end all questions");
    assert_eq!(outcome(asks(&["allow_always", "reject_once"], &good)), "selected", "the other one");
    assert_eq!(outcome(asks(&["allow_once", "reject_once"], &json!({}))), "asked");
}

#[test]
fn the_editor_does_nothing_outside_of_the_walls() {
    let world = World::new();
    let mut adapter = world.adapter();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": 1, "clientCapabilities": {
            "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true, "other": 1 } } });
    let Some(Said::ToAgent(line)) = adapter.hear_editor(hello.to_string().as_bytes()) else {
        panic!()
    };
    let capabilities = json!({ "fs": { "readTextFile": false, "writeTextFile": false },
                               "terminal": false, "other": 1 });
    assert_eq!(read(&line)["params"]["clientCapabilities"], capabilities);
    assert_eq!(read(&line)["params"]["protocolVersion"], 1);

    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "_made/up"] {
        let line = json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": {} }).to_string();
        let Some(Said::ToAgent(told)) = adapter.hear_agent(line.as_bytes()) else {
            panic!("{method}")
        };
        assert_eq!(read(&told)["error"]["code"], rpc::METHOD_NOT_FOUND, "{method}");
        let told = json!({ "jsonrpc": "2.0", "method": method, "params": {} }).to_string();
        assert_eq!(adapter.hear_agent(told.as_bytes()), None, "{method}");
    }
    let update = br#"{"jsonrpc":"2.0","method":"session/update","params":{"x":1}}"#;
    assert_eq!(adapter.hear_agent(update), Some(Said::ToEditor(update.to_vec())));
    let hidden = b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"Method\":\"fs/x\",\"params\":{\"u\":[\r{}\r]}}";
    let Some(Said::ToEditor(plain)) = adapter.hear_agent(hidden) else { panic!() };
    assert_eq!(plain, br#"{"jsonrpc":"2.0","method":"session/update","params":{"u":[{}]}}"#);
    for odd in ["", "x", "[]", "[{}]", r#"{"jsonrpc":"2.0"}"#, "{}"] {
        assert_eq!(adapter.hear_agent(odd.as_bytes()), None, "{odd}");
        assert!(matches!(adapter.hear_editor(odd.as_bytes()), Some(Said::ToEditor(_))), "{odd}");
    }
}

#[test]
fn a_session_works_in_a_folder_of_the_project() {
    let world = World::new();
    let mut adapter = world.adapter();
    let open = |method: &str, cwd: &Json| {
        json!({ "jsonrpc": "2.0", "id": 5, "method": method,
                "params": { "cwd": cwd, "mcpServers": [] } })
        .to_string()
    };
    for cwd in [json!("/"), json!("/etc"), json!("deep"), json!(""), json!(1), Json::Null] {
        let said = adapter.hear_editor(open("session/new", &cwd).as_bytes()).unwrap();
        let Said::ToEditor(line) = said else { panic!("{cwd} is no folder of the project") };
        let message = read(&line)["error"]["message"].as_str().unwrap().to_owned();
        assert!(
            message.contains("is not in the project") && message.contains("--root"),
            "{message}"
        );
    }
    let edit = json!({ "kind": "edit", "locations": [{ "path": "settings.json" }] });
    assert_eq!(answered(&mut adapter, &edit).unwrap()["optionId"], "yes");
    let line = open("session/new", &json!(world.project.path(".vscode")));
    assert_eq!(adapter.hear_editor(line.as_bytes()), Some(Said::ToAgent(line.clone().into())));
    let opened = br#"{"jsonrpc":"2.0","id":5,"result":{"sessionId":"s"}}"#;
    assert_eq!(adapter.hear_agent(opened), Some(Said::ToEditor(opened.to_vec())));
    assert_eq!(answered(&mut adapter, &edit).unwrap()["optionId"], "no", "it is protected there");
}

#[test]
fn a_policy_that_asks_has_a_person_asked() {
    let policy = "version: 1\ncommands:\n  rules:\n    - { tool: execute, args: { command: '^make' }, action: ask }\n";
    let world = World { policy, ..World::new() };
    let call = json!({ "kind": "execute", "rawInput": { "command": "make" } });
    assert_eq!(answered(&mut world.adapter(), &call), None);
}
