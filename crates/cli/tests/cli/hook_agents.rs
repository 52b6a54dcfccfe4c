//! Real agents with the hook installed, against a model's server that follows a script.
//!
//! `PALISADE_TEST_AGENTS` names a folder with the programs of agents, as `npm install` leaves them in
//! `node_modules/.bin`; without it, and for each one that is not there, the test is skipped.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use palisade_testkit::{Fact, Need, need};
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, Person, World};

/// A server that asks for one tool call.
pub(crate) struct Upstream {
    server: Child,
    pub(crate) port: u16,
}

impl Upstream {
    pub(crate) fn asking(name: &str, input: &Json) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/upstream/scripted.py");
        let mut python = Command::new("/usr/bin/python3");
        python.arg(script).arg(json!({ "name": name, "input": input }).to_string());
        let mut server = python.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(server.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        // It goes on telling, and must not wait for anybody to read that.
        std::thread::spawn(move || lines.lines().for_each(drop));
        Self { server, port: line.trim().parse().unwrap() }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// Returns the program of an agent, if it is installed.
pub(crate) fn program(agent: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PALISADE_TEST_AGENTS").map(PathBuf::from);
    let found = folder.map(|folder| folder.join(agent)).filter(|program| program.exists());
    if found.is_none() {
        assert_eq!(need(Fact::Tools("test -n \"$PALISADE_TEST_AGENTS\"")), Need::Skip);
    }
    found
}

/// A home, a project and a copy of the binary that can be taken away.
struct Place {
    world: World,
    binary: PathBuf,
}

impl Place {
    fn new() -> Self {
        let root = rustix::process::geteuid().is_root();
        let person = if root { Person::Nobody } else { Person::Ours };
        let world = World { person, ..World::new() };
        let binary = world.home.path("bin/palisade");
        fs::create_dir_all(binary.parent().unwrap()).unwrap();
        static COPY: OnceLock<Vec<u8>> = OnceLock::new();
        fs::write(&binary, COPY.get_or_init(|| fs::read(PALISADE).unwrap())).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&binary, mode).unwrap();
        // Makes the file only where the home cannot be written.
        world.write("probe.sh", "#!/bin/sh\ntouch \"$HOME/leak\" || touch made\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(world.project.path("probe.sh"), mode).unwrap();
        Self { world, binary }
    }

    /// Has an agent make one call; returns whether the file that it was to make is there.
    fn makes(&self, agent: &str, program: &Path, command: &str) -> bool {
        let (tool, key) = match agent {
            "claude" => ("Bash", "command"),
            "codex" => ("exec_command", "cmd"),
            "gemini" => ("run_shell_command", "command"),
            _ => ("bash", "command"),
        };
        let upstream = Upstream::asking(tool, &json!({ key: command, "description": "d" }));
        let url = format!("http://127.0.0.1:{}", upstream.port);
        let home = self.world.home.root();
        let write = |path: &str, text: String| {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        match agent {
            "codex" => write(
                ".codex/config.toml",
                format!(
                    "model = \"scripted\"\nmodel_provider = \"local\"\n[model_providers.local]\nname = \
                     \"local\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"KEY\"\n"
                ),
            ),
            "opencode" => write(
                ".config/opencode/opencode.json",
                json!({ "model": "local/scripted", "autoupdate": false, "provider": { "local": {
                    "npm": "@ai-sdk/openai-compatible", "name": "local",
                    "options": { "baseURL": format!("{url}/v1"), "apiKey": "k" },
                    "models": { "scripted": { "name": "scripted", "tool_call": true } } } } })
                .to_string(),
            ),
            _ => {}
        }
        let mut command = self.world.command("/usr/bin/timeout");
        command.arg("120").arg(program).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("KEY", "k");
        command.env("TERM", "dumb").stdin(Stdio::null());
        let words: &[&str] = match agent {
            "claude" => &["-p", "go", "--permission-mode", "acceptEdits", "--allowedTools", "Bash"],
            "codex" => &[
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-bypass-hook-trust",
                "go",
            ],
            "gemini" => &["-p", "go", "--yolo", "--model", "gemini-2.5-flash"],
            "opencode" => &["run", "-m", "local/scripted", "go"],
            _ => &["-p", "go", "--allow-all-tools", "--no-color"],
        };
        let variables = [
            ("ANTHROPIC_BASE_URL", url.clone()),
            ("ANTHROPIC_API_KEY", "k".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("GEMINI_API_KEY", "k".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", url.clone()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
            ("COPILOT_PROVIDER_API_KEY", "k".to_owned()),
            ("COPILOT_PROVIDER_TYPE", "openai".to_owned()),
            ("COPILOT_MODEL", "scripted".to_owned()),
            ("COPILOT_OFFLINE", "true".to_owned()),
        ];
        command.envs(variables);
        let file = self.world.project.path("made");
        fs::remove_file(&file).ok();
        self.world.finish(command.args(words));
        file.exists()
    }

    fn install(&self, agent: &str, options: &[&str]) {
        let mut command = self.world.command(self.binary.to_str().unwrap());
        let ran =
            self.world.finish(command.args(["hook", "install", agent, "--yes"]).args(options));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
}

fn tried(agent: &str) {
    let Some(program) = program(agent) else { return };
    let place = Place::new();
    if agent == "gemini" {
        let settings =
            "// mine\n{ \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } } }\n";
        let file = place.world.home.path(".gemini/settings.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, settings).unwrap();
    }
    let denied = "touch made; touch /etc/palisade-was-here";
    assert!(place.makes(agent, &program, "touch made"), "the agent works by itself");
    place.install(agent, &[]);
    assert!(place.makes(agent, &program, "touch made"), "what is allowed happens");
    assert!(!place.makes(agent, &program, denied), "what is denied does not");
    assert!(!place.makes(agent, &program, "./probe.sh"), "without walls the home is open");
    if !matches!(agent, "codex") {
        place.install(agent, &["--wrap"]);
        assert!(place.makes(agent, &program, "./probe.sh"), "behind walls the home is not open");
        assert!(!place.makes(agent, &program, denied), "and what is denied does not");
        place.install(agent, &[]);
    }
    fs::remove_file(&place.binary).unwrap();
    assert!(!place.makes(agent, &program, "touch made"), "without the binary nothing does");
    assert!(!Path::new("/etc/palisade-was-here").exists());
}

#[test]
fn claude_code_goes_by_its_hook() {
    tried("claude");
}

#[test]
fn codex_goes_by_its_hook() {
    tried("codex");
}

#[test]
fn gemini_cli_goes_by_its_hook() {
    tried("gemini");
}

#[test]
fn copilot_cli_goes_by_its_hook() {
    tried("copilot");
}

#[test]
fn opencode_goes_by_its_plugin() {
    tried("opencode");
}
