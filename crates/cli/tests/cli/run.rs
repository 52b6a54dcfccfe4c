//! `palisade run`: what is promised of every call, as root and as an ordinary user.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World, as_both};
use crate::schema::assert_fits;

/// Runs `palisade run --json` and returns the outcome, which must fit its schema.
fn outcome(world: &World, arguments: &[&str]) -> Json {
    let arguments: Vec<&str> = ["run", "--json"].iter().chain(arguments).copied().collect();
    let outcome = world.json(&arguments);
    assert_fits(&outcome, "outcome.json");
    outcome
}

#[test]
fn a001_a_record_has_all_that_is_promised() {
    as_both(|world| {
        let ran = outcome(&world, &["--shell", "echo out; echo err >&2; exit 3"]);
        assert_eq!(ran["exit_code"], 3);
        assert_eq!((&ran["stdout"], &ran["stderr"]), (&json!("out\n"), &json!("err\n")));
        for name in ["truncated", "timed_out", "denied"] {
            assert_eq!(ran[name], false, "{name}");
        }
        assert_eq!(ran["reason"], Json::Null);
        assert!(ran["duration_ms"].as_f64().unwrap() > 0.0);
        assert_eq!(ran["enforced"]["files"]["is"], "kernel");

        let denied = outcome(&world, &["--", "rm", "-rf", "/etc"]);
        assert_eq!((&denied["denied"], &denied["exit_code"]), (&json!(true), &json!(-100)));
        assert_eq!(denied["reason"], "`/etc` is outside project root");
    });
}

#[test]
fn a003_a_call_is_argv_or_shell_text_in_a_folder() {
    as_both(|world| {
        world.write("src/here", "");
        let stdout = |arguments: &[&str]| outcome(&world, arguments)["stdout"].clone();
        assert_eq!(stdout(&["--", "echo", "$HOME"]), "$HOME\n", "no shell reads it");
        assert_eq!(stdout(&["--shell", "echo one && echo two"]), "one\ntwo\n");
        assert_eq!(stdout(&["--", "ls"]), "Cargo.toml\nsrc\n", "the root, if nothing is said");
        assert_eq!(stdout(&["--cwd", "src", "--", "ls"]), "here\n");
        let shell = outcome(&world, &["--shell", "true"])["shell"].clone();
        assert_eq!(shell, "/bin/bash");
        let outside = outcome(&world, &["--cwd", "/", "--", "ls"]);
        assert_eq!(outside["exit_code"], -100, "{outside}");
    });
}

#[test]
fn a004_a_denied_call_spawns_nothing() {
    as_both(|world| {
        // Whatever is started leaves a line.
        for name in ["allowed", "rm", "sudo", "mkfs"] {
            let file = format!("bin/{name}");
            world.write(&file, "#!/bin/sh\necho \"$0\" >> record\n");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(world.project.path(&file), mode).unwrap();
        }
        let path = world.project.path("bin").to_str().unwrap().to_owned() + ":/usr/bin:/bin";
        let run = |arguments: &[&str]| {
            let mut command = world.command(PALISADE);
            command.args(["run", "--json", "--preset", "runner"]).args(arguments);
            let ran = world.finish(command.env("PATH", &path));
            serde_json::from_str::<Json>(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr))
        };
        let denied: [&[&str]; 8] = [
            &["--", "rm", "-rf", "."],
            &["--", "sudo", "ls"],
            &["--", "mkfs", "x"],
            &["--", "bash", "-c", "echo >> record"],
            &["--", "allowed", "a;b"],
            &["--", "allowed", "../../etc/passwd"],
            &["--shell", "allowed | rm x"],
            &["--"],
        ];
        for arguments in denied {
            let outcome = run(arguments);
            assert_eq!(outcome["denied"], true, "{outcome}");
            assert_eq!(outcome["exit_code"], -100);
            assert_eq!(outcome["executed"], false);
            assert!(!outcome["reason"].as_str().unwrap().is_empty());
            assert!(!world.project.path("record").exists(), "{arguments:?} was started");
        }
        assert_eq!(run(&["--", "allowed"])["exit_code"], 0);
        assert!(world.project.path("record").exists(), "the probe works");
    });
}

#[test]
fn a004_a_denied_call_makes_no_process_at_all() {
    as_both(|world| {
        // The kernel counts no processes of root, so that only an ordinary user proves it.
        let none = r#"ulimit -u 0 && exec "$0" run --json -- "$@""#;
        let program = world.command(PALISADE).get_program().to_owned();
        let code = |argv: &[&str]| {
            let mut command = world.command("/bin/bash");
            world.finish(command.args(["-c", none]).arg(&program).args(argv)).code
        };
        assert_eq!(code(&["rm", "-rf", "/etc"]), Some(126));
        if !program.to_str().unwrap().starts_with(PALISADE) {
            assert_eq!(code(&["true"]), Some(125), "what may run cannot, without processes");
        }
    });
}

