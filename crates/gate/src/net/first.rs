//! The first bytes of a connection: whom they name must be whom the connection is for (Ruling 28).

use std::io;
use std::time::Duration;

use palisade_policy::name::Host;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::hello;
use crate::http::{Reader, Reading};

/// How long a client may take to say it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    /// It is for whom it should be for; a plain request, by its method and path.
    Fine(Option<String>),
    /// Nothing has to be seen at that port.
    Nothing,
    /// It is not; a name that never changes.
    Wrong(&'static str),
}

/// Looks at the first bytes, which stay where they are.
pub(super) async fn look(stream: &TcpStream, host: &Host, port: u16, strict: bool) -> Seen {
    let looked = match port {
        443 => timeout(PATIENCE, look_tls(stream, host, strict)).await,
        80 => timeout(PATIENCE, look_http(stream, host)).await,
        _ => return Seen::Nothing,
    };
    looked.unwrap_or(Seen::Wrong("first-bytes-late"))
}

async fn look_tls(stream: &TcpStream, host: &Host, strict: bool) -> Seen {
    // One more than is read: what fills it is too long, and is told so.
    let mut bytes = vec![0; hello::LONGEST_PEEK + 1];
    let mut had = 0;
    loop {
        let Ok(length) = more(stream, &mut bytes, had).await else {
            return Seen::Nothing;
        };
        had = length;
        let said = match hello::read(bytes.get(..length).unwrap_or_default()) {
            Ok(hello::Reading::NeedMore) => continue,
            Ok(hello::Reading::NotTls) => return Seen::Wrong("tls-expected"),
            Ok(hello::Reading::Hello(said)) => said,
            Err(fault) => return Seen::Wrong(fault.code()),
        };
        if strict && said.is_encrypted {
            return Seen::Wrong("tls-hidden-name");
        }
        return match (host, said.server) {
            (Host::Name(name), Some(server)) if *name == server => Seen::Fine(None),
            (Host::Name(_), Some(_)) => Seen::Wrong("tls-other-name"),
            (Host::Name(_), None) => Seen::Wrong("tls-no-name"),
            // Who is listed by its address is whatever it calls itself.
            (Host::Ip(_), _) => Seen::Fine(None),
        };
    }
}

async fn look_http(stream: &TcpStream, host: &Host) -> Seen {
    let mut bytes = vec![0; crate::http::LONGEST + 1];
    let (mut reader, mut had) = (Reader::default(), 0);
    loop {
        let Ok(length) = more(stream, &mut bytes, had).await else {
            return Seen::Nothing;
        };
        had = length;
        let head = match reader.read(bytes.get(..length).unwrap_or_default()) {
            Ok(Reading::NeedMore) => continue,
            Ok(Reading::Http2Preface) => return Seen::Wrong("http-unseen"),
            Ok(Reading::Head(head)) => head,
            Err(fault) => return Seen::Wrong(fault.code()),
        };
        return match head.authority.host == *host {
            true => Seen::Fine(Some(format!("{} {}", head.method, head.target.path()))),
            false => Seen::Wrong("http-other-host"),
        };
    }
}

/// Waits for more bytes than there were, and returns how many there are. That no more come is an
/// error.
async fn more(stream: &TcpStream, bytes: &mut [u8], had: usize) -> io::Result<usize> {
    loop {
        let length = stream.peek(bytes).await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if length > had || length == bytes.len() {
            return Ok(length);
        }
        // What is there already keeps the socket readable: look again a little later.
        sleep(Duration::from_millis(2)).await;
    }
}
