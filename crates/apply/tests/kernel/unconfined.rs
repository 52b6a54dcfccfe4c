//! A command that is not confined, because somebody who may say so has switched every wall off.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use palisade_apply::{Bound, End, Input, Streams, Survivors};
use palisade_plan::{Layer, Strength, Walls};

use crate::{Place, all, as_both, out, started};

const BY: &str = "sandbox.json, line 1";

fn place() -> Place {
    let mut place = Place::new();
    place.order.walls = Walls::Down { by: BY.into() };
    place
}

/// Starts two processes that get away as far as they can, and says their numbers.
const RUNAWAYS: &str = "setsid sleep 61.7 & echo $! > away; (setsid sh -c 'sleep 61.7 & echo $! >> away; \
    sleep 61.7' </dev/null >/dev/null 2>&1 &); until [ $(wc -l < away) = 2 ]; do sleep 0.01; done; ";

/// Waits until none of the processes that got away is there.
fn are_gone(place: &Place) -> bool {
    let away = fs::read_to_string(place.project.path("away")).unwrap();
    assert_eq!(away.lines().count(), 2, "{away}");
    let deadline = Instant::now() + Duration::from_secs(20);
    let is_there = || away.lines().any(|pid| Path::new("/proc").join(pid).exists());
    while is_there() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    !is_there()
}

#[test]
fn a195_without_walls_the_machine_is_the_hosts_and_the_outcome_says_so() {
    as_both(
        "unconfined::a195_without_walls_the_machine_is_the_hosts_and_the_outcome_says_so",
        || {
            let place = place();
            let home = place.home.root().to_str().unwrap();
            let script = format!(
                "cat {home}/.ssh/id && echo x > {home}/new && readlink /proc/self/ns/net; echo $TMPDIR"
            );
            let outcome = place.sh(&script);
            let own = fs::read_link("/proc/self/ns/net").unwrap();
            assert_eq!(
                out(&outcome),
                format!("secret\n{}\n\n", own.display()),
                "{}",
                all(&outcome)
            );
            assert_eq!(fs::read_to_string(place.home.path("new")).unwrap(), "x\n");
            let walls = outcome.enforced.iter().filter(|one| one.layer != Layer::Limits);
            for wall in walls {
                assert_eq!(wall.strength, Strength::Absent(format!("so says {BY}")));
            }
            let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
            assert_eq!((codes, outcome.survivors), (vec!["unconfined"], Survivors::None));
        },
    );
}

#[test]
fn a195_what_an_unconfined_command_started_ends_with_it() {
    as_both("unconfined::a195_what_an_unconfined_command_started_ends_with_it", || {
        let place = place();
        let outcome = place.sh(&format!("{RUNAWAYS} echo done"));
        assert_eq!((out(&outcome).as_str(), outcome.survivors), ("done\n", Survivors::None));
        assert!(are_gone(&place));
    });
}

#[test]
fn a195_time_and_a_stop_end_all_of_an_unconfined_command() {
    as_both("unconfined::a195_time_and_a_stop_end_all_of_an_unconfined_command", || {
        let mut place = place();
        place.order.bounds.time = Some(Duration::from_secs(2));
        let outcome = place.sh(&format!("{RUNAWAYS} sleep 61.7"));
        assert_eq!((outcome.end, outcome.limit), (End::TimedOut, Some(Bound::Time)));
        assert_eq!(outcome.survivors, Survivors::None);
        assert!(are_gone(&place));

        fs::remove_file(place.project.path("away")).unwrap();
        place.order.bounds.time = Some(Duration::from_secs(60));
        let script = format!("{RUNAWAYS} sleep 61.7");
        place.order.argv = ["/bin/sh", "-c", &script].map(str::to_owned).into();
        let running = started(&place, Streams { stdin: Input::Null, ..Streams::default() });
        let stop = running.stop();
        let waits = thread::spawn(move || running.wait().unwrap());
        let away = || fs::read_to_string(place.project.path("away")).unwrap_or_default();
        while away().lines().count() < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        stop.now();
        let outcome = waits.join().unwrap();
        assert_eq!((outcome.end, outcome.survivors), (End::Stopped, Survivors::None));
        assert!(are_gone(&place));
    });
}

#[test]
fn a195_bounds_hold_without_walls_and_a_missing_program_is_one() {
    as_both("unconfined::a195_bounds_hold_without_walls_and_a_missing_program_is_one", || {
        let mut place = place();
        place.order.bounds.file_size = Some(4096);
        let outcome = place.sh("head -c 8192 /dev/zero > big");
        assert_eq!(outcome.limit, Some(Bound::FileSize), "{}", all(&outcome));
        assert_eq!(fs::metadata(place.project.path("big")).unwrap().len(), 4096);
        assert_eq!(place.run(&["/no/such/program"]).end, End::NotFound);
    });
}
