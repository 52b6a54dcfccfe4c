//! `palisade check` and `palisade explain`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World};

#[test]
fn a_verdict_is_a_word_and_a_number() {
    let world = World::new();
    #[rustfmt::skip]
    let cases: [(&[&str], i32, &str); 6] = [
        (&["check", "--", "ls", "-l"],                     0,   "allow\n"),
        (&["check", "--shell", "ls | wc -l"],              0,   "allow\n"),
        (&["check", "--shell", "git reset --hard"],        3,   "ask\n"),
        (&["check", "--shell", "rm -rf /"],                126, "deny\n"),
        (&["check", "--"],                                 126, "deny\n"),
        (&["check", "--preset", "runner", "--", "rm"],     126, "deny\n"),
    ];
    for (arguments, code, word) in cases {
        let ran = world.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with(word), "{arguments:?}: {}", ran.stdout);
    }
}

#[test]
fn a_refusal_shows_the_place_the_code_the_line_of_the_policy_and_what_to_do() {
    let world = World::new().user_policy("version: 1\ncommands:\n  deny: [frob]\n");
    let ran = world.run(&["check", "--shell", "ls && frob x > /etc/motd"]);
    for part in [
        "deny: `frob` is on the denylist [denylist, name]",
        "  ls && frob x > /etc/motd\n        ^^^^\n",
        "policy.yaml:3:10",
        "deny: `/etc/motd` is outside project root [outside-root, path]",
        "hint: work inside the project, or list it in files.write beside `.`",
    ] {
        assert!(ran.stdout.contains(part), "{part:?} in\n{}", ran.stdout);
    }
}

#[test]
fn a_verdict_for_programs_is_one_object() {
    let world = World::new();
    let told = world.json(&["check", "--json", "--shell", "echo a\nrm -rf /etc"]);
    assert_eq!(told["verdict"], "deny");
    assert_eq!(told["denied"], json!(["path"]));
    assert_eq!(told["executed"], false);
    let reason = &told["reason"];
    assert_eq!(reason["code"], "outside-root");
    assert_eq!((&reason["line"], &reason["column"]), (&json!(2), &json!(8)));
    assert_eq!(reason["excerpt"], "/etc");
    let told = world.json(&["check", "--json", "--", "ls"]);
    assert_eq!((&told["verdict"], &told["reason"]), (&json!("allow"), &Json::Null));
}

