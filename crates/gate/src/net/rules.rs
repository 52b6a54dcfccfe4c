//! What a policy says of hosts.

use std::net::IpAddr;

use palisade_policy::key::Setting;
use palisade_policy::name::{ByteSize, Host, HostPattern, HostSet, WideHost};
use palisade_policy::policy::{Network, Reach, Reached};

use super::requests::RequestRules;
use crate::address::{Addresses, Own};

/// A policy's rules for the network, ready to be asked.
#[derive(Clone, Debug)]
pub struct Rules {
    reach: Reach,
    allow_texts: Vec<String>,
    deny_texts: Vec<String>,
    ask_texts: Vec<String>,
    asked: HostSet,
    /// Whether what hides its name is refused.
    pub(super) strict: bool,
    pub(super) addresses: Addresses,
    /// For those that a person has agreed to.
    pub(super) asked_addresses: Addresses,
    pub(super) budget: Budget,
    pub(super) requests: RequestRules,
}

/// How many bytes may pass in one run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Budget {
    pub(super) upload: Option<u64>,
    pub(super) download: Option<u64>,
    pub(super) per_host: Option<u64>,
}

/// What the rules say of a host and a port.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Judged {
    /// It may be reached; by this rule, if by one.
    Allowed(Option<String>),
    /// If a person says so; by this rule.
    Asked(Option<String>),
    /// It may not.
    Refused {
        /// A name that never changes.
        code: &'static str,
        /// The rule, if there is one.
        rule: Option<String>,
    },
}

impl Rules {
    /// Makes a policy's rules ready; `own` knows the addresses of this machine.
    pub fn new(network: &Network, own: Own) -> Self {
        let bytes = |limit: &Setting<palisade_policy::key::Limit<ByteSize>>| {
            limit.value().0.map(ByteSize::bytes)
        };
        let budget = &network.budget;
        // Who agrees to what is wider than this agrees to no address that is private.
        let narrow: Vec<HostPattern> = network.ask.values().filter_map(WideHost::narrow).collect();
        let asked_by_address = HostSet::new(&narrow);
        let addresses = Addresses {
            allowed: HostSet::new(network.allow.values()),
            denied: HostSet::of_wide(network.deny.values()),
            own,
        };
        Self {
            reach: Reach::new(network),
            allow_texts: network.allow.values().map(ToString::to_string).collect(),
            deny_texts: network.deny.values().map(ToString::to_string).collect(),
            ask_texts: network.ask.values().map(|host| format!("ask: {host}")).collect(),
            asked: HostSet::of_wide(network.ask.values()),
            requests: RequestRules::new(network),
            strict: network.strict.value().0,
            asked_addresses: Addresses { allowed: asked_by_address, ..addresses.clone() },
            addresses,
            budget: Budget {
                upload: bytes(&budget.upload),
                download: bytes(&budget.download),
                per_host: bytes(&budget.per_host),
            },
        }
    }

    /// Judges a connection.
    pub fn judge(&self, host: &Host, port: u16) -> Judged {
        match self.reach.judge(host, port) {
            Reached::Denied(place) => {
                let rule = self.deny_texts.get(place).cloned();
                Judged::Refused { code: "host-denied", rule }
            }
            Reached::OuterPort => Judged::Allowed(Some(format!("host_ports: {port}"))),
            Reached::NoOuterPort => Judged::Refused { code: "host-port-not-listed", rule: None },
            Reached::Asked(place) => Judged::Asked(self.ask_texts.get(place).cloned()),
            Reached::Allowed(place) => Judged::Allowed(self.allow_texts.get(place).cloned()),
            Reached::Open => Judged::Allowed(None),
            Reached::Unlisted => Judged::Refused { code: "host-not-listed", rule: None },
        }
    }

    /// Returns the rule by which a person is to be asked about an address, alone or by its network,
    /// whatever name leads there.
    pub(super) fn asks_at(&self, address: IpAddr, port: u16) -> Option<String> {
        let place = self.asked.find_specific(&Host::from(address), port)?;
        self.ask_texts.get(place).cloned()
    }

    /// Judges a question about a name: whether some port of it may be reached.
    pub fn knows(&self, host: &Host) -> bool {
        self.reach.knows(host)
    }

