//! The first message of a TLS connection: which server does the client name?
//!
//! It is only read: the upstream gets its bytes as they are. What a client says after it is encrypted
//! or answers the server, unless that asks for the message once more.

use std::collections::BTreeSet;
use std::str;

use palisade_policy::name::HostName;

use crate::bytes::Bytes;

#[cfg(test)]
mod tests;

mod answer;

pub use answer::{Answer, LONGEST_ANSWER, read_answer};

/// The longest message that is read. Those of browsers are below 2 KiB.
pub const LONGEST: usize = 16 * 1024;

/// How many records it may be spread over.
const MOST_RECORDS: usize = 64;

/// How many bytes need to be there, at most.
pub const LONGEST_PEEK: usize = LONGEST + 4 + MOST_RECORDS * 5;

const SERVER_NAME: u16 = 0;
const ALPN: u16 = 16;
/// ECH, and what it was in its drafts: some servers still read those.
const ECH_FIRST: u16 = 0xFE08;
const ECH_LAST: u16 = 0xFE0D;
const ESNI: u16 = 0xFFCE;

/// How far the bytes so far have come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reading {
    /// They are the start of a message.
    NeedMore,
    /// They are no TLS at all.
    NotTls,
    /// The message is whole.
    Hello(Hello),
}

/// What a client says first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Hello {
    /// The server it names.
    pub server: Option<HostName>,
    /// Whether there is a second, encrypted message within, which may name another server; some
    /// clients pretend.
    pub is_encrypted: bool,
    /// The protocols it offers to speak, such as `h2`.
    pub protocols: Vec<Vec<u8>>,
}

/// What is wrong with a message that looks like TLS.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A record is empty, too long, or of another kind before the message is whole.
    #[error("a TLS record is malformed")]
    Record,
    /// It is longer, or spread over more records, than any client's.
    #[error("the first TLS message is too long")]
    Long,
    /// A length in it contradicts another, or something follows it in its record.
    #[error("the first TLS message is malformed")]
    Malformed,
    /// An extension is there twice; which one counts is anybody's guess.
    #[error("a TLS extension is there twice")]
    Twice,
    /// It names several servers, or one by something else than a name.
    #[error("the first TLS message does not name one server")]
    Names,
    /// The server's name is no name of a host.
    #[error("the server's name is no name of a host")]
    Name,
}

/// Reads the bytes that have come so far, from the first on.
///
/// # Errors
///
/// What cannot become a message, however many bytes follow.
pub fn read(bytes: &[u8]) -> Result<Reading, Fault> {
    read_first(bytes).map(|(reading, _)| reading)
}

/// The same, and how many bytes the message takes, with what its records put around it.
///
/// # Errors
///
/// As for [`read`].
pub fn read_first(bytes: &[u8]) -> Result<(Reading, usize), Fault> {
    let Some(message) = message(bytes)? else { return Ok((Reading::NeedMore, 0)) };
    match message {
        Joined::NotTls => Ok((Reading::NotTls, 0)),
        Joined::Message(body, length) => hello(&body).map(|hello| (Reading::Hello(hello), length)),
    }
}

impl Fault {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Record => "tls-record",
            Self::Long => "tls-long",
            Self::Malformed => "tls-malformed",
            Self::Twice => "tls-twice",
            Self::Names => "tls-names",
            Self::Name => "tls-name",
        }
    }
}

enum Joined {
    NotTls,
    Message(Vec<u8>, usize),
}

