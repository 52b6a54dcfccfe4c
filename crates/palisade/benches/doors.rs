//! What the doors cost: one call of a hook beside `/bin/true`, `check` and `run` by JSON-RPC beside the
//! library's own time, each in turn with its base.
//!
//! `cargo bench -p palisade --bench doors -- PALISADE [ROUNDS]` prints a table in Markdown; PALISADE is
//! the program.
#![expect(
    clippy::disallowed_types,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement that cannot be set up must stop at once, and tells what it saw"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use palisade::policy::decide::Asked;
use palisade::{Guard, Job, Request, Sandbox};
use palisade_testkit::{Home, Project};
use serde_json::{Value as Json, json};

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let Some(program) = words.next() else { return };
    let rounds: usize = words.find_map(|word| word.parse().ok()).unwrap_or(200);
    let (project, home) = (Project::new(), Home::new());
    let mut env: BTreeMap<OsString, OsString> = home.env().clone();
    env.insert("PATH".into(), "/usr/bin:/bin".into());
    let sandbox = Sandbox::new(&Request::new(project.root(), env.clone())).unwrap();
    let guard = Guard::new(sandbox.session());
    let told = json!({ "hook_event_name": "PreToolUse", "cwd": project.root(), "tool_name": "Bash",
                       "tool_input": { "command": "cargo test" } })
    .to_string();
    let start = |name: &str, words: &[&str]| {
        let mut command = Command::new(name);
        command.args(words).env_clear().envs(&env).current_dir(project.root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    };
    let hook = |name: &str, words: &[&str]| {
        let mut child = start(name, words).spawn().unwrap();
        // Who reads nothing may be gone already.
        child.stdin.take().unwrap().write_all(told.as_bytes()).ok();
        assert!(child.wait_with_output().unwrap().status.success());
    };
    let mut server = Server::of(start(&program, &["serve", "--stdio"]).spawn().unwrap());
    let check = json!({ "shell": "cargo test && git status" });
    let run = json!({ "argv": ["/bin/true"], "brief": true });
    let mut times: [Vec<Duration>; 6] = Default::default();
    for round in 0..=rounds {
        let mut took = |which: usize, clock: Instant| {
            if round > 0 {
                times[which].push(clock.elapsed());
            }
        };
        let clock = Instant::now();
        hook("/bin/true", &[]);
        took(0, clock);
        let clock = Instant::now();
        hook(&program, &["hook", "claude"]);
        took(1, clock);
        let cwd = guard.root().to_owned();
        let clock = Instant::now();
        guard.decide(Asked::Shell("cargo test && git status"), &cwd);
        took(2, clock);
        let clock = Instant::now();
        assert_eq!(server.ask("check", &check)["verdict"], "allow");
        took(3, clock);
        let clock = Instant::now();
        assert!(sandbox.run(Job::from(["/bin/true"]).brief()).unwrap().ok());
        took(4, clock);
        let clock = Instant::now();
        assert_eq!(server.ask("run", &run)["exit_code"], 0);
        took(5, clock);
    }
    let [bare, hook, decide, check, library, serve] = times.map(median);
    println!(
        "## Doors\n\n| What | base, µs | door, µs | ratio | bar |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for (what, base, door, bar) in [
        ("`palisade hook claude` beside `/bin/true`", bare, hook, "1.50"),
        ("`check` by JSON-RPC beside `Guard::decide`", decide, check, "100 µs"),
        ("`run true` by JSON-RPC beside `Sandbox::run`", library, serve, "1.10"),
    ] {
        let ratio = door.as_secs_f64() / base.as_secs_f64();
        println!("| {what} | {} | {} | {ratio:.2} | {bar} |", base.as_micros(), door.as_micros());
    }
    println!("\nMedians of {rounds}.");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A server, and what is asked of it.
struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    fn of(mut child: Child) -> Self {
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, to, from: BufReader::new(from), next: 0 }
    }

    fn ask(&mut self, method: &str, params: &Json) -> Json {
        self.next += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.to.write_all(format!("{message}\n").as_bytes()).unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str::<Json>(&line).unwrap()["result"].take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
