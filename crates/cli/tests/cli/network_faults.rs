//! What is broken, slow or far too much: a faithful error or a refusal, and the doors stay.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::json;

use crate::kit::{PALISADE, Person, World, as_both};
use crate::town::Town;

#[test]
fn who_cannot_be_reached_or_does_not_end_is_told_as_it_is() {
    let hosts = [
        "93.184.216.34 web.test",
        "2606:2800:220::34 six.test",
        // No way leads there.
        "93.185.216.34 far.test",
    ];
    let town = Town { silent: vec!["silent.test"], ..Town::of(&hosts) };
    let policy = "network: { mode: allow-list, \
        allow: [web.test, six.test, far.test, nowhere.test, silent.test] }\n";
    town.both(policy, include_str!("town/faults.py"), &[], |visit| {
        let reset = json!(["half", 104]);
        let expected = json!({
            "served": "served", "after": "served",
            "six": ["served", "served", "served", "served"],
            "closed": [111, "502 connection-refused", "502 connection-refused", "socks 5"],
            "far": [113, "502 unreachable", "502 unreachable", "socks 4"],
            "nowhere": [113, "502 name-unknown", "502 name-unknown", "socks 4"],
            "reset": [reset, reset],
            "reset_request": 104,
            "resolvers": ["nameserver 127.0.0.1"],
            "own": [true, false],
            "silent": [113, "504 timeout", "socks 4"],
            "slow_request": 104, "slow_proxy": "end", "slow_greeting": 104,
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        let codes = visit.codes("web.test");
        let late = codes.iter().filter(|code| *code == "first-bytes-late").count();
        assert_eq!(late, 2, "{}", visit.all());
        assert!(!visit.arrived("GET /abc") && !visit.arrived("\u{16}"), "{}", visit.all());
        assert_eq!(visit.told["network"]["trouble"], json!([]));
    });
}

#[test]
fn ten_thousand_at_once_are_served_or_refused_and_the_doors_stay() {
    // Once: the same doors stand for root, and it takes a while.
    let is_root = rustix::process::geteuid().is_root();
    let person = if is_root { Person::Nobody } else { Person::Ours };
    let world = World { person, ..World::new() };
    let policy = "network: { mode: allow-list, allow: [web.test] }\n";
    let visit = Town::default().visit(&world, policy, include_str!("town/many.py"), &[]);
    let mut tried = visit.tried.as_object().cloned().unwrap_or_default();
    assert_eq!(tried.remove("after"), Some(json!(["served", 113, "no name"])), "{}", visit.stderr);
    let all: u64 = tried.values().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(all, 10_000, "{tried:?}");
    // A kernel gives up by itself on who is not answered (110), and nobody waits for ever.
    let known =
        ["listed served", "listed 110", "listed late", "other 113", "other 110", "other late"];
    assert!(tried.keys().all(|what| known.contains(&what.as_str())), "{tried:?}");
    // A kernel that has no room for a packet drops it, and it is sent again.
    let count = |what: &str| tried.get(what).and_then(serde_json::Value::as_u64);
    assert!(count("listed served") > Some(500), "{tried:?}");
    assert!(count("other 113") > Some(500), "{tried:?}");
    assert!(visit.reached().iter().all(|it| it.starts_with("93.184.216.34:")));
    let network = &visit.told["network"];
    assert_eq!((&network["trouble"], network["more"].as_u64() > Some(1000)), (&json!([]), true));
}

#[test]
fn the_proxy_and_the_name_server_are_inside_alone() {
    as_both(|world| {
        world.write("net.yaml", "network: { mode: allow-list, allow: [a.test] }\n");
        let script = "import socket\n\
            for port in [1023, 53]: socket.create_connection(('127.0.0.1', port), 10)\n\
            print('both', flush=True); input()\n";
        world.write("wait.py", script);
        let mut command = world.command(PALISADE);
        command.args(["run", "--policy", "net.yaml", "--", "/usr/bin/python3", "wait.py"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let tried = || [1023, 53, 1].map(|port| TcpStream::connect(("127.0.0.1", port)).is_ok());
        let before = tried();
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "both\n");
        assert_eq!(tried(), before);
        drop(child.stdin.take());
        child.wait().unwrap();
    });
}
