//! Taking a sandbox's mounts down off the path that callers wait on.
//!
//! The kernel takes them down before it says that the last process is gone, which is a tenth of
//! what a short command costs. A descriptor of their namespace keeps them a moment longer, and
//! another thread lets go of it. Should we be killed, the kernel does.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

/// The thread that lets go; it is started with the first sandbox, and ends with the host.
#[derive(Debug, Default)]
pub(super) struct Leftovers(OnceLock<Sender<OwnedFd>>);

/// The mounts of one sandbox.
#[derive(Debug)]
pub(super) struct Leftover {
    namespace: OwnedFd,
    to: Sender<OwnedFd>,
}

impl Leftovers {
    /// Holds on to the mounts of the sandbox whose first process this is, if that can be.
    pub(super) fn hold(&self, first: Pid) -> Option<Leftover> {
        let path = format!("/proc/{}/ns/mnt", first.as_raw_nonzero());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let namespace = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        let to = self.0.get_or_init(|| {
            let (to, from) = channel::<OwnedFd>();
            // Without the thread its end of the channel is gone, and sending closes at once.
            let body = move || from.into_iter().for_each(drop);
            thread::Builder::new().name("palisade-mounts".into()).spawn(body).ok();
            to
        });
        Some(Leftover { namespace, to: to.clone() })
    }
}

impl Leftover {
    /// Lets go of them, in the other thread.
    pub(super) fn release(self) {
        // A failed send hands the descriptor back, and dropping it closes it here.
        drop(self.to.send(self.namespace));
    }
}
