//! Answers that were recorded elsewhere, sent by a server and read behind the proxy.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use super::{Ended, first_line, post, request};
use crate::kit::{PALISADE, World};

/// What nobody can read: one has an event that is no JSON, and in the other a second message begins
/// inside of a call.
const REFUSED: [&str; 2] = ["tool:08f109c352a3", "tool:2acfb86fa549"];

/// Sends the answer that a request asks for by number, a few bytes at a time.
fn serve(mut stream: TcpStream, answers: &[String]) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).ok()?.to_lowercase();
    let header = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<usize>().ok())
    };
    let mut body = vec![0; header("content-length:")?];
    stream.read_exact(&mut body).ok()?;
    let answer = answers.get(header("x-answer:")?)?;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n")
        .ok()?;
    for piece in answer.as_bytes().chunks(997) {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).ok()?;
        stream.write_all(piece).ok()?;
        stream.write_all(b"\r\n").ok()?;
    }
    stream.write_all(b"0\r\n\r\n").ok()
}

/// Returns what was sent in each answer of a recording.
fn answers(row: &Json) -> Vec<String> {
    let raw = row["raw"].as_str().unwrap();
    let lines = row["transport"].as_str().unwrap().starts_with("json-lines");
    let events = |line: &str| format!("data: {line}\n\n");
    let sent: String = if lines {
        raw.lines().filter(|line| !line.trim().is_empty()).map(events).collect()
    } else {
        raw.to_owned()
    };
    let mut answers = vec![String::new()];
    for event in sent.split_inclusive("\n\n") {
        answers.last_mut().unwrap().push_str(event);
        if event.contains(r#""type":"message_stop""#) {
            answers.push(String::new());
        }
    }
    answers.retain(|answer| !answer.trim().is_empty());
    answers
}

#[test]
fn recorded_calls_are_the_same_behind_the_proxy() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/toolcalls.jsonl");
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("SKIPPED: there are no recorded answers beside the repository");
        return;
    };
    let rows: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut all = Vec::new();
    let parts: Vec<_> = rows
        .iter()
        .map(|row| {
            let from = all.len();
            all.extend(answers(row));
            from..all.len()
        })
        .collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let answers: &'static [String] = all.leak();
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, answers));
        }
    });
    // Calls are held and put together, and then none is refused.
    let world = World::new().user_policy("version: 1\ntools: {enabled: true, exclude: [\".*\"]}\n");
    let mut proxy = world.command(PALISADE);
    proxy.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
    let mut proxy = Ended(proxy.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let url = first_line(&mut proxy.0).replace("listening at ", "");

    let (mut read, mut refused) = (Vec::new(), Vec::new());
    for (row, parts) in rows.iter().zip(parts) {
        let api = match row["provider"].as_str().unwrap() {
            "openai-chat" => "chat",
            "openai-responses" => "responses",
            "anthropic" => "messages",
            _ => "gemini",
        };
        let (path, body) = request(api, true, "x");
        let mut got = String::new();
        let mut whole = true;
        for part in parts {
            let number = part.to_string();
            let headers = [("x-answer", number.as_str())];
            let answer = post(&url, &path, &headers, body.to_string().as_bytes());
            whole &= answer.status == 200 && !answer.body.contains("cannot be read");
            got.push_str(&answer.body);
        }
        if whole {
            let line = json!({ "id": row["id"], "kind": "toolcall", "provider": row["provider"], "transport": "sse", "raw": got });
            read.push((row, line.to_string()));
        } else {
            assert!(!got.contains("toolu_second"), "{got}");
            refused.push(row["id"].as_str().unwrap());
        }
    }
    refused.sort_unstable();
    assert_eq!(refused, REFUSED);
    let mut told: Vec<Json> = Vec::new();
    for some in read.chunks(16) {
        let lines: String = some.iter().map(|(_, line)| format!("{line}\n")).collect();
        let ran = world.run_with_input(lines.as_bytes(), &["check", "--jsonl"]);
        told.extend(ran.stdout.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()));
    }
    assert_eq!(told.len(), read.len());
    let normal = |call: &Json| {
        let arguments = call["arguments"].as_str().unwrap();
        let arguments =
            serde_json::from_str::<Json>(arguments).unwrap_or_else(|_| arguments.into());
        (call["name"].as_str().unwrap().to_owned(), arguments)
    };
    for ((row, _), told) in read.iter().zip(told) {
        let Some(expected) = row["tool_calls"].as_array() else { continue };
        // A call that was cut off is refused.
        let cut = row["args_valid_json"] == false;
        let expected = if cut { &[] } else { expected.as_slice() };
        let found = told["tool_calls"].as_array().unwrap().iter().map(normal);
        assert_eq!(
            found.collect::<Vec<_>>(),
            expected.iter().map(normal).collect::<Vec<_>>(),
            "{}",
            row["id"]
        );
    }
}
