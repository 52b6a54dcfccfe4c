//! Lines, headers, and how long the body is.

use std::str;

use super::fault::Fault;
use super::target::{self, Authority, Target};

/// The longest head that is read.
pub const LONGEST: usize = 64 * 1024;

/// How many headers it may have.
pub const MOST_HEADERS: usize = 200;

/// What a client of HTTP/2 says first, if it knows that the server speaks it (RFC 9113).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Reads the head of one request, as its bytes come in.
///
/// It remembers how far it has looked, so that a client that sends byte by byte costs no more than
/// one that sends all at once.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    seen: usize,
}

/// How far the bytes so far have come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reading {
    /// They are the start of a request.
    NeedMore,
    /// They are the start of HTTP/2, of which no request can be read here.
    Http2Preface,
    /// The head is whole.
    Head(Box<Head>),
}

/// The head of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Head {
    /// What is to be done, in capitals.
    pub method: String,
    /// With what.
    pub target: Target,
    /// For whom: the target's host if it names one, or else the one of `Host`.
    pub authority: Authority,
    /// The version of HTTP.
    pub version: Version,
    /// Every header, in order.
    pub headers: Vec<Header>,
    /// How long the body is.
    pub body: Body,
    /// How many bytes the head takes; the body starts there.
    pub length: usize,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
}

/// One header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Header {
    /// The name, as it is written.
    pub name: String,
    /// The value, without blanks around it. It has no control characters but tabs.
    pub value: Vec<u8>,
}

/// How long a body is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Body {
    /// There are pieces, each with its length, until an empty one.
    Chunked,
    /// This many bytes; without a word about it, none.
    Length(u64),
}

impl Reader {
    /// Reads all bytes that have come in so far, from the first on.
    ///
    /// # Errors
    ///
    /// What cannot become a request, however many bytes follow.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Reading, Fault> {
        if bytes.starts_with(PREFACE) {
            return Ok(Reading::Http2Preface);
        }
        if PREFACE.starts_with(bytes) {
            return Ok(Reading::NeedMore);
        }
        match self.end(bytes)? {
            Some(end) => {
                let lines = bytes.get(..end.saturating_sub(4)).unwrap_or_default();
                head(lines, end).map(|head| Reading::Head(Box::new(head)))
            }
            None => Ok(Reading::NeedMore),
        }
    }

    /// Looks on for the empty line that ends the head, and checks each byte on the way.
    fn end(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let mut before = self.seen.checked_sub(1).and_then(|place| bytes.get(place)).copied();
        for (place, byte) in bytes.iter().copied().enumerate().skip(self.seen) {
            if place >= LONGEST {
                return Err(Fault::Long);
            }
            match (before, byte) {
                (Some(b'\r'), b'\n') => {
                    let end = place.saturating_add(1);
                    if bytes.get(..end).is_some_and(|head| head.ends_with(b"\r\n\r\n")) {
                        return Ok(Some(end));
                    }
                }
                (Some(b'\r'), _) | (_, b'\n') => return Err(Fault::Line),
                (_, b'\r' | b'\t' | b' '..=b'~' | 0x80..) => {}
                (_, 0..=0x1F | 0x7F) => return Err(Fault::Control),
            }
            before = Some(byte);
            self.seen = place.saturating_add(1);
        }
        Ok(None)
    }
}

impl Head {
    /// Returns the values of a header, whatever the case of its name.
    pub fn values<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h [u8]> {
        values(&self.headers, name)
    }
}

/// Reads the lines of a head, of which each but the last ends in CR LF.
fn head(lines: &[u8], length: usize) -> Result<Head, Fault> {
    let mut lines =
        lines.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Fault::RequestLine);
    };
    let method = read_method(method)?;
    let version = match version {
        b"HTTP/1.0" => Version::Http10,
        b"HTTP/1.1" => Version::Http11,
        [b'H', b'T', b'T', b'P', b'/', ..] => return Err(Fault::Version),
        _ => return Err(Fault::RequestLine),
    };
    let (target, named) = target::read(&method, target)?;
    let mut headers = Vec::new();
    for line in lines {
        if headers.len() == MOST_HEADERS {
            return Err(Fault::Long);
        }
        headers.push(read_header(line)?);
    }
    let authority = authority(&headers, &target, named, version)?;
    let body = body(&headers, &target, version)?;
    check_connection(&headers)?;
    Ok(Head { method, target, authority, version, headers, body, length })
}

