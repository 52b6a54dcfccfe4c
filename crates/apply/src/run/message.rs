//! What the two sides of a sandbox say to each other.

use std::os::fd::BorrowedFd;

use rustix::io::{Errno, Result};

/// One message; each is one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Message {
    /// Supervisor: users are mapped, go on.
    Go,
    /// Supervisor: send this signal to the command.
    Signal(i32),
    /// Sandbox: this step failed with this errno; nothing has run, or nothing runs any more.
    Failed { step: u32, errno: i32 },
    /// Sandbox: the command has ended with this status, as wait(2) has it.
    Ended(i32),
}

const SIZE: usize = 12;

/// Sends a message. It allocates nothing.
pub(super) fn send(socket: BorrowedFd<'_>, message: Message) -> Result<()> {
    let (kind, step, value): (u32, u32, i32) = match message {
        Message::Go => (1, 0, 0),
        Message::Signal(signal) => (2, 0, signal),
        Message::Failed { step, errno } => (3, step, errno),
        Message::Ended(status) => (4, 0, status),
    };
    let mut packet = [0; SIZE];
    let bytes = kind.to_ne_bytes().into_iter().chain(step.to_ne_bytes()).chain(value.to_ne_bytes());
    packet.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    let flags = rustix::net::SendFlags::NOSIGNAL;
    loop {
        match rustix::net::send(socket, &packet, flags) {
            Err(Errno::INTR) => {}
            outcome => return outcome.map(drop),
        }
    }
}

/// Receives a message; `None` when the other side is gone. It allocates nothing.
pub(super) fn receive(socket: BorrowedFd<'_>) -> Result<Option<Message>> {
    let mut packet = [0; SIZE];
    let length = loop {
        match rustix::net::recv(socket, &mut packet, rustix::net::RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
            Ok((length, _)) => break length,
        }
    };
    if length < SIZE {
        return Ok(None);
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l] = packet;
    let step = u32::from_ne_bytes([e, f, g, h]);
    let value = i32::from_ne_bytes([i, j, k, l]);
    match u32::from_ne_bytes([a, b, c, d]) {
        1 => Ok(Some(Message::Go)),
        2 => Ok(Some(Message::Signal(value))),
        3 => Ok(Some(Message::Failed { step, errno: value })),
        4 => Ok(Some(Message::Ended(value))),
        _ => Err(Errno::BADMSG),
    }
}
