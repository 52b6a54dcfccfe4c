//! `cargo xtask startup`: the shipped binary beside `/bin/true`, interleaved in one run (Ruling 35).

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::dist;
use crate::failure::Failure;
use crate::finding::Ending;
use crate::program;
use crate::tree::Tree;

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let runs = runs(arguments)?;
    let tree = Tree::open()?;
    let binary = tree.root().join(dist::BINARY);
    if !binary.is_file() {
        return Err(Failure::new(format!("{} is missing; run `cargo xtask dist`", dist::BINARY)));
    }
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        ours.push(start(&binary, &["--version"])?);
        bare.push(start(Path::new("/bin/true"), &[])?);
    }
    let (ours, bare) = (Spread::of(ours), Spread::of(bare));
    writeln!(out, "palisade --version  {ours}")?;
    writeln!(out, "/bin/true           {bare}")?;
    let ratio = ours.median.as_secs_f64() / bare.median.as_secs_f64();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "describe", "--always", "--dirty"]);
    let commit = program::capture(git.current_dir(tree.root())).unwrap_or_default();
    let load = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    writeln!(
        out,
        "ratio of medians {ratio:.2}; n = {runs}, load {load}, commit {}",
        commit.trim()
    )?;
    Ok(Ending::Clean)
}

fn runs(arguments: &[String]) -> Result<usize, Failure> {
    match arguments {
        [] => Ok(1000),
        [flag, number] if flag == "--runs" => match number.parse() {
            Ok(runs) if runs > 0 => Ok(runs),
            Ok(_) | Err(_) => Err(Failure::new(format!("`--runs {number}` is not a count"))),
        },
        [unknown, ..] => Err(Failure::argument("startup", unknown)),
    }
}

fn start(program: &Path, arguments: &[&str]) -> Result<Duration, Failure> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let clock = Instant::now();
    let status = command.status();
    let elapsed = clock.elapsed();
    match status {
        Ok(status) if status.success() => Ok(elapsed),
        Ok(status) => Err(Failure::new(format!("{} ended with {status}", program.display()))),
        Err(error) => Err(Failure::io(format!("cannot start {}", program.display()), &error)),
    }
}

/// Where most of the runs lie.
struct Spread {
    p10: Duration,
    median: Duration,
    p99: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let place = times.len().saturating_sub(1) * percent / 100;
            times.get(place).copied().unwrap_or_default()
        };
        Self { p10: at(10), median: at(50), p99: at(99) }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [median, p10, p99] = [self.median, self.p10, self.p99].map(|time| time.as_micros());
        write!(f, "median {median} us, p10 {p10} us, p99 {p99} us")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_sorted_times() {
        let spread = Spread::of((0..=100).rev().map(Duration::from_micros).collect());
        assert_eq!(spread.to_string(), "median 50 us, p10 10 us, p99 99 us");
        assert_eq!(Spread::of(Vec::new()).median, Duration::ZERO);
    }

    #[test]
    fn the_number_of_runs_is_a_count() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(runs(&[]).ok(), Some(1000));
        assert_eq!(runs(&words("--runs 7")).ok(), Some(7));
        for wrong in ["--runs 0", "--runs x", "--runs -1", "--runs", "--fast"] {
            assert!(runs(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
