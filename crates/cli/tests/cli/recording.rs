//! What is remembered of a call, and who is asked.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use serde_json::Value as Json;

use crate::kit::{PALISADE, World, as_both};
use crate::schema::assert_fits;

const ASKS: &str = "\
audit: { path: ~/log/events.jsonl }
commands:
  rules:
    - { tool: run_shell_command, args: { command: '^git push' }, action: ask }
";

fn events(world: &World) -> Vec<Json> {
    let text = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
    let events: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.iter().for_each(|event| assert_fits(event, "event.json"));
    // What the record says of itself and of policies is for other tests.
    events.into_iter().filter(|event| event["run"] != "").collect()
}

fn words(events: &[Json]) -> Vec<String> {
    let told = |event: &Json| {
        let name = event["event"].as_str().unwrap();
        let what = ["verdict", "answer", "exit_code"].iter().find_map(|it| event.get(it)).unwrap();
        format!("{name} {}", what.to_string().trim_matches('"'))
    };
    events.iter().map(told).collect()
}

#[test]
fn a042_it_is_decided_then_confirmed_then_confined_and_recorded_in_this_order() {
    as_both(|world| {
        let world = world.user_policy(ASKS);
        assert_eq!(world.run(&["run", "--", "true"]).code, Some(0));
        assert_eq!(words(&events(&world)), ["decision allow", "run 0"]);
        assert_eq!(world.run(&["run", "--", "rm", "-rf", "/etc"]).code, Some(126));
        assert_eq!(words(&events(&world)[2..]), ["decision deny", "run -100"]);
        let ran = world.run(&["run", "--shell", "git push; touch made"]);
        assert_eq!(ran.code, Some(126), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[unconfirmed]"), "{}", ran.stderr);
        assert!(!world.project.path("made").exists());
        let asked = &events(&world)[4..];
        assert_eq!(words(asked), ["decision ask", "confirmation nobody", "run -100"]);
        assert_eq!(asked[0]["run"], asked[2]["run"], "events of one call belong together");
        assert_eq!(
            asked[0]["call"]["hash"], asked[1]["call"],
            "what was asked is what was decided"
        );
        assert_ne!(asked[0]["run"], events(&world)[0]["run"]);
    });
}

#[test]
fn secrets_in_words_of_a_command_are_not_recorded_and_what_it_reaches_is() {
    let world = World::new().user_policy("audit: { path: ~/log/events.jsonl }\n");
    let shapes: [(&[&str], &[&str]); 4] = [
        (&["-u", "me:s3cret"], &["-u", "me:[redacted]"]),
        (&["--header", "Authorization: s3cret"], &["--header", "Authorization: [redacted]"]),
        (&["-H", "X-Api-Key: s3cret"], &["-H", "X-Api-Key: [redacted]"]),
        (&["https://me:s3cret@example.com/a"], &["https://me:[redacted]@example.com/a"]),
    ];
    for (given, told) in shapes {
        let words = [&["curl"], given, &["https://example.com/x"]].concat();
        world.run(&[&["run", "--"], &*words].concat());
        let shell = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        world.run(&["run", "--shell", &shell]);
        let found = events(&world);
        let calls: Vec<&Json> = found.iter().filter(|it| it["event"] == "decision").collect();
        let [.., argv, shell] = &*calls else { panic!("{found:?}") };
        let expected = [&["curl"], told, &["https://example.com/x"]].concat();
        assert_eq!(argv["call"]["argv"], serde_json::json!(expected));
        let shell = shell["call"]["shell"].as_str().unwrap();
        assert!(told.iter().all(|word| shell.contains(word)), "{shell}");
    }
    let log = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
    assert!(!log.contains("s3cret"), "{log}");
}

#[test]
fn a_log_that_cannot_be_written_is_told_once_and_stops_nothing() {
    as_both(|world| {
        let world = world.user_policy("audit: { path: /proc/no/such/log }\n");
        let ran = world.run(&["run", "--", "echo", "hello"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hello\n"), "{}", ran.stderr);
        let warned = ran.stderr.matches("warning: cannot record what happens").count();
        assert_eq!(warned, 1, "{}", ran.stderr);
        let told = world.json(&["run", "--json", "--", "true"]);
        assert_eq!(told["notes"][0]["code"], "audit", "{told}");
    });
}

#[test]
fn the_log_cannot_be_changed_by_what_it_tells_of() {
    as_both(|world| {
        world.write("log/events.jsonl", "");
        world.write(
            "change.sh",
            "for it in events.jsonl events.jsonl.head; do\n\
             echo x >> log/$it; rm -f log/$it; mv log/$it log/other; done; exit 0\n",
        );
        let world = world.user_policy("audit: { path: log/events.jsonl }\n");
        let ran = world.run(&["run", "--", "sh", "change.sh"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let log = fs::read_to_string(world.project.path("log/events.jsonl")).unwrap();
        assert_eq!(log.lines().count(), 4, "{log}");
        assert!(!log.contains("x\n"), "{log}");
        let verified = world.run(&["audit", "verify"]);
        assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
    });
}

/// Runs `palisade run` at a terminal, types `answer` once it asks, and returns what was shown and
/// the exit code.
pub(crate) fn at_terminal(world: &World, answer: &[u8], command: &str) -> (String, Option<i32>) {
    at_terminal_asked(world, "[n] no: ", answer, command)
}

/// The same, for another question.
pub(crate) fn at_terminal_asked(
    world: &World,
    question: &str,
    answer: &[u8],
    command: &str,
) -> (String, Option<i32>) {
    let program = world.command(PALISADE).get_program().to_str().unwrap().to_owned();
    let mut script = world.command("script");
    // What is typed before the question is no answer, so that it is waited for.
    script.args(["-qec", &format!("{program} run {command}"), "/dev/null"]);
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = script.env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh").spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut shown, mut answered) = (Vec::new(), false);
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = stdout.read(&mut piece) {
        shown.extend(&piece[..length]);
        if !answered && String::from_utf8_lossy(&shown).contains(question) {
            // What comes before the question was looked at is thrown away.
            std::thread::sleep(std::time::Duration::from_millis(150));
            for key in answer.split_inclusive(|key| *key == 0) {
                stdin.write_all(key.strip_suffix(&[0]).unwrap_or(key)).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(300));
            }
            answered = true;
        }
    }
    drop(stdin);
    (String::from_utf8_lossy(&shown).into_owned(), child.wait().unwrap().code())
}

#[test]
fn a_person_at_the_terminal_lets_a_host_be_reached_by_its_name() {
    as_both(|world| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                stream.write_all(b"here").ok();
            }
        });
        let world = world.user_policy(&format!(
            "network: {{ mode: allow-list, ask: ['127.0.0.1:{port}'] }}\n\
             audit: {{ path: ~/log/events.jsonl }}\nconfirm: {{ timeout: 2s }}\n"
        ));
        let script = format!(
            "import socket\ns = socket.create_connection(('127.0.0.1', 1023), 20)\n\
             s.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n')\nprint('got', s.recv(12)[9:12])\n"
        );
        world.write("try.py", &script);
        // Words that somebody may type for the program are no answer.
        let cases = [
            (&b"127.0.0.1\n"[..], "got b'200'", "yes"),
            (b"y\n", "got b'403'", "no"),
            (b"yes\n", "got b'403'", "no"),
            (b"", "got b'403'", "timeout"),
        ];
        for (answer, got, recorded) in cases {
            fs::remove_file(world.home.path(".local/state/palisade/audit/questions")).ok();
            let question = "Type the host's name to let it: ";
            let command = "-- /usr/bin/python3 try.py </dev/null";
            let (shown, code) = at_terminal_asked(&world, question, answer, command);
            assert_eq!(code, Some(0), "{shown}");
            assert!(shown.contains(&format!("host     127.0.0.1:{port}")), "{shown}");
            assert!(shown.contains(got), "{shown}");
            let all = events(&world);
            let asked: Vec<_> =
                all.iter().filter(|it| it["event"] == "host-confirmation").collect();
            assert_eq!(asked.last().unwrap()["answer"], recorded, "{all:?}");
        }
        fs::remove_file(world.home.path(".local/state/palisade/audit/questions")).unwrap();
        // Who types at a command that reads the terminal types for that command.
        let (shown, code) = at_terminal(&world, b"", "-- /usr/bin/python3 try.py");
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("got b'403'") && !shown.contains("Type the host's"), "{shown}");
        let all = events(&world);
        let asked = all.iter().rfind(|it| it["event"] == "host-confirmation").unwrap();
        assert_eq!(asked["answer"], "nobody");
    });
}
