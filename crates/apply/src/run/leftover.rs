//! Ending what is left of a sandbox off the path that callers wait on.
//!
//! The kernel takes mounts down before it says that the last process is gone, which is a tenth of
//! what a short command costs. A descriptor of their namespace keeps them a moment longer, and
//! somebody else lets go of it: the janitor, where there is one, as it ends, or a thread. The thread
//! also awaits the janitor. Should we be killed, the kernel does all of it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::janitor::Janitor;
use super::reserve::Reserved;

/// The thread that lets go; it is started with the first sandbox, and ends with the host.
#[derive(Debug, Default)]
pub(super) struct Leftovers(OnceLock<Sender<Rest>>);

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
    mounts: Mounts,
    to: Sender<Rest>,
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

impl Leftovers {
    /// Takes on the mounts of a sandbox.
    pub(super) fn take(&self, mounts: Mounts) -> Leftover {
        let to = self.0.get_or_init(|| {
            let (to, from) = channel::<Rest>();
            // Without the thread its end of the channel is gone, and sending lets go at once.
            let body = move || from.into_iter().for_each(drop);
            thread::Builder::new().name("palisade-mounts".into()).spawn(body).ok();
            to
        });
        Leftover { mounts, to: to.clone() }
    }
}

impl Leftover {
    /// Gives names back, if any are kept, and lets go of the mounts: whoever holds them too does so
    /// last, and another thread waits for that.
    pub(super) fn release(self, reserved: Option<Reserved>) {
        let Self { mounts, to } = self;
        let rest = match reserved.filter(Reserved::has_janitor) {
            Some(reserved) => {
                drop(mounts);
                reserved.give_back().map(Rest::Janitor)
            }
            None => Some(Rest::Mounts(mounts.0)),
        };
        // A failed send hands it back, and dropping it lets go here.
        drop(rest.map(|rest| to.send(rest)));
    }
}
