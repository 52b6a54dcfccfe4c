//! Many runs, one after the other and at once: nothing grows.
//!
//! `PALISADE_TEST_RUNS` and `PALISADE_TEST_AT_ONCE` say how many; `PALISADE_TEST_FULL=1` means ten
//! thousand and two hundred.

use std::fs;

use palisade_apply::{End, Host, Streams};
use palisade_plan::{Plan, build};
use palisade_testkit::{Project, Turn, in_child, ordinary_user};

use crate::{Place, pattern, permit};

/// How many, by a variable, in full, or as a rule.
fn number(variable: &str, full: usize, rule: usize) -> usize {
    let said = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    let rule = std::env::var_os("PALISADE_TEST_FULL").map_or(rule, |_| full);
    said.unwrap_or(rule)
}

/// What must not grow: descriptors, children, mounts; and memory, in KiB.
fn held() -> ((usize, usize, String), u64) {
    let open = fs::read_dir("/proc/self/fd").unwrap().count();
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let children = tasks.map(|task| {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        list.split_whitespace().count()
    });
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    let memory = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    ((open, children.sum(), mounts), memory)
}

fn planned() -> (Place, Host, Plan) {
    let mut place = Place::with(Project::new().file(".git/config", "[core]\n"));
    let root = place.project.root().to_owned();
    place
        .order
        .protect
        .extend([pattern(&root, "**/.bashrc"), pattern(&root, "**/.claude/commands")]);
    place.order.argv = ["/bin/true"].map(str::to_owned).into();
    let host = Host::probe();
    let plan = build(&permit(), &place.order, &host.facts(&place.order.questions())).unwrap();
    (place, host, plan)
}

fn run(host: &Host, plan: &Plan) {
    let outcome = host.start(plan, Streams::default()).unwrap().wait().unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{:?}", outcome.notes);
}

#[test]
fn many_runs_leave_nothing() {
    const NAME: &str = "soak::many_runs_leave_nothing";
    // In a process of its own: what other tests hold is none of its business.
    if in_child(NAME, r#"exec "$@""#) == Turn::Done {
        if rustix::process::geteuid().is_root() {
            let _done = ordinary_user(NAME);
        }
        return;
    }
    let (place, host, plan) = planned();
    for _ in 0..20 {
        run(&host, &plan);
    }
    let (before, memory) = settled(None);
    for _ in 0..number("PALISADE_TEST_RUNS", 10_000, 150) {
        run(&host, &plan);
    }
    let at_once = number("PALISADE_TEST_AT_ONCE", 200, 24);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| run(&host, &plan));
        }
    });
    let (after, more) = settled(Some(&before));
    assert_eq!(after, before);
    assert!(more < memory + (8 << 10), "{memory} KiB before, {more} after");
    let left: Vec<_> = fs::read_dir(place.project.root()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Returns what is held once the mounts of the last run have been let go of, in another thread.
fn settled(expected: Option<&(usize, usize, String)>) -> ((usize, usize, String), u64) {
    for _ in 0..200 {
        let now = held();
        if expected.is_some_and(|expected| now.0 == *expected) {
            return now;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    held()
}
