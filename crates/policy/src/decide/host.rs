//! Hosts that a command names.

use std::net::{IpAddr, Ipv6Addr};

use super::Judge;
use super::verdict::{Answer, Axis, Reason};
use super::walk::Walk;
use crate::command::Arg;
use crate::name::Host;
use crate::policy::{Network, NetworkMode, Reach, Reached, is_outer};
use crate::text::Span;
use crate::url;

/// What the policy says about hosts, ready to be asked.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    mode: NetworkMode,
    reach: Reach,
}

impl Hosts {
    pub(super) fn new(network: &Network) -> Self {
        Self { mode: network.mode.value(), reach: Reach::new(network) }
    }

    /// Returns whether a host that is not listed is the sandbox's own, or is listed for ports of which
    /// the command's may be one.
    fn is_walls_to_tell(&self, host: &Host, port: u16) -> bool {
        let is_unknown = port == 0;
        match host {
            Host::Ip(address) => address.is_loopback() || address.is_unspecified(),
            Host::Name(_) if is_outer(host) => is_unknown && self.reach.has_outer_ports(),
            Host::Name(name) => {
                let name = name.as_str();
                name == "localhost"
                    || name.ends_with(".localhost")
                    || is_unknown && self.reach.lists_some_port(host)
            }
        }
    }
}

impl Judge {
    /// Returns why a host is refused. A name that cannot be told is left to the walls.
    pub(crate) fn refused_host(&self, target: &Arg<'_>) -> Option<Reason> {
        let (host, port) = named(known_host(target)?)?;
        self.refused_reach(&host, port).filter(|refused| match refused.code {
            "host-not-allowed" => !self.network.is_walls_to_tell(&host, port),
            // It is asked about when it is reached.
            "host-asked" => false,
            _ => true,
        })
    }

    /// Returns whether `network.allow` names a host.
    pub(crate) fn lists_host(&self, host: &Host, port: u16) -> bool {
        self.network.reach.allows(host, port)
    }

    /// Returns why one host is refused.
    pub(crate) fn refused_reach(&self, host: &Host, port: u16) -> Option<Reason> {
        let reason = |answer, code, message| Reason {
            answer,
            code,
            axis: Axis::Rule,
            message,
            span: Span::default(),
            origin: None,
            hint: None,
        };
        let refused = |code, message| Some(reason(Answer::Deny, code, message));
        let reached = self.network.reach.judge(host, port);
        if let Reached::Denied(_) = reached {
            return refused("host-denied", format!("`{host}` is in network.deny"));
        }
        let is_named = self.lists_host(host, port) || self.network.reach.asks_by_name(host, port);
        if !is_named && METADATA.contains(&host.to_string().trim_matches(['[', ']'])) {
            return refused("host-denied", format!("`{host}` hands out the machine's keys"));
        }
        match self.network.mode {
            NetworkMode::AllowList | NetworkMode::Monitor => {}
            // Behind the walls nothing connects, and a program that tries is told so.
            NetworkMode::DenyAll | NetworkMode::Disabled => return None,
        }
        match reached {
            Reached::Asked(_) => {
                let message = format!("`{host}` is in network.ask");
                Some(reason(Answer::Ask, "host-asked", message))
            }
            Reached::Unlisted => {
                let message = format!("`{host}` is not in network.allow");
                let hint = Some(format!("list `{host}` in network.allow"));
                Some(Reason { hint, ..reason(Answer::Deny, "host-not-allowed", message) })
            }
            Reached::NoOuterPort => {
                let message = format!("`{host}` is reached at ports in network.host_ports alone");
                refused("host-not-allowed", message)
            }
            Reached::Allowed(_) | Reached::Denied(_) | Reached::Open | Reached::OuterPort => None,
        }
    }
}

impl Walk<'_> {
    /// Judges a host that a command talks to.
    pub(super) fn connect(&mut self, target: &Arg<'_>) {
        let Some(refused) = self.judge.refused_host(target) else { return };
        self.report(Reason { span: target.span, ..refused });
    }
}

/// Whether Bash opens no file at a path, but a connection.
pub(super) fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Returns the address that Bash connects to at a path, as others write it.
pub(super) fn connected(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    Some(rest.replacen('/', ":", 1))
}

/// Services of clouds that give whoever asks from the machine the keys of its owner.
const METADATA: [&str; 7] = [
    "100.100.100.200",
    "169.254.169.254",
    "169.254.170.2",
    "fd00:ec2::254",
    "instance-data",
    "metadata",
    "metadata.google.internal",
];

/// Returns a target's text as far as it names the host, if that much is known.
fn known_host<'a>(target: &'a Arg<'_>) -> Option<&'a str> {
    target.as_known().or_else(|| {
        let start = target.known_start();
        let host = start.find("://").map(|at| at + 3)?;
        start.get(host..).filter(|rest| rest.contains('/')).map(|_| start)
    })
}

/// Returns the host that a URL, `host`, `host:port` or `user@host:path` names.
fn named(text: &str) -> Option<(Host, u16)> {
    if text.contains("://") {
        let parsed = url::host_of(text).ok()?;
        return Some((parsed.host, parsed.port.unwrap_or(0)));
    }
    let bare = text.trim().trim_start_matches('/');
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return Some((IpAddr::from(address).into(), 0));
    }
    let host = bare.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    // Behind the colon stands a port, or a path on that machine.
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && !port.ends_with(']') => (host, port),
        Some(_) | None => (host, ""),
    };
    let host = host.split_once(':').filter(|_| !host.starts_with('[')).map_or(host, |(h, _)| h);
    // As whoever connects reads it: `0xa9.0xfe.1` and `2852039166` are addresses.
    let parsed = url::host_of(&format!("http://{host}")).ok()?;
    Some((parsed.host, port.parse().unwrap_or(0)))
}
