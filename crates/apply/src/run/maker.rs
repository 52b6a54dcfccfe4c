//! Sockets that are made inside for the supervisor, which cannot go there itself.
//!
//! A socket belongs to the network that it was made in, whoever connects it. The first process of a
//! sandbox makes as many as it is asked for.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::io::{Errno, Result};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use super::message::{Message, pair, receive, receive_with, send, send_with};
use crate::sys::inlet;

/// How long it may take to make one.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has sockets made inside a sandbox.
#[derive(Debug)]
pub struct Maker(Mutex<OwnedFd>);

impl Maker {
    pub(super) fn new(asked: OwnedFd) -> Self {
        set_socket_timeout(&asked, Timeout::Recv, Some(PATIENCE)).ok();
        Self(Mutex::new(asked))
    }

    /// Returns a new socket for a TCP connection inside, by IPv6 or by IPv4. It is nonblocking, and
    /// leads nowhere yet.
    ///
    /// # Errors
    ///
    /// When the sandbox is gone, or has no descriptor left for it.
    pub fn make(&self, by_v6: bool) -> io::Result<OwnedFd> {
        // One at a time: answers come in the order of questions.
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        send(asked.as_fd(), Message::Socket(i32::from(by_v6)))?;
        match receive_with(asked.as_fd()) {
            (Ok(Some(Message::Socket(_))), mut along) => {
                along.pop().ok_or_else(|| Errno::BADMSG.into())
            }
            (Ok(Some(Message::Failed { errno, .. })), _) => {
                Err(io::Error::from_raw_os_error(errno))
            }
            (Ok(_), _) => Err(Errno::CONNRESET.into()),
            (Err(errno), _) => Err(errno.into()),
        }
    }
}

/// Hands the supervisor one end of a socket, and returns the other. It allocates nothing.
pub(super) fn open(control: BorrowedFd<'_>) -> Result<OwnedFd> {
    let (ours, theirs) = pair()?;
    send_with(control, Message::Maker, theirs.as_fd())?;
    Ok(ours)
}

/// Makes a socket for whoever asks; returns whether somebody may ask again. It allocates nothing.
pub(super) fn answer(asked: BorrowedFd<'_>) -> bool {
    let Ok(Some(Message::Socket(family))) = receive(asked) else { return false };
    let told = match inlet::outgoing(family != 0) {
        Ok(made) => send_with(asked, Message::Socket(family), made.as_fd()),
        Err(errno) => Err(errno),
    };
    told.or_else(|errno| {
        send(asked, Message::Failed { step: u32::MAX, errno: errno.raw_os_error() })
    })
    .is_ok()
}
