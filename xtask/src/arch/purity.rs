//! What the code of each room may name.

use crate::code::{self, Path, Token};
use crate::finding::Finding;

/// Modules and items that would make a pure room depend on more than its arguments.
const IMPURE: [&str; 14] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::os",
    "std::hash::RandomState",
    "std::collections::hash_map",
    "std::collections::hash_set",
];

/// Importing these whole would hide which of their parts is used.
const OPAQUE: [&str; 4] = ["std", "std::*", "std::time", "std::time::*"];

/// Addresses and the bytes of a name are values; they open nothing.
const VALUES: [&str; 5] = [
    "std::net::AddrParseError",
    "std::net::IpAddr",
    "std::net::Ipv4Addr",
    "std::net::Ipv6Addr",
    "std::os::unix::ffi",
];

const ROOMS: [&str; 5] =
    ["palisade_policy", "palisade_plan", "palisade_apply", "palisade_gate", "palisade_audit"];

/// The root modules that must carry `#![forbid(unsafe_code)]`.
const SAFE_ROOTS: [&str; 6] = [
    "crates/policy/src/lib.rs",
    "crates/plan/src/lib.rs",
    "crates/gate/src/lib.rs",
    "crates/audit/src/lib.rs",
    "crates/palisade/src/lib.rs",
    "crates/cli/src/main.rs",
];

/// Judges one Rust file by its place in the tree.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let tokens = code::tokens(text);
    let paths = code::paths(&tokens);
    let mut findings = Vec::new();
    let mut report = |rule, line, what: String, fix| {
        findings.push(Finding { file: file.to_owned(), line, rule, what, fix });
    };
    let is_pure = file.starts_with("crates/policy/src/") || file.starts_with("crates/plan/src/");
    for path in &paths {
        let Path { line, text } = path;
        if is_pure && is_impure(path) {
            let what = format!("`{text}` in a pure room");
            report("purity", *line, what, "take the value as an argument; `palisade` may read it");
        }
        if text == "process::exit" || text.ends_with("::process::exit") {
            let fix = "return an exit value; only `main` turns it into a number";
            report("exit", *line, format!("`{text}` skips destructors"), fix);
        }
        let room = text.split("::").next().unwrap_or_default();
        if file.starts_with("crates/cli/") && ROOMS.contains(&room) {
            let fix = "let `palisade` offer it; the command line knows no other room";
            report("cli-rooms", *line, format!("the command line names `{room}`"), fix);
        }
    }
    for (rule, line, what, fix) in words(file, &tokens, is_pure) {
        report(rule, line, what, fix);
    }
    if SAFE_ROOTS.contains(&file) && !has_words(&tokens, &["forbid", "(", "unsafe_code", ")"]) {
        let what = "the room does not forbid `unsafe`".to_owned();
        report("unsafe", 1, what, "head the file with `#![forbid(unsafe_code)]`");
    }
    findings
}

type Word = (&'static str, usize, String, &'static str);

fn words(file: &str, tokens: &[Token<'_>], is_pure: bool) -> Vec<Word> {
    let tests =
        if is_test_file(file) { 0 } else { code::tests_start(tokens).unwrap_or(usize::MAX) };
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", |token| token.text);
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map_or("", |token| token.text);
        let line = token.line;
        match token.text {
            word @ ("HashMap" | "HashSet" | "RandomState") if is_pure => found.push((
                "purity",
                line,
                format!("`{word}` in a pure room: its order is random"),
                "use a BTreeMap, a BTreeSet or a sorted Vec",
            )),
            word @ ("target_os" | "target_family" | "target_arch")
                if file.starts_with("crates/plan/src/") =>
            {
                found.push((
                    "purity",
                    line,
                    format!("`{word}` in plan: it plans for any host on any host"),
                    "read the host's kind from `Facts`",
                ));
            }
            "unsafe" if !may_be_unsafe(file) => found.push((
                "unsafe",
                line,
                "`unsafe` outside crates/apply/src/sys".to_owned(),
                "add a wrapper there, or use rustix (docs/adr/0004)",
            )),
            word @ ("async" | "await" | "tokio")
                if !file.starts_with("crates/gate/") && is_async(before, word, next) =>
            {
                found.push((
                    "async",
                    line,
                    format!("`{word}` outside gate"),
                    "async lives in `gate`; elsewhere a plain function or `Future` (docs/adr/0010)",
                ));
            }
            word @ ("print" | "println" | "eprint" | "eprintln" | "dbg")
                if next == "!" && line < tests && !may_print(file) =>
            {
                found.push((
                    "print",
                    line,
                    format!("`{word}!` panics on a closed pipe"),
                    "write to the writer that the function is handed",
                ));
            }
            _ => {}
        }
    }
    found
}

fn is_impure(path: &Path) -> bool {
    let values = VALUES.iter().any(|value| path.is_under(value));
    !values
        && (IMPURE.iter().any(|module| path.is_under(module))
            || OPAQUE.contains(&path.text.as_str()))
}

fn is_async(before: &str, word: &str, next: &str) -> bool {
    match word {
        "async" => matches!(next, "fn" | "move" | "{" | "|"),
        "await" => before == ".",
        _ => before != ".",
    }
}

