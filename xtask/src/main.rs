//! `cargo xtask`: what the project checks, generates and builds about itself.
//!
//! One file per command. Rules that judge text are plain functions over text, so that each has a
//! test with an example that breaks it; only the commands touch files and start programs.
#![forbid(unsafe_code)]

mod arch;
mod bench;
mod code;
mod conformance;
mod dist;
mod docs;
mod elf;
mod failure;
mod finding;
mod fuzz;
mod kernels;
mod network;
mod order;
mod program;
mod red;
mod rows;
mod spec;
mod startup;
mod tree;

use std::io::Write;
use std::process::ExitCode;
use std::{env, io};

use failure::Failure;
use finding::Ending;

/// What a task does when it is called.
type Run = fn(&[String], &mut dyn Write) -> Result<Ending, Failure>;

/// One task: its name, what may follow it and what that does, and who does it.
struct Task {
    name: &'static str,
    usage: &'static [(&'static str, &'static str)],
    run: Run,
}

const TASKS: [Task; 12] = [
    Task {
        name: "arch",
        usage: &[("[--json]", "edges between crates, purity, sizes, packages, hygiene")],
        run: arch::run,
    },
    Task {
        name: "rows",
        usage: &[
            ("[--json | --missing]", "which acceptance and escape rows have a test"),
            ("--check", "the same, and fail if docs/rows.md is stale"),
        ],
        run: rows::run,
    },
    Task {
        name: "red",
        usage: &[("[ROW...]", "replay spec/red.json: each row's test must be able to fail")],
        run: red::run,
    },
    Task {
        name: "docs",
        usage: &[("[--check]", "write every generated document, or fail if one is stale")],
        run: docs::run,
    },
    Task {
        name: "dist",
        usage: &[("", "static release binary at target/dist/palisade")],
        run: dist::run,
    },
    Task {
        name: "conformance",
        usage: &[(
            "[--palisade FILE]",
            "escapes behind this and other engines: docs/conformance.md",
        )],
        run: conformance::run,
    },
    Task {
        name: "kernels",
        usage: &[("[--palisade FILE]", "the same on other kernels, emulated: docs/kernels.md")],
        run: kernels::run,
    },
    Task {
        name: "network",
        usage: &[("", "real clients behind a filtered network, as root: docs/network.md")],
        run: network::run,
    },
    Task {
        name: "order",
        usage: &[("", "which functions lie together in that binary: crates/cli/order.ld")],
        run: order::run,
    },
    Task {
        name: "startup",
        usage: &[("[--runs N]", "start-up time of that binary beside /bin/true (1000 runs)")],
        run: startup::run,
    },
    Task {
        name: "bench",
        usage: &[
            ("[--runs N]", "that binary beside no sandbox and others: docs/performance.md"),
            ("--network", "what it says of the network alone, printed"),
            ("--doors", "hooks and servers beside their bars, printed"),
        ],
        run: bench::run,
    },
    Task {
        name: "fuzz",
        usage: &[("[TARGET...] [--seconds S]", "fuzz each target for S seconds (60)")],
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut out = io::stdout();
    match dispatch(&arguments, &mut out) {
        Ok(Ending::Clean) => ExitCode::SUCCESS,
        Ok(Ending::Findings) => ExitCode::FAILURE,
        Err(failure) => {
            // Nothing is left to tell the reader if standard error is gone too.
            drop(writeln!(io::stderr(), "error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure::new(format!("no command\n\n{}", usage(&TASKS))));
    };
    if asks_for_help(name) {
        write!(out, "{}", usage(&TASKS))?;
        return Ok(Ending::Clean);
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        return Err(Failure::new(format!("no command `{name}`\n\n{}", usage(&TASKS))));
    };
    if rest.iter().any(|argument| asks_for_help(argument)) {
        write!(out, "{}", usage([task]))?;
        return Ok(Ending::Clean);
    }
    (task.run)(rest, out)
}

fn asks_for_help(argument: &str) -> bool {
    argument == "--help" || argument == "-h"
}

fn usage<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> String {
    let mut text = String::from("usage: cargo xtask COMMAND\n\n");
    for Task { name, usage, .. } in tasks {
        for (arguments, what) in *usage {
            let call = format!("{name} {arguments}");
            text.push_str(&format!("  {call:<31}{what}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> Result<(Ending, String), Failure> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut out = Vec::new();
        let ending = dispatch(&arguments, &mut out)?;
        Ok((ending, String::from_utf8_lossy(&out).into_owned()))
    }

    #[test]
    fn help_is_an_answer_and_not_a_failure() {
        for line in ["--help", "-h", "--help docs"] {
            let (ending, text) = answer(line).unwrap();
            assert_eq!(ending, Ending::Clean, "{line}");
            let listed = TASKS.iter().all(|task| text.contains(&format!("\n  {} ", task.name)));
            assert!(listed, "{line}: {text}");
        }
        for task in &TASKS {
            let (ending, text) = answer(&format!("{} --help", task.name)).unwrap();
            assert_eq!(ending, Ending::Clean, "{}", task.name);
            assert_eq!(text.lines().count(), 2 + task.usage.len(), "only its own lines: {text}");
            assert!(text.contains(task.name), "{text}");
        }
    }

    #[test]
    fn no_command_and_an_unknown_one_are_failures_that_list_what_there_is() {
        for line in ["", "ach", "help", "--no-such"] {
            let failure = answer(line).unwrap_err().to_string();
            assert!(failure.contains("  arch [--json]"), "{line}: {failure}");
        }
    }
}
