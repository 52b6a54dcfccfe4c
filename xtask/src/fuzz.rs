//! `cargo xtask fuzz`: each target for a while, on the nightly toolchain that cargo-fuzz needs.

use std::io::Write;
use std::process::Command;
use std::{fs, path::Path};

use crate::failure::Failure;
use crate::finding::Ending;
use crate::program;
use crate::tree::Tree;

const SECONDS: u32 = 60;

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let wanted = Wanted::parse(arguments)?;
    let tree = Tree::open()?;
    let known = targets(&tree);
    if let Some(unknown) = wanted.targets.iter().find(|target| !known.contains(target)) {
        return Err(Failure::new(format!(
            "no fuzz target `{unknown}`; there are {}",
            known.join(", ")
        )));
    }
    let chosen = if wanted.targets.is_empty() { known } else { wanted.targets };
    if program::capture(nightly(tree.root()).args(["fuzz", "--version"])).is_err() {
        let mut cargo = nightly(tree.root());
        program::succeed(cargo.args(["install", "--locked", "cargo-fuzz"]))?;
    }
    let mut ending = Ending::Clean;
    for target in chosen {
        let found = fuzz(tree.root(), &target, wanted.seconds)?;
        match found {
            Ok(Stats { runs, coverage }) => {
                let seconds = wanted.seconds;
                writeln!(out, "{target}: {runs} runs, coverage {coverage}, {seconds} s, no crash")?;
            }
            Err(report) => {
                ending = Ending::Findings;
                writeln!(out, "{target}: CRASH\n{report}")?;
            }
        }
    }
    Ok(ending)
}

struct Wanted {
    targets: Vec<String>,
    seconds: u32,
}

impl Wanted {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut wanted = Self { targets: Vec::new(), seconds: SECONDS };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--seconds" {
                let seconds = arguments.next().and_then(|text| text.parse().ok());
                wanted.seconds =
                    seconds.ok_or_else(|| Failure::new("`--seconds` needs a whole number"))?;
            } else if argument.starts_with('-') {
                return Err(Failure::argument("fuzz", argument));
            } else {
                wanted.targets.push(argument.clone());
            }
        }
        Ok(wanted)
    }
}

/// What libFuzzer counted.
#[derive(Debug, Eq, PartialEq)]
struct Stats {
    runs: u64,
    coverage: u64,
}

/// `Err` holds the end of the fuzzer's report.
fn fuzz(root: &Path, target: &str, seconds: u32) -> Result<Result<Stats, String>, Failure> {
    let corpus = format!("fuzz/corpus/{target}");
    fs::create_dir_all(root.join(&corpus))
        .map_err(|error| Failure::io(format!("cannot make {corpus}"), &error))?;
    let mut cargo = nightly(root);
    // New inputs go to the first folder, which is not committed; the seeds are only read.
    cargo.args(["fuzz", "run", target, &corpus, &format!("fuzz/seeds/{target}"), "--"]);
    cargo.args([&format!("-max_total_time={seconds}"), "-print_final_stats=1", "-max_len=4096"]);
    let output = program::output(&mut cargo)?;
    let report = String::from_utf8_lossy(&output.stderr);
    let last: Vec<_> = report.lines().rev().take(40).collect();
    let tail = || last.iter().rev().copied().collect::<Vec<_>>().join("\n");
    if !output.status.success() {
        return Ok(Err(tail()));
    }
    Ok(stats(&report).ok_or_else(tail))
}

fn stats(report: &str) -> Option<Stats> {
    let after = |line: &str, word: &str| {
        line.split_once(word)?.1.split_whitespace().next()?.parse::<u64>().ok()
    };
    let mut lines = report.lines();
    let coverage = lines.clone().filter_map(|line| after(line, "cov:")).next_back()?;
    let runs = lines.find_map(|line| after(line, "stat::number_of_executed_units:"))?;
    Some(Stats { runs, coverage })
}

fn targets(tree: &Tree) -> Vec<String> {
    let names = tree.files().iter().filter_map(|file| {
        file.strip_prefix("fuzz/fuzz_targets/")?.strip_suffix(".rs").map(str::to_owned)
    });
    names.collect()
}

/// Cargo of the nightly toolchain, without what the pinned one set for its own children.
fn nightly(root: &Path) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).current_dir(root);
    for name in ["CARGO", "CARGO_TARGET_DIR", "LD_LIBRARY_PATH", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_coverage_and_the_final_count_are_read() {
        let report = "#2 INITED cov: 10 ft: 11\n#9 NEW cov: 321 ft: 400\n\
                      stat::number_of_executed_units: 4711\n";
        assert_eq!(stats(report), Some(Stats { runs: 4711, coverage: 321 }));
        assert_eq!(stats("error: could not compile"), None);
    }

    #[test]
    fn targets_and_seconds_are_told_apart() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let wanted = Wanted::parse(&words("yaml --seconds 5 host")).unwrap();
        assert_eq!((wanted.targets, wanted.seconds), (words("yaml host"), 5));
        for wrong in ["--seconds", "--seconds x", "--fast"] {
            assert!(Wanted::parse(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
