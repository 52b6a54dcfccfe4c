//! `cargo xtask`: what the project checks, generates and builds about itself.
//!
//! One file per command. Rules that judge text are plain functions over text, so that each has a
//! test with an example that breaks it; only the commands touch files and start programs.
#![forbid(unsafe_code)]

mod arch;
mod code;
mod dist;
mod docs;
mod elf;
mod failure;
mod finding;
mod fuzz;
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

const USAGE: &str = "\
usage: cargo xtask COMMAND

  arch [--json]                  edges between crates, purity, sizes, packages, hygiene
  rows [--json] [--missing]      which acceptance and escape rows have a test
  rows --write | --check         regenerate docs/rows.md, or fail if it is stale
  red [ROW...]                   replay spec/red.json: each row's test must be able to fail
  docs [--check]                 write the generated documents, or fail if one is stale
  dist                           static release binary at target/dist/palisade
  startup [--runs N]             start-up time of that binary beside /bin/true
  fuzz [TARGET...] [--seconds S] fuzz each target for S seconds (60)
";

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
    let Some((command, rest)) = arguments.split_first() else {
        return Err(Failure::new(USAGE));
    };
    match command.as_str() {
        "arch" => arch::run(rest, out),
        "rows" => rows::run(rest, out),
        "red" => red::run(rest, out),
        "docs" => docs::run(rest, out),
        "dist" => dist::run(rest, out),
        "startup" => startup::run(rest, out),
        "fuzz" => fuzz::run(rest, out),
        unknown => Err(Failure::new(format!("no command `{unknown}`\n\n{USAGE}"))),
    }
}
