//! A process beside the supervisor that cleans up after it, should it be killed.
//!
//! It stands in the host's mounts and in a session of its own, so that what ends the supervisor
//! does not end it too. All it can do is end the sandbox and remove empty folders.

use std::ops::Range;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, Result};
use rustix::process::PidfdFlags;

use super::quiet::LONG;
use super::reserve::Folder;
use super::spare::Spares;
use crate::sys::descriptor::{close_between, lift};
use crate::sys::process::{LeaveOnDrop, Made, Side, await_end, clone_into, leave, signal};
use crate::sys::{idle, signal as signals};

/// A janitor at work. Dropping this sends it home.
#[derive(Debug)]
pub(super) struct Janitor(Made);

impl Janitor {
    /// Starts one for the names in `folders`, which `sandbox` depends on. It holds on to what takes
    /// long to let go of.
    pub(super) fn start(
        folders: &[Folder],
        spares: Option<&Spares>,
        sandbox: BorrowedFd<'_>,
        held: [Option<BorrowedFd<'_>>; 2],
    ) -> Result<Self> {
        let own = rustix::process::getpid();
        let supervisor = rustix::process::pidfd_open(own, PidfdFlags::empty()).and_then(lift)?;
        let mut kept: Vec<i32> = folders.iter().map(|folder| folder.open.as_raw_fd()).collect();
        kept.extend(spares.map(|spares| spares.open.as_raw_fd()));
        kept.extend(held.into_iter().flatten().map(|held| held.as_raw_fd()));
        kept.extend([supervisor.as_raw_fd(), sandbox.as_raw_fd()]);
        kept.sort_unstable();
        let _blocked = signals::block_all();
        match clone_into(0)? {
            Side::Child => wait((folders, spares), &kept, supervisor.as_fd(), sandbox),
            Side::Parent(made) => Ok(Self(made)),
        }
    }
}

impl Janitor {
    /// Sends it home, without waiting until it is there.
    pub(super) fn dismiss(&self) {
        signal(self.0.pidfd.as_fd(), libc::SIGKILL).ok();
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.dismiss();
        await_end(self.0.pid).ok();
    }
}

/// The janitor itself. It allocates nothing: it is a copy of one thread of many.
fn wait(
    (folders, spares): (&[Folder], Option<&Spares>),
    kept: &[i32],
    supervisor: BorrowedFd<'_>,
    sandbox: BorrowedFd<'_>,
) -> ! {
    let _guard = LeaveOnDrop;
    rustix::process::setsid().ok();
    rustix::process::chdir(c"/").ok();
    rustix::thread::set_name(c"pal-janitor").ok();
    // Whoever waits for the end of a pipe of ours must not wait for us.
    let mut first = 0;
    for number in kept {
        close_between(first, number - 1).ok();
        first = number + 1;
    }
    close_between(first, i32::MAX).ok();
    let top = [0_u8];
    rest(folders, spares, supervisor, sandbox, idle::place(&top).start)
}

/// The rest of its life. Once it has waited for long, it keeps the names and gives back everything
/// else that it has from the supervisor. Its memory is a copy: that of a thread would be the
/// supervisor's own.
#[inline(never)]
fn rest(
    folders: &[Folder],
    spares: Option<&Spares>,
    supervisor: BorrowedFd<'_>,
    sandbox: BorrowedFd<'_>,
    top: usize,
) -> ! {
    if idle::is_wanted() && !has_ended(supervisor, Some(&LONG)) {
        let spares = spares.map(std::slice::from_ref).unwrap_or_default();
        idle::keep_only(top, &|page| {
            idle::meet(&idle::place(spares), page) || is_in(folders, page)
        });
    }
    ended(supervisor);
    // It ends by itself, but only its end shows that nobody writes any more.
    signal(sandbox, libc::SIGKILL).ok();
    ended(sandbox);
    folders.iter().for_each(|folder| folder.give_back(spares));
    leave(0)
}

/// Returns whether some of what is needed to give names back lies in a page.
fn is_in(folders: &[Folder], page: &Range<usize>) -> bool {
    let is = |place| idle::meet(&place, page);
    is(idle::place(folders))
        || folders.iter().any(|folder| {
            let mut names = folder.names.iter();
            is(idle::place(&folder.names))
                || names.any(|name| is(idle::place(name.as_bytes_with_nul())))
        })
}

/// Waits until a process has ended.
fn ended(process: BorrowedFd<'_>) {
    while !has_ended(process, None) {}
}

/// Waits as long; returns whether a process has ended.
fn has_ended(process: BorrowedFd<'_>, patience: Option<&Timespec>) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(process, PollFlags::IN)];
    !matches!(poll(&mut watched, patience), Ok(0) | Err(Errno::INTR))
}
