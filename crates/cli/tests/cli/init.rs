//! `palisade init`, and what the doctor says where nobody reads warnings.

use std::fs;

use crate::kit::{PALISADE, Ran, World, as_both};

const SITUATIONS: [&str; 5] = ["dev", "internal", "ci", "saas", "multi-tenant"];

/// Runs the doctor as a service that builds and tests does, or as a person.
fn doctor(world: &World, policy: &str, ci: bool) -> Ran {
    let mut command = world.command(PALISADE);
    command.args(["doctor", "--policy", policy]);
    world.finish(command.envs(ci.then_some(("CI", "true"))))
}

#[test]
fn a186_init_writes_a_commented_policy_for_each_situation() {
    for situation in SITUATIONS {
        as_both(|world| {
            let ran = world.run(&["init", "--for", situation]);
            assert_eq!(ran.code, Some(0), "{situation}: {}", ran.stderr);
            assert_eq!(ran.stdout, "wrote /home/dev/app/.palisade/policy.yaml\n");
            let text = fs::read_to_string(world.project.path(".palisade/policy.yaml")).unwrap();
            let comments = text.lines().filter(|line| line.trim_start().starts_with('#')).count();
            assert!(comments >= 4, "{situation}: {text}");

            let checked =
                world.run(&["policy", "check", "--deny-warnings", ".palisade/policy.yaml"]);
            assert_eq!(checked.code, Some(0), "{situation}: {}", checked.stderr);
            let ran = world.run(&["trust", "--yes"]);
            assert_eq!(ran.code, Some(0), "{situation}: {}", ran.stderr);
            let ran = world.run(&["run", "--", "sh", "-c", "echo in > here; echo out > ~/there"]);
            assert_ne!(ran.code, Some(0), "{situation}: {}", ran.stdout);
            assert!(!world.home.path("there").exists(), "{situation}");
            let ran = world.run(&["run", "--", "sh", "-c", "echo in > here"]);
            assert_eq!(ran.code, Some(0), "{situation}: {}", ran.stderr);
            assert!(world.project.path("here").exists(), "{situation}");
        });
    }
    let ran = World::new().run(&["init", "--for", "fun"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("dev, internal, ci, saas and multi-tenant"), "{}", ran.stderr);
}

#[test]
fn a186_the_doctor_fails_where_a_service_builds_without_walls() {
    as_both(|world| {
        world.write("off/sandbox.json", r#"{"enabled": false}"#);
        world.write("on/sandbox.json", r#"{"enabled": true}"#);
        for (folder, ci, code) in [("off", true, 125), ("off", false, 0), ("on", true, 0)] {
            let policy = format!("agentao:{folder}/sandbox.json");
            let ran = doctor(&world, &policy, ci);
            assert_eq!(ran.code, Some(code), "{folder} {ci}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.stdout.contains("confinement is OFF"), code == 125, "{}", ran.stdout);
            assert_eq!(
                ran.stdout.contains("  remedy: switch it on"),
                code == 125,
                "{}",
                ran.stdout
            );
        }
    });
}

#[test]
fn what_is_there_stays_and_print_writes_nothing() {
    let world = World::with_policy("require: full\n");
    let ran = world.run(&["init"]);
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr.contains("error[policy-exists]"), "{}", ran.stderr);
    let world = World::new();
    let ran = world.run(&["init", "--for", "ci", "--print"]);
    assert!(ran.stdout.contains("backend: deny"), "{}", ran.stdout);
    assert!(!world.project.path(".palisade").exists());
}

#[test]
fn a_user_s_own_policy_is_written_and_holds_at_once() {
    let world = World::new();
    let told = world.json(&["init", "--for", "internal", "--user", "--json"]);
    assert_eq!(told["trusted"], true, "{told:#}");
    assert_eq!(told["situation"], "internal");
    let shown = world.run(&["policy", "show"]);
    assert!(shown.stdout.contains("git.example.com"), "{}", shown.stdout);
    assert!(!world.project.path(".palisade").exists());
}

#[test]
fn an_agent_gets_a_section_and_its_hook() {
    let world = World::new();
    let ran = world.run(&["init", "--for", "ci", "--agent", "claude", "--hook", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let settings = fs::read_to_string(world.home.path(".claude/settings.json")).unwrap();
    assert!(settings.contains("hook claude"), "{settings}");
    let shown = world.run(&["policy", "show", "--agent", "claude"]);
    assert!(shown.stdout.contains("allow-list"), "{}{}", shown.stdout, shown.stderr);
    let others = world.run(&["policy", "show"]);
    assert!(others.stdout.contains("deny-all"), "{}", others.stdout);
    for (agent, code) in [("nobody", "no-such-agent"), ("aider", "no-hook")] {
        let ran = World::new().run(&["init", "--agent", agent, "--hook"]);
        assert!(ran.stderr.contains(code), "{}", ran.stderr);
    }
}

#[test]
fn without_a_terminal_it_says_what_waits_for_trust() {
    let world = World::new();
    let ran = world.run(&["init"]);
    assert!(ran.stderr.contains("until you trust it"), "{}", ran.stderr);
    assert!(ran.stderr.contains("network.mode"), "{}", ran.stderr);
}
