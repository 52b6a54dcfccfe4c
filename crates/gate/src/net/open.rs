//! Opening the doors, and closing them.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use palisade_policy::name::{Host, HostName};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, oneshot};

use super::book::Book;
use super::rules::Rules;
use super::{hold, names, proxy, relay};
use crate::dns::Names;
use crate::traffic::{Connection, Report};

/// The sockets inside a box that everything there is led to. All are nonblocking.
#[derive(Debug)]
pub struct Sockets {
    /// Where connections arrive, by IPv4 and by IPv6.
    pub relay: [OwnedFd; 2],
    /// Where questions about names arrive: packets by both, then connections.
    pub names: [OwnedFd; 4],
    /// Where programs that look for a proxy find one.
    pub proxy: OwnedFd,
    /// Where first packets wait, if they do.
    pub queue: Option<OwnedFd>,
}

/// What a gate has to know of the host.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// What the host's own table says of names.
    pub hosts: BTreeMap<HostName, Vec<IpAddr>>,
    /// The most connections at the same time.
    pub flows: usize,
}

/// A running gate. Dropping it closes every door.
#[derive(Debug)]
pub struct Gate {
    shared: Arc<Shared>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Gate {
    /// Opens the doors, in a thread of their own.
    ///
    /// # Errors
    ///
    /// When there is no thread or no room for it. Then nothing is reached.
    pub fn open(sockets: Sockets, rules: Rules, outside: Outside) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            room: Arc::new(Semaphore::new(outside.flows)),
            rules,
            hosts: outside.hosts,
            names: Mutex::default(),
            held: Mutex::default(),
            book: Book::new(Instant::now()),
        });
        let (end, ended) = oneshot::channel();
        let doors = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("pal-gate".into()).spawn(move || {
            if let Err(error) = run(sockets, &doors, ended) {
                doors.book.trouble(format!("the network was closed: {error}"));
            }
        })?;
        Ok(Self { shared, end: Some(end), thread: Some(thread) })
    }

    /// Closes the doors and returns what went through them.
    pub fn close(mut self) -> Report {
        self.shut();
        self.shared.book.report()
    }

    fn shut(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // One that has panicked has closed its sockets.
            thread.join().ok();
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shut();
    }
}

/// What all doors share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) rules: Rules,
    pub(super) hosts: BTreeMap<HostName, Vec<IpAddr>>,
    names: Mutex<Names>,
    /// Connections that are dialled, and that nobody has taken yet.
    held: Mutex<HashMap<Pair, Held>>,
    pub(super) book: Book,
    pub(super) room: Arc<Semaphore>,
}

/// Both ends of a connection, as the box sees them.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Pair {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
}

/// How far a connection is whose first packet waits.
#[derive(Debug)]
pub(super) enum Held {
    /// Somebody dials.
    Dialling,
    /// It is dialled.
    Ready(Box<((TcpStream, SocketAddr), Connection)>),
}

impl Shared {
    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn held(&self) -> MutexGuard<'_, HashMap<Pair, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whom an address inside stands for.
    pub(super) fn meant(&self, address: IpAddr) -> Option<Host> {
        if Names::is_local(address) {
            return self.names().name(address).cloned().map(Host::Name);
        }
        Some(Host::from(address))
    }
}

fn run(sockets: Sockets, shared: &Arc<Shared>, ended: oneshot::Receiver<()>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let outcome = runtime.block_on(async {
        let Sockets { relay, names, proxy, queue } = sockets;
        let [udp_v4, udp_v6, tcp_v4, tcp_v6] = names;
        for socket in [udp_v4, udp_v6] {
            let socket = UdpSocket::from_std(socket.into())?;
            tokio::spawn(names::by_packets(socket, Arc::clone(shared)));
        }
        for socket in [tcp_v4, tcp_v6] {
            let socket = TcpListener::from_std(socket.into())?;
            tokio::spawn(names::by_connections(socket, Arc::clone(shared)));
        }
        if let Some(queue) = queue {
            tokio::spawn(hold::attend(hold::Queue::new(queue)?, Arc::clone(shared)));
        }
        for socket in relay {
            let socket = TcpListener::from_std(socket.into())?;
            tokio::spawn(relay::accept(socket, Arc::clone(shared)));
        }
        let socket = TcpListener::from_std(proxy.into())?;
        tokio::spawn(proxy::accept(socket, Arc::clone(shared)));
        // Either way somebody wants it to end.
        ended.await.ok();
        Ok(())
    });
    // Resolvers may hang; nobody waits for them.
    runtime.shutdown_background();
    outcome
}
