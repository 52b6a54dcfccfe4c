//! The descendants of a command, and how they are ended with it.

use std::os::fd::BorrowedFd;

use palisade_plan::Plan;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::thread::{ClockId, Timespec, clock_nanosleep_relative};

use super::outcome::Survivors;
use crate::sys::process::{Ended, leave, reap, signal, untrace};

/// How many times children are ended before it is given up: each time all that there are. Somebody
/// who forks faster than we can look has to be named, not awaited.
const ROUNDS: u32 = 10_000;

/// How the processes of a run hang together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Family {
    /// They are in a namespace, and the kernel ends all of them when the first one ends.
    Namespace,
    /// They are not confined. Those who lose their parent become children of the first process,
    /// which ends them before it ends.
    Adopted,
}

impl Family {
    pub(super) fn of(plan: &Plan) -> Self {
        if plan.has_namespaces() { Self::Namespace } else { Self::Adopted }
    }

    /// The signals that the first process is told of.
    pub(super) fn signals(self) -> &'static [i32] {
        match self {
            // Anybody inside may send it others.
            Self::Namespace => &[libc::SIGCHLD],
            Self::Adopted => &[libc::SIGCHLD, libc::SIGTERM],
        }
    }

    /// Outside: ends everything, by the first process.
    pub(super) fn kill(self, first: BorrowedFd<'_>) {
        let number = match self {
            Self::Namespace => libc::SIGKILL,
            Self::Adopted => libc::SIGTERM,
        };
        signal(first, number).ok();
        // It may have been put to sleep.
        signal(first, libc::SIGCONT).ok();
    }

    /// Returns whether somebody may have been left: the kernel leaves nobody in a namespace, and the
    /// first process of those that are not in one says whether it has found an end.
    pub(super) fn survivors(self, ended: Option<Ended>) -> Survivors {
        match (self, ended) {
            (Self::Namespace, Some(_)) | (Self::Adopted, Some(Ended { status: 0, .. })) => {
                Survivors::None
            }
            (Self::Namespace | Self::Adopted, Some(_) | None) => Survivors::Unproved,
        }
    }

    /// In the first process, when the command has ended: returns whether nobody else is there. Everybody
    /// in a namespace descends from its first process, and comes to it in the end. It allocates nothing.
    pub(super) fn has_ended(self) -> bool {
        loop {
            match (self, reap()) {
                (Self::Namespace, Ok(Some((pid, status)))) if status & 0xff == 0x7f => {
                    untrace(pid, status);
                }
                (Self::Namespace, Ok(Some(_))) => {}
                (Self::Namespace, Err(errno)) => return errno == Errno::CHILD,
                (Self::Namespace, Ok(None)) | (Self::Adopted, _) => return false,
            }
        }
    }

    /// In the first process: ends the others, the command first, and then itself, with `status` if
    /// nobody is left. It allocates nothing.
    pub(super) fn end(self, command: Pid, status: i32) -> ! {
        match self {
            Self::Namespace => leave(status),
            Self::Adopted => leave(if end_children(command).is_ok() { status } else { 125 }),
        }
    }
}

/// In the first process: makes it the one that orphans come to. It leaves the supervisor's group, so
/// that whoever ends that group leaves somebody to end the rest.
pub(super) fn adopt() -> Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // Where the kernel does not list children, they could not be ended.
    each_child(|_| ())
}

fn end_children(command: Pid) -> Result<()> {
    kill_process_group(command, Signal::KILL).ok();
    kill_process(command, Signal::KILL).ok();
    for _ in 0..ROUNDS {
        // A list that cannot be read now can be later.
        each_child(|child| {
            kill_process(child, Signal::KILL).ok();
        })
        .ok();
        loop {
            match reap() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(Errno::CHILD) => return Ok(()),
                Err(errno) => return Err(errno),
            }
        }
        // Until the kernel has ended them, and handed their children to us.
        let pause = Timespec { tv_sec: 0, tv_nsec: 200_000 };
        drop(clock_nanosleep_relative(ClockId::Monotonic, &pause));
    }
    Err(Errno::BUSY)
}

/// Goes through the children of this process, whose only thread this is.
fn each_child(mut does: impl FnMut(Pid)) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let list = rustix::fs::open(c"/proc/thread-self/children", flags, Mode::empty())?;
    let (mut bytes, mut number) = ([0; 1024], 0_i32);
    loop {
        let read = rustix::io::read(&list, &mut bytes)?;
        for byte in bytes.iter().take(read) {
            if byte.is_ascii_digit() {
                number = number.saturating_mul(10).saturating_add(i32::from(byte - b'0'));
            } else {
                Pid::from_raw(number).into_iter().for_each(&mut does);
                number = 0;
            }
        }
        if read == 0 {
            return Ok(());
        }
    }
}
