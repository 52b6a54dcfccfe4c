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
    ];
    for (rules, wanted) in table {
        assert_eq!(meaning(rules), wanted, "{rules}");
    }
    let (policy, _) = read_text("(version 1)(allow default)").unwrap();
    assert_eq!(policy.network.mode.value(), NetworkMode::Disabled);
}
