//! Runs a command in the project around the working folder, and tells what became of it.
//!
//! `cargo run -p palisade --example run -- ls -l`
#![expect(clippy::disallowed_methods, reason = "an example has the terminal for itself")]

use std::io::{self, Write as _};

use palisade::{Job, Request, Sandbox};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let job = if words.is_empty() { Job::from(["echo", "hello"]) } else { Job::argv(words) };

    let sandbox = Sandbox::new(&Request::from_process()?)?;
    let outcome = sandbox.run(job)?;

    match outcome.reason() {
        Some(reason) if outcome.denied() => writeln!(io::stdout(), "refused: {reason}")?,
        Some(reason) => writeln!(io::stdout(), "ended with {}: {reason}", outcome.exit_code())?,
        None => write!(io::stdout(), "{}", outcome.stdout_text())?,
    }
    Ok(())
}
