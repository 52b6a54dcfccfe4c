//! A process beside the supervisor that cleans up after it, should it be killed.
//!
//! It stands in the host's mounts and in a session of its own, so that what ends the supervisor
//! does not end it too. All it can do is end the sandbox, remove empty folders, and set aside what was
//! made under protected names.
//!
//! It works in the supervisor's memory, which outlives the supervisor for it, and has descriptors of
//! its own. It does without the C library and without memory to ask for (`sys::beside`).

use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, Result};
use rustix::process::PidfdFlags;

use super::accounts::End;
use super::leftover::let_go;
use super::message;
use super::reserve::Names;
use crate::sys::beside::Beside;
use crate::sys::descriptor::{close_between, forget, known, lift, remember};
use crate::sys::process::signal;

/// How long it may take to go home.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A janitor at work. Dropping this sends it home.
#[derive(Debug)]
pub(super) struct Janitor {
    works: Beside<Task>,
    /// Where it is handed what it looks after.
    hand: OwnedFd,
}

/// What it has to do.
#[derive(Debug)]
struct Task {
    names: Arc<Names>,
    /// Where it is handed who depends on the names.
    handed: OwnedFd,
    /// Whose end it waits for.
    supervisor: OwnedFd,
    /// Rings when it is to go home.
    home: OwnedFd,
    /// The numbers of what it does not close, in order.
    kept: Vec<i32>,
    /// The numbers of the sandbox, its mounts and the rest, where it has them from the start.
    known: [Option<i32>; 3],
}

/// A sandbox, its mounts, and what else is held for it.
pub(super) type Cared<'f> = (BorrowedFd<'f>, [Option<BorrowedFd<'f>>; 2]);

impl Janitor {
    /// Starts one for `names`, mostly before there is a sandbox that depends on them.
    pub(super) fn start(names: &Arc<Names>, cared: Option<Cared<'_>>) -> Result<Self> {
        let own = rustix::process::getpid();
        let supervisor = rustix::process::pidfd_open(own, PidfdFlags::empty()).and_then(lift)?;
        let home = eventfd(0, EventfdFlags::CLOEXEC).and_then(lift)?;
        let (hand, handed) = message::pair()?;
        let mut kept: Vec<i32> = names.descriptors().map(|open| open.as_raw_fd()).collect();
        kept.extend([&supervisor, &home, &handed].map(AsRawFd::as_raw_fd));
        let (sandbox, [mounts, rest]) =
            cared.map_or((None, [None; 2]), |(sandbox, held)| (Some(sandbox), held));
        let [sandbox, mounts, rest] =
            [sandbox, mounts, rest].map(|one| one.map(|one| one.as_raw_fd()));
        kept.extend([sandbox, mounts, rest].into_iter().flatten());
        kept.sort_unstable();
        let known = [sandbox, mounts, rest];
        let task = Task { names: Arc::clone(names), handed, supervisor, home, kept, known };
        Ok(Self { works: Beside::start(task, wait)?, hand })
    }

    /// Hands it the sandbox that depends on the names, before any command runs there. It holds on to
    /// what takes long to let go of until the sandbox has ended.
    pub(super) fn look_after(
        &self,
        sandbox: BorrowedFd<'_>,
        [mounts, rest]: [Option<BorrowedFd<'_>>; 2],
    ) -> Result<()> {
        message::hand_over(self.hand.as_fd(), [Some(sandbox), mounts, rest])
    }

    /// Sends it home, without waiting until it is there. It is told, and not killed: it has things to
    /// let go of, and who is somebody else by now may not kill it.
    pub(super) fn dismiss(&self) {
        rustix::io::write(&self.works.with().home, &1_u64.to_ne_bytes()).ok();
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.dismiss();
        // One that somebody has stopped does not hear it, and is killed then.
        self.works.await_for(PATIENCE);
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
    let [supervisor, home, handed] =
        [&task.supervisor, &task.home, &task.handed].map(OwnedFd::as_fd);
    let [sandbox, mounts, rest] = match task.known.map(|number| remember(number.unwrap_or(-1)).ok())
    {
        all @ [Some(_), ..] => all,
        [None, ..] => {
            let [.., is_handed] = any([supervisor, home, handed]);
            if is_handed { message::take_over(handed) } else { [None, None, None] }
        }
    };
    // Numbers from here on: nothing is closed by being dropped, which the C library would do.
    let sandbox = sandbox.map(|sandbox| known(forget(sandbox)));
    let [gone, sent] = match sandbox {
        Some(sandbox) => until_end(task, sandbox, [mounts, rest]),
        None => any([supervisor, home]),
    };
    if sent || !gone {
        return;
    }
    // Where none was handed over, no command has run.
    if let Some(sandbox) = sandbox {
        // It ends by itself, but only its end shows that nobody writes any more.
        signal(sandbox, libc::SIGKILL).ok();
        any([sandbox]);
        task.names.set_free_aside();
    }
    task.names.give_back();
    // The rest is for the next run to look over.
    task.names.tell_end(if sandbox.is_some() { End::Killed } else { End::Done });
}

/// Waits until the supervisor is gone, or wants nothing any more; returns which. Once the sandbox has
/// ended what is held goes, while the supervisor tidies up.
fn until_end(task: &Task, sandbox: BorrowedFd<'_>, held: [Option<OwnedFd>; 2]) -> [bool; 2] {
    let (supervisor, home) = (task.supervisor.as_fd(), task.home.as_fd());
    let [gone, sent, ended] = any([supervisor, home, sandbox]);
    if gone && !sent {
        for held in held.into_iter().flatten() {
            forget(held);
        }
        return [gone, sent];
    }
    // Also when nothing is wanted any more: to end with them would take longer.
    let_go(held);
    if ended && !sent { any([supervisor, home]) } else { [gone, sent] }
}

/// Waits until one of these can be read; returns which.
fn any<const N: usize>(these: [BorrowedFd<'_>; N]) -> [bool; N] {
    let mut watched = these.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    while poll(&mut watched, None) == Err(Errno::INTR) {}
    watched.map(|fd| !fd.revents().is_empty())
}
