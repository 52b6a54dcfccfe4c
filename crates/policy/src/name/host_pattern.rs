//! Hosts as rules name them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::host::{bracketed, check_brackets, unclosed};
use super::{Host, HostName, Invalid, Port, quote};

/// A host that a rule lets through: `example.com`, `*.example.com` for everything below it,
/// `.example.com` for both, an address or a network, each with a port if only that is meant.
///
/// Whoever holds one has nothing left to check: it cannot match every host or a whole top-level
/// domain, a name never matches an address, and an address never a name.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct HostPattern(pub(super) Shape);

impl HostPattern {
    /// Returns whether a connection to `host` at `port` falls under this pattern.
    pub fn matches(&self, host: &Host, port: u16) -> bool {
        self.0.matches(host, port)
    }

    /// Returns whether everything that `other` matches is matched by this pattern too.
    pub fn covers(&self, other: &Self) -> bool {
        self.0.covers(&other.0)
    }

    /// Returns whether some connection falls under both patterns.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.meets(&other.0)
    }
}

impl FromStr for HostPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let shape: Shape = text.parse()?;
        shape.check_narrow(text)?;
        Ok(Self(shape))
    }
}

impl Shape {
    /// Says what makes this too wide to be let through without a question.
    fn check_narrow(&self, text: &str) -> Result<(), Invalid> {
        let shown = quote(text);
        match &self.target {
            Target::Any => Err(Invalid::new("host-everything", format!("{shown} is every host"))
                .with_hint("name the hosts, like `example.com` or `*.example.com`")),
            Target::Name(scope, base) if *scope != Scope::Exact && !base.as_str().contains('.') => {
                let problem = format!("{shown} covers a whole top-level domain");
                Err(Invalid::new("host-top-level", problem)
                    .with_hint(format!("name at least one level more, like `*.example.{base}`")))
            }
            Target::Net(net) if net.is_too_wide_to_grant() => {
                let problem = format!("{shown} is too wide to be allowed");
                Err(Invalid::new("host-network-wide", problem)
                    .with_hint("name smaller networks: at least `/8` for IPv4, `/16` for IPv6"))
            }
            Target::Name(..) | Target::Net(_) => Ok(()),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A host that a rule refuses or asks about: what [`HostPattern`] knows, and also `*`, `*:22`, `*.tld`,
/// `.tld` and networks of any size, since neither a refusal nor a question can be too wide.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct WideHost(pub(super) Shape);

impl WideHost {
    /// Returns whether a connection to `host` at `port` falls under this pattern.
    pub fn matches(&self, host: &Host, port: u16) -> bool {
        self.0.matches(host, port)
    }

    /// Returns whether everything that `other` matches is matched by this pattern too.
    pub fn covers(&self, other: &Self) -> bool {
        self.0.covers(&other.0)
    }

    /// Returns whether it is `*`, at one port or at all: whatever no list knows.
    pub fn is_everything(&self) -> bool {
        self.0.target == Target::Any
    }

    /// Returns whether it means addresses.
    pub fn is_network(&self) -> bool {
        matches!(self.0.target, Target::Net(_))
    }

    /// Returns the same as a pattern that could be let through, if it is none that is too wide.
    pub fn narrow(&self) -> Option<HostPattern> {
        self.0.check_narrow("").is_ok().then(|| HostPattern(self.0.clone()))
    }

    /// Returns whether nothing of what `pattern` lets through is left by this refusal.
    pub fn cancels(&self, pattern: &HostPattern) -> bool {
        self.0.covers(&pattern.0)
    }

    /// Returns whether this refuses something that `pattern` lets through.
    pub fn meets(&self, pattern: &HostPattern) -> bool {
        self.0.meets(&pattern.0)
    }
}

impl From<HostPattern> for WideHost {
    fn from(pattern: HostPattern) -> Self {
        Self(pattern.0)
    }
}

impl FromStr for WideHost {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.parse().map(Self)
    }
}

impl fmt::Display for WideHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What both kinds of pattern are made of.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Shape {
    pub(super) target: Target,
    pub(super) port: Option<Port>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Target {
    Any,
    Name(Scope, HostName),
    Net(Net),
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Scope {
    /// `x`
    Exact,
    /// `*.x`
    Below,
    /// `.x`
    Tree,
}

/// A network, or one address as the narrowest network. The host bits are zero.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Net {
    address: IpAddr,
    prefix: u8,
}

impl Shape {
    fn matches(&self, host: &Host, port: u16) -> bool {
        if !self.takes_port(port) {
            return false;
        }
        match (&self.target, host) {
            (Target::Any, _) => true,
            (Target::Name(scope, base), Host::Name(name)) => match scope {
                Scope::Exact => name == base,
                Scope::Below => name.is_below(base),
                Scope::Tree => name == base || name.is_below(base),
            },
            (Target::Net(net), Host::Ip(address)) => net.contains(*address),
            (Target::Name(..), Host::Ip(_)) | (Target::Net(_), Host::Name(_)) => false,
        }
    }

    fn takes_port(&self, port: u16) -> bool {
        self.port.is_none_or(|only| only.number() == port)
    }

    fn meets(&self, other: &Self) -> bool {
        let one_port = self.port.is_none() || other.port.is_none() || self.port == other.port;
        // Two targets nest or lie apart.
        one_port && (self.target_covers(other) || other.target_covers(self))
    }

    fn covers(&self, other: &Self) -> bool {
        (self.port.is_none() || self.port == other.port) && self.target_covers(other)
    }

    fn target_covers(&self, other: &Self) -> bool {
        match (&self.target, &other.target) {
            (Target::Any, _) => true,
            (Target::Name(scope, base), Target::Name(inner_scope, inner)) => {
                // A scope that reaches below always holds several names, so `Exact` covers none.
                let same = inner == base
                    && match scope {
                        Scope::Exact => *inner_scope == Scope::Exact,
                        Scope::Below => *inner_scope == Scope::Below,
                        Scope::Tree => true,
                    };
                same || *scope != Scope::Exact && inner.is_below(base)
            }
            (Target::Net(net), Target::Net(inner)) => {
                net.prefix <= inner.prefix && net.contains(inner.address)
            }
            (Target::Name(..), Target::Any | Target::Net(_))
            | (Target::Net(_), Target::Any | Target::Name(..)) => false,
        }
    }
}

impl FromStr for Shape {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Some(rest) = text.strip_prefix('[') {
            let (inner, after) = rest.split_once(']').ok_or_else(|| unclosed(text))?;
            let port = match after.strip_prefix(':') {
                Some(port) => Some(port.parse()?),
                None if after.is_empty() => None,
                None => {
                    return Err(match after.strip_prefix('/') {
                        Some(bits) => {
                            let whole = format!("[{inner}/{bits}]");
                            unclosed(text).with_hint(format!("write {}", quote(&whole)))
                        }
                        None => unclosed(text),
                    });
                }
            };
            let (address, prefix) = match inner.split_once('/') {
                Some((address, prefix)) => (address, Some(prefix)),
                None => (inner, None),
            };
            let net = Net::parse(bracketed(address)?.into(), prefix, text)?;
            return Ok(Self { target: Target::Net(net), port });
        }

        // A `/` belongs to a network only after an IPv4 address; anywhere else it starts a path.
        let network = text
            .split_once('/')
            .and_then(|(address, rest)| Some((address.parse::<Ipv4Addr>().ok()?, rest)));
        if let Some((address, rest)) = network {
            let (prefix, port) = split_port(rest)?;
            let net = Net::parse(address.into(), Some(prefix), text)?;
            return Ok(Self { target: Target::Net(net), port });
        }
        check_brackets(text)?;
        let (body, port) = split_port(text)?;
        let target = if body == "*" {
            Target::Any
        } else if let Ok(address) = body.parse::<Ipv4Addr>() {
            Target::Net(Net::parse(address.into(), None, text)?)
        } else {
            name(body, text)?
        };
        Ok(Self { target, port })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Any => f.write_str("*")?,
            Target::Name(Scope::Exact, base) => write!(f, "{base}")?,
            Target::Name(Scope::Below, base) => write!(f, "*.{base}")?,
            Target::Name(Scope::Tree, base) => write!(f, ".{base}")?,
            Target::Net(net) => net.fmt(f)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl Net {
    fn parse(address: IpAddr, prefix: Option<&str>, text: &str) -> Result<Self, Invalid> {
        let widest = if address.is_ipv4() { 32 } else { 128 };
        let bad_prefix = || {
            Invalid::new("host-network", format!("{} is not a network", quote(text)))
                .with_hint(format!("end it with a number of bits, `/0` to `/{widest}`"))
        };
        let prefix: u8 = match prefix {
            None => widest,
            Some(bits) => {
                let plain = bits.bytes().all(|b| b.is_ascii_digit())
                    && (bits == "0" || !bits.starts_with('0'));
                let number = bits.parse().ok().filter(|bits| plain && *bits <= widest);
                number.ok_or_else(bad_prefix)?
            }
        };
        // IPv4 inside IPv6 reaches the same machine, so it is one network under one spelling.
        let (address, prefix) = match (address.to_canonical(), prefix.checked_sub(96)) {
            (canonical @ IpAddr::V4(_), Some(bits)) if address.is_ipv6() => (canonical, bits),
            _ => (address, prefix),
        };
        let net = Self { address: masked(address, prefix), prefix };
        if net.address != address {
            let problem = format!("{} names a host inside a network", quote(text));
            return Err(Invalid::new("host-network-bits", problem)
                .with_hint(format!("write `{net}` for the network")));
        }
        Ok(net)
    }

    pub(super) fn contains(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.address.is_ipv4() && masked(address, self.prefix) == self.address
    }

    /// Networks that stand for all of IPv4 under another name are as wide as that, and the address
    /// zero is this very machine.
    fn is_too_wide_to_grant(self) -> bool {
        const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);
        const SIX_TO_FOUR: Ipv6Addr = Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0);
        let embeds = |net: Ipv6Addr, prefix: u8| {
            self.prefix < prefix && self.contains(net.into())
                || self.prefix < prefix + 8 && masked(self.address, prefix) == IpAddr::V6(net)
        };
        match self.address {
            IpAddr::V4(address) => self.prefix < 8 || address.octets()[0] == 0,
            IpAddr::V6(_) => {
                self.prefix < 16
                    || self.contains(Ipv6Addr::LOCALHOST.into()) && self.prefix < 128
                    || self.contains(Ipv6Addr::UNSPECIFIED.into())
                    || embeds(NAT64, 96)
                    || embeds(SIX_TO_FOUR, 16)
            }
        }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.address, self.prefix) {
            (IpAddr::V4(address), 32) => address.fmt(f),
            (IpAddr::V4(address), prefix) => write!(f, "{address}/{prefix}"),
            (IpAddr::V6(address), 128) => write!(f, "[{address}]"),
            (IpAddr::V6(address), prefix) => write!(f, "[{address}/{prefix}]"),
        }
    }
}

/// Returns `address` with everything after the first `prefix` bits set to zero.
fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    let prefix = u32::from(prefix);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(prefix)).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(prefix)).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

