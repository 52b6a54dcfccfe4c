//! One plain request and its answer, on a connection to the server that carries nothing else.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::TcpStream;

use super::Shared;
use super::book::Entry;
use super::carry::{Broken, cut, finish, pass, read_more, tell, write_all};
use super::incoming::{Incoming, Left};
use super::keep::Kept;
use crate::http::{
    Answered, Body, Chunks, Extent, Follows, Head, Reply, Status, Version, read_reply, refuse,
    to_server,
};
use crate::traffic::Verdict;

/// Passes a request on, and its answer back; returns whether another may follow.
pub(super) async fn exchange(
    incoming: &mut Incoming<'_>,
    head: Box<Head>,
    upstream: &TcpStream,
    wish: Follows,
    entry: &Entry,
    shared: &Shared,
) -> Follows {
    entry.stands();
    let stream = incoming.stream;
    let (is_sent, is_answered) = (AtomicBool::new(false), AtomicBool::new(false));
    let wish = if may_stay(&head) { wish } else { Follows::Nothing };
    let (is_head_asked, left) = (head.method == "HEAD", Left::of(head.body));
    let mut words = shared.hands.larder.keep();
    words.add(&to_server(&head).unwrap_or_default());
    let authority = head.authority.clone();
    // An answer may take its time, and nothing else is needed until then.
    drop(head);
    let down = Down { stream, upstream, entry, shared, is_answered: &is_answered };
    let ended = tokio::select! {
        broken = send(incoming, words, left, upstream, &is_sent, entry, shared) => match broken {
            Ok(never) => match never {},
            Err(broken) => Err(broken),
        },
        answered = down.answer(is_head_asked, wish) => answered,
    };
    match ended {
        Ok(Some(follows)) if is_sent.load(Ordering::Relaxed) => return follows,
        Ok(Some(_)) => finish(stream),
        Ok(None) => {
            entry.judged(Verdict::Failed("no-answer"));
            let why = format!("{authority} did not answer");
            tell(stream, &refuse(Status::BadGateway, "no-answer", &why), shared).await;
        }
        Err(Broken::Gone | Broken::Deaf) => {
            cut(upstream);
            cut(stream);
        }
        Err(Broken::Over(code)) => {
            entry.judged(Verdict::Cut(code));
            cut(upstream);
            if is_answered.load(Ordering::Relaxed) {
                cut(stream);
            } else {
                let why = "the request was cut";
                tell(stream, &refuse(Status::Forbidden, code, why), shared).await;
            }
        }
    }
    Follows::Nothing
}

/// Whether the client's connection may carry another request.
fn may_stay(head: &Head) -> bool {
    let closes = |value: &[u8]| {
        value.split(|byte| *byte == b',').any(|it| it.trim_ascii().eq_ignore_ascii_case(b"close"))
    };
    let said = ["connection", "proxy-connection"].into_iter();
    head.version == Version::Http11 && !said.flat_map(|name| head.values(name)).any(closes)
}

/// Sends a request and its body, and nothing behind it. When all is sent, or the server listens no
/// more, the answer is what counts.
async fn send(
    incoming: &mut Incoming<'_>,
    words: Kept,
    mut left: Left,
    upstream: &TcpStream,
    is_sent: &AtomicBool,
    entry: &Entry,
    shared: &Shared,
) -> Result<Infallible, Broken> {
    let mut piece = words;
    loop {
        match pass(&piece, upstream, entry, shared).await {
            Ok(()) => {}
            Err(Broken::Gone | Broken::Deaf) => break,
            Err(over @ Broken::Over(_)) => return Err(over),
        }
        piece = incoming.take_body(&mut left).map_err(|fault| Broken::Over(fault.code()))?;
        if piece.is_empty() && left.is_done() {
            is_sent.store(true, Ordering::Relaxed);
            break;
        }
        if piece.is_empty() && incoming.more(shared).await.map_err(|_| Broken::Gone)? == 0 {
            return Err(Broken::Gone);
        }
    }
    std::future::pending().await
}

/// The way back.
struct Down<'a> {
    stream: &'a TcpStream,
    upstream: &'a TcpStream,
    entry: &'a Entry,
    shared: &'a Shared,
    /// Whether the client has got anything.
    is_answered: &'a AtomicBool,
}

impl Down<'_> {
    /// Passes an answer back; none if there is none.
    async fn answer(&self, is_head_asked: bool, wish: Follows) -> Result<Option<Follows>, Broken> {
        let mut bytes = self.shared.hands.larder.keep();
        let reply = loop {
            match read_reply(&bytes, is_head_asked) {
                Answered::Reply(reply) if matches!(reply.status, 100 | 102..=199) => {
                    let first = bytes.take(reply.length);
                    self.write(&first).await?;
                    continue;
                }
                Answered::Reply(reply) => break reply,
                Answered::Unreadable => return self.rest(bytes).await,
                Answered::NeedMore if bytes.is_full() => return self.rest(bytes).await,
                Answered::NeedMore => {}
            }
            if self.more(&mut bytes).await? == 0 {
                return if bytes.is_empty() { Ok(None) } else { self.rest(bytes).await };
            }
        };
        bytes.skip(reply.length);
        let left = match (reply.status, reply.extent) {
            (101, _) | (_, Extent::End) => None,
            (_, Extent::Length(length)) => Some(Left::of(Body::Length(length))),
            (_, Extent::Chunked) => Some(Left::Chunks(Chunks::of_answer())),
        };
        match left {
            None => {
                self.write(&reply.to_client(Follows::Nothing)).await?;
                self.rest(bytes).await
            }
            Some(left) => self.body(reply, left, bytes, wish).await,
        }
    }

    /// Passes a body back whose end is known.
    async fn body(
        &self,
        reply: Reply,
        mut left: Left,
        mut bytes: Kept,
        wish: Follows,
    ) -> Result<Option<Follows>, Broken> {
        self.write(&reply.to_client(wish)).await?;
        drop(reply);
        loop {
            let Ok(own) = left.take(&bytes) else { return self.rest(bytes).await };
            bytes.truncate(own);
            self.write(&bytes).await?;
            if left.is_done() {
                return Ok(Some(wish));
            }
            bytes.clear();
            if self.more(&mut bytes).await? == 0 {
                // It ends before its end: who reads it has to see that.
                return Err(Broken::Gone);
            }
        }
    }

    /// Passes everything back until the server ends.
    async fn rest(&self, mut bytes: Kept) -> Result<Option<Follows>, Broken> {
        loop {
            self.write(&bytes).await?;
            bytes.clear();
            if self.more(&mut bytes).await? == 0 {
                finish(self.stream);
                return Ok(Some(Follows::Nothing));
            }
        }
    }

    async fn more(&self, bytes: &mut Kept) -> Result<usize, Broken> {
        let read = read_more(self.upstream, bytes, self.shared).await;
        // A server that is reset has ended, too; what it said so far is passed on.
        let length = read.map_err(|_| Broken::Gone)?;
        self.entry.received(length, &self.shared.rules.budget).map_err(Broken::Over)?;
        Ok(length)
    }

    async fn write(&self, bytes: &[u8]) -> Result<(), Broken> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.is_answered.store(true, Ordering::Relaxed);
        write_all(self.stream, bytes).await.map_err(|_| Broken::Deaf)
    }
}