#[test]
fn a009_echo_ls_and_cat_are_run_by_the_runner() {
    as_both(|world| {
        world.write("notes", "a note\n");
        for argv in [&["echo", "hello"][..], &["ls"], &["cat", "notes"]] {
            let arguments: Vec<&str> =
                ["--preset", "runner", "--"].iter().chain(argv).copied().collect();
            let ran = outcome(&world, &arguments);
            assert_eq!((&ran["exit_code"], &ran["ok"]), (&json!(0), &json!(true)), "{ran}");
        }
    });
}

#[test]
fn a024_a_call_that_takes_too_long_keeps_what_it_wrote() {
    as_both(|world| {
        let shell = "echo begun; sleep 30";
        let ran = outcome(&world, &["--timeout", "300ms", "--shell", shell]);
        assert_eq!((&ran["timed_out"], &ran["exit_code"]), (&json!(true), &json!(-101)));
        assert_eq!((&ran["denied"], &ran["stdout"]), (&json!(false), &json!("begun\n")));
        assert!(ran["reason"].as_str().unwrap().starts_with("timed out after "));
        assert_eq!(world.run(&["run", "--timeout", "300ms", "--", "sleep", "30"]).code, Some(124));
        // A longer time than the policy's changes nothing.
        world.write("p.yaml", "limits: { timeout: 300ms }\n");
        let longer = ["run", "--policy", "p.yaml", "--timeout", "1h", "--", "sleep", "30"];
        assert_eq!(world.run(&longer).code, Some(124));
    });
}

#[test]
fn a026_output_over_the_cap_is_marked_in_the_outcome() {
    as_both(|world| {
        world.write("p.yaml", "limits: { output: 50B }\n");
        world.write("t.yaml", "limits: { output: 50B, keep: tail }\n");
        let noise = "for i in $(seq 100); do echo $i; done; echo short >&2; exit 4";
        let head = outcome(&world, &["--policy", "p.yaml", "--shell", noise]);
        let text = head["stdout"].as_str().unwrap();
        assert!(text.starts_with("1\n2\n3\n"), "{text}");
        let (kept, marker) = text.split_at(50);
        assert!(kept.ends_with("20"), "{kept}");
        assert!(marker.trim().starts_with("[palisade: ") && marker.ends_with("]\n"), "{marker}");
        assert_eq!((&head["truncated"], &head["exit_code"]), (&json!(true), &json!(4)));
        assert_eq!(head["stdout_truncated"], true);
        assert_eq!(
            (&head["stderr_truncated"], &head["stderr"]),
            (&json!(false), &json!("short\n"))
        );
        let tail = outcome(&world, &["--policy", "t.yaml", "--shell", noise]);
        assert!(tail["stdout"].as_str().unwrap().starts_with("[palisade: "), "{tail}");
        assert!(tail["stdout"].as_str().unwrap().ends_with("99\n100\n"), "{tail}");
        let streamed = world.run(&["run", "--shell", noise]);
        assert_eq!(streamed.stdout.lines().count(), 100, "what streams is not cut");
        // Unless a file says so: then by the same rule, into pipes as into files.
        let streamed = world.run(&["run", "--policy", "p.yaml", "--shell", noise]);
        assert_eq!(
            (streamed.code, &*streamed.stdout, &*streamed.stderr),
            (Some(4), text, "short\n")
        );
        let streamed = world.run(&["run", "--policy", "t.yaml", "--shell", noise]);
        assert_eq!(streamed.stdout, tail["stdout"].as_str().unwrap());
        let mut filed = world.command(PALISADE);
        filed.args(["run", "--policy", "p.yaml", "--shell", noise]);
        let file = fs::File::create(world.home.path("out")).unwrap();
        assert_eq!(filed.stdout(file).status().unwrap().code(), Some(4));
        assert_eq!(fs::read_to_string(world.home.path("out")).unwrap(), text);
    });
}

#[test]
fn a029_a_secret_of_ours_is_not_the_commands() {
    as_both(|world| {
        let run = |arguments: &[&str]| {
            let mut command = world.command(PALISADE);
            command.args(["run"]).args(arguments).args(["--", "env"]);
            let vars = [("MY_TOKEN", "hunter2"), ("TERM", "dumb"), ("UNHEARD_OF", "x")];
            world.finish(command.envs(vars)).stdout
        };
        let plain = run(&[]);
        assert!(plain.contains("TERM=dumb\n"), "{plain}");
        for secret in ["hunter2", "UNHEARD_OF", "MY_TOKEN"] {
            assert!(!plain.contains(secret), "{secret}: {plain}");
        }
        let named = run(&["--env", "MY_TOKEN", "--env", "UNHEARD_OF=y=z", "--env", "NOT_SET"]);
        assert!(named.contains("MY_TOKEN=hunter2\n") && named.contains("UNHEARD_OF=y=z\n"));
        assert!(!named.contains("NOT_SET"), "{named}");
    });
}

