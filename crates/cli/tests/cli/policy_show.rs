//! `palisade policy show`.

use palisade_testkit::Project;
use serde_json::json;

use crate::kit::World;

#[test]
fn a171_the_preset_runner_is_selected_by_option_and_file_and_named() {
    let default = World::new().json(&["policy", "show", "--json"]);
    assert_eq!(default["preset"], "confined");
    assert_eq!(default["policy"]["commands"]["deny"], json!([]));

    let by_option = World::new();
    let by_user = World::new().user_policy("preset: runner\n");
    let by_project = World::with_policy("preset: runner\n");
    let cases = [
        (by_option, vec!["policy", "show", "--json", "--preset", "runner"], "an option"),
        (by_user, vec!["policy", "show", "--json"], "the user's file"),
        (by_project, vec!["policy", "show", "--json"], "a project's file: it narrows"),
    ];
    for (world, arguments, because) in cases {
        let shown = world.json(&arguments);
        let policy = &shown["policy"];
        assert_eq!(shown["preset"], "runner", "{because}");
        assert_eq!(policy["commands"]["deny"].as_array().unwrap().len(), 24, "{because}");
        assert_eq!(policy["commands"]["interpreters"].as_array().unwrap().len(), 14, "{because}");
        assert_eq!(policy["limits"]["timeout"], "30s", "{because}");
        assert_eq!(policy["limits"]["output"], "64KiB", "{because}");
    }

    // A project cannot take the user's preset back, and a wrong name selects nothing.
    let world = World::with_policy("preset: confined\n").user_policy("preset: runner\n");
    assert_eq!(world.json(&["policy", "show", "--json"])["preset"], "runner");
    for wrong in ["runnner", "Runner", "", "agentao:"] {
        let ran = World::new().run(&["policy", "show", "--preset", wrong]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(125), ""), "{wrong:?}");
    }
    let human = World::new().run(&["policy", "show", "--preset", "runner"]).stdout;
    assert!(human.contains("# preset   runner\n"), "{human}");
}

#[test]
fn a195_without_a_policy_file_the_built_in_default_holds_around_the_project() {
    let world = World::of(Project::new().file("Cargo.toml", "[package]").dir("src/deep"));
    let ran = world.run_in("src/deep", &["policy", "show", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(shown["root"], json!({ "path": "/home/dev/app", "found": "marker:Cargo.toml" }));
    assert_eq!(shown["files"], json!([]));
    assert_eq!(shown["profile"], "workspace-write-no-network");
    assert_eq!(shown["require"], "full");
    assert_eq!(shown["policy"]["files"]["write"], json!(["/home/dev/app"]));
    assert_eq!(shown["policy"]["network"]["mode"], "deny-all");
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);

    // Nobody may lower it but the user: not a project, not the folder one happens to stand in.
    world.write(".palisade/policy.yaml", "require: none\nprofile: workspace-write\nroot: /\n");
    let shown = world.json(&["policy", "show", "--json"]);
    assert_eq!(shown["require"], "full");
    assert_eq!(shown["profile"], "workspace-write-no-network");
    assert_eq!(shown["policy"]["network"]["mode"], "deny-all");
    assert_eq!(shown["policy"]["files"]["write"], json!(["/home/dev/app"]));
    let mut in_home = world.command(env!("CARGO_BIN_EXE_palisade"));
    let ran = world.finish(in_home.args(["policy", "show"]).current_dir(world.home.root()));
    assert_eq!(ran.code, Some(125), "the home folder is no project: {}", ran.stdout);
    let world = World::new().user_policy("require: landlock\n");
    assert_eq!(world.json(&["policy", "show", "--json"])["require"], "landlock");
}

#[test]
fn every_value_names_the_layer_file_and_line_that_said_it() {
    let world = World::with_policy("version: 1\nlimits:\n  timeout: 10s\n")
        .user_policy("network:\n  mode: allow-list\n  allow: [example.com]\n");
    world.write("more.yaml", "agents:\n  helper:\n    limits: { memory: 1GiB }\n");
    let arguments = ["policy", "show", "--origin", "--policy", "more.yaml", "--agent", "helper"];
    let ran = world.run(&arguments);
    #[rustfmt::skip]
    let cases = [
        // line                  origin
        ("preset: confined",     "# built-in"),
        ("  mode: allow-list",   "# user /home/dev/.config/palisade/policy.yaml:2:9"),
        ("    - example.com",    "# user /home/dev/.config/palisade/policy.yaml:3:11"),
        ("  timeout: 10s",       "# project /home/dev/app/.palisade/policy.yaml:3:12"),
        ("  memory: 1GiB",       "# command line /home/dev/app/more.yaml:3:23 (agent helper)"),
    ];
    for (line, origin) in cases {
        let found = ran.stdout.lines().find(|shown| shown.starts_with(line)).unwrap_or_default();
        assert!(found.ends_with(origin), "{line}: {found:?}");
    }
    let arguments = [&arguments[..], &["--json"]].concat();
    let shown = world.json(&arguments);
    let memory = &shown["policy"]["limits"]["memory"];
    assert_eq!((&memory["value"], &memory["origin"]["agent"]), (&json!("1GiB"), &json!("helper")));
    assert_eq!(memory["origin"]["line"], 3);
    assert_eq!(shown["agent"], "helper");
}

#[test]
fn a_rule_of_an_untrusted_project_is_not_shown_as_if_it_held() {
    let rules = "commands:\n  rules:\n    - { tool: bash, action: allow }\n    - { tool: curl, action: deny }\n";
    let shown = World::with_policy(rules).json(&["policy", "show", "--json"]);
    assert_eq!(shown["policy"]["commands"]["rules"], json!([{ "tool": "curl", "action": "deny" }]));
    assert_eq!(shown["ignored"].as_array().unwrap().len(), 1);
    let mine = World::new().user_policy(rules).json(&["policy", "show", "--json"]);
    assert_eq!(mine["policy"]["commands"]["rules"].as_array().unwrap().len(), 2);
}

#[test]
fn a_secret_is_never_shown() {
    let world = World::new().user_policy("env: { set: { API_TOKEN: hunter2, EDITOR: vi } }\n");
    for more in [&[][..], &["--origin"], &["--json"], &["--json", "--origin"]] {
        let ran = world.run(&[&["policy", "show"], more].concat());
        assert!(ran.stdout.contains("EDITOR") && ran.stdout.contains("vi"), "{more:?}");
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("hunter2"), "{more:?}");
    }
}

