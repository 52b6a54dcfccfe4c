//! Who is asked, what they see, and what each answer does.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::JoinHandle;

use palisade::audit::Key;
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, Ran, World, as_both};
use crate::recording::{at_terminal, at_terminal_asked};

const ASKS: &str = "\
audit: { path: ~/log/events.jsonl }
commands:
  rules:
    - { tool: run_shell_command, args: { command: '^touch' }, action: ask }
confirm: { timeout: 3s }
";

fn made(world: &World, name: &str) -> bool {
    world.project.path(name).exists()
}

/// Returns what was last said, and by whom.
fn said(world: &World) -> (String, String) {
    let found = world.run(&["audit", "query", "--event", "confirmation", "--json"]).stdout;
    let last: Json = serde_json::from_str(found.lines().last().unwrap()).unwrap();
    let word = |name: &str| last[name].as_str().unwrap().to_owned();
    (word("answer"), word("by"))
}

fn user_policy(world: &World) -> PathBuf {
    world.home.path(".config/palisade/policy.yaml")
}

#[test]
fn a086_only_ask_is_asked_and_silence_and_errors_mean_no() {
    as_both(|world| {
        let world = world.user_policy(ASKS);
        // What is allowed or denied is nobody's to answer.
        let (shown, code) = at_terminal(&world, b"y", "-- /bin/true");
        assert_eq!(code, Some(0), "{shown}");
        assert!(!shown.contains("May this run?"), "{shown}");
        let (shown, code) = at_terminal(&world, b"y", "-- rm -rf /etc");
        assert_eq!(code, Some(126), "{shown}");
        assert!(!shown.contains("May this run?"), "{shown}");
        // A zero stands between two keys.
        for (number, (keys, runs, recorded)) in [
            (&b"n"[..], false, "no"),
            (b"\x1b", false, "no"),
            (b"\x03", false, "no"),
            (b"yes\n", false, "timeout"),
            (b"xyx", false, "timeout"),
            (b"", false, "timeout"),
            (b"y", true, "yes"),
            (b"x\0y", true, "yes"),
            (b"r", true, "run"),
        ]
        .into_iter()
        .enumerate()
        {
            fs::remove_file(world.home.path(".local/state/palisade/audit/questions")).ok();
            let name = format!("made{number}");
            let (shown, code) = at_terminal(&world, keys, &format!("-- touch {name} 'a b'"));
            assert_eq!(code, Some(if runs { 0 } else { 126 }), "{keys:?}: {shown}");
            assert_eq!(made(&world, &name), runs, "{keys:?}: {shown}");
            assert_eq!(said(&world), (recorded.into(), "terminal".into()), "{keys:?}");
        }
        // A refusal is an outcome, and whoever called goes on.
        let told = world.json(&["run", "--json", "--", "touch", "other"]);
        assert_eq!((&told["denied"], &told["exit_code"]), (&true.into(), &(-100).into()), "{told}");
        assert_eq!(told["reason_code"].as_str().or(told["code"].as_str()), Some("unconfirmed"));
    });
}