#[test]
fn a030_a_missing_program_is_an_outcome_and_not_a_failure() {
    as_both(|world| {
        let ran = outcome(&world, &["--", "no-such-program"]);
        assert_eq!((&ran["exit_code"], &ran["denied"]), (&json!(127), &json!(false)), "{ran}");
        assert_eq!((&ran["executed"], &ran["code"]), (&json!(false), &json!("not-found")));
        assert_eq!(ran["reason"], "`no-such-program` was not found");
        world.write("not-a-program", "text");
        let ran = outcome(&world, &["--", "./not-a-program"]);
        assert_eq!((&ran["exit_code"], &ran["code"]), (&json!(126), &json!("not-started")));
    });
}

#[test]
fn a031_codes_and_signals_of_the_command_are_our_own() {
    as_both(|world| {
        for code in [0, 1, 2, 3, 77, 125, 126, 127, 255] {
            let ran = world.run(&["run", "--shell", &format!("exit {code}")]);
            assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        }
        for (name, number) in [("TERM", 15), ("KILL", 9), ("INT", 2)] {
            let text = format!("kill -{name} $$");
            assert_eq!(world.run(&["run", "--shell", &text]).code, Some(128 + number), "{name}");
            let ran = outcome(&world, &["--shell", &text]);
            assert_eq!((&ran["signal"], &ran["exit_code"]), (&json!(number), &json!(128 + number)));
        }
        let ran = outcome(&world, &["--shell", "exit 143"]);
        assert_eq!(ran["signal"], Json::Null, "a code is told from a signal");
    });
}

