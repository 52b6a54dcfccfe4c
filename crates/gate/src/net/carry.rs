//! Bytes, both ways, until both sides have said all.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::Shutdown;
use rustix::pipe::{PipeFlags, SpliceFlags};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::Shared;
use super::book::Entry;

/// Bytes that are copied at once; one piece of memory is there for all connections.
const CHUNK: usize = 64 << 10;

/// After so many bytes a connection gets a pipe, through which the kernel moves them by itself.
const MANY: usize = 256 << 10;

/// Bytes that it moves at once.
const MOVED: usize = 1 << 20;

/// What bytes are moved with.
#[derive(Debug)]
pub(super) struct Hands {
    /// What is read lies here before it is written: there is one thread.
    chunk: Mutex<Vec<u8>>,
    pipes: Arc<Semaphore>,
}

impl Hands {
    /// Makes them, with so many pipes at most.
    pub(super) fn new(pipes: usize) -> Self {
        Self { chunk: Mutex::new(vec![0; CHUNK]), pipes: Arc::new(Semaphore::new(pipes)) }
    }

    fn chunk(&self) -> MutexGuard<'_, Vec<u8>> {
        self.chunk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why one way has ended before its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Broken {
    /// A side is gone.
    Gone,
    /// It may not go on; a name that never changes.
    Over(&'static str),
}

/// Moves everything; an error is why it was cut.
pub(super) async fn carry(
    stream: &TcpStream,
    upstream: &TcpStream,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), &'static str> {
    // One that breaks ends the other; one that ends well does not.
    let ended = tokio::try_join!(
        up(stream, upstream, entry, shared),
        down(stream, upstream, entry, shared)
    );
    match ended {
        Ok(_) | Err(Broken::Gone) => Ok(()),
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
    one_way(stream, upstream, &shared.hands, |bytes| entry.sent(bytes, &shared.rules.budget)).await
}

/// Moves what the server says.
pub(super) async fn down(
    stream: &TcpStream,
    upstream: &TcpStream,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Broken> {
    one_way(upstream, stream, &shared.hands, |bytes| entry.received(bytes, &shared.rules.budget))
        .await
}

/// Moves everything, and counts nothing.
pub(super) async fn pass(one: &TcpStream, other: &TcpStream, hands: &Hands) {
    // Whichever way breaks ends the other.
    tokio::try_join!(
        one_way(one, other, hands, |_| Ok(())),
        one_way(other, one, hands, |_| Ok(()))
    )
    .ok();
}

async fn one_way(
    from: &TcpStream,
    to: &TcpStream,
    hands: &Hands,
    count: impl Fn(usize) -> Result<(), &'static str>,
) -> Result<(), Broken> {
    let mut all = 0_usize;
    loop {
        let mut counted = Ok(());
        let left = from
            .async_io(Interest::READABLE, || {
                let mut chunk = hands.chunk();
                let length = from.try_read(&mut chunk)?;
                all = all.saturating_add(length);
                counted = count(length);
                let read = chunk.get(..length).unwrap_or_default();
                if read.is_empty() || counted.is_err() {
                    return Ok(None);
                }
                // Mostly all of it goes on at once, and nothing has to be kept.
                let written = match to.try_write(read) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                    written => written?,
                };
                Ok(Some(read.get(written..).unwrap_or_default().to_vec()))
            })
            .await
            .map_err(|_| Broken::Gone)?;
        counted.map_err(Broken::Over)?;
        let Some(left) = left else {
            finish(to);
            return Ok(());
        };
        write_all(to, &left).await.map_err(|_| Broken::Gone)?;
        if all >= MANY {
            if let Some(pipe) = Pipe::new(hands) {
                return pipe.one_way(from, to, count).await;
            }
            all = 0;
        }
    }
}

/// Writes everything.
pub(super) async fn write_all(to: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let mut left = bytes;
    while !left.is_empty() {
        let written = to.async_io(Interest::WRITABLE, || to.try_write(left)).await?;
        left = left.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Reads what comes behind what is there, and returns how much that is; none if nothing more comes.
pub(super) async fn read_more(
    from: &TcpStream,
    bytes: &mut Vec<u8>,
    shared: &Shared,
) -> io::Result<usize> {
    from.async_io(Interest::READABLE, || {
        let mut chunk = shared.hands.chunk();
        let length = from.try_read(&mut chunk)?;
        bytes.extend(chunk.get(..length).unwrap_or_default());
        Ok(length)
    })
    .await
}

/// Says that nothing more comes.
pub(super) fn finish(to: &TcpStream) {
    // One that is gone has heard enough.
    rustix::net::shutdown(to, Shutdown::Write).ok();
}

/// Tells a client something, which is the last thing that it hears.
pub(super) async fn tell(stream: &TcpStream, answer: &[u8], shared: &Shared) {
    /// How long, and how much, a client may go on that was answered already. A connection that is
    /// closed with words in it that nobody has read is reset, and the answer may be lost.
    const HEARD: Duration = Duration::from_secs(1);
    const MOST: usize = 1 << 20;
    if write_all(stream, answer).await.is_err() {
        return;
    }
    finish(stream);
    let hearing = async {
        let (mut all, mut scrap) = (0_usize, Vec::new());
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
        count: impl Fn(usize) -> Result<(), &'static str>,
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
            count(filled).map_err(Broken::Over)?;
            let mut left = filled;
            while left > 0 {
                let emptied = to
                    .async_io(Interest::WRITABLE, || {
                        let (pipe, socket) = (self.out.as_fd(), to.as_fd());
                        moved(rustix::pipe::splice(pipe, None, socket, None, left, flags))
                    })
                    .await
                    .map_err(|_| Broken::Gone)?;
                left = left.saturating_sub(emptied);
                if emptied == 0 {
                    return Err(Broken::Gone);
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
