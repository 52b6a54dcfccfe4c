//! For whom a request is.

use std::fmt;
use std::str;

use palisade_policy::name::{Host, Port};

use super::fault::Fault;

/// A host, and a port if one is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Authority {
    /// The host.
    pub host: Host,
    /// The port.
    pub port: Option<u16>,
}

/// The forms of a target (RFC 9112, section 3.2). Whom it names stands in the head.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// A URL, as proxies are asked; its path and query.
    Absolute(Vec<u8>),
    /// The whole server.
    Asterisk,
    /// A connection is to be made.
    Connect,
    /// A path and query, as servers are asked.
    Origin(Vec<u8>),
}

impl Target {
    /// Returns the path and query, for people.
    pub fn path(&self) -> String {
        match self {
            Self::Absolute(path) | Self::Origin(path) => String::from_utf8_lossy(path).into_owned(),
            Self::Asterisk => "*".into(),
            Self::Connect => String::new(),
        }
    }
}

impl Authority {
    /// Reads `example.com`, `example.com:8080`, `[2001:db8::1]:80`.
    pub(super) fn read(text: &[u8]) -> Result<Self, Fault> {
        // Other scripts come as `xn--` on the wire.
        let text = str::from_utf8(text).ok().filter(|text| text.is_ascii()).ok_or(Fault::Host)?;
        if text.contains('@') {
            return Err(Fault::User);
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            Some(_) | None => (text, None),
        };
        let host = host.parse().map_err(|_| Fault::Host)?;
        let port = port.map(str::parse::<Port>).transpose().map_err(|_| Fault::Port)?;
        Ok(Self { host, port: port.map(Port::number) })
    }

    /// Returns whether both are one server to somebody whose usual port is `usual`.
    pub(super) fn is(&self, other: &Self, usual: u16) -> bool {
        let port = |authority: &Self| authority.port.unwrap_or(usual);
        self.host == other.host && port(self) == port(other)
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.host.fmt(f)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Reads the target of a request, and whom it names, if it does.
pub(super) fn read(method: &str, text: &[u8]) -> Result<(Target, Option<Authority>), Fault> {
    if method == "CONNECT" {
        let authority = Authority::read(text)?;
        // Which port is meant otherwise is for nobody to guess.
        authority.port.ok_or(Fault::Port)?;
        return Ok((Target::Connect, Some(authority)));
    }
    // A fragment never leaves its browser; blanks would be part of the first line.
    if text.iter().any(|byte| matches!(byte, 0..=b' ' | b'#' | 0x7F)) {
        return Err(Fault::Target);
    }
    match text {
        b"*" if method == "OPTIONS" => Ok((Target::Asterisk, None)),
        [b'/', ..] => Ok((Target::Origin(text.to_vec()), None)),
        _ => absolute(text),
    }
}

fn absolute(text: &[u8]) -> Result<(Target, Option<Authority>), Fault> {
    const SCHEME: &[u8] = b"http://";
    let rest = match text.split_at_checked(SCHEME.len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => rest,
        Some(_) | None => {
            let is_url = text.windows(3).any(|three| three == b"://");
            return Err(if is_url { Fault::Scheme } else { Fault::Target });
        }
    };
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).ok_or(Fault::Target)?;
    let authority = Authority::read(authority)?;
    let path = if path.starts_with(b"/") { path.to_vec() } else { [b"/", path].concat() };
    Ok((Target::Absolute(path), Some(authority)))
}