#[test]
fn a032_the_demo_makes_its_calls_and_all_come_out_as_expected() {
    as_both(|world| {
        let ran = world.run(&["demo"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        let told: Json = serde_json::from_str(&ran.stdout).unwrap();
        let table = told["table"].as_array().unwrap();
        assert!(table.len() > 25, "{told}");
        for kind in ["legal", "adversarial"] {
            assert!(table.iter().filter(|row| row["kind"] == kind).count() > 8, "{kind}");
        }
        for row in table {
            for name in ["argv", "exit_code", "denied", "reason", "timed_out", "duration_ms"] {
                assert!(row.get(name).is_some(), "{name}: {row}");
            }
        }
        let same: Json = serde_json::from_str(&world.run(&["demo", "--json"]).stdout).unwrap();
        assert_eq!(same["calls"], told["calls"], "it may be said, too");
    });
}

#[test]
fn the_demo_has_a_line_for_each_call_and_a_sum_for_people() {
    let ran = World::new().run(&["demo", "--human"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let (sum, rows) = lines.split_last().unwrap();
    assert_eq!(*sum, format!("{0} of {0} as expected", rows.len()));
    assert!(rows.len() > 25 && rows.iter().all(|row| row.starts_with("ok ")), "{}", ran.stdout);
    assert!(rows.iter().any(|row| row.contains("a denied program") && row.contains("denylist")));
}

#[test]
fn a066_what_is_misconfigured_runs_nothing_and_says_so() {
    as_both(|world| {
        world.write("broken.yaml", "limits: { timeout: often }\n");
        let ran = world.run(&["run", "--json", "--policy", "broken.yaml", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(125));
        let told: Json = serde_json::from_str(&ran.stdout).unwrap();
        assert_fits(&told, "outcome.json");
        assert_eq!(told["executed"], false);
        assert_eq!((&told["error"]["code"], &told["error"]["line"]), (&json!("period"), &json!(1)));
        assert!(!world.project.path("made").exists());
        for (text, code) in [("network: { mode: open }", "unknown-word"), ("profile: ./no.sb", "")]
        {
            world.write("wrong.yaml", format!("{text}\n"));
            let ran = world.run(&["run", "--policy", "wrong.yaml", "--", "touch", "made"]);
            assert_eq!(ran.code, Some(125), "{text}");
            assert!(ran.stderr.contains(&format!("error[{code}")), "{}", ran.stderr);
            assert!(!world.project.path("made").exists());
        }
    });
}

#[test]
fn a177_a_scratch_folder_in_a_project_that_is_read_only_survives() {
    as_both(|world| {
        world.write("scratch/kept", "");
        world.write("p.yaml", "profile: readonly\nfiles: { write: [scratch] }\n");
        let run = |text: &str| outcome(&world, &["--policy", "p.yaml", "--shell", text]);
        assert_eq!(run("echo made > scratch/made")["exit_code"], 0);
        assert_eq!(fs::read_to_string(world.project.path("scratch/made")).unwrap(), "made\n");
        world.write("writes.sh", "echo x > outside");
        assert_ne!(run("sh writes.sh")["exit_code"], 0);
        assert!(!world.project.path("outside").exists());
    });
}

#[test]
fn a178_a_variable_is_handed_over_and_its_value_is_nowhere_else() {
    as_both(|world| {
        world.write("p.yaml", "audit: { path: events.jsonl }\n");
        world.write("token", "hunter2");
        let same = r#"test "$MY_TOKEN" = "$(cat token)""#;
        let told = |hand: &str| {
            let ran = outcome(&world, &["--policy", "p.yaml", "--env", hand, "--shell", same]);
            let events = fs::read_to_string(world.project.path("events.jsonl")).unwrap();
            assert!(events.contains(r#""variables":["MY_TOKEN"]"#), "{events}");
            let all = format!("{ran}{events}");
            assert!(!all.contains("hunter"), "{all}");
            ran["exit_code"].clone()
        };
        assert_eq!(told("MY_TOKEN=hunter2"), 0);
        assert_eq!(told("MY_TOKEN=hunter3"), 1, "the probe works");
    });
}

#[test]
fn a195_a_file_that_confines_nothing_is_told_of_loudly() {
    as_both(|world| {
        world.write("sandbox.json", r#"{"enabled": false}"#);
        world.write("out.sh", "echo x > ~/out\n");
        let run = ["run", "--policy", "agentao:sandbox.json", "--", "sh", "out.sh"];
        let ran = world.run(&run);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains("NOTHING IS CONFINED"), "{}", ran.stderr);
        fs::remove_file(world.home.path("out")).unwrap();
        let told = world.run(&[&["run", "--json"], &run[1..]].concat());
        let told: Json = serde_json::from_str(&told.stdout).unwrap();
        assert_eq!(told["enforced"]["files"]["is"], "absent", "{told}");
        assert_eq!(told["notes"][0]["code"], "unconfined", "{told}");
        fs::remove_file(world.home.path("out")).unwrap();
        // What is denied is denied, walls or not.
        let denied =
            world.run(&["run", "--policy", "agentao:sandbox.json", "--", "rm", "-rf", "/"]);
        assert_eq!(denied.code, Some(126), "{}", denied.stderr);
        // A policy of the user confines, whatever another file says.
        let world = world.user_policy("require: full\n");
        let ran = world.run(&run);
        assert!(ran.stderr.contains("Read-only file system"), "{}", ran.stderr);
        assert!(!world.home.path("out").exists());
    });
}

#[test]
fn a195_without_a_policy_the_default_confines() {
    as_both(|world| {
        world.write("tries.sh", "touch /etc/x ~/x /usr/x; ls ~/.ssh; exit 0\n");
        world.write("inside.sh", "echo made > made\n");
        fs::create_dir_all(world.home.path(".ssh")).unwrap();
        fs::write(world.home.path(".ssh/id"), "secret").unwrap();
        assert_eq!(world.run(&["run", "--", "sh", "inside.sh"]).code, Some(0));
        assert!(world.project.path("made").exists());
        let ran = world.run(&["run", "--", "sh", "tries.sh"]);
        assert_eq!(ran.stdout, "", "nothing of ~/.ssh is seen");
        assert_eq!(ran.stderr.matches("Read-only file system").count(), 3, "{}", ran.stderr);
        assert!(ran.stderr.contains("No such file"), "{}", ran.stderr);
        for path in [world.home.path("x"), "/etc/x".into(), "/usr/x".into()] {
            assert!(!path.exists(), "{path:?}");
        }
    });
}

#[test]
fn too_small_a_stack_is_one_clear_answer_and_a_small_one_is_enough() {
    as_both(|world| {
        let with = |stack: u32, words: &[&str]| {
            let mut command = world.command("/bin/sh");
            let program = world.command(PALISADE).get_program().to_owned();
            let shell = format!("ulimit -s {stack}; exec \"$@\"");
            world.finish(command.args(["-c", &shell, "sh"]).arg(program).args(words))
        };
        for words in [&["run", "--", "touch", "made"][..], &["check", "--", "ls"], &["doctor"]] {
            let ran = with(256, words);
            assert_eq!(ran.code, Some(125), "{words:?}: {}", ran.stderr);
            let told = "error[stack]: the stack may have 256 KiB, and 1024 are needed; nothing was";
            assert!(ran.stderr.contains(told), "{}", ran.stderr);
            assert!(ran.stderr.contains("hint: raise it"), "{}", ran.stderr);
        }
        assert!(!world.project.path("made").exists());
        let ran = with(1024, &["run", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(world.project.path("made").exists());
    });
}
