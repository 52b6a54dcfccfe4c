//! Running commands through the library, as root and as an ordinary user.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use palisade::{
    Answered, CannotRun, Confirm, HostQuestion, Input, Job, Outcome, Output, Planned, Question,
    Request, Sandbox,
};
use palisade_testkit::{Home, Project, Turn, in_child, ordinary_user};

struct World {
    project: Project,
    home: Home,
}

impl World {
    fn new() -> Self {
        Self { project: Project::new().file("Cargo.toml", ""), home: Home::new() }
    }

    fn policy(text: &str) -> Self {
        let Self { project, home } = Self::new();
        Self { project, home: home.file(".config/palisade/policy.yaml", text) }
    }

    fn request(&self) -> Request {
        let mut env = self.home.env().clone();
        env.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        Request::new(self.project.root(), env)
    }

    fn sandbox(&self) -> Sandbox {
        Sandbox::new(&self.request()).unwrap()
    }
}

/// Runs a body as whoever runs the tests and, if that is root, as an ordinary user too.
fn as_both(name: &str, body: impl Fn()) {
    body();
    if rustix::process::geteuid().is_root() {
        let _done = ordinary_user(name);
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Answers every question the same way, and counts them.
struct Says(Answered, Arc<AtomicUsize>);

impl Confirm for Says {
    fn name(&self) -> &'static str {
        "test"
    }

    fn ask(&self, question: &Question<'_>) -> Answered {
        assert!(question.text().unwrap().contains("because"));
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0
    }

    fn ask_host(&self, question: &HostQuestion<'_>) -> Answered {
        assert!(question.text().contains("because  ask: 127.0.0.1:"));
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0
    }
}

#[test]
fn a_person_is_asked_about_a_host_while_the_command_waits() {
    as_both("a_person_is_asked_about_a_host_while_the_command_waits", || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                stream.write_all(b"here").ok();
            }
        });
        let world = World::policy(&format!(
            "network: {{ mode: allow-list, ask: ['127.0.0.1:{port}'] }}\n\
             audit: {{ path: ~/log/events.jsonl }}\n"
        ));
        // Twice: what was said holds.
        let script = format!(
            "import socket\nfor _ in '12':\n  s = socket.create_connection(('127.0.0.1', 1023), 20)\n  \
             s.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n'); t = b''\n  \
             while True:\n    m = s.recv(999)\n    if not m: break\n    t += m\n  \
             print(t.split()[1], t.split()[-1])\n"
        );
        for answer in [Answered::Yes, Answered::Timeout] {
            let count = Arc::new(AtomicUsize::new(0));
            let sandbox = world.sandbox().confirmer(Says(answer, Arc::clone(&count)));
            fs::write(world.project.path("try.py"), &script).unwrap();
            let outcome = sandbox.run(["/usr/bin/python3", "try.py"]).unwrap();
            let (text, told) = (outcome.stdout_text(), outcome.json());
            assert_eq!(count.load(Ordering::SeqCst), 1, "{told:#}");
            if answer == Answered::Yes {
                assert_eq!(text, "b'200' b'here'\n".repeat(2), "{told:#}");
            } else {
                assert_eq!(text.matches("b'403'").count(), 2, "{told:#}");
            }
            let connections = told["network"]["connections"].as_array().unwrap();
            let code = (answer != Answered::Yes).then_some("ask-refused");
            assert_eq!(connections.len(), 2, "{told:#}");
            assert!(connections.iter().all(|it| it["code"].as_str() == code), "{told:#}");
        }
        let log = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
        let of = |word: &str| log.matches(&format!("\"event\":\"{word}\"")).count();
        assert_eq!((of("host-confirmation"), of("connection"), of("run")), (2, 4, 2), "{log}");
        assert!(
            log.contains("\"answer\":\"timeout\",\"by\":\"test\",\"host\":\"127.0.0.1\""),
            "{log}"
        );
    });
}

#[test]
fn a_command_runs_and_its_outcome_is_a_value() {
    as_both("a_command_runs_and_its_outcome_is_a_value", || {
        let world = World::new();
        let sandbox = world.sandbox();
        let outcome = sandbox.run(["echo", "hello"]).unwrap();
        assert!(outcome.ok() && outcome.executed() && !outcome.denied());
        assert_eq!(outcome.stdout(), b"hello\n");
        let denied = sandbox.run(["rm", "-rf", "/etc"]).unwrap();
        assert!(denied.denied() && !denied.executed());
        assert_eq!((denied.exit_code(), denied.exit_status()), (Outcome::DENIED, 126));
        assert_eq!(denied.code(), Some("outside-root"));
    });
}