/// Joins the records up to the end of the first message, and returns its body.
fn message(peeked: &[u8]) -> Result<Option<Joined>, Fault> {
    const HANDSHAKE: u8 = 22;
    const CLIENT_HELLO: u8 = 1;
    let mut bytes = Bytes::new(peeked);
    let mut joined = Vec::new();
    for place in 0..MOST_RECORDS {
        let Some(kind) = bytes.u8() else { return Ok(None) };
        let version = bytes.u8();
        if kind != HANDSHAKE || version.is_some_and(|major| major != 3) {
            return if place == 0 { Ok(Some(Joined::NotTls)) } else { Err(Fault::Record) };
        }
        let (Some(_), Some(_minor), Some(length)) = (version, bytes.u8(), bytes.u16()) else {
            return Ok(None);
        };
        if length == 0 || usize::from(length) > LONGEST {
            return Err(Fault::Record);
        }
        let whole = bytes.take(length.into());
        joined.extend(whole.unwrap_or(bytes.rest()));
        if joined.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return if place == 0 { Ok(Some(Joined::NotTls)) } else { Err(Fault::Record) };
        }
        if let Some([_, high, middle, low]) = joined.first_chunk() {
            let length = u32::from_be_bytes([0, *high, *middle, *low]);
            let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST);
            let end = length.ok_or(Fault::Long)?.saturating_add(4);
            if joined.len() > end {
                return Err(Fault::Malformed);
            }
            if joined.len() == end && whole.is_some() {
                let length = peeked.len().saturating_sub(bytes.rest().len());
                return Ok(Some(Joined::Message(joined.split_off(4), length)));
            }
        }
        if whole.is_none() {
            return Ok(None);
        }
    }
    Err(Fault::Long)
}

fn hello(body: &[u8]) -> Result<Hello, Fault> {
    let mut bytes = Bytes::new(body);
    let start = bytes.array::<34>().zip(bytes.short());
    let (_, session) = start.ok_or(Fault::Malformed)?;
    let (ciphers, methods) = bytes.long().zip(bytes.short()).ok_or(Fault::Malformed)?;
    if session.len() > 32 || ciphers.is_empty() || ciphers.len() % 2 != 0 || methods.is_empty() {
        return Err(Fault::Malformed);
    }
    let mut hello = Hello::default();
    // Messages of old clients end here.
    if bytes.is_empty() {
        return Ok(hello);
    }
    let mut extensions = Bytes::new(bytes.long().ok_or(Fault::Malformed)?);
    if !bytes.is_empty() {
        return Err(Fault::Malformed);
    }
    let mut seen = BTreeSet::new();
    while !extensions.is_empty() {
        let (kind, data) = extensions.u16().zip(extensions.long()).ok_or(Fault::Malformed)?;
        if !seen.insert(kind) {
            return Err(Fault::Twice);
        }
        match kind {
            SERVER_NAME => hello.server = Some(server(data)?),
            ALPN => hello.protocols = protocols(data).ok_or(Fault::Malformed)?,
            ECH_FIRST..=ECH_LAST | ESNI => hello.is_encrypted = true,
            _ => {}
        }
    }
    Ok(hello)
}

/// Reads the list of names, in which there is one (RFC 6066).
fn server(data: &[u8]) -> Result<HostName, Fault> {
    const HOST_NAME: u8 = 0;
    let mut data = Bytes::new(data);
    let mut list = Bytes::new(data.long().ok_or(Fault::Malformed)?);
    if !data.is_empty() {
        return Err(Fault::Malformed);
    }
    let (kind, name) = (list.u8().ok_or(Fault::Names)?, list.long());
    if kind != HOST_NAME {
        return Err(Fault::Names);
    }
    let name = name.ok_or(Fault::Malformed)?;
    if !list.is_empty() {
        return Err(Fault::Names);
    }
    // Other scripts come as `xn--`; what is not ASCII here is read by each server as it likes.
    let name = str::from_utf8(name).ok().filter(|name| name.is_ascii()).ok_or(Fault::Name)?;
    name.parse().map_err(|_| Fault::Name)
}

fn protocols(data: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut data = Bytes::new(data);
    let mut list = Bytes::new(data.long()?);
    let mut protocols = Vec::new();
    while !list.is_empty() {
        protocols.push(list.short().filter(|name| !name.is_empty())?.to_vec());
    }
    (data.is_empty() && !protocols.is_empty()).then_some(protocols)
}
