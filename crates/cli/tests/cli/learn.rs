//! `palisade learn`: what it proposes is enough, and opens no more.

use std::fs;

use serde_json::Value as Json;

use crate::kit::{Ran, World, as_both};

/// Writes to a folder outside, to a credential and to the system.
const NEEDY: &str = "mkdir -p src; echo x > src/made; echo y > ~/build/out 2>/dev/null; \
                     echo z > ~/.ssh/planted; echo w > /etc/palisade-learn; \
                     getent passwd root >/dev/null; true";

fn learn(world: &World, more: &[&str]) -> Ran {
    world.run(&[&["learn"], more, &["--", "sh", "needy.sh"]].concat())
}

fn prepared(world: World) -> World {
    let world = world.user_policy("network: { deny: [bad.example.com] }\n");
    world.write("needy.sh", NEEDY);
    for folder in ["build", ".ssh"] {
        fs::create_dir_all(world.home.path(folder)).unwrap();
    }
    world
}

#[test]
fn what_is_learned_is_enough_and_opens_no_more() {
    as_both(|world| {
        let world = prepared(world);
        let ran = learn(&world, &["--json"]);
        let told: Json = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
        assert_eq!(told["write"], serde_json::json!(["~/build"]), "{told:#}");
        let forbidden = told["forbidden"].to_string();
        assert!(forbidden.contains("/.ssh/planted"), "{told:#}");
        assert!(forbidden.contains("/etc/palisade-learn"), "{told:#}");
        let programs = told["programs"].to_string();
        assert!(programs.contains("mkdir") && programs.contains("getent"), "{told:#}");
        assert!(!world.project.path(".palisade").exists(), "nothing is written without --apply");
        assert!(!world.home.path("build/out").exists(), "nothing was opened while it learned");

        let ran = learn(&world, &["--apply", "--yes"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        let ran = world.run(&["run", "--", "sh", "needy.sh"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(world.home.path("build/out").exists(), "{}", ran.stderr);
        assert!(!world.home.path(".ssh/planted").exists());
        let ran = learn(&world, &[]);
        assert!(ran.stdout.contains("the policy in force is enough"), "{}", ran.stdout);
    });
}

#[test]
fn what_stands_in_the_file_stays_and_odd_forms_are_left_to_a_person() {
    let world = prepared(World::new());
    let policy =
        "# ours\nversion: 1\nlimits:\n  timeout: 1h # long\nfiles:\n  write:\n    - \".\"\n";
    world.write(".palisade/policy.yaml", policy);
    let ran = learn(&world, &["--apply", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let text = fs::read_to_string(world.project.path(".palisade/policy.yaml")).unwrap();
    assert!(text.starts_with("# ours\nversion: 1\nlimits:\n  timeout: 1h # long\n"), "{text}");
    assert!(text.contains("    - \".\"\n    - \"~/build\"\n"), "{text}");

    let world = prepared(World::with_policy("version: 1\nfiles: { write: [.] }\n"));
    let ran = learn(&world, &["--apply", "--yes"]);
    assert_eq!(ran.code, Some(125), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("error[policy-form]"), "{}", ran.stderr);
}

#[test]
fn a_network_that_a_person_closed_stays_closed() {
    let world = prepared(World::new());
    let world = world.user_policy("network: { mode: deny-all }\n");
    let ran = learn(&world, &["--json"]);
    let told: Json = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["network"]["allow"], serde_json::json!([]), "{told:#}");
    assert!(told["closed_by"].as_str().unwrap().contains("policy.yaml"), "{told:#}");
}

#[test]
fn a_denied_command_is_not_run_and_teaches_nothing() {
    let world = World::new();
    let ran = world.run(&["learn", "--apply", "--", "rm", "-rf", "/etc"]);
    assert_eq!(ran.code, Some(126), "{}", ran.stderr);
    assert!(!world.project.path(".palisade").exists());
}
