//! The first bytes of a packet that the kernel holds: who wants to reach whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::bytes::Bytes;

#[cfg(test)]
mod tests;

/// Headers that may stand between IPv6 and TCP.
const MOST_EXTENSIONS: usize = 8;

const TCP: u8 = 6;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// What a TCP packet says of its connection.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Packet {
    /// Where it comes from.
    pub source: SocketAddr,
    /// Where it is to go.
    pub destination: SocketAddr,
    /// Whether it asks for a new connection: SYN, and none of the flags that answer or end one.
    pub is_syn: bool,
}

/// Why a packet cannot be judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// It ends before its headers do.
    #[error("the packet is cut off")]
    Short,
    /// It is neither IPv4 nor IPv6.
    #[error("the packet is not of the Internet protocol")]
    Version,
    /// A length in it contradicts another.
    #[error("the packet has a wrong length")]
    Length,
    /// It is a part of a packet. The others may have no ports at all.
    #[error("the packet is a fragment")]
    Fragment,
    /// It is sent by way of other machines, so its destination is not where it goes.
    #[error("the packet names its own route")]
    Route,
    /// It is something else than TCP, or TCP is hidden behind too much.
    #[error("the packet is not TCP")]
    Protocol,
}

impl Packet {
    /// Reads the first bytes of a packet; 128 are enough for every packet that is not refused for
    /// its headers.
    ///
    /// # Errors
    ///
    /// Why nothing can be said about it. Such a packet is to be dropped.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => read_4(bytes),
            Some(6) => read_6(bytes),
            Some(_) => Err(Fault::Version),
            None => Err(Fault::Short),
        }
    }
}

impl Fault {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Short => "packet-short",
            Self::Version => "packet-version",
            Self::Length => "packet-length",
            Self::Fragment => "packet-fragment",
            Self::Route => "packet-route",
            Self::Protocol => "packet-protocol",
        }
    }
}

fn read_4(packet: &[u8]) -> Result<Packet, Fault> {
    let mut bytes = Bytes::new(packet);
    let [first, _, long_0, long_1, _, _, part_0, part_1, _, protocol, _, _] =
        bytes.array().ok_or(Fault::Short)?;
    let source: [u8; 4] = bytes.array().ok_or(Fault::Short)?;
    let destination: [u8; 4] = bytes.array().ok_or(Fault::Short)?;
    let header = usize::from(first & 15) * 4;
    let options = header.checked_sub(20).ok_or(Fault::Length)?;
    // More fragments follow, or this one is not the first.
    if u16::from_be_bytes([part_0, part_1]) & 0x3FFF != 0 {
        return Err(Fault::Fragment);
    }
    if protocol != TCP {
        return Err(Fault::Protocol);
    }
    let options = bytes.take(options).ok_or(Fault::Short)?;
    if has_route(options) {
        return Err(Fault::Route);
    }
    let whole = usize::from(u16::from_be_bytes([long_0, long_1]));
    let payload = whole.checked_sub(header).ok_or(Fault::Length)?;
    tcp(bytes, payload, Ipv4Addr::from(source).into(), Ipv4Addr::from(destination).into())
}

/// Returns whether the options of an IPv4 header hold a route, loose or strict, or cannot be read.
fn has_route(options: &[u8]) -> bool {
    const END: u8 = 0;
    const NOTHING: u8 = 1;
    const LOOSE: u8 = 131;
    const STRICT: u8 = 137;
    let mut bytes = Bytes::new(options);
    while let Some(kind) = bytes.u8() {
        match kind {
            END => return false,
            NOTHING => {}
            LOOSE | STRICT => return true,
            _ => {
                let rest = bytes.u8().and_then(|length| usize::from(length).checked_sub(2));
                if rest.and_then(|rest| bytes.take(rest)).is_none() {
                    return true;
                }
            }
        }
    }
    false
}

fn read_6(packet: &[u8]) -> Result<Packet, Fault> {
    let mut bytes = Bytes::new(packet);
    let [_, _, _, _, long_0, long_1, mut next, _] = bytes.array().ok_or(Fault::Short)?;
    let source: [u8; 16] = bytes.array().ok_or(Fault::Short)?;
    let destination: [u8; 16] = bytes.array().ok_or(Fault::Short)?;
    let mut payload = usize::from(u16::from_be_bytes([long_0, long_1]));
    for place in 0..=MOST_EXTENSIONS {
        match next {
            TCP => {
                let (source, destination) = (Ipv6Addr::from(source), Ipv6Addr::from(destination));
                return tcp(bytes, payload, source.into(), destination.into());
            }
            FRAGMENT => return Err(Fault::Fragment),
            ROUTING => return Err(Fault::Route),
            // Only right behind the first header (RFC 8200).
            HOP_BY_HOP if place > 0 => return Err(Fault::Protocol),
            HOP_BY_HOP | DESTINATION => {
                let [after, length] = bytes.array().ok_or(Fault::Short)?;
                let rest = usize::from(length) * 8 + 6;
                bytes.take(rest).ok_or(Fault::Short)?;
                payload = payload.checked_sub(rest + 2).ok_or(Fault::Length)?;
                next = after;
            }
            _ => return Err(Fault::Protocol),
        }
    }
    Err(Fault::Protocol)
}

fn tcp(
    mut bytes: Bytes<'_>,
    payload: usize,
    source: IpAddr,
    destination: IpAddr,
) -> Result<Packet, Fault> {
    const FIN_SYN_RST_ACK: u8 = 0x17;
    const SYN: u8 = 0x02;
    let ports = bytes.u16().zip(bytes.u16()).ok_or(Fault::Short)?;
    let [.., offset, flags, _, _, _, _, _, _] = bytes.array::<16>().ok_or(Fault::Short)?;
    let header = usize::from(offset >> 4) * 4;
    if header < 20 || header > payload {
        return Err(Fault::Length);
    }
    Ok(Packet {
        source: SocketAddr::new(source, ports.0),
        destination: SocketAddr::new(destination, ports.1),
        is_syn: flags & FIN_SYN_RST_ACK == SYN,
    })
}
