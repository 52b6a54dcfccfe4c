//! `palisade serve`: programs that ask, run and cancel.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use palisade_testkit::{Fact, Need, need};
use serde_json::{Value as Json, json};

use crate::kit::{NOBODY, PALISADE, World, as_both};
use crate::schema::assert_fits;

/// A server and its one client.
struct Talk {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    /// Notifications that came meanwhile.
    told: Vec<Json>,
}

impl Talk {
    fn new(world: &World, options: &[&str]) -> Self {
        let mut command = world.command(PALISADE);
        command.args(["serve", "--stdio"]).args(options);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        Self { server, to, from, next: 0, told: Vec::new() }
    }

    fn send(&mut self, method: &str, params: Json) -> Json {
        self.next += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.line(&message.to_string());
        self.next.into()
    }

    fn line(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Json {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    fn answer(&mut self) -> Json {
        loop {
            let heard = self.hear();
            if heard.get("method").is_none() {
                return heard;
            }
            self.told.push(heard["params"].clone());
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let id = self.send(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn result(&mut self, method: &str, params: Json) -> Json {
        let mut answer = self.ask(method, params);
        assert_eq!(answer.get("error"), None, "{answer}");
        answer["result"].take()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        drop(self.to.take());
        let ends = Instant::now() + Duration::from_secs(60);
        while self.server.try_wait().is_ok_and(|end| end.is_none()) && Instant::now() < ends {
            thread::sleep(Duration::from_millis(10));
        }
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

#[test]
fn a_harness_decides_and_runs() {
    as_both(|world| {
        let mut talk = Talk::new(&world, &[]);
        assert_eq!(talk.result("version", json!({}))["protocol"], 1);
        assert_eq!(talk.result("check", json!({ "argv": ["ls"] }))["verdict"], "allow");
        let denied = talk.result("check", json!({ "shell": "rm -rf /etc" }));
        assert_eq!((&denied["verdict"], &denied["executed"]), (&json!("deny"), &json!(false)));
        let tool =
            json!({ "tool": "write_file", "arguments": { "path": "/etc/x", "content": "" } });
        assert_eq!(talk.result("check", tool)["verdict"], "deny");
        let ran = talk.result("run", json!({ "argv": ["echo", "hi"] }));
        assert_eq!((&ran["exit_code"], &ran["stdout"]), (&json!(0), &json!("hi\n")));
        assert_fits(&ran, "outcome.json");
        let refused = talk.result("run", json!({ "shell": "rm -rf /etc" }));
        assert_eq!((&refused["exit_code"], &refused["denied"]), (&json!(-100), &json!(true)));
        assert_eq!(talk.result("policy", json!({}))["preset"], "confined");
        assert_eq!(talk.result("trust", json!({}))["state"], "nothing to trust");
    });
}

#[test]
fn output_comes_as_it_is_written_and_input_goes_in() {
    let world = World::new();
    let mut talk = Talk::new(&world, &[]);
    let run = talk.send("run", json!({ "argv": ["cat"], "stream": true, "stdin_pipe": true }));
    talk.send("stdin", json!({ "run": run, "text": "one" }));
    while talk.told.is_empty() {
        let heard = talk.hear();
        talk.told.extend(heard.get("params").cloned());
    }
    talk.send("stdin", json!({ "run": run, "base64": "/w==", "close": true }));
    let mut ended = talk.answer();
    while ended["id"] != run {
        ended = talk.answer();
    }
    assert_eq!(ended["result"]["exit_code"], 0, "{ended}");
    assert_eq!(talk.told[0], json!({ "run": run, "stream": "stdout", "text": "one" }));
    assert_eq!(talk.told[1], json!({ "run": run, "stream": "stdout", "base64": "/w==" }));
    assert_eq!(talk.ask("stdin", json!({ "run": run, "text": "x" }))["error"]["code"], -32602);
}

#[test]
fn what_is_wrong_is_answered_and_the_next_is_served() {
    let world = World::new();
    let mut talk = Talk::new(&world, &[]);
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"id":1,"method":"check"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"check","params":{}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"check","params":{"argv":["a"],"shell":"b"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{"argv":["ls"],"color":1}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{"argv":"ls"}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{"argv":["ls"],"timeout_seconds":-1}}"#,
            -32000,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{"argv":["ls"],"project":{"root":"/nowhere"}}}"#,
            -32000,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{"argv":["ls"],"project":{"rooot":"/"}}}"#,
            -32000,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"cancel","params":{}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{"argv":["rm","x"],"argv":["ls"]}}"#,
            -32600,
        ),
    ] {
        talk.line(line);
        assert_eq!(talk.answer()["error"]["code"], code, "{line}");
    }
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(33 << 20));
    talk.line(&long);
    assert_eq!(talk.answer()["error"]["code"], -32600);
    assert_eq!(talk.result("cancel", json!({ "run": 77 }))["cancelled"], false);
    assert_eq!(talk.result("run", json!({ "argv": ["true"] }))["exit_code"], 0);
}

#[test]
fn a_run_is_cancelled_and_what_a_client_started_ends_with_it() {
    let world = World::new();
    let mut talk = Talk::new(&world, &[]);
    let run = talk.send("run", json!({ "shell": "echo up; sleep 600", "stream": true }));
    while talk.told.is_empty() {
        let heard = talk.hear();
        talk.told.extend(heard.get("params").cloned());
    }
    talk.send("cancel", json!({ "run": run }));
    let answers: BTreeMap<String, Json> =
        (0..2).map(|_| talk.answer()).map(|it| (it["id"].to_string(), it)).collect();
    assert_eq!(answers[&run.to_string()]["result"]["signal"], 9, "{answers:?}");
    // A client that is gone leaves nothing behind.
    let mark = format!("600.{}", std::process::id());
    talk.send("run", json!({ "argv": ["sleep", mark] }));
    let runs = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines
            .filter(|line| {
                line.starts_with(b"sleep\0")
                    && line.windows(mark.len()).any(|it| it == mark.as_bytes())
            })
            .count()
    };
    until(|| runs() == 1);
    talk.server.kill().unwrap();
    until(|| runs() == 0);
}

