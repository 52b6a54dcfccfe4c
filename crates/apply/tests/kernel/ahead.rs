//! Namespaces that are made ahead, and what happens if they cannot be, or are of no use.

use std::fs;
use std::time::{Duration, Instant};

use palisade_apply::{Host, Outcome, Streams, call_back, send_ahead};
use palisade_plan::build;
use palisade_plan::policy::policy::NetworkMode;

use crate::{Place, as_both, out, permit};

/// What a command sees of its namespaces, its user and its network.
const SEEN: &str = "id -u; id -g; cat /proc/self/uid_map | tr -s ' '; hostname; \
    cat /proc/net/dev | grep -c :; ls /proc/sysvipc; \
    cat /sys/class/net/lo/operstate 2>/dev/null; ps -e 2>/dev/null | wc -l";

fn run(place: &Place, script: &str) -> Outcome {
    let mut order = place.order.clone();
    order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
    let host = Host::probe();
    let plan = build(&permit(), &order, &host.facts(&order.questions())).unwrap();
    host.start_awaited(&plan, Streams::default()).unwrap().wait().unwrap()
}

/// The children of this thread that make something ahead.
fn sent() -> Vec<i32> {
    let children = fs::read_to_string("/proc/thread-self/children").unwrap();
    let is_ahead = |pid: &&str| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "pal-ahead\n")
    };
    // One that was just made has the name of the thread that made it.
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let found: Vec<i32> =
            children.split_whitespace().filter(is_ahead).map(|pid| pid.parse().unwrap()).collect();
        if !found.is_empty() || children.is_empty() || Instant::now() > until {
            return found;
        }
    }
}

#[test]
fn what_is_made_ahead_is_what_the_start_makes() {
    as_both("ahead::what_is_made_ahead_is_what_the_start_makes", || {
        let place = Place::new();
        let without = run(&place, SEEN);
        send_ahead();
        assert_eq!(sent().len(), 1, "it is there");
        send_ahead();
        assert_eq!(sent().len(), 1, "and only once");
        let with = run(&place, SEEN);
        assert_eq!(out(&with), out(&without));
        assert_eq!(with.enforced, without.enforced);
        assert!(sent().is_empty(), "it is gone with the start");
    });
}

#[test]
fn a_start_does_without_it() {
    as_both("ahead::a_start_does_without_it", || {
        let place = Place::new();
        send_ahead();
        for pid in sent() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        assert_eq!(out(&run(&place, "echo ran")), "ran\n", "somebody has killed it");
        assert!(sent().is_empty());
        // Another thread's is not ours.
        send_ahead();
        let other: Outcome =
            std::thread::scope(|scope| scope.spawn(|| run(&place, "echo ran")).join().unwrap());
        assert_eq!(out(&other), "ran\n");
        call_back();
        assert!(sent().is_empty(), "nobody needs it any more");
    });
}

#[test]
fn a_plan_that_wants_something_else_does_not_get_it() {
    as_both("ahead::a_plan_that_wants_something_else_does_not_get_it", || {
        let mut place = Place::new();
        place.order.network = NetworkMode::Disabled;
        let link = "readlink /proc/self/ns/net";
        let host = fs::read_link("/proc/self/ns/net").unwrap();
        send_ahead();
        assert_eq!(out(&run(&place, link)).trim(), host.to_str().unwrap(), "the host's network");
        place.order.network = NetworkMode::DenyAll;
        send_ahead();
        assert_ne!(out(&run(&place, link)).trim(), host.to_str().unwrap());
    });
}

#[test]
fn threads_do_not_get_in_each_others_way() {
    as_both("ahead::threads_do_not_get_in_each_others_way", || {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let place = Place::new();
                    for _ in 0..50 {
                        send_ahead();
                        assert_eq!(out(&run(&place, "echo ran")), "ran\n");
                    }
                });
            }
        });
    });
}
