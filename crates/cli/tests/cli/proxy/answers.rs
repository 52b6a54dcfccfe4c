//! Answers and requests that are odd, and what passes as it is.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use super::{APIS, BAD, Ended, GOOD, Scene, first_line, get, post, request};
use crate::kit::{PALISADE, World};

const ON: &[&str] = &["--enable-sandboxing"];

#[test]
fn requests_and_other_paths_pass_as_they_are() {
    let scene = Scene::new(World::new(), ON);
    let body = br#"{"model":"m-1", "unknown" : [1.50,  {"a":null}],"messages":[{"role":"user","content":"x"}]}"#;
    let headers = [
        ("authorization", "Bearer sk-secret-1"),
        ("x-odd", "a  b"),
        ("accept-encoding", "gzip, br"),
    ];
    let got = post(&scene.url, "/v1/chat/completions?q=1", &headers, body);
    assert_eq!(got.status, 200, "{got:?}");
    let asked = scene.asked().remove(0);
    assert_eq!(asked["body"].as_str().unwrap().as_bytes(), body, "byte for byte");
    assert_eq!(asked["path"], "/v1/chat/completions?q=1");
    let header = |name: &str| {
        let headers = asked["headers"].as_object().unwrap();
        headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
    };
    assert_eq!(header("authorization"), Some("Bearer sk-secret-1".into()));
    assert_eq!(header("x-odd"), Some("a  b".into()));
    assert_eq!(header("accept-encoding"), Some("identity".into()), "what is judged must be read");
    assert_eq!(get(&scene.url, "/v1/models", &[]).body, "{\"path\": \"/v1/models\"}");
    assert_eq!(get(&scene.url, "/healthz", &[]).body, "{\"status\":\"ok\"}\n");
    assert!(!scene.log().contains("sk-secret"), "{}", scene.log());
}

#[test]
fn what_an_upstream_says_of_errors_is_passed_on() {
    let scene = Scene::new(World::new(), ON);
    for api in APIS {
        for status in [400, 429, 503] {
            let got = scene.ask(api, true, &format!("status {status}"));
            assert_eq!(got.status, status, "{api}");
            assert_eq!(
                got.body, r#"{"error": {"message": "as it was asked"}, "odd": 1.5}"#,
                "{api}"
            );
        }
    }
    // One that compresses though it was asked not to.
    let got = scene.ask("chat", false, &format!("gzip\n{BAD}"));
    assert!(
        got.body.contains("outside project directory") && !got.head.contains("gzip"),
        "{got:?}"
    );
}

#[test]
fn an_answer_that_breaks_off_breaks_off_without_a_call() {
    let scene = Scene::new(World::new(), ON);
    for api in ["chat", "responses", "messages"] {
        let got = scene.ask(api, true, &format!("cut\n{GOOD}"));
        assert!(got.body.contains("I shall try."), "{api} {got:?}");
        assert!(
            !got.body.contains("[DONE]") && !got.body.contains("message_stop"),
            "{api} {got:?}"
        );
        assert!(api != "chat" || !got.body.contains("write_file"), "{api} {got:?}");
    }
}

#[test]
fn what_is_too_large_is_refused_in_the_words_of_each_api() {
    let scene = Scene::new(World::new(), ON);
    for (api, words) in [
        ("chat", "\"type\":\"request_too_large\""),
        ("responses", "\"type\":\"request_too_large\""),
        ("messages", "\"type\":\"error\""),
        ("gemini", "\"status\":\"INVALID_ARGUMENT\""),
    ] {
        let (path, _) = request(api, false, "");
        let got = post(&scene.url, &path, &[], &vec![b' '; (32 << 20) + 1]);
        assert_eq!(got.status, 413, "{api} {got:?}");
        assert!(got.body.contains(words) && got.body.contains("32 MiB"), "{api} {got:?}");
    }
    assert_eq!(scene.asked().len(), 0);
}