#[test]
fn a069_show_is_the_status_of_agentaos_sandbox() {
    const TIGHT: &str = "(version 1)(deny default)(allow process*)(allow file-read*)";
    let sandbox = |text: &str| {
        let world = World::new();
        let home = world.home.file(".agentao/sandbox.json", text);
        World { home: home.file(".agentao/profiles/mine.sb", TIGHT), ..world }
    };
    let show = ["policy", "show", "--policy", "agentao:"];
    let world = sandbox(
        r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"mine","rules":[
            {"tool":"run_shell_command","profile":"readonly"}]}"#,
    );
    let status = world.json(&[&show[..], &["--json"]].concat())["agentao"].clone();
    assert_eq!((&status["state"], &status["default_profile"]), (&json!("enabled"), &json!("mine")));
    assert_eq!(status["workspace_root"], "/home/dev/app");
    let names = ["mine", "readonly", "workspace-write", "workspace-write-no-network"];
    assert_eq!(status["profiles"], json!(names));
    assert_eq!(status["shadowed_by"]["profile"], "readonly");
    assert_eq!(status["shadowed_by"]["origin"]["line"], 2);
    let human = world.run(&show).stdout;
    assert!(human.contains("# agentao  enabled, profile mine, writes /home/dev/app\n"), "{human}");
    assert!(human.contains(" profiles: mine, readonly, workspace-write, "), "{human}");
    assert!(human.contains("shell commands get readonly instead: user "), "{human}");

    let off = sandbox(r#"{"enabled":false}"#).json(&[&show[..], &["--json"]].concat());
    assert_eq!((&off["agentao"]["state"], &off["require"]), (&json!("disabled"), &json!("none")));
    assert_eq!(off["agentao"]["shadowed_by"], json!(null));
    let broken = sandbox(r#"{"enabled":1}"#).run(&show);
    assert_eq!(broken.code, Some(125), "broken: there is nothing to show");
    assert!(broken.stderr.contains("`enabled` must be true or false"), "{}", broken.stderr);
    let none = World::new().json(&["policy", "show", "--json"]);
    assert_eq!(none["agentao"], json!(null), "no file of it has a say");
}
