//! How long a sandbox takes around `/bin/true`, against a bare spawn in the same run.
//!
//! `cargo bench -p palisade-apply --bench start [-- ROUNDS]`: prints medians and their ratio, the
//! two interleaved, and what a plan costs when it is made anew for every run.
#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement that cannot be set up must stop at once, and tells what it saw"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use palisade_apply::{End, Host, Input, Output, Streams};
use palisade_plan::policy::Policy;
use palisade_plan::policy::decide::{Asked, Call, Judge, Permit, Verdict};
use palisade_plan::policy::jail::NoLookup;
use palisade_plan::policy::policy::{NetworkMode, Require};
use palisade_plan::seccomp::Nesting;
use palisade_plan::{Bounds, Caches, Order, Plan, Trace, Walls, build};
use palisade_testkit::Project;

fn main() {
    let rounds = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(300);
    let (project, home) = (Project::new(), Project::new().file(".ssh/id", "x"));
    let mut order = order(&project, &home);
    let host = Host::probe();
    let permit = permit();
    let plan = |order: &Order| build(&permit, order, &host.facts(&order.questions())).unwrap();
    let (walls, open) = {
        let walls = plan(&order);
        order.network = NetworkMode::Disabled;
        let open = plan(&order);
        order.network = NetworkMode::DenyAll;
        (walls, open)
    };
    let streams = || Streams { stdin: Input::Null, stdout: Output::Null, stderr: Output::Null };
    let run = |plan: &Plan| {
        let outcome = host.start(plan, streams()).unwrap().wait().unwrap();
        assert_eq!(outcome.end, End::Exited(0));
    };
    let mut times: [Vec<Duration>; 5] = Default::default();
    for _ in 0..rounds {
        let tasks: [&dyn Fn(); 5] =
            [&bare, &|| run(&walls), &|| run(&open), &|| run(&plan(&order)), &|| {
                drop(plan(&order));
            }];
        for (task, times) in tasks.into_iter().zip(&mut times) {
            let begun = Instant::now();
            task();
            times.push(begun.elapsed());
        }
    }
    let names = ["bare", "walls", "walls, host's network", "facts, plan, walls", "facts, plan"];
    let base = times.first_mut().map(|times| median(times)).unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("n={rounds} uid={} load {}", rustix::process::geteuid().as_raw(), load.trim());
    for (name, times) in names.into_iter().zip(&mut times) {
        let median = median(times);
        let ratio = median.as_secs_f64() / base.as_secs_f64();
        println!("{name:<22} {:>7} us  {ratio:.2}x", median.as_micros());
    }
}

fn bare() {
    let mut command = Command::new("/bin/true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn order(project: &Project, home: &Project) -> Order {
    Order {
        plain: None,
        root: project.root().into(),
        cwd: project.root().into(),
        home: Some(home.root().into()),
        argv: vec!["/bin/true".into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        write: vec![project.root().into()],
        protect: Vec::new(),
        hide: vec![home.path(".ssh").to_str().unwrap().parse().unwrap()],
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
        bounds: Bounds { processes: Some(256), ..Bounds::default() },
    }
}

fn permit() -> Permit {
    let judge = Judge::new(&Policy::default(), "/w", None, &NoLookup);
    let argv = ["true".to_owned()];
    match judge.decide(&Call { command: Asked::Argv(&argv), cwd: "/w" }, &NoLookup) {
        Verdict::Allow(permit) => permit,
        Verdict::Ask(why) | Verdict::Deny(why) => panic!("{why:?}"),
    }
}
