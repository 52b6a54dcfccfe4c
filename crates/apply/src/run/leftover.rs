//! Ending what is left of a sandbox off the path that callers wait on.
//!
//! The kernel takes mounts down before it says that the last process is gone, which is a tenth of
//! what a short command costs. A descriptor of their namespace keeps them a moment longer, and
//! somebody else lets go of it: the janitor, where there is one, as soon as the sandbox has ended, or
//! a thread. The thread also awaits the janitor. Should we be killed, the kernel does all of it.
//!
//! A process that starts a single sandbox and says so, as the command line does, needs no thread: it
//! awaits the janitor as the last thing it does. Others would keep a process that has ended for as
//! long as they live.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;

use super::janitor::Janitor;
use super::message;
use super::reserve::Reserved;
use crate::sys::descriptor::close;

/// Who lets go.
#[derive(Debug, Default)]
pub(super) struct Leftovers(Arc<Mutex<Taker>>);

/// A thread; or, for the only sandbox of a process, the host that is dropped.
#[derive(Debug, Default)]
enum Taker {
    #[default]
    None,
    /// There will be one sandbox.
    Once,
    Host(Option<Rest>),
    Thread(Sender<Rest>),
}

/// What is let go of by being dropped.
#[derive(Debug)]
#[expect(dead_code, reason = "what is in it is only dropped")]
enum Rest {
    Mounts(OwnedFd),
    Janitor(Janitor),
}

/// The mounts of one sandbox.
#[derive(Debug)]
pub(super) struct Mounts(OwnedFd);

/// The same, and who lets go of them.
#[derive(Debug)]
pub(super) struct Leftover {
    /// None where the janitor has them.
    mounts: Option<Mounts>,
    to: Arc<Mutex<Taker>>,
}

impl Mounts {
    /// Holds on to the mounts of the sandbox whose first process this is, if that can be.
    pub(super) fn hold(first: Pid) -> Option<Self> {
        let path = format!("/proc/{}/ns/mnt", first.as_raw_nonzero());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).ok().map(Self)
    }
}

impl AsFd for Mounts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Lets go of mounts and the like without waiting for their end, where the kernel can do that: it
/// collects sockets that nobody can reach any more, with what is on its way in them, by a thread of
/// its own. It allocates nothing, and does without the C library.
pub(super) fn let_go(held: [Option<OwnedFd>; 2]) {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let pair = socketpair(family, kind, SocketFlags::CLOEXEC, None);
    if let Ok((one, other)) = &pair {
        let [first, second] = held.each_ref().map(|held| held.as_ref().map(AsFd::as_fd));
        // The other end is on its way to itself.
        message::hand_over(one.as_fd(), [first, second, Some(other.as_fd())]).ok();
    }
    // The last first: closing the others sets the collector off.
    held.into_iter().flatten().for_each(close);
    if let Ok((one, other)) = pair {
        close(other);
        close(one);
    }
}

impl Leftovers {
    /// For a process that starts one sandbox and ends with it.
    pub(super) fn once() -> Self {
        Self(Arc::new(Mutex::new(Taker::Once)))
    }

    /// Waits for what is left of the only sandbox of a process: where nobody reaps the children of
    /// those who have ended, one would stay for ever.
    pub(super) fn finish(&self) {
        let mut taker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Taker::Host(rest) = &mut *taker {
            drop(rest.take());
        }
    }

    /// Takes on the mounts of a sandbox.
    pub(super) fn take(&self, mounts: Option<Mounts>) -> Leftover {
        let mut taker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *taker = match std::mem::take(&mut *taker) {
            Taker::None => Taker::thread(None),
            Taker::Once => Taker::Host(None),
            Taker::Host(rest) => Taker::thread(rest),
            thread @ Taker::Thread(_) => thread,
        };
        Leftover { mounts, to: Arc::clone(&self.0) }
    }
}

impl Taker {
    /// Starts the thread, with what there is to let go of already. It ends with the host.
    fn thread(first: Option<Rest>) -> Self {
        let (to, from) = channel::<Rest>();
        // Without the thread its end of the channel is gone, and sending lets go at once.
        let body = move || from.into_iter().for_each(drop);
        thread::Builder::new().name("palisade-mounts".into()).spawn(body).ok();
        drop(first.map(|rest| to.send(rest)));
        Self::Thread(to)
    }
}

impl Leftover {
    /// Gives names back, if any are kept, and lets go of the mounts: whoever holds them too does so
    /// last, and somebody else waits for that.
    pub(super) fn release(self, reserved: Option<Reserved>) {
        let Self { mounts, to } = self;
        let rest = match reserved.filter(Reserved::has_janitor) {
            Some(reserved) => reserved.give_back().map(Rest::Janitor),
            None => mounts.map(|mounts| Rest::Mounts(mounts.0)),
        };
        let mut taker = to.lock().unwrap_or_else(PoisonError::into_inner);
        let here = match (&mut *taker, rest) {
            (Taker::Host(kept), Some(Rest::Janitor(janitor))) => {
                kept.replace(Rest::Janitor(janitor))
            }
            // A failed send hands it back.
            (Taker::Thread(to), Some(rest)) => to.send(rest).err().map(|unsent| unsent.0),
            // Nobody would let go before the host does.
            (_, rest) => rest,
        };
        drop(taker);
        drop(here);
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn what_is_let_go_of_is_closed_by_the_kernel() {
        let (reads, writes) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let_go([Some(writes), None]);
        // Nobody can write any more.
        let mut watched = [PollFd::new(&reads, PollFlags::IN)];
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        assert_eq!(poll(&mut watched, Some(&patience)), Ok(1));
    }
}
