//! Bytes, both ways, until both sides have said all.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, sockopt};
use rustix::pipe::{PipeFlags, SpliceFlags};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::Shared;
use super::book::Entry;
use super::keep::{Kept, Larder, MUCH};
use super::rules::Budget;

/// After so many bytes a connection gets a pipe, through which the kernel moves them by itself.
const MANY: usize = 256 << 10;

/// Bytes that it moves at once.
const MOVED: usize = 1 << 20;

/// What bytes are moved with.
#[derive(Debug)]
pub(super) struct Hands {
    /// What is read lies here before it is written: there is one thread, and one piece of memory for
    /// all connections.
    chunk: Mutex<Vec<u8>>,
    /// What could not be written yet, or says too little.
    pub(super) larder: Larder,
    pipes: Arc<Semaphore>,
}

impl Hands {
    /// Makes them, with so many pipes at most.
    pub(super) fn new(pipes: usize) -> Self {
        let pipes = Arc::new(Semaphore::new(pipes));
        Self { chunk: Mutex::new(vec![0; MUCH]), larder: Larder::default(), pipes }
    }

    fn chunk(&self) -> MutexGuard<'_, Vec<u8>> {
        self.chunk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who hears of the bytes that go one way.
#[derive(Clone, Copy)]
enum Count<'e> {
    Sent(&'e Entry, &'e Budget),
    Received(&'e Entry, &'e Budget),
    Nobody,
}

impl Count<'_> {
    /// Counts bytes that are about to be passed on; an error if they may not be.
    fn pass(self, bytes: usize) -> Result<(), Broken> {
        match self {
            Self::Sent(entry, budget) => entry.sent(bytes, budget).map_err(Broken::Over),
            Self::Received(entry, budget) => entry.received(bytes, budget).map_err(Broken::Over),
            Self::Nobody => Ok(()),
        }
    }

    /// Takes back what could not be.
    fn unpassed(self, bytes: usize) -> Broken {
        match self {
            Self::Sent(entry, _) => entry.unsent(bytes),
            Self::Received(..) | Self::Nobody => {}
        }
        Broken::Deaf
    }
}

/// Why one way has ended before its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Broken {
    /// Who speaks is gone.
    Gone,
    /// Who is spoken to is gone.
    Deaf,
    /// It may not go on; a name that never changes.
    Over(&'static str),
}

impl Broken {
    /// Has whoever is left see that somebody is gone, when its connection is closed: half of
    /// something must not look like all of it.
    pub(super) fn tell(self, from: &TcpStream, to: &TcpStream) -> Self {
        match self {
            Self::Gone => cut(to),
            Self::Deaf => cut(from),
            // Who cuts it tells both.
            Self::Over(_) => {}
        }
        self
    }
}

/// Moves everything; an error is why it was cut.
pub(super) async fn carry(
    stream: &TcpStream,
    upstream: &TcpStream,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), &'static str> {
    entry.stands();
    both(up(stream, upstream, entry, shared), down(stream, upstream, entry, shared)).await
}

/// Waits for both ways; an error is why they were cut. One that breaks ends the other; one that ends
/// well does not. Nor does one that nobody hears any more: they may have spoken before.
pub(super) async fn both(
    one: impl Future<Output = Result<(), Broken>>,
    other: impl Future<Output = Result<(), Broken>>,
) -> Result<(), &'static str> {
    let heard = |ended| match ended {
        Ok(()) | Err(Broken::Deaf) => Ok(()),
        Err(broken @ (Broken::Gone | Broken::Over(_))) => Err(broken),
    };
    let ended = tokio::try_join!(async { heard(one.await) }, async { heard(other.await) });
    match ended {
        Ok(_) | Err(Broken::Gone | Broken::Deaf) => Ok(()),
        Err(Broken::Over(code)) => Err(code),
    }
}