#[test]
fn bad_input_is_denied_or_wrong_usage_and_never_allowed() {
    let world = World::new();
    let ran = world.run(&["check"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("no command was given"), "{}", ran.stderr);
    let mut odd = world.command(PALISADE);
    let ran = world.finish(odd.args(["check", "--", "ls"]).arg(OsStr::from_bytes(b"a\xffb")));
    assert_eq!(ran.code, Some(126), "{}", ran.stdout);
    let mut odd = world.command(PALISADE);
    let ran = world.finish(odd.args(["check", "--shell"]).arg(OsStr::from_bytes(b"ls \xff")));
    assert_eq!(ran.code, Some(126), "{}", ran.stdout);
    let nested = "(".repeat(100_000);
    assert_eq!(world.run(&["check", "--shell", &nested]).code, Some(126));
    assert_eq!(world.run(&["check", "--root", "/nowhere/x", "--", "ls"]).code, Some(125));
    assert_eq!(world.run(&["check", "--cwd", "/etc", "--", "ls"]).code, Some(126));
    let long = format!("echo {}", "a".repeat(100_000));
    assert_eq!(world.run(&["check", "--shell", &long]).code, Some(126));
    // One megabyte does not fit into an argument: it arrives as a request.
    let long = json!({ "id": 1, "kind": "command", "cmd": "a".repeat(1 << 20), "root": "/srv" });
    let ran = world.run_with_input(format!("{long}\n").as_bytes(), &["check", "--jsonl"]);
    assert!(ran.stdout.contains(r#""verdict":"deny""#), "{}", ran.stdout);
}

#[test]
fn a018_a_link_on_the_disk_that_leads_outside_is_denied() {
    let world = World::new();
    symlink("/etc/passwd", world.project.path("link")).unwrap();
    symlink("Cargo.toml", world.project.path("fine")).unwrap();
    for (words, code) in [(["cat", "link"], 126), (["cat", "./link"], 126), (["cat", "fine"], 0)] {
        let ran = world.run(&[&["check", "--preset", "runner", "--"], &words[..]].concat());
        assert_eq!(ran.code, Some(code), "{words:?}: {}", ran.stdout);
    }
    let ran = world.run(&["check", "--shell", "echo x > link"]);
    assert_eq!(ran.code, Some(126), "{}", ran.stdout);
}

#[test]
fn requests_are_answered_line_by_line() {
    let world = World::new();
    let requests = [
        json!({ "id": "a", "kind": "command", "cmd": "ls", "shell": true, "root": "/srv/x" }),
        json!({ "id": "b", "kind": "command", "cmd": "rm -rf /", "shell": true, "root": "/srv/x" }),
        json!({ "id": "c", "kind": "command", "cmd": "ls | wc", "shell": false, "root": "/srv/x" }),
        json!({ "id": "d", "kind": "command", "cmd": "ls 'a|b'", "shell": false, "root": "/srv/x" }),
        json!({ "id": "e", "kind": "path", "path": "a/../b", "root": "/srv/x" }),
        json!({ "id": "f", "kind": "path", "path": "../x2", "root": "/srv/x" }),
        json!({ "id": "g", "kind": "url", "url": "https://example.com/", "allow": ["example.com"] }),
        json!({ "id": "h", "kind": "url", "url": "http://127.1/", "allow": ["*"] }),
        json!({ "id": "i", "kind": "mystery" }),
        json!({ "id": "j", "kind": "command", "cmd": "ls", "shell": true, "root": "/" }),
        json!({ "id": "k", "kind": "command", "argv": ["rm", "-rf", "/"], "root": "/srv/x" }),
        json!({ "id": "m", "kind": "patch", "patch": "*** Add File: a\n+b\n", "root": "/srv/x" }),
        json!({ "id": "n", "kind": "patch", "patch": "*** Add File: ../a\n", "root": "/srv/x" }),
        json!({ "id": "o", "kind": "patch", "patch": "what?", "root": "/srv/x" }),
        json!({ "id": "p", "kind": "patch", "root": "/srv/x" }),
        json!({ "id": "q", "kind": "patch", "patch": "*** Add File: a\n+b\n" }),
    ];
    let mut text: String = requests.iter().map(|request| format!("{request}\n")).collect();
    text.push_str("not json\n\n{\"id\":\"l\"}");
    let ran = world.run_with_input(text.as_bytes(), &["check", "--jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let answers: Vec<(String, String)> = ran
        .stdout
        .lines()
        .map(|line| {
            let answer: Json = serde_json::from_str(line).unwrap();
            (answer["id"].to_string(), answer["verdict"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected = [
        ("\"a\"", "allow"),
        ("\"b\"", "deny"),
        ("\"c\"", "deny"),
        ("\"d\"", "allow"),
        ("\"e\"", "allow"),
        ("\"f\"", "deny"),
        ("\"g\"", "allow"),
        ("\"h\"", "deny"),
        ("\"i\"", "deny"),
        ("\"j\"", "allow"),
        ("\"k\"", "deny"),
        ("\"m\"", "allow"),
        ("\"n\"", "deny"),
        ("\"o\"", "deny"),
        ("\"p\"", "deny"),
        ("\"q\"", "deny"),
        ("null", "deny"),
        ("\"l\"", "deny"),
    ];
    let expected: Vec<(String, String)> =
        expected.map(|(id, verdict)| (id.to_owned(), verdict.to_owned())).to_vec();
    assert_eq!(answers, expected);
}

#[test]
fn explaining_lists_every_command_and_ends_with_the_verdict_of_check() {
    let world = World::new();
    let text = "cd src && cat a | grep b; timeout 5 rm -rf /etc";
    let ran = world.run(&["explain", "--shell", text]);
    assert_eq!(ran.code, Some(126), "{}", ran.stdout);
    for part in ["1. allow  cd src\n", "allow  grep b\n", "rm -rf /etc\n", "verdict: deny\n"] {
        assert!(ran.stdout.contains(part), "{part:?} in\n{}", ran.stdout);
    }
    let told = world.json(&["explain", "--json", "--shell", text]);
    assert_eq!(told["verdict"], "deny");
    assert_eq!(told["steps"].as_array().unwrap().len(), 5);
    // What is typed at a terminal cannot write over what is shown there.
    let ran = world.run(&["explain", "--shell", "echo '\u{1b}[2J'"]);
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}

#[test]
fn a_broken_policy_decides_nothing() {
    let world = World::with_policy("version: 1\nnetwerk: {}\n");
    for command in ["check", "explain"] {
        let ran = world.run(&[command, "--", "ls"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stdout);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("netwerk"), "{}", ran.stderr);
    }
}

#[test]
fn what_is_no_text_is_called_that() {
    let world = World::new();
    for given in [&["check", "--", "ls"][..], &["check", "--shell"], &["explain", "--shell"]] {
        let mut odd = world.command(PALISADE);
        let ran = world.finish(odd.args(given).arg(OsStr::from_bytes(b"ls \xff\xfe")));
        assert_eq!(ran.code, Some(126), "{given:?}: {}", ran.stdout);
        assert!(ran.stdout.contains("[not-text, structure]"), "{given:?}: {}", ran.stdout);
        assert!(ran.stdout.contains('\u{fffd}') && !ran.stdout.contains("U+"), "{}", ran.stdout);
    }
    let numbers = json!({ "id": 1, "argv": ["ls", 7], "root": "/srv/x" });
    let ran = world.run_with_input(format!("{numbers}\n").as_bytes(), &["check", "--jsonl"]);
    assert!(ran.stdout.contains("a word of `argv` is no text"), "{}", ran.stdout);
}

#[test]
fn a_request_that_says_two_things_is_denied_and_told_why() {
    let world = World::new();
    let cases = [
        (json!({ "argv": "rm -rf /etc", "cmd": "ls" }), "`argv` is no list of words"),
        (json!({ "argv": ["ls"], "cmd": "rm -rf /etc" }), "both `argv` and `cmd`"),
        (json!({ "argv": ["ls"], "shell": true }), "`shell` is true"),
        (json!({ "argv": ["ls"], "shell": 1 }), "`shell` is neither true nor false"),
        (json!({ "kind": "url", "url": "https://a.example", "host": "b.example" }), "both `url`"),
        (json!({ "kind": "url", "url": 5, "host": "b.example" }), "`url` is no text"),
        (json!({ "kind": 5, "cmd": "ls" }), "`kind` is no text"),
        (json!({ "kind": ["command"], "cmd": "ls" }), "`kind` is no text"),
    ];
    let ask = |mut request: Json| {
        request["id"] = 7.into();
        request["root"] = "/srv/x".into();
        let ran = world.run_with_input(format!("{request}\n").as_bytes(), &["check", "--jsonl"]);
        serde_json::from_str::<Json>(&ran.stdout).unwrap()
    };
    for (request, part) in cases {
        let answer = ask(request.clone());
        assert_eq!(answer["verdict"], "deny", "{request}: {answer}");
        assert_eq!(
            (&answer["code"], &answer["id"]),
            (&json!("bad-request"), &json!(7)),
            "{request}"
        );
        assert!(answer["message"].as_str().unwrap().contains(part), "{request}: {answer}");
    }
    for request in [json!({ "argv": ["ls"], "shell": false }), json!({ "cmd": "ls", "argv": null })]
    {
        assert_eq!(ask(request.clone())["verdict"], "allow", "{request}");
    }
}

#[test]
fn one_word_with_blanks_is_a_program_and_a_question_back() {
    let world = World::new();
    for command in ["check", "explain"] {
        let ran = world.run(&[command, "--", "rm -rf /etc"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stdout);
        assert!(ran.stderr.contains("hint: did you mean --shell?"), "{}", ran.stderr);
        let told = world.json(&[command, "--json", "--", "rm -rf /etc"]);
        assert_eq!(told["warnings"][0]["code"], "one-word", "{told}");
        let ran = world.run(&[command, "--", "ls", "a b"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{command}");
    }
}

#[test]
fn shell_text_may_come_from_standard_input() {
    let world = World::new();
    for (text, code) in [("ls\n", 0), ("cat <<E\n$(rm -rf /etc)\nE\n", 126), ("", 126)] {
        let ran = world.run_with_input(text.as_bytes(), &["check", "--shell", "-"]);
        assert_eq!(ran.code, Some(code), "{text:?}: {}{}", ran.stdout, ran.stderr);
    }
    let long = format!("ls {}", "a".repeat(70_000));
    let ran = world.run_with_input(long.as_bytes(), &["check", "--shell", "-"]);
    assert_eq!(ran.code, Some(126), "{}", ran.stdout);
}

#[test]
fn what_is_long_does_not_flood_the_terminal() {
    let world = World::new();
    let word = "a".repeat(60_000);
    for text in [
        format!("rm -rf /etc/{word}"),
        format!("echo {word}; rm -rf /etc; echo {word}"),
        format!("{word}{word}"),
        format!("echo $(({word}"),
    ] {
        for command in ["check", "explain"] {
            let ran = world.run_with_input(text.as_bytes(), &[command, "--shell", "-"]);
            assert_ne!(ran.code, Some(0), "{command}");
            assert!(ran.stdout.len() < 3_000, "{command}: {} bytes", ran.stdout.len());
            assert!(ran.stdout.contains('…') && ran.stdout.contains('^'), "{}", ran.stdout);
        }
    }
}

#[test]
fn a_request_is_told_what_was_wrong_and_what_was_ignored() {
    let world = World::new();
    #[rustfmt::skip]
    let cases = [
        (json!({ "id": 1, "cmd": "touch x", "root": "/srv/x", "cwd": "/etc" }),     "deny",  "/message", "outside"),
        (json!({ "id": 1, "cmd": "touch x", "root": "/srv/x", "cwd": "/srv/x/a" }), "allow", "/verdict", "allow"),
        (json!({ "id": 1, "cmd": "ls", "root": "/srv/x", "cwd": "a" }),             "deny",  "/message", "`cwd` is no absolute path"),
        (json!({ "id": 1, "cmd": "ls", "root": "/srv/x", "workdir": "/etc" }),      "allow", "/ignored/0", "workdir"),
        (json!({ "id": 1, "cmd": "ls", "root": "/srv/x", "shell": "yes" }),         "deny",  "/message", "`shell` is neither"),
        (json!({ "id": 1, "root": "/srv/x" }),                                      "deny",  "/message", "`cmd` is no text"),
        (json!({ "id": 1, "cmd": "ls", "root": "x" }),                              "deny",  "/message", "absolute"),
        (json!({ "id": 1, "kind": "path", "path": "../y", "root": "/srv/x" }),      "deny",  "/message", "outside"),
        (json!({ "id": 1, "kind": "odd" }),                                         "deny",  "/message", "`odd`"),
        (json!({ "id": 1, "kind": "url", "url": "file:///x" }),                     "deny",  "/message", ""),
    ];
    for (request, verdict, pointer, part) in cases {
        let ran = world.run_with_input(format!("{request}\n").as_bytes(), &["check", "--jsonl"]);
        let answer: Json = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(answer["verdict"], verdict, "{request}: {answer}");
        let told = answer.pointer(pointer).and_then(Json::as_str);
        assert!(told.is_some_and(|told| told.contains(part)), "{request}: {answer}");
    }
}

#[test]
fn a_folder_of_the_system_is_no_project_without_a_word() {
    let world = World::new();
    let ran = world.run(&["check", "--root", "/etc", "--cwd", "/etc", "--", "ls"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stderr.contains("`/etc`, a part of the system"), "{}", ran.stderr);
    assert_eq!(world.run(&["check", "--", "ls"]).stderr, "");
}

#[test]
fn explaining_says_a_reason_once_and_listening_is_not_called_a_back_door() {
    let world = World::new();
    let ran = world.run(&["explain", "--shell", "timeout 5 env A=1 sh -c 'rm -rf /etc'"]);
    assert_eq!(ran.stdout.matches("[outside-root, path]").count(), 1, "{}", ran.stdout);
    let ran = world.run(&["check", "--shell", "nc -l 8080"]);
    assert!(ran.code == Some(3) && ran.stdout.contains("[listens, argv]"), "{}", ran.stdout);
    let ran = world.run(&["check", "--shell", "nc -l -e /bin/sh 8080"]);
    assert!(ran.code == Some(126) && ran.stdout.contains("[backdoor, argv]"), "{}", ran.stdout);
    let ran = world.run(&["check", "--shell", "echo x > /dev/tcp/example.com/80"]);
    assert!(ran.code == Some(126) && ran.stdout.contains("is a connection"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("files.write"), "{}", ran.stdout);
}

#[test]
fn broken_arguments_of_a_tool_are_shown_with_the_place() {
    let world = World::new();
    let ran = world.run(&["check", "--tool", "write_file", "--args", r#"{"path": 'a'}"#]);
    assert_eq!(ran.code, Some(126), "{}", ran.stdout);
    let shown = "  {\"path\": 'a'}\n           ^\n";
    assert!(ran.stdout.contains(shown), "{}", ran.stdout);
    assert!(ran.stdout.contains("hint: give an object as JSON writes it"), "{}", ran.stdout);
}
