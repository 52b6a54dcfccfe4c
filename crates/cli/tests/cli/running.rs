//! `palisade run` towards whoever calls it: streams, descriptors, signals, usage.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World, as_both};
use crate::schema::assert_fits;

#[test]
fn output_is_passed_on_while_the_command_runs() {
    as_both(|world| {
        let mut command = world.command(PALISADE);
        command.args(["run", "--shell", "echo first; read line; echo $line"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "first");
        writeln!(child.stdin.take().unwrap(), "second").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "second");
        assert!(child.wait().unwrap().success());
    });
}

#[test]
fn input_comes_from_us_or_from_a_file() {
    as_both(|world| {
        assert_eq!(world.run_with_input(b"abc", &["run", "--", "cat"]).stdout, "abc");
        world.write("input", "from a file");
        let ran = world.run_with_input(b"abc", &["run", "--stdin", "input", "--", "cat"]);
        assert_eq!(ran.stdout, "from a file");
        let gone = world.run(&["run", "--stdin", "gone", "--", "cat"]);
        assert_eq!(gone.code, Some(125));
        assert!(gone.stderr.contains("error[stdin]: cannot read `gone`"), "{}", gone.stderr);
        let mut closed = world.command("/bin/sh");
        let program = world.command(PALISADE).get_program().to_owned();
        closed.args(["-c", r#"exec "$0" run -- cat <&-"#]).arg(program);
        assert_eq!(world.finish(&mut closed).code, Some(0), "a closed one is empty");
    });
}

#[test]
fn output_may_be_a_file_and_the_command_gets_no_descriptor_of_it() {
    as_both(|world| {
        let file = File::create(world.home.path("out")).unwrap();
        let mut command = world.command(PALISADE);
        let shell = "echo hello; readlink /proc/self/fd/1 >&2";
        command.args(["run", "--shell", shell]).stdout(file).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(fs::read_to_string(world.home.path("out")).unwrap(), "hello\n");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("pipe:"), "{output:?}");
    });
}

#[test]
fn the_outcome_goes_to_a_descriptor_that_the_command_does_not_have() {
    as_both(|world| {
        let program = world.command(PALISADE).get_program().to_owned();
        let run = |script: &str| {
            let mut shell = world.command("/bin/sh");
            let script = format!(r#"exec 7>status; exec "$0" run --status-fd {script}"#);
            world.finish(shell.args(["-c", &script]).arg(&program))
        };
        let ran = run("7 --shell 'ls /proc/self/fd; exit 5'");
        assert_eq!(ran.code, Some(5));
        assert!(!ran.stdout.contains('7'), "{}", ran.stdout);
        let status = || {
            let text = fs::read_to_string(world.project.path("status")).unwrap();
            serde_json::from_str::<Json>(&text).unwrap_or_else(|_| panic!("{text}"))
        };
        assert_fits(&status(), "outcome.json");
        assert_eq!(status()["exit_code"], 5);
        assert_eq!(run("7 -- rm -rf /etc").code, Some(126));
        assert_eq!(status()["exit_code"], -100);
        assert_eq!(run("7 --policy gone.yaml -- true").code, Some(125));
        assert_eq!(status()["executed"], false);
        assert_eq!(run("9 -- touch made").code, Some(125), "nobody opened 9");
        assert!(!world.project.path("made").exists());
    });
}

#[test]
fn bytes_that_are_no_text_are_encoded() {
    as_both(|world| {
        let told = world.json(&["run", "--json", "--shell", r"printf '\377\376\000'"]);
        assert_fits(&told, "outcome.json");
        assert_eq!(told["stdout_base64"], "//4A");
        assert_eq!(told.get("stdout"), None);
        assert_eq!(told["stderr"], "");
    });
}

#[test]
fn signals_are_passed_on_and_nothing_survives() {
    as_both(|world| {
        let shell = "trap 'echo caught; exit 9' TERM; sleep 300 & echo ready; wait";
        for (signal, code, said) in
            [(Signal::TERM, Some(9), "caught\n"), (Signal::INT, Some(130), "")]
        {
            let mut command = world.command(PALISADE);
            command.args(["run", "--shell", shell]).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            let begun = Instant::now();
            kill_process(pid, signal).unwrap();
            let mut rest = String::new();
            out.read_to_string(&mut rest).unwrap();
            assert_eq!((child.wait().unwrap().code(), rest.as_str()), (code, said), "{signal:?}");
            assert!(begun.elapsed() < Duration::from_secs(20));
        }
    });
}

#[test]
fn what_is_stopped_hears_the_first_signal_and_what_ignores_it_ends_by_the_second() {
    as_both(|world| {
        let stopped = "echo ready; kill -STOP $$; sleep 300";
        for (trap, hears) in [("", true), ("trap '' TERM;", false)] {
            let mut command = world.command(PALISADE);
            command.args(["run", "--", "sh", "-c", &format!("{trap} {stopped}")]);
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            // Until it has stopped itself.
            thread::sleep(Duration::from_millis(300));
            let send = |child: &std::process::Child| {
                kill_process(Pid::from_child(child), Signal::TERM).unwrap();
            };
            let ended = |child: &mut std::process::Child, within| {
                let until = Instant::now() + within;
                loop {
                    match child.try_wait().unwrap() {
                        None if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
                        ended => return ended,
                    }
                }
            };
            send(&child);
            if !hears {
                // Longer than two signals have to come within that are typed.
                assert!(ended(&mut child, Duration::from_millis(2500)).is_none());
                send(&child);
            }
            let status = ended(&mut child, Duration::from_secs(20));
            child.kill().ok();
            assert!(status.is_some_and(|status| !status.success()), "{trap} {status:?}");
        }
    });
}

#[test]
fn caches_of_a_project_are_kept_apart_shown_and_cleared() {
    as_both(|world| {
        fs::create_dir_all(world.home.path(".cache")).unwrap();
        world.write("fill.sh", "mkdir -p ~/.cache/pip && head -c 50000 /dev/zero > ~/.cache/pip/x");
        let ran = world.run(&["run", "--", "sh", "fill.sh"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!world.home.path(".cache/pip/x").exists(), "the real one is as it was");
        let kept = world.run(&["run", "--", "sh", "-c", "wc -c < ~/.cache/pip/x"]);
        assert_eq!(kept.stdout, "50000\n", "{}", kept.stderr);
        let shown = world.run(&["cache", "show"]);
        assert!(shown.stdout.ends_with("KiB  /home/dev/app\n"), "{}", shown.stdout);
        let bytes = || world.json(&["cache", "show", "--json"])["projects"][0]["bytes"].clone();
        assert!(bytes().as_u64().unwrap() > 40_000);
        let cleared = world.run(&["cache", "clear"]);
        assert!(cleared.stdout.ends_with("freed\n"), "{}{}", cleared.stdout, cleared.stderr);
        assert_eq!(bytes(), Json::Null, "nothing is left");
        let shown = world.run(&["cache", "show"]);
        assert_eq!((&*shown.stdout, &*shown.stderr), ("", "no project has caches\n"));
    });
}

#[test]
fn caches_that_a_run_uses_stay_and_whoever_clears_them_is_told() {
    as_both(|world| {
        let mut held = world.command(PALISADE);
        held.args(["run", "--", "sh", "-c", "echo on; read rest"]);
        let mut held = held.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut begun = [0; 3];
        held.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        let note = "note: a run is using the caches of `/home/dev/app`: they stay\n";
        for all in [&["cache", "clear"][..], &["cache", "clear", "--all"]] {
            let cleared = world.run(all);
            assert_eq!((&*cleared.stdout, &*cleared.stderr), ("0 B freed\n", note));
            assert_eq!(cleared.code, Some(0));
        }
        assert_eq!(world.json(&["cache", "clear", "--json"]), json!({ "freed": 0 }));
        drop(held.stdin.take());
        held.wait().unwrap();
        assert_eq!(world.run(&["cache", "clear"]).stderr, "");
    });
}

#[test]
fn writes_in_vain_are_listed_when_they_are_traced() {
    as_both(|world| {
        world.write("tries.sh", "touch /etc/x; touch made; exit 0");
        let told = world.json(&["run", "--json", "--trace-writes", "--", "sh", "tries.sh"]);
        assert_fits(&told, "outcome.json");
        let violations = told["violations"].as_array().unwrap();
        assert_eq!(violations.len(), 1, "{told}");
        assert_eq!(violations[0]["path"], "/etc/x");
        assert!(world.project.path("made").exists());
        let told = world.json(&["run", "--json", "--", "sh", "tries.sh"]);
        assert_eq!(told["violations"], "unavailable");
    });
}

#[test]
fn wrong_usage_of_run_ends_with_125() {
    let world = World::new();
    let wrong: [&[&str]; 10] = [
        &["run"],
        &["run", "ls"],
        &["run", "--no-such", "--", "ls"],
        &["run", "--timeout", "soon", "--", "ls"],
        &["run", "--timeout", "0s", "--", "touch", "made"],
        &["run", "--status-fd", "77", "--", "touch", "made"],
        &["run", "--env", "A B=c", "--", "touch", "made"],
        &["run", "--status-fd", "1", "--", "ls"],
        &["run", "--shell", "ls", "--", "ls"],
        &["run", "--cwd", "gone", "--", "ls"],
    ];
    for arguments in wrong {
        let ran = world.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(125), ""), "{arguments:?}");
        assert!(ran.stderr.starts_with("error"), "{arguments:?}: {}", ran.stderr);
    }
    assert!(!world.project.path("made").exists());
    let help = world.run(&["run", "--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("--status-fd"), "{}", help.stdout);
    let tip = world.run(&["run", "ls", "-la"]).stderr;
    assert!(tip.contains("put the command after `--`"), "{tip}");
    let tip = world.run(&["run", "--timeout", "5", "--", "ls"]).stderr;
    assert!(tip.contains("write `5s` for seconds"), "{tip}");
    let tip = world.run(&["run", "--status-fd", "77", "--", "ls"]).stderr;
    assert!(tip.starts_with("error[status-fd]: descriptor 77 is not open\n"), "{tip}");
}

#[test]
fn a_plan_is_printed_and_nothing_runs() {
    as_both(|world| {
        let ran = world.run(&["plan", "--env", "X=1", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(2), "options of a run are none of a plan");
        let ran = world.run(&["plan", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let steps: Vec<&str> = ran.stdout.lines().filter_map(|it| it.split(' ').next()).collect();
        let place = |name: &str| {
            let at = steps.iter().position(|step| *step == name);
            at.unwrap_or_else(|| panic!("{name}: {steps:?}"))
        };
        let order = ["namespaces", "identity", "seal-root", "seccomp", "reaper", "enter", "exec"];
        assert!(order.map(place).is_sorted(), "{steps:?}");
        assert!(!world.project.path("made").exists());
        let told = world.json(&["plan", "--json", "--", "touch", "made"]);
        assert_eq!((&told["executed"], &told["denied"]), (&Json::from(false), &Json::from(false)));
        let count = |key: &str| told[key].as_array().unwrap().len();
        let lines = steps.iter().filter(|it| !matches!(**it, "#" | "look-over")).count();
        assert_eq!((count("steps"), count("look_over")), (lines, 1));
        let denied = world.run(&["plan", "--", "rm", "-rf", "/etc"]);
        assert_eq!((denied.code, denied.stdout.as_str()), (Some(126), ""));
        assert!(denied.stderr.contains("outside-root"), "{}", denied.stderr);
    });
}
