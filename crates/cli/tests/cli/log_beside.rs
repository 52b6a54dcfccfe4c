//! A log that lies where commands can write: what they hold and put there stops no record.

use std::fs;
use std::time::Duration;

use serde_json::Value as Json;

use crate::kit::{PALISADE, World, as_both};

const LOG: &str = "audit: { path: ./log/events.jsonl, rotate_size: 64KiB }\n";

const HOLDS: &str = "
import fcntl, os, time
head = open('log/events.jsonl.head')
fcntl.flock(head, fcntl.LOCK_EX)
for number in range(1, 300):
    name = 'log/events.jsonl.%012d' % number
    [os.mkfifo, os.mkdir, lambda it: open(it, 'w').write('x')][number % 3](name)
open('held', 'w').close()
time.sleep(4)
";

fn verified(world: &World) -> Json {
    world.json(&["audit", "verify", "--json"])
}

#[test]
fn a_command_that_holds_the_lock_and_takes_names_keeps_nothing_out_of_the_record() {
    // Where the folder holds something else, too, commands may put what they like beside the log.
    as_both(|world| {
        let world = world.user_policy(LOG);
        world.write("log/other", "");
        world.write("holds.py", HOLDS);
        let mut holder = world.command(PALISADE);
        let mut holder =
            holder.args(["run", "--", "/usr/bin/python3", "holds.py"]).spawn().unwrap();
        for _ in 0..200 {
            if world.project.path("held").exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(world.project.path("held").exists());
        let long = "x".repeat(30_000);
        for number in 0..6 {
            let ran = world.run(&["run", "--", "/bin/true", &long, &number.to_string()]);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{number}");
        }
        assert!(holder.wait().unwrap().success());
        let told = verified(&world);
        assert_eq!((&told["state"], &told["problems"]), (&"intact".into(), &Json::Array(vec![])));
        assert!(told["files"].as_u64().unwrap() > 1, "{told}");
        let found = world.run(&["audit", "query", "--event", "run", "--json"]).stdout;
        assert_eq!(found.lines().count(), 7, "{found}");
        // What keeps the lock is nobody's to hold inside.
        let state = world.home.path(".local/state/palisade/audit");
        let names = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().any(|name| name.to_string_lossy().ends_with(".turn")));
        let ran = world.run(&["run", "--", "ls", state.to_str().unwrap()]);
        assert!(!ran.stdout.contains(".turn"), "{}", ran.stdout);
    });
}

#[test]
fn a_folder_that_a_log_has_for_itself_is_closed_to_commands() {
    let world = World::new().user_policy(LOG);
    for text in ["mkfifo log/events.jsonl.000000000001", "touch log/x", "mv log other"] {
        let ran = world.run(&["run", "--shell", text]);
        assert_ne!(ran.code, Some(0), "{text}: {}", ran.stderr);
    }
    let names = fs::read_dir(world.project.path("log")).unwrap().count();
    assert_eq!(names, 2);
    let long = "x".repeat(30_000);
    for _ in 0..4 {
        assert_eq!(world.run(&["run", "--", "/bin/true", &long]).stderr, "");
    }
    assert_eq!(verified(&world)["state"], "intact");
}

#[test]
fn what_could_not_be_written_by_one_process_is_told_by_the_next() {
    let world = World::new().user_policy(LOG);
    assert_eq!(world.run(&["run", "--", "/bin/true"]).code, Some(0));
    let state = world.home.path(".local/state/palisade/audit");
    let turn = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
    let turn = turn.into_iter().find(|path| path.extension().is_some_and(|it| it == "turn"));
    let turn = fs::File::open(turn.unwrap()).unwrap();
    rustix::fs::flock(&turn, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let ran = world.run(&["run", "--", "/bin/true"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("another process holds its lock"), "{}", ran.stderr);
    drop(turn);
    assert_eq!(world.run(&["run", "--", "/bin/true"]).code, Some(0));
    let found = world.run(&["audit", "query", "--event", "recovered", "--json"]).stdout;
    let found: Json = serde_json::from_str(found.trim()).unwrap();
    // The policy, the decision and the end of that run.
    assert_eq!(found["lost"], 3, "{found}");
    assert_eq!(verified(&world)["state"], "intact");
}
