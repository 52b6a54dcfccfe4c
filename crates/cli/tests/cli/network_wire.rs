//! What is said on a connection, and other ways out than a connection.

use std::os::unix::net::UnixListener;

use serde_json::{Value as Json, json};

use crate::kit::{World, as_both};
use crate::town::Town;

const LISTED: &str = "network: { mode: allow-list, allow: [web.test] }\n";

#[test]
fn e070_a_connection_is_for_the_host_that_its_first_bytes_name() {
    let cut = json!([104, 104, 104]);
    let served = json!(["served", "served", "served"]);
    for strict in [false, true] {
        let policy =
            format!("network: {{ mode: allow-list, allow: [web.test], strict: {strict} }}\n");
        Town::default().both(&policy, include_str!("town/e070.py"), &[], |visit| {
            let expected = json!({
                "same": served, "other": cut, "none": cut,
                "hidden": if strict { &cut } else { &served },
                "two": cut, "later": cut, "plain": cut, "ssh": cut,
                "split same": "served", "split other": 104, "host": 104,
            });
            assert_eq!(visit.tried, expected, "{}", visit.all());
            assert!(!visit.arrived("evil"), "{}", visit.all());
            assert_eq!(visit.of_kind("tcp").count(), if strict { 4 } else { 7 });
            let codes = visit.codes("web.test");
            for code in ["tls-other-name", "tls-no-name", "tls-expected", "http-other-host"] {
                assert!(codes.iter().any(|it| it == code), "{code}: {}", visit.all());
            }
            assert_eq!(codes.iter().any(|it| it == "tls-hidden-name"), strict);
        });
    }
}

