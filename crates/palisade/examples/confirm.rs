//! Answers questions of the policy itself: a harness shows them to its user in its own way.
//!
//! `cargo run -p palisade --example confirm`
#![expect(clippy::disallowed_methods, reason = "an example has the terminal for itself")]

use std::io::{self, Write as _};

use palisade::{Answered, Confirm, Job, Question, Request, Sandbox};

/// Shows the question, and says yes to what only looks.
struct Harness;

impl Confirm for Harness {
    fn name(&self) -> &'static str {
        "harness"
    }

    fn ask(&self, question: &Question<'_>) -> Answered {
        let Some(text) = question.text() else { return Answered::No };
        writeln!(io::stdout(), "{text}").ok();
        if text.contains("eval") { Answered::No } else { Answered::Yes }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::new(&Request::from_process()?)?.confirmer(Harness);
    for text in ["git status --short", "eval \"$(cat unknown)\""] {
        let outcome = sandbox.run(Job::shell(text))?;
        let reason = outcome.reason().unwrap_or_default();
        writeln!(io::stdout(), "{text}: {} {reason}\n", outcome.exit_code())?;
    }
    Ok(())
}