fn split_port(text: &str) -> Result<(&str, Option<Port>), Invalid> {
    match text.rsplit_once(':') {
        Some((body, port)) => Ok((body, Some(port.parse()?))),
        None => Ok((text, None)),
    }
}

fn name(body: &str, text: &str) -> Result<Target, Invalid> {
    let (scope, base) = if let Some(base) = body.strip_prefix("*.") {
        (Scope::Below, base)
    } else if let Some(base) = body.strip_prefix('.') {
        (Scope::Tree, base)
    } else {
        (Scope::Exact, body)
    };
    if base.contains('*') {
        let problem = format!("{} has a `*` that is not a whole first label", quote(text));
        return Err(Invalid::new("host-wildcard", problem)
            .with_hint("a `*` stands before a dot at the start only, like `*.example.com`"));
    }
    if base.is_empty() {
        let problem = format!("{} names no host", quote(text));
        return Err(
            Invalid::new("host-empty", problem).with_hint("write a host, like `example.com`")
        );
    }
    let base: HostName = base.parse()?;
    if scope != Scope::Exact && base.as_str().len() + 2 > HostName::LONGEST {
        let problem = format!("no name can be long enough to be below {}", quote(base.as_str()));
        return Err(Invalid::new("host-length", problem));
    }
    Ok(Target::Name(scope, base))
}
