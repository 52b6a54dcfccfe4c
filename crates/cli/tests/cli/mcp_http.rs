//! `palisade mcp serve --http`: clients that connect.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use palisade_testkit::{Fact, Need, need};
use serde_json::{Value as Json, json};

use crate::kit::{NOBODY, PALISADE, World, as_both};

/// A server that listens.
struct Listening {
    server: Child,
    at: SocketAddr,
    /// What clients show.
    token: Option<&'static str>,
}

impl Listening {
    fn new(world: &World, words: &[&str]) -> Self {
        let mut command = world.command(PALISADE);
        command.args(["mcp", "serve", "--http", "127.0.0.1:0"]).args(words);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let at =
            line.trim().strip_prefix("listening at http://").unwrap_or_else(|| panic!("{line}"));
        Self { server, at: at.strip_suffix("/mcp").unwrap().parse().unwrap(), token: None }
    }

    /// One that goes by a token, and not by whose process it is that connects.
    fn with_token(world: &World) -> Self {
        let token = world.home.path("token");
        fs::write(&token, "s3cret-of-this-test\n").unwrap();
        let mut server = Self::new(world, &["--token-file", token.to_str().unwrap()]);
        server.token = Some("Bearer s3cret-of-this-test");
        server
    }

    /// Sends a request as it is.
    fn raw(&self, text: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(text).unwrap();
        stream
    }

    fn begin(&self, headers: &[(&str, &str)], body: &str) -> BufReader<TcpStream> {
        let host = self.at.to_string();
        let usual = [
            ("host", host.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let mut text = "POST /mcp HTTP/1.1\r\nconnection: close\r\n".to_owned();
        let is_other =
            |name: &str| headers.iter().all(|(other, _)| !other.eq_ignore_ascii_case(name));
        for (name, value) in usual.iter().filter(|(name, _)| is_other(name)).chain(headers) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(token) = self.token {
            text.push_str(&format!("authorization: {token}\r\n"));
        }
        text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        BufReader::new(self.raw(text.as_bytes()))
    }

    /// Posts a message; returns the status, the session and what came back.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> Came {
        Came::of(self.begin(headers, body))
    }

    fn session(&self, capabilities: &Json) -> String {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "t", "version": "1" } } });
        let came = self.post(&[], &hello.to_string());
        assert_eq!(came.json()["result"]["protocolVersion"], "2025-11-25", "{}", came.text);
        came.session.unwrap()
    }

    fn says(&self, session: &str, message: &Json) -> Came {
        self.post(&[("mcp-session-id", session)], &message.to_string())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

#[derive(Debug)]
struct Came {
    status: u16,
    session: Option<String>,
    text: String,
}

impl Came {
    fn of(mut from: BufReader<TcpStream>) -> Self {
        let mut text = String::new();
        from.read_to_string(&mut text).ok();
        let status = text.get(9..12).and_then(|status| status.parse().ok()).unwrap_or_default();
        let session = text.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        Self { status, session: session.map(str::to_owned), text }
    }

    /// Returns the last message, in an answer or in a stream.
    fn json(&self) -> Json {
        let read = |line: &str| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line));
        let mut messages = self.text.lines().rev().filter_map(|line| read(line).ok());
        messages.find(Json::is_object).unwrap_or_else(|| panic!("{}", self.text))
    }
}

fn call(id: u64, name: &str, arguments: &Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": name, "arguments": arguments } })
}

#[test]
fn a_client_that_connects_works_inside_the_project() {
    as_both(|world| {
        world.write("a.txt", "one\n");
        let server = Listening::with_token(&world);
        let session = server.session(&json!({}));
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(server.says(&session, &told).status, 202);
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        assert_eq!(
            server.says(&session, &list).json()["result"]["tools"].as_array().unwrap().len(),
            7
        );
        let read = server.says(&session, &call(2, "read_file", &json!({ "path": "a.txt" })));
        assert_eq!(read.json()["result"]["content"][0]["text"], "one\n");
        assert!(read.text.contains("content-type: text/event-stream"), "{}", read.text);
        let ran =
            server.says(&session, &call(3, "run_command", &json!({ "command": "echo x > made" })));
        assert_eq!(ran.json()["result"]["isError"], false);
        assert!(world.project.path("made").exists());
        let denied = call(4, "write_file", &json!({ "path": "/etc/x", "content": "" }));
        assert_eq!(server.says(&session, &denied).json()["result"]["isError"], true);
        // The session ends, and is known no more.
        let end = format!(
            "DELETE /mcp HTTP/1.1\r\nhost: {}\r\nmcp-session-id: {session}\r\nauthorization: {}\r\nconnection: close\r\n\r\n",
            server.at,
            server.token.unwrap()
        );
        assert_eq!(Came::of(BufReader::new(server.raw(end.as_bytes()))).status, 204);
        assert_eq!(server.says(&session, &list).status, 404);
    });
}

