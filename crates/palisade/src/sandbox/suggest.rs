//! The smallest list of hosts that would have let a run pass.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use palisade_gate::address::Addresses;
use palisade_gate::traffic::{Connection, Report, Verdict};
use palisade_policy::name::Host;
use palisade_policy::text::visible;
use serde_json::{Value, json};

/// The name of the host's own loopback inside (Ruling 27).
const HOST: &str = "host.palisade.internal";

/// A list of hosts, made from what a run reached or asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Suggestion {
    /// What `network.allow` would list.
    pub allow: Vec<String>,
    /// What `network.host_ports` would.
    pub host_ports: Vec<u16>,
    /// What a list of names does not open: who, and the code of the refusal.
    pub refused: Vec<(String, &'static str)>,
    /// How many connections were not recorded, so that something may be missing.
    pub unrecorded: u64,
}

impl Suggestion {
    /// Reads it off what went through.
    pub(super) fn of(report: &Report) -> Self {
        let (mut allow, mut ports) = (BTreeSet::new(), BTreeSet::new());
        let (mut addresses, mut asked) = (BTreeSet::new(), BTreeSet::new());
        let mut refused = BTreeSet::new();
        // What was said to a proxy may name nobody.
        for one in report.connections.iter().filter(|one| !one.host.is_empty()) {
            match fate(one) {
                Fate::Wanted => {}
                Fate::Refused(code) => {
                    refused.insert((place(&one.host, one.port), code));
                    continue;
                }
                Fate::Nothing => continue,
            }
            match one.port {
                Some(port) if one.host == HOST => drop(ports.insert(port)),
                Some(port) => drop(allow.insert((one.host.clone(), port))),
                None => drop(asked.insert(one.host.clone())),
            }
            // Where a name leads is judged apart, unless the address is listed.
            let dialled = one.address.filter(|_| one.host != HOST).map(|address| address.ip());
            let dialled = dialled.filter(|ip| Host::from(*ip).to_string() != one.host);
            addresses.extend(dialled.filter(|ip| Addresses::default().judge(*ip, 0).is_err()));
        }
        // Of a name that was only asked for nobody knows the port.
        asked.retain(|name| *name != HOST && !allow.iter().any(|(host, _)| host == name));
        let mut list: Vec<String> =
            allow.iter().map(|(host, port)| place(host, Some(*port))).collect();
        list.extend(asked);
        // As policies write them: IPv6 in brackets.
        list.extend(addresses.into_iter().map(|ip| Host::from(ip).to_string()));
        Self {
            allow: list,
            host_ports: ports.into_iter().collect(),
            refused: refused.into_iter().collect(),
            unrecorded: report.more,
        }
    }

    /// Returns it as a part of a policy file.
    pub fn yaml(&self) -> String {
        let mut text = String::from("network:\n  mode: allow-list\n");
        if self.allow.is_empty() && self.host_ports.is_empty() {
            text = String::from("# nothing was reached\nnetwork:\n  mode: deny-all\n");
        }
        if !self.allow.is_empty() {
            text.push_str("  allow:\n");
            for host in &self.allow {
                // Names were parsed, and have nothing in them that ends a string.
                writeln!(text, "    - \"{}\"", visible(host)).ok();
            }
        }
        if !self.host_ports.is_empty() {
            let ports: Vec<String> = self.host_ports.iter().map(ToString::to_string).collect();
            writeln!(text, "  host_ports: [{}]", ports.join(", ")).ok();
        }
        for (host, code) in &self.refused {
            let unless = if may_be_listed(code) {
                "refused unless `allow` lists the address too"
            } else {
                "refused whatever is listed here"
            };
            writeln!(text, "# {unless}: {} ({code})", visible(host)).ok();
        }
        if self.unrecorded > 0 {
            writeln!(text, "# {} more connections were not recorded", self.unrecorded).ok();
        }
        text
    }

    /// Returns it for programs.
    pub fn json(&self) -> Value {
        let refused = self.refused.iter();
        json!({
            "allow": self.allow,
            "host_ports": self.host_ports,
            "refused": refused.map(|(host, code)| json!({ "host": host, "code": code }))
                .collect::<Vec<_>>(),
            "unrecorded": self.unrecorded,
        })
    }
}

