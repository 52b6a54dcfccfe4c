//! Answers, as they go over the wire.

use std::net::{Ipv4Addr, Ipv6Addr};

use palisade_policy::name::HostName;

use super::query::Query;

/// How long an answer is remembered, in seconds. An address inside means one name as long as the
/// box runs.
const TTL: u32 = 60;

/// What we take and send by UDP at most: what crosses every path unbroken (the DNS flag day of 2020).
const LONGEST_UDP: u16 = 1232;

/// What an answer says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The name has this IPv4 address.
    A(Ipv4Addr),
    /// The name has this IPv6 address.
    Aaaa(Ipv6Addr),
    /// The address has this name.
    Ptr(HostName),
    /// The name exists, but has no such record.
    Nothing(Remember),
    /// There is no such name.
    NoSuchName(Remember),
    /// We could not find out.
    Failure,
    /// We do not answer that.
    Refused,
    /// We cannot answer that.
    NotImplemented,
    /// The question is malformed.
    Malformed,
}

/// How long a client may remember that there is nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Remember {
    /// Not at all: somebody may still be asked about the name.
    No,
    /// For this many seconds.
    Seconds(u32),
}

/// How a question came, and how its answer goes back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Carrier {
    /// A stream: the answer may be as long as it is.
    Tcp,
    /// A datagram: no longer than the client said.
    Udp,
}

/// The codes of RFC 1035, and the one that EDNS adds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Rcode {
    Fine = 0,
    Malformed = 1,
    Failure = 2,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
    BadVersion = 16,
}

impl Answer {
    /// Writes this answer to a question, without the length that TCP puts before it.
    ///
    /// What is too long for a datagram is left out and marked, so that the client comes back by
    /// TCP. No answer is longer than 1 KiB.
    pub fn write(&self, query: &Query, carrier: Carrier) -> Vec<u8> {
        let records = self.records();
        let message = self.message(query, &records, false);
        let longest = match (carrier, query.edns) {
            (Carrier::Tcp, _) => u16::MAX,
            (Carrier::Udp, Some(edns)) => edns.longest.clamp(512, LONGEST_UDP),
            (Carrier::Udp, None) => 512,
        };
        if message.len() <= usize::from(longest) {
            return message;
        }
        self.message(query, &Records::default(), true)
    }

    fn message(&self, query: &Query, records: &Records, cut: bool) -> Vec<u8> {
        // A question and that it was cut; recursion is what every stub wants to see offered.
        let mut flags = 0x8080 | u16::from(self.rcode() as u8);
        flags |= if query.recurse { 0x0100 } else { 0 };
        flags |= if cut { 0x0200 } else { 0 };
        let mut out = Vec::with_capacity(512);
        let counts = [1, records.answers, records.authorities, u16::from(query.edns.is_some())];
        for number in [query.id, flags].into_iter().chain(counts) {
            put(&mut out, number);
        }
        out.extend(&query.question);
        out.extend(&records.bytes);
        if let Some(edns) = query.edns {
            opt(&mut out, 0, edns.dnssec);
        }
        out
    }

    fn records(&self) -> Records {
        match self {
            Self::A(address) => Records::answer(1, &address.octets()),
            Self::Aaaa(address) => Records::answer(28, &address.octets()),
            Self::Ptr(name) => Records::answer(12, &wire(name)),
            Self::Nothing(Remember::Seconds(seconds))
            | Self::NoSuchName(Remember::Seconds(seconds)) => Records::authority(*seconds),
            Self::Nothing(Remember::No)
            | Self::NoSuchName(Remember::No)
            | Self::Failure
            | Self::Refused
            | Self::NotImplemented
            | Self::Malformed => Records::default(),
        }
    }

    fn rcode(&self) -> Rcode {
        match self {
            Self::A(_) | Self::Aaaa(_) | Self::Ptr(_) | Self::Nothing(_) => Rcode::Fine,
            Self::NoSuchName(_) => Rcode::NoSuchName,
            Self::Failure => Rcode::Failure,
            Self::Refused => Rcode::Refused,
            Self::NotImplemented => Rcode::NotImplemented,
            Self::Malformed => Rcode::Malformed,
        }
    }
}

/// Records between the question and the end.
#[derive(Default)]
struct Records {
    answers: u16,
    authorities: u16,
    bytes: Vec<u8>,
}

impl Records {
    /// One record about the name that was asked for, which stands right behind the header.
    fn answer(kind: u16, data: &[u8]) -> Self {
        let mut bytes = vec![0xC0, 12];
        record(&mut bytes, kind, TTL, data);
        Self { answers: 1, authorities: 0, bytes }
    }

    /// The record of a zone without owner or server, whose last number is how long nothing is
    /// remembered (RFC 2308).
    fn authority(seconds: u32) -> Self {
        let mut data = vec![0, 0];
        for number in [1, 3600, 600, 86400, seconds] {
            data.extend(u32::to_be_bytes(number));
        }
        let mut bytes = vec![0];
        record(&mut bytes, 6, seconds, &data);
        Self { answers: 0, authorities: 1, bytes }
    }
}

/// Writes an answer without a question, for messages of which only the header could be read.
pub(super) fn header(id: u16, flags: u16, recurse: bool, rcode: Rcode) -> Vec<u8> {
    let code = rcode as u8;
    let mut flags = flags & 0x7800 | 0x8080 | u16::from(code & 15);
    flags |= if recurse { 0x0100 } else { 0 };
    // The upper half of a code travels in the record of EDNS.
    let upper = code >> 4;
    let mut out = Vec::new();
    for number in [id, flags, 0, 0, 0, u16::from(upper != 0)] {
        put(&mut out, number);
    }
    if upper != 0 {
        opt(&mut out, upper, false);
    }
    out
}

fn opt(out: &mut Vec<u8>, upper: u8, dnssec: bool) {
    out.push(0);
    put(out, 41);
    put(out, LONGEST_UDP);
    out.extend([upper, 0, if dnssec { 0x80 } else { 0 }, 0]);
    put(out, 0);
}

fn record(out: &mut Vec<u8>, kind: u16, ttl: u32, data: &[u8]) {
    put(out, kind);
    put(out, 1);
    out.extend(ttl.to_be_bytes());
    // Addresses and names: never longer than a name.
    put(out, u16::try_from(data.len()).unwrap_or_default());
    out.extend(data);
}

fn put(out: &mut Vec<u8>, number: u16) {
    out.extend(number.to_be_bytes());
}

/// A name as labels. A `HostName` has none that is empty or longer than 63.
fn wire(name: &HostName) -> Vec<u8> {
    let mut out = Vec::new();
    for label in name.as_str().split('.') {
        out.push(u8::try_from(label.len()).unwrap_or_default());
        out.extend(label.as_bytes());
    }
    out.push(0);
    out
}