/// Moves what the client says.
async fn up(
    stream: &TcpStream,
    upstream: &TcpStream,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Broken> {
    one_way(stream, upstream, &shared.hands, Count::Sent(entry, &shared.rules.budget)).await
}

/// Moves what the server says.
pub(super) async fn down(
    stream: &TcpStream,
    upstream: &TcpStream,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Broken> {
    one_way(upstream, stream, &shared.hands, Count::Received(entry, &shared.rules.budget)).await
}

/// Moves everything, and counts nothing.
pub(super) async fn uncounted(one: &TcpStream, other: &TcpStream, hands: &Hands) {
    let (there, back) = (Count::Nobody, Count::Nobody);
    both(one_way(one, other, hands, there), one_way(other, one, hands, back)).await.ok();
}

async fn one_way(
    from: &TcpStream,
    to: &TcpStream,
    hands: &Hands,
    count: Count<'_>,
) -> Result<(), Broken> {
    move_all(from, to, hands, count).await.map_err(|broken| broken.tell(from, to))
}

async fn move_all(
    from: &TcpStream,
    to: &TcpStream,
    hands: &Hands,
    count: Count<'_>,
) -> Result<(), Broken> {
    let mut all = 0_usize;
    loop {
        let mut kept = hands.larder.keep();
        let mut broken = Ok(());
        let length = from
            .async_io(Interest::READABLE, || {
                let mut chunk = hands.chunk();
                let read = chunk.get_mut(..hands.larder.piece()).unwrap_or_default();
                let length = from.try_read(read)?;
                let read = read.get(..length).unwrap_or_default();
                broken = pass_some(to, read, count, &mut kept);
                Ok(length)
            })
            .await
            .map_err(|_| Broken::Gone)?;
        broken?;
        if length == 0 {
            finish(to);
            return Ok(());
        }
        write_all(to, &kept).await.map_err(|left| count.unpassed(left))?;
        all = all.saturating_add(length);
        if all >= MANY {
            drop(kept);
            if let Some(pipe) = Pipe::new(hands) {
                return pipe.one_way(from, to, count).await;
            }
            all = 0;
        }
    }
}

/// Passes on what can be at once, and keeps the rest. Mostly that is nothing.
fn pass_some(
    to: &TcpStream,
    bytes: &[u8],
    count: Count<'_>,
    kept: &mut Kept,
) -> Result<(), Broken> {
    if bytes.is_empty() {
        return Ok(());
    }
    count.pass(bytes.len())?;
    let written = match to.try_write(bytes) {
        Ok(written) => written,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(_) => return Err(count.unpassed(bytes.len())),
    };
    let left = bytes.get(written..).unwrap_or_default();
    if !left.is_empty() {
        kept.add(left);
    }
    Ok(())
}

/// Passes bytes on to a server, if there is room for them in the budget.
pub(super) async fn pass(
    bytes: &[u8],
    upstream: &TcpStream,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Broken> {
    let count = Count::Sent(entry, &shared.rules.budget);
    count.pass(bytes.len())?;
    write_all(upstream, bytes).await.map_err(|left| count.unpassed(left))
}

/// Writes everything; an error is how many bytes could not be.
pub(super) async fn write_all(to: &TcpStream, bytes: &[u8]) -> Result<(), usize> {
    let mut left = bytes;
    while !left.is_empty() {
        let written = to.async_io(Interest::WRITABLE, || to.try_write(left)).await;
        let written = written.map_err(|_| left.len())?;
        left = left.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Reads what comes behind what is there, and returns how much that is; none if nothing more comes.
pub(super) async fn read_more(
    from: &TcpStream,
    bytes: &mut Kept,
    shared: &Shared,
) -> io::Result<usize> {
    let Hands { larder, .. } = &shared.hands;
    from.async_io(Interest::READABLE, || {
        let mut chunk = shared.hands.chunk();
        let read = chunk.get_mut(..larder.piece()).unwrap_or_default();
        let length = from.try_read(read)?;
        bytes.add(read.get(..length).unwrap_or_default());
        Ok(length)
    })
    .await
}

/// Says that nothing more comes.
pub(super) fn finish(to: &TcpStream) {
    // Where somebody is gone this is no good end, and closing it says so.
    if sockopt::socket_linger(to) == Ok(Some(Duration::ZERO)) {
        return;
    }
    // One that is gone has heard enough.
    rustix::net::shutdown(to, Shutdown::Write).ok();
}

/// Tells a client something, which is the last thing that it hears.
pub(super) async fn tell(stream: &TcpStream, answer: &[u8], shared: &Shared) {
    /// How long, and how much, a client may go on that was answered already. A connection that is
    /// closed with words in it that nobody has read is reset, and the answer may be lost.
    const HEARD: Duration = Duration::from_secs(1);
    const MOST: usize = 1 << 20;
    let hearing = async {
        if write_all(stream, answer).await.is_err() {
            return;
        }
        finish(stream);
        let (mut all, mut scrap) = (0_usize, shared.hands.larder.keep());
        while let Ok(length @ 1..) = read_more(stream, &mut scrap, shared).await {
            scrap.clear();
            all = all.saturating_add(length);
            if all > MOST {
                return;
            }
        }
    };
    timeout(HEARD, hearing).await.ok();
}

/// Has a connection end so that the other side sees that it was cut.
pub(super) fn cut(stream: &TcpStream) {
    stream.set_zero_linger().ok();
}

/// A pipe between two sockets.
struct Pipe {
    into: OwnedFd,
    out: OwnedFd,
    _permit: OwnedSemaphorePermit,
}

impl Pipe {
    /// Makes one, as long as there are descriptors for it.
    fn new(hands: &Hands) -> Option<Self> {
        let permit = Arc::clone(&hands.pipes).try_acquire_owned().ok()?;
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (out, into) = rustix::pipe::pipe_with(flags).ok()?;
        // As large as everybody may have it; smaller works, too.
        rustix::pipe::fcntl_setpipe_size(&into, MOVED).ok();
        Some(Self { into, out, _permit: permit })
    }

    async fn one_way(
        &self,
        from: &TcpStream,
        to: &TcpStream,
        count: Count<'_>,
    ) -> Result<(), Broken> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        loop {
            // The pipe is empty: that it would block is said of the socket.
            let filled = from
                .async_io(Interest::READABLE, || {
                    let (socket, pipe) = (from.as_fd(), self.into.as_fd());
                    moved(rustix::pipe::splice(socket, None, pipe, None, MOVED, flags))
                })
                .await
                .map_err(|_| Broken::Gone)?;
            if filled == 0 {
                finish(to);
                return Ok(());
            }
            count.pass(filled)?;
            let mut left = filled;
            while left > 0 {
                let emptied = to
                    .async_io(Interest::WRITABLE, || {
                        let (pipe, socket) = (self.out.as_fd(), to.as_fd());
                        moved(rustix::pipe::splice(pipe, None, socket, None, left, flags))
                    })
                    .await;
                match emptied {
                    Ok(emptied @ 1..) => left = left.saturating_sub(emptied),
                    Ok(0) | Err(_) => return Err(count.unpassed(left)),
                }
            }
        }
    }
}

fn moved(outcome: Result<usize, Errno>) -> io::Result<usize> {
    outcome.map_err(|errno| match errno {
        Errno::AGAIN => ErrorKind::WouldBlock.into(),
        errno => errno.into(),
    })
}
