//! The official clients, and agents, through the proxy.

use std::path::Path;

use palisade_testkit::{Fact, Need, Project, need};

use super::Scene;
use crate::kit::{Person, World};

/// A Python that has the official clients: `PALISADE_TEST_PYTHON`, or else one in a folder of the test,
/// for which `pip` installs them.
fn python() -> Option<(Option<Project>, String)> {
    if let Ok(python) = std::env::var("PALISADE_TEST_PYTHON") {
        return Some((None, python));
    }
    let tools =
        "python3 -m venv --help && python3 -m pip download -q --no-deps -d $(mktemp -d) openai";
    if need(Fact::Tools(tools)) == Need::Skip {
        return None;
    }
    let folder = Project::new();
    let venv = folder.path("venv");
    let run = |program: &Path, arguments: &[&str]| {
        std::process::Command::new(program)
            .args(arguments)
            .status()
            .is_ok_and(|ended| ended.success())
    };
    let made = run(Path::new("python3"), &["-m", "venv", venv.to_str().unwrap()])
        && run(&venv.join("bin/pip"), &["install", "-q", "openai", "anthropic", "google-genai"]);
    assert!(made, "the official clients cannot be installed");
    let python = venv.join("bin/python").to_str().unwrap().to_owned();
    Some((Some(folder), python))
}

#[test]
fn the_official_clients_read_what_the_proxy_passes_on() {
    let Some((_folder, python)) = python() else { return };
    for retry in [false, true] {
        let policy = if retry { "retry" } else { "answer" };
        let text = format!("version: 1\ntools: {{enabled: true, on_violation: {policy}}}\n");
        let scene = Scene::new(World::new().user_policy(&text), &[]);
        scene.world.write("clients.py", include_str!("clients.py"));
        let mut command = scene.world.command(&python);
        command.args(["clients.py", &scene.url, policy]);
        let ran = scene.world.finish(&mut command);
        assert_eq!(ran.code, Some(0), "{policy}: {}{}{}", ran.stdout, ran.stderr, scene.log());
        assert_eq!(
            ran.stdout.lines().filter(|line| line.starts_with("ok ")).count(),
            16,
            "{}",
            ran.stdout
        );
    }
}

/// Agents, by the folder of `PALISADE_TEST_AGENTS`, in which `npm` installed them.
const AGENTS: &str =
    r#"test -x "$PALISADE_TEST_AGENTS/claude" && test -x "$PALISADE_TEST_AGENTS/codex""#;

#[test]
fn real_agents_carry_out_no_call_that_leaves_the_project_and_go_on() {
    if need(Fact::Tools(AGENTS)) == Need::Skip {
        return;
    }
    let agents = std::env::var("PALISADE_TEST_AGENTS").unwrap();
    let path = format!("{agents}:{}", std::env::var("PATH").unwrap());
    for agent in ["claude", "codex"] {
        let world = World { person: Person::Nobody, ..World::new() };
        let scene = Scene::new(world, &["--enable-sandboxing"]);
        let (inside, outside) =
            (scene.world.project.path("inside"), scene.world.home.root().join("outside"));
        let (inside, outside) = (inside.to_str().unwrap(), outside.to_str().unwrap());
        let mut command = scene.world.command("timeout");
        command.args(["-k", "5", "90"]).env("PATH", &path).env("TERM", "dumb");
        // One call leaves the project, the other does not: the second is carried out.
        match agent {
            "claude" => {
                let write = |path: &str| {
                    format!("call Write {{\"file_path\": \"{path}\", \"content\": \"x\"}}")
                };
                command.args(["claude", "-p", "--permission-mode", "bypassPermissions"]);
                command.arg(format!("x\n{}\n{}", write(outside), write(inside)));
                command.env("ANTHROPIC_BASE_URL", &scene.url).env("ANTHROPIC_API_KEY", "sk-x");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            }
            _ => {
                let write =
                    |path: &str| format!("call exec_command {{\"cmd\": \"echo x > {path}\"}}");
                let base = &scene.url;
                command.args(["codex", "exec", "--skip-git-repo-check", "-m", "m-1"]);
                command.args([
                    "--dangerously-bypass-approvals-and-sandbox",
                    "-c",
                    "model_provider=p",
                    "-c",
                ]);
                command.arg(format!("model_providers.p={{name=\"p\",base_url=\"{base}/v1\",env_key=\"K\",wire_api=\"responses\"}}"));
                command
                    .arg(format!("x\n{}\n{}", write("/etc/passwd"), write(inside)))
                    .env("K", "sk-x");
            }
        }
        let ran = scene.world.finish(&mut command);
        let told = format!("{agent}: {}{}{}", ran.stdout, ran.stderr, scene.log());
        assert_eq!(ran.code, Some(0), "{told}");
        assert!(scene.log().contains("violation detected for tool"), "{told}");
        assert!(!std::fs::exists(outside).unwrap(), "{told}");
        assert!(std::fs::exists(inside).unwrap(), "{told}");
        assert!(scene.asked().len() >= 2, "it goes on: {told}");
    }
}