#[test]
fn input_and_output_go_where_they_are_told() {
    as_both("input_and_output_go_where_they_are_told", || {
        let world = World::new();
        let sandbox = world.sandbox();
        let seen = Arc::new(Mutex::new(Vec::<u8>::new()));
        let theirs = Arc::clone(&seen);
        let (stderr, mut reader) = Output::piped().unwrap();
        let job = Job::shell("cat; echo errors >&2")
            .stdin(Input::Bytes(b"input".to_vec()))
            .stdout(Output::Each(Box::new(move |piece| theirs.lock().unwrap().extend(piece))))
            .stderr(stderr);
        let outcome = sandbox.run(job).unwrap();
        assert_eq!(seen.lock().unwrap().as_slice(), b"input");
        let mut errors = String::new();
        reader.read_to_string(&mut errors).unwrap();
        assert_eq!(errors, "errors\n");
        assert_eq!(outcome.stdout(), b"", "what is streamed is not captured");
    });
}

#[test]
fn a_run_is_a_future_that_can_be_cancelled() {
    as_both("a_run_is_a_future_that_can_be_cancelled", || {
        let world = World::new();
        let sandbox = world.sandbox();
        let ended = block_on(sandbox.spawn(Job::shell("echo out; exit 4"))).unwrap();
        assert_eq!((ended.exit_code(), ended.stdout()), (4, &b"out\n"[..]));
        let begun = Instant::now();
        let endless = sandbox.spawn(["sleep", "1000"]);
        thread::sleep(Duration::from_millis(50));
        endless.cancel();
        let ended = block_on(endless).unwrap();
        assert_eq!((ended.code(), ended.signal()), (Some("stopped"), Some(9)));
        let dropped = sandbox.spawn(Job::shell("sleep 1; touch made"));
        drop(dropped);
        thread::sleep(Duration::from_millis(1500));
        assert!(!world.project.path("made").exists(), "who drops it ends it");
        assert!(begun.elapsed() < Duration::from_secs(60));
        let denied = block_on(sandbox.spawn(["rm", "-rf", "/etc"])).unwrap();
        assert!(denied.denied());
    });
}

#[test]
fn a_run_is_stopped_from_another_thread() {
    as_both("a_run_is_stopped_from_another_thread", || {
        let world = World::new();
        let run = world.sandbox().start(Job::shell("setsid sleep 1000 & sleep 1000")).unwrap();
        let stop = run.stop().unwrap();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            stop.now();
        });
        assert_eq!(run.wait().unwrap().code(), Some("stopped"));
        let refused = world.sandbox().start(["rm", "-rf", "/etc"]).unwrap();
        assert!(refused.stop().is_none() && refused.signal(15).is_err());
    });
}