#[test]
fn e026_a_question_is_made_of_what_runs_and_bound_to_it() {
    let world = World::new().user_policy(ASKS);
    let command = "--env LD_PRELOAD=./x.so --shell 'touch made > out.txt; echo said by the agent'";
    let (shown, code) = at_terminal(&world, b"y", command);
    assert_eq!(code, Some(0), "{shown}");
    for line in [
        "shell    touch made > out.txt; echo said by the agent",
        "length   1 line, 44 bytes",
        "with     LD_PRELOAD=./x.so",
        "writes   made",
        "writes   out.txt",
        "[rule]",
        "sha256",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let events = world.run(&["audit", "query", "--json"]).stdout;
    let events: Vec<Json> = events.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let find = |name: &str| events.iter().find(|it| it["event"] == name).unwrap();
    let hash = find("decision")["call"]["hash"].as_str().unwrap();
    assert!(shown.contains(hash), "what was shown is what was decided: {shown}");
    assert_eq!(find("confirmation")["call"], hash);
    // Agreement to one thing is none to another.
    let (shown, code) = at_terminal(&world, b"n", "-- touch made2");
    assert_eq!((code, made(&world, "made2")), (Some(126), false), "{shown}");
}

#[test]
fn e027_nothing_in_a_question_acts_on_the_terminal() {
    let world = World::new().user_policy(ASKS);
    let name = "a\\033[2K\\033]52;c;eA==\\007\\342\\200\\256\\342\\200\\213b";
    // In a command they are denied, and nobody is asked.
    let (shown, code) = at_terminal(&world, b"y", &format!("-- touch \"$(printf '{name}')\""));
    assert_eq!((code, shown.contains("May this run?")), (Some(126), false), "{shown}");
    assert!(!shown.contains(['\u{7}', '\u{202e}', '\u{200b}']), "{shown:?}");
    // Elsewhere they are spelled out.
    let command = format!("--env \"X=$(printf '{name}')\" -- touch made");
    let (shown, code) = at_terminal(&world, b"y", &command);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}']), "{shown:?}");
    assert!(
        shown.contains("X=\"a\\u{1b}[2K\\u{1b}]52;c;eA==\\u{7}\\u{202e}\\u{200b}b\""),
        "{shown}"
    );
    // What nobody can read is not asked, and not run.
    let long = format!("-- touch {}", "x ".repeat(5000));
    let (shown, code) = at_terminal(&world, b"y", &long);
    assert_eq!((code, shown.contains("May this run?")), (Some(126), false));
}

#[test]
fn e030_always_saves_the_narrowest_rule_and_shows_it_first() {
    as_both(|world| {
        let world = world.user_policy(ASKS);
        let before = fs::read_to_string(user_policy(&world)).unwrap();
        let command = "-- touch made.x";
        let (shown, code) = at_terminal(&world, b"a\0n", command);
        assert_eq!((code, made(&world, "made.x")), (Some(126), false), "{shown}");
        assert_eq!(
            fs::read_to_string(user_policy(&world)).unwrap(),
            before,
            "shown, and not saved"
        );
        fs::remove_file(world.home.path(".local/state/palisade/audit/questions")).unwrap();
        let (shown, code) = at_terminal(&world, b"a\0y", command);
        assert_eq!(code, Some(0), "{shown}");
        let rule =
            r"- { tool: run_shell_command, args: { command: '^touch made\.x$' }, action: allow }";
        // Rows are broken by us.
        let whole = shown.replace("\r\n         > ", "");
        assert!(whole.contains(rule) && whole.contains(".config/palisade/policy.yaml"), "{shown}");
        let after = fs::read_to_string(user_policy(&world)).unwrap();
        assert_eq!(after, before.replace("rules:\n", &format!("rules:\n    {rule}\n")));
        assert!(!world.project.path(".palisade").exists(), "never the project's");
        // From now on it is allowed, and nothing else is.
        let check = |argv: &[&str]| world.run(&[&["check", "--"], argv].concat()).code;
        assert_eq!(check(&["touch", "made.x"]), Some(0));
        for other in
            [&["touch", "madeax"][..], &["touch", "made.x", "b"], &["touch", "x", "made.x"]]
        {
            assert_eq!(check(other), Some(3), "{other:?}");
        }
        assert_eq!(world.run(&["check", "--shell", "touch made.x; touch b"]).code, Some(3));
    });
}

