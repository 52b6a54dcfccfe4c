//! Threads that start sandboxes at once, and what their sandboxes have of their memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use palisade_apply::{Host, Streams};
use palisade_plan::{Bounds, Plan, Trace, build};
use palisade_testkit::{Turn, in_child};

use crate::{Place, all, as_both, out, pattern, permit};

fn plan(host: &Host, place: &Place, script: &str) -> Plan {
    let mut order = place.order.clone();
    order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
    build(&permit(), &order, &host.facts(&order.questions())).unwrap()
}

/// Makes this thread one of those that start sandboxes on a host.
fn start_one(host: &Host) {
    let place = Place::new();
    let outcome = host.start(&plan(host, &place, "exit 0"), Streams::default()).unwrap().wait();
    assert_eq!(outcome.unwrap().exit_code(), 0);
}

#[test]
fn what_many_threads_start_at_once_runs_behind_all_walls() {
    as_both("threads::what_many_threads_start_at_once_runs_behind_all_walls", || {
        let host = Host::probe();
        thread::scope(|scope| {
            for number in 0..4 {
                let host = &host;
                scope.spawn(move || {
                    let mut place = Place::new();
                    let root = place.project.root().to_owned();
                    place.order.hide.push(pattern(&root, "inside"));
                    place.order.environment.push(("WHO".into(), format!("thread-{number}")));
                    place.order.bounds =
                        Bounds { tmp: Some(8 << 20), open_files: Some(99), ..place.order.bounds };
                    place.order.trace = if number == 0 { Trace::Writes } else { Trace::Off };
                    let script = "cat inside ~/.ssh/id; echo x > /etc/x; echo x > .git/hooks; \
                                  echo x > new; echo $WHO $(ulimit -n) $(ls -A ~) $(cat new)";
                    for round in 0..10 {
                        let plan = plan(host, &place, script);
                        let outcome = host.start(&plan, Streams::default()).unwrap().wait();
                        let outcome = outcome.unwrap();
                        assert_eq!(
                            out(&outcome),
                            format!("thread-{number} 99 .config notes x\n"),
                            "round {round}: {}",
                            all(&outcome)
                        );
                    }
                });
            }
        });
    });
}

#[test]
fn a_sandbox_does_not_hold_the_memory_of_threads_that_start_others() {
    let name = "threads::a_sandbox_does_not_hold_the_memory_of_threads_that_start_others";
    as_both(name, || {
        // In a process of its own: the heaps of other tests are none of this host's.
        if in_child(name, r#"exec "$@""#) == Turn::Done {
            return;
        }
        let host = Host::probe();
        // Pieces as small as this come from the heap of the thread.
        let large = || (0..40_000_u64).map(|n| vec![n; 64].into_boxed_slice()).collect::<Vec<_>>();
        let bytes = 40_000 * 64 * 8;
        let (tell, told) = channel();
        thread::scope(|scope| {
            let (host, other) = (&host, tell);
            let waiting = scope.spawn(move || {
                let own = large();
                start_one(host);
                other.send(()).unwrap();
                // Until the other is done.
                thread::park();
                own.len()
            });
            told.recv().unwrap();
            let ended = scope.spawn(move || {
                let own = large();
                let place = Place::new();
                let plan = plan(host, &place, "while ! test -e done; do sleep 0.01; done");
                let running = host.start(&plan, Streams::default()).unwrap();
                let held = reaper_of(place.project.root());
                fs::write(place.project.path("done"), "").unwrap();
                assert_eq!(running.wait().unwrap().exit_code(), 0);
                // It is still ours.
                assert!(
                    own.iter().zip(0..).all(|(piece, number)| piece.iter().all(|n| *n == number))
                );
                held
            });
            let held = ended.join().unwrap();
            waiting.thread().unpark();
            assert_eq!(waiting.join().unwrap(), 40_000);
            assert!(held < bytes / 2, "{held} bytes held, of twice {bytes}");
        });
    });
}

/// Waits for the reaper whose command stands in this folder, and returns how much memory it has.
fn reaper_of(folder: &Path) -> u64 {
    let status = |pid: &str| -> BTreeMap<String, String> {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let fields = text.lines().filter_map(|line| line.split_once(":\t"));
        fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
    };
    loop {
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder) {
                let parent = status(&name).remove("PPid").unwrap_or_default();
                let parent = status(&parent);
                if parent.get("Name").is_some_and(|name| name == "pal-reaper") {
                    let kib = parent.get("RssAnon").and_then(|size| size.split(' ').next());
                    return kib.unwrap().parse::<u64>().unwrap() * 1024;
                }
            }
        }
        thread::sleep(Duration::from_millis(5));
    }
}
