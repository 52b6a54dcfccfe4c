//! Connections that are led here, whoever they were for.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};

use super::book::Entry;
use super::carry::{Broken, carry, cut};
use super::dial::dial;
use super::greet::Both;
use super::{Held, Pair, Ready, Shared, Whom, first, follow};
use crate::traffic::{Verdict, Via};

/// The port that the rules inside lead to, on the loopback.
pub const OWN_PORT: u16 = 1;

/// Takes connections.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // There is no descriptor for it: somebody has to end first.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let Some(to) = original(&stream) else {
            cut(&stream);
            continue;
        };
        // Whoever asks for this port itself asks for nobody.
        if to.ip().is_loopback() && to.port() == OWN_PORT {
            cut(&stream);
            continue;
        }
        let held = shared.held().remove(&Pair { from, to });
        let Some(whom) = shared.meant(to) else {
            cut(&stream);
            continue;
        };
        let shared = Arc::clone(&shared);
        match held {
            Some(Held::Ready(ready)) => drop(tokio::spawn(take_held(stream, *ready, whom, shared))),
            Some(Held::Dialling) | None => take(stream, whom, shared),
        }
    }
}

/// Takes a connection that was dialled while its first packet waited.
async fn take_held(stream: TcpStream, ready: Ready, whom: Whom, shared: Arc<Shared>) {
    let Ready { upstream, entry, permit, .. } = ready;
    through(&stream, &upstream, &whom, &entry, &shared).await;
    drop(permit);
}

/// Takes one that nobody held.
fn take(stream: TcpStream, whom: Whom, shared: Arc<Shared>) {
    let entry = shared.book.entry(&whom.host, whom.port, Via::Direct);
    let Ok(permit) = Arc::clone(&shared.room).try_acquire_owned() else {
        entry.judged(Verdict::Refused("too-many"));
        return cut(&stream);
    };
    tokio::spawn(async move {
        match dial(&shared, &whom, &entry).await {
            Ok(upstream) => through(&stream, &upstream, &whom, &entry, &shared).await,
            Err(_) => cut(&stream),
        }
        drop(permit);
    });
}

/// Looks at what is said, and moves everything both ways.
pub(super) async fn through(
    stream: &TcpStream,
    upstream: &TcpStream,
    whom: &Whom,
    entry: &Entry,
    shared: &Shared,
) {
    // Whoever speaks does it with small words, too.
    stream.set_nodelay(true).ok();
    let ended = match whom.port {
        port if shared.rules.requests.covers(&whom.host, port) => {
            follow::one(stream, upstream, whom, entry, shared).await
        }
        80 => follow::follow(stream, upstream, whom, entry, shared).await,
        443 => named(Both { stream, upstream, host: &whom.host, entry, shared }).await,
        _ => carry(stream, upstream, entry, shared).await.map_err(Verdict::Cut),
    };
    if let Err(verdict) = ended {
        entry.judged(verdict);
        cut(upstream);
        cut(stream);
    }
}

/// Moves everything both ways that is for the host which it names.
async fn named(both: Both<'_>) -> Result<(), Verdict> {
    let Both { stream, upstream, host, entry, shared } = both;
    let first = first::look(stream, host, shared).await.map_err(Verdict::Refused)?;
    entry.stands();
    match both.greet(first).await {
        Ok(()) => carry(stream, upstream, entry, shared).await.map_err(Verdict::Cut),
        Err(Broken::Gone | Broken::Deaf) => Ok(()),
        Err(Broken::Over(code)) => Err(Verdict::Cut(code)),
    }
}

/// Returns where a connection was to go before it was led here.
fn original(stream: &TcpStream) -> Option<SocketAddr> {
    let found = match stream.local_addr().ok()? {
        SocketAddr::V4(_) => sockopt::ip_original_dst(stream).map(SocketAddr::from),
        SocketAddr::V6(_) => sockopt::ipv6_original_dst(stream).map(SocketAddr::from),
    };
    found.ok()
}
