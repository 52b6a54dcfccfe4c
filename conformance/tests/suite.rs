//! The suite itself: without an engine everything gets through, ours holds, and a peer's known gaps
//! are seen. Runs as whoever runs the tests and, if that is root, as an ordinary user too.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]
use std::collections::BTreeMap;
use std::io::Write as _;
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

/// Builds the command of this tree in the profile of these tests, which runner and probe have too, and
/// returns where it is. What is published is tried by `cargo xtask conformance`.
fn palisade() -> PathBuf {
    let folder = Path::new(RUNNER).parent().unwrap().file_name().unwrap().to_str().unwrap();
    let profile = if folder == "debug" { "dev" } else { folder };
    writeln!(std::io::stderr(), "palisade, runner and probe: profile `{profile}`").ok();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "palisade-cli", "--bin", "palisade"])
        .args(["--profile", profile, "--message-format", "json"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "palisade does not build: {told}");
    let lines = String::from_utf8(built.stdout).unwrap();
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    // Where cargo says that it is: one that lies beside the runner may be an older one.
    let mut found = lines.filter_map(|line| line["executable"].as_str().map(PathBuf::from));
    found.next_back().unwrap()
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
            // What was not tried without an engine proves nothing of any.
            "none" => {
                let may_refuse = HOST.contains(&attack.as_str()) && verdict != "failed";
                verdict == "let-through" || may_refuse
            }
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
    let all = judged("bwrap");
    for (name, expected) in known {
        let mut seen =
            all.iter().filter(|((engine, _, it), _)| engine == "bwrap" && it == name).peekable();
        assert!(seen.peek().is_some(), "{name} was not tried");
        for ((_, person, attack), (verdict, why)) in seen {
            assert_eq!(verdict, expected, "{person} {attack}: {why}");
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

/// What stands in for the engine, and what it says of itself.
const FAKES: [(&str, &str); 5] = [
    ("is not there", ""),
    ("ends well at once", "exit 0"),
    ("fails in silence", "exit 1"),
    ("crashes", "kill -SEGV $$"),
    (
        "says what another attack came to",
        r#"echo '{"attack":"e036-read","verdict":"held","ways":[],"unlawful":null}'"#,
    ),
];

#[test]
fn an_engine_that_did_not_run_the_probe_never_counts_as_one_that_held() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = std::env::temp_dir().join(format!("conformance-fakes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (number, (what, does)) in FAKES.into_iter().enumerate() {
        let engine = folder.join(format!("engine{number}"));
        if !does.is_empty() {
            let text =
                format!("#!/bin/sh\n[ \"$1\" != --version ] || {{ echo 1; exit; }}\n{does}\n");
            std::fs::write(&engine, text).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&engine, mode).unwrap();
        }
        let mut runner = Command::new(RUNNER);
        runner.arg("--palisade").arg(&engine).args(["--probe", PROBE, "--json"]);
        runner.args(["--engine", "palisade", "--engine", "palisade-landlock"]);
        runner.args(["--attack", "e040", "--attack", "e048", "--attack", "e059-memory"]);
        let output = runner.output().unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{what}: {:?}", output.status);
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let ours: Vec<Value> = lines.filter(|line| line["engine"] != "none").collect();
        assert_eq!(ours.is_empty(), does.is_empty(), "{what}: {text}");
        for line in ours {
            assert_eq!(line["verdict"], "failed", "{what}: {line}");
        }
    }
    // Nor one whose probe does not start, with or without an engine.
    let mut runner = Command::new(RUNNER);
    runner.arg("--palisade").arg(palisade()).args(["--probe", "/bin/false", "--json"]);
    runner.args(["--engine", "palisade", "--attack", "e048", "--attack", "e040"]);
    let output = runner.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() >= 4, "two attacks, with and without an engine: {text}");
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["verdict"], "failed", "{line}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
