//! A process beside the supervisor that cleans up after it, should it be killed.
//!
//! It stands in the host's mounts and in a session of its own, so that what ends the supervisor
//! does not end it too. All it can do is end the sandbox and remove empty folders.
//!
//! It works in the supervisor's memory, which outlives the supervisor for it, and has descriptors of
//! its own. It does without the C library and without memory to ask for (`sys::beside`).

use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, Result};
use rustix::process::PidfdFlags;

use super::reserve::Names;
use crate::sys::beside::Beside;
use crate::sys::descriptor::{close, close_between, copy, lift, remember};
use crate::sys::process::signal;

/// A janitor at work. Dropping this sends it home.
#[derive(Debug)]
pub(super) struct Janitor(Beside<Task>);

/// What it has to do.
#[derive(Debug)]
struct Task {
    names: Arc<Names>,
    /// Who depends on the names.
    sandbox: OwnedFd,
    /// Whose end it waits for.
    supervisor: OwnedFd,
    /// Rings when it is to go home.
    home: OwnedFd,
    /// The numbers of what it does not close, in order.
    kept: Vec<i32>,
    /// The number of the sandbox's mounts, if it holds them.
    mounts: Option<i32>,
}

impl Janitor {
    /// Starts one for `names`, which `sandbox` depends on. It holds on to what takes long to let go
    /// of: to the mounts until nobody is in them any more, and to the rest until it goes.
    pub(super) fn start(
        names: &Arc<Names>,
        sandbox: BorrowedFd<'_>,
        [mounts, rest]: [Option<BorrowedFd<'_>>; 2],
    ) -> Result<Self> {
        let own = rustix::process::getpid();
        let supervisor = rustix::process::pidfd_open(own, PidfdFlags::empty()).and_then(lift)?;
        let home = eventfd(0, EventfdFlags::CLOEXEC).and_then(lift)?;
        // It must stay open until the janitor has ended, whatever becomes of the sandbox's.
        let sandbox = copy(sandbox)?;
        let mut kept: Vec<i32> = names.descriptors().map(|open| open.as_raw_fd()).collect();
        kept.extend([mounts, rest].into_iter().flatten().map(|held| held.as_raw_fd()));
        kept.extend([&supervisor, &home, &sandbox].map(AsRawFd::as_raw_fd));
        kept.sort_unstable();
        let mounts = mounts.map(|mounts| mounts.as_raw_fd());
        let task = Task { names: Arc::clone(names), sandbox, supervisor, home, kept, mounts };
        Beside::start(task, wait).map(Self)
    }

    /// Sends it home, without waiting until it is there. Who is somebody else by now may not kill
    /// it, so it is told, too.
    pub(super) fn dismiss(&self) {
        rustix::io::write(&self.0.with().home, &1_u64.to_ne_bytes()).ok();
        self.0.kill();
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// The janitor itself.
fn wait(task: &Task) {
    rustix::process::setsid().ok();
    rustix::process::chdir(c"/").ok();
    rustix::thread::set_name(c"pal-janitor").ok();
    // Whoever waits for the end of a pipe of ours must not wait for us.
    let mut first = 0;
    for number in &task.kept {
        close_between(first, number - 1).ok();
        first = number + 1;
    }
    close_between(first, i32::MAX).ok();
    let [supervisor, home, sandbox] =
        [&task.supervisor, &task.home, &task.sandbox].map(OwnedFd::as_fd);
    let [mut gone, mut sent, ended] = any([supervisor, home, sandbox]);
    if ended && !gone && !sent {
        // While the supervisor tidies up.
        if let Some(Ok(mounts)) = task.mounts.map(remember) {
            close(mounts);
        }
        [gone, sent] = any([supervisor, home]);
    }
    if sent || !gone {
        return;
    }
    // It ends by itself, but only its end shows that nobody writes any more.
    signal(sandbox, libc::SIGKILL).ok();
    any([sandbox]);
    task.names.give_back();
}

/// Waits until one of these can be read; returns which.
fn any<const N: usize>(these: [BorrowedFd<'_>; N]) -> [bool; N] {
    let mut watched = these.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    while poll(&mut watched, None) == Err(Errno::INTR) {}
    watched.map(|fd| !fd.revents().is_empty())
}
