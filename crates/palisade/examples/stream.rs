//! Reads output while the command runs: one stream by a function, the other from a pipe.
//!
//! `cargo run -p palisade --example stream`
#![expect(clippy::disallowed_methods, reason = "an example has the terminal for itself")]

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::thread;

use palisade::{Input, Job, Output, Request, Sandbox};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::new(&Request::from_process()?)?;
    let (stderr, reader) = Output::piped()?;
    let job = Job::shell("while read line; do echo \"got $line\"; echo \"saw $line\" >&2; done")
        .stdin(Input::Bytes(b"one\ntwo\nthree\n".to_vec()))
        .stdout(Output::Each(Box::new(|piece| {
            writeln!(io::stdout(), "output: {:?}", String::from_utf8_lossy(piece)).ok();
        })))
        .stderr(stderr);

    let run = sandbox.start(job)?;
    let lines = thread::spawn(move || {
        BufReader::new(reader).lines().map_while(Result::ok).for_each(|line| {
            writeln!(io::stdout(), "errors: {line}").ok();
        });
    });
    let outcome = run.wait()?;
    lines.join().map_err(|_| "the reader panicked")?;
    let (code, time) = (outcome.exit_code(), outcome.duration());
    writeln!(io::stdout(), "ended with {code} after {time:?}")?;
    Ok(())
}
