//! What an outcome of `palisade run` tells beside the command's own words.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World, as_both};
use crate::schema::assert_fits;

#[test]
fn refused_writes_are_told_with_rule_and_remedy_on_demand() {
    as_both(|world| {
        world.write("try.sh", "touch /etc/palisade-x; echo fine > made\n");
        let run = ["run", "--json", "--trace-writes", "--", "sh", "try.sh"];
        let told = world.json(&run);
        assert_fits(&told, "outcome.json");
        let first = &told["violations"][0];
        let expected = json!({
            "predicted": true,
            "operation": "open",
            "path": "/etc/palisade-x",
            "rule": "files.write",
            "remedy": "write below what files.write lists: this is the system's",
            "times": 1,
        });
        assert_eq!(*first, expected, "{told}");
        let told = world.json(&["run", "--json", "--", "sh", "try.sh"]);
        assert_eq!(told["violations"], "unavailable");
    });
}

#[test]
fn what_was_touched_and_left_and_met_is_told() {
    as_both(|world| {
        world.write("try.sh", "echo x > .envrc; echo x > /tmp/left; head -c 200000 /dev/zero\n");
        let told = world.json(&["run", "--json", "--", "sh", "try.sh"]);
        assert_fits(&told, "outcome.json");
        let why = told["touched"][0]["why"].clone();
        assert_eq!(why, "shell start-up", "{}", told["touched"]);
        assert_eq!(told["left_in_tmp"], json!(["/tmp/left"]));
        assert_eq!(told["limits_reached"], json!(["output"]));
        assert_eq!((&told["limit"], &told["survivors"]), (&Json::Null, &json!("none")));
        let late = world.json(&["run", "--json", "--timeout", "1s", "--", "sleep", "100"]);
        assert_fits(&late, "outcome.json");
        assert_eq!(late["limit"], "timeout", "{late}");
        let denied = world.json(&["run", "--json", "--", "rm", "-rf", "/etc"]);
        assert_fits(&denied, "outcome.json");
    });
}

/// Being told of a write decides nothing: nobody answers while the supervisor sleeps, and nothing
/// is let through.
#[test]
fn e057_a_supervisor_that_is_slow_or_dead_lets_no_traced_call_through() {
    as_both(|world| {
        world.write("w.sh", "echo $$ > pid; mv pid ready; while :; do echo x >> log; done\n");
        let mut command = world.command(PALISADE);
        command.args(["run", "--trace-writes", "--timeout", "60s", "--", "sh", "w.sh"]);
        let mut supervisor = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let size = || fs::metadata(world.project.path("log")).map_or(0, |log| log.len());
        let until = |is: &dyn Fn() -> bool| {
            let deadline = Instant::now() + Duration::from_secs(30);
            while !is() {
                assert!(Instant::now() < deadline);
                thread::sleep(Duration::from_millis(5));
            }
        };
        until(&|| size() > 100);
        let pid = Pid::from_child(&supervisor);
        kill_process(pid, Signal::STOP).unwrap();
        thread::sleep(Duration::from_millis(200));
        let asleep = size();
        thread::sleep(Duration::from_millis(500));
        let later = size();
        // Before anything is said of it: one that stays asleep would never end.
        kill_process(pid, Signal::CONT).unwrap();
        assert_eq!(later, asleep, "nobody answered");
        until(&|| size() > asleep);
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        thread::sleep(Duration::from_millis(200));
        let dead = size();
        thread::sleep(Duration::from_millis(300));
        assert_eq!(size(), dead, "nobody is left to write");
    });
}

#[test]
fn a131_what_srt_does_not_report_is_refused_all_the_same() {
    as_both(|world| {
        let filesystem = r#""filesystem":{"allowWrite":["."],"denyRead":[],"denyWrite":[]}"#;
        let silenced = r#""ignoreViolations":{"*":["/etc","/"]}"#;
        let network = r#""network":{"allowedDomains":[],"deniedDomains":[]}"#;
        world.write("srt.json", format!("{{{network},{filesystem},{silenced}}}"));
        world.write("try.sh", "touch /etc/palisade-x; touch made; exit 0\n");
        let run =
            ["run", "--json", "--trace-writes", "--settings", "srt.json", "--", "sh", "try.sh"];
        let told = world.json(&run);
        assert_eq!(told["violations"][0]["path"], "/etc/palisade-x", "{told}");
        assert!(!std::path::Path::new("/etc/palisade-x").exists());
        assert!(world.project.path("made").exists(), "{told}");
        assert!(told["warnings"].to_string().contains("silences reports only"), "{told}");
    });
}

