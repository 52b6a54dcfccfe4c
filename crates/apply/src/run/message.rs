//! What the two sides of a sandbox say to each other.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use crate::sys::descriptor::lift;

/// One message; each is one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Message {
    /// Supervisor: what you wait for is done, go on: users are mapped, the control group is entered,
    /// names are kept, files are watched; in this order, each where the plan has it.
    Go,
    /// Supervisor: send this signal to the command.
    Signal(i32),
    /// Sandbox: this step failed with this errno; nothing has run, or nothing runs any more.
    Failed { step: u32, errno: i32 },
    /// Sandbox: the command is about to run.
    Started,
    /// Sandbox: the command has ended with this status, as wait(2) has it.
    Ended(i32),
    /// Sandbox: the same, and nobody else is left in there.
    Last(i32),
    /// Sandbox: the other side of its terminal comes along.
    Terminal,
    /// Sandbox: where the calls that are traced arrive comes along.
    Listener,
    /// Sandbox: the sockets that all connections are led to come along, and this is how they are.
    Inlets(i32),
    /// Sandbox: where it is asked to make sockets comes along.
    Maker,
    /// Supervisor, there: make a socket, by IPv6 or not. Sandbox: it comes along.
    Socket(i32),
}

const SIZE: usize = 12;

/// Sends a message. It allocates nothing.
pub(super) fn send(socket: BorrowedFd<'_>, message: Message) -> Result<()> {
    let packet = packet(message);
    again(|| rustix::net::send(socket, &packet, SendFlags::NOSIGNAL)).map(drop)
}

/// Most descriptors that come with one message.
const ALONG: usize = 8;

/// Sends a message and a descriptor with it. It allocates nothing.
pub(super) fn send_with(
    socket: BorrowedFd<'_>,
    message: Message,
    along: BorrowedFd<'_>,
) -> Result<()> {
    send_all(socket, message, &[along])
}

/// Sends a message and some descriptors with it, at most eight. It allocates nothing.
pub(super) fn send_all(
    socket: BorrowedFd<'_>,
    message: Message,
    along: &[BorrowedFd<'_>],
) -> Result<()> {
    let packet = packet(message);
    again(|| {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(ALONG))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        if !rights.push(SendAncillaryMessage::ScmRights(along)) {
            return Err(Errno::TOOBIG);
        }
        let bytes = [IoSlice::new(&packet)];
        rustix::net::sendmsg(socket, &bytes, &mut rights, SendFlags::NOSIGNAL)
    })
    .map(drop)
}

/// Receives a message; `None` when the other side is gone. It allocates nothing.
pub(super) fn receive(socket: BorrowedFd<'_>) -> Result<Option<Message>> {
    let mut packet = [0; SIZE];
    let (length, _) =
        again(|| rustix::net::recv(socket, &mut packet[..], rustix::net::RecvFlags::empty()))?;
    if length < SIZE { Ok(None) } else { read(packet).map(Some) }
}

/// Receives a message, and the descriptors that came along.
pub(super) fn receive_with(socket: BorrowedFd<'_>) -> (Result<Option<Message>>, Vec<OwnedFd>) {
    let mut packet = [0; SIZE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(ALONG))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let received = again(|| {
        let flags = rustix::net::RecvFlags::CMSG_CLOEXEC;
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut packet)], &mut rights, flags)
    });
    let mut along = Vec::new();
    for message in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            along.extend(descriptors);
        }
    }
    let heard = match received {
        Ok(received) if received.bytes < SIZE => Ok(None),
        Ok(_) => read(packet).map(Some),
        Err(errno) => Err(errno),
    };
    (heard, along)
}

/// Makes the two ends of a socket.
pub(super) fn pair() -> Result<(OwnedFd, OwnedFd)> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let (one, other) = rustix::net::socketpair(family, kind, SocketFlags::CLOEXEC, None)?;
    Ok((lift(one)?, lift(other)?))
}

/// Hands descriptors over, of which some may be none. It allocates nothing.
pub(super) fn hand_over(socket: BorrowedFd<'_>, all: [Option<BorrowedFd<'_>>; 3]) -> Result<()> {
    let given = all.map(|one| u8::from(one.is_some()));
    again(|| {
        let mut space = [MaybeUninit::uninit(); 3 * rustix::cmsg_space!(ScmRights(1))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        for one in all.iter().flatten() {
            rights.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(one)));
        }
        rustix::net::sendmsg(socket, &[IoSlice::new(&given)], &mut rights, SendFlags::NOSIGNAL)
    })
    .map(drop)
}

/// Takes over what was handed; nothing if the other side is gone. It allocates nothing, and does
/// without the C library.
pub(super) fn take_over(socket: BorrowedFd<'_>) -> [Option<OwnedFd>; 3] {
    let mut given = [0; 3];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let received = again(|| {
        let flags = rustix::net::RecvFlags::CMSG_CLOEXEC;
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut given)], &mut rights, flags)
    });
    let mut all = [None, None, None];
    if received.is_err() {
        return all;
    }
    for message in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
            let places = all.iter_mut().zip(given).filter(|(_, given)| *given == 1);
            places.for_each(|(place, _)| *place = descriptors.next());
        }
    }
    all
}

fn packet(message: Message) -> [u8; SIZE] {
    let (kind, step, value): (u32, u32, i32) = match message {
        Message::Go => (1, 0, 0),
        Message::Signal(signal) => (2, 0, signal),
        Message::Failed { step, errno } => (3, step, errno),
        Message::Ended(status) => (4, 0, status),
        Message::Terminal => (5, 0, 0),
        Message::Listener => (6, 0, 0),
        Message::Started => (7, 0, 0),
        Message::Inlets(rung) => (8, 0, rung),
        Message::Maker => (9, 0, 0),
        Message::Socket(family) => (10, 0, family),
        Message::Last(status) => (11, 0, status),
    };
    let mut packet = [0; SIZE];
    let bytes = kind.to_ne_bytes().into_iter().chain(step.to_ne_bytes()).chain(value.to_ne_bytes());
    packet.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    packet
}

fn read(packet: [u8; SIZE]) -> Result<Message> {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = packet;
    let step = u32::from_ne_bytes([e, f, g, h]);
    let value = i32::from_ne_bytes([i, j, k, l]);
    match u32::from_ne_bytes([a, b, c, d]) {
        1 => Ok(Message::Go),
        2 => Ok(Message::Signal(value)),
        3 => Ok(Message::Failed { step, errno: value }),
        4 => Ok(Message::Ended(value)),
        5 => Ok(Message::Terminal),
        6 => Ok(Message::Listener),
        7 => Ok(Message::Started),
        8 => Ok(Message::Inlets(value)),
        9 => Ok(Message::Maker),
        10 => Ok(Message::Socket(value)),
        11 => Ok(Message::Last(value)),
        _ => Err(Errno::BADMSG),
    }
}

fn again<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}
