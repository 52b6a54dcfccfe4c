//! How long the library takes around `/bin/true`, against a bare spawn in the same run, and how many
//! it does with two threads.
//!
//! `cargo bench -p palisade --bench run [-- ROUNDS]` prints a table in Markdown.
#![expect(
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement that cannot be set up must stop at once, and tells what it saw"
)]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use palisade::{Job, Output, Request, Sandbox};
use palisade_testkit::{Home, Project};

fn main() {
    let rounds = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(200);
    let (project, home) = (Project::new(), Home::new().file(".ssh/id", "x"));
    let mut env: BTreeMap<_, _> = home.env().clone();
    env.insert("PATH".into(), "/usr/bin:/bin".into());
    let sandbox = Sandbox::new(&Request::new(project.root(), env)).unwrap();
    let confined = || {
        let job = Job::from(["/bin/true"]).stdout(Output::Null).stderr(Output::Null);
        assert!(sandbox.run(job).unwrap().ok());
    };
    let mut times: [Vec<Duration>; 2] = Default::default();
    for round in 0..=rounds {
        for (task, times) in [&bare as &dyn Fn(), &confined].into_iter().zip(&mut times) {
            let begun = Instant::now();
            task();
            if round > 0 {
                times.push(begun.elapsed());
            }
        }
    }
    let [bare_time, confined_time] = times.map(median);
    let (bare_rate, confined_rate) = (rate(rounds, &bare), rate(rounds, &confined));
    let ratio = confined_time.as_secs_f64() / bare_time.as_secs_f64();
    println!(
        "## In process\n\nThrough the library, which decides, plans and confines each time.\n"
    );
    println!("| What | bare | `Sandbox::run` | ratio |\n| --- | ---: | ---: | ---: |");
    println!(
        "| `/bin/true`, median ms | {:.2} | {:.2} | {ratio:.2} |",
        bare_time.as_secs_f64() * 1000.0,
        confined_time.as_secs_f64() * 1000.0,
    );
    println!(
        "| two threads, per second | {bare_rate:.0} | {confined_rate:.0} | {:.2} |\n",
        confined_rate / bare_rate,
    );
}

fn bare() {
    let mut command = Command::new("/bin/true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
}

/// Returns how many a second two threads do.
#[expect(clippy::cast_precision_loss, reason = "a count of rounds")]
fn rate(rounds: usize, task: &(dyn Fn() + Sync)) -> f64 {
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..rounds).for_each(|_| task()));
        }
    });
    (2 * rounds) as f64 / begun.elapsed().as_secs_f64()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