#[test]
fn pages_and_other_names_and_what_is_no_message_are_refused() {
    let world = World::new();
    let server = Listening::new(&world, &[]);
    let session = server.session(&json!({}));
    let (at, port) = (server.at.to_string(), server.at.port());
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let own = ("mcp-session-id", session.as_str());
    let rebound = format!("rebound.example:{port}");
    let local = format!("localhost:{port}");
    for (headers, expected) in [
        (vec![own], 200),
        (vec![own, ("host", &local)], 200),
        (vec![own, ("mcp-protocol-version", "2025-06-18")], 200),
        (vec![own, ("accept", "*/*")], 200),
        // Who reaches it by another name, and whose page asks.
        (vec![own, ("host", "rebound.example")], 403),
        (vec![own, ("host", &rebound)], 403),
        (vec![own, ("host", &at), ("Host", &rebound)], 403),
        (vec![own, ("origin", "http://localhost:3000")], 403),
        (vec![own, ("origin", "null")], 403),
        (vec![own, ("sec-fetch-site", "cross-site")], 403),
        // What is said oddly.
        (vec![own, ("content-type", "text/plain")], 415),
        (vec![own, ("accept", "application/json")], 406),
        (vec![own, ("mcp-protocol-version", "1999-01-01")], 400),
        (vec![own, own], 400),
        (vec![], 400),
        (vec![("mcp-session-id", "0")], 404),
    ] {
        let came = server.post(&headers, list);
        assert_eq!(came.status, expected, "{headers:?}: {}", came.text);
        assert!(!came.text.to_lowercase().contains("access-control-allow"), "{}", came.text);
    }
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a","p\u0061th":"b"}}}"#,
            -32600,
        ),
    ] {
        let came = server.post(&[own], body);
        assert_eq!((came.status, &came.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    for (request, expected) in [
        (format!("GET /mcp HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n"), 405),
        (format!("OPTIONS /mcp HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n"), 405),
        (
            format!(
                "POST /other HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            ),
            404,
        ),
        (
            format!(
                "POST /mcp HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n"
            ),
            413,
        ),
    ] {
        let came = Came::of(BufReader::new(server.raw(request.as_bytes())));
        assert_eq!(came.status, expected, "{request}: {}", came.text);
    }
    // Whoever says nothing, half of something or no HTTP keeps nobody else waiting.
    let _held: Vec<TcpStream> = [&b""[..], b"POST /mcp HT", b"\xff\xfe\0\r\n\r\n"]
        .into_iter()
        .cycle()
        .take(30)
        .map(|bytes| server.raw(bytes))
        .collect();
    assert_eq!(server.post(&[own], list).status, 200);
}

#[test]
fn headers_of_the_newer_generation_agree_with_the_message() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let server = Listening::new(&world, &[]);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let mut message = call(1, "read_file", &json!({ "path": "a.txt" }));
    message["params"]["_meta"] = meta;
    let version = ("mcp-protocol-version", "2026-07-28");
    let method = ("mcp-method", "tools/call");
    let came = server.post(&[version, method, ("mcp-name", "read_file")], &message.to_string());
    assert_eq!(came.json()["result"]["content"][0]["text"], "one\n", "{}", came.text);
    assert_eq!(came.json()["result"]["resultType"], "complete");
    let coded = ("mcp-name", "=?base64?cmVhZF9maWxl?=");
    assert_eq!(server.post(&[version, method, coded], &message.to_string()).status, 200);
    for headers in [
        vec![version, method, ("mcp-name", "list_directory")],
        vec![version, method, ("mcp-name", "Read_file")],
        vec![version, ("mcp-method", "tools/list"), ("mcp-name", "read_file")],
        vec![("mcp-protocol-version", "2025-11-25"), method, ("mcp-name", "read_file")],
        vec![version, method],
        vec![version, ("mcp-name", "read_file")],
        vec![method, ("mcp-name", "read_file")],
    ] {
        let came = server.post(&headers, &message.to_string());
        assert_eq!(
            (came.status, &came.json()["error"]["code"]),
            (400, &json!(-32020)),
            "{headers:?}"
        );
    }
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2027-01-01".into();
    let newer = ("mcp-protocol-version", "2027-01-01");
    let came = server.post(&[newer, method, ("mcp-name", "read_file")], &message.to_string());
    assert_eq!((came.status, &came.json()["error"]["code"]), (400, &json!(-32022)));
}

#[test]
fn a_token_is_demanded_where_others_could_connect() {
    let world = World::new();
    let token = world.home.path("token");
    fs::write(&token, "s3cret-of-this-test\n").unwrap();
    let refused = world.run(&["mcp", "serve", "--http", "0.0.0.0:0"]);
    assert_eq!(refused.code, Some(125), "{}", refused.stderr);
    assert!(refused.stderr.contains("no-token"), "{}", refused.stderr);
    let server = Listening::new(&world, &["--token-file", token.to_str().unwrap()]);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    for (shown, expected) in [
        (None, 401),
        (Some("Bearer s3cret-of-this-tesT"), 401),
        (Some("Bearer s3cret-of-this-test2"), 401),
        (Some("Bearer "), 401),
        (Some("Basic s3cret-of-this-test"), 401),
        (Some("Bearer s3cret-of-this-test"), 200),
    ] {
        let headers: Vec<_> = shown.iter().map(|shown| ("authorization", *shown)).collect();
        assert_eq!(server.post(&headers, list).status, expected, "{shown:?}");
    }
}

#[test]
fn e074_a_process_of_another_user_is_not_heard() {
    if need(Fact::Root) != Need::Run {
        return;
    }
    let world = World::new();
    let server = Listening::new(&world, &[]);
    let code = "import socket,sys\ns=socket.create_connection(('127.0.0.1',int(sys.argv[1])),30)\n\
                try:\n s.sendall(b'GET /mcp HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n')\n print('heard', s.recv(99)[:12])\n\
                except OSError: print('heard', b'')";
    for (user, heard) in [(0, "heard b'HTTP/1.1 403'\n"), (NOBODY, "heard b''\n")] {
        let mut other = Command::new("/usr/bin/python3");
        other.args(["-c", code, &server.at.port().to_string()]).uid(user).gid(user);
        let ran = world.finish(&mut other);
        assert_eq!(ran.stdout, heard, "{user} {}", ran.stderr);
    }
}

#[test]
fn two_clients_do_not_end_each_others_calls() {
    let world = World::new();
    let server = Listening::new(&world, &[]);
    let (one, other) = (server.session(&json!({})), server.session(&json!({})));
    let slow = |mark: &str| {
        call(7, "run_command", &json!({ "command": format!("touch {mark}; sleep 600") }))
    };
    let first = server.begin(&[("mcp-session-id", &one)], &slow("first").to_string());
    let _second = server.begin(&[("mcp-session-id", &other)], &slow("second").to_string());
    until(|| ["first", "second"].iter().all(|mark| world.project.path(mark).exists()));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(server.says(&one, &cancel).status, 202);
    assert_eq!(Came::of(first).json()["result"]["isError"], true);
    // The other one goes on: its number is still taken.
    let again = server.says(&other, &slow("third")).json();
    assert!(again["error"]["message"].as_str().unwrap().contains("`id`"), "{again}");
    let again = server.says(&one, &call(7, "run_command", &json!({ "command": "echo free" })));
    assert_eq!(again.json()["result"]["isError"], false);
}

#[test]
fn who_leaves_without_a_session_ends_what_it_began() {
    let world = World::new();
    let server = Listening::new(&world, &[]);
    let mark = format!("600.{}", std::process::id() + 7);
    let mut message = call(1, "run_command", &json!({ "command": format!("sleep {mark}") }));
    message["params"]["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "run_command"),
    ];
    let stream = server.begin(&headers, &message.to_string());
    let runs = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| *line == format!("sleep\0{mark}\0").as_bytes()).count()
    };
    until(|| runs() == 1);
    drop(stream);
    until(|| runs() == 0);
}

