//! Connections that are led here, whoever they were for.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use palisade_policy::name::Host;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};

use super::carry::carry;
use super::dial::dial;
use super::first::{self, Seen};
use super::{Held, Pair, Shared};
use crate::traffic::{Connection, Via};

/// The port that the rules inside lead to, on the loopback.
pub const OWN_PORT: u16 = 1;

/// Takes connections.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok(permit) = Arc::clone(&shared.room).acquire_owned().await else { return };
        let Ok((stream, from)) = listener.accept().await else {
            // There is no descriptor for it: somebody has to end first.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            take(stream, from, &shared).await;
            drop(permit);
        });
    }
}

async fn take(stream: TcpStream, from: SocketAddr, shared: &Shared) {
    let Some(to) = original(&stream) else { return cut(stream) };
    // Whoever asks for this port itself asks for nobody.
    if to.ip().is_loopback() && to.port() == OWN_PORT {
        return cut(stream);
    }
    let pair = Pair { from, to };
    let held = shared.held().remove(&pair);
    let Some(host) = shared.meant(to.ip()) else { return cut(stream) };
    let (mut entry, dialled) = match held {
        Some(Held::Ready(ready)) => {
            let (dialled, entry) = *ready;
            (entry, Ok(dialled))
        }
        Some(Held::Dialling) | None => {
            let mut entry = shared.book.entry(&host, to.port(), Via::Direct);
            let dialled = dial(shared, &host, to.port(), &mut entry).await;
            (entry, dialled)
        }
    };
    let Ok((upstream, _)) = dialled else {
        shared.book.note(entry);
        return cut(stream);
    };
    stream.set_nodelay(true).ok();
    through(stream, upstream, &host, to.port(), &mut entry, shared).await;
    shared.book.note(entry);
}

/// Looks at what is said first, and moves everything both ways.
pub(super) async fn through(
    stream: TcpStream,
    upstream: TcpStream,
    host: &Host,
    port: u16,
    entry: &mut Connection,
    shared: &Shared,
) {
    match first::look(&stream, host, port, shared.rules.strict).await {
        Seen::Fine(request) => entry.request = request,
        Seen::Nothing => {}
        Seen::Wrong(code) => {
            entry.refused = Some(code);
            cut(upstream);
            return cut(stream);
        }
    }
    if let Err(code) = carry(&stream, &upstream, entry, shared).await {
        entry.refused = Some(code);
        cut(upstream);
        cut(stream);
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

/// Ends a connection so that the other side sees that it was cut.
pub(super) fn cut(stream: TcpStream) {
    stream.set_zero_linger().ok();
    drop(stream);
}
