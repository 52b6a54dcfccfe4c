//! Real agents through the proxy.

use std::fs;
use std::process::Command;

use palisade_testkit::{Fact, Need, need};
use serde_json::json;

use super::Scene;
use crate::kit::{Person, World};

/// Agents, by the folder of `PALISADE_TEST_AGENTS`, in which `npm` installed them.
const AGENTS: &str = r#"for a in claude codex gemini opencode; do test -x "$PALISADE_TEST_AGENTS/$a" || exit 1; done"#;

/// Writes what a model is to ask for: a tool of an agent that writes a file.
fn script(agent: &str, paths: [&str; 2]) -> String {
    let call = |path: &str| match agent {
        "claude" => format!("call Write {{\"file_path\": \"{path}\", \"content\": \"x\"}}"),
        "codex" => format!("call exec_command {{\"cmd\": \"echo x > {path}\"}}"),
        "gemini" => format!("call write_file {{\"file_path\": \"{path}\", \"content\": \"x\"}}"),
        _ => format!("call write {{\"filePath\": \"{path}\", \"content\": \"x\"}}"),
    };
    format!("x\n{}", paths.map(call).join("\n"))
}

/// Writes the settings of agents that have their model's address there, and what OpenCode reads.
fn prepare(agent: &str, scene: &Scene, script: &str) {
    let write = |path: &str, text: &str| {
        let path = scene.world.home.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    match agent {
        "gemini" => {
            let key = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
            write(".gemini/settings.json", &key.to_string());
        }
        "opencode" => {
            let options = json!({ "baseURL": format!("{}/v1", scene.url), "apiKey": "k" });
            let models = json!({ "m-1": { "name": "m-1", "tool_call": true } });
            let local = json!({ "npm": "@ai-sdk/openai-compatible", "name": "local",
                "options": options, "models": models });
            let settings = json!({ "model": "local/m-1", "autoupdate": false,
                "permission": { "external_directory": "allow", "edit": "allow" },
                "provider": { "local": local } });
            write(".config/opencode/opencode.json", &settings.to_string());
            write("script", script);
        }
        _ => {}
    }
}

/// Tells an agent where its model is, and what to do.
fn tell(agent: &str, scene: &Scene, command: &mut Command, script: &str) {
    let url = &scene.url;
    match agent {
        "claude" => {
            command.args(["claude", "-p", "--permission-mode", "bypassPermissions", script]);
            command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "sk-x");
            command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        }
        "codex" => {
            let provider = format!(
                "model_providers.p={{name=\"p\",base_url=\"{url}/v1\",env_key=\"K\",wire_api=\"responses\"}}"
            );
            command.args(["codex", "exec", "--skip-git-repo-check", "-m", "m-1"]);
            command.args(["--dangerously-bypass-approvals-and-sandbox", "-c", "model_provider=p"]);
            command.args(["-c", &provider, script]).env("K", "sk-x");
        }
        "gemini" => {
            command.args(["gemini", "--yolo", "--model", "gemini-2.5-flash", "-p", script]);
            command.env("GEMINI_API_KEY", "k").env("GOOGLE_GEMINI_BASE_URL", url);
            command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        }
        _ => {
            // It would put quotes around words of the command line.
            command.args(["opencode", "run", "-m", "local/m-1"]);
            command.stdin(fs::File::open(scene.world.home.root().join("script")).unwrap());
        }
    }
}

fn tried(agent: &str) {
    if need(Fact::Tools(AGENTS)) == Need::Skip {
        return;
    }
    let agents = std::env::var("PALISADE_TEST_AGENTS").unwrap();
    let path = format!("{agents}:{}", std::env::var("PATH").unwrap());
    let world = World { person: Person::Nobody, ..World::new() };
    let scene = Scene::new(world, &["--enable-sandboxing"]);
    let inside = scene.world.project.path("inside");
    // An ordinary user could write to its home, and nobody else's files are at stake.
    let outside = scene.world.home.root().join("outside");
    // A command may write to folders for temporary files, and the home of a test is in one.
    let named = if agent == "codex" { "/etc/passwd" } else { outside.to_str().unwrap() };
    // One call leaves the project, the other does not: the second is carried out.
    let script = script(agent, [named, inside.to_str().unwrap()]);
    prepare(agent, &scene, &script);
    let mut command = scene.world.command("timeout");
    command.args(["-k", "5", "150"]).env("PATH", &path).env("TERM", "dumb");
    tell(agent, &scene, &mut command, &script);
    let ran = scene.world.finish(&mut command);
    let told = format!("{agent}: {}{}{}", ran.stdout, ran.stderr, scene.log());
    assert_eq!(ran.code, Some(0), "{told}");
    assert!(scene.log().contains("violation detected for tool"), "{told}");
    assert!(!fs::exists(outside).unwrap(), "{told}");
    assert!(fs::exists(inside).unwrap(), "{told}");
    assert!(scene.asked().len() >= 2, "it goes on: {told}");
}

#[test]
fn claude_code_carries_out_no_call_that_leaves_the_project_and_goes_on() {
    tried("claude");
}

#[test]
fn codex_carries_out_no_call_that_leaves_the_project_and_goes_on() {
    tried("codex");
}

#[test]
fn gemini_cli_carries_out_no_call_that_leaves_the_project_and_goes_on() {
    tried("gemini");
}

#[test]
fn opencode_carries_out_no_call_that_leaves_the_project_and_goes_on() {
    tried("opencode");
}
