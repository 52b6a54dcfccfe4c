//! The two kinds of host a connection can name: a name and an address.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::{Invalid, Quoted, escape, quote};

/// A host's name in its one spelling: lower case, ASCII (`xn--` where needed), no final dot.
///
/// It is never an address in disguise: `127.1`, `0x7f.1` and `2130706433`, which resolvers read as
/// addresses, are refused.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct HostName(String);

impl HostName {
    /// The longest name that DNS carries, without its final dot.
    pub(super) const LONGEST: usize = 253;

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether this name lies strictly below `parent`.
    pub fn is_below(&self, parent: &Self) -> bool {
        self.0.strip_suffix(&parent.0).is_some_and(|head| head.ends_with('.'))
    }
}

impl FromStr for HostName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_host_alone(text)?;
        let shown = quote(text);
        let ascii = to_ascii(text)?;
        let name = ascii.strip_suffix('.').unwrap_or(&ascii);
        for label in name.split('.') {
            check_label(label, shown)?;
        }
        if name.len() > Self::LONGEST {
            let problem = format!("{shown} is longer than {} characters", Self::LONGEST);
            return Err(Invalid::new("host-length", problem));
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            let problem = format!("{shown} would be read as an address by some resolvers");
            return Err(Invalid::new("host-address", problem)
                .with_hint("write an address as four decimal numbers, like `192.0.2.1`"));
        }
        Ok(Self(name.into()))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whom a connection is for: `api.example.com`, `192.0.2.1`, `[2001:db8::1]`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Host {
    /// A name, to be resolved.
    Name(HostName),
    /// An address. IPv4 inside IPv6 (`::ffff:192.0.2.1`) is kept as IPv4, since it reaches the
    /// same machine.
    Ip(IpAddr),
}

impl From<HostName> for Host {
    fn from(name: HostName) -> Self {
        Self::Name(name)
    }
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Self {
        Self::Ip(address.to_canonical())
    }
}

impl FromStr for Host {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or_else(|| unclosed(text))?;
            return Ok(IpAddr::from(bracketed(inner)?).into());
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(IpAddr::from(address).into());
        }
        check_brackets(text)?;
        text.parse().map(Self::Name)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Ip(IpAddr::V4(address)) => address.fmt(f),
            Self::Ip(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Refuses what is more than a host: a URL, a path, a user, blanks, escapes.
pub(super) fn check_host_alone(text: &str) -> Result<(), Invalid> {
    // Longer than any name even with every character escaped; IDNA need not see more.
    const LONGEST: usize = 2048;
    let shown = quote(text);
    if text.is_empty() {
        return Err(Invalid::new("host-empty", "the host is empty"));
    }
    if text.len() > LONGEST {
        let problem = format!("{shown} is longer than {} characters", HostName::LONGEST);
        return Err(Invalid::new("host-length", problem));
    }
    if text.chars().any(|c| c.is_control() && !c.is_whitespace() || c == '\0') {
        let problem = format!("{shown} contains a control character");
        return Err(Invalid::new("host-control", problem));
    }
    if text.chars().any(char::is_whitespace) {
        return Err(Invalid::new("host-blank", format!("{shown} contains a blank"))
            .with_hint("write one host without blanks"));
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let invalid = Invalid::new("host-scheme", format!("{shown} is a URL"));
        return Err(if host.is_empty() {
            invalid.with_hint(format!("leave out {}", quote(&format!("{scheme}://"))))
        } else {
            invalid.with_hint(format!("write {}", quote(host)))
        });
    }
    if let Some((_, host)) = text.rsplit_once('@') {
        return Err(Invalid::new("host-user", format!("{shown} contains a user name"))
            .with_hint(format!("write {}", quote(host))));
    }
    if text.contains('%') {
        return Err(Invalid::new("host-percent", format!("{shown} contains a `%`"))
            .with_hint("write the characters themselves, without percent-encoding"));
    }
    if let Some((host, _)) = text.split_once(['/', '\\', '?', '#']) {
        return Err(Invalid::new("host-path", format!("{shown} contains a path"))
            .with_hint(format!("write {}", quote(host))));
    }
    Ok(())
}

/// Refuses what is more than a host, and an IPv6 address without brackets: whether its last group
/// is a port cannot be told.
pub(super) fn check_brackets(text: &str) -> Result<(), Invalid> {
    let bare = text.split('/').next().unwrap_or_default();
    if bare.parse::<Ipv6Addr>().is_err() {
        check_host_alone(text)?;
        if text.matches(':').count() < 2 {
            return Ok(());
        }
    }
    let problem = format!("{} looks like an IPv6 address without brackets", quote(text));
    let invalid = Invalid::new("host-brackets", problem);
    Err(if bare.parse::<Ipv6Addr>().is_ok() {
        invalid.with_hint(format!("write `[{text}]`, and a port after the brackets"))
    } else {
        invalid.with_hint("write the address in brackets, like `[2001:db8::1]:443`")
    })
}

pub(super) fn bracketed(inner: &str) -> Result<Ipv6Addr, Invalid> {
    if inner.contains('%') {
        let problem = format!("`[{}]` names an interface", escape(inner));
        return Err(
            Invalid::new("host-zone", problem).with_hint("leave out the `%` and what follows it")
        );
    }
    inner.parse().map_err(|_| {
        let problem = format!("{} is not an IPv6 address", quote(inner));
        Invalid::new("host-address", problem).with_hint("brackets are for IPv6 addresses only")
    })
}

pub(super) fn unclosed(text: &str) -> Invalid {
    let problem = format!("the bracket of {} is not closed where it should be", quote(text));
    Invalid::new("host-brackets", problem).with_hint("write `[address]` or `[address]:port`")
}

fn to_ascii(text: &str) -> Result<Cow<'_, str>, Invalid> {
    let encoded = |label: &str| label.get(..4).is_some_and(|s| s.eq_ignore_ascii_case("xn--"));
    if text.is_ascii() && !text.split('.').any(encoded) {
        return Ok(text.to_ascii_lowercase().into());
    }
    idna::domain_to_ascii_cow(text.as_bytes(), idna::AsciiDenyList::URL).map_err(|_| {
        let problem = format!("{} is not a valid international name", quote(text));
        Invalid::new("host-idna", problem)
    })
}

fn check_label(label: &str, shown: Quoted<'_>) -> Result<(), Invalid> {
    if label.is_empty() {
        let problem = format!("{shown} has an empty label");
        return Err(Invalid::new("host-label", problem).with_hint("put one dot between labels"));
    }
    if label.len() > 63 {
        let problem = format!("{shown} has a label longer than 63 characters");
        return Err(Invalid::new("host-label", problem));
    }
    if let Some(odd) = label.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
        let odd = quote(odd.encode_utf8(&mut [0; 4])).to_string();
        let problem = format!("{shown} contains {odd}, which no host name has");
        return Err(
            Invalid::new("host-character", problem).with_hint("use letters, digits, `-` and dots")
        );
    }
    if label.starts_with('-') || label.ends_with('-') {
        let problem = format!("{shown} has a label that starts or ends with `-`");
        return Err(Invalid::new("host-label", problem));
    }
    Ok(())
}

/// Returns whether a resolver would take a name with this last label for an address.
fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => label.bytes().all(|b| b.is_ascii_digit()),
    }
}
