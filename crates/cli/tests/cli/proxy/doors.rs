//! Pages in a browser, failures that hold calls, and calls in calls.

use super::{APIS, Ended, GOOD, Got, Scene, first_line, get, post, request};
use crate::kit::{PALISADE, World};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

const ON: &[&str] = &["--enable-sandboxing"];

#[test]
fn a_page_in_a_browser_is_refused_in_the_words_of_each_api() {
    let options = [
        "--enable-sandboxing",
        "--allow-host",
        "devbox.example",
        "--allow-origin",
        "http://localhost:3000",
    ];
    let scene = Scene::new(World::new(), &options);
    let port = scene.url.rsplit(':').next().unwrap();
    let local = |name: &str| format!("{name}:{port}");
    for (at, api) in APIS.into_iter().enumerate() {
        let (path, body) = request(api, false, GOOD);
        let ask =
            |header: (&str, &str)| post(&scene.url, &path, &[header], body.to_string().as_bytes());
        for (header, status) in [
            (("host", local("localhost").as_str()), 200),
            (("host", &local("[::1]")), 200),
            (("host", "devbox.example:1"), 200),
            (("origin", "http://localhost:3000"), 200),
            (("host", &local("rebound.example")), 403),
            (("host", "localhost:1"), 403),
            (("origin", "https://page.example"), 403),
            (("origin", "null"), 403),
            (("sec-fetch-site", "cross-site"), 403),
        ] {
            let before = scene.asked().len();
            let got = ask(header);
            assert_eq!(got.status, status, "{api} {header:?} {got:?}");
            assert_eq!(scene.asked().len() - before, usize::from(status == 200), "{header:?}");
            let shape =
                ["permission_error", "permission_error", "\"type\":\"error\"", "PERMISSION_DENIED"]
                    [at];
            assert!(status == 200 || got.body.contains(shape), "{api} {got:?}");
        }
    }
    let foreign = local("rebound.example");
    for path in ["/metrics", "/v1/models", "/v1/files/f/content"] {
        let got = get(&scene.url, path, &[("host", &foreign)]);
        assert_eq!(got.status, 403, "{path} {got:?}");
        assert!(got.body.contains("--allow-host"), "{got:?}");
    }
    for (option, value) in [("--allow-host", "a b"), ("--allow-origin", "*")] {
        let ran = World::new().run(&["proxy", "--upstream", "http://h", option, value]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[name]"), "{}", ran.stderr);
    }
}

/// Asks a proxy whose upstream answers with these bytes and closes.
fn behind(api: &str, said: &str, stream: bool) -> Got {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let bytes = said.to_owned();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 65536];
            if stream.read(&mut head).is_ok() {
                stream.write_all(bytes.as_bytes()).ok();
            }
        }
    });
    let world = World::new();
    let mut proxy = world.command(PALISADE);
    proxy.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &upstream]).args(ON);
    let mut proxy = Ended(proxy.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let url = first_line(&mut proxy.0).replace("listening at ", "");
    let (path, body) = request(api, stream, "x");
    post(&url, &path, &[], body.to_string().as_bytes())
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_call_in_an_answer_of_any_status_is_not_passed_on() {
    let call = r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"c","function":{"name":"write_file","arguments":"{\"path\":\"/etc/passwd\"}"}}]},"finish_reason":"tool_calls"}]}"#;
    let events = format!("data: {call}\n\n");
    for status in [
        "201 Created",
        "206 Partial Content",
        "226 IM Used",
        "400 Bad Request",
        "500 No",
        "599 Odd",
    ] {
        for body in [call, &events] {
            let got = behind("chat", &answer(status, "retry-after: 7\r\n", body), true);
            assert!(!got.body.contains("write_file"), "{status} {got:?}");
            let code = status.get(..3).unwrap();
            assert!(code.starts_with('2') || got.head.contains(code), "{status} {got:?}");
            assert!(
                code.starts_with('2') || got.head.contains("retry-after: 7"),
                "{status} {got:?}"
            );
            assert!(code.starts_with('2') || got.body.contains("\"error\""), "{status} {got:?}");
        }
    }
    // A client that follows would be out of sight.
    for status in ["301 M", "302 F", "303 S", "307 T", "308 P"] {
        let got = behind(
            "messages",
            &answer(status, "location: http://elsewhere.example/\r\n", ""),
            false,
        );
        assert_eq!(got.status, 502, "{status} {got:?}");
        assert!(got.body.contains("leads elsewhere") && !got.head.contains("elsewhere"), "{got:?}");
    }
    let page =
        answer("503 Busy", "content-type: text/html\r\nretry-after: 3\r\n", "<html>busy</html>");
    let got = behind("gemini", &page, false);
    assert_eq!(got.status, 503, "{got:?}");
    assert!(
        got.body.contains("\"UNAVAILABLE\"") && got.head.contains("application/json"),
        "{got:?}"
    );
    assert!(got.head.contains("retry-after: 3"), "{got:?}");
    let list = "[{\"error\": {\"code\": 429}}\n]";
    let got = behind("gemini", &answer("429 Slow", "", list), true);
    assert_eq!((got.status, got.body.as_str()), (429, list));
}

