//! The strictest answer counts, however much stands before it.

use super::*;
use Answer::{Allow, Ask, Deny};

/// A disk on which files called `hard` have two names.
struct Linked;

impl Lookup for Linked {
    fn look(&self, path: &str) -> Entry {
        if path.ends_with("/hard") { Entry::SharedFile } else { Entry::Absent }
    }
}

#[test]
fn a_reading_that_denies_counts_behind_one_that_asks_or_passes() {
    let (lenient, strict) = (World::proxy(false), World::proxy(true));
    let long = "a".repeat(5_000);
    for paths in [format!("{long},/etc/passwd"), format!("/etc/passwd,{long}")] {
        let verdict = lenient.proxied("write_file", json!({ "paths": paths }));
        assert_eq!(codes(&verdict), ["outside-root"]);
    }
    let verdict = lenient.proxied("write_file", json!({ "paths": format!("{long},a") }));
    assert_eq!((verdict.answer, verdict.passed.len()), (Allow, 1), "and logged");
    #[rustfmt::skip]
    let cases = [
        // paths                answer
        ("hard",                Ask),
        ("hard,a",              Ask),
        ("hard,/etc/passwd",    Deny),
        ("/etc/passwd,hard",    Deny),
        ("hard,C:\\\\x",        Deny),
        ("hard,$ROOT/x",        Deny),
    ];
    for (paths, answer) in cases {
        let arguments = json!({ "paths": paths }).to_string();
        let verdict = strict.seen(Door::Hook, "write_file", &arguments, &Linked);
        assert_eq!(verdict.answer, answer, "{paths}: {:?}", codes(&verdict));
    }
}

#[test]
fn a_folder_that_denies_counts_behind_one_that_asks() {
    let world = World::new("");
    let judge = |tool: &str, arguments: Json| {
        let arguments = arguments.to_string();
        let call = Call { tool, arguments: &arguments, cwd: "/srv/dev/app/a/b" };
        world.interception.judge(&call, Door::Hook, &world.judge, &Linked)
    };
    #[rustfmt::skip]
    let cases = [
        // command                               answer
        ("git reset --hard",                     Ask),
        ("touch ../../y",                        Deny),
        ("git reset --hard; touch ../../y",      Deny),
        ("git reset --hard; touch y",            Ask),
    ];
    for (command, answer) in cases {
        let verdict = judge("bash", json!({ "command": command }));
        assert_eq!(verdict.answer, answer, "{command}: {:?}", codes(&verdict));
    }
    let asks = judge("bash", json!({ "command": "git reset --hard" }));
    assert_eq!(asks.findings.len(), 1, "the same is told once");
    let patch = |name: &str| {
        let hard = "*** Update File: hard\n@@\n-x\n+y\n";
        let patch = format!("*** Begin Patch\n{hard}*** Add File: {name}\n+x\n*** End Patch\n");
        judge("apply_patch", json!({ "patch": patch })).answer
    };
    assert_eq!(patch("y"), Ask);
    assert_eq!(patch("../../y"), Deny, "it leads out of the root, from the root");
    assert_eq!(judge("write_file", json!({ "path": "../hard" })).answer, Deny);
}

#[test]
fn a_denial_is_told_however_many_questions_stand_before_it() {
    let world = World::proxy(true);
    let mut paths = vec!["hard"; 1_200];
    let told = |paths: &[&str]| {
        let arguments = json!({ "paths": paths }).to_string();
        let verdict = world.seen(Door::Hook, "write_file", &arguments, &Linked);
        (verdict.answer, verdict.findings.len(), verdict.findings[0].reason.code)
    };
    assert_eq!(told(&paths), (Ask, 1_000, "shared-file"));
    paths.push("/etc/passwd");
    assert_eq!(told(&paths), (Deny, 1_000, "outside-root"));
}

#[test]
fn one_call_may_only_cost_so_much() {
    let world = World::proxy(true);
    let lines: Vec<String> = (0..999).map(|at| format!("a{at}")).collect();
    let lines = lines.join("\n");
    let links: String = (0..4_000)
        .map(|at| {
            let next = at + 1;
            format!(
                "diff --git a/d{at}/l b/d{at}/l\nnew file mode 120000\n--- /dev/null\n\
                 +++ b/d{at}/l\n@@ -0,0 +1 @@\n+../d{next}/l\n\\ No newline at end of file\n"
            )
        })
        .collect();
    #[rustfmt::skip]
    let cases = [
        // tool          arguments                                                   code
        ("write_file",   json!({ "paths": vec![&*lines; 1_000] }),                    "arguments-too-many"),
        ("bash",         json!({ "commands": vec![json!({ "command": "ls;".repeat(4_000) }); 250] }), "arguments-too-many"),
        ("apply_patch",  json!({ "patch": links }),                                   "arguments-too-many"),
    ];
    for (tool, arguments, code) in cases {
        let verdict = world.hook(tool, arguments);
        assert_eq!(verdict.answer, Deny, "{tool}");
        assert!(codes(&verdict).contains(&code), "{tool}: {:?}", codes(&verdict).first());
    }
    let paths: Vec<String> = (0..1_000).map(|at| format!("src/deep/er/file{at}.rs")).collect();
    assert_eq!(world.hook("write_file", json!({ "paths": paths })).answer, Allow);
    let command = json!({ "command": "ls;".repeat(1_500) });
    assert_eq!(world.hook("bash", command).answer, Allow);
}
