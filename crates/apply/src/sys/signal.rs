//! Which signals reach this thread, and what they do.

use std::mem;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use rustix::io::Result;
use rustix::pipe::{PipeFlags, pipe_with};

use super::check;
use super::handlers::Handlers;

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

/// Takes off every handler, as clone3(2) does when it is asked to: none of ours may run in a copy of
/// us. Signals that are ignored stay so.
pub(crate) fn no_handlers() {
    for signal in 1..=64 {
        // SAFETY: an all-zero `sigaction` is a valid one: it asks for the usual.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        // SAFETY: the call writes what there is to this stack; a number that is no signal of ours to
        // change comes back as an error.
        let found = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
        if found != 0 || [libc::SIG_IGN, libc::SIG_DFL].contains(&action.sa_sigaction) {
            continue;
        }
        // SAFETY: as above.
        let usual: libc::sigaction = unsafe { mem::zeroed() };
        // SAFETY: the call reads an action on this stack.
        unsafe { libc::sigaction(signal, &raw const usual, ptr::null_mut()) };
    }
}

/// Returns a descriptor from which signals are read ([`next_told`]). They must be blocked.
pub(crate) fn told_of(signals: &[i32]) -> Result<OwnedFd> {
    // SAFETY: an all-zero set is the empty one.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    for signal in signals {
        // SAFETY: the call changes a set on this stack; what is no signal it leaves out.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    // SAFETY: the kernel reads a set on this stack; -1 asks for a new descriptor.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    check(libc::c_long::from(fd))?;
    // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Returns the next signal that a descriptor of [`told_of`] tells of, if there is one.
pub(crate) fn next_told(fd: BorrowedFd<'_>) -> Option<i32> {
    // struct signalfd_siginfo, which begins with the number.
    let mut told = [0; 128];
    let read = rustix::io::read(fd, &mut told).ok()?;
    let number = told.first_chunk::<4>().filter(|_| read == told.len())?;
    i32::try_from(u32::from_ne_bytes(*number)).ok()
}

/// Signals that are noted in a pipe instead of doing what they did; that is restored at the end.
#[derive(Debug)]
pub(crate) struct Caught {
    handlers: Handlers,
    pipe: &'static (OwnedFd, OwnedFd),
}

/// Where signals are noted. It is never closed: a handler may be at work in another thread.
static PIPE: OnceLock<Option<(OwnedFd, OwnedFd)>> = OnceLock::new();

/// The end of the pipe that the handler writes to.
static NOTE: AtomicI32 = AtomicI32::new(-1);

/// Whether somebody catches signals.
static HELD: AtomicBool = AtomicBool::new(false);

impl Caught {
    /// Catches `signals`, but for those that are ignored; nothing if signals are caught already.
    pub(crate) fn new(signals: &[i32]) -> Option<Self> {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let pipe = PIPE.get_or_init(|| pipe_with(flags).ok()).as_ref()?;
        if HELD.swap(true, Ordering::SeqCst) {
            return None;
        }
        NOTE.store(pipe.1.as_raw_fd(), Ordering::SeqCst);
        // The handler writes one byte to a descriptor that is never closed, and keeps errno.
        Some(Self { handlers: Handlers::put(signals, note), pipe })
    }

    /// Returns a descriptor that is readable when a signal was caught.
    pub(crate) fn told(&self) -> BorrowedFd<'_> {
        self.pipe.0.as_fd()
    }

    /// Returns the signals since the last time, in order.
    pub(crate) fn taken(&self) -> Vec<u8> {
        let mut signals = [0; 64];
        let read = rustix::io::read(&self.pipe.0, &mut signals).unwrap_or(0);
        signals.into_iter().take(read).collect()
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        self.handlers.restore();
        drop(self.taken());
        HELD.store(false, Ordering::SeqCst);
    }
}

/// Notes a signal. It runs at any moment, in any thread.
extern "C" fn note(signal: libc::c_int) {
    let byte = u8::try_from(signal).unwrap_or(0);
    // SAFETY: the call returns the address of this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the address is valid for this thread.
    let before = unsafe { *errno };
    // SAFETY: the kernel reads one byte on this stack; a full pipe is an error without effect.
    unsafe { libc::write(NOTE.load(Ordering::SeqCst), (&raw const byte).cast(), 1) };
    // SAFETY: as above.
    unsafe { *errno = before };
}

fn full() -> libc::sigset_t {
    // SAFETY: an all-zero set is a valid one.
    let mut all: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the call writes a set on this stack.
    unsafe { libc::sigfillset(&raw mut all) };
    all
}