#[test]
fn e071_no_question_about_a_name_leaves_by_any_resolver() {
    let unix = [
        "/run/nscd/socket",
        "/run/systemd/resolve/io.systemd.Resolve",
        "/run/dbus/system_bus_socket",
    ];
    let town = Town { unix: unix.map(str::to_owned).to_vec(), ..Town::default() };
    let tries = include_str!("town/e071.py");
    let policy = "network: { mode: allow-list, allow: [web.test, \"*.wild.test\"] }\n";
    town.both(policy, tries, &unix, |visit| {
        let none = json!([3, 0]);
        let expected = json!({
            "listed": [0, 1], "text": [0, 0],
            "resolvers": [none, none, none], "six": none, "tcp": none,
            "kinds": [none, none, none, none], "below": none, "below_wild": [0, 1],
            "elsewhere": [111, 111], "tls": 113, "libc": "no name",
            "sockets": { unix[0]: "no", unix[1]: "no", unix[2]: "no" },
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        assert!(visit.seen.is_empty(), "{}", visit.all());
    });
    // They are all there for who is not confined by a network of its own.
    as_both(|world| {
        let visit = town.visit(&world, "network: { mode: disabled }\n", tries, &unix);
        assert!(visit.arrived("secret.evil.test"), "{}", visit.all());
    });
}

#[test]
fn e072_no_more_is_sent_than_the_budget_has_by_any_way() {
    const MOST: usize = 64 << 10;
    for (budget, bounds_all) in [("per_host: 64KiB", false), ("upload: 64KiB", true)] {
        let policy = format!(
            "network: {{ mode: allow-list, allow: [web.test, other.test], budget: {{ {budget} }} }}\n"
        );
        for way in ["direct", "connect", "socks", "http", "small"] {
            Town::default().both(&policy, include_str!("town/e072.py"), &[way], |visit| {
                let (tried, all) = (&visit.tried, visit.all());
                assert_eq!(tried["little"], "served", "{way}: {all}");
                assert_ne!(tried["same"], "served", "{way}: {all}");
                assert_eq!(tried["other"] == "served", !bounds_all, "{way}: {all}");
                let bytes = |it: &Json| it["data"].as_str().unwrap().chars().count();
                let sent: usize =
                    visit.seen.iter().filter(|it| it["to"] == "93.184.216.34").map(bytes).sum();
                assert!((1000..=MOST).contains(&sent), "{way}: {sent}");
                if way == "small" {
                    let many = tried["much"].as_array().unwrap();
                    let served = many.iter().filter(|it| **it == "served").count();
                    assert_eq!(served, (MOST - 1000) / 8000, "{all}");
                }
            });
        }
    }
}

#[test]
fn e073_services_of_the_host_are_reached_only_at_listed_ports() {
    let tries = include_str!("town/e073.py");
    let unlisted = |host: Json| {
        json!({
            "loopback": [111, 111, 111, 111],
            "own": [113, 111],
            "host": host,
            "proxied": ["403 host-not-listed", "403 host-not-listed", "socks 2", "socks 2"],
        })
    };
    let policy = "network: { mode: allow-list, host_ports: [6379] }\n";
    Town::default().both(policy, tries, &[], |visit| {
        let expected = json!({
            "6379": unlisted(json!(["served", "served", "served"])),
            "9222": unlisted(json!([113, "403 host-port-not-listed", "socks 2"])),
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        assert_eq!(visit.reached(), ["127.0.0.1:6379"]);
        assert_eq!(visit.seen.len(), 3, "{}", visit.all());
    });
    Town::default().both(LISTED, tries, &[], |visit| {
        let closed = unlisted(json!(["no name", "403 host-port-not-listed", "socks 2"]));
        assert_eq!(visit.tried, json!({ "6379": closed, "9222": closed }), "{}", visit.all());
        assert!(visit.seen.is_empty(), "{}", visit.all());
    });
}

#[test]
fn e076_a_request_that_two_readers_could_read_differently_is_not_passed_on() {
    Town::default().both(LISTED, include_str!("town/e076.py"), &[], |visit| {
        let expected = json!({
            "plain": "served",
            "absolute and host": "421 http-host-differs",
            "host and absolute": "421 http-host-differs",
            "two hosts": "400 http-host-twice",
            "host in the name": "400 http-header",
            "folded": "400 http-folded",
            "no host": "400 http-host-missing",
            "origin": "400 proxy-form",
            "user": "400 http-user",
            "escaped": "400 http-host",
            "backslash": "400 http-host",
            "scheme": "400 http-scheme",
            "line feeds": "400 http-line",
            "stray return": "400 http-line",
            "blanks": "400 http-request-line",
            "version": "505 http-version",
            "trace": "405 http-method",
            "lower": "400 http-request-line",
            "both lengths": "400 http-framing",
            "two lengths": "400 http-framing",
            "signed length": "400 http-framing",
            "coding": "400 http-framing",
            "connection": "400 http-connection",
            "behind": "served, 400 proxy-form",
            "behind a body": "served, 400 proxy-form",
            "connect early": "400 proxy-early",
            "connect body": "400 http-framing",
            "connect host": "421 http-host-differs",
            "connect port": "400 http-port",
            "connect url": "400 http-port",
            "two": "400 http-version",
            "paths": "served",
            "direct line feeds": 104,
            "direct two hosts": 104,
            "direct folded": 104,
            "direct both lengths": 104,
            "direct trace": 104,
            "direct two": 104,
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        // A path is passed on as it was written: nobody reads it otherwise on the way.
        assert!(visit.arrived("GET //a/%2e%2e/./b HTTP/1.1\r\n"), "{}", visit.all());
        assert_eq!(visit.of_kind("tcp").count(), 4, "{}", visit.all());
        assert!(!visit.arrived("evil"), "{}", visit.all());
    });
}

#[test]
fn e077_there_are_no_other_ways_than_tcp_and_questions_about_names() {
    Town::default().both(LISTED, include_str!("town/e077.py"), &[], |visit| {
        let tried = &visit.tried;
        let made = json!(["made", "made"]);
        for (name, expected) in [
            ("tcp", &made),
            ("packets", &made),
            ("unix", &json!("made")),
            ("routes", &json!("made")),
            ("ping", &json!([93, 93])),
            ("protocols", &json!([93, 93, 93])),
            ("quic", &json!([111, 111, 111])),
            ("high", &json!([111, 111])),
        ] {
            assert_eq!(tried[name], *expected, "{name}: {}", visit.all());
        }
        // The protocol of TCP itself is known, and raw sockets of it take a capability.
        assert_eq!(tried["raw"], json!([93, 93, 1, 93]), "{}", visit.all());
        let all = |group: &str| tried[group].as_object().unwrap().clone();
        assert_eq!((all("families").len(), all("netlink").len()), (14, 7));
        assert!(all("families").values().all(|errno| *errno == 97), "{}", visit.all());
        assert!(all("netlink").values().all(|errno| *errno == 93), "{}", visit.all());
        if let Some(wide) = tried["wide"].as_array() {
            assert_eq!(*wide, [97, 97], "{}", visit.all());
        }
        assert!(visit.seen.is_empty(), "{}", visit.all());
    });
}

#[test]
fn e078_port_22_is_open_by_host_and_the_person_s_agent_is_not_there() {
    let policy = "network: { mode: allow-list, allow: [\"git.test:22\", \"web.test:443\", \"web.test:80\"] }\n";
    as_both(|world| {
        let world = World { home: world.home.file(".agent/there", ""), ..world };
        let agent = world.home.path(".agent/socket");
        let _listening = UnixListener::bind(&agent).unwrap();
        let agent = agent.to_str().unwrap().to_owned();
        let town = Town { env: vec![("SSH_AUTH_SOCK", agent.clone())], ..Town::default() };
        let visit = town.visit(&world, policy, include_str!("town/e078.py"), &[&agent]);
        let refused = json!([113, "403 host-not-listed"]);
        let expected = json!({
            "listed": ["served", "served", "served"],
            "other_port": [113, "403 host-not-listed", "socks 2"],
            "other_host": ["no name", "403 host-not-listed", "socks 2"],
            "address": refused, "only_22": refused,
            "variable": null, "agent": "no",
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        assert_eq!(visit.reached(), ["93.184.216.34:22"]);
        assert_eq!(visit.seen.len(), 3, "{}", visit.all());
    });
}
