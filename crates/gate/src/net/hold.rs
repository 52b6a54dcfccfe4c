//! First packets that wait: the answer to each is what becomes of its connection.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::Interest;
use tokio::net::UnixDatagram;
use tokio::sync::OwnedSemaphorePermit;

use super::dial::{Failed, dial};
use super::{Held, Judged, Pair, Ready, Shared};
use crate::packet::Packet;
use crate::traffic::{Verdict as Became, Via};

/// The mark of a connection that may not be made, as the rules inside know it.
pub const DENIED: u32 = 0xdead;
/// The mark of one that the other side refuses.
pub const REFUSED: u32 = 0xbeef;

/// Bytes of one message at most: a packet's first, and what the kernel says of it.
const LONGEST: usize = 2048;

/// How long a connection may stay untaken that was dialled.
const UNTAKEN: Duration = Duration::from_secs(30);

/// How often those are looked for.
const SWEPT: Duration = Duration::from_secs(5);

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    // A socket of packets like any other, to who only waits for it.
    socket: UnixDatagram,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// It goes on, with this mark.
    Pass(u32),
    /// It is forgotten.
    Drop,
}

impl Queue {
    /// Takes the socket that the queue is bound to.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self { socket: UnixDatagram::from_std(socket.into())? })
    }

    async fn next(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket
            .async_io(Interest::READABLE, || {
                let flags = RecvFlags::DONTWAIT;
                Ok(rustix::net::recv(self.socket.as_fd(), &mut *bytes, flags)?.0)
            })
            .await
    }

    fn say(&self, id: u32, verdict: Verdict) {
        let message = message(id, verdict);
        let kernel = SocketAddrNetlink::new(0, 0);
        let socket = self.socket.as_fd();
        // A packet without a verdict waits until its sender gives up, which is a refusal.
        rustix::net::sendto(socket, &message, SendFlags::DONTWAIT, &kernel).ok();
    }
}

/// Answers for every packet, until the socket fails.
pub(super) async fn attend(queue: Queue, shared: Arc<Shared>) {
    let queue = Arc::new(queue);
    let mut bytes = [0; LONGEST];
    loop {
        let length = match queue.next(&mut bytes).await {
            Ok(length) => length,
            // More came than there was room for: those are lost, and sent again.
            Err(error)
                if error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error()) =>
            {
                continue;
            }
            Err(error) => {
                shared.book.trouble(format!("connections can no longer be held: {error}"));
                return;
            }
        };
        let Some((id, packet)) = read(bytes.get(..length).unwrap_or_default()) else { continue };
        let Ok(Packet { source, destination, is_syn: true }) = Packet::read(packet) else {
            queue.say(id, Verdict::Drop);
            continue;
        };
        let pair = Pair { from: source, to: destination };
        if let Some(verdict) = shared.held().get(&pair).map(again) {
            queue.say(id, verdict);
            continue;
        }
        let Ok(permit) = Arc::clone(&shared.room).try_acquire_owned() else {
            queue.say(id, without_room(&shared, pair));
            continue;
        };
        shared.held().insert(pair, Held::Dialling);
        let (queue, shared) = (Arc::clone(&queue), Arc::clone(&shared));
        tokio::spawn(async move { queue.say(id, judge(&shared, pair, permit).await) });
    }
}

/// Says what becomes of a packet that was sent before.
pub(super) fn again(held: &Held) -> Verdict {
    match held {
        // The first is still being answered.
        Held::Dialling => Verdict::Drop,
        // There was no room to take it, or who sent it is gone, and another has its port. What was
        // dialled is for whoever asks for the same.
        Held::Ready(_) => Verdict::Pass(0),
    }
}

/// Says what becomes of a packet for whose connection there is no room.
pub(super) fn without_room(shared: &Shared, pair: Pair) -> Verdict {
    let Some(whom) = shared.meant(pair.to) else { return Verdict::Pass(DENIED) };
    match shared.rules.judge(&whom.host, whom.port) {
        // That needs none.
        Judged::Refused { code, rule } => {
            let entry = shared.book.entry(&whom.host, whom.port, Via::Direct);
            entry.with(|it| it.rule = rule);
            entry.judged(Became::Refused(code));
            Verdict::Pass(DENIED)
        }
        // It is sent again, and there may be room then.
        Judged::Allowed(_) | Judged::Asked(_) => Verdict::Drop,
    }
}