#[test]
fn keys_that_change_nothing_for_what_runs_are_told() {
    as_both(|world| {
        let world = world.user_policy(
            "network: { mode: disabled, deny: [example.com], budget: { upload: 1MiB }, publish: [3000] }\n\
             confirm: { backend: web }\n\
             audit: { otlp: 'https://example.com/v1' }\n",
        );
        let keys = [
            "network.deny",
            "network.budget.upload",
            "network.publish",
            "confirm.backend",
            "audit.otlp",
        ];
        let ran = world.run(&["run", "--", "true"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        for key in keys {
            let line = format!("warning: `{key}` does not do what it says: ");
            assert_eq!(ran.stderr.matches(&line).count(), 1, "{key}: {}", ran.stderr);
        }
        let told = world.json(&["run", "--json", "--", "true"]);
        let codes = |told: &Json| {
            let all = told["warnings"].as_array().unwrap().iter();
            all.filter(|it| it["code"] == "without-effect").count()
        };
        assert_eq!(codes(&told), keys.len(), "{told}");
        assert_eq!(codes(&world.json(&["plan", "--json", "--", "true"])), keys.len());
        let plain = World { person: world.person, ..World::new() };
        assert_eq!(plain.run(&["run", "--", "true"]).stderr, "");
    });
}

#[test]
fn what_was_set_aside_is_told_to_a_person_too() {
    as_both(|world| {
        world.write("made.sh", "mkdir -p new/.git && echo '[alias]' > new/.git/config; exit 0\n");
        let ran = world.run(&["run", "--", "sh", "made.sh"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let line =
            "warning: `/home/dev/app/new/.git/config` is a protected name and was made inside";
        assert!(ran.stderr.starts_with(line), "{}", ran.stderr);
    });
}

/// Both who would clean up are killed: the next run does, in whatever project it is.
#[test]
fn a132_what_a_doubly_killed_run_left_is_brought_back_from_another_project() {
    as_both(|world| {
        world.write("other/Cargo.toml", "");
        let mut command = world.command(PALISADE);
        command.args(["run", "--", "sleep", "60"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut supervisor = command.spawn().unwrap();
        let begun = Instant::now();
        let janitor = loop {
            assert!(begun.elapsed() < Duration::from_secs(30), "no janitor");
            let there = world.project.path(".mcp.json").exists();
            if let Some(pid) = there.then(|| janitor_of(supervisor.id())).flatten() {
                break pid;
            }
        };
        kill_process(janitor, Signal::KILL).unwrap();
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        // The sandbox ends by itself, and holds what it depends on until it has.
        thread::sleep(Duration::from_millis(500));
        assert!(world.project.path(".mcp.json").exists(), "nobody was left to remove it");
        let ran = world.run_in("other", &["run", "--", "true"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        let names = |folder: &str| {
            let entries = fs::read_dir(world.project.path(folder)).unwrap().flatten();
            let mut names: Vec<_> = entries.map(|it| it.file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(
            (names(""), names("other")),
            (vec!["Cargo.toml".into(), "other".into()], vec!["Cargo.toml".into()])
        );
    });
}

/// Returns the janitor among the children of a supervisor.
fn janitor_of(supervisor: u32) -> Option<Pid> {
    let path = format!("/proc/{supervisor}/task/{supervisor}/children");
    let children = fs::read_to_string(path).ok()?;
    let mut children = children.split_whitespace();
    let is_janitor = |pid: &&str| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.trim() == "pal-janitor")
    };
    Pid::from_raw(children.find(is_janitor)?.parse().ok()?)
}