/// A rule speaks of a text, and what a variable loads stands in none.
#[test]
fn e030_a_saved_rule_lets_no_variable_load_anything() {
    let world = World::new().user_policy(ASKS);
    let (shown, code) = at_terminal(&world, b"y", "--env X=1 -- touch made");
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("[a] always"), "{shown}");
    let (shown, code) = at_terminal(&world, b"a\0y", "-- touch made");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("every folder and every project"), "{shown}");
    let (shown, code) = at_terminal(&world, b"", "-- touch made");
    assert_eq!((code, shown.contains("May this run?")), (Some(0), false), "{shown}");
    for variable in ["LD_PRELOAD=./x.so", "GIT_SSH_COMMAND=./x", "PYTHONPATH=/tmp/x"] {
        fs::remove_file(world.home.path(".local/state/palisade/audit/questions")).ok();
        let (shown, code) = at_terminal(&world, b"n", &format!("--env {variable} -- touch made"));
        assert_eq!((code, shown.contains("May this run?")), (Some(126), true), "{shown}");
        assert!(shown.contains("makes other programs run or load something"), "{shown}");
    }
}

#[test]
fn e029_nothing_that_runs_can_switch_walls_or_questions_off() {
    let world = World::new().user_policy(ASKS);
    // An agent that is refused finds no word for it: not in options, variables or its own file.
    for arguments in [
        &["run", "--no-sandbox", "--", "touch", "made"][..],
        &["run", "--yes", "--", "touch", "made"],
        &["run", "--env", "PALISADE_CONFIRM=off", "--", "touch", "made"],
    ] {
        assert_ne!(world.run(arguments).code, Some(0), "{arguments:?}");
        assert!(!made(&world, "made"), "{arguments:?}");
    }
    // Nor does a project that brings somebody who says yes.
    world.write("says-yes", format!("#!/bin/sh\n{}\n", echo("yes")));
    let own = world.project.path("says-yes");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let policy = format!("confirm: {{ backend: 'program:{}' }}\n", own.display());
    world.write(".palisade/policy.yaml", policy);
    let ran = world.run(&["run", "--", "touch", "made"]);
    assert_eq!((ran.code, made(&world, "made")), (Some(126), false), "{}", ran.stderr);
    // A sandbox that cannot be made is a failure, and not a run without one.
    let told = world.json(&["run", "--json", "--root", "/proc/no", "--", "/bin/true"]);
    assert_eq!(told["executed"], false, "{told}");
}

#[test]
fn e028_the_same_question_is_put_once_and_a_flood_is_answered_with_no() {
    let world = World::new().user_policy(ASKS);
    let (shown, _) = at_terminal(&world, b"n", "-- touch made");
    assert!(shown.contains("May this run?"), "{shown}");
    let (shown, code) = at_terminal(&world, b"y", "-- touch made");
    assert!(!shown.contains("May this run?"), "the same again: {shown}");
    assert_eq!((code, said(&world)), (Some(126), ("no".into(), "memory".into())));
    // Ten questions were put just now.
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let spent = format!("{{\"owed\":60000,\"at\":{now},\"refused\":{{}}}}");
    fs::write(world.home.path(".local/state/palisade/audit/questions"), spent).unwrap();
    let (shown, code) = at_terminal(&world, b"y", "-- touch more");
    assert_eq!((code, said(&world)), (Some(126), ("flood".into(), "memory".into())), "{shown}");
    assert!(shown.contains("too many questions") && !made(&world, "more"), "{shown}");
}

#[test]
fn two_questions_at_one_terminal_take_turns() {
    let world = World::new().user_policy(ASKS);
    let program = world.command(PALISADE).get_program().to_str().unwrap().to_owned();
    let both = format!("sh -c '{program} run -- touch one & {program} run -- touch two; wait'");
    let mut script = world.command("script");
    script.args(["-qec", &both, "/dev/null"]).env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut seen, mut piece) = (Vec::new(), 0, [0; 4096]);
    while let Ok(length @ 1..) = stdout.read(&mut piece) {
        shown.extend(&piece[..length]);
        let asked = String::from_utf8_lossy(&shown).matches("[n] no: ").count();
        if asked > seen {
            assert_eq!(asked, seen + 1, "both at once: {}", String::from_utf8_lossy(&shown));
            seen = asked;
            std::thread::sleep(std::time::Duration::from_millis(300));
            stdin.write_all(b"n").unwrap();
        }
    }
    child.wait().unwrap();
    assert_eq!(seen, 2, "{}", String::from_utf8_lossy(&shown));
    assert!(!made(&world, "one") && !made(&world, "two"));
}

