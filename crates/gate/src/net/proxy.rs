//! Connections of programs that are set up for a proxy: HTTP and SOCKS5 at one port.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::book::Entry;
use super::carry::{read_more, tell, write_all};
use super::dial::{Failed, dial};
use super::exchange::exchange;
use super::incoming::{Incoming, PATIENCE};
use super::keep::Kept;
use super::permit::check_rules;
use super::relay::through;
use super::{Shared, Whom};
use crate::http::{Authority, ESTABLISHED, Follows, Head, Status, Target, refuse};
use crate::socks::{self, Reply, WELCOME, read_greeting, read_request};
use crate::traffic::{Verdict, Via};

/// How long a client may wait before it asks for something else.
const IDLE: Duration = Duration::from_secs(60);

/// Takes connections.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // The others wait where they are.
        let Ok(permit) = Arc::clone(&shared.room).acquire_owned().await else { return };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            stream.set_nodelay(true).ok();
            take(stream, &shared).await;
            drop(permit);
        });
    }
}

async fn take(stream: TcpStream, shared: &Shared) {
    let mut bytes = shared.hands.larder.keep();
    let read = timeout(PATIENCE, read_more(&stream, &mut bytes, shared)).await;
    let Ok(Ok(1..)) = read else { return };
    // Each in a room of its own: who waits with half a request keeps none for what comes after it.
    match bytes.first() {
        Some(4 | 5) => Box::pin(by_socks(stream, bytes, shared)).await,
        Some(_) => Box::pin(by_http(stream, bytes, shared)).await,
        None => {}
    }
}

async fn by_socks(stream: TcpStream, bytes: Kept, shared: &Shared) {
    let asked = timeout(PATIENCE, socks_request(&stream, bytes, shared)).await;
    let request = match asked {
        Ok(Some(Ok(request))) => request,
        Ok(Some(Err(fault))) => {
            shared.book.refused_words(Via::Socks, fault.code());
            return tell(&stream, &fault.answer(), shared).await;
        }
        Ok(None) | Err(_) => return,
    };
    let whom = Whom { host: request.host, port: request.port };
    let entry = shared.book.entry(&whom.host, whom.port, Via::Socks);
    match dial(shared, &whom, &entry).await {
        Ok(upstream) => {
            if write_all(&stream, &Reply::Succeeded.write()).await.is_ok() {
                through(&stream, &upstream, &whom, &entry, shared).await;
            }
        }
        Err(failed) => {
            let reply = match failed {
                Failed::Refused(_) => Reply::NotAllowed,
                Failed::NoName | Failed::Unreachable | Failed::Late => Reply::HostUnreachable,
                Failed::Closed => Reply::Refused,
            };
            tell(&stream, &reply.write(), shared).await;
        }
    }
}

/// Reads what a client wants; none if it goes away.
async fn socks_request(
    stream: &TcpStream,
    mut bytes: Kept,
    shared: &Shared,
) -> Option<Result<socks::Request, socks::Fault>> {
    loop {
        match read_greeting(&bytes) {
            Ok(socks::Reading::NeedMore) => {}
            Ok(socks::Reading::Done((), length)) => {
                bytes.skip(length);
                break;
            }
            Err(fault) => return Some(Err(fault)),
        }
        read_more(stream, &mut bytes, shared).await.ok().filter(|length| *length > 0)?;
    }
    write_all(stream, &WELCOME).await.ok()?;
    loop {
        match read_request(&bytes) {
            Ok(socks::Reading::NeedMore) => {}
            // Nobody speaks before the answer; whoever does is not understood.
            Ok(socks::Reading::Done(_, length)) if length < bytes.len() => {
                return Some(Err(socks::Fault::Malformed));
            }
            Ok(socks::Reading::Done(request, _)) => return Some(Ok(request)),
            Err(fault) => return Some(Err(fault)),
        }
        read_more(stream, &mut bytes, shared).await.ok().filter(|length| *length > 0)?;
    }
}

