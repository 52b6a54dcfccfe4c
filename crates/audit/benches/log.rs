//! How many events a second one thread records, beside bare writes of as many bytes in turn, and how
//! long it takes to verify a million of them, beside reading them.
//!
//! `cargo bench -p palisade-audit --bench log [-- EVENTS]` prints a table in Markdown.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement that cannot be set up must stop at once, and tells what it saw"
)]

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant, SystemTime};

use palisade_audit::{
    Asked, Call, Decided, Durable, Ended, Event, Key, Log, PolicyFile, Rotation, What, verify,
};
use palisade_testkit::Project;

/// How many pairs of events are written in turn with bare lines, and how long those are at first.
const BLOCK: u64 = 10_000;
const LINE: usize = 600;

#[expect(clippy::cast_precision_loss, reason = "a count of events")]
fn main() {
    let events: u64 =
        std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(1_000_000);
    let folder = Project::new();
    let (path, key) = (folder.path("events.jsonl"), Key::new([7; 32]));
    let rotation = Rotation { size: Some(64 << 20), age: None };
    let log = Log::open(&path, Some(key.clone()), rotation).unwrap();
    let log = log.beside(Some(&folder.path("state")));
    let argv = ["cargo", "test", "--workspace", "--token=abc"].map(str::to_owned);
    let mut bare = File::options().append(true).create(true).open(folder.path("bare")).unwrap();
    let (mut written, mut plain) = (Duration::ZERO, Duration::ZERO);
    let (mut number, mut length) = (0, LINE);
    while number < events / 2 {
        let block = BLOCK.min(events / 2 - number);
        let begun = Instant::now();
        for number in number..number + block {
            let run = format!("{number:016x}");
            let event = |what| Event { at: SystemTime::now(), run: &run, what };
            log.append(&[event(decision(&argv))], Durable::No).unwrap();
            log.append(&[event(end())], Durable::No).unwrap();
        }
        written += begun.elapsed();
        number += block;
        let size = path.metadata().unwrap().len();
        if number == block {
            length = usize::try_from(size / (2 * block)).unwrap_or(LINE);
        }
        let line = vec![b'x'; length];
        let begun = Instant::now();
        (0..2 * block).for_each(|_| bare.write_all(&line).unwrap());
        plain += begun.elapsed();
        // It only costs time, and no room.
        bare.set_len(0).unwrap();
    }
    std::fs::remove_file(folder.path("bare")).unwrap();
    let begun = Instant::now();
    let read: usize = std::fs::read_dir(folder.root())
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).map_or(0, |bytes| bytes.len()))
        .sum();
    let reading = begun.elapsed();
    assert!(read > 0);
    let begun = Instant::now();
    let seen = verify(&path, Some(&key), 1).unwrap();
    let verified = begun.elapsed();
    assert!(seen.is_intact() && seen.records >= events / 2 * 2, "{seen:?}");
    let bytes: u64 = std::fs::read_dir(folder.root())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "## The record\n\nn = {} records, {} MiB, load {}\n",
        seen.records,
        bytes >> 20,
        load.trim()
    );
    println!("| What | ours | bare |\n| --- | ---: | ---: |");
    let rate = |time: Duration| events as f64 / time.as_secs_f64();
    println!(
        "| events appended per second, one thread; bare writes of as many bytes | {:.0} | {:.0} |",
        rate(written),
        rate(plain),
    );
    println!(
        "| all of them verified, s; read | {:.2} | {:.2} |\n",
        verified.as_secs_f64(),
        reading.as_secs_f64(),
    );
}

fn decision(argv: &[String]) -> What<'_> {
    What::Decision(Decided {
        call: Call {
            asked: Asked::Argv(argv),
            root: "/home/dev/app",
            cwd: "/home/dev/app",
            variables: Vec::new(),
            hash: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        },
        verdict: "allow",
        reasons: Vec::new(),
        agent: Some("codex"),
        task: None,
        unconfined: false,
        policies: vec![PolicyFile {
            layer: "user",
            file: "/home/dev/.config/palisade/policy.yaml".into(),
            dialect: "native",
            trusted: true,
        }],
        left_out: Vec::new(),
    })
}

fn end() -> What<'static> {
    What::Run(Ended {
        executed: true,
        exit_code: Some(0),
        signal: None,
        duration_ms: 1.25,
        code: None,
        tool: None,
        call_id: None,
        start_ms: 0.5,
        enforced: serde_json::json!({ "files": "kernel", "network": "kernel", "processes": "kernel" }),
    })
}
