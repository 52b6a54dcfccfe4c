//! How long judging a tool call takes, and how long not judging it does.
//!
//! `cargo bench -p palisade --bench tool_call`. The budget is 20 µs for the median and 200 µs for
//! the 99th percentile, for a call with ten paths; a proxy that intercepts nothing must not be
//! measurable. Both on a quiet machine.

#![expect(clippy::disallowed_methods, reason = "a benchmark prints")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

use palisade::policy::interception::{Call, Door};
use palisade::{Guard, Request, Session};

const ROUNDS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` only wants to know that it runs.
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let root = std::env::temp_dir().join(format!("palisade-bench-{}", std::process::id()));
    fs::create_dir_all(root.join("src/deep"))?;
    let measured = measure(&root, if quick { 1 } else { ROUNDS });
    fs::remove_dir_all(&root)?;
    measured
}

fn measure(root: &Path, rounds: usize) -> Result<(), Box<dyn Error>> {
    fs::write(root.join("on.yaml"), "version: 1\ntools: { enabled: true, strict: true }\n")?;
    let mut request = Request::new(root.to_path_buf(), std::env::vars_os().collect());
    request.root = Some(root.to_path_buf());
    let off = Guard::new(&Session::open(&request)?);
    request.policies = vec!["on.yaml".into()];
    let on = Guard::new(&Session::open(&request)?);
    let cwd = root.to_str().ok_or("the folder has no name")?;
    let paths: Vec<String> = (0..10).map(|n| format!("\"src/deep/file_{n}.rs\"")).collect();
    let ten = format!("{{\"paths\":[{}],\"content\":\"let a = 1;\"}}", paths.join(","));
    let mut out = stdout().lock();
    for (what, guard, tool, arguments) in [
        ("ten paths", &on, "write_file", ten.as_str()),
        ("one path", &on, "write_file", r#"{"path":"src/a.rs","content":"x"}"#),
        ("a command", &on, "bash", r#"{"command":"git status && ls -l src","cwd":"src"}"#),
        ("interception off", &off, "write_file", ten.as_str()),
    ] {
        let call = Call { tool, arguments, cwd };
        black_box(guard.tool_call_at(Door::Proxy, &call)); // expressions are compiled when first used
        let mut times: Vec<Duration> = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let start = Instant::now();
            black_box(guard.tool_call_at(Door::Proxy, black_box(&call)));
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        writeln!(out, "{what}: p50 {:?}, p99 {:?}, n {}", at(50), at(99), times.len())?;
    }
    Ok(())
}