fn with_program(script: &str) -> (World, Ran) {
    let world = World::new();
    let program = world.home.path("ask");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let backend = format!("confirm: {{ timeout: 2s, backend: 'program:{}' }}\n", program.display());
    let world = world.user_policy(&ASKS.replace("confirm: { timeout: 3s }\n", &backend));
    let mut command = world.command(PALISADE);
    command.args(["run", "--", "touch", "made"]).env("PATH", "/usr/bin:/bin");
    let ran = world.finish(&mut command);
    (world, ran)
}

/// Returns shell text that gives this answer to any question.
fn echo(answer: &str) -> String {
    format!(
        "sed -n 's/.*\"hash\":\"\\([0-9a-f]*\\)\".*/{{\"hash\":\"\\1\",\"answer\":\"{answer}\"}}/p'"
    )
}

#[test]
fn a_program_is_asked_and_only_a_clear_yes_to_this_question_is_one() {
    let cases = [
        (echo("yes"), true, "yes"),
        (echo("run"), true, "run"),
        (echo("no"), false, "no"),
        (echo("always"), false, "nobody"),
        (echo("yes") + "; exit 1", false, "nobody"),
        ("echo '{\"answer\":\"yes\"}'".into(), false, "nobody"),
        ("echo '{\"hash\":\"00\",\"answer\":\"yes\"}'".into(), false, "nobody"),
        ("echo yes".into(), false, "nobody"),
        ("sleep 60".into(), false, "timeout"),
    ];
    for (script, runs, recorded) in cases {
        let (world, ran) = with_program(&script);
        assert_eq!(ran.code, Some(if runs { 0 } else { 126 }), "{script}: {}", ran.stderr);
        assert_eq!(made(&world, "made"), runs, "{script}");
        assert_eq!(said(&world), (recorded.into(), "program".into()), "{script}");
    }
}

/// Answers one question as `answer` says, which gets the question and signs.
fn service(
    key: &'static str,
    answer: impl Fn(&Json) -> Json + Send + 'static,
) -> (String, JoinHandle<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ask", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut bytes, mut piece) = (Vec::new(), [0; 8192]);
        let (head, body) = loop {
            let read = stream.read(&mut piece).unwrap();
            bytes.extend(&piece[..read]);
            let text = String::from_utf8(bytes.clone()).unwrap();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.split("Content-Length: ").nth(1).unwrap().lines().next().unwrap();
            if body.len() == length.parse::<usize>().unwrap() {
                break (head.to_owned(), body.to_owned());
            }
        };
        let key = Key::new([u8::from_str_radix(key, 16).unwrap(); 32]);
        let signed =
            head.contains(&format!("sha256={}", key.sign(&format!("palisade question 1\n{body}"))));
        let text = answer(&serde_json::from_str(&body).unwrap()).to_string();
        let mac = key.sign(&format!("palisade answer 1\n{text}"));
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nX-Palisade-Signature: sha256={mac}\r\nContent-Length: {length}\r\n\r\n{text}"
        )
        .unwrap();
        signed
    });
    (url, thread)
}

