//! The record of what happened: read again, verified, and on bad ground.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use palisade_testkit::Project;
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World, as_both};
use crate::schema::assert_fits;

const POLICY: &str = "audit: { path: ~/log/events.jsonl }\n";

fn log(world: &World) -> PathBuf {
    world.home.path("log/events.jsonl")
}

fn lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_record_verifies_until_somebody_changes_it() {
    as_both(|world| {
        let world = world.user_policy(POLICY);
        assert_eq!(world.run(&["run", "--", "true"]).code, Some(0));
        assert_eq!(world.run(&["run", "--", "rm", "-rf", "/etc"]).code, Some(126));
        let told = world.json(&["audit", "verify", "--json"]);
        assert_eq!((&told["intact"], &told["records"]), (&true.into(), &7.into()), "{told}");
        assert_eq!(told["signatures"], 1, "{told}");
        for event in lines(&fs::read_to_string(log(&world)).unwrap()) {
            assert_fits(&event, "event.json");
        }
        let whole = fs::read_to_string(log(&world)).unwrap();
        let changes = [
            (whole.replace("\"deny\"", "\"allow\""), "edited"),
            (whole.lines().skip(1).map(|line| format!("{line}\n")).collect(), "missing"),
            (whole.lines().take(6).map(|line| format!("{line}\n")).collect(), "truncated"),
            (format!("{whole}not ours\n"), "no-record"),
        ];
        for (changed, code) in changes {
            fs::write(log(&world), changed).unwrap();
            let ran = world.run(&["audit", "verify"]);
            assert_eq!(ran.code, Some(3), "{code}: {}", ran.stderr);
            assert!(ran.stderr.contains(&format!("error[{code}]")), "{code}: {}", ran.stderr);
            assert!(ran.stdout.contains("not as it was written"), "{}", ran.stdout);
        }
        fs::write(log(&world), &whole).unwrap();
        assert_eq!(world.run(&["audit", "verify"]).code, Some(0));
    });
}

