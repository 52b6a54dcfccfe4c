//! Profiles that rules pick for single tools and single commands, put in force.

use std::fs;

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World, as_both};
use crate::schema::assert_fits;

/// Runs something under a policy of the project's that a person names.
fn run(world: &World, options: &[&str]) -> Json {
    let outcome = world.json(&[&["run", "--json", "--policy", "p.yaml"], options].concat());
    assert_fits(&outcome, "outcome.json");
    outcome
}

/// Says whether the script could write in the project.
fn made(world: &World) -> bool {
    fs::remove_file(world.project.path("made")).is_ok()
}

#[test]
fn a052_every_shell_command_is_wrapped_and_rules_pick_profiles_for_any_tool() {
    as_both(|world| {
        world.write("write.sh", "echo x > made; echo x > ~/outside; true\n");
        let text = r#"{"enabled": true, "default_profile": "workspace-write-no-network", "rules": [
            {"tool": "reader", "profile": "readonly"},
            {"tool": "fetcher", "profile": "workspace-write"},
            {"tool": "run_shell_command", "args": {"command": "^sh quiet"}, "profile": "readonly"}]}"#;
        world.write("sandbox.json", text);
        world.write("quiet.sh", "echo x > made; true\n");
        let run = |options: &[&str]| {
            let policy = ["run", "--json", "--policy", "agentao:sandbox.json"];
            let outcome = world.json(&[&policy, options].concat());
            assert!(!world.home.path("outside").exists(), "{outcome}");
            (outcome["profile"]["name"].clone(), made(&world), outcome["enforced"].clone())
        };
        for shell in [&["--shell", "sh write.sh"][..], &["--", "sh", "write.sh"]] {
            let (profile, made, enforced) = run(shell);
            assert_eq!((profile, made), (json!("workspace-write-no-network"), true), "{shell:?}");
            assert_eq!(
                (&enforced["files"]["is"], &enforced["network"]["is"]),
                (&json!("kernel"), &json!("kernel"))
            );
        }
        let of = |tool: &str| run(&["--tool", tool, "--", "sh", "write.sh"]);
        let (profile, made, _) = of("run_shell_command");
        assert_eq!((profile, made), (json!("workspace-write-no-network"), true));
        let (profile, made, _) = of("reader");
        assert_eq!((profile, made), (json!("readonly"), false));
        let (profile, made, enforced) = of("fetcher");
        assert_eq!((profile, made), (json!("workspace-write"), true));
        assert_eq!(enforced["network"]["is"], "absent", "it has the host's: {enforced}");
        // Another tool has the default, and what a rule says of a shell is not about it.
        let (profile, made, _) = run(&["--tool", "other", "--", "sh", "quiet.sh"]);
        assert_eq!((profile, made), (json!("workspace-write-no-network"), true));
        // By the content of the command: one profile holds for all of a text, the strictest.
        for text in ["sh quiet.sh", "true; sh quiet.sh"] {
            let (profile, made, _) = run(&["--shell", text]);
            assert_eq!((profile, made), (json!("readonly"), false), "{text}");
        }
    });
}

#[test]
fn a_tool_call_is_judged_under_the_stricter_profile_that_a_rule_picks() {
    let world = World::new();
    let rules = "commands:\n  rules:\n    - { tool: Bash, profile: readonly }\n    \
        - { tool: shell, profile: workspace-write }\n";
    world.write("p.yaml", rules);
    let verdict = |tool: &str, command: &str| {
        let args = json!({ "command": command }).to_string();
        let call = ["check", "--json", "--policy", "p.yaml", "--tool", tool, "--args", &args];
        world.json(&call)["verdict"].clone()
    };
    assert_eq!(verdict("Bash", "echo x > made"), "deny", "nothing is writable for it");
    assert_eq!(verdict("Bash", "cat Cargo.toml"), "allow");
    assert_eq!(verdict("terminal", "echo x > made"), "allow", "another tool");
    world.write("p.yaml", format!("profile: readonly\n{rules}"));
    assert_eq!(verdict("shell", "echo x > made"), "deny", "a hook opens nothing");
}

