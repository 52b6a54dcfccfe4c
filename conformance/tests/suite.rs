//! The suite itself: without an engine everything gets through, ours holds, and a peer's known gaps
//! are seen. Runs as whoever runs the tests and, if that is root, as an ordinary user too.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use palisade_conformance::ATTACKS;
use serde_json::Value;

const RUNNER: &str = env!("CARGO_BIN_EXE_conformance");
const PROBE: &str = env!("CARGO_BIN_EXE_conformance-probe");

/// Attacks that may fail without any engine, by what the host is.
const HOST: [&str; 10] = [
    "e046-typed",
    "e047-poked",
    "e048-ring",
    "e049-thirty-two",
    "e050-entered",
    "e050-mount",
    "e050-namespace",
    "e054-queue",
    "e055-elevated",
    "e060-group",
];

/// Builds the command of this tree, and returns where it is.
fn palisade() -> PathBuf {
    let built =
        Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "palisade-cli"]).status();
    assert!(built.unwrap().success(), "palisade does not build");
    let folder = Path::new(RUNNER).parent().unwrap();
    folder.join("palisade")
}

/// Runs the suite behind one engine; returns its verdicts and reasons by person and attack.
fn judged(engine: &str) -> BTreeMap<(String, String, String), (String, String)> {
    let mut runner = Command::new(RUNNER);
    runner.arg("--palisade").arg(palisade()).args(["--probe", PROBE, "--json", "--engine", engine]);
    let output = runner.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let word = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let all: BTreeMap<_, _> = lines
        .map(|line| {
            let key = (word(&line, "engine"), word(&line, "person"), word(&line, "attack"));
            (key, (word(&line, "verdict"), word(&line, "why")))
        })
        .collect();
    assert!(all.len() >= 2 * ATTACKS.len(), "{}", String::from_utf8_lossy(&output.stderr));
    all
}

#[test]
fn palisade_holds_what_gets_through_without_it() {
    let mut wrong = Vec::new();
    for ((engine, person, attack), (verdict, why)) in judged("palisade") {
        let fine = match engine.as_str() {
            "none" => verdict == "let-through" || HOST.contains(&attack.as_str()),
            _ => verdict == "held" || verdict == "host",
        };
        if !fine {
            wrong.push(format!("{engine} {person} {attack}: {verdict}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn gaps_of_a_peer_are_seen_and_its_walls_too() {
    if !Path::new("/usr/bin/bwrap").is_file() {
        let required = std::env::var("PALISADE_TEST_REQUIRE").unwrap_or_default();
        assert!(!required.contains("tools"), "bwrap is not installed");
        eprintln!("SKIPPED gaps_of_a_peer_are_seen_and_its_walls_too: it needs `bwrap`");
        return;
    }
    let known = [
        ("e031-made", "let-through"),
        ("e032-hooks", "let-through"),
        ("e050-handle", "let-through"),
        ("e051-connected", "let-through"),
        ("e051-sent", "let-through"),
        ("e053-inherited", "let-through"),
        ("e053-reopened", "let-through"),
        ("e035-linked", "held"),
        ("e036-written", "held"),
        ("e045-moved-out", "held"),
        ("e052-signalled", "held"),
        ("e059-daemon", "held"),
        ("e073-loopback", "held"),
    ];
    for ((engine, person, attack), (verdict, why)) in judged("bwrap") {
        let expected = known.iter().find(|(name, _)| engine == "bwrap" && *name == attack);
        if let Some((_, expected)) = expected {
            assert_eq!(verdict, *expected, "{person} {attack}: {why}");
        }
    }
}

#[test]
fn wrong_usage_and_an_engine_that_is_absent_are_told() {
    let run = |words: &[&str]| {
        let output = Command::new(RUNNER).args(words).env("CONFORMANCE_PATH", "/nowhere").output();
        let output = output.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let both = ["--palisade", PROBE, "--probe", PROBE];
    for (words, hint) in [
        (&["--engine", "firejail"][..], "no engine `firejail`"),
        (&["--attack", "e001"][..], "no attack `e001`"),
        (&["--person", "king"][..], "neither `root` nor `ordinary`"),
        (&["--probe"][..], "wants a value"),
        (&["--colour"][..], "is unknown"),
    ] {
        let (code, text) = run(&[&both[..], words].concat());
        assert_eq!(code, Some(2), "{words:?}: {text}");
        assert!(text.contains(hint), "{words:?}: {text}");
    }
    let (code, text) = run(&["--probe", PROBE]);
    assert!(code == Some(2) && text.contains("`--palisade` is missing"), "{text}");
    let (_, text) = run(&[&both[..], &["--engine", "srt", "--attack", "e040"]].concat());
    if !Path::new("/usr/bin/srt").exists() && !Path::new("/usr/local/bin/srt").exists() {
        assert!(text.contains("SKIPPED srt: not installed"), "{text}");
    }
}
