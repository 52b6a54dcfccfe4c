//! What profiles come to: connections.

use super::*;

/// Returns the mode, then what is opened besides.
fn meaning(rules: &str) -> String {
    let policy = match read_rules(rules) {
        Ok((policy, _)) => policy,
        Err(problems) => return format!("error: {}", codes(&problems).join(" ")),
    };
    let network = &policy.network;
    let mut out = network.mode.value().to_string();
    for (name, list) in [
        ("host", shown(network.host_ports.values())),
        ("publish", shown(network.publish.values())),
        ("unix", shown(network.unix.values())),
    ] {
        if !list.is_empty() {
            out.push_str(&format!(" {name} {}", list.join(" ")));
        }
    }
    if network.local_binding.value().0 {
        out.push_str(" bind");
    }
    out
}

#[test]
fn connections_are_open_or_closed_by_the_last_rule() {
    let table = [
        ("", "deny-all"),
        ("(allow network*)", "disabled"),
        ("(allow network*)(deny network*)", "deny-all"),
        ("(deny network*)(allow network*)", "disabled"),
        ("(allow network* (remote ip \"*:*\"))", "disabled"),
        ("(allow network* (remote ip))", "disabled"),
        ("(allow network-outbound)", "monitor"),
        ("(allow network*)(deny network-inbound)", "monitor bind"),
        ("(allow network-inbound)", "deny-all"),
        ("(allow network-bind)", "deny-all bind"),
        ("(allow network*)(deny network-outbound)", "deny-all bind"),
        ("(allow network* (local ip \"localhost:*\"))", "deny-all"),
        ("(allow network-outbound (remote ip \"localhost:*\"))", "deny-all"),
        ("(allow network-outbound (remote tcp \"localhost:8080\"))", "deny-all host 8080"),
        ("(allow network-inbound (local ip \"*:3000\"))", "deny-all publish 3000"),
        // Which end is meant matters.
        ("(allow network-outbound (local ip \"localhost:5432\"))", "deny-all"),
        ("(allow network* (local ip \"localhost:3000\"))", "deny-all publish 3000"),
        ("(allow network* (remote ip \"localhost:5432\"))", "deny-all host 5432"),
        ("(allow network-inbound (remote ip \"localhost:*\"))", "deny-all"),
        ("(allow network-bind (remote ip \"localhost:5432\"))", "deny-all"),
        ("(allow network-inbound (remote ip \"localhost:3000\"))", "error: not-expressible"),
        ("(allow network-inbound (remote ip \"*:3000\"))", "error: not-expressible"),
        ("(allow network-outbound (local ip \"*:5432\"))", "error: not-expressible"),
        ("(allow network-outbound (local unix-socket))", "deny-all"),
        ("(allow network* (local unix-socket (subpath \"/run/x\")))", "deny-all"),
        (
            "(allow network-outbound (remote ip \"localhost:1\"))(deny network-outbound (local ip \"localhost:1\"))",
            "error: not-expressible",
        ),
        (
            "(allow network-inbound (local ip \"localhost:1\"))(deny network-inbound (remote ip \"localhost:*\"))",
            "deny-all",
        ),
        ("(allow network-outbound (remote ip \"localhost:1\"))(deny network*)", "deny-all"),
        (
            "(allow network-outbound (remote ip \"localhost:1\"))(deny network* (remote ip \"localhost:*\"))",
            "deny-all",
        ),
        (
            "(allow network-outbound (remote unix-socket (path-literal \"/run/x\")))",
            "deny-all unix /run/x",
        ),
        ("(allow network-outbound (subpath \"/run/x\"))", "deny-all unix /run/x"),
        ("(allow network-outbound (remote unix-socket))", "deny-all unix /"),
        ("(allow network-outbound (remote unix-socket))(deny network*)", "deny-all"),
        ("(allow network-bind (subpath \"/run/x\"))", "deny-all"),
        ("(deny network-outbound)(allow network*)", "error: uncertain-order"),
        // Nothing between all and nothing can be told apart.
        ("(allow network-outbound (remote ip \"*:443\"))", "error: not-expressible"),
        ("(allow network-outbound (remote tcp \"*:*\"))", "error: not-expressible"),
        ("(allow network*)(deny network-outbound (remote ip \"*:25\"))", "error: not-expressible"),
        ("(allow network*)(deny network* (remote ip \"localhost:*\"))", "error: not-expressible"),
        (
            "(allow network-outbound (require-not (remote ip \"localhost:*\")))",
            "error: not-expressible",
        ),
        (
            "(allow network-outbound (require-all (remote ip \"*:*\") (remote ip \"*:1\")))",
            "error: not-expressible",
        ),
        (
            "(allow network-outbound (subpath \"/run\"))(deny network-outbound (subpath \"/run/x\"))",
            "error: not-expressible",
        ),
        ("(allow network-outbound (target self))", "error: not-expressible"),
        // Making a socket is up to the rules on writing, so refusing it must not seem to work.
        ("(allow network*)(deny network-bind (local unix-socket))", "error: not-expressible"),
        ("(allow network*)(deny network-bind (subpath \"/run/x\"))", "error: not-expressible"),
        ("(allow network*)(deny network-inbound (local unix-socket))", "error: not-expressible"),
        ("(allow network*)(deny network* (local unix-socket))", "error: not-expressible"),
        ("(allow network*)(deny network* (subpath \"/run/x\"))", "error: not-expressible"),
        ("(allow network-bind)(deny network-bind (local unix-socket))", "error: not-expressible"),
        ("(deny network-bind (local unix-socket))", "deny-all"),
        ("(allow network*)(deny network-outbound (remote unix-socket))", "disabled"),
        ("(allow network-bind (local ip \"localhost:8080\"))", "deny-all"),
        ("(allow network-bind (local ip \"*:*\"))", "deny-all bind"),
        ("(allow network-bind (local ip \"*:8080\"))", "error: not-expressible"),
    ];
    for (rules, wanted) in table {
        assert_eq!(meaning(rules), wanted, "{rules}");
    }
    let (policy, _) = read_text("(version 1)(allow default)").unwrap();
    assert_eq!(policy.network.mode.value(), NetworkMode::Disabled);
    for refused in ["network-bind (local unix-socket)", "network-inbound (local unix-socket)"] {
        let problems = read_text(&format!("(version 1)(allow default)(deny {refused})")).err();
        assert_eq!(codes(&problems.unwrap_or_default()), ["not-expressible"], "{refused}");
    }
    let (_, notes) = read_rules("(allow network-bind (local ip \"localhost:8080\"))").unwrap();
    assert_eq!(codes(&notes), ["localhost"], "it is not dropped in silence");
    for name in ["syscall-unix", "syscall*", "system-socket", "system*", "necp-client-open"] {
        let problems = read_rules(&format!("(deny {name})")).err().unwrap_or_default();
        assert_eq!(codes(&problems), ["not-expressible"], "{name}");
        let (_, notes) = read_rules(&format!("(allow {name})")).unwrap();
        assert_eq!(codes(&notes), ["opens-nothing"], "{name}");
    }
}
