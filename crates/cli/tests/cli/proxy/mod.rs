//! `palisade proxy` between clients and a model that does what it is told.

mod agents;
mod answers;
mod clients;
mod doors;
mod recorded;
mod requests;
mod rows;
mod surface;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World};

/// The four APIs: how each is asked, streaming or not.
pub(super) const APIS: [&str; 4] = ["chat", "responses", "messages", "gemini"];

/// A process of a test, which ends with it.
pub(super) struct Ended(pub(super) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A model, and the proxy in front of it.
pub(super) struct Scene {
    pub(super) world: World,
    pub(super) url: String,
    pub(super) model: String,
    log: PathBuf,
    requests: PathBuf,
    _proxy: Ended,
    _model: Ended,
}

impl Scene {
    /// Starts both, with options for the proxy.
    pub(super) fn new(world: World, options: &[&str]) -> Self {
        Self::with(world, options, &[])
    }

    pub(super) fn with(world: World, options: &[&str], env: &[(&str, &str)]) -> Self {
        world.write("model.py", include_str!("model.py"));
        let requests = world.project.path("requests.jsonl");
        let mut python = world.command("python3");
        python.arg(world.project.path("model.py")).arg(&requests);
        python.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut model = Ended(python.spawn().unwrap());
        let model_url = format!("http://127.0.0.1:{}", first_line(&mut model.0));
        let log = world.project.path("proxy.log");
        let mut proxy = world.command(PALISADE);
        proxy.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &model_url]);
        proxy.args(options).envs(env.iter().copied());
        proxy.stdout(Stdio::piped()).stderr(fs::File::create(&log).unwrap());
        let mut proxy = Ended(proxy.spawn().unwrap());
        let line = first_line(&mut proxy.0);
        let told = serde_json::from_str::<Json>(&line);
        let url = told.ok().and_then(|told| told["listening"].as_str().map(str::to_owned));
        let url = url.or_else(|| line.strip_prefix("listening at ").map(str::to_owned));
        let url = url.unwrap_or_else(|| panic!("{line} {}", fs::read_to_string(&log).unwrap()));
        Self { world, url, model: model_url, log, requests, _proxy: proxy, _model: model }
    }

    /// Returns what the proxy logged.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Returns what the model was asked.
    pub(super) fn asked(&self) -> Vec<Json> {
        let text = fs::read_to_string(&self.requests).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Asks the model, through the proxy, for what a script says.
    pub(super) fn ask(&self, api: &str, stream: bool, script: &str) -> Got {
        let (path, body) = request(api, stream, script);
        post(&self.url, &path, &[], body.to_string().as_bytes())
    }

    pub(super) fn metric(&self, name: &str) -> u64 {
        let got = get(&self.url, "/metrics", &[]);
        let line = got.body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name}: {}", got.body)).parse().unwrap()
    }
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// Writes a request of an API.
pub(super) fn request(api: &str, stream: bool, script: &str) -> (String, Json) {
    let said = json!([{ "role": "user", "content": script }]);
    match api {
        "chat" => (
            "/v1/chat/completions".into(),
            json!({ "model": "m-1", "stream": stream, "messages": said }),
        ),
        "responses" => {
            ("/v1/responses".into(), json!({ "model": "m-1", "stream": stream, "input": said }))
        }
        "messages" => (
            "/v1/messages".into(),
            json!({ "model": "m-1", "max_tokens": 9, "stream": stream, "messages": said }),
        ),
        _ => {
            let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            (
                format!("/v1beta/models/m-1:{verb}"),
                json!({ "contents": [{ "role": "user", "parts": [{ "text": script }] }] }),
            )
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(super) struct Got {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

pub(super) fn post(url: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
    send(url, "POST", path, headers, body)
}

pub(super) fn get(url: &str, path: &str, headers: &[(&str, &str)]) -> Got {
    send(url, "GET", path, headers, b"")
}

/// Sends a request as HTTP/1.0, whose answer ends with the connection.
fn send(url: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut head = format!("{method} {path} HTTP/1.0\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "host") {
        head.push_str(&format!("host: {host}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).ok();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).ok();
    let text = String::from_utf8_lossy(&got);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Got { status, head: head.to_owned(), body: body.to_owned() }
}

/// Waits until something is so.
pub(super) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A call that leaves the project, and one that does not.
pub(super) const BAD: &str = r#"call write_file {"path": "/etc/passwd", "content": "x"}"#;
pub(super) const GOOD: &str = r#"call write_file {"path": "a.rs", "content": "x"}"#;