#[test]
fn a042_who_is_asked_decides_and_nothing_else_lets_it_run() {
    as_both("a042_who_is_asked_decides_and_nothing_else_lets_it_run", || {
        let rule = "commands: { rules: [{ tool: run_shell_command, args: { command: '^touch' }, \
                    action: ask }] }\n";
        for (answer, runs) in [
            (Answered::Yes, true),
            (Answered::No, false),
            (Answered::Timeout, false),
            (Answered::Nobody, false),
        ] {
            let world = World::policy(rule);
            let asked = Arc::new(AtomicUsize::new(0));
            let sandbox = world.sandbox().confirmer(Says(answer, Arc::clone(&asked)));
            let outcome = sandbox.run(["touch", "made"]).unwrap();
            assert_eq!(outcome.denied(), !runs, "{answer:?}");
            assert_eq!(world.project.path("made").exists(), runs, "{answer:?}");
            assert_eq!(asked.load(Ordering::SeqCst), 1);
            if !runs {
                assert_eq!((outcome.code(), outcome.exit_code()), (Some("unconfirmed"), -100));
            }
            assert!(sandbox.run(["rm", "-rf", "/etc"]).unwrap().denied(), "no yes lifts a denial");
            assert!(sandbox.run(["true"]).unwrap().ok());
            assert_eq!(asked.load(Ordering::SeqCst), 1, "only what asks is asked");
        }
        // Nobody is asked where nobody was named, or the policy says so.
        let world = World::policy(rule);
        assert_eq!(world.sandbox().run(["touch", "made"]).unwrap().code(), Some("unconfirmed"));
        let world = World::policy(&format!("{rule}confirm: {{ backend: deny }}\n"));
        let asked = Arc::new(AtomicUsize::new(0));
        let sandbox = world.sandbox().confirmer(Says(Answered::Yes, Arc::clone(&asked)));
        assert!(sandbox.run(["touch", "made"]).unwrap().denied());
        assert_eq!(asked.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn many_run_at_once_in_one_sandbox() {
    as_both("many_run_at_once_in_one_sandbox", || {
        let world = World::new();
        let sandbox = world.sandbox();
        thread::scope(|scope| {
            for number in 0..8 {
                let sandbox = sandbox.clone();
                scope.spawn(move || {
                    for _ in 0..4 {
                        let outcome = sandbox.run(["echo", &number.to_string()]).unwrap();
                        assert_eq!(outcome.stdout_text(), format!("{number}\n"));
                    }
                });
            }
        });
    });
}

#[test]
fn what_is_run_again_is_confined_by_what_the_disk_is_like_by_then() {
    as_both("what_is_run_again_is_confined_by_what_the_disk_is_like_by_then", || {
        let world = World { home: Home::new().file("plain", "x"), ..World::new() };
        let (sandbox, home) = (world.sandbox(), world.home.root());
        let seen = || {
            let outcome = sandbox.run(Job::from(["ls", "-A", home.to_str().unwrap()])).unwrap();
            let names: Vec<String> = outcome.stdout_text().lines().map(str::to_owned).collect();
            assert!(names.contains(&"plain".into()), "{names:?}");
            names
        };
        let hidden = ".netrc".to_owned();
        assert!(!seen().contains(&hidden));
        // The host makes it between two runs of the same, takes it away, and makes it again.
        for _ in 0..2 {
            fs::write(home.join(&hidden), "machine example.com password secret").unwrap();
            assert!(!seen().contains(&hidden));
            fs::remove_file(home.join(&hidden)).unwrap();
            assert!(!seen().contains(&hidden));
        }
        fs::write(home.join("other"), "x").unwrap();
        assert!(seen().contains(&"other".to_owned()));
    });
}

#[test]
fn what_cannot_run_is_an_error_and_leaves_nothing() {
    as_both("what_cannot_run_is_an_error_and_leaves_nothing", || {
        let world = World::new();
        let gone = world.sandbox().run(Job::from(["touch", "made"]).cwd("gone"));
        assert!(matches!(gone, Err(CannotRun::Folder { .. })));
    });
}

#[test]
fn a_profile_that_a_rule_picks_confines_the_call() {
    as_both("a_profile_that_a_rule_picks_confines_the_call", || {
        let world = World::policy(
            "commands: { rules: [{ tool: run_shell_command, args: { command: '^sh reads' }, \
             action: allow, profile: readonly }] }\n",
        );
        for name in ["reads.sh", "writes.sh"] {
            fs::write(world.project.path(name), format!("touch {name}.made")).unwrap();
        }
        assert!(world.sandbox().run(["sh", "writes.sh"]).unwrap().ok());
        assert!(!world.sandbox().run(["sh", "reads.sh"]).unwrap().ok());
        assert!(world.project.path("writes.sh.made").exists());
        assert!(!world.project.path("reads.sh.made").exists());
    });
}

#[test]
fn a_plan_is_made_and_nothing_runs() {
    let world = World::new();
    let Planned::Plan { plan, asks } = world.sandbox().plan(["touch", "made"]).unwrap() else {
        unreachable!("it is allowed")
    };
    assert!(asks.is_empty() && plan.to_string().contains("exec"));
    assert!(matches!(world.sandbox().plan(["rm", "-rf", "/etc"]).unwrap(), Planned::Denied(_)));
    assert!(!world.project.path("made").exists());
}

#[test]
fn a_process_that_lives_on_keeps_nothing_of_a_run() {
    const NAME: &str = "a_process_that_lives_on_keeps_nothing_of_a_run";
    // In a process of its own: what other tests start is none of its business.
    if in_child(NAME, r#"exec "$@""#) == Turn::Done {
        if rustix::process::geteuid().is_root() {
            let _done = ordinary_user(NAME);
        }
        return;
    }
    let children = || {
        let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
        let lists = threads.map(|it| fs::read_to_string(it.path().join("children")));
        lists.map(Result::unwrap_or_default).collect::<String>()
    };
    let (world, begun) = (World::new(), Instant::now());
    let sandbox = world.sandbox();
    assert_eq!(sandbox.run(["true"]).unwrap().exit_code(), 0);
    // Protected names were kept, so somebody watched over them: neither lives on, nor is left dead.
    while !children().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", children());
        thread::sleep(Duration::from_millis(5));
    }
    let names: Vec<_> = fs::read_dir(world.project.root()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    drop(sandbox);
}

#[test]
fn e037_a_job_that_chooses_its_folder_opens_nothing_by_that() {
    as_both("e037_a_job_that_chooses_its_folder_opens_nothing_by_that", || {
        let World { project, home } = World::new();
        let world = World { project: project.dir("sub").symlink("link", "/"), home };
        let outside = Project::new();
        let sandbox = world.sandbox();
        for folder in [outside.root().to_str().unwrap(), "/", "link", ".."] {
            let refused = match sandbox.run(Job::argv(["touch", "made"]).cwd(folder)) {
                Ok(outcome) => outcome.denied(),
                // To deciding, what lies in /tmp is the sandbox's own; it is no folder of the project.
                Err(error) => error.code() == "cwd-outside",
            };
            assert!(refused, "{folder}");
            assert!(!outside.path("made").exists());
        }
        let outcome = sandbox.run(Job::argv(["touch", "made"]).cwd("sub")).unwrap();
        assert!(outcome.ok(), "{}", outcome.stderr_text());
        assert!(world.project.path("sub/made").exists());
    });
}
