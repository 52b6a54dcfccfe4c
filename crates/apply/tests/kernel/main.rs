//! What the walls promise, asked of the kernel: each promise from both sides, as root and as an
//! ordinary user. Each run is a process of its own.
#![cfg(target_os = "linux")]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up must stop at once"
)]

mod absent;
mod ahead;
mod calls;
mod come;
mod disks;
mod executed;
mod fallback;
mod fallback_links;
mod fallback_paths;
mod files;
mod first;
mod hostile;
mod inlets;
mod killed;
mod launch;
mod leading;
mod limits;
mod modes;
mod network;
mod odd;
mod outcome;
mod overlapping;
mod paths;
mod planted;
mod policy;
mod replaced;
mod soak;
mod streams;
mod surveyed;
mod terminal;
mod threads;
mod unaided;
mod unconfined;
mod unlooked;
mod vacated;
mod work;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_apply::{CannotStart, Host, Input, Outcome, Running, Streams, send_ahead};
use palisade_plan::policy::Policy;
use palisade_plan::policy::decide::{Asked, Call, Judge, Permit, Verdict};
use palisade_plan::policy::jail::NoLookup;
use palisade_plan::policy::policy::{NetworkMode, Require};
use palisade_plan::seccomp::Nesting;
use palisade_plan::{Bounds, Caches, Order, Trace, Walls, build};
use palisade_testkit::{Project, ordinary_user};

/// Runs a body as whoever runs the tests and, if that is root, as an ordinary user too. `name` is
/// the test's full name.
fn as_both(name: &str, body: impl Fn()) {
    body();
    if rustix::process::geteuid().is_root() {
        // The child runs the whole test again, and comes here as somebody else.
        let _done = ordinary_user(name);
    }
}

/// A project, a home, and what is asked for.
struct Place {
    project: Project,
    home: Project,
    order: Order,
}

impl Place {
    fn new() -> Self {
        Self::with(Project::new().file("inside", "inside\n"))
    }

    fn with(project: Project) -> Self {
        let home = Project::new()
            .file(".ssh/id", "secret\n")
            .file(".config/gh/token", "secret\n")
            .file(".config/other", "plain\n")
            .file("notes", "plain\n");
        let order = Order {
            plain: None,
            root: project.root().into(),
            cwd: project.root().into(),
            home: Some(home.root().into()),
            argv: Vec::new(),
            environment: vec![
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("HOME".into(), home.root().to_str().unwrap().into()),
            ],
            write: vec![project.root().into()],
            protect: vec![
                pattern(project.root(), "**/.git/hooks"),
                pattern(project.root(), "**/.git/config"),
            ],
            hide: vec![pattern(home.root(), ".ssh"), pattern(home.root(), ".config/gh")],
            readable: Vec::new(),
            others: Vec::new(),
            network: NetworkMode::DenyAll,
            unix: Vec::new(),
            publish: Vec::new(),
            nesting: Nesting::Off,
            require: Require::Full,
            walls: Walls::Up,
            caches: Caches::Off,
            trace: Trace::Off,
            notes: Vec::new(),
            // Far above what any test takes: a hung one ends, a slow machine does not matter.
            bounds: Bounds { time: Some(Duration::from_secs(60)), ..Bounds::default() },
        };
        Self { project, home, order }
    }

    /// Runs a script of the shell.
    fn sh(&self, script: &str) -> Outcome {
        self.run(&["/bin/sh", "-c", script])
    }

    fn run(&self, argv: &[&str]) -> Outcome {
        self.try_run(argv, Streams::default()).unwrap()
    }

    fn try_run(&self, argv: &[&str], streams: Streams) -> Result<Outcome, CannotStart> {
        let mut order = self.order.clone();
        order.argv = argv.iter().map(|word| (*word).to_owned()).collect();
        let host = Host::probe();
        // As everybody does: `ahead` and `killed` also have the way without.
        send_ahead();
        let plan = build(&permit(), &order, &host.facts(&order.questions())).unwrap();
        host.start_awaited(&plan, streams)?.wait()
    }

    fn with_input(&self, script: &str, input: Input) -> Result<Outcome, CannotStart> {
        self.try_run(&["/bin/sh", "-c", script], Streams { stdin: input, ..Streams::default() })
    }

    /// Runs Python, which can make any system call.
    fn python(&self, script: &str) -> Outcome {
        self.run(&["/usr/bin/python3", "-c", script])
    }
}

/// Starts what the order of a place says.
fn started(place: &Place, streams: Streams) -> Running {
    let host = Host::probe();
    let facts = host.facts(&place.order.questions());
    host.start(&build(&permit(), &place.order, &facts).unwrap(), streams).unwrap()
}

/// Starts what the order of a place says, and promises to wait for it at once.
fn started_awaited(place: &Place, streams: Streams) -> Running {
    let host = Host::probe();
    send_ahead();
    let facts = host.facts(&place.order.questions());
    host.start_awaited(&build(&permit(), &place.order, &facts).unwrap(), streams).unwrap()
}

/// Proof that a call was decided: the walls are tested here, not the decision.
fn permit() -> Permit {
    let judge = Judge::new(&Policy::default(), "/w", None, &NoLookup);
    let argv = ["true".to_owned()];
    match judge.decide(&Call { command: Asked::Argv(&argv), cwd: "/w" }, &NoLookup) {
        Verdict::Allow(permit) => permit,
        Verdict::Ask(why) | Verdict::Deny(why) => panic!("{why:?}"),
    }
}

fn pattern(folder: &Path, below: &str) -> palisade_plan::policy::name::PathPattern {
    folder.join(below).to_str().unwrap().parse().unwrap()
}

fn out(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stdout.bytes).into_owned()
}

fn all(outcome: &Outcome) -> String {
    format!("{:?}\n{}{}", outcome.end, out(outcome), String::from_utf8_lossy(&outcome.stderr.bytes))
}

/// A folder outside every project, that everybody could write.
fn outside() -> (Project, PathBuf) {
    let folder = Project::new().mode("", 0o777);
    let path = folder.root().to_owned();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    (folder, path)
}
