//! Commands that take long: memory goes back to the kernel, and everything else is as before.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value as Json;

use crate::kit::{PALISADE, as_both};
use crate::schema::assert_fits;

/// Far longer than it takes until memory is given back.
const LONG: Duration = Duration::from_secs(1);

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Returns the descendants of a process, and itself first.
fn family(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let below = children.split_whitespace().flat_map(|child| family(child.parse().unwrap()));
    [pid].into_iter().chain(below).collect()
}

fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// Returns what a process has of its own that can be written, in KiB: what it shares counts in part.
/// None if only root may look.
fn own(pid: u32) -> Option<u64> {
    let mappings = fs::read_to_string(format!("/proc/{pid}/smaps")).ok()?;
    let (mut is_own, mut sum) = (false, 0);
    for line in mappings.lines() {
        if let Some(size) = line.strip_prefix("Pss:").filter(|_| is_own) {
            sum += size.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
        } else if line.split(' ').next().is_some_and(|first| first.contains('-')) {
            is_own = line.contains(" rw-p ");
        }
    }
    Some(sum)
}

/// Waits until something is so.
fn until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_sandbox_that_waits_needs_little_memory() {
    as_both(|world| {
        let mut command = world.command(PALISADE);
        command.args(["run", "--", "sleep", "300"]);
        let mut child = command.spawn().unwrap();
        let ours = || {
            let all = family(child.id()).into_iter().filter(|pid| name(*pid) != "sleep");
            all.map(|pid| (name(pid), own(pid))).collect::<Vec<_>>()
        };
        until("it starts", || family(child.id()).iter().any(|pid| name(*pid) == "sleep"));
        let most = |name: &str| match name {
            "pal-reaper" => 100,
            // The janitor's memory is the supervisor's, and a thread of it watches names.
            _ => 400,
        };
        let is_little = |ours: &[(String, Option<u64>)]| {
            ours.iter().all(|(name, own)| own.is_none_or(|own| own < most(name)))
        };
        let begun = Instant::now();
        while !is_little(&ours()) {
            assert!(begun.elapsed() < PATIENCE, "{:?}", ours());
            thread::sleep(Duration::from_millis(20));
        }
        // It stays so: what we do from time to time takes little.
        thread::sleep(LONG);
        let ours = ours();
        assert!(is_little(&ours) && ours.len() >= 2, "{ours:?}");
        kill_process(pid(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(143));
    });
}

#[test]
fn input_output_and_signals_pass_after_a_long_wait() {
    as_both(|world| {
        let mut command = world.command(PALISADE);
        let shell = "trap 'echo caught; exit 9' TERM; read line; echo got $line; \
                     seq 20000; sleep 1; echo ready; sleep 300 & wait";
        command.args(["run", "--shell", shell]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        thread::sleep(LONG);
        writeln!(child.stdin.take().unwrap(), "it").unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(lines.next().unwrap(), "got it");
        for number in 1..=20_000 {
            assert_eq!(lines.next().unwrap(), number.to_string());
        }
        assert_eq!(lines.next().unwrap(), "ready");
        thread::sleep(LONG);
        kill_process(pid(&child), Signal::TERM).unwrap();
        assert_eq!(lines.next().unwrap(), "caught");
        assert_eq!(child.wait().unwrap().code(), Some(9));
    });
}

#[test]
fn a_terminal_works_after_a_long_wait() {
    as_both(|world| {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = File::options().read(true).write(true).open(name).unwrap();
        let program = world.command(PALISADE).get_program().to_owned();
        let mut command = world.command("setsid");
        command.args(["--ctty", "--wait"]).arg(program);
        command.args(["run", "--shell", "echo ready; read line; echo got $line; sleep 300"]);
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap());
        let mut child = command.stderr(slave).spawn().unwrap();
        drop(command);
        let mut master = File::from(master);
        let mut seen = String::new();
        let mut await_text = |master: &mut File, text: &str| {
            while !seen.contains(text) {
                let mut bytes = [0; 1024];
                let read = master.read(&mut bytes).unwrap();
                seen += &String::from_utf8_lossy(&bytes[..read]);
            }
        };
        await_text(&mut master, "ready");
        thread::sleep(LONG);
        master.write_all(b"this\r").unwrap();
        await_text(&mut master, "got this");
        thread::sleep(LONG);
        master.write_all(b"\x03").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
    });
}

#[test]
fn bounds_and_outcomes_are_told_after_a_long_wait() {
    as_both(|world| {
        let world = world.user_policy("audit: { path: ~/log/events.jsonl }\n");
        let begun = Instant::now();
        let ran = world.run(&["run", "--timeout", "1s", "--", "sleep", "300"]);
        assert!(begun.elapsed() >= LONG && begun.elapsed() < PATIENCE);
        assert_eq!(ran.code, Some(124), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[timeout]"), "{}", ran.stderr);
        let told = world.json(&["run", "--json", "--shell", "sleep 1; echo x > /tmp/it; exit 7"]);
        assert_fits(&told, "outcome.json");
        assert_eq!(told["exit_code"], 7);
        assert!(told["left_in_tmp"].to_string().contains("it"), "{told}");
        let log = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
        let last: Json = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!((&last["event"], &last["exit_code"]), (&Json::from("run"), &Json::from(7)));
    });
}

#[test]
fn who_is_killed_after_a_long_wait_leaves_nothing() {
    as_both(|world| {
        let before = || {
            let names = fs::read_dir(world.project.root()).unwrap().flatten();
            let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        };
        let names = before();
        let mut command = world.command(PALISADE);
        let mut child = command.args(["run", "--", "sleep", "300"]).spawn().unwrap();
        until("names are kept", || before() != names);
        until("it runs", || family(child.id()).iter().any(|pid| name(*pid) == "sleep"));
        thread::sleep(LONG);
        let family = family(child.id());
        kill_process(pid(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        until("names are given back", || before() == names);
        until("nobody is left", || family.iter().all(|pid| name(*pid).is_empty()));
    });
}
