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
    /// What that person says.
    agrees: bool,
    /// What the agent and the adapter complain about.
    errors: std::path::PathBuf,
}

impl Editor {
    fn new(world: &World, words: &[&str], variables: &[(&str, String)]) -> Self {
        let mut command = world.command(PALISADE);
        command.arg("acp").args(words).envs(variables.iter().cloned());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TERM", "dumb");
        let errors = world.home.path("errors");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(fs::File::create(&errors).unwrap());
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
        Self { acp, to, heard, asked: 0, agrees: false, errors }
    }

    fn errors(&self) -> String {
        fs::read_to_string(&self.errors).unwrap_or_default()
    }

    fn say(&mut self, message: &Json) {
        writeln!(self.to, "{message}").unwrap();
    }

    /// Asks for something, and answers whatever a person is asked meanwhile.
    fn ask(&mut self, id: u64, method: &str, params: &Json) -> Json {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let heard = self.heard.recv_timeout(Duration::from_secs(120));
            let heard =
                heard.unwrap_or_else(|_| panic!("{method} is not answered: {}", self.errors()));
            if heard["method"] == "session/request_permission" {
                self.asked += 1;
                let options = heard["params"]["options"].as_array().unwrap();
                let kinds: Vec<&Json> = options.iter().map(|option| &option["kind"]).collect();
                assert!(!kinds.contains(&&json!("allow_always")), "{heard}");
                let wanted = if self.agrees { "allow_once" } else { "reject_once" };
                let option = options.iter().find(|option| option["kind"] == wanted).unwrap();
                let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
                self.say(&json!({ "jsonrpc": "2.0", "id": heard["id"],
                                  "result": { "outcome": outcome } }));
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

/// Has an agent make one call, to which a person agrees or not if asked; returns whether the file that
/// it was to make is there, how it was judged, and whether a person was asked.
fn makes(agent: &str, program: &Path, command: &str, agrees: bool) -> (bool, Vec<Json>, usize) {
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
    // It makes this one when it is first started, which is not done behind walls.
    write(".config/opencode/.gitignore", "node_modules\n");
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
    editor.agrees = agrees;
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
    let asked = editor.asked;
    drop(editor);
    let log = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap_or_default();
    let events = log.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let told = events.filter_map(|event| match event["event"].as_str()? {
        "tool-call" => Some(json!([event["tool"], event["verdict"]])),
        "confirmation" => Some(json!([event["by"], event["answer"]])),
        _ => None,
    });
    // Whoever named the agent agreed to it by that.
    let told = told.filter(|told| told[0] != "command-line").collect();
    (world.project.path("made").exists(), told, asked)
}

const DENIED: &str = "touch made; touch /etc/palisade-was-here";

/// One that tells what it is about to do: the policy answers, and nobody else.
fn tried(agent: &str) {
    let Some(program) = program(agent) else { return };
    let allowed = makes(agent, &program, "touch made", false);
    assert_eq!(allowed, (true, vec![json!(["execute", "allow"])], 0), "what is allowed happens");
    // One that leaves the project is asked about first as something else than a command.
    let (made, told, asked) = makes(agent, &program, DENIED, true);
    assert_eq!((made, asked), (false, 0), "what is denied does not: {told:?}");
    assert!(told.iter().all(|told| told[1] == "deny") && told.len() == 1, "{told:?}");
    assert!(!Path::new("/etc/palisade-was-here").exists());
}

#[test]
fn opencode_goes_by_the_answers_of_the_policy() {
    tried("opencode");
}

#[test]
fn copilot_cli_goes_by_the_answers_of_the_policy() {
    tried("copilot");
}

/// It tells a title alone, for people: a person is asked, and the walls hold whatever that one says.
#[test]
fn gemini_cli_goes_by_the_answers_of_a_person() {
    let Some(program) = program("gemini") else { return };
    let said = |word: &str| vec![json!(["execute", "ask"]), json!(["acp", word])];
    assert_eq!(makes("gemini", &program, "touch made", true), (true, said("yes"), 1));
    assert_eq!(makes("gemini", &program, "touch made", false), (false, said("no"), 1));
    assert_eq!(makes("gemini", &program, DENIED, true), (true, said("yes"), 1));
    assert!(!Path::new("/etc/palisade-was-here").exists());
}