#[test]
fn who_can_ask_is_asked_in_the_stream_of_the_call() {
    let policy = "version: 1\ncommands: { rules: [{ tool: run_command, action: ask }] }\n";
    let world = World::new().user_policy(policy);
    let server = Listening::new(&world, &[]);
    for (runs, content) in [(true, json!({ "run": true })), (false, json!({ "run": false }))] {
        let session = server.session(&json!({ "elicitation": {} }));
        let message = call(1, "run_command", &json!({ "command": format!("touch agreed-{runs}") }));
        let mut stream = server.begin(&[("mcp-session-id", &session)], &message.to_string());
        let mut line = String::new();
        while !line.starts_with("data: ") {
            line.clear();
            assert_ne!(stream.read_line(&mut line).unwrap(), 0);
        }
        let asked: Json = serde_json::from_str(&line[6..]).unwrap();
        assert_eq!(asked["method"], "elicitation/create");
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"],
                             "result": { "action": "accept", "content": content } });
        // Somebody else's word does not count.
        let stranger = server.session(&json!({ "elicitation": {} }));
        server.says(&stranger, &answer);
        assert_eq!(server.says(&session, &answer).status, 202);
        assert_eq!(Came::of(stream).json()["result"]["isError"], !runs);
        assert_eq!(world.project.path(format!("agreed-{runs}")).exists(), runs);
    }
}

