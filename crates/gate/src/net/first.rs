//! The first bytes of a TLS connection: whom they name must be whom it is for (Ruling 28).

use std::io;
use std::time::Duration;

use palisade_policy::name::Host;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::incoming::PATIENCE;
use crate::hello;

/// Looks at the first bytes, which stay where they are; an error is what is wrong with them.
pub(super) async fn look(
    stream: &TcpStream,
    host: &Host,
    strict: bool,
) -> Result<(), &'static str> {
    timeout(PATIENCE, look_tls(stream, host, strict)).await.unwrap_or(Err("first-bytes-late"))
}

async fn look_tls(stream: &TcpStream, host: &Host, strict: bool) -> Result<(), &'static str> {
    // Who says nothing keeps no memory.
    if stream.readable().await.is_err() {
        return Ok(());
    }
    // One more than is read: what fills it is too long, and is told so.
    let mut bytes = vec![0; hello::LONGEST_PEEK + 1];
    let mut had = 0;
    loop {
        let Ok(length) = more(stream, &mut bytes, had).await else {
            // Whoever ends before it has named anybody has nothing to be passed on.
            return if had == 0 { Ok(()) } else { Err("tls-unfinished") };
        };
        had = length;
        let said = match hello::read(bytes.get(..length).unwrap_or_default()) {
            Ok(hello::Reading::NeedMore) => continue,
            Ok(hello::Reading::NotTls) => return Err("tls-expected"),
            Ok(hello::Reading::Hello(said)) => said,
            Err(fault) => return Err(fault.code()),
        };
        if strict && said.is_encrypted {
            return Err("tls-hidden-name");
        }
        return match (host, said.server) {
            (Host::Name(name), Some(server)) if *name == server => Ok(()),
            (Host::Name(_), Some(_)) => Err("tls-other-name"),
            (Host::Name(_), None) => Err("tls-no-name"),
            // Who is listed by its address is whatever it calls itself.
            (Host::Ip(_), _) => Ok(()),
        };
    }
}

/// Waits for more bytes than there were, and returns how many there are. That no more come is an
/// error.
async fn more(stream: &TcpStream, bytes: &mut [u8], had: usize) -> io::Result<usize> {
    loop {
        let ready = stream.ready(Interest::READABLE).await?;
        let length = stream.peek(bytes).await?;
        let is_all = ready.is_read_closed() && length <= had;
        if length == 0 || is_all {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if length > had || length == bytes.len() {
            return Ok(length);
        }
        // What is there already keeps the socket readable: look again a little later.
        sleep(Duration::from_millis(2)).await;
    }
}