/// Finds out what becomes of a connection.
async fn judge(shared: &Arc<Shared>, pair: Pair, permit: OwnedSemaphorePermit) -> Verdict {
    // Whatever happens here, who sends the packet again is heard again.
    let mut waiting = Waiting { shared, pair, became: None };
    let Some(whom) = shared.meant(pair.to) else { return Verdict::Pass(DENIED) };
    let entry = shared.book.entry(&whom.host, whom.port, Via::Direct);
    match dial(shared, &whom, &entry).await {
        Ok(upstream) => {
            waiting.became = Some(Ready { upstream, entry, permit, since: Instant::now() });
            Verdict::Pass(0)
        }
        Err(Failed::Closed) => Verdict::Pass(REFUSED),
        Err(Failed::Refused(_) | Failed::NoName | Failed::Unreachable | Failed::Late) => {
            Verdict::Pass(DENIED)
        }
    }
}

/// A packet that waits.
struct Waiting<'s> {
    shared: &'s Shared,
    pair: Pair,
    became: Option<Ready>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut held = self.shared.held();
        match self.became.take() {
            Some(ready) => drop(held.insert(self.pair, Held::Ready(Box::new(ready)))),
            None => drop(held.remove(&self.pair)),
        }
    }
}

/// Gives connections up that nobody takes, for as long as there are any.
pub(super) async fn sweep(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(SWEPT).await;
        give_up(&shared, UNTAKEN);
    }
}

/// Gives up what has been waiting to be taken for some time.
pub(super) fn give_up(shared: &Shared, time: Duration) {
    shared.held().retain(|_, held| match held {
        Held::Dialling => true,
        Held::Ready(ready) if ready.since.elapsed() < time => true,
        // Who has gone away meanwhile never takes it.
        Held::Ready(ready) => {
            ready.entry.judged(Became::Untaken);
            false
        }
    });
}

/// Reads what the kernel says: the number of a packet, and its first bytes (`NFQNL_MSG_PACKET`).
fn read(message: &[u8]) -> Option<(u32, &[u8])> {
    const PACKET: u16 = 3 << 8;
    const HEADER: u16 = 1;
    const PAYLOAD: u16 = 10;
    let (_, rest) = message.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_first_chunk::<2>()?;
    if u16::from_ne_bytes(*kind) != PACKET {
        return None;
    }
    let (_, mut rest) = rest.split_first_chunk::<14>()?;
    let (mut id, mut payload) = (None, None);
    while let Some((length, behind)) = rest.split_first_chunk::<2>() {
        let (kind, _) = behind.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_ne_bytes(*length));
        let value = rest.get(4..length)?;
        match u16::from_ne_bytes(*kind) & 0x3fff {
            HEADER => id = value.first_chunk::<4>().map(|id| u32::from_be_bytes(*id)),
            PAYLOAD => payload = Some(value),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    id.zip(payload)
}

/// Writes a verdict (`NFQNL_MSG_VERDICT`).
fn message(id: u32, verdict: Verdict) -> Vec<u8> {
    const VERDICT: u16 = 3 << 8 | 1;
    const REQUEST: u16 = 1;
    const HEADER: u16 = 2;
    const MARK: u16 = 3;
    let (word, mark): (u32, u32) = match verdict {
        Verdict::Drop => (0, 0),
        Verdict::Pass(mark) => (1, mark),
    };
    let mut bytes = Vec::with_capacity(40);
    bytes.extend(40_u32.to_ne_bytes());
    bytes.extend(VERDICT.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.extend([0; 8]);
    // Any family, version 0, and the first queue.
    bytes.extend([0; 4]);
    bytes.extend(12_u16.to_ne_bytes());
    bytes.extend(HEADER.to_ne_bytes());
    bytes.extend(word.to_be_bytes());
    bytes.extend(id.to_be_bytes());
    bytes.extend(8_u16.to_ne_bytes());
    bytes.extend(MARK.to_ne_bytes());
    bytes.extend(mark.to_be_bytes());
    bytes
}
