//! Connections of programs that are set up for a proxy: HTTP and SOCKS5 at one port.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::Shared;
use super::dial::{Failed, dial};
use super::relay::through;
use crate::http::{
    Body, Chunks, ESTABLISHED, Head, LONGEST, Reader, Reading, Status, Target, refuse, to_server,
};
use crate::socks::{self, Reply, WELCOME, read_greeting, read_request};
use crate::traffic::Via;

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a client that was refused may go on talking.
const PARTING: Duration = Duration::from_secs(1);

/// How often more is read from it: 64 KiB at most.
const UNHEARD: usize = 16;

/// Bytes that are moved at once.
const CHUNK: usize = 16 << 10;

/// Takes connections.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok(permit) = Arc::clone(&shared.room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
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

/// Says the last words of a connection. A socket that is closed with bytes unread is cut, and the
/// words with it: so what the client still says is read for a while, and forgotten.
async fn tell(mut stream: TcpStream, words: &[u8]) {
    if stream.write_all(words).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    let mut chunk = [0; 4096];
    let unheard = async {
        for _ in 0..UNHEARD {
            if !matches!(stream.read(&mut chunk).await, Ok(1..)) {
                return;
            }
        }
    };
    timeout(PARTING, unheard).await.ok();
}

async fn by_socks(mut stream: TcpStream, mut bytes: Vec<u8>, shared: &Shared) {
    let asked = timeout(PATIENCE, socks_request(&mut stream, &mut bytes)).await;
    let request = match asked {
        Ok(Ok(Ok(request))) => request,
        Ok(Ok(Err(fault))) => return tell(stream, &fault.answer()).await,
        Ok(Err(_)) | Err(_) => return,
    };
    let mut entry = shared.book.entry(&request.host, request.port, Via::Socks);
    match dial(shared, &request.host, request.port, &mut entry).await {
        Ok((upstream, _)) => {
            if stream.write_all(&Reply::Succeeded.write()).await.is_ok() {
                through(stream, upstream, &request.host, request.port, &mut entry, shared).await;
            }
        }
        Err(failed) => {
            let reply = match failed {
                Failed::Refused(_) => Reply::NotAllowed,
                Failed::NoName | Failed::Unreachable => Reply::HostUnreachable,
                Failed::Closed => Reply::Refused,
            };
            tell(stream, &reply.write()).await;
        }
    }
    shared.book.note(entry);
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

async fn by_http(mut stream: TcpStream, mut bytes: Vec<u8>, shared: &Shared) {
    let head = match timeout(PATIENCE, read_head(&mut stream, &mut bytes)).await {
        Ok(Ok(Ok(head))) => head,
        Ok(Ok(Err(answer))) => return tell(stream, &answer).await,
        Ok(Err(_)) | Err(_) => return,
    };
    let behind = bytes.split_off(head.length.min(bytes.len()));
    let host = head.authority.host.clone();
    let (via, usual) = match head.target {
        Target::Connect => (Via::Connect, 443),
        Target::Absolute(_) | Target::Asterisk | Target::Origin(_) => (Via::Http, 80),
    };
    let port = head.authority.port.unwrap_or(usual);
    if let (Target::Origin(_) | Target::Asterisk, _) = (&head.target, port) {
        let why = "this is a proxy, and asked like a server";
        return tell(stream, &refuse(Status::BadRequest, "proxy-form", why)).await;
    }
    if via == Via::Connect && !behind.is_empty() {
        let why = "bytes came before the connection stood";
        return tell(stream, &refuse(Status::BadRequest, "proxy-early", why)).await;
    }
    let mut entry = shared.book.entry(&host, port, via);
    match dial(shared, &host, port, &mut entry).await {
        Ok((upstream, _)) if via == Via::Connect => {
            if stream.write_all(ESTABLISHED).await.is_ok() {
                through(stream, upstream, &host, port, &mut entry, shared).await;
            }
        }
        Ok((upstream, _)) => {
            entry.request = Some(format!("{} {}", head.method, head.target.path()));
            let budget = shared.rules.budget;
            let name = entry.host.clone();
            let (mut sent, mut received) = (0, 0);
            let (mut client_in, mut client_out) = stream.into_split();
            let (mut server_in, mut server_out) = upstream.into_split();
            let up = async {
                let first = to_server(&head).unwrap_or_default();
                let mut count = |bytes: usize| {
                    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                    sent += bytes;
                    shared.book.sent(&name, bytes, &budget)
                };
                if count(first.len()).is_ok() && server_out.write_all(&first).await.is_ok() {
                    body(&mut client_in, &mut server_out, &head, behind, &mut count).await;
                }
                // That the server answers before it has read all is its right.
                std::future::pending::<()>().await;
            };
            let down = async {
                let mut chunk = vec![0; CHUNK];
                while let Ok(length @ 1..) = server_in.read(&mut chunk).await {
                    let bytes = u64::try_from(length).unwrap_or(u64::MAX);
                    received += bytes;
                    let within = shared.book.received(bytes, &budget).is_ok();
                    let piece = chunk.get(..length).unwrap_or_default();
                    if !within || client_out.write_all(piece).await.is_err() {
                        return;
                    }
                }
                client_out.shutdown().await.ok();
            };
            tokio::select! {
                () = up => {}
                () = down => {}
            }
            (entry.sent, entry.received) = (sent, received);
        }
        Err(failed) => {
            tell(stream, &refusal(&head, failed)).await;
        }
    }
    shared.book.note(entry);
}

/// Passes a request's body on, and nothing behind it.
async fn body(
    client: &mut (impl tokio::io::AsyncRead + Unpin),
    server: &mut (impl tokio::io::AsyncWrite + Unpin),
    head: &Head,
    behind: Vec<u8>,
    count: &mut impl FnMut(usize) -> Result<(), &'static str>,
) {
    let mut left = match head.body {
        Body::Length(length) => Left::Bytes(length),
        Body::Chunked => Left::Chunks(Chunks::default()),
    };
    let mut piece = behind;
    let mut chunk = vec![0; CHUNK];
    loop {
        let Some(own) = left.take(&piece) else { return };
        let own = piece.get(..own).unwrap_or_default();
        if count(own.len()).is_err() || server.write_all(own).await.is_err() || left.is_done() {
            return;
        }
        let Ok(length @ 1..) = client.read(&mut chunk).await else { return };
        piece = chunk.get(..length).unwrap_or_default().to_vec();
    }
}

/// What is left of a body.
enum Left {
    Bytes(u64),
    Chunks(Chunks),
}

impl Left {
    /// Takes bytes and returns how many of them belong to it; nothing if it cannot be followed.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Bytes(left) => {
                let own = u64::try_from(bytes.len()).ok()?.min(*left);
                *left = left.saturating_sub(own);
                usize::try_from(own).ok()
            }
            Self::Chunks(chunks) => chunks.take(bytes).ok(),
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Self::Bytes(left) => *left == 0,
            Self::Chunks(chunks) => chunks.is_done(),
        }
    }
}

