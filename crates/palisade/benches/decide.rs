//! How long one decision takes, on what agents really run, and that a million of them leave nothing
//! behind.
//!
//! `cargo bench -p palisade --bench decide`. The commands are those of the corpora beside the
//! checkout (`../shared/corpora`, rows of agents) where they are there, else the few below; the
//! first line says which.

#![expect(clippy::disallowed_methods, reason = "a benchmark prints")]

use std::error::Error;
use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::time::Instant;

use palisade::policy::decide::Asked;
use palisade::{Judges, Request};

const ROOT: &str = "/srv/repo";
const ROUNDS: usize = 20;
const MANY: usize = 1_000_000;

/// For a clone that stands alone.
const COMMANDS: [&str; 8] = [
    "git status && git --no-pager diff --stat",
    "cd src && grep -rn 'fn main' --include='*.rs' . | head -20",
    "cargo test -p app -- --nocapture 2>&1 | tail -40",
    "find . -name '*.py' -not -path './.venv/*' | xargs wc -l | sort -n | tail -5",
    "sed -n '120,180p' src/server/routes.ts",
    "for f in src/*.go; do echo \"== $f\"; head -5 \"$f\"; done",
    "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"version\"])' < package.json",
    "npm run build >/tmp/build.log 2>&1; echo \"exit: $?\"; tail -3 /tmp/build.log",
];

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` only wants to know that it runs.
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let (commands, from) = commands();
    let mut judges =
        Judges::new(Request::new(std::env::current_dir()?, std::env::vars_os().collect()));
    let mut out = stdout().lock();
    writeln!(out, "{} commands from {from}", commands.len())?;

    let mut times = Vec::new();
    for _ in 0..if quick { 1 } else { ROUNDS } {
        for command in &commands {
            let start = Instant::now();
            let verdict = judges.command(Asked::Shell(command), ROOT)?;
            times.push(start.elapsed());
            drop(verdict);
        }
    }
    times.sort_unstable();
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a length is a place in it"
        )]
        let place = ((times.len() - 1) as f64 * share) as usize;
        times[place]
    };
    writeln!(
        out,
        "one decision: p50 {:?}, p90 {:?}, p99 {:?}, max {:?}, n {}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0),
        times.len()
    )?;

    let rounds = if quick { 1 } else { MANY };
    let before = resident()?;
    for (command, _) in commands.iter().cycle().zip(0..rounds) {
        drop(judges.command(Asked::Shell(command), ROOT)?);
    }
    writeln!(out, "after {rounds} more: resident {before} KiB -> {} KiB", resident()?)?;
    Ok(())
}

fn commands() -> (Vec<String>, &'static str) {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    let mut found = Vec::new();
    for name in
        ["cmd_specstory.jsonl", "cmd_openhands.jsonl", "cmd_sweagent.jsonl", "cmd_intercode.jsonl"]
    {
        let Ok(text) = fs::read_to_string(corpora.join(name)) else { continue };
        for line in text.lines() {
            let Ok(row) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            let agent = row["class"].as_str().is_some_and(|class| class.starts_with("agent:"));
            if let (true, Some(command)) = (agent, row["cmd"].as_str()) {
                found.push(command.to_owned());
            }
        }
    }
    if found.is_empty() {
        return (COMMANDS.map(str::to_owned).to_vec(), "this file; the corpora are not here");
    }
    (found, "the corpora")
}

/// Returns the memory of this process that is really there, in KiB.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}
