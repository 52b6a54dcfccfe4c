//! Questions about names: those that may be reached have an address, and no other exists.

use std::sync::Arc;
use std::time::Duration;

use palisade_policy::name::Host;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;

use super::Shared;
use crate::dns::{Answer, Asked, Carrier, Kind, LONGEST, Names, Query, Remember};

/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a client may remember that there is no such name.
const KEPT: Remember = Remember::Seconds(5);

/// Most connections at the same time.
const CONNECTIONS: usize = 64;

/// Answers packets, until the socket fails.
pub(super) async fn by_packets(socket: UdpSocket, shared: Arc<Shared>) {
    let mut bytes = [0; LONGEST + 1];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut bytes).await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let message = bytes.get(..length).unwrap_or_default();
        if let Some(answer) = answer(message, Carrier::Udp, &shared) {
            // Who asks and goes away has no use for it.
            socket.send_to(&answer, from).await.ok();
        }
    }
}

/// Answers connections.
pub(super) async fn by_connections(listener: TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            converse(stream, &shared).await;
            drop(permit);
        });
    }
}

/// Answers one question after the other; each has its length before it.
async fn converse(mut stream: TcpStream, shared: &Shared) {
    let mut bytes = vec![0; LONGEST];
    loop {
        let Ok(Ok(length)) = timeout(PATIENCE, stream.read_u16()).await else { return };
        let Some(message) = bytes.get_mut(..usize::from(length)) else { return };
        let Ok(Ok(_)) = timeout(PATIENCE, stream.read_exact(message)).await else { return };
        let Some(answer) = answer(message, Carrier::Tcp, shared) else { return };
        let Ok(length) = u16::try_from(answer.len()) else { return };
        let framed = [&length.to_be_bytes()[..], &answer].concat();
        let Ok(Ok(())) = timeout(PATIENCE, stream.write_all(&framed)).await else { return };
    }
}

/// Returns the answer to a message, if it gets one.
fn answer(message: &[u8], carrier: Carrier, shared: &Shared) -> Option<Vec<u8>> {
    let query = match Query::read(message) {
        Ok(query) => query,
        Err(rejected) => return rejected.answer().map(<[u8]>::to_vec),
    };
    Some(told(&query, shared).write(&query, carrier))
}

fn told(query: &Query, shared: &Shared) -> Answer {
    let host = match &query.asked {
        Asked::Host(name) => name,
        Asked::Address(address) if Names::is_local(*address) => {
            let found = shared.names().name(*address).cloned();
            return match (found, query.kind) {
                (Some(name), Kind::Ptr | Kind::Any) => Answer::Ptr(name),
                (Some(_), _) => Answer::Nothing(KEPT),
                (None, _) => Answer::NoSuchName(KEPT),
            };
        }
        Asked::Address(_) | Asked::Other => return Answer::NoSuchName(KEPT),
    };
    if !shared.rules.knows(&Host::Name(host.clone())) {
        let (code, rule) = shared.rules.why_unknown(&Host::Name(host.clone()));
        shared.book.refused_name(host.as_str(), code, rule);
        return Answer::NoSuchName(KEPT);
    }
    let Ok(local) = shared.names().give(host) else {
        shared.book.refused_name(host.as_str(), "dns-names-full", None);
        return Answer::Failure;
    };
    match query.kind {
        Kind::A | Kind::Any => Answer::A(local.v4),
        Kind::Aaaa => Answer::Aaaa(local.v6),
        Kind::Https | Kind::Svcb | Kind::Ptr | Kind::Other(_) => Answer::Nothing(KEPT),
    }
}
