//! What the lists say of a host: one reading for who decides about a command and for who carries its
//! connections.

use super::{Network, NetworkMode};
use crate::name::{Host, HostSet};

/// The name by which the host's own loopback is reached (Ruling 27).
pub const OUTER: &str = "host.palisade.internal";

/// A policy's lists of hosts, ready to be asked.
#[derive(Clone, Debug)]
pub struct Reach {
    is_open: bool,
    allow: HostSet,
    deny: HostSet,
    ask: HostSet,
    /// Ports of the host's own loopback.
    ports: Vec<u16>,
}

/// What the lists say of a host and a port. Numbers are places in the list that says it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reached {
    /// `deny` has it.
    Denied(usize),
    /// It is the host's loopback, and `host_ports` has the port.
    OuterPort,
    /// It is the host's loopback, and `host_ports` does not have the port.
    NoOuterPort,
    /// `ask` has it.
    Asked(usize),
    /// `allow` has it.
    Allowed(usize),
    /// No list has it, and the mode opens every public host.
    Open,
    /// No list has it.
    Unlisted,
}

impl Reach {
    /// Makes the lists ready. In modes without a filter they are read as in `allow-list`.
    pub fn new(network: &Network) -> Self {
        Self {
            is_open: network.mode.value() == NetworkMode::Monitor,
            allow: HostSet::new(network.allow.values()),
            deny: HostSet::of_wide(network.deny.values()),
            ask: HostSet::of_wide(network.ask.values()),
            ports: network.host_ports.values().map(|port| port.number()).collect(),
        }
    }

    /// Judges a connection: `deny` before `ask`, that before `allow` (Ruling 2), and last the `*` of
    /// `ask`, which is about what no list knows. Where only what is listed is reached, `*` is about
    /// names: an address has to be listed.
    pub fn judge(&self, host: &Host, port: u16) -> Reached {
        if let Some(place) = self.deny.find(host, port) {
            return Reached::Denied(place);
        }
        if is_outer(host) {
            return match self.ask.find_specific(host, port) {
                _ if !self.ports.contains(&port) => Reached::NoOuterPort,
                Some(place) => Reached::Asked(place),
                None => Reached::OuterPort,
            };
        }
        if let Some(place) = self.ask.find_specific(host, port) {
            return Reached::Asked(place);
        }
        if let Some(place) = self.allow.find(host, port) {
            return Reached::Allowed(place);
        }
        let asks = self.is_open || matches!(host, Host::Name(_));
        match self.ask.find(host, port).filter(|_| asks) {
            Some(place) => Reached::Asked(place),
            None if self.is_open => Reached::Open,
            None => Reached::Unlisted,
        }
    }

    /// Judges a question about a name: whether some port of it may be reached.
    pub fn knows(&self, host: &Host) -> bool {
        if is_outer(host) {
            return self.ports.iter().any(|port| self.deny.find(host, *port).is_none());
        }
        (self.is_open || self.lists_some_port(host)) && !self.deny.has_every_port(host)
    }

    /// Returns whether `allow` or `ask` has a host at some port.
    pub fn lists_some_port(&self, host: &Host) -> bool {
        self.allow.has_any_port(host) || self.ask.has_any_port(host)
    }

    /// Returns whether `allow` names a host.
    pub fn allows(&self, host: &Host, port: u16) -> bool {
        self.allow.find(host, port).is_some()
    }

    /// Returns whether `ask` names a host, other than by `*`.
    pub fn asks_by_name(&self, host: &Host, port: u16) -> bool {
        self.ask.find_specific(host, port).is_some()
    }

    /// Returns the place in `deny` of what refuses a host at every port that it could have.
    pub fn denied_anywhere(&self, host: &Host) -> Option<usize> {
        // No port is zero: only a rule for every port is found there.
        let ports = if is_outer(host) { &*self.ports } else { &[0][..] };
        ports.iter().find_map(|port| self.deny.find(host, *port))
    }

    /// Returns whether some port of the host's own loopback is open.
    pub fn has_outer_ports(&self) -> bool {
        !self.ports.is_empty()
    }
}

/// Returns whether the host's own loopback is meant.
pub fn is_outer(host: &Host) -> bool {
    matches!(host, Host::Name(name) if name.as_str() == OUTER)
}
