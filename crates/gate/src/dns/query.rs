//! What a DNS message asks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use palisade_policy::name::HostName;

use super::answer::{Rcode, header};
use crate::bytes::Bytes;

/// Longer queries are refused, on TCP too. Padding (RFC 8467) stays far below.
pub const LONGEST: usize = 4096;

/// A name on the wire, with the lengths of its labels and the root.
const LONGEST_NAME: usize = 255;

/// One question that can be answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Query {
    /// What the name means.
    pub asked: Asked,
    /// Which kind of record is wanted.
    pub kind: Kind,
    pub(super) id: u16,
    pub(super) recurse: bool,
    /// The question as it stands in the message. Clients that vary the case compare it.
    pub(super) question: Vec<u8>,
    pub(super) edns: Option<Edns>,
}

/// What a client said of itself by EDNS (RFC 6891).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Edns {
    pub(super) longest: u16,
    pub(super) dnssec: bool,
}

/// What a name in a question means.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Asked {
    /// A host's name, in its one spelling.
    Host(HostName),
    /// An address, by its name below `in-addr.arpa` or `ip6.arpa`.
    Address(IpAddr),
    /// A name that no host has: the root, `_sip._tcp.example.com`, or one with odd bytes.
    Other,
}

/// The kinds of record that are told apart here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// An IPv4 address.
    A,
    /// An IPv6 address.
    Aaaa,
    /// Whatever there is.
    Any,
    /// How to reach a web server; it may carry keys that encrypt the server's name.
    Https,
    /// The name of an address.
    Ptr,
    /// How to reach a service; like `Https`.
    Svcb,
    /// Any other, by its number.
    Other(u16),
}

/// A message that is no question we answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rejected {
    /// What is wrong with it.
    pub fault: Fault,
    answer: Option<Vec<u8>>,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// It has no header.
    #[error("the message is too short")]
    Short,
    /// It is too long.
    #[error("the message is too long")]
    Long,
    /// It is an answer itself. Answering answers could go on forever.
    #[error("the message is an answer")]
    Answer,
    /// It wants something else than an answer to a question.
    #[error("the message is no standard query")]
    Opcode,
    /// It has no question, or several, or brings records of its own.
    #[error("the message is not one question")]
    Counts,
    /// Its name is cut off, too long, or points somewhere else.
    #[error("the name is malformed")]
    Name,
    /// It asks for a class other than the Internet's.
    #[error("the class is not that of the Internet")]
    Class,
    /// What follows the question is malformed.
    #[error("the message has a malformed end")]
    Tail,
    /// It speaks a later EDNS than there is.
    #[error("the version of EDNS is unknown")]
    Version,
}

impl Query {
    /// Reads a message, without the length that TCP puts before it.
    ///
    /// # Errors
    ///
    /// What is wrong, with the answer that is due, if one is.
    pub fn read(message: &[u8]) -> Result<Self, Rejected> {
        let mut bytes = Bytes::new(message);
        let (Some(id), Some(flags)) = (bytes.u16(), bytes.u16()) else {
            return Err(Rejected { fault: Fault::Short, answer: None });
        };
        if flags & 0x8000 != 0 {
            return Err(Rejected { fault: Fault::Answer, answer: None });
        }
        let recurse = flags & 0x0100 != 0;
        Self::read_on(message, bytes, id, flags).map_err(|fault| {
            let answer = fault.rcode().map(|rcode| header(id, flags, recurse, rcode));
            Rejected { fault, answer }
        })
    }

    fn read_on(message: &[u8], bytes: Bytes<'_>, id: u16, flags: u16) -> Result<Self, Fault> {
        let mut bytes = bytes;
        let counts: [u8; 8] = bytes.array().ok_or(Fault::Short)?;
        if message.len() > LONGEST {
            return Err(Fault::Long);
        }
        if flags & 0x7800 != 0 {
            return Err(Fault::Opcode);
        }
        let [0, 1, 0, 0, 0, 0, 0, more @ (0 | 1)] = counts else { return Err(Fault::Counts) };
        let start = bytes.rest();
        let labels = labels(&mut bytes).ok_or(Fault::Name)?;
        let (kind, class) = bytes.u16().zip(bytes.u16()).ok_or(Fault::Tail)?;
        let length = start.len().saturating_sub(bytes.rest().len());
        let question = start.get(..length).ok_or(Fault::Tail)?.to_vec();
        let edns = if more == 1 { Some(edns(&mut bytes)?) } else { None };
        if !bytes.is_empty() {
            return Err(Fault::Tail);
        }
        if class != 1 {
            return Err(Fault::Class);
        }
        let kind = match kind {
            1 => Kind::A,
            12 => Kind::Ptr,
            28 => Kind::Aaaa,
            64 => Kind::Svcb,
            65 => Kind::Https,
            255 => Kind::Any,
            other => Kind::Other(other),
        };
        let recurse = flags & 0x0100 != 0;
        Ok(Self { asked: asked(&labels), kind, id, recurse, question, edns })
    }
}

