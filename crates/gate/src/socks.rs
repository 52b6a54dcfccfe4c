//! SOCKS5 (RFC 1928), as far as a proxy inside a box speaks it: no login, and only connections out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str;

use palisade_policy::name::{Host, Port};

use crate::bytes::Bytes;

#[cfg(test)]
mod tests;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;

/// How far the bytes so far have come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reading<T> {
    /// They are the start of something.
    NeedMore,
    /// Here it is, and how many bytes it took. What follows is the client's, for later.
    Done(T, usize),
}

/// Whom a client wants to reach.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// The host. A name that spells an address is one.
    pub host: Host,
    /// The port.
    pub port: u16,
}

/// What a proxy answers to a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply {
    /// The connection stands.
    Succeeded = 0,
    /// Something went wrong.
    Failure = 1,
    /// The policy does not allow it.
    NotAllowed = 2,
    /// There is no way to that network.
    NetworkUnreachable = 3,
    /// There is no way to that host.
    HostUnreachable = 4,
    /// The host refused.
    Refused = 5,
    /// Only connections out are made.
    CommandNotSupported = 7,
    /// The address is of no known kind.
    AddressNotSupported = 8,
}

/// What is wrong with a client's bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// It speaks SOCKS4, which names no hosts.
    #[error("this is SOCKS4")]
    Version4,
    /// It speaks something else.
    #[error("this is not SOCKS5")]
    Version,
    /// It insists on a login.
    #[error("the client offers no way without a login")]
    Login,
    /// A field that must be zero is not.
    #[error("the request is malformed")]
    Malformed,
    /// It wants to be reached, or to send datagrams.
    #[error("only connections out are made")]
    Command,
    /// The kind of its address is unknown.
    #[error("the kind of address is unknown")]
    AddressKind,
    /// What it names is no host.
    #[error("this is no host")]
    Host,
    /// The port is zero.
    #[error("this is no port")]
    Port,
}

/// What a proxy answers to a greeting that it accepts: no login.
pub const WELCOME: [u8; 2] = [VERSION, NO_LOGIN];

/// Reads a greeting: the ways to log in that the client knows.
///
/// # Errors
///
/// Another version, or no way without a login.
pub fn read_greeting(bytes: &[u8]) -> Result<Reading<()>, Fault> {
    read(bytes, |bytes| {
        let Some(version) = bytes.u8() else { return Ok(None) };
        match version {
            VERSION => {}
            4 => return Err(Fault::Version4),
            _ => return Err(Fault::Version),
        }
        let Some(ways) = bytes.short() else { return Ok(None) };
        if ways.contains(&NO_LOGIN) { Ok(Some(())) } else { Err(Fault::Login) }
    })
}

/// Reads a request.
///
/// # Errors
///
/// What is no request to connect to a host that there can be.
pub fn read_request(bytes: &[u8]) -> Result<Reading<Request>, Fault> {
    read(bytes, |bytes| {
        let Some([version, command, reserved, kind]) = bytes.array() else { return Ok(None) };
        if version != VERSION {
            return Err(Fault::Version);
        }
        if reserved != 0 {
            return Err(Fault::Malformed);
        }
        if command != 1 {
            return Err(Fault::Command);
        }
        let host = match kind {
            1 => bytes.array::<4>().map(|octets| Ok(IpAddr::from(Ipv4Addr::from(octets)).into())),
            4 => bytes.array::<16>().map(|octets| Ok(IpAddr::from(Ipv6Addr::from(octets)).into())),
            3 => bytes.short().map(name),
            _ => return Err(Fault::AddressKind),
        };
        // A name that cannot be one is refused before its port is there.
        let Some(host) = host.transpose()? else { return Ok(None) };
        let Some(port) = bytes.u16() else { return Ok(None) };
        let port = Port::try_from(port).map_err(|_| Fault::Port)?.number();
        Ok(Some(Request { host, port }))
    })
}

impl Reply {
    /// Writes the answer. Which address the proxy dialled from is nobody's business inside.
    pub fn write(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

impl Fault {
    /// Returns what to send back before the connection is closed.
    pub fn answer(self) -> Vec<u8> {
        match self {
            // Rejected, in the way of that version.
            Self::Version4 => vec![0, 91, 0, 0, 0, 0, 0, 0],
            Self::Version => Vec::new(),
            Self::Login => vec![VERSION, 0xFF],
            Self::Malformed | Self::Port => Reply::Failure.write().into(),
            Self::Command => Reply::CommandNotSupported.write().into(),
            Self::AddressKind => Reply::AddressNotSupported.write().into(),
            Self::Host => Reply::NotAllowed.write().into(),
        }
    }

    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Version4 => "socks-version-4",
            Self::Version => "socks-version",
            Self::Login => "socks-login",
            Self::Malformed => "socks-malformed",
            Self::Command => "socks-command",
            Self::AddressKind => "socks-address-kind",
            Self::Host => "socks-host",
            Self::Port => "socks-port",
        }
    }
}

/// Reads something of which `read_on` says that it is there, or not yet.
fn read<T>(
    bytes: &[u8],
    read_on: impl FnOnce(&mut Bytes<'_>) -> Result<Option<T>, Fault>,
) -> Result<Reading<T>, Fault> {
    let mut rest = Bytes::new(bytes);
    Ok(match read_on(&mut rest)? {
        Some(done) => Reading::Done(done, bytes.len().saturating_sub(rest.rest().len())),
        None => Reading::NeedMore,
    })
}

fn name(bytes: &[u8]) -> Result<Host, Fault> {
    // Other scripts come as `xn--` on the wire; what is not ASCII was never meant for DNS.
    let text = str::from_utf8(bytes).ok().filter(|text| text.is_ascii()).ok_or(Fault::Host)?;
    text.parse().map_err(|_| Fault::Host)
}