/// What a connection means for the list.
enum Fate {
    /// It came about, or would have, had it been listed.
    Wanted,
    /// Something else than the list refused it.
    Refused(&'static str),
    /// It would not have come about anyway.
    Nothing,
}

fn fate(one: &Connection) -> Fate {
    match one.verdict {
        // It was there, until it was cut or left.
        Verdict::Allowed | Verdict::Cut(_) | Verdict::Untaken => Fate::Wanted,
        Verdict::Refused(
            "host-not-listed"
            | "name-not-listed"
            | "host-port-not-listed"
            | "ask-nobody"
            | "ask-full",
        ) => Fate::Wanted,
        Verdict::Refused(code) => Fate::Refused(code),
        // The other side is to blame.
        Verdict::Failed(_) => Fate::Nothing,
    }
}

/// Whether a refusal is of an address by its kind, which counts no more once it is listed.
fn may_be_listed(code: &str) -> bool {
    code.starts_with("address-") && code != "address-denied"
}

/// Returns a host and its port as policies write them. An IPv6 address has its brackets already.
fn place(host: &str, port: Option<u16>) -> String {
    match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use palisade_gate::traffic::Via;
    use palisade_policy::Policy;
    use palisade_policy::layer::Layer;
    use palisade_policy::name::Anchors;
    use palisade_policy::policy::Document;
    use palisade_policy::text::Source;

    use super::*;

    fn one(
        host: &str,
        port: Option<u16>,
        address: Option<&str>,
        refused: Option<&'static str>,
    ) -> Connection {
        Connection {
            at: Duration::ZERO,
            // As the doors tell it.
            host: host.parse::<Host>().unwrap().to_string(),
            port,
            address: address.map(|text| (text.parse::<std::net::IpAddr>().unwrap(), 1).into()),
            via: Via::Direct,
            verdict: match refused {
                None => Verdict::Allowed,
                Some(code @ ("name-unknown" | "connection-refused" | "unreachable")) => {
                    Verdict::Failed(code)
                }
                Some(code) if code.starts_with("budget-") => Verdict::Cut(code),
                Some(code) => Verdict::Refused(code),
            },
            rule: None,
            sent: 0,
            received: 0,
            duration: Duration::ZERO,
            requests: Vec::new(),
            more_requests: 0,
        }
    }

    fn read(text: &str) -> Policy {
        let anchors = Anchors { root: "/w".into(), home: None };
        Document::parse(&Source::new("x.yaml", text), Layer::User, &anchors).unwrap().policy
    }

    #[test]
    fn the_list_holds_what_was_reached_or_wanted_and_nothing_else() {
        let connections = vec![
            one("b.test", Some(443), Some("203.0.114.5"), None),
            one("b.test", Some(443), Some("203.0.114.5"), None),
            one("b.test", Some(80), Some("203.0.114.5"), Some("budget-upload")),
            one("a.test", Some(22), Some("10.0.0.7"), None),
            one("[2001:db8::1]", Some(443), Some("2001:db8::1"), None),
            one("[fd00::7]", Some(22), None, Some("host-not-listed")),
            one("six.test", Some(443), Some("fd00::9"), None),
            one("[::ffff:10.0.0.8]", Some(22), Some("10.0.0.8"), None),
            one("[::1]", Some(80), None, Some("address-loopback")),
            one("wanted.test", Some(443), None, Some("host-not-listed")),
            one("asked.test", None, None, Some("name-not-listed")),
            one("wanted.test", None, None, Some("name-not-listed")),
            one(HOST, Some(5432), Some("127.0.0.1"), None),
            one(HOST, Some(80), None, Some("host-port-not-listed")),
            one("denied.test", Some(443), None, Some("host-denied")),
            one("nowhere.test", Some(443), None, Some("name-unknown")),
        ];
        let suggestion = Suggestion::of(&Report { connections, more: 3, ..Report::default() });
        let allow = [
            "10.0.0.8:22",
            "[2001:db8::1]:443",
            "[fd00::7]:22",
            "a.test:22",
            "b.test:80",
            "b.test:443",
            "six.test:443",
            "wanted.test:443",
            "asked.test",
            "10.0.0.7",
            "[fd00::9]",
        ];
        assert_eq!(suggestion.allow, allow);
        assert_eq!(suggestion.host_ports, [80, 5432]);
        let refused = [("[::1]:80", "address-loopback"), ("denied.test:443", "host-denied")];
        assert_eq!(suggestion.refused, refused.map(|(host, code)| (host.to_owned(), code)));
        let policy = read(&suggestion.yaml());
        let listed: Vec<_> = policy.network.allow.values().map(ToString::to_string).collect();
        assert_eq!(listed, allow, "{}", suggestion.yaml());
        assert_eq!(policy.network.host_ports.values().count(), 2);
        assert!(suggestion.yaml().ends_with("# 3 more connections were not recorded\n"));
    }

    #[test]
    fn what_stays_refused_is_told_apart_from_addresses_that_can_be_listed() {
        let connections = vec![
            one("vm.test", Some(80), None, Some("address-private")),
            one("10.0.0.9", Some(80), None, Some("address-denied")),
            one("denied.test", Some(443), None, Some("host-denied")),
        ];
        let yaml = Suggestion::of(&Report { connections, ..Report::default() }).yaml();
        let comments: Vec<_> = yaml.lines().filter(|line| line.starts_with("# refused")).collect();
        assert_eq!(
            comments,
            [
                "# refused whatever is listed here: 10.0.0.9:80 (address-denied)",
                "# refused whatever is listed here: denied.test:443 (host-denied)",
                "# refused unless `allow` lists the address too: vm.test:80 (address-private)",
            ]
        );
    }

    #[test]
    fn without_anything_reached_the_network_may_be_closed() {
        let policy = read(&Suggestion::of(&Report::default()).yaml());
        assert_eq!(policy.network.mode.value().to_string(), "deny-all");
    }
}
