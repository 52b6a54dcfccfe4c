//! Whether a URL or a host may be reached.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use super::parsed::{Parsed, Spelled, host_of, other_readings};
use super::public::is_public;
use crate::name::{Host, HostPattern, HostSet, Invalid, Port};

/// Whom one may reach.
#[derive(Clone, Debug)]
pub enum Allowed {
    /// Any host of the public Internet. No policy file can say it (Ruling 16).
    AnyPublic,
    /// The hosts of a list.
    Listed(HostSet),
}

/// What became of a URL or a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Judged {
    /// The host it names, if it names one.
    pub host: Option<Host>,
    /// Why it may not be reached; none if it may.
    pub refusal: Option<Refusal>,
}

/// Why a URL or a host may not be reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// It is no URL, or names no host.
    Unreadable,
    /// It is a URL of something else than the web.
    Scheme,
    /// Programs would read different hosts in it, and not all of them may be reached.
    Ambiguous,
    /// Its host is spelled to be overlooked.
    OddSpelling,
    /// Its host is not on the list.
    NotListed,
    /// Its host is not of the public Internet.
    NotPublic,
}

impl Allowed {
    /// Reads a list as `check --jsonl` gets it: `*` alone is any public host, anything else a host
    /// pattern.
    ///
    /// # Errors
    ///
    /// The first entry that is no pattern.
    pub fn read<'a>(list: impl IntoIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let list: Vec<&str> = list.into_iter().collect();
        if list == ["*"] {
            return Ok(Self::AnyPublic);
        }
        let patterns: Result<Vec<HostPattern>, Invalid> =
            list.iter().map(|text| text.parse()).collect();
        Ok(Self::Listed(HostSet::new(&patterns?)))
    }

    fn refuse(&self, host: &Host, port: u16, spelled: Spelled) -> Option<Refusal> {
        match self {
            // Who names a host knows it, however it is spelled.
            Self::Listed(set) => set.find(host, port).is_none().then_some(Refusal::NotListed),
            Self::AnyPublic if !is_public(host) => Some(Refusal::NotPublic),
            Self::AnyPublic if spelled == Spelled::Oddly => Some(Refusal::OddSpelling),
            Self::AnyPublic => None,
        }
    }
}

/// Judges the URL of a web page or service.
pub fn judge_url(text: &str, allowed: &Allowed) -> Judged {
    let Ok(Parsed { scheme, host, port, spelled }) = host_of(text) else {
        return Judged { host: None, refusal: Some(Refusal::Unreadable) };
    };
    let port = port.unwrap_or_default();
    let refusal = if matches!(&*scheme, "http" | "https") {
        allowed.refuse(&host, port, spelled).or_else(|| {
            let mut others = other_readings(text, &host).filter(|other| *other != host);
            let refused = others.any(|other| allowed.refuse(&other, port, spelled).is_some());
            refused.then_some(Refusal::Ambiguous)
        })
    } else {
        Some(Refusal::Scheme)
    };
    Judged { host: Some(host), refusal }
}

/// Judges a host, with a port after it or without.
pub fn judge_host(text: &str, allowed: &Allowed) -> Judged {
    let text = text.trim();
    let read = match text.parse::<Ipv6Addr>() {
        Ok(address) => Ok((IpAddr::from(address).into(), 0)),
        Err(_) => with_port(text),
    };
    let Ok((host, port)) = read else {
        return Judged { host: None, refusal: Some(Refusal::Unreadable) };
    };
    let refusal = allowed.refuse(&host, port, Spelled::Plainly);
    Judged { host: Some(host), refusal }
}

fn with_port(text: &str) -> Result<(Host, u16), Invalid> {
    // The colons of an address in brackets are its own.
    let bracket = text.rfind(']').unwrap_or_default();
    match text.rfind(':').filter(|colon| *colon > bracket) {
        Some(colon) => {
            let (host, port) = text.split_at(colon);
            let port: Port = port.trim_start_matches(':').parse()?;
            Ok((host.parse()?, port.number()))
        }
        None => Ok((text.parse()?, 0)),
    }
}

impl Refusal {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unreadable => "url-unreadable",
            Self::Scheme => "url-scheme",
            Self::Ambiguous => "url-ambiguous",
            Self::OddSpelling => "host-odd-spelling",
            Self::NotListed => "host-not-listed",
            Self::NotPublic => "host-not-public",
        }
    }
}

/// What is wrong, to be put after the URL.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "names no host",
            Self::Scheme => "is not a URL of the web",
            Self::Ambiguous => "names different hosts to different programs",
            Self::OddSpelling => "spells its host so that it is easily overlooked",
            Self::NotListed => "names a host that is not on the list",
            Self::NotPublic => "names a host that is not of the public Internet",
        })
    }
}