#[test]
fn five_hundred_runs_at_once_lose_nothing() {
    let world = World::new();
    let mut talk = Talk::new(&world, &[]);
    let count = 500;
    for number in 0..count {
        talk.send("run", json!({ "argv": ["echo", number.to_string()], "brief": true }));
    }
    let mut seen = BTreeMap::new();
    for _ in 0..count {
        let answer = talk.answer();
        let number: usize = answer["result"]["stdout"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .trim()
            .parse()
            .unwrap();
        assert_eq!(answer["id"], number + 1, "{answer}");
        assert_eq!(answer["result"]["survivors"], "none");
        assert!(seen.insert(number, ()).is_none());
    }
    assert_eq!(seen.len(), count);
}

#[test]
fn a172_json_rpc_takes_the_five_names_of_the_runner_verbatim() {
    let world = World::new();
    let mut talk = Talk::new(&world, &[]);
    let config = json!({
        "project_root": world.project.root(), "max_output_bytes": 64, "timeout_seconds": 0.5,
        "denylist": ["cp"], "interpreter_block": ["perl"],
    });
    let mut run = |argv: &[&str]| {
        talk.result("run", json!({ "argv": argv, "project": { "config": config } }))
    };
    assert_eq!(run(&["cp", "a", "b"])["denied"], true);
    assert_eq!(run(&["perl", "-e", "1"])["denied"], true);
    let long = run(&["seq", "1000"]);
    assert_eq!((&long["truncated"], &long["denied"]), (&json!(true), &json!(false)));
    let slow = run(&["sleep", "20"]);
    assert_eq!((&slow["timed_out"], &slow["exit_code"]), (&json!(true), &json!(-101)));
    assert_eq!(run(&["echo", "x"])["root"], json!(world.project.root()));
    let wrong = json!({ "argv": ["ls"], "project": { "config": { "deny_list": [] } } });
    assert!(talk.ask("run", wrong)["error"].is_object());
}

#[test]
fn a194_json_rpc_offers_the_switches_of_the_host() {
    let sandbox = r#"{"enabled": true, "default_profile": "workspace-write-no-network"}"#;
    let home = palisade_testkit::Home::new().file(".agentao/sandbox.json", sandbox);
    let world = World { home, ..World::new() };
    let mut talk = Talk::new(&world, &[]);
    let health = |talk: &mut Talk, name: &str| {
        talk.result("profile_health_error", json!({ "profile": name }))["error"].clone()
    };
    assert_eq!(health(&mut talk, "readonly"), Json::Null);
    assert!(health(&mut talk, "no-such-profile").is_string());
    assert_eq!(talk.result("set_enabled", json!({ "enabled": true }))["state"], "enabled");
    let write = json!({ "shell": "echo x > written" });
    assert_eq!(talk.result("run", write.clone())["exit_code"], 0);
    talk.result("set_default_profile", json!({ "profile": "readonly" }));
    let held = talk.result("run", write.clone());
    assert_ne!(held["exit_code"], 0, "{held}");
    let unknown = talk.ask("set_default_profile", json!({ "profile": "no-such-profile" }));
    assert!(unknown["error"].is_object(), "{unknown}");
    assert_eq!(talk.result("set_enabled", json!({ "enabled": false }))["state"], "disabled");
    let open = talk.result("run", json!({ "argv": ["true"] }));
    assert_eq!(open["level"], "none", "{open}");
    // Another client is not switched, and neither is a project that a request merely names.
    let mut other = Talk::new(&world, &[]);
    assert_eq!(other.result("run", json!({ "argv": ["true"] }))["level"], "full");
    // What a model calls has no such tool.
    let tool = json!({ "tool": "set_enabled", "arguments": { "enabled": false } });
    assert_eq!(other.result("check", tool)["verdict"], "deny");
}

#[test]
fn a_server_for_one_folder_serves_no_other() {
    let (world, other) = (World::new(), World::new());
    let root = world.project.root().to_str().unwrap();
    let mut talk = Talk::new(&world, &["--root", root]);
    assert_eq!(talk.result("run", json!({ "argv": ["true"] }))["exit_code"], 0);
    let elsewhere = json!({ "argv": ["true"], "project": { "root": other.project.root() } });
    assert_eq!(talk.ask("run", elsewhere)["error"]["data"]["code"], "root");
    let above = json!({ "argv": ["true"], "project": { "root": "/" } });
    assert!(talk.ask("run", above)["error"].is_object());
}

/// A server at a socket.
struct Listening(Child);

impl Listening {
    fn at(world: &World, path: &std::path::Path) -> Self {
        let mut command = world.command(PALISADE);
        let server = command.args(["serve", "--socket"]).arg(path).stderr(Stdio::null()).spawn();
        let server = server.unwrap();
        until(|| UnixStream::connect(path).is_ok());
        Self(server)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn version_at(path: &std::path::Path) -> Option<Json> {
    let mut stream = UnixStream::connect(path).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    writeln!(stream, r#"{{"jsonrpc":"2.0","id":1,"method":"version"}}"#).ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

#[test]
fn e074_a_socket_is_for_one_user_alone() {
    let world = World::new();
    let path = world.home.path("s");
    let server = Listening::at(&world, &path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(version_at(&path).is_some());
    let taken = world.run(&["serve", "--socket", path.to_str().unwrap()]);
    assert_eq!(taken.code, Some(125), "somebody listens there");
    assert!(version_at(&path).is_some());
    if need(Fact::Root) == Need::Run {
        // Even where somebody opened the way to it.
        for (path, mode) in [(world.home.root(), 0o755), (&*path, 0o777)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let code = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.settimeout(30)\n\
                    s.connect(sys.argv[1])\n\
                    try: s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"version\"}\\n')\n\
                    except OSError: pass\n\
                    try: print('heard', s.recv(99))\n\
                    except OSError as e: print('heard', b'')";
        let mut other = Command::new("/usr/bin/python3");
        other.args(["-c", code]).arg(&path).uid(NOBODY).gid(NOBODY);
        let heard = world.finish(&mut other);
        assert_eq!(heard.stdout, "heard b''\n", "{}", heard.stderr);
        assert!(version_at(&path).is_some(), "its own user is still served");
    }
    // What a server left behind does not keep the next one out; what is no socket does.
    drop(server);
    let again = Listening::at(&world, &path);
    assert!(version_at(&path).is_some());
    drop(again);
    let file = world.home.path("file");
    fs::write(&file, "mine").unwrap();
    assert_eq!(world.run(&["serve", "--socket", file.to_str().unwrap()]).code, Some(125));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn two_clients_do_not_end_each_others_runs() {
    let world = World::new();
    let path = world.home.path("s");
    let _server = Listening::at(&world, &path);
    let open = || {
        let stream = UnixStream::connect(&path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        (stream.try_clone().unwrap(), BufReader::new(stream))
    };
    let ((mut one, mut from_one), (mut other, mut from_other)) = (open(), open());
    let hear = |from: &mut BufReader<UnixStream>| {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        serde_json::from_str::<Json>(&line).unwrap_or_else(|_| panic!("{line:?}"))
    };
    let run = |what: &str| {
        let project = json!({ "root": world.project.root() });
        json!({ "jsonrpc": "2.0", "id": 7, "method": "run",
                "params": { "shell": what, "project": project } })
    };
    writeln!(one, "{}", run("touch up; sleep 2; echo whole")).unwrap();
    until(|| world.project.path("up").exists());
    for _ in 0..2 {
        writeln!(other, r#"{{"jsonrpc":"2.0","id":8,"method":"cancel","params":{{"run":7}}}}"#)
            .unwrap();
        assert_eq!(hear(&mut from_other)["result"]["cancelled"], false);
    }
    assert_eq!(hear(&mut from_one)["result"]["stdout"], "whole\n");
}

#[test]
fn the_clients_work_with_this_binary() {
    let clients = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients");
    let world = World::new();
    let mut python = Command::new("/usr/bin/python3");
    python.args(["-B", "-m", "unittest", "tests.test_client"]).current_dir(clients.join("python"));
    python.env("PYTHONPATH", "src").env("PALISADE", PALISADE).env("HOME", world.home.root());
    let ran = world.finish(&mut python);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    if need(Fact::Tools("node --version")) == Need::Run {
        let mut node = Command::new("/usr/bin/node");
        node.args(["--test", "test/"]).current_dir(clients.join("node"));
        node.env("PALISADE", PALISADE).env("HOME", world.home.root());
        let ran = world.finish(&mut node);
        assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    }
}

#[test]
fn the_schema_names_every_method() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/rpc.json");
    let schema: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let world = World::new();
    let mut talk = Talk::new(&world, &[]);
    let methods = schema["properties"]["method"]["enum"].as_array().unwrap();
    for method in methods {
        let answer = talk.ask(method.as_str().unwrap(), json!({}));
        assert_ne!(answer["error"]["code"], -32601, "{method}");
        assert!(schema["$defs"].get(method.as_str().unwrap()).is_some(), "{method}");
    }
}

fn until(holds: impl Fn() -> bool) {
    let ends = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < ends, "it does not come to hold");
        thread::sleep(Duration::from_millis(20));
    }
}

const CLIENT: &str = r#"
import pathlib, socket, time
pathlib.Path('up').touch()
answer = 'nobody is there'
for _ in range(600):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(30)
        s.connect('s')
    except OSError:
        time.sleep(0.05)
        continue
    try:
        s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"version"}\n')
        answer = s.recv(99)
    except OSError:
        answer = b''
    break
print('heard', answer)
"#;

#[test]
fn e074_a_command_in_a_sandbox_is_not_heard_at_a_socket_made_after_its_start() {
    as_both(|world| {
        world.write("client.py", CLIENT);
        let mut command = world.command(PALISADE);
        command.args(["run", "--", "/usr/bin/python3", "client.py"]).stdout(Stdio::piped());
        let running = command.spawn().unwrap();
        until(|| world.project.path("up").exists());
        let server = Listening::at(&world, &world.project.path("s"));
        let ran = running.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "heard b''\n");
        drop(server);
    });
}
