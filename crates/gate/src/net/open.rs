//! Opening the doors, and closing them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use palisade_policy::name::{Host, HostName};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::Builder;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;

use super::asking::{Ask, Asking};
use super::book::{Book, Entry, Told};
use super::carry::Hands;
use super::dial::Failed;
use super::rules::Rules;
use super::{hold, names, proxy, relay};
use crate::dns::Names;
use crate::traffic::{Report, Verdict, Via};

/// How long connections may take to end once the doors are to be closed: what was said before goes
/// out, as it would without us.
const LEAVE: Duration = Duration::from_millis(500);

/// Names that are looked up at the same time.
const LOOKUPS: usize = 64;

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

/// What a gate has to know of the host, and whom it speaks to there.
#[derive(Default)]
pub struct Outside {
    /// What the host's own table says of names.
    pub hosts: BTreeMap<HostName, Vec<IpAddr>>,
    /// The most connections at the same time.
    pub flows: usize,
    /// The most pipes at the same time, for those through which much goes.
    pub pipes: usize,
    /// Who asks a person, if anybody does.
    pub ask: Option<Ask>,
    /// Who hears of each connection, if anybody does.
    pub told: Option<Told>,
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
        let shared = Arc::new(Shared::new(rules, outside)?);
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
        let Some(thread) = self.thread.take() else { return };
        // Its sockets are closed with it.
        if thread.join().is_err() {
            self.shared.book.trouble("the network was closed by an error of ours".into());
        }
        hold::give_up(&self.shared, Duration::ZERO);
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
    lookups: Mutex<BTreeMap<HostName, Lookup>>,
    names: Mutex<Names>,
    /// Connections that are dialled, and that nobody has taken yet.
    held: Mutex<HashMap<Pair, Held>>,
    pub(super) book: Arc<Book>,
    pub(super) asking: Asking,
    pub(super) room: Arc<Semaphore>,
    flows: u32,
    pub(super) hands: Hands,
}

/// A name that is being looked up.
type Lookup = Arc<OnceCell<Result<Vec<IpAddr>, Failed>>>;

/// Who is to be reached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Whom {
    pub(super) host: Host,
    pub(super) port: u16,
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
    Ready(Box<Ready>),
}

/// A connection that is dialled.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) upstream: TcpStream,
    pub(super) entry: Entry,
    pub(super) permit: OwnedSemaphorePermit,
    pub(super) since: Instant,
}

impl Shared {
    pub(super) fn new(rules: Rules, outside: Outside) -> io::Result<Self> {
        Ok(Self {
            room: Arc::new(Semaphore::new(outside.flows)),
            flows: u32::try_from(outside.flows).unwrap_or(u32::MAX),
            hands: Hands::new(outside.pipes),
            rules,
            hosts: outside.hosts,
            lookups: Mutex::default(),
            names: Mutex::default(),
            held: Mutex::default(),
            asking: Asking::new(outside.ask)?,
            book: Arc::new(Book::new(Instant::now(), outside.told)),
        })
    }

    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lookups(&self) -> MutexGuard<'_, BTreeMap<HostName, Lookup>> {
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn held(&self) -> MutexGuard<'_, HashMap<Pair, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whom an address inside stands for. That it stands for nobody is in the book then.
    pub(super) fn meant(&self, to: SocketAddr) -> Option<Whom> {
        let (address, port) = (to.ip(), to.port());
        if !Names::is_local(address) {
            return Some(Whom { host: Host::from(address), port });
        }
        let name = self.names().name(address).cloned();
        if name.is_none() {
            let entry = self.book.entry(&Host::from(address), port, Via::Direct);
            entry.judged(Verdict::Refused("address-of-nobody"));
        }
        name.map(|name| Whom { host: Host::Name(name), port })
    }
}

fn run(sockets: Sockets, shared: &Arc<Shared>, ended: oneshot::Receiver<()>) -> io::Result<()> {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_io().enable_time().max_blocking_threads(LOOKUPS).build()?;
    let outcome = runtime.block_on(async {
        let mut doors = doors(sockets, shared)?;
        tokio::select! {
            // Either way somebody wants it to end.
            _ = ended => leave(shared).await,
            // No door ends by itself. Where one is gone, all are closed.
            _ = doors.join_next() => return Err(io::Error::other("one of its doors has failed")),
        }
        Ok(())
    });
    // Resolvers may hang; nobody waits for them.
    runtime.shutdown_background();
    outcome
}

/// Opens every door.
fn doors(sockets: Sockets, shared: &Arc<Shared>) -> io::Result<JoinSet<()>> {
    let mut doors = JoinSet::new();
    let Sockets { relay, names, proxy, queue } = sockets;
    let [udp_v4, udp_v6, tcp_v4, tcp_v6] = names;
    for socket in [udp_v4, udp_v6] {
        let socket = UdpSocket::from_std(socket.into())?;
        doors.spawn(names::by_packets(socket, Arc::clone(shared)));
    }
    for socket in [tcp_v4, tcp_v6] {
        let socket = TcpListener::from_std(socket.into())?;
        doors.spawn(names::by_connections(socket, Arc::clone(shared)));
    }
    if let Some(queue) = queue {
        doors.spawn(hold::attend(hold::Queue::new(queue)?, Arc::clone(shared)));
        doors.spawn(hold::sweep(Arc::clone(shared)));
    }
    for socket in relay {
        let socket = TcpListener::from_std(socket.into())?;
        doors.spawn(relay::accept(socket, Arc::clone(shared)));
    }
    let socket = TcpListener::from_std(proxy.into())?;
    doors.spawn(proxy::accept(socket, Arc::clone(shared)));
    Ok(doors)
}

/// Gives what is under way a moment to end: all who could say more are gone.
async fn leave(shared: &Shared) {
    hold::give_up(shared, Duration::ZERO);
    tokio::time::timeout(LEAVE, shared.room.acquire_many(shared.flows)).await.ok();
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("flows", &self.flows).finish_non_exhaustive()
    }
}
