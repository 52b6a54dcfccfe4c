//! The official clients, through the proxy.

use std::path::Path;

use palisade_testkit::{Fact, Need, Project, need};

use super::Scene;
use crate::kit::World;

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
