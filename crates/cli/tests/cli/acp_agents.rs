//! Real agents that speak the Agent Client Protocol, behind `palisade acp`, against a model's server
//! that follows a script.
//!
//! `PALISADE_TEST_AGENTS` names the folder with their programs, as for hooks.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::hook_agents::{Upstream, program};
use crate::kit::{PALISADE, Person, World};

/// An editor with an agent.
struct Editor {
    acp: Child,
    to: ChildStdin,
    heard: Receiver<Json>,
    /// Questions that a person was to answer.
    asked: usize,
}

impl Editor {
    fn new(world: &World, words: &[&str], variables: &[(&str, String)]) -> Self {
        let mut command = world.command(PALISADE);
        command.arg("acp").args(words).envs(variables.iter().cloned());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TERM", "dumb");
        let errors = fs::File::create(world.home.path("errors")).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut acp = command.spawn().unwrap();
        let to = acp.stdin.take().unwrap();
        let (sender, heard) = channel();
        let from: BufReader<ChildStdout> = BufReader::new(acp.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                sender
                    .send(serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}")))
                    .ok();
            }
        });
        Self { acp, to, heard, asked: 0 }
    }

    fn say(&mut self, message: &Json) {
        writeln!(self.to, "{message}").unwrap();
    }

    /// Asks for something, and says no to whatever a person is asked meanwhile.
    fn ask(&mut self, id: u64, method: &str, params: &Json) -> Json {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let heard = self.heard.recv_timeout(Duration::from_secs(120));
            let heard = heard.unwrap_or_else(|_| panic!("{method} is not answered"));
            if heard["method"] == "session/request_permission" {
                self.asked += 1;
                self.say(&json!({ "jsonrpc": "2.0", "id": heard["id"],
                                  "result": { "outcome": { "outcome": "cancelled" } } }));
            } else if heard["id"] == id && heard.get("method").is_none() {
                assert!(heard.get("error").is_none(), "{method}: {heard}");
                return heard["result"].clone();
            }
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.acp.kill().ok();
        self.acp.wait().ok();
    }
}

/// Has an agent make one call; returns whether the file that it was to make is there, and how it was
/// judged.
fn makes(agent: &str, program: &Path, command: &str) -> (bool, Vec<(String, String)>) {
    let (tool, words): (&str, &[&str]) = match agent {
        "gemini" => ("run_shell_command", &["--acp", "--model", "gemini-2.5-flash"]),
        "opencode" => ("bash", &["acp"]),
        _ => ("bash", &["--acp"]),
    };
    let upstream = Upstream::asking(tool, &json!({ "command": command, "description": "d" }));
    let policy = format!(
        "version: 1\naudit: {{ path: ~/log/events.jsonl }}\n\
         network: {{ mode: allow-list, host_ports: [{}] }}\n\
         env: {{ pass: [GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL, GEMINI_CLI_TRUST_WORKSPACE, \
         COPILOT_PROVIDER_BASE_URL, COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_TYPE, COPILOT_MODEL, \
         COPILOT_OFFLINE] }}\n",
        upstream.port
    );
    let root = rustix::process::geteuid().is_root();
    let person = if root { Person::Nobody } else { Person::Ours };
    let world = World { person, ..World::new() }.user_policy(&policy);
    let url = format!("http://host.palisade.internal:{}", upstream.port);
    let write = |path: &str, text: &str| {
        let path = world.home.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let settings = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    write(".gemini/settings.json", &settings.to_string());
    let provider = json!({ "model": "local/scripted", "autoupdate": false,
        "permission": { "bash": "ask" }, "provider": { "local": {
            "npm": "@ai-sdk/openai-compatible", "name": "local",
            "options": { "baseURL": format!("{url}/v1"), "apiKey": "k" },
            "models": { "scripted": { "name": "scripted", "tool_call": true } } } } });
    write(".config/opencode/opencode.json", &provider.to_string());
    let variables = [
        ("GEMINI_API_KEY", "k".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", url.clone()),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
        ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
        ("COPILOT_PROVIDER_API_KEY", "k".to_owned()),
        ("COPILOT_PROVIDER_TYPE", "openai".to_owned()),
        ("COPILOT_MODEL", "scripted".to_owned()),
        ("COPILOT_OFFLINE", "true".to_owned()),
    ];
    let program = program.to_str().unwrap();
    let line = [&["--agent", agent, "--", program][..], words].concat();
    let mut editor = Editor::new(&world, &line, &variables);
    let capabilities =
        json!({ "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true });
    editor.ask(
        1,
        "initialize",
        &json!({ "protocolVersion": 1, "clientCapabilities": capabilities }),
    );
    let root = world.project.root().canonicalize().unwrap();
    let opened = editor.ask(2, "session/new", &json!({ "cwd": root, "mcpServers": [] }));
    let prompt = json!([{ "type": "text", "text": "go" }]);
    editor.ask(3, "session/prompt", &json!({ "sessionId": opened["sessionId"], "prompt": prompt }));
    assert_eq!(editor.asked, 0, "the policy answers");
    drop(editor);
    let log = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap_or_default();
    let events = log.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let calls = events.filter(|event| event["event"] == "tool-call");
    let calls = calls.map(|call| (text(&call["tool"]), text(&call["verdict"]))).collect();
    (world.project.path("made").exists(), calls)
}

fn tried(agent: &str) {
    let Some(program) = program(agent) else { return };
    let (made, calls) = makes(agent, &program, "touch made");
    assert!(made, "what is allowed happens: {calls:?}");
    assert_eq!(calls, [("execute".to_owned(), "allow".to_owned())]);
    let (made, calls) = makes(agent, &program, "touch made; touch /etc/palisade-was-here");
    assert!(!made, "what is denied does not: {calls:?}");
    assert_eq!(calls, [("execute".to_owned(), "deny".to_owned())]);
    assert!(!Path::new("/etc/palisade-was-here").exists());
}

#[test]
fn gemini_cli_goes_by_the_answers_of_the_policy() {
    tried("gemini");
}

#[test]
fn opencode_goes_by_the_answers_of_the_policy() {
    tried("opencode");
}

#[test]
fn copilot_cli_goes_by_the_answers_of_the_policy() {
    tried("copilot");
}