impl Rejected {
    /// Returns what to send back; none if silence is better.
    pub fn answer(&self) -> Option<&[u8]> {
        self.answer.as_deref()
    }
}

impl Fault {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Short => "dns-short",
            Self::Long => "dns-long",
            Self::Answer => "dns-answer",
            Self::Opcode => "dns-opcode",
            Self::Counts => "dns-counts",
            Self::Name => "dns-name",
            Self::Class => "dns-class",
            Self::Tail => "dns-tail",
            Self::Version => "dns-version",
        }
    }

    fn rcode(self) -> Option<Rcode> {
        match self {
            Self::Short | Self::Answer => None,
            Self::Opcode => Some(Rcode::NotImplemented),
            Self::Class => Some(Rcode::Refused),
            Self::Version => Some(Rcode::BadVersion),
            Self::Long | Self::Counts | Self::Name | Self::Tail => Some(Rcode::Malformed),
        }
    }
}

/// Reads the labels of a name up to the root. A question is the first name of a message, so a
/// pointer in it could only lead to itself or into the header.
fn labels<'m>(bytes: &mut Bytes<'m>) -> Option<Vec<&'m [u8]>> {
    let mut labels = Vec::new();
    let mut length = 1_usize;
    loop {
        let label = bytes.short()?;
        if label.is_empty() {
            return Some(labels);
        }
        length = length.saturating_add(label.len()).saturating_add(1);
        // The two upper bits of a length mark pointers and what was never agreed on.
        if label.len() > 63 || length > LONGEST_NAME {
            return None;
        }
        labels.push(label);
    }
}

/// Reads the one record that a question may bring along. Its options are skipped.
fn edns(bytes: &mut Bytes<'_>) -> Result<Edns, Fault> {
    let fields = (bytes.u8(), bytes.u16(), bytes.u16(), bytes.array(), bytes.long());
    let (Some(0), Some(41), Some(longest), Some([_, version, flags, _]), Some(_)) = fields else {
        return Err(Fault::Tail);
    };
    if version != 0 {
        return Err(Fault::Version);
    }
    Ok(Edns { longest, dnssec: flags & 0x80 != 0 })
}

fn asked(labels: &[&[u8]]) -> Asked {
    // A dot or a NUL within a label would make another name of it once labels are joined.
    let plain = |label: &&[u8]| label.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-');
    if !labels.iter().all(plain) {
        return Asked::Other;
    }
    let name: Vec<_> = labels.iter().map(|label| String::from_utf8_lossy(label)).collect();
    let name = name.join(".").to_ascii_lowercase();
    let address = if let Some(rest) = name.strip_suffix(".in-addr.arpa") {
        reversed_4(rest)
    } else if let Some(rest) = name.strip_suffix(".ip6.arpa") {
        reversed_6(rest)
    } else {
        None
    };
    match address {
        Some(address) => Asked::Address(address),
        None => name.parse().map_or(Asked::Other, Asked::Host),
    }
}

fn reversed_4(text: &str) -> Option<IpAddr> {
    let parts: Vec<&str> = text.split('.').rev().collect();
    parts.join(".").parse::<Ipv4Addr>().ok().map(IpAddr::from)
}

fn reversed_6(text: &str) -> Option<IpAddr> {
    let mut bits = 0_u128;
    let mut count = 0_u32;
    for digit in text.split('.').rev() {
        let [digit] = digit.as_bytes() else { return None };
        bits = bits << 4 | u128::from(char::from(*digit).to_digit(16)?);
        count = count.saturating_add(1);
    }
    (count == 32).then(|| Ipv6Addr::from(bits).into())
}