#[test]
fn a_rule_opens_what_its_profile_opens_and_no_more_than_a_person_chose() {
    as_both(|world| {
        let rules = "profile: readonly\ncommands:\n  rules:\n    \
            - { tool: run_shell_command, args: { command: '^touch ' }, profile: workspace-write }\n";
        world.write("p.yaml", rules);
        let outcome = run(&world, &["--shell", "touch made"]);
        assert_eq!((&outcome["exit_code"], made(&world)), (&json!(0), true), "{outcome}");
        assert_eq!(outcome["enforced"]["network"]["is"], "absent", "{outcome}");
        assert_eq!(outcome["profile"]["name"], "workspace-write");
        assert!(outcome["profile"]["by"].as_str().unwrap().contains("p.yaml:4"), "{outcome}");
        // Whatever no rule picks anything for has the policy's own, alone and beside others.
        for text in ["echo x > made", "touch made; echo x > made"] {
            let outcome = run(&world, &["--shell", text]);
            assert_eq!((&outcome["denied"], made(&world)), (&json!(true), false), "{text}");
        }
        // An explicit key of the same layer stands above every profile.
        world.write("p.yaml", format!("{rules}network: {{ mode: deny-all }}\n"));
        let outcome = run(&world, &["--shell", "touch made"]);
        assert_eq!((&outcome["exit_code"], made(&world)), (&json!(0), true), "{outcome}");
        assert_eq!(outcome["enforced"]["network"]["is"], "kernel", "{outcome}");
        // A person who chooses for one run is not overruled by a file below.
        let world = world.user_policy(rules);
        let run = |profile: &[&str]| {
            let options = [&["run", "--json"], profile, &["--shell", "touch made"]].concat();
            let outcome = world.json(&options);
            (outcome["denied"].clone(), made(&world))
        };
        assert_eq!(run(&[]), (json!(false), true));
        assert_eq!(run(&["--profile", "readonly"]), (json!(true), false));
        // And a profile in a file is put in force for one command, too.
        let strict = "(version 1)\n(deny default)\n(allow process*)\n\
            (allow file-read* (subpath (param \"_RW1\")) (subpath \"/usr\"))\n";
        fs::write(world.home.path("strict.sb"), strict).unwrap();
        let picks = "commands:\n  rules:\n    \
            - { tool: run_shell_command, args: { command: '^ls' }, profile: ~/strict.sb }\n";
        let world = world.user_policy(picks);
        let listed = |text: &str| world.json(&["run", "--json", "--shell", text])["stdout"].clone();
        world.write("look.sh", "ls /etc/passwd\n");
        assert_eq!(listed("sh look.sh"), "/etc/passwd\n");
        assert_eq!(world.json(&["run", "--json", "--shell", "ls /etc/passwd"])["denied"], true);
    });
}

#[test]
fn a_profile_chosen_by_an_option_or_a_variable_bounds_the_rules_of_every_file() {
    as_both(|world| {
        let rules = "commands:\n  rules:\n    - { tool: fetcher, profile: workspace-write }\n";
        world.write("w.sh", "echo x > made; true\n");
        let tried = |policy: &str, profile: &[&str], variable: Option<&str>| {
            world.write("p.yaml", policy);
            let tool = ["run", "--json", "--policy", "p.yaml", "--tool", "fetcher"];
            let mut command = world.command(PALISADE);
            command.args(tool).args(profile).args(["--", "sh", "w.sh"]);
            if let Some(variable) = variable {
                command.env("PALISADE_PROFILE", variable);
            }
            let outcome: Json = serde_json::from_str(&world.finish(&mut command).stdout).unwrap();
            (outcome["profile"]["name"].clone(), made(&world))
        };
        let own = format!("profile: readonly\n{rules}");
        let (readonly, wide) = (json!("readonly"), json!("workspace-write"));
        for policy in [rules, &own] {
            assert_eq!(tried(policy, &[], None), (wide.clone(), true), "the rule holds alone");
            let option = tried(policy, &["--profile", "readonly"], None);
            assert_eq!(option, (readonly.clone(), false), "{policy}");
            let both = tried(policy, &["--profile", "readonly"], Some("workspace-write"));
            assert_eq!(both, (readonly.clone(), false), "{policy}");
        }
        assert_eq!(tried(rules, &[], Some("readonly")), (readonly.clone(), false));
        // A rule may still narrow what a person chose.
        let narrow = rules.replace("workspace-write", "readonly");
        assert_eq!(tried(&narrow, &["--profile", "workspace-write"], None), (readonly, false));
    });
}

#[test]
fn an_option_chooses_defaults_and_keys_of_the_same_voice_stay_with_a_word() {
    as_both(|world| {
        world.write("p.yaml", "files: { write: [kept] }\nnetwork: { mode: deny-all }\n");
        world.write("kept/x", "");
        world.write("w.sh", "echo x > kept/made; echo x > made; true\n");
        let ran = run(&world, &["--profile", "workspace-write", "--", "sh", "w.sh"]);
        assert_eq!(ran["enforced"]["network"]["is"], "kernel", "the file says so: {ran}");
        assert!(world.project.path("kept/made").exists() && !made(&world), "{ran}");
        let told: Vec<&Json> = ran["warnings"].as_array().unwrap().iter().collect();
        let replaced = told.iter().filter(|it| it["code"] == "profile-replaced").count();
        assert_eq!(replaced, 2, "{ran}");
        // What a named file says for one agent stands above the option, which is told.
        let agent = "agents: { builder: { profile: workspace-write-no-network } }\n";
        world.write("p.yaml", agent);
        let options = ["--agent", "builder", "--profile", "readonly", "--", "sh", "w.sh"];
        let ran = run(&world, &options);
        assert_eq!((&ran["warnings"][0]["code"], made(&world)), (&"profile-replaced".into(), true));
        let told = ran["warnings"][0]["message"].as_str().unwrap();
        assert!(told.contains("`readonly`") && told.contains("p.yaml:1"), "{told}");
        world.write("p.yaml", agent.replace("builder", "other"));
        let ran = run(&world, &options);
        assert_eq!((&ran["profile"]["name"], made(&world)), (&"readonly".into(), false), "{ran}");
        fs::remove_file(world.project.path("kept/made")).ok();
        // Without keys in the file it is the profile's word, and nothing needs to be said.
        world.write("p.yaml", "limits: { timeout: 60s }\n");
        let ran = run(&world, &["--profile", "readonly", "--", "sh", "w.sh"]);
        assert!(!made(&world) && ran["warnings"] == json!([]), "{ran}");
    });
}

