//! Which signals reach this thread, and what they do.

use std::mem;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::Result;

use super::check;

/// The signals that were blocked before; they are again when this is dropped.
#[derive(Debug)]
pub(crate) struct Blocked(libc::sigset_t);

/// Blocks every signal for this thread, so that no handler runs in a child before it is reset.
pub(crate) fn block_all() -> Blocked {
    let all = full();
    // SAFETY: an all-zero set is a valid one.
    let mut before: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the call reads one set and writes the other, both on this stack; with SIG_SETMASK
    // and valid sets it cannot fail.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    Blocked(before)
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the call reads a set that we own; there is nothing to write.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Lets every signal through again, as programs expect at their start.
pub(crate) fn unblock_all() {
    // SAFETY: an all-zero set is the empty one.
    let none: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the call reads a set on this stack; there is nothing to write.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) };
}

/// Gives the signals that hosts ignore their usual meaning back.
pub(crate) fn reset_ignored() {
    for signal in [libc::SIGPIPE, libc::SIGCHLD] {
        // SAFETY: the call takes two integers, as SIG_DFL is one.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Returns a descriptor that is readable when a child has ended. The signal must be blocked.
pub(crate) fn child_ended() -> Result<OwnedFd> {
    // SAFETY: an all-zero set is the empty one.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the call changes a set on this stack; SIGCHLD is a signal.
    unsafe { libc::sigaddset(&raw mut set, libc::SIGCHLD) };
    // SAFETY: the kernel reads a set on this stack; -1 asks for a new descriptor.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    check(libc::c_long::from(fd))?;
    // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn full() -> libc::sigset_t {
    // SAFETY: an all-zero set is a valid one.
    let mut all: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the call writes a set on this stack.
    unsafe { libc::sigfillset(&raw mut all) };
    all
}
