//! What a policy says of hosts.

use std::net::IpAddr;

use palisade_policy::key::Setting;
use palisade_policy::name::{ByteSize, Host, HostSet};
use palisade_policy::policy::{Network, NetworkMode};

use crate::address::Addresses;

/// The name by which the host's own loopback is reached (Ruling 27).
pub(super) const HOST: &str = "host.palisade.internal";

/// A policy's rules for the network, ready to be asked.
#[derive(Clone, Debug)]
pub struct Rules {
    is_open: bool,
    allow: HostSet,
    allow_texts: Vec<String>,
    deny: HostSet,
    deny_texts: Vec<String>,
    /// Whether what hides its name is refused.
    pub(super) strict: bool,
    host_ports: Vec<u16>,
    pub(super) addresses: Addresses,
    pub(super) budget: Budget,
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
    /// It may not.
    Refused {
        /// A name that never changes.
        code: &'static str,
        /// The rule, if there is one.
        rule: Option<String>,
    },
}

impl Rules {
    /// Makes a policy's rules ready; `own` are the addresses of this machine.
    pub fn new(network: &Network, own: Vec<IpAddr>) -> Self {
        let allow = HostSet::new(network.allow.values());
        let deny = HostSet::of_denied(network.deny.values());
        let bytes = |limit: &Setting<palisade_policy::key::Limit<ByteSize>>| {
            limit.value().0.map(ByteSize::bytes)
        };
        let budget = &network.budget;
        Self {
            is_open: network.mode.value() == NetworkMode::Monitor,
            allow_texts: network.allow.values().map(ToString::to_string).collect(),
            deny_texts: network.deny.values().map(ToString::to_string).collect(),
            strict: network.strict.value().0,
            host_ports: network.host_ports.values().map(|port| port.number()).collect(),
            addresses: Addresses { allowed: allow.clone(), denied: deny.clone(), own },
            budget: Budget {
                upload: bytes(&budget.upload),
                download: bytes(&budget.download),
                per_host: bytes(&budget.per_host),
            },
            allow,
            deny,
        }
    }

    /// Judges a connection.
    pub fn judge(&self, host: &Host, port: u16) -> Judged {
        if is_host(host) {
            return match self.host_ports.contains(&port) {
                true => Judged::Allowed(Some(format!("host_ports: {port}"))),
                false => Judged::Refused { code: "host-port-not-listed", rule: None },
            };
        }
        if let Some(place) = self.deny.find(host, port) {
            let rule = self.deny_texts.get(place).cloned();
            return Judged::Refused { code: "host-denied", rule };
        }
        match self.allow.find(host, port) {
            Some(place) => Judged::Allowed(self.allow_texts.get(place).cloned()),
            None if self.is_open => Judged::Allowed(None),
            None => Judged::Refused { code: "host-not-listed", rule: None },
        }
    }

    /// Judges a question about a name: whether some port of it may be reached.
    pub fn knows(&self, host: &Host) -> bool {
        if is_host(host) {
            return !self.host_ports.is_empty();
        }
        !self.deny.has_every_port(host) && (self.is_open || self.allow.has_any_port(host))
    }

    /// Returns why a name does not exist; a name that never changes.
    pub(super) fn why_unknown(&self, host: &Host) -> &'static str {
        if self.deny.has_every_port(host) { "name-denied" } else { "name-not-listed" }
    }
}

/// Returns whether the host's own loopback is meant.
pub(super) fn is_host(host: &Host) -> bool {
    matches!(host, Host::Name(name) if name.as_str() == HOST)
}
