//! Servers inside that are reached from the host, at ports that the policy publishes.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::kit::{PALISADE, World, as_both};

/// Serves until somebody has been there who says so, at two ports.
const SERVE: &str = r"
import socket, sys, threading
family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET
done = threading.Event()
def serve(port, word):
    s = socket.socket(family); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((sys.argv[1], port)); s.listen()
    while True:
        c, _ = s.accept(); c.sendall(word); c.close(); done.set()
for port, word in [(int(sys.argv[2]), b'inside'), (int(sys.argv[3]), b'closed')]:
    threading.Thread(target=serve, args=(port, word), daemon=True).start()
done.wait(30); import time; time.sleep(0.5)
";

/// Returns two ports that nobody listens at.
fn free() -> [u16; 2] {
    let both = [0; 2].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    both.map(|one| one.local_addr().unwrap().port())
}

fn hear(port: u16) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// Runs two servers inside, of which one is published, and returns what is heard of both from here.
fn heard(world: &World, mode: &str, bind: &str) -> (String, bool) {
    let [port, other] = free();
    world.write("net.yaml", format!("network: {{ mode: {mode}, publish: [{port}] }}\n"));
    world.write("serve.py", SERVE);
    let mut command = world.command(PALISADE);
    let words = ["run", "--policy", "net.yaml", "--", "/usr/bin/python3", "serve.py", bind];
    let mut running = command
        .args(words)
        .args([port, other].map(|port| port.to_string()))
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let since = Instant::now();
    let heard = loop {
        // Before the server listens a connection is cut.
        match hear(port) {
            Ok(text) if !text.is_empty() => break text,
            Ok(_) | Err(_) if since.elapsed() > Duration::from_secs(25) => break String::new(),
            Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let reached = hear(other).is_ok();
    running.wait().unwrap();
    assert!(hear(port).is_err(), "it ends with the run");
    (heard, reached)
}

#[test]
fn a_server_inside_is_reached_at_the_port_that_is_published_and_at_no_other() {
    as_both(|world| {
        for (mode, bind) in
            [("deny-all", "127.0.0.1"), ("deny-all", "::1"), ("allow-list", "0.0.0.0")]
        {
            let expected = ("inside".to_owned(), false);
            assert_eq!(heard(&world, mode, bind), expected, "{mode} {bind}");
        }
    });
}

#[test]
fn a_port_that_is_taken_is_an_error_before_anything_runs() {
    as_both(|world| {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        world.write("net.yaml", format!("network:\n  publish: [{port}]\n"));
        let ran = world.run(&["run", "--policy", "net.yaml", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        let said = format!("error[port-taken]: port {port} of the host cannot be published: ");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert!(ran.stderr.contains("net.yaml:2:13"), "{}", ran.stderr);
        assert!(ran.stderr.contains("publish another port"), "{}", ran.stderr);
        assert!(!world.project.path("made").exists());
        drop(taken);
        let ran = world.run(&["run", "--policy", "net.yaml", "--", "touch", "made"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    });
}

#[test]
fn what_cannot_be_published_is_told_and_a_project_publishes_nothing_by_itself() {
    as_both(|world| {
        world.write("net.yaml", "network: { publish: [80] }\n");
        let ran = world.run(&["run", "--policy", "net.yaml", "--", "true"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains("port 80 is not published"), "{}", ran.stderr);
        let [port, _] = free();
        let policy = format!("network: {{ publish: [{port}] }}\n");
        world.write(".palisade/policy.yaml", &policy);
        let plan = world.run(&["plan", "--", "true"]).stdout;
        assert!(!plan.contains("publish"), "nobody trusts it: {plan}");
        world.write("net.yaml", &policy);
        let plan = world.run(&["plan", "--policy", "net.yaml", "--", "true"]).stdout;
        let published = |line: &str| line.split_whitespace().eq(["publish", &port.to_string()]);
        assert!(plan.lines().any(published), "{plan}");
    });
}