    /// Returns why a name does not exist: a name that never changes, and the rule if there is one.
    pub(super) fn why_unknown(&self, host: &Host) -> (&'static str, Option<String>) {
        match self.reach.denied_anywhere(host) {
            Some(place) => ("name-denied", self.deny_texts.get(place).cloned()),
            None => ("name-not-listed", None),
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_policy::key::{Grants, Refusals, Sourced};
    use palisade_policy::layer::{Layer, Origin};
    use palisade_policy::policy::{NetworkMode, OUTER as HOST};

    use super::*;

    fn sourced<T: std::str::FromStr>(texts: &[&str]) -> Vec<Sourced<T>> {
        let origin = Origin::of(Layer::User);
        let parsed = texts.iter().map(|text| text.parse().ok().unwrap());
        parsed.map(|value| Sourced { value, origin: origin.clone() }).collect()
    }

    fn rules(mode: NetworkMode) -> Rules {
        let network = Network {
            mode: Setting::new(Sourced { value: mode, origin: Origin::of(Layer::User) }),
            allow: Grants::new(sourced(&["a.test", "*.pkg.test:443", "192.0.2.0/24"])),
            deny: Refusals::new(sourced(&["bad.pkg.test", "b.test:25"])),
            ask: Grants::new(sourced(&["a.test", "q.test:443", "bad.pkg.test"])),
            host_ports: Grants::new(sourced(&["5432"])),
            ..Network::default()
        };
        Rules::new(&network, Own::default())
    }

    fn word(rules: &Rules, host: &str, port: u16) -> &'static str {
        match rules.judge(&host.parse().unwrap(), port) {
            Judged::Allowed(_) => "allowed",
            Judged::Asked(_) => "asked",
            Judged::Refused { code, .. } => code,
        }
    }

    #[test]
    fn what_is_refused_goes_before_what_is_asked_and_that_before_what_is_allowed() {
        let list = rules(NetworkMode::AllowList);
        #[rustfmt::skip]
        let cases = [
            ("a.test",                 80,   "asked",                "asked"),
            ("x.pkg.test",             443,  "allowed",              "allowed"),
            ("x.pkg.test",             80,   "host-not-listed",      "allowed"),
            ("pkg.test",               443,  "host-not-listed",      "allowed"),
            ("bad.pkg.test",           443,  "host-denied",          "host-denied"),
            ("192.0.2.7",              1,    "allowed",              "allowed"),
            ("192.0.3.7",              1,    "host-not-listed",      "allowed"),
            ("b.test",                 25,   "host-denied",          "host-denied"),
            ("b.test",                 26,   "host-not-listed",      "allowed"),
            ("q.test",                 443,  "asked",                "asked"),
            ("q.test",                 80,   "host-not-listed",      "allowed"),
            ("host.palisade.internal", 5432, "allowed",              "allowed"),
            ("host.palisade.internal", 22,   "host-port-not-listed", "host-port-not-listed"),
        ];
        let monitor = rules(NetworkMode::Monitor);
        for (host, port, listed, monitored) in cases {
            assert_eq!(word(&list, host, port), listed, "{host}:{port}");
            assert_eq!(word(&monitor, host, port), monitored, "{host}:{port}");
        }
    }

    #[test]
    fn a_question_about_everything_is_about_what_no_list_knows() {
        let asking = |mode| {
            let network = Network {
                mode: Setting::new(Sourced { value: mode, origin: Origin::of(Layer::User) }),
                allow: Grants::new(sourced(&["a.test", "192.0.2.9"])),
                deny: Refusals::new(sourced(&["bad.test"])),
                ask: Grants::new(sourced(&["*", "192.0.2.7"])),
                ..Network::default()
            };
            Rules::new(&network, Own::default())
        };
        let (list, monitor) = (asking(NetworkMode::AllowList), asking(NetworkMode::Monitor));
        #[rustfmt::skip]
        let cases = [
            ("a.test",                 80, "allowed",              "allowed"),
            ("192.0.2.9",              80, "allowed",              "allowed"),
            ("bad.test",               80, "host-denied",          "host-denied"),
            ("unknown.test",           80, "asked",                "asked"),
            ("192.0.2.7",              80, "asked",                "asked"),
            // An address is not opened by a list that does not name it; nor is it let through unasked.
            ("192.0.2.8",              80, "host-not-listed",      "asked"),
            ("169.254.169.254",        80, "host-not-listed",      "asked"),
            ("host.palisade.internal", 22, "host-port-not-listed", "host-port-not-listed"),
        ];
        for (host, port, listed, monitored) in cases {
            assert_eq!(word(&list, host, port), listed, "{host}:{port}");
            assert_eq!(word(&monitor, host, port), monitored, "{host}:{port}");
        }
        assert!(list.knows(&"unknown.test".parse().unwrap()));
        assert!(!list.knows(&"bad.test".parse().unwrap()));
        // Who agrees to it does not open what is private.
        let metadata = "169.254.169.254".parse().unwrap();
        assert!(monitor.asked_addresses.judge(metadata, 80).is_err());
    }

    #[test]
    fn what_is_refused_goes_before_the_ports_of_the_host() {
        let host: Host = HOST.parse().unwrap();
        #[rustfmt::skip]
        let cases: [(&[&str], &str, bool); 6] = [
            (&["*"],                           "host-denied", false),
            (&["*:5432"],                      "host-denied", false),
            (&["*.palisade.internal"],         "host-denied", false),
            (&["host.palisade.internal:5432"], "host-denied", false),
            (&["host.palisade.internal:22"],   "allowed",     true),
            (&["palisade.internal"],           "allowed",     true),
        ];
        for (denied, expected, is_known) in cases {
            let network = Network {
                mode: Setting::new(Sourced {
                    value: NetworkMode::AllowList,
                    origin: Origin::of(Layer::User),
                }),
                deny: Refusals::new(sourced(denied)),
                host_ports: Grants::new(sourced(&["5432"])),
                ..Network::default()
            };
            let rules = Rules::new(&network, Own::default());
            assert_eq!(word(&rules, HOST, 5432), expected, "{denied:?}");
            assert_eq!(rules.knows(&host), is_known, "{denied:?}");
            let rule = denied.first().map(ToString::to_string);
            assert!(is_known || rules.why_unknown(&host) == ("name-denied", rule), "{denied:?}");
        }
    }

    #[test]
    fn a_name_exists_if_some_port_of_it_may_be_reached() {
        let list = rules(NetworkMode::AllowList);
        let known = |host: &str| list.knows(&host.parse().unwrap());
        assert!(known("a.test") && known("x.pkg.test") && known("q.test") && known(HOST));
        assert!(!known("pkg.test") && !known("bad.pkg.test") && !known("elsewhere.test"));
        let why = |host: &str| list.why_unknown(&host.parse().unwrap());
        assert_eq!(why("bad.pkg.test"), ("name-denied", Some("bad.pkg.test".into())));
        assert_eq!(
            (why("pkg.test"), why("b.test")),
            (("name-not-listed", None), ("name-not-listed", None))
        );
        let monitor = rules(NetworkMode::Monitor);
        let known = |host: &str| monitor.knows(&host.parse().unwrap());
        assert!(known("elsewhere.test") && known("b.test") && !known("bad.pkg.test"));
    }
}
