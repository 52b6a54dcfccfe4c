//! Namespaces that are made ahead, and what happens if they cannot be, or are of no use.

use std::fs;
use std::time::{Duration, Instant};

use palisade_apply::{Host, Outcome, Streams, call_back, send_ahead};
use palisade_plan::build;
use palisade_plan::policy::policy::NetworkMode;

use palisade_testkit::{Fact, Need, Project, Turn, in_child, need};

use crate::{Place, as_both, out, permit};

/// What a command sees of its namespaces, its user, its network and its mounts.
const SEEN: &str = "cut -d' ' -f4- /proc/self/mountinfo | sed 's,/fd/[0-9]*,,g' | sort; \
    ls -ln --time-style=+ /dev; id -u; id -g; cat /proc/self/uid_map | tr -s ' '; hostname; \
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

/// The namespaces of a process, once it has all of its own.
fn namespaces(pid: i32) -> String {
    let link = |pid: &str, kind: &str| fs::read_link(format!("/proc/{pid}/ns/{kind}")).unwrap();
    let pid = pid.to_string();
    let until = Instant::now() + Duration::from_secs(20);
    while ["user", "net", "mnt", "uts"].iter().any(|kind| link(&pid, kind) == link("self", kind)) {
        assert!(Instant::now() < until, "it makes nothing");
    }
    let links = ["user", "net", "mnt", "uts"].map(|kind| link(&pid, kind));
    links.map(|link| format!("{}\n", link.display())).concat()
}

#[test]
fn a_command_may_run_where_its_host_may_however_it_was_pushed_about() {
    as_both("ahead::a_command_may_run_where_its_host_may_however_it_was_pushed_about", || {
        let place = Place::new();
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap();
        for _ in 0..20 {
            send_ahead();
            let told = run(&place, "grep ^Cpus_allowed: /proc/self/status");
            assert_eq!(out(&told).trim(), allowed);
        }
    });
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
        send_ahead();
        let made = namespaces(sent()[0]);
        let links =
            "readlink /proc/self/ns/user /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/uts";
        assert_eq!(out(&run(&place, links)), made, "it is the same one");
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
fn one_that_is_killed_at_any_time_does_not_make_the_command_run_twice() {
    as_both("ahead::one_that_is_killed_at_any_time_does_not_make_the_command_run_twice", || {
        let mut place = Place::new();
        place.order.argv = ["/bin/sh", "-c", "echo ran >> log"].map(str::to_owned).into();
        let host = Host::probe();
        for turn in 0..100 {
            send_ahead();
            let pid = rustix::process::Pid::from_raw(sent()[0]).unwrap();
            let facts = host.facts(&place.order.questions());
            let plan = build(&permit(), &place.order, &facts).unwrap();
            let killer = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_micros(turn * 20));
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
            });
            let started = host.start_awaited(&plan, Streams::default());
            let outcome = started.and_then(palisade_apply::Running::wait).unwrap();
            assert_eq!(outcome.exit_code(), 0, "{turn}");
            killer.join().unwrap();
            let log = fs::read_to_string(place.project.path("log")).unwrap();
            assert_eq!(log, "ran\n", "{turn}");
            fs::remove_file(place.project.path("log")).unwrap();
        }
    });
}

#[test]
fn one_that_is_stopped_ends_with_its_thread() {
    as_both("ahead::one_that_is_stopped_ends_with_its_thread", || {
        let thread = std::thread::spawn(move || {
            send_ahead();
            let pid = sent()[0];
            // Its maps and namespaces come after it is bound to this thread.
            namespaces(pid);
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
            rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap()
        });
        // The end of a thread calls it back, and stopped ones can be killed.
        let watch = thread.join().unwrap();
        let mut ready = [rustix::event::PollFd::new(&watch, rustix::event::PollFlags::IN)];
        let patience = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut ready, Some(&patience)), Ok(1), "it has ended");
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

#[test]
fn a_host_whose_devices_are_sealed_starts_sandboxes_too() {
    let name = "ahead::a_host_whose_devices_are_sealed_starts_sandboxes_too";
    let is_child = std::env::var_os("PALISADE_TEST_CHILD").is_some();
    if !is_child && need(Fact::Root) == Need::Skip {
        return;
    }
    let seal = r#"exec unshare --mount sh -c 'mount --bind /dev /dev &&
        mount -o remount,bind,ro /dev && exec "$@"' sh "$@""#;
    if in_child(name, seal) == Turn::Done {
        return;
    }
    as_both(name, || {
        // With a file that is guarded: what is wrong is told by the step, not by the guard.
        let place = Place::with(Project::new().file(".git/config", "[core]\n"));
        let script = "echo written > file && cat file; echo x > /dev/null && echo open";
        let without = run(&place, script);
        send_ahead();
        let with = run(&place, script);
        assert_eq!(out(&with), out(&without));
        assert!(out(&with).starts_with("written\n"), "{}", out(&with));
    });
}
