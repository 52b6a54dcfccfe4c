//! The first bytes of a TLS connection: whom they name must be whom it is for (Ruling 28).

use palisade_policy::name::Host;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Shared;
use super::carry::read_more;
use super::incoming::PATIENCE;
use super::keep::Kept;
use crate::hello::{self, Hello};

/// What a client has said, and how much of it is its first message.
#[derive(Debug)]
pub(super) struct First {
    pub(super) bytes: Kept,
    pub(super) length: usize,
}

/// Reads the first message; an error is what is wrong with it. Whoever ends before saying anything
/// has said nothing wrong.
pub(super) async fn look(
    stream: &TcpStream,
    host: &Host,
    shared: &Shared,
) -> Result<First, &'static str> {
    let mut bytes = shared.hands.larder.keep();
    let looked = timeout(PATIENCE, look_on(stream, &mut bytes, host, shared)).await;
    let length = looked.unwrap_or(Err("first-bytes-late"))?;
    Ok(First { bytes, length })
}

/// Reads on until the message is whole, and returns its length.
pub(super) async fn look_on(
    stream: &TcpStream,
    bytes: &mut Kept,
    host: &Host,
    shared: &Shared,
) -> Result<usize, &'static str> {
    loop {
        match hello::read_first(bytes) {
            Ok((hello::Reading::NeedMore, _)) => {}
            Ok((hello::Reading::NotTls, _)) => return Err("tls-expected"),
            Ok((hello::Reading::Hello(said), length)) => {
                return check(&said, host, shared.rules.strict).map(|()| length);
            }
            Err(fault) => return Err(fault.code()),
        }
        if bytes.is_full() {
            return Err("first-bytes-full");
        }
        match read_more(stream, bytes, shared).await {
            Ok(1..) => {}
            Ok(0) | Err(_) if bytes.is_empty() => return Ok(0),
            // Whoever ends before it has named anybody has nothing to be passed on.
            Ok(0) | Err(_) => return Err("tls-unfinished"),
        }
    }
}

fn check(said: &Hello, host: &Host, strict: bool) -> Result<(), &'static str> {
    if strict && said.is_encrypted {
        return Err("tls-hidden-name");
    }
    match (host, &said.server) {
        (Host::Name(name), Some(server)) if name == server => Ok(()),
        (Host::Name(_), Some(_)) => Err("tls-other-name"),
        (Host::Name(_), None) => Err("tls-no-name"),
        // Who is listed by its address is whatever it calls itself.
        (Host::Ip(_), _) => Ok(()),
    }
}
