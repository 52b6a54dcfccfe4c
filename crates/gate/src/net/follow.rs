//! Requests on a connection to a server: each has to be for whom the connection is for.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::book::Entry;
use super::carry::{Broken, both, carry, down, finish, pass, read_more, tell, write_all};
use super::exchange::exchange;
use super::incoming::{Incoming, Left, PATIENCE};
use super::keep::Kept;
use super::permit::{check_rules, check_whom};
use super::{Shared, Whom};
use crate::http::{Answered, Body, Follows, Head, read_reply, unswitched};
use crate::traffic::Verdict;

/// How long a connection may be silent between requests. Servers end it long before.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a server may take to say whether it speaks another protocol from here on.
const SWITCHING: Duration = Duration::from_secs(130);

/// Follows every request; an error is why it was cut.
pub(super) async fn follow(
    stream: &TcpStream,
    upstream: &TcpStream,
    whom: &Whom,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Verdict> {
    let mut incoming = Incoming::new(stream, shared.hands.larder.keep());
    let first = match incoming.head(PATIENCE, shared).await {
        Ok(Some(head)) => head,
        // Somebody only looked whether there is anybody.
        Ok(None) => {
            entry.stands();
            return Ok(());
        }
        Err(unread) => return Err(unread.verdict()),
    };
    check_whom(&first, whom).map_err(|refusal| Verdict::Refused(refusal.code))?;
    entry.stands();
    entry.saw(&first.method, &first.target.path());
    if wants_switch(&first) && first.body == Body::Length(0) && !is_unseen(&first) {
        let raw = incoming.take(first.length);
        drop(first);
        return switch(raw, incoming, upstream, whom, entry, shared).await;
    }
    requests(Some(first), incoming, upstream, whom, entry, shared).await
}

/// Passes one request on that rules allow, and nothing behind it: the server is told to close the
/// connection, so that each request is answered by itself.
pub(super) async fn one(
    stream: &TcpStream,
    upstream: &TcpStream,
    whom: &Whom,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Verdict> {
    let mut incoming = Incoming::new(stream, shared.hands.larder.keep());
    let mut head = match incoming.head(PATIENCE, shared).await {
        Ok(Some(head)) => head,
        Ok(None) => {
            entry.stands();
            return Ok(());
        }
        Err(unread) => {
            let Some(answer) = unread.answer() else { return Err(unread.verdict()) };
            entry.judged(unread.verdict());
            tell(stream, &answer, shared).await;
            return Ok(());
        }
    };
    let mut checked = check_whom(&head, whom);
    if checked.is_ok() {
        checked = check_rules(&mut head, whom, entry, shared).await;
    }
    if let Err(refusal) = checked {
        entry.judged(Verdict::Refused(refusal.code));
        tell(stream, &refusal.answer(), shared).await;
        return Ok(());
    }
    incoming.skip(head.length);
    exchange(&mut incoming, head, upstream, Follows::Nothing, entry, shared).await;
    Ok(())
}

/// Passes one request after the other on, while answers come back.
async fn requests(
    first: Option<Box<Head>>,
    incoming: Incoming<'_>,
    upstream: &TcpStream,
    whom: &Whom,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Verdict> {
    let stream = incoming.stream;
    let up = async {
        let ended = each(first, incoming, upstream, whom, entry, shared).await;
        ended.map_err(|broken| broken.tell(stream, upstream))
    };
    both(up, down(stream, upstream, entry, shared)).await.map_err(Verdict::Cut)
}

async fn each(
    mut first: Option<Box<Head>>,
    mut incoming: Incoming<'_>,
    upstream: &TcpStream,
    whom: &Whom,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Broken> {
    loop {
        let head = match first.take() {
            Some(head) => head,
            None => match incoming.head(IDLE, shared).await {
                Ok(Some(head)) => {
                    check_whom(&head, whom).map_err(|refusal| Broken::Over(refusal.code))?;
                    entry.saw(&head.method, &head.target.path());
                    head
                }
                Ok(None) => {
                    finish(upstream);
                    return Ok(());
                }
                Err(unread) => return Err(Broken::Over(unread.code())),
            },
        };
        let mut sent = incoming.take(head.length);
        // Behind an agreement to speak something else nothing could be followed.
        if wants_switch(&head) {
            sent.clear();
            sent.add(&unswitched(&head));
        }
        let mut left = Left::of(head.body);
        // A body may take its time, and keeps no more than it has to.
        drop(head);
        pass(&sent, upstream, entry, shared).await?;
        drop(sent);
        loop {
            let piece =
                incoming.take_body(&mut left).map_err(|fault| Broken::Over(fault.code()))?;
            pass(&piece, upstream, entry, shared).await?;
            if left.is_done() {
                break;
            }
            if incoming.more(shared).await.map_err(|_| Broken::Gone)? == 0 {
                finish(upstream);
                return Ok(());
            }
        }
    }
}

/// Waits for what a server says to the wish to speak something else: if it agrees, nothing is
/// followed any more.
async fn switch(
    raw: Kept,
    incoming: Incoming<'_>,
    upstream: &TcpStream,
    whom: &Whom,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Verdict> {
    let stream = incoming.stream;
    let cut = |broken| match broken {
        Broken::Gone | Broken::Deaf => Ok(()),
        Broken::Over(code) => Err(Verdict::Cut(code)),
    };
    if let Err(broken) = pass(&raw, upstream, entry, shared).await {
        return cut(broken.tell(stream, upstream));
    }
    drop(raw);
    let agreed = match timeout(SWITCHING, agrees(stream, upstream, entry, shared)).await {
        Ok(Ok(agreed)) => agreed,
        Ok(Err(broken)) => return cut(broken.tell(upstream, stream)),
        Err(_) => return Err(Verdict::Cut("http-upgrade-late")),
    };
    // What came behind the wish was said before there was an answer to it.
    if agreed && incoming.is_empty() {
        return carry(stream, upstream, entry, shared).await.map_err(Verdict::Cut);
    }
    requests(None, incoming, upstream, whom, entry, shared).await
}

/// Passes the head of the answer on, and returns whether it is an agreement.
async fn agrees(
    stream: &TcpStream,
    upstream: &TcpStream,
    entry: &Entry,
    shared: &Shared,
) -> Result<bool, Broken> {
    let (mut bytes, mut passed) = (shared.hands.larder.keep(), 0);
    loop {
        let length = read_more(upstream, &mut bytes, shared).await.map_err(|_| Broken::Gone)?;
        if length == 0 {
            return Err(Broken::Gone);
        }
        entry.received(length, &shared.rules.budget).map_err(Broken::Over)?;
        let new = bytes.get(passed..).unwrap_or_default();
        write_all(stream, new).await.map_err(|_| Broken::Deaf)?;
        passed = bytes.len();
        loop {
            match read_reply(&bytes, false) {
                Answered::NeedMore if bytes.is_full() => return Ok(false),
                Answered::NeedMore => break,
                Answered::Reply(reply) if reply.status == 101 => return Ok(true),
                // More than one answer may come before the answer.
                Answered::Reply(reply) if reply.status < 200 => {
                    bytes.skip(reply.length);
                    passed = bytes.len();
                }
                Answered::Reply(_) | Answered::Unreadable => return Ok(false),
            }
        }
    }
}

fn wants_switch(head: &Head) -> bool {
    head.values("upgrade").next().is_some()
}

/// Requests of HTTP/2 cannot be followed, and those inside TLS are not seen.
fn is_unseen(head: &Head) -> bool {
    const UNSEEN: [&[u8]; 3] = [b"h2", b"http", b"tls"];
    let starts = |word: &[u8], with: &[u8]| {
        word.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    let mut words = head.values("upgrade").flat_map(|value| value.split(|byte| *byte == b','));
    words.any(|word| UNSEEN.iter().any(|with| starts(word.trim_ascii(), with)))
}