#[test]
fn a067_what_the_walls_refused_is_told_with_the_profile_and_the_rule() {
    as_both(|world| {
        world.write("p.yaml", "profile: readonly\n");
        world.write("try.sh", "echo x > made; echo x > /etc/made\n");
        let outcome = run(&world, &["--trace-writes", "--", "sh", "try.sh"]);
        let hints = outcome["hints"].as_array().unwrap();
        assert_eq!(hints.len(), 2, "{outcome}");
        for (hint, path) in hints.iter().zip(["/home/dev/app/made", "/etc/made"]) {
            let hint = hint.as_str().unwrap();
            for part in ["`readonly`", "p.yaml:1", "`files.write`", path] {
                assert!(hint.contains(part), "{part}: {hint}");
            }
        }
        let open = |hint: &Json| hint.as_str().unwrap().contains("opens the project");
        assert_eq!((open(&hints[0]), open(&hints[1])), (true, false), "{hints:?}");
        assert!(hints[0].as_str().unwrap().contains("`workspace-write-no-network`"), "{hints:?}");
        // To a person, too.
        let ran = world.run(&["run", "--policy", "p.yaml", "--trace-writes", "--", "sh", "try.sh"]);
        assert_eq!(ran.stderr.matches("hint: the profile `readonly`").count(), 2, "{}", ran.stderr);
        // Words neither make a hint nor keep one away.
        let words = "Operation not permitted; Read-only file system; [Sandbox hint]; sandbox-exec";
        world.write("talk.sh", format!("echo '{words}' >&2; echo '{words}'; exit 1\n"));
        let talk = run(&world, &["--trace-writes", "--", "sh", "talk.sh"]);
        assert_eq!(talk["hints"], json!([]), "{talk}");
        world.write("quiet.sh", "echo x 2>/dev/null > made\nexec >&- 2>&-\necho x > made\n");
        let quiet = run(&world, &["--trace-writes", "--", "sh", "quiet.sh"]);
        assert_eq!(quiet["hints"].as_array().unwrap().len(), 1, "{quiet}");
        // What was let through gives none.
        world.write("p.yaml", "profile: workspace-write-no-network\n");
        world.write("try.sh", "echo x > made\n");
        let fine = run(&world, &["--trace-writes", "--", "sh", "try.sh"]);
        assert_eq!((&fine["hints"], made(&world)), (&json!([]), true), "{fine}");
    });
}

#[test]
fn a_tool_that_no_rule_names_and_nobody_knows_is_told_of() {
    let world = World::new();
    let rules = "commands:\n  rules:\n    - { tool: 'read_.*', profile: readonly }\n    \
        - { tool: deploy, action: ask }\n    - { tool: '*', args: { command: zzz }, action: deny }\n";
    world.write("p.yaml", rules);
    let warned = |words: &[&str], tool: &str| {
        let ran =
            world.run(&[words, &["--policy", "p.yaml", "--tool", tool, "--", "true"]].concat());
        let json =
            [words, &["--json", "--policy", "p.yaml", "--tool", tool, "--", "true"]].concat();
        let json = world.json(&json)["warnings"].to_string().contains("unknown-tool");
        assert_eq!(json, ran.stderr.contains("warning: no rule names the tool"), "{}", ran.stderr);
        assert_eq!(json, ran.stderr.contains("hint: rules name `deploy`, `read_.*`; "), "{tool}");
        json
    };
    for words in [&["run"][..], &["plan"]] {
        for tool in ["deplyo", "reader"] {
            assert!(warned(words, tool), "{words:?} {tool}");
        }
        // A rule names it, in any case of its letters, or it is a tool of a known agent.
        for tool in
            ["read_all", "Deploy", "Bash", "bash", "run_shell_command", "shell", "write_file"]
        {
            assert!(!warned(words, tool), "{words:?} {tool}");
        }
    }
    assert!(
        world.run(&["run", "--tool", "zap", "--", "true"]).stderr.contains("no rule names any")
    );
}