async fn by_http(stream: TcpStream, bytes: Kept, shared: &Shared) {
    let mut incoming = Incoming::new(&stream, bytes);
    loop {
        let head = match incoming.head(IDLE, shared).await {
            Ok(Some(head)) => head,
            Ok(None) => return,
            Err(unread) => {
                if let Some(answer) = unread.answer() {
                    shared.book.refused_words(Via::Http, unread.code());
                    tell(&stream, &answer, shared).await;
                }
                return;
            }
        };
        incoming.skip(head.length);
        let follows = match head.target {
            Target::Connect => return Box::pin(connect(&incoming, head, shared)).await,
            Target::Absolute(_) => Box::pin(request(&mut incoming, head, shared)).await,
            Target::Asterisk | Target::Origin(_) => {
                shared.book.refused_words(Via::Http, "proxy-form");
                let why = "this is a proxy, and asked like a server";
                return tell(&stream, &refuse(Status::BadRequest, "proxy-form", why), shared).await;
            }
        };
        if follows == Follows::Nothing {
            return;
        }
    }
}

/// Makes a connection and leaves it to the client.
async fn connect(incoming: &Incoming<'_>, head: Box<Head>, shared: &Shared) {
    let stream = incoming.stream;
    let (whom, authority) = (whom(&head, 443), head.authority.clone());
    // A connection may last, and its head is not needed any more.
    drop(head);
    let entry = shared.book.entry(&whom.host, whom.port, Via::Connect);
    if !incoming.is_empty() {
        entry.judged(Verdict::Refused("proxy-early"));
        let why = "bytes came before the connection stood";
        return tell(stream, &refuse(Status::BadRequest, "proxy-early", why), shared).await;
    }
    match dial(shared, &whom, &entry).await {
        Ok(upstream) => {
            if write_all(stream, ESTABLISHED).await.is_ok() {
                through(stream, &upstream, &whom, &entry, shared).await;
            }
        }
        Err(failed) => tell(stream, &refusal(&authority, failed, &entry), shared).await,
    }
}

/// Passes one plain request on, by a connection of its own.
async fn request(incoming: &mut Incoming<'_>, mut head: Box<Head>, shared: &Shared) -> Follows {
    let stream = incoming.stream;
    let whom = whom(&head, 80);
    let entry = shared.book.entry(&whom.host, whom.port, Via::Http);
    let upstream = match dial(shared, &whom, &entry).await {
        Ok(upstream) => upstream,
        Err(failed) => {
            entry.saw(&head.method, &head.target.path());
            tell(stream, &refusal(&head.authority, failed, &entry), shared).await;
            return Follows::Nothing;
        }
    };
    if let Err(refusal) = check_rules(&mut head, &whom, &entry, shared).await {
        entry.judged(Verdict::Refused(refusal.code));
        tell(stream, &refusal.answer(), shared).await;
        return Follows::Nothing;
    }
    exchange(incoming, head, &upstream, Follows::Another, &entry, shared).await
}

fn whom(head: &Head, usual: u16) -> Whom {
    let port = head.authority.port.unwrap_or(usual);
    Whom { host: head.authority.host.clone(), port }
}

/// Returns what a client is told of a connection that there is not.
fn refusal(whom: &Authority, failed: Failed, entry: &Entry) -> Vec<u8> {
    let (status, why) = match failed {
        Failed::Refused(code) => {
            let mut rule = None;
            entry.with(|it| rule.clone_from(&it.rule));
            let why = why(code, rule.as_deref());
            (Status::Forbidden, format!("the policy does not allow {whom}: {why}"))
        }
        Failed::NoName => (Status::BadGateway, format!("{whom} has no address")),
        Failed::Closed => (Status::BadGateway, format!("{whom} refuses connections")),
        Failed::Unreachable => (Status::BadGateway, format!("{whom} cannot be reached")),
        Failed::Late => (Status::GatewayTimeout, format!("{whom} does not answer")),
    };
    refuse(status, failed.code(), &why)
}

/// Says by which key a host is refused: there somebody outside could let it.
fn why(code: &str, rule: Option<&str>) -> String {
    let rule = rule.unwrap_or_default();
    match code {
        "host-not-listed" => "network.allow does not list it".to_owned(),
        "host-port-not-listed" => "network.host_ports does not list the port".to_owned(),
        "host-denied" => format!("network.deny has `{rule}`"),
        "address-denied" => "it leads to an address in network.deny".to_owned(),
        code if code.starts_with("ask-") => format!("nobody agreed to it (network.{rule})"),
        code => {
            let kind = code.strip_prefix("address-").unwrap_or(code);
            format!("it leads to an address ({kind}) that network.allow does not list")
        }
    }
}
