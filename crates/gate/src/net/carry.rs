//! Bytes, both ways, until both sides have said all.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::io::Errno;
use rustix::net::Shutdown;
use rustix::pipe::{PipeFlags, SpliceFlags};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::Shared;
use crate::traffic::Connection;

/// Bytes that are copied at once.
const CHUNK: usize = 16 << 10;

/// After so many bytes a connection gets a pipe, through which the kernel moves them by itself.
const MANY: u64 = 256 << 10;

/// Bytes that it moves at once.
const MOVED: usize = 1 << 20;

/// Why one way has ended before its time.
enum Broken {
    /// A side is gone.
    Gone,
    /// Too much went through; a name that never changes.
    Over(&'static str),
}

/// Moves everything; an error is why it was cut.
pub(super) async fn carry(
    stream: &TcpStream,
    upstream: &TcpStream,
    entry: &mut Connection,
    shared: &Shared,
) -> Result<(), &'static str> {
    let host = entry.host.clone();
    let (mut sent, mut received) = (0, 0);
    let budget = &shared.rules.budget;
    let up = one_way(stream, upstream, |bytes| {
        sent += bytes;
        shared.book.sent(&host, bytes, budget)
    });
    let down = one_way(upstream, stream, |bytes| {
        received += bytes;
        shared.book.received(bytes, budget)
    });
    // One that breaks ends the other; one that ends well does not.
    let ended = tokio::try_join!(up, down);
    (entry.sent, entry.received) = (sent, received);
    match ended {
        Ok(_) | Err(Broken::Gone) => Ok(()),
        Err(Broken::Over(code)) => Err(code),
    }
}

/// Moves everything, and counts nothing.
pub(super) async fn pass(one: &TcpStream, other: &TcpStream) {
    // Whichever way breaks ends the other.
    tokio::try_join!(one_way(one, other, |_| Ok(())), one_way(other, one, |_| Ok(()))).ok();
}

async fn one_way(
    from: &TcpStream,
    to: &TcpStream,
    mut count: impl FnMut(u64) -> Result<(), &'static str>,
) -> Result<(), Broken> {
    let mut chunk = vec![0; CHUNK];
    let mut all = 0_u64;
    loop {
        if all >= MANY
            && let Ok(pipe) = Pipe::new()
        {
            drop(chunk);
            return pipe.one_way(from, to, count).await;
        }
        let length = from
            .async_io(Interest::READABLE, || from.try_read(&mut chunk))
            .await
            .map_err(|_| Broken::Gone)?;
        if length == 0 {
            return finish(to);
        }
        let counted = u64::try_from(length).unwrap_or(u64::MAX);
        count(counted).map_err(Broken::Over)?;
        all += counted;
        let mut left = chunk.get(..length).unwrap_or_default();
        while !left.is_empty() {
            let written = to
                .async_io(Interest::WRITABLE, || to.try_write(left))
                .await
                .map_err(|_| Broken::Gone)?;
            left = left.get(written..).unwrap_or_default();
        }
    }
}

/// Says that nothing more comes.
fn finish(to: &TcpStream) -> Result<(), Broken> {
    // One that is gone has heard enough.
    rustix::net::shutdown(to, Shutdown::Write).ok();
    Ok(())
}

/// A pipe between two sockets.
struct Pipe {
    into: OwnedFd,
    out: OwnedFd,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // As large as everybody may have it; smaller works, too.
        rustix::pipe::fcntl_setpipe_size(&into, MOVED).ok();
        Ok(Self { into, out })
    }

    async fn one_way(
        &self,
        from: &TcpStream,
        to: &TcpStream,
        mut count: impl FnMut(u64) -> Result<(), &'static str>,
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
                return finish(to);
            }
            count(u64::try_from(filled).unwrap_or(u64::MAX)).map_err(Broken::Over)?;
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