/// Answers every request with the same bytes, and then does nothing.
fn says(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (mut stream, bytes) = (stream, bytes.clone());
            std::thread::spawn(move || {
                let mut head = [0; 65536];
                if stream.read(&mut head).is_err() {
                    return;
                }
                stream.write_all(&bytes).ok();
                std::thread::sleep(Duration::from_secs(8));
            });
        }
    });
    url
}

#[test]
fn what_cannot_be_read_or_does_not_come_is_told_in_the_words_of_each_api() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let sized =
        |body: &str| format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes();
    let begun = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
    for (said, status, words) in [
        (sized("data: {\"a\":1,\"a\":2}\n\n"), 502, "cannot be read"),
        (sized("{\"choices\": [\u{1}"), 502, "cannot be read"),
        (sized("<html>\n{"), 502, "cannot be read"),
        (Vec::new(), 504, "does not answer"),
        (format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes(), 504, "silent"),
        (
            format!("{head}content-length: 1000\r\n\r\n{begun}").into_bytes(),
            200,
            "silent for too long",
        ),
        (sized(&format!("{begun}data: {{\"x\":\n\n")), 502, "cannot be read"),
    ] {
        let upstream = says(said.clone());
        let world = World::new();
        let mut proxy = world.command(PALISADE);
        proxy.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &upstream, "--timeout", "1"]);
        proxy.arg("--enable-sandboxing").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut proxy = Ended(proxy.spawn().unwrap());
        let url = first_line(&mut proxy.0).replace("listening at ", "");
        let (path, body) = request("chat", true, "x");
        let got = post(&url, &path, &[], body.to_string().as_bytes());
        let said = String::from_utf8_lossy(&said);
        assert_eq!(got.status, status, "{said} {got:?}");
        assert!(got.body.contains(words), "{said} {got:?}");
        assert!(words.is_empty() || got.body.contains("\"error\""), "{said} {got:?}");
    }
}

#[test]
fn a_conversation_that_the_server_keeps_goes_on_after_a_refusal() {
    let scene = Scene::new(World::new(), ON);
    for stream in [false, true] {
        let got = scene.ask("responses", stream, BAD);
        let from = got.body.find("resp_").unwrap();
        let id: String = got.body[from..].chars().take_while(|c| *c != '"').collect();
        let next = json!({ "model": "m", "previous_response_id": id, "input": "go on" });
        let direct = post(&scene.model, "/v1/responses", &[], next.to_string().as_bytes());
        assert!(
            direct.body.contains("No tool output found"),
            "the server waits for it: {direct:?}"
        );
        for _ in 0..2 {
            let got = post(&scene.url, "/v1/responses", &[], next.to_string().as_bytes());
            assert_eq!(got.status, 200, "{got:?}");
            assert!(got.body.contains("I was told: File sandboxing violation"), "{got:?}");
        }
    }
}

#[test]
fn tools_are_filtered_and_calls_blocked_by_model_and_agent() {
    let world = World::new();
    world.write(
        "access.yaml",
        "access_policies:\n  - name: small\n    model_pattern: ^m-\n    agent_pattern: tester\n    \
        blocked_patterns: [deploy]\n    default_policy: allow\n    block_message: Not for you.\n",
    );
    let scene = Scene::new(world, &["--access-policies", "access.yaml"]);
    let body = json!({ "model": "m-1", "tools": [{ "name": "deploy" }, { "name": "look" }],
        "messages": [{ "role": "user", "content": "call deploy {}" }] });
    for (agent, blocked) in [("tester/1.0", true), ("other", false)] {
        let got =
            post(&scene.url, "/v1/messages", &[("user-agent", agent)], body.to_string().as_bytes());
        assert_eq!(got.body.contains("Not for you."), blocked, "{agent} {got:?}");
        let asked = scene.asked().pop().unwrap();
        let offered = asked["body"].as_str().unwrap();
        assert_eq!(offered.contains("\"name\":\"deploy\""), !blocked, "{offered}");
        assert!(offered.contains("\"name\":\"look\""), "{offered}");
    }
    assert_eq!(scene.metric("palisade_proxy_tools_filtered_total"), 1);
}