#[test]
fn without_the_key_nothing_is_called_intact() {
    let world = World::new().user_policy(POLICY);
    assert_eq!(world.run(&["run", "--", "true"]).code, Some(0));
    let key = world.home.path(".local/state/palisade/audit/key");
    let elsewhere = world.home.path("key");
    fs::rename(key, &elsewhere).unwrap();
    let ran = world.run(&["audit", "verify"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(!ran.stdout.contains("as it was written"), "{}", ran.stdout);
    assert!(ran.stdout.contains("not checked, since there is no key: the seal"), "{}", ran.stdout);
    let ran = world.run(&["audit", "verify", "--json"]);
    let told: Json = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (ran.code, &told["state"], &told["intact"]),
        (Some(4), &"unproven".into(), &Json::Null)
    );
    assert_eq!(told["unchecked"], json!(["seals", "checkpoints", "head"]));
    let with = world.run(&["audit", "verify", "--json", "--key", elsewhere.to_str().unwrap()]);
    let told: Json = serde_json::from_str(&with.stdout).unwrap();
    assert_eq!(
        (with.code, &told["state"], &told["intact"]),
        (Some(0), &"intact".into(), &true.into())
    );
    assert_eq!(told["unchecked"], json!([]));
    // What is broken is so with and without.
    let text = fs::read_to_string(log(&world)).unwrap();
    fs::write(log(&world), text.replacen("\"run\"", "\"ran\"", 1)).unwrap();
    assert_eq!(world.run(&["audit", "verify"]).code, Some(3));
}

#[test]
fn what_somebody_without_the_key_appends_is_told_and_is_no_event() {
    as_both(|world| {
        let world = world.user_policy(POLICY);
        assert_eq!(world.run(&["run", "--", "true"]).code, Some(0));
        let whole = fs::read_to_string(log(&world)).unwrap();
        let last = lines(&whole).pop().unwrap();
        let number = last["sequence"].as_u64().unwrap() + 1;
        let hash = palisade::audit::Hash::of(whole.lines().last().unwrap().as_bytes());
        let forged = format!(
            "{{\"version\":1,\"sequence\":{number},\"previous\":\"{hash}\",\"time\":\"2027-01-15T08:00:00.042Z\",\
             \"run\":\"forged\",\"event\":\"confirmation\",\"answer\":\"yes\",\"by\":\"terminal\",\"call\":\"ab\"}}\n"
        );
        fs::write(log(&world), whole + &forged).unwrap();
        let at_once = world.run(&["audit", "verify"]);
        assert!(
            at_once.code == Some(3) && at_once.stderr.contains("error[forged]"),
            "{}",
            at_once.stderr
        );
        assert_eq!(world.run(&["run", "--", "true"]).code, Some(0));
        let later = world.run(&["audit", "verify"]);
        assert_eq!(later.code, Some(3), "{}", later.stderr);
        for code in ["error[forged]", "error[unheaded]"] {
            assert!(later.stderr.contains(code), "{}", later.stderr);
        }
        assert!(
            fs::read_to_string(log(&world)).unwrap().contains(&forged),
            "nothing is thrown away"
        );
        let query = world.run(&["audit", "query", "--run", "forged", "--json"]);
        assert_eq!(query.stdout, "");
        assert!(query.stderr.contains("1 lines that your key did not seal"), "{}", query.stderr);
        let all = world.run(&["audit", "query", "--run", "forged", "--json", "--unsealed"]);
        assert_eq!(lines(&all.stdout).len(), 1);
        for event in lines(&world.run(&["audit", "query", "--json"]).stdout) {
            assert_fits(&event, "event.json");
        }
    });
}

#[test]
fn events_are_found_by_what_they_tell() {
    let world = World::new().user_policy(POLICY);
    world.run(&["run", "--", "true"]);
    world.run(&["run", "--agent", "codex", "--", "rm", "-rf", "/etc/x\u{1b}[2K"]);
    world.run(&["run", "--shell", "cat /etc/hostname"]);
    let count = |arguments: &[&str]| {
        let ran = world.run(&[&["audit", "query", "--json"], arguments].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
        lines(&ran.stdout).len()
    };
    assert_eq!(count(&["--event", "decision"]), 3);
    assert_eq!(count(&["--verdict", "deny"]), 1);
    assert_eq!(count(&["--by", "codex"]), 2, "the decision, and the end of its run");
    assert_eq!(count(&["--path", "/etc", "--event", "decision"]), 2);
    assert_eq!(count(&["--since", "1h", "--event", "run"]), 3);
    assert_eq!(count(&["--until", "2020-01-01"]), 0);
    assert_eq!(count(&["--limit", "2"]), 2);
    let human = world.run(&["audit", "query", "--verdict", "deny"]).stdout;
    assert!(human.contains("deny    rm -rf /etc/x\\u{1b}[2K"), "{human}");
    let tail = world.run(&["audit", "tail", "-n", "1"]).stdout;
    assert_eq!(tail.lines().count(), 1, "{tail}");
    assert!(tail.contains("run") && tail.contains("exit 0"), "{tail}");
}

#[test]
fn what_cannot_be_read_is_told_with_a_way_out() {
    let world = World::new();
    let nowhere = world.run(&["audit", "tail"]);
    assert_eq!(nowhere.code, Some(125));
    assert!(nowhere.stderr.contains("audit: { path:"), "{}", nowhere.stderr);
    for command in ["verify", "tail", "query"] {
        let missing = world.run(&["audit", command, "--file", "no.jsonl"]);
        assert_eq!(missing.code, Some(125), "{}", missing.stderr);
        assert!(missing.stderr.contains("error[no-log]"), "{}", missing.stderr);
    }
    let wrong = World::new().user_policy(POLICY).run(&["audit", "query", "--since", "noon"]);
    assert!(
        wrong.stderr.contains("error[time]") && wrong.stderr.contains("`2h`"),
        "{}",
        wrong.stderr
    );
    let world = World::new().user_policy(POLICY);
    world.run(&["run", "--", "true"]);
    let key = world.run(&["audit", "verify", "--key", "Cargo.toml"]);
    assert_eq!(key.code, Some(125));
    assert!(key.stderr.contains("it is no key"), "{}", key.stderr);
}

#[test]
fn the_key_is_hidden_from_what_is_recorded() {
    as_both(|world| {
        let world = world.user_policy(POLICY);
        world.run(&["run", "--", "true"]);
        let key = world.home.path(".local/state/palisade/audit/key");
        assert_eq!(fs::read_to_string(&key).unwrap().len(), 65);
        world.write("read.sh", format!("cat {}\n", key.display()));
        let ran = world.run(&["run", "--", "sh", "read.sh"]);
        assert_ne!(ran.code, Some(0), "{}", ran.stdout);
        assert_eq!(ran.stdout, "");
    });
}

#[test]
fn trust_is_recorded_and_taken_back() {
    let world = World::with_policy("files: { write: [/var/cache/x] }\n").user_policy(POLICY);
    assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(world.run(&["trust", "--revoke"]).code, Some(0));
    let found = world.run(&["audit", "query", "--event", "trust", "--json"]).stdout;
    let found = lines(&found);
    found.iter().for_each(|event| assert_fits(event, "event.json"));
    assert_eq!(found.iter().map(|it| &it["trusted"]).collect::<Vec<_>>(), [true, false]);
    assert_eq!(found[0]["files"].as_array().unwrap().len(), 1, "{found:?}");
}

/// Runs a script in a mount namespace of its own, in which the record lies on a small disk.
fn on_a_small_disk(size: &str, script: &str) -> crate::kit::Ran {
    let disk = Project::new();
    let folder = disk.root();
    let policy = format!("audit: {{ path: {}/events.jsonl }}\n", folder.display());
    let world = World::new().user_policy(&policy);
    let mut command = world.command("unshare");
    let root = rustix::process::geteuid().is_root();
    command.args(if root { &["-m"][..] } else { &["-Urm"] });
    let script = format!("mount -t tmpfs -o size={size} tmpfs \"$DIR\" || exit 99\n{script}");
    command.args(["sh", "-c", &script]).env("DIR", folder).env("PALISADE", PALISADE);
    world.finish(command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"))
}

#[test]
fn a_full_disk_stops_no_run_and_is_told() {
    let script = "
        for run in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            \"$PALISADE\" run -- /bin/echo ran || exit 98
        done
        \"$PALISADE\" audit verify";
    let ran = on_a_small_disk("16k", script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout.matches("ran\n").count(), 20);
    let warned = ran.stderr.matches("warning: cannot record what happens").count();
    assert!(warned > 0 && warned < 20, "{}", ran.stderr);
}

#[test]
fn a_disk_that_can_only_be_read_stops_no_run_and_is_told() {
    let script = "
        \"$PALISADE\" run -- /bin/echo ran || exit 98
        mount -o remount,ro \"$DIR\" || exit 97
        \"$PALISADE\" run -- /bin/echo ran || exit 96
        \"$PALISADE\" audit verify";
    let ran = on_a_small_disk("1m", script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout.matches("ran\n").count(), 2);
    assert_eq!(
        ran.stderr.matches("warning: cannot record what happens").count(),
        1,
        "{}",
        ran.stderr
    );
}

#[test]
fn runs_that_are_killed_leave_a_record_that_verifies() {
    let world = World::new().user_policy(POLICY);
    for delay in 0..24_u64 {
        let mut command = world.command(PALISADE);
        let mut child = command.args(["run", "--", "/bin/true"]).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(delay * 400));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(status.signal() == Some(9) || status.success(), "{status}");
    }
    let ran = world.run(&["audit", "verify"]);
    // It may have been killed each time before there was one.
    assert!(ran.code == Some(0) || !log(&world).exists(), "{}{}", ran.stdout, ran.stderr);
}

fn tool_calls(world: &World) -> Vec<Json> {
    let events = lines(&fs::read_to_string(log(world)).unwrap());
    events.into_iter().filter(|event| event["event"] == "tool-call").collect()
}

#[test]
fn a_hooks_decision_is_one_event_of_the_record() {
    as_both(|world| {
        let world = world.user_policy(POLICY);
        for (command, verdict) in [("ls", "allow"), ("rm -rf /etc", "deny")] {
            let told = json!({
                "hook_event_name": "PreToolUse", "cwd": world.project.root(), "tool_name": "Bash",
                "tool_input": { "command": command }, "tool_use_id": "toolu_1",
            });
            world.run_with_input(told.to_string().as_bytes(), &["hook", "claude"]);
            let calls = tool_calls(&world);
            let last = calls.last().unwrap();
            assert_fits(last, "event.json");
            let found = (&last["tool"], &last["call_id"], &last["verdict"], &last["agent"]);
            assert_eq!(
                found,
                (&"Bash".into(), &"toolu_1".into(), &verdict.into(), &"claude".into())
            );
            assert_eq!(last["reasons"].as_array().unwrap().is_empty(), verdict == "allow");
        }
        // A command that takes another's place is judged again, and both are one call.
        let told = json!({
            "hook_event_name": "PreToolUse", "cwd": world.project.root(), "tool_name": "Bash",
            "tool_input": { "command": "ls" },
        });
        world.run_with_input(told.to_string().as_bytes(), &["hook", "claude", "--wrap"]);
        assert_eq!(tool_calls(&world).len(), 3);
        assert_eq!(world.json(&["audit", "verify", "--json"])["intact"], true);
    });
}

#[test]
fn a_hook_that_cannot_record_answers_all_the_same_and_says_so() {
    let world = World::new().user_policy("audit: { path: /proc/no/events.jsonl }\n");
    let told = json!({
        "hook_event_name": "PreToolUse", "cwd": world.project.root(), "tool_name": "Bash",
        "tool_input": { "command": "ls" },
    });
    let ran = world.run_with_input(told.to_string().as_bytes(), &["hook", "claude"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), ""));
    assert!(ran.stderr.contains("/proc/no/events.jsonl"), "{}", ran.stderr);
}

#[test]
fn calls_of_mcp_tools_are_events_of_the_record() {
    as_both(|world| {
        let world = world.user_policy(POLICY);
        let call = |id: u64, name: &str, arguments: Json| {
            let params = json!({ "name": name, "arguments": arguments });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        let input = [
            call(1, "list_directory", json!({})),
            call(2, "write_file", json!({ "path": "/etc/x", "content": "" })),
            call(3, "explain_decision", json!({ "command": "ls" })),
        ];
        let mut command = world.command(PALISADE);
        command.args(["mcp", "serve"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        input.iter().for_each(|line| writeln!(to, "{line}").unwrap());
        // They go on side by side, and end with their input.
        assert_eq!(BufReader::new(from).lines().take(3).count(), 3);
        drop(to);
        child.wait().unwrap();
        let mut calls: Vec<(String, String)> = tool_calls(&world)
            .iter()
            .map(|call| (call["call_id"].to_string(), call["verdict"].to_string()))
            .collect();
        calls.sort();
        // Asking what would happen is no call, and what a folder holds is not judged one by one.
        let expected = [("\"1\"", "\"allow\""), ("\"2\"", "\"deny\"")];
        assert_eq!(calls, expected.map(|(id, verdict)| (id.to_owned(), verdict.to_owned())));
        assert_eq!(world.json(&["audit", "verify", "--json"])["intact"], true);
    });
}