/// The official client, of both generations.
const CLIENT: &str = r#"
import asyncio, sys
from mcp import Client
async def main():
    for mode in ("legacy", "2026-07-28", "auto"):
        async with Client(sys.argv[1], mode=mode) as client:
            tools = await client.list_tools()
            ran = await client.call_tool("run_command", {"command": "echo from the client"})
            denied = await client.call_tool("write_file", {"path": "/etc/x", "content": ""})
            print(client.protocol_version, len(tools.tools), ran.content[0].text.strip(), "outside-root" in denied.content[0].text)
asyncio.run(main())
"#;

fn python() -> Option<String> {
    let python =
        std::env::var("PALISADE_TEST_PYTHON").unwrap_or_else(|_| "/usr/bin/python3".into());
    let has = Command::new(&python).args(["-c", "import mcp"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|end| end.success()) {
        assert_eq!(need(Fact::Tools("/usr/bin/python3 -c 'import mcp'")), Need::Skip);
        return None;
    }
    Some(python)
}

#[test]
fn the_official_client_works_with_the_server_by_http() {
    let Some(python) = python() else { return };
    let world = World::new();
    let server = Listening::new(&world, &[]);
    let mut client = Command::new(python);
    client
        .args(["-c", CLIENT, &format!("http://{}/mcp", server.at)])
        .env("HOME", world.home.root());
    let ran = world.finish(&mut client);
    let expected = "2025-11-25 7 from the client True\n2026-07-28 7 from the client True\n\
                    2026-07-28 7 from the client True\n";
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
}

pub(crate) fn until(holds: impl Fn() -> bool) {
    let ends = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < ends, "it does not come to hold");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn who_says_nothing_keeps_no_place() {
    let world = World::new();
    let server = Listening::with_token(&world);
    let mut silent: Vec<TcpStream> =
        (0..256).map(|_| TcpStream::connect(server.at).unwrap()).collect();
    // Some begin, and go no further.
    silent.iter_mut().step_by(2).for_each(|stream| stream.write_all(b"PR").unwrap());
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let mut answer = String::new();
    server.begin(&[], &ping.to_string()).read_line(&mut answer).unwrap();
    assert!(answer.contains("200"), "{answer}");
    drop(silent);
}

#[test]
fn a_session_that_nobody_could_name_does_not_begin() {
    let world = World::new();
    let server = Listening::with_token(&world);
    let begin = json!({"jsonrpc": "2.0", "method": "initialize", "params": {}});
    for _ in 0..65 {
        let mut answer = String::new();
        server.begin(&[], &begin.to_string()).read_line(&mut answer).unwrap();
        assert!(answer.contains(" 400 "), "{answer}");
    }
}