#[test]
fn calls_in_the_arguments_of_a_call_are_judged() {
    let scene = Scene::new(World::new(), ON);
    let wrap = |path: &str| {
        format!(
            r#"call multi_tool_use.parallel {{"tool_uses": [{{"recipient_name": "functions.read_file", "parameters": {{"path": "a"}}}}, {{"recipient_name": "functions.write_file", "parameters": {{"path": "{path}"}}}}]}}"#
        )
    };
    for api in APIS {
        let got = scene.ask(api, true, &wrap("/etc/passwd"));
        assert!(!got.body.contains("recipient_name"), "{api} {}", got.body);
        assert!(got.body.contains("outside project directory"), "{api} {}", got.body);
        let got = scene.ask(api, true, &wrap("a.rs"));
        assert!(got.body.contains("recipient_name"), "{api} {}", got.body);
    }
}

#[test]
fn what_a_client_would_do_is_judged_whatever_the_call_says_of_itself() {
    let arguments = r#"{\"path\":\"/etc/passwd\",\"content\":\"x\"}"#;
    let shell = r#""call_id":"c","action":{"commands":["echo x > /etc/passwd"]}"#;
    for item in [
        format!(
            r#"{{"type":"mcp_approval_request","id":"m","server_label":"s","name":"write_file","arguments":"{arguments}"}}"#
        ),
        format!(
            r#"{{"type":"shell_call","environment":{{"type":"container_reference","container_id":"x"}},{shell}}}"#
        ),
        format!(r#"{{"type":"remote_shell_call",{shell}}}"#),
        format!(r#"{{"type":"shell_call","arguments":"{{}}",{shell}}}"#),
    ] {
        let whole = format!(r#"{{"id":"r","object":"response","output":[{item}]}}"#);
        let added =
            format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{item}}}"#);
        let done = added.replace("item.added", "item.done");
        let last = format!(r#"{{"type":"response.completed","response":{whole}}}"#);
        let events: String = [added, done, last].map(|event| format!("data: {event}\n\n")).concat();
        for (body, stream) in [(whole, false), (events, true)] {
            let got = behind("responses", &answer("200 OK", "", &body), stream);
            assert_eq!(got.status, 200, "{item} {got:?}");
            assert!(
                !got.body.contains("_call\"") && !got.body.contains("approval"),
                "{item} {got:?}"
            );
            assert!(
                got.body.contains("\"output_text\"") && got.body.contains("blocked"),
                "{item} {got:?}"
            );
        }
    }
}

#[test]
fn more_calls_in_a_call_than_are_judged_are_refused() {
    let scene = Scene::new(World::new(), ON);
    let many = |count: usize| {
        let uses = vec![r#"{"recipient_name": "f", "parameters": {}}"#; count].join(", ");
        format!(r#"call multi_tool_use.parallel {{"tool_uses": [{uses}]}}"#)
    };
    let deep = |depth: usize| {
        let inner = r#"{"path": "a.rs"}"#.to_owned();
        let wrap = |inner: String, _| {
            format!(
                r#"{{"tool_uses": [{{"recipient_name": "write_file", "parameters": {inner}}}]}}"#
            )
        };
        format!("call multi_tool_use.parallel {}", (0..depth).fold(inner, wrap))
    };
    for (script, fits) in [(many(128), true), (many(129), false), (deep(4), true), (deep(5), false)]
    {
        for api in APIS {
            let got = scene.ask(api, true, &script);
            assert_eq!(got.body.contains("recipient_name"), fits, "{api} {}", got.body);
            assert_eq!(got.body.contains("more calls"), !fits, "{api} {}", got.body);
        }
    }
}
