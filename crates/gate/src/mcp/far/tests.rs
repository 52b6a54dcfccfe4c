//! A server that does not end its streams.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Far, Hears, Post};

const LONG: Duration = Duration::from_secs(5);

fn request(stream: &mut TcpStream) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        text.push_str(&String::from_utf8_lossy(&piece[..length]));
        if text.contains("\r\n\r\n{") {
            break;
        }
    }
    text
}

/// Answers `initialize` in a stream that goes on, and begins one for whatever else; says what it hears
/// and who leaves.
fn server() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (told, tells) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let told = told.clone();
            thread::spawn(move || {
                let text = request(&mut stream);
                let method = ["initialize", "tools/call", "notifications/cancelled"];
                let method = method.into_iter().find(|it| text.contains(&format!("\"{it}\"")));
                let method = method.unwrap_or_default().to_owned();
                told.send(method.clone()).ok();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
                stream.write_all(head.as_bytes()).ok();
                if method == "initialize" {
                    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
                    stream.write_all(format!("data: {answer}\n\n").as_bytes()).ok();
                }
                // Until the client leaves.
                assert!(matches!(stream.read(&mut [0; 64]), Ok(0) | Err(_)));
                told.send(format!("{method} left")).ok();
            });
        }
    });
    (url, tells)
}

fn post(id: Option<u64>, method: &str, version: Option<&str>, cancels: Option<Json>) -> Post {
    let line = json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string().into_bytes();
    let (method, version) = (Some(method.to_owned()), version.map(str::to_owned));
    Post { line, id: id.map(Json::from), method, name: None, version, cancels }
}

#[test]
fn a_stream_that_does_not_end_keeps_nobody_and_who_cancels_is_heard() {
    let (url, tells) = server();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears: Hears = {
        let heard = Arc::clone(&heard);
        Arc::new(move |message, id| {
            let told: Json = serde_json::from_slice(&message).unwrap();
            heard.lock().unwrap().push(told.clone());
            id.is_some_and(|id| told["id"] == *id)
        })
    };
    let far = Far::new(&url, None, b"", hears).unwrap();
    far.send(post(Some(1), "initialize", None, None)).unwrap();
    far.send(post(Some(2), "tools/call", Some("2026-07-28"), None)).unwrap();
    let mut said = Vec::new();
    while !said.iter().any(|it| it == "tools/call") {
        said.push(tells.recv_timeout(LONG).unwrap());
    }
    assert_eq!(heard.lock().unwrap().len(), 1);
    far.send(post(None, "notifications/cancelled", None, Some(json!(2)))).unwrap();
    while !said.iter().any(|it| it == "tools/call left") {
        said.push(tells.recv_timeout(LONG).unwrap());
    }
    assert!(said.iter().any(|it| it == "initialize left"), "{said:?}");
    assert!(!said.iter().any(|it| it == "notifications/cancelled"), "{said:?}");
    far.close();
}
