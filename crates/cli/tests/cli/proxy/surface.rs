//! How the proxy is started, and who may use it.

use std::process::{Command, Stdio};

use palisade_testkit::{Fact, Need, need};

use super::{BAD, Ended, Scene, first_line, get, post, request, until};
use crate::kit::{PALISADE, World};

#[test]
fn others_than_this_machine_need_a_token() {
    let world = World::new();
    let ran = world.run(&["proxy", "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, Some(125));
    assert!(
        ran.stderr.contains("error[no-token]") && ran.stderr.contains("--token-file"),
        "{}",
        ran.stderr
    );
    world.write("token", "secret-token\n");
    world.write("empty", "\n");
    let ran = world.run(&["proxy", "--listen", "0.0.0.0:0", "--token-file", "empty"]);
    assert_eq!(ran.code, Some(125), "{}", ran.stderr);

    let scene = Scene::new(world, &["--token-file", "token", "--enable-sandboxing"]);
    let (path, body) = request("messages", false, BAD);
    let body = body.to_string();
    for (header, status) in [
        (("x-palisade-token", "secret-token"), 200),
        (("proxy-authorization", "Bearer secret-token"), 200),
        (("x-palisade-token", "secret-tokeN"), 401),
        (("x-palisade-token", ""), 401),
        (("authorization", "Bearer secret-token"), 401),
    ] {
        let got = post(&scene.url, &path, &[header], body.as_bytes());
        assert_eq!(got.status, status, "{header:?} {got:?}");
        assert!(status == 200 || got.body.contains("authentication_error"), "{got:?}");
    }
    assert_eq!(get(&scene.url, "/metrics", &[]).status, 401);
    assert_eq!(get(&scene.url, "/healthz", &[]).status, 200);
    let asked = serde_json::to_string(&scene.asked()).unwrap();
    assert!(
        !asked.contains("secret-tokeN") && !asked.to_lowercase().contains("x-palisade-token"),
        "{asked}"
    );
    assert!(!scene.log().contains("secret-token"));
}

#[test]
fn a207_a_proxy_that_judges_less_than_it_might_says_so_loudly() {
    let scene = Scene::new(World::new(), &[]);
    assert!(scene.log().contains("WARNING: tool calls are not judged"), "{}", scene.log());
    let world = World::new();
    world.write("token", "secret-token\n");
    let wide = ["--listen", "0.0.0.0:0", "--token-file", "token", "--enable-sandboxing"];
    let mut proxy = world.command(PALISADE);
    proxy.arg("proxy").args(["--upstream", "http://127.0.0.1:9"]).args(wide);
    let log = world.project.path("log");
    proxy.stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap());
    let mut proxy = Ended(proxy.spawn().unwrap());
    first_line(&mut proxy.0);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("tools.strict is off"), "{log}");
    let quiet = Scene::new(World::new(), &["--enable-sandboxing"]);
    assert!(!quiet.log().contains("WARNING"), "{}", quiet.log());
}

#[test]
fn what_cannot_be_started_says_why() {
    let world = World::new();
    for (arguments, code, words) in [
        (&["--upstream", "ftp://x"][..], 125, "error[upstream]"),
        (&["--upstream", "http://key@x"], 125, "keys come from clients"),
        (&["--listen", "localhost"], 2, "invalid value"),
        (&["--enable-sandboxing=maybe"], 2, "invalid value"),
        (&["--tls-cert", "x"], 2, "--tls-key"),
        (&["--tls-cert", "x", "--tls-key", "y", "--upstream", "http://h"], 125, "cannot read x"),
        (&["--token-file", "missing"], 125, "missing"),
        (&["--allowed-tools", "("], 125, "error["),
        (
            &["--listen", "192.0.2.1:1", "--token-file", "Cargo.toml", "--upstream", "http://h"],
            125,
            "error[listen]",
        ),
    ] {
        let ran = world.run(&[&["proxy"][..], arguments].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments:?} {}", ran.stderr);
    }
    let ran = world.run(&["proxy", "--json", "--upstream", "x"]);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["error"]["code"], "upstream");
}

#[test]
fn tls_and_http2_on_both_sides() {
    if need(Fact::Tools("command -v openssl && curl --version | grep -q HTTP2")) == Need::Skip {
        return;
    }
    let world = World::new();
    let folder = world.project.root();
    let mut made = Command::new("openssl");
    made.current_dir(folder).args([
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    assert!(made.stderr(Stdio::null()).status().unwrap().success());
    world.write("model.py", include_str!("model.py"));
    let mut python = world.command("python3");
    python.args(["model.py", "requests.jsonl", "cert.pem", "key.pem"]).stdout(Stdio::piped());
    let mut model = Ended(python.spawn().unwrap());
    let upstream = format!("https://localhost:{}", first_line(&mut model.0));
    let start = |authorities: &[&str]| {
        let mut proxy = world.command(PALISADE);
        proxy.args([
            "proxy",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            &upstream,
            "--enable-sandboxing",
        ]);
        proxy.args(["--tls-cert", "cert.pem", "--tls-key", "key.pem"]).args(authorities);
        proxy.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut proxy = Ended(proxy.spawn().unwrap());
        let url = first_line(&mut proxy.0).replace("listening at ", "");
        (proxy, url)
    };
    let ask = |url: &str, version: &str| {
        let (path, body) = request("chat", true, BAD);
        let curl = Command::new("curl")
            .current_dir(folder)
            .args([
                "-sS",
                version,
                "--cacert",
                "cert.pem",
                "-w",
                "\n%{http_code} %{http_version}",
                "-d",
                &body.to_string(),
                "-H",
                "content-type: application/json",
                &format!("{url}{path}"),
            ])
            .output()
            .unwrap();
        String::from_utf8(curl.stdout).unwrap() + &String::from_utf8_lossy(&curl.stderr)
    };
    let (_proxy, url) = start(&["--upstream-ca", "cert.pem"]);
    assert!(url.starts_with("https://"), "{url}");
    for (version, told) in [("--http1.1", "200 1.1"), ("--http2", "200 2")] {
        let got = ask(&url, version);
        assert!(
            got.ends_with(told) && got.contains("outside project directory"),
            "{version} {got}"
        );
    }
    // An upstream that nobody certified is not asked.
    world.write("others.pem", "");
    let (_proxy, url) = start(&["--upstream-ca", "others.pem"]);
    let got = ask(&url, "--http2");
    assert!(got.contains("502") && got.contains("cannot be reached"), "{got}");
}

#[test]
fn many_streams_at_once_are_carried() {
    let scene = Scene::new(World::new(), &["--enable-sandboxing"]);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let got = scene.ask("messages", true, BAD);
                assert!(got.body.contains("outside project directory"), "{got:?}");
            });
        }
    });
    until("connections end", || scene.metric("palisade_proxy_connections") <= 1);
    assert_eq!(scene.metric("palisade_proxy_tool_calls_total{decision=\"blocked\"}"), 64);
}