/// Methods are capitals. In other letters they are unknown to servers, unless one folds them.
fn read_method(text: &[u8]) -> Result<String, Fault> {
    let known = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'-';
    if text.is_empty() || text.len() > 32 || !text.iter().all(known) {
        return Err(Fault::RequestLine);
    }
    if matches!(text, b"TRACE" | b"TRACK") {
        return Err(Fault::Method);
    }
    Ok(String::from_utf8_lossy(text).into_owned())
}

fn read_header(line: &[u8]) -> Result<Header, Fault> {
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return Err(Fault::Folded);
    }
    let colon = line.iter().position(|byte| *byte == b':').ok_or(Fault::Header)?;
    let (name, value) = line.split_at_checked(colon).ok_or(Fault::Header)?;
    // A blank before the colon is no such letter either.
    if name.is_empty() || !name.iter().all(|byte| is_name(*byte)) {
        return Err(Fault::Header);
    }
    let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii();
    Ok(Header { name: String::from_utf8_lossy(name).into_owned(), value: value.to_vec() })
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn values<'h>(headers: &'h [Header], name: &'h str) -> impl Iterator<Item = &'h [u8]> {
    let named = move |header: &&Header| header.name.eq_ignore_ascii_case(name);
    headers.iter().filter(named).map(|header| &*header.value)
}

/// Finds out for whom a request is. If target and Host both say it, they must agree.
fn authority(
    headers: &[Header],
    target: &Target,
    named: Option<Authority>,
    version: Version,
) -> Result<Authority, Fault> {
    let mut hosts = values(headers, "host");
    let (first, second) = (hosts.next(), hosts.next());
    if second.is_some() {
        return Err(Fault::HostTwice);
    }
    match (named, first.map(Authority::read).transpose()?) {
        (None, Some(host)) => Ok(host),
        (None, None) => Err(Fault::HostMissing),
        (Some(named), Some(host)) => {
            // Many clients leave the port out of Host when they ask for a connection.
            let usual = match target {
                Target::Connect => named.port.unwrap_or_default(),
                Target::Absolute(_) | Target::Asterisk | Target::Origin(_) => 80,
            };
            if named.is(&host, usual) { Ok(named) } else { Err(Fault::HostDiffers) }
        }
        // Clients of HTTP/1.0 have no Host, and some that ask for a connection still speak it.
        (Some(named), None) if version == Version::Http10 || *target == Target::Connect => {
            Ok(named)
        }
        (Some(_), None) => Err(Fault::HostMissing),
    }
}

fn body(headers: &[Header], target: &Target, version: Version) -> Result<Body, Fault> {
    let mut lengths = values(headers, "content-length");
    let mut codings = values(headers, "transfer-encoding");
    let body = match (lengths.next(), lengths.next(), codings.next(), codings.next()) {
        (None, None, None, None) => Body::Length(0),
        (Some(length), None, None, None) => Body::Length(read_length(length)?),
        (None, None, Some(coding), None)
            if coding.eq_ignore_ascii_case(b"chunked") && version == Version::Http11 =>
        {
            Body::Chunked
        }
        _ => return Err(Fault::Framing),
    };
    // What follows such a request is the connection itself.
    if *target == Target::Connect && body != Body::Length(0) {
        return Err(Fault::Framing);
    }
    // Who announces them would send them.
    if values(headers, "trailer").next().is_some() {
        return Err(Fault::Trailers);
    }
    Ok(body)
}

fn read_length(text: &[u8]) -> Result<u64, Fault> {
    // `parse` alone would take a sign.
    let digits = text.len() <= 19 && text.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(text).ok().filter(|_| digits);
    text.and_then(|text| text.parse().ok()).ok_or(Fault::Framing)
}

/// A proxy removes what `Connection` names. Nobody may have it remove what says whom a request is
/// for, and where it ends.
fn check_connection(headers: &[Header]) -> Result<(), Fault> {
    const KEPT: [&[u8]; 3] = [b"content-length", b"host", b"transfer-encoding"];
    let is_kept = |name: &[u8]| KEPT.iter().any(|kept| name.eq_ignore_ascii_case(kept));
    if listed(headers).any(is_kept) { Err(Fault::Connection) } else { Ok(()) }
}

/// Returns the names that `Connection` lists.
pub(super) fn listed(headers: &[Header]) -> impl Iterator<Item = &[u8]> {
    values(headers, "connection")
        .flat_map(|value| value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii))
}
