//! Requests that nobody can take in one way, and paths that nobody knows.

use super::{BAD, Ended, GOOD, Got, Scene, first_line, get, post, request, send};
use crate::kit::{PALISADE, World};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

const ON: &[&str] = &["--enable-sandboxing"];

/// Sends bytes as they are, and returns the status of what comes back.
fn raw(url: &str, bytes: &str) -> u16 {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).ok();
    let text = String::from_utf8_lossy(&got);
    text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

fn host(url: &str) -> &str {
    url.strip_prefix("http://").unwrap()
}

#[test]
fn a_header_of_ours_that_stands_twice_is_refused() {
    let world = World::new();
    world.write("token", "secret");
    let scene = Scene::new(world, &["--enable-sandboxing", "--token-file", "token"]);
    let root = scene.world.project.root().to_str().unwrap().to_owned();
    let (path, body) = request("chat", false, GOOD);
    let ask = |headers: &[(&str, &str)]| {
        post(&scene.url, &path, headers, body.to_string().as_bytes()).status
    };
    let token = ("x-palisade-token", "secret");
    let agent = ("x-palisade-agent", "a");
    assert_eq!(ask(&[token, agent, ("x-palisade-root", &root)]), 200);
    let asked = scene.asked().len();
    for headers in [
        &[token, ("x-palisade-token", "other")][..],
        &[("x-palisade-token", "other"), token],
        &[token, token],
        &[token, ("x-palisade-root", &root), ("x-palisade-root", "/")],
        &[token, ("x-palisade-root", "/"), ("x-palisade-root", &root)],
        &[token, agent, ("x-palisade-agent", "b")],
    ] {
        assert_eq!(ask(headers), 400, "{headers:?}");
    }
    assert_eq!(scene.asked().len(), asked, "nobody was asked");
}

#[test]
fn methods_about_the_way_itself_are_not_passed_on() {
    let scene = Scene::new(World::new(), ON);
    let ask = |line: &str| {
        raw(
            &scene.url,
            &format!("{line} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", host(&scene.url)),
        )
    };
    for path in ["/v1/models", "/v1/messages", "/anything"] {
        assert_eq!(ask(&format!("TRACE {path}")), 405, "{path}");
        assert_eq!(send(&scene.url, "TRACE", path, &[], b"").status, 405, "{path}");
    }
    assert_eq!(ask("OPTIONS *"), 405);
    assert!(scene.asked().is_empty(), "nobody was asked");
}

#[test]
fn a_request_that_says_too_much_or_breaks_off_is_the_clients_fault() {
    let scene = Scene::new(World::new(), ON);
    let packed = "import sys, gzip; sys.stdout.buffer.write(gzip.compress(b'x' * (40 << 20)))";
    let bomb = scene.world.command("python3").args(["-c", packed]).output().unwrap().stdout;
    assert!(!bomb.is_empty() && bomb.len() < 1 << 20);
    let (path, _) = request("chat", false, GOOD);
    let got = post(&scene.url, &path, &[("content-encoding", "gzip")], &bomb);
    assert_eq!(got.status, 413, "{got:?}");
    assert!(got.body.contains("larger than 32 MiB"), "{got:?}");
    let got = post(&scene.url, &path, &[("content-encoding", "br")], b"x");
    assert_eq!(got.status, 415, "{got:?}");
    for path in [path.as_str(), "/v1/embeddings", "/v1/anything"] {
        for chunk in ["zz\r\n{}\r\n0\r\n\r\n", "-2\r\n{}\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked\r\n",
                host(&scene.url)
            );
            assert_eq!(raw(&scene.url, &format!("{head}\r\n{chunk}")), 400, "{path} {chunk}");
        }
    }
}

/// Asks a proxy for a path of an upstream that answers with a call.
fn called(path: &str) -> Got {
    let call = r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"c","function":{"name":"write_file","arguments":"{\"path\":\"/etc/passwd\"}"}}]},"finish_reason":"tool_calls"}]}"#;
    let said = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{call}",
        call.len()
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 65536];
            if stream.read(&mut head).is_ok() {
                stream.write_all(said.as_bytes()).ok();
            }
        }
    });
    let world = World::new();
    let mut proxy = world.command(PALISADE);
    proxy.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &upstream]).args(ON);
    let mut proxy = Ended(proxy.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let url = first_line(&mut proxy.0).replace("listening at ", "");
    get(&url, path, &[])
}

#[test]
fn only_listed_paths_pass_without_a_look() {
    for path in ["/v1/moderations", "/v1/files", "/v1/files/f", "/v1beta/files/f", "/v1/batches/b"]
    {
        let got = called(path);
        assert!(got.status == 502 && !got.body.contains("write_file"), "{path} {got:?}");
    }
}

#[test]
fn the_variable_beats_a_native_file_that_is_named_and_the_flag_beats_both() {
    let judges = |policy: &str, config: &str, variable: &str, options: &[&str]| {
        let world = World::new();
        world.write("named.yaml", format!("version: 1\ntools: {{enabled: {policy}}}\n"));
        world.write("config/config.yaml", format!("sandboxing:\n  enabled: {config}\n"));
        let options = [&["--policy", "named.yaml"], options].concat();
        let scene = Scene::with(world, &options, &[("ENABLE_SANDBOXING", variable)]);
        let got = scene.ask("chat", false, BAD);
        got.body.contains("outside project directory")
    };
    assert!(judges("false", "false", "true", &[]), "the variable beats the file");
    assert!(!judges("true", "true", "false", &[]), "and does so both ways");
    assert!(judges("false", "false", "false", ON), "the flag beats both");
    assert!(!judges("true", "true", "true", &["--enable-sandboxing=false"]));
}