async fn read_head(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
) -> io::Result<Result<Box<Head>, Vec<u8>>> {
    let mut reader = Reader::default();
    loop {
        match reader.read(bytes) {
            Ok(Reading::NeedMore) if bytes.len() < LONGEST => read_more(stream, bytes).await?,
            Ok(Reading::NeedMore) => {
                let why = "the request is too long";
                return Ok(Err(refuse(Status::TooLong, "http-long", why)));
            }
            Ok(Reading::Http2Preface) => {
                let why = "a proxy is asked by HTTP/1";
                return Ok(Err(refuse(Status::BadRequest, "http-version", why)));
            }
            Ok(Reading::Head(head)) => return Ok(Ok(head)),
            Err(fault) => {
                return Ok(Err(refuse(fault.status(), fault.code(), &fault.to_string())));
            }
        }
    }
}

/// Returns what a client is told of a connection that there is not.
fn refusal(head: &Head, failed: Failed) -> Vec<u8> {
    let whom = &head.authority;
    let (status, why) = match failed {
        Failed::Refused(_) => (Status::Forbidden, format!("the policy does not allow {whom}")),
        Failed::NoName => (Status::BadGateway, format!("{whom} has no address")),
        Failed::Closed => (Status::BadGateway, format!("{whom} refuses connections")),
        Failed::Unreachable => (Status::GatewayTimeout, format!("{whom} cannot be reached")),
    };
    refuse(status, failed.code(), &why)
}
