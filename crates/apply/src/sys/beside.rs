//! A process beside us that works in our memory, as a thread does, and does not end with us.
//!
//! To make one takes a fraction of what a copy of our memory takes, and nobody pays for that copy
//! afterwards: where memory is copied, each page that is written next is a fault, and an interrupt to
//! every processor that another of our threads runs on.

use std::ffi::{c_int, c_void};
use std::os::fd::AsFd as _;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Result;

use super::process::{Made, Stack, await_end, clone_beside, leave, signal};
use super::signal as signals;

/// The process. Dropping this ends it, and waits until it has.
#[derive(Debug)]
pub(crate) struct Beside<T> {
    made: Made,
    given: Arc<Given<T>>,
    // Freed after the process has ended.
    _stack: Stack,
}

#[derive(Debug)]
struct Given<T> {
    work: fn(&T),
    with: T,
}

impl<T: Sync + 'static> Beside<T> {
    /// Starts one that does `work`, with descriptors of its own that are copies of ours. It never
    /// gets a signal but for those that cannot be blocked, or that the C library keeps for itself.
    ///
    /// The work must not use thread-local memory, which is that of this thread, or nobody's once
    /// this thread has ended: so no function of the C library that does more than compute, and no
    /// panic. It must not allocate: we may have ended with a lock taken.
    pub(crate) fn start(with: T, work: fn(&T)) -> Result<Self> {
        let given = Arc::new(Given { work, with });
        let mut stack = Stack::of(64 << 10);
        let address = Arc::as_ptr(&given).cast_mut().cast::<c_void>();
        let _blocked = signals::block_all();
        // SAFETY: the stack and what is given stay where they are until the process has ended, and
        // the latter is only read.
        let made = unsafe { clone_beside(run::<T>, &mut stack, 0, address) }?;
        Ok(Self { made, given, _stack: stack })
    }
}

impl<T> Beside<T> {
    /// Returns what it works with.
    pub(crate) fn with(&self) -> &T {
        &self.given.with
    }

    /// Waits until it has ended, but not for longer than this.
    pub(crate) fn await_for(&self, patience: Timespec) {
        let mut watched = [PollFd::new(&self.made.pidfd, PollFlags::IN)];
        poll(&mut watched, Some(&patience)).ok();
    }
}

impl<T> Drop for Beside<T> {
    fn drop(&mut self) {
        signal(self.made.pidfd.as_fd(), libc::SIGKILL).ok();
        await_end(self.made.pid).ok();
    }
}

/// The process itself.
extern "C" fn run<T>(given: *mut c_void) -> c_int {
    // SAFETY: our owner keeps it until we have ended, and the kernel does if the owner is gone.
    let given = unsafe { &*given.cast::<Given<T>>() };
    (given.work)(&given.with);
    leave(0)
}
