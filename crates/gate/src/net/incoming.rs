//! Requests of one connection, one after the other.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Shared;
use super::carry::read_more;
use super::keep::Kept;
use crate::http::{Body, Chunks, Fault, Head, Reader, Reading, Status, refuse};
use crate::traffic::Verdict;

/// How long a client may take to say what it wants.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What comes from a client.
#[derive(Debug)]
pub(super) struct Incoming<'s> {
    pub(super) stream: &'s TcpStream,
    bytes: Kept,
}

/// Why no request was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unread {
    /// The client is gone.
    Gone,
    /// It takes too long.
    Late,
    /// It speaks TLS.
    Tls,
    /// It speaks HTTP/2.
    Http2,
    /// So many are in the middle of a request that no more of this one can be kept.
    Full,
    /// It speaks something else, or badly.
    Fault(Fault),
}

impl<'s> Incoming<'s> {
    /// Begins with bytes that were read already.
    pub(super) fn new(stream: &'s TcpStream, bytes: Kept) -> Self {
        Self { stream, bytes }
    }

    /// Whether anything is there that was not taken.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Waits for the next request; none if there is no other. Before its first byte a client may
    /// wait for as long as `idle` says.
    pub(super) async fn head(
        &mut self,
        idle: Duration,
        shared: &Shared,
    ) -> Result<Option<Box<Head>>, Unread> {
        if self.bytes.is_empty() {
            // What is long idle keeps no memory.
            self.bytes.clear();
            match timeout(idle, self.more(shared)).await {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return Err(Unread::Gone),
                Err(_) => return Err(Unread::Late),
            }
        }
        timeout(PATIENCE, self.whole_head(shared)).await.unwrap_or(Err(Unread::Late))
    }

    async fn whole_head(&mut self, shared: &Shared) -> Result<Option<Box<Head>>, Unread> {
        const HANDSHAKE: u8 = 0x16;
        if self.bytes.first() == Some(&HANDSHAKE) {
            return Err(Unread::Tls);
        }
        let mut reader = Reader::default();
        loop {
            match reader.read(&self.bytes).map_err(Unread::Fault)? {
                Reading::NeedMore => {}
                Reading::Http2Preface => return Err(Unread::Http2),
                Reading::Head(head) => return Ok(Some(head)),
            }
            if self.bytes.is_full() {
                return Err(Unread::Full);
            }
            if self.more(shared).await.map_err(|_| Unread::Gone)? == 0 {
                return Err(Unread::Gone);
            }
        }
    }

    /// Reads more, and returns how much; none if nothing more comes.
    pub(super) async fn more(&mut self, shared: &Shared) -> io::Result<usize> {
        read_more(self.stream, &mut self.bytes, shared).await
    }

    /// Takes bytes off: those of a head.
    pub(super) fn take(&mut self, length: usize) -> Kept {
        self.bytes.take(length)
    }

    /// Forgets bytes: those of a head that was read.
    pub(super) fn skip(&mut self, length: usize) {
        self.bytes.skip(length);
    }

    /// Takes off what is there of a body. An error if nobody can tell where that ends.
    pub(super) fn take_body(&mut self, left: &mut Left) -> Result<Kept, Fault> {
        let length = left.take(&self.bytes)?;
        Ok(self.take(length))
    }
}

impl Unread {
    /// Returns a name that never changes.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Gone => "client-gone",
            Self::Late => "first-bytes-late",
            Self::Full => "first-bytes-full",
            Self::Tls => "http-tls",
            Self::Http2 => "http-unseen",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// Returns what became of the connection.
    pub(super) fn verdict(self) -> Verdict {
        match self {
            Self::Gone => Verdict::Untaken,
            Self::Late | Self::Tls | Self::Http2 | Self::Full | Self::Fault(_) => {
                Verdict::Refused(self.code())
            }
        }
    }

    /// Returns what the client is told, if it listens.
    pub(super) fn answer(self) -> Option<Vec<u8>> {
        Some(match self {
            Self::Gone | Self::Late => return None,
            Self::Full => {
                refuse(Status::Unavailable, self.code(), "too many requests are unfinished")
            }
            Self::Tls => refuse(Status::BadRequest, self.code(), "this is TLS, and not HTTP"),
            Self::Http2 => refuse(Status::BadRequest, "http-version", "a proxy is asked by HTTP/1"),
            Self::Fault(fault) => refuse(fault.status(), fault.code(), &fault.to_string()),
        })
    }
}

/// What is left of a body.
#[derive(Clone, Debug)]
pub(super) enum Left {
    Bytes(u64),
    Chunks(Chunks),
}

impl Left {
    pub(super) fn of(body: Body) -> Self {
        match body {
            Body::Length(length) => Self::Bytes(length),
            Body::Chunked => Self::Chunks(Chunks::default()),
        }
    }

    /// Takes bytes and returns how many of them belong to it.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        match self {
            Self::Bytes(left) => {
                let own = u64::try_from(bytes.len()).unwrap_or(u64::MAX).min(*left);
                *left = left.saturating_sub(own);
                Ok(usize::try_from(own).unwrap_or(bytes.len()))
            }
            Self::Chunks(chunks) => chunks.take(bytes),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Bytes(left) => *left == 0,
            Self::Chunks(chunks) => chunks.is_done(),
        }
    }
}
