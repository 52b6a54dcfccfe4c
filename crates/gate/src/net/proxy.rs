//! Connections of programs that are set up for a proxy: HTTP and SOCKS5 at one port.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::carry::{tell, write_all};
use super::dial::{Failed, dial};
use super::exchange::exchange;
use super::incoming::{Incoming, PATIENCE};
use super::permit::check_rules;
use super::relay::through;
use super::{Shared, Whom};
use crate::http::{ESTABLISHED, Follows, Head, Status, Target, refuse};
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

async fn take(mut stream: TcpStream, shared: &Shared) {
    let mut bytes = Vec::new();
    let Ok(Ok(())) = timeout(PATIENCE, read_more(&mut stream, &mut bytes)).await else { return };
    match bytes.first() {
        Some(4 | 5) => by_socks(stream, bytes, shared).await,
        Some(_) => by_http(stream, bytes, shared).await,
        None => {}
    }
}

/// Reads what comes; that nothing does is an error.
async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

async fn by_socks(mut stream: TcpStream, mut bytes: Vec<u8>, shared: &Shared) {
    let asked = timeout(PATIENCE, socks_request(&mut stream, &mut bytes)).await;
    let request = match asked {
        Ok(Ok(Ok(request))) => request,
        Ok(Ok(Err(fault))) => return tell(&stream, &fault.answer(), shared).await,
        Ok(Err(_)) | Err(_) => return,
    };
    let whom = Whom { host: request.host, port: request.port };
    let entry = shared.book.entry(&whom.host, whom.port, Via::Socks);
    match dial(shared, &whom, &entry).await {
        Ok(upstream) => {
            if stream.write_all(&Reply::Succeeded.write()).await.is_ok() {
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

async fn socks_request(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
) -> io::Result<Result<socks::Request, socks::Fault>> {
    loop {
        match read_greeting(bytes) {
            Ok(socks::Reading::NeedMore) => read_more(stream, bytes).await?,
            Ok(socks::Reading::Done((), length)) => {
                drop(bytes.drain(..length));
                break;
            }
            Err(fault) => return Ok(Err(fault)),
        }
    }
    stream.write_all(&WELCOME).await?;
    loop {
        match read_request(bytes) {
            Ok(socks::Reading::NeedMore) => read_more(stream, bytes).await?,
            // Nobody speaks before the answer; whoever does is not understood.
            Ok(socks::Reading::Done(_, length)) if length < bytes.len() => {
                return Ok(Err(socks::Fault::Malformed));
            }
            Ok(socks::Reading::Done(request, _)) => return Ok(Ok(request)),
            Err(fault) => return Ok(Err(fault)),
        }
    }
}

async fn by_http(stream: TcpStream, bytes: Vec<u8>, shared: &Shared) {
    let mut incoming = Incoming::new(&stream, bytes);
    loop {
        let head = match incoming.head(IDLE, shared).await {
            Ok(Some(head)) => head,
            Ok(None) => return,
            Err(unread) => {
                if let Some(answer) = unread.answer() {
                    tell(&stream, &answer, shared).await;
                }
                return;
            }
        };
        incoming.take(head.length);
        let follows = match head.target {
            Target::Connect => return connect(&incoming, &head, shared).await,
            Target::Absolute(_) => request(&mut incoming, head, shared).await,
            Target::Asterisk | Target::Origin(_) => {
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
async fn connect(incoming: &Incoming<'_>, head: &Head, shared: &Shared) {
    let stream = incoming.stream;
    if !incoming.is_empty() {
        let why = "bytes came before the connection stood";
        return tell(stream, &refuse(Status::BadRequest, "proxy-early", why), shared).await;
    }
    let whom = whom(head, 443);
    let entry = shared.book.entry(&whom.host, whom.port, Via::Connect);
    match dial(shared, &whom, &entry).await {
        Ok(upstream) => {
            if write_all(stream, ESTABLISHED).await.is_ok() {
                through(stream, &upstream, &whom, &entry, shared).await;
            }
        }
        Err(failed) => tell(stream, &refusal(head, failed), shared).await,
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
            entry.with(|it| it.saw(&head.method, &head.target.path()));
            tell(stream, &refusal(&head, failed), shared).await;
            return Follows::Nothing;
        }
    };
    if let Err(refusal) = check_rules(&mut head, &whom, &entry, shared).await {
        entry.judged(Verdict::Refused(refusal.code));
        tell(stream, &refusal.answer(), shared).await;
        return Follows::Nothing;
    }
    exchange(incoming, &head, &upstream, Follows::Another, &entry, shared).await
}

fn whom(head: &Head, usual: u16) -> Whom {
    let port = head.authority.port.unwrap_or(usual);
    Whom { host: head.authority.host.clone(), port }
}

/// Returns what a client is told of a connection that there is not.
fn refusal(head: &Head, failed: Failed) -> Vec<u8> {
    let whom = &head.authority;
    let (status, why) = match failed {
        Failed::Refused(code) => {
            let kind = code.strip_prefix("address-").filter(|kind| *kind != "denied");
            let why =
                kind.map(|kind| format!(": it leads to an address ({kind}) that is not listed"));
            let why = why.unwrap_or_default();
            (Status::Forbidden, format!("the policy does not allow {whom}{why}"))
        }
        Failed::NoName => (Status::BadGateway, format!("{whom} has no address")),
        Failed::Closed => (Status::BadGateway, format!("{whom} refuses connections")),
        Failed::Unreachable => (Status::BadGateway, format!("{whom} cannot be reached")),
        Failed::Late => (Status::GatewayTimeout, format!("{whom} does not answer")),
    };
    refuse(status, failed.code(), &why)
}
