//! What the command line looks like: help, usage, generated texts, output.

use std::fs::File;
use std::process::Stdio;

use crate::kit::World;

#[test]
fn usage_is_explained_and_ends_with_2() {
    let world = World::new();
    let wrong: [&[&str]; 9] = [
        &[],
        &["policy"],
        &["polcy"],
        &["policy", "show", "--orgin"],
        &["policy", "check", "--no-such"],
        &["trust", "--show", "--revoke"],
        &["completions", "tcsh"],
        &["help", "polcy"],
        // In words, whatever was asked for: who calls it wrongly is a person.
        &["policy", "check", "--json", "--no-such"],
    ];
    for arguments in wrong {
        let ran = world.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.stderr.contains("--help"), "{arguments:?}: {}", ran.stderr);
    }
    // The first two have a way of their own, the third is clap's.
    for arguments in [&["--version"][..], &["-V"], &["--color", "never", "--version"]] {
        let version = world.run(arguments);
        assert_eq!((version.code, version.stdout.as_str()), (Some(0), "palisade 0.1.0\n"));
    }
    assert_eq!(world.run(&["--version", "--no-such"]).code, Some(0), "clap stops at the version");
    let help = world.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(!help.stdout.contains("markdown-help"), "{}", help.stdout);
    for wanted in ["walls that the kernel holds", "PALISADE_PRESET", "/etc/palisade/policy.yaml"] {
        assert!(help.stdout.contains(wanted), "{wanted}: {}", help.stdout);
    }
}

#[test]
fn help_is_a_word_too_and_never_runs_anything() {
    let world = World::new();
    for (asked, option) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "run"], &["run", "--help"]),
        (&["help", "policy", "show"], &["policy", "show", "--help"]),
        (&["help", "run", "--", "touch", "made"], &["run", "--help"]),
        (&["help", "run", "--shell", "touch made"], &["run", "--help"]),
    ] {
        let (asked, option) = (world.run(asked), world.run(option));
        assert_eq!((asked.code, &asked.stdout), (Some(0), &option.stdout));
        assert!(!world.project.path("made").exists());
    }
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = world.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{shell}");
        assert!(ran.stdout.contains("revoke"), "{shell}");
        assert!(!ran.stdout.contains("markdown"), "{shell} offers what is not for people");
    }
    let page = world.run(&["man"]).stdout;
    assert_eq!(world.run(&["man", "--dir", "."]).code, Some(0));
    assert_eq!(std::fs::read_to_string(world.project.path("palisade.1")).unwrap(), page);
    for wanted in ["PALISADE_ROOT", ".SH ENVIRONMENT", ".SH FILES", "walls that the kernel holds"] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert!(!page.contains(".SH EXTRA"), "{page}");
    for name in ["palisade", "palisade-policy-show", "palisade-trust"] {
        let page = std::fs::read_to_string(world.project.path(format!("{name}.1"))).unwrap();
        let title = format!("\n.TH {name} 1 \" \" \"palisade 0.1.0\" Palisade\n");
        assert!(page.contains(&title), "{page}");
    }
    for name in ["palisade-markdown-help.1", "palisade-help.1", "palisade-policy-help.1"] {
        assert!(!world.project.path(name).exists(), "{name}");
    }
}

#[test]
fn a_manual_that_cannot_be_written_says_where_and_why() {
    let world = World::new();
    let gone = world.run(&["man", "--dir", "gone"]);
    assert_eq!(gone.code, Some(125));
    assert!(gone.stderr.contains("cannot write gone/palisade.1"), "{}", gone.stderr);
    assert!(gone.stderr.contains("hint: the folder must exist: mkdir -p gone"), "{}", gone.stderr);
    let file = world.run(&["man", "--dir", "Cargo.toml"]);
    assert_eq!(file.code, Some(125));
    assert!(file.stderr.contains("hint: Cargo.toml is no folder"), "{}", file.stderr);
}

#[test]
fn the_schema_is_json() {
    let schema = World::new().json(&["policy", "schema"]);
    assert_eq!(schema["title"], "Palisade policy");
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn colour_is_for_terminals_or_when_asked_for() {
    let world = World::new();
    let escape = |arguments: &[&str]| world.run(arguments).stderr.contains("\u{1b}[");
    assert!(!escape(&["policy", "check", "gone"]));
    assert!(escape(&["policy", "check", "gone", "--color", "always"]));
    assert!(!escape(&["policy", "check", "gone", "--color", "never"]));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure_but_a_full_disk_is() {
    let world = World::new();
    let mut shell = world.command("/bin/sh");
    let pipe = r#""$0" policy show | true; { "$0" policy show; echo "code $?" >&2; } | true"#;
    let ran = world.finish(shell.args(["-c", pipe, env!("CARGO_BIN_EXE_palisade")]));
    assert_eq!(ran.stderr, "code 0\n");

    let mut full = world.command(env!("CARGO_BIN_EXE_palisade"));
    full.args(["policy", "show"]).stderr(Stdio::piped());
    full.stdout(File::options().write(true).open("/dev/full").unwrap());
    let output = full.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[stdout]"));
}

#[test]
fn a_hostile_folder_name_cannot_repaint_the_terminal() {
    let world = World::new();
    world.write("\u{1b}[2K\u{202e}x/.palisade/policy.yaml", "network: { mode: disabled }\n");
    for arguments in [&["policy", "show"][..], &["policy", "show", "--origin"], &["trust"]] {
        let ran = world.run_in("\u{1b}[2K\u{202e}x", arguments);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("\\u{202e}") || all.contains("\\u202e"), "{arguments:?}: {all}");
        assert!(!all.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {all:?}");
    }
}