#[test]
fn a_service_is_asked_and_only_a_signed_answer_to_this_question_is_one() {
    type Says = fn(&Json) -> Json;
    let right: Says = |it| json!({ "id": it["id"], "hash": it["hash"], "answer": "yes" });
    let cases: [(&str, Says, bool, &str); 5] = [
        ("07", right, true, "yes"),
        ("07", |it| json!({ "id": it["id"], "hash": it["hash"], "answer": "no" }), false, "no"),
        ("07", |it| json!({ "id": "old", "hash": it["hash"], "answer": "yes" }), false, "nobody"),
        ("07", |it| json!({ "id": it["id"], "hash": "00", "answer": "yes" }), false, "nobody"),
        ("08", right, false, "nobody"),
    ];
    for (number, (key, says, runs, recorded)) in cases.into_iter().enumerate() {
        let (url, thread) = service(key, says);
        let backend = format!("confirm: {{ timeout: 5s, backend: 'webhook:{url}' }}\n");
        let world = World::new().user_policy(&ASKS.replace("confirm: { timeout: 3s }\n", &backend));
        let own = world.home.path(".local/state/palisade/audit/webhook-key");
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(own, "07".repeat(32)).unwrap();
        let ran = world.run(&["run", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(if runs { 0 } else { 126 }), "{number}: {}", ran.stderr);
        assert_eq!(made(&world, "made"), runs, "{number}");
        assert_eq!(said(&world), (recorded.into(), "webhook".into()), "{number}");
        assert_eq!(thread.join().unwrap(), key == "07", "the question is signed");
    }
}

#[test]
fn a_service_that_hangs_or_is_not_there_means_no() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hangs = format!("http://{}/", listener.local_addr().unwrap());
    for (url, key, recorded) in [
        (hangs.as_str(), true, "timeout"),
        (hangs.as_str(), false, "nobody"),
        ("http://127.0.0.1:1/", true, "nobody"),
        ("https://127.0.0.1:1/", true, "nobody"),
    ] {
        let backend = format!("confirm: {{ timeout: 1s, backend: 'webhook:{url}' }}\n");
        let world = World::new().user_policy(&ASKS.replace("confirm: { timeout: 3s }\n", &backend));
        if key {
            let own = world.home.path(".local/state/palisade/audit/webhook-key");
            fs::create_dir_all(own.parent().unwrap()).unwrap();
            fs::write(own, "07".repeat(32)).unwrap();
        }
        let ran = world.run(&["run", "--", "touch", "made"]);
        assert_eq!((ran.code, made(&world, "made")), (Some(126), false), "{url}: {}", ran.stderr);
        assert_eq!(said(&world), (recorded.into(), "webhook".into()), "{url}");
    }
}

#[test]
fn a_terminal_that_is_closed_means_no() {
    let world = World::new().user_policy(ASKS);
    let (shown, code) = at_terminal_asked(&world, "[n] no: ", b"\x04", "-- touch made");
    assert_eq!((code, made(&world, "made")), (Some(126), false), "{shown}");
}

#[test]
fn e075_what_answers_questions_and_what_signs_records_is_out_of_reach_inside() {
    as_both(|world| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let service = format!("confirm: {{ backend: 'webhook:http://127.0.0.1:{port}/' }}\n");
        // Everything around it is open to the command.
        let open = "audit: { path: ~/log/events.jsonl }\nfiles: { write: ['~/.local/state'] }\n";
        let world = world.user_policy(&format!("{open}{service}"));
        let state = world.home.path(".local/state/palisade");
        fs::create_dir_all(state.join("audit")).unwrap();
        fs::write(state.join("audit/webhook-key"), "07".repeat(32)).unwrap();
        fs::write(state.join("audit/questions"), "{}").unwrap();
        fs::write(state.with_file_name("beside"), "seen").unwrap();
        let script = format!(
            "import os, socket\n\
             for name in ['../beside', 'audit/webhook-key', 'audit/questions', 'audit/key']:\n\
             \x20   try: print(open('{0}/' + name).read())\n\
             \x20   except OSError as error: print(name, error.errno)\n\
             try: socket.create_connection(('127.0.0.1', {port}), 2); print('reached')\n\
             except OSError as error: print('connect', error.errno)\n",
            state.display()
        );
        world.write("try.py", &script);
        let ran = world.run(&["run", "--", "/usr/bin/python3", "try.py"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let expected =
            "seen\naudit/webhook-key 13\naudit/questions 13\naudit/key 13\nconnect 111\n";
        assert_eq!(ran.stdout, expected, "{}", ran.stderr);
        assert!(state.join("audit/key").exists(), "it is there outside");
    });
}
