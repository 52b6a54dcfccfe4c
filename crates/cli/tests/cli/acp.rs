//! `palisade acp`: an editor, an agent behind walls, and what passes between them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World, as_both};

/// An agent that does what it is told by prompts, and tells what came of it.
const AGENT: &str = r##"
import json, sys, os
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def hear(): return json.loads(sys.stdin.readline())
for line in sys.stdin:
    told = json.loads(line)
    method, params = told.get("method"), told.get("params", {})
    if method == "initialize":
        say({"id": told["id"], "result": {"protocolVersion": 1, "seen": params["clientCapabilities"]}})
    elif method == "session/new":
        say({"id": told["id"], "result": {"sessionId": "s"}})
    elif method == "session/prompt":
        what = params["do"]
        if "ask" in what:
            options = [{"optionId": o, "name": o, "kind": o} for o in
                       ("allow_always", "allow_once", "reject_once")]
            say({"id": 1, "method": "session/request_permission",
                 "params": {"sessionId": "s", "toolCall": what["ask"], "options": options}})
            came = hear()["result"]["outcome"]
        elif "call" in what:
            say({"id": 2, "method": what["call"], "params": {"sessionId": "s", "path": "/etc/passwd"}})
            came = hear()["error"]["message"]
        elif "die" in what:
            os.kill(os.getpid(), what["die"])
        else:
            try: came = open(what["open"], "a").name
            except OSError as error: came = error.strerror
        say({"id": told["id"], "result": {"came": came}})
"##;

struct Editor {
    acp: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Editor {
    fn new(world: &World) -> Self {
        world.write("agent.py", AGENT);
        let mut command = world.command(PALISADE);
        command.args(["acp", "--", "python3", "agent.py"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut acp = command.spawn().unwrap();
        let (to, from) = (acp.stdin.take().unwrap(), acp.stdout.take().unwrap());
        Self { acp, to, from: BufReader::new(from) }
    }

    fn say(&mut self, message: &Json) {
        writeln!(self.to, "{message}").unwrap();
    }

    fn hear(&mut self) -> Json {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    fn ask(&mut self, method: &str, params: &Json) -> Json {
        self.say(&json!({ "jsonrpc": "2.0", "id": 9, "method": method, "params": params }));
        self.hear()
    }

    /// Has the agent do something, and returns what came of it for the agent.
    fn prompt(&mut self, what: &Json) -> Json {
        self.ask("session/prompt", &json!({ "sessionId": "s", "do": what }))["result"]["came"]
            .clone()
    }
}

#[test]
fn an_agent_is_answered_by_the_policy_and_held_by_the_walls() {
    as_both(|world| {
        let mut editor = Editor::new(&world);
        let hello = json!({ "protocolVersion": 1,
                            "clientCapabilities": { "fs": { "readTextFile": true }, "terminal": true } });
        let seen = editor.ask("initialize", &hello)["result"]["seen"].clone();
        assert_eq!(
            (&seen["terminal"], &seen["fs"]["readTextFile"]),
            (&json!(false), &json!(false))
        );
        let refused = editor.ask("session/new", &json!({ "cwd": "/etc", "mcpServers": [] }));
        assert!(refused["error"]["message"].as_str().unwrap().contains("--root"), "{refused}");
        let root = world.project.root().canonicalize().unwrap();
        let opened = editor.ask("session/new", &json!({ "cwd": root, "mcpServers": [] }));
        assert_eq!(opened["result"]["sessionId"], "s");

        let run =
            |text: &str| json!({ "ask": { "kind": "execute", "rawInput": { "command": text } } });
        assert_eq!(editor.prompt(&run("ls"))["optionId"], "allow_once");
        assert_eq!(editor.prompt(&run("cat /etc/shadow; rm -rf /"))["optionId"], "reject_once");

        // What the policy does not know goes to a person.
        let odd = json!({ "sessionId": "s", "do": { "ask": { "kind": "other", "title": "odd" } } });
        let asked = editor.ask("session/prompt", &odd);
        assert_eq!(asked["method"], "session/request_permission");
        let offered = asked["params"]["options"].as_array().unwrap();
        assert_eq!(offered.len(), 2, "{asked}");
        editor.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result":
            { "outcome": { "outcome": "selected", "optionId": "allow_once" } } }));
        assert_eq!(editor.hear()["result"]["came"]["optionId"], "allow_once");

        // The editor is not used as a way around the walls, and the walls are there.
        for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create"] {
            let came = editor.prompt(&json!({ "call": method }));
            assert!(came.as_str().unwrap().contains("outside of the walls"), "{came}");
        }
        let outside = world.home.path("outside");
        fs::write(&outside, "kept").unwrap();
        let came = editor.prompt(&json!({ "open": outside }));
        assert_eq!(came, "Read-only file system");
        let came = editor.prompt(&json!({ "open": "inside" }));
        assert_eq!(came, "inside");
        assert!(world.project.path("inside").exists());

        let Editor { mut acp, to, from } = editor;
        drop(to);
        assert!(acp.wait().unwrap().success(), "the agent leaves with its editor");
        drop(from);
    });
}

#[test]
fn questions_are_recorded_with_their_answers() {
    let world = World::new().user_policy("audit: { path: ~/log/events.jsonl }\n");
    let mut editor = Editor::new(&world);
    let run = |id: &str, text: &str| json!({ "ask": { "kind": "execute", "toolCallId": id, "rawInput": { "command": text } } });
    editor.prompt(&run("c1", "ls"));
    editor.prompt(&run("c2", "rm -rf /"));
    for option in ["allow_once", "reject_once", "never-offered"] {
        let odd = json!({ "sessionId": "s", "do": { "ask": { "kind": "other", "title": "odd" } } });
        let asked = editor.ask("session/prompt", &odd);
        editor.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result":
            { "outcome": { "outcome": "selected", "optionId": option } } }));
        editor.hear();
    }
    let log = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
    let events = log.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let told = events.filter_map(|event| match event["event"].as_str()? {
        "tool-call" => Some(json!([event["tool"], event["call_id"], event["verdict"]])),
        "confirmation" if event["by"] == "acp" => Some(json!(["acp", event["answer"]])),
        _ => None,
    });
    let (ask, call) =
        (json!(["other", null, "ask"]), |id, verdict| json!(["execute", id, verdict]));
    let expected = [
        call("c1", "allow"),
        call("c2", "deny"),
        ask.clone(),
        json!(["acp", "yes"]),
        ask.clone(),
        json!(["acp", "no"]),
        ask,
        json!(["acp", "no"]),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn an_agent_that_a_signal_ends_is_no_success() {
    let world = World::new();
    for signal in [9, 11] {
        let mut editor = Editor::new(&world);
        let what = json!({ "sessionId": "s", "do": { "die": signal } });
        editor
            .say(&json!({ "jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": what }));
        let Editor { mut acp, to, from } = editor;
        assert_eq!(acp.wait().unwrap().code(), Some(128 + signal));
        drop((to, from));
    }
}

#[test]
fn an_agent_that_is_denied_or_missing_is_not_started() {
    let world = World::new();
    for (agent, code, says) in [
        (&["rm", "-rf", "/"][..], 126, "the agent is not started"),
        (&["no-such-agent"][..], 127, "`no-such-agent` was not found"),
    ] {
        let ran = world.run(&[&["acp", "--"][..], agent].concat());
        assert_eq!(ran.code, Some(code), "{agent:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says) && ran.stdout.is_empty(), "{agent:?}: {}", ran.stderr);
    }
    let ran = world.run(&["acp"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}