fn has_words(tokens: &[Token<'_>], wanted: &[&str]) -> bool {
    let mut windows = tokens.windows(wanted.len());
    windows.any(|window| window.iter().zip(wanted).all(|(token, wanted)| token.text == *wanted))
}

fn is_test_file(file: &str) -> bool {
    file.contains("/tests/") || file.contains("/benches/") || file.ends_with("/tests.rs")
}

/// Attacks are system calls that nobody else should make: those of the probe have a file too.
fn may_be_unsafe(file: &str) -> bool {
    file.starts_with("crates/apply/src/sys/") || file == "conformance/src/probe/sys.rs"
}

/// The test kit says loudly what it skips; a build script talks to cargo on standard output.
fn may_print(file: &str) -> bool {
    file.starts_with("crates/testkit/") || file.ends_with("/build.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(file: &str, text: &str) -> Vec<&'static str> {
        check(file, text).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn each_room_may_name_only_what_is_its_own() {
        #[rustfmt::skip]
        let cases: [(&str, &str, &[&str]); 45] = [
            ("crates/policy/src/a.rs", "use std::net::{IpAddr, Ipv6Addr};", &[]),
            ("crates/policy/src/a.rs", "let x = std::net::Ipv4Addr::LOCALHOST;", &[]),
            ("crates/policy/src/a.rs", "use std::time::Duration;", &[]),
            ("crates/policy/src/a.rs", "// std::fs\nconst A: &str = \"std::fs\";", &[]),
            ("crates/policy/src/a.rs", "use std::os::unix::ffi::OsStrExt;", &[]),
            ("crates/policy/src/a.rs", "use std::os::unix::net::UnixStream;", &["purity"]),
            ("crates/policy/src/a.rs", "use std::fs;", &["purity"]),
            ("crates/policy/src/a.rs", "use std::{fmt, fs::File};", &["purity"]),
            ("crates/policy/src/a.rs", "let a = std::env::var(name);", &["purity"]),
            ("crates/policy/src/a.rs", "let a = ::std::env::var(name);", &["purity"]),
            ("crates/policy/src/a.rs", "use std::net::TcpStream;", &["purity"]),
            ("crates/policy/src/a.rs", "use std::net;", &["purity"]),
            ("crates/policy/src/a.rs", "use std as s;", &["purity"]),
            ("crates/policy/src/a.rs", "use std::process::Command;", &["purity"]),
            ("crates/policy/src/a.rs", "use std::time::{Duration, Instant};", &["purity"]),
            ("crates/plan/src/a.rs",   "use std::time::SystemTime;", &["purity"]),
            ("crates/plan/src/a.rs",   "std::thread::spawn(f);", &["purity"]),
            ("crates/plan/src/a.rs",   "fn a(x: HashSet<u8>) {}", &["purity"]),
            ("crates/plan/src/a.rs",   "#[cfg(target_os = \"linux\")]", &["purity"]),
            ("crates/policy/src/a.rs", "#[cfg(test)] mod tests { use std::fs; }", &["purity"]),
            ("crates/palisade/src/a.rs", "use std::{env, fs};", &[]),
            ("crates/apply/src/sys/a.rs", "unsafe { call() }", &[]),
            ("crates/apply/src/a.rs",  "unsafe { call() }", &["unsafe"]),
            ("conformance/src/probe/sys.rs", "unsafe { call() }", &[]),
            ("conformance/src/probe/a.rs", "unsafe { call() }", &["unsafe"]),
            ("crates/palisade/src/a.rs", "unsafe impl Send for A {}", &["unsafe"]),
            ("crates/palisade/src/a.rs", "#![forbid(unsafe_code)]", &[]),
            ("crates/gate/src/a.rs",   "async fn a() { b().await }", &[]),
            ("crates/audit/src/a.rs",  "async fn a() {}", &["async"]),
            ("crates/palisade/src/a.rs", "fn a() { b().await }", &["async"]),
            ("crates/cli/src/a.rs",    "use tokio::net;", &["async"]),
            ("crates/cli/src/a.rs",    "std::process::exit(1)", &["exit"]),
            ("xtask/src/a.rs",         "use std::process::{self, exit};", &["exit"]),
            ("xtask/src/a.rs",         "use std::process; fn a() { process::exit(1) }", &["exit"]),
            ("crates/cli/src/a.rs",    "use palisade::Policy;", &[]),
            ("crates/cli/src/a.rs",    "use palisade_policy::Policy;", &["cli-rooms"]),
            ("crates/cli/tests/a.rs",  "let p = palisade_plan::Plan::new();", &["cli-rooms"]),
            ("crates/cli/src/a.rs",    "println!(\"a\");", &["print"]),
            ("crates/palisade/src/a.rs", "dbg!(a);", &["print"]),
            ("crates/palisade/src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests { dbg!(a); }", &[]),
            ("crates/palisade/tests/a.rs", "eprintln!(\"a\");", &[]),
            ("crates/testkit/src/a.rs", "eprintln!(\"skipped\");", &[]),
            ("crates/policy/src/lib.rs", "//! Doc.\n#![forbid(unsafe_code)]", &[]),
            ("crates/policy/src/lib.rs", "//! #![forbid(unsafe_code)]", &["unsafe"]),
            ("crates/cli/src/main.rs", "#![deny(unsafe_code)]", &["unsafe"]),
        ];
        for (file, text, expected) in cases {
            assert_eq!(rules(file, text), expected, "{file}: {text}");
        }
    }

    #[test]
    fn a_finding_has_its_line() {
        let found =
            check("crates/policy/src/a.rs", "//! Doc.\n\nuse std::{\n    fmt,\n    fs,\n};");
        assert_eq!(found.first().map(|finding| finding.line), Some(5));
    }
}
