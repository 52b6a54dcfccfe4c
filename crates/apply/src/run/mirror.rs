//! A pipe of the host's as the command's input.
//!
//! Handed over it could be opened anew for writing, and a shell that reads its script from it would
//! run what the command wrote. So the command reads from a pipe of its own, which holds one piece at a
//! time; the same piece stays in the host's until it was read. What the command does not read is
//! there for whoever reads next, as without us.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::io::{Errno, Result, ioctl_fionread};
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, splice, tee};

use super::streams::Pipe;

/// The least that a pipe can be made to hold, which is one page: so there is room in it when, and
/// only when, all of it was read.
const ONE: usize = 1;

/// The most that is asked for at once. One page comes.
const MOST: usize = 64 << 10;

/// The host's pipe and the command's.
#[derive(Debug)]
pub(super) struct Mirror {
    pipe: Pipe,
    from: OwnedFd,
    null: OwnedFd,
    /// How many bytes of the host's pipe lie in the command's too.
    shown: usize,
    /// Whether the command's pipe has no room though we put nothing there: the command did.
    is_full: bool,
}

impl Mirror {
    pub(super) fn new(pipe: Pipe, from: OwnedFd, null: OwnedFd) -> Result<Self> {
        fcntl_setpipe_size(&pipe.write, ONE)?;
        Ok(Self { pipe, from, null, shown: 0, is_full: false })
    }

    /// Returns what has to be waited for: something to show, or that it was read.
    pub(super) fn wants(&self) -> (BorrowedFd<'_>, PollFlags) {
        if self.shown == 0 && !self.is_full {
            (self.from.as_fd(), PollFlags::IN)
        } else {
            (self.pipe.write.as_fd(), PollFlags::OUT)
        }
    }

    /// Shows the next piece, once the last one was read; returns nothing at the end.
    pub(super) fn pump(mut self) -> Option<Self> {
        self.take(self.shown);
        (self.shown, self.is_full) = (0, false);
        match tee(&self.from, &self.pipe.write, MOST, SpliceFlags::NONBLOCK) {
            Ok(0) => return None,
            Ok(shown) => self.shown = shown,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                self.is_full = ioctl_fionread(&self.from).is_ok_and(|left| left > 0);
            }
            Err(_) => return None,
        }
        Some(self)
    }

    /// The command reads no more: takes what it has read of the last piece.
    pub(super) fn give_back(self) {
        let unread = ioctl_fionread(&self.pipe.read).unwrap_or(0);
        let unread = usize::try_from(unread).unwrap_or(usize::MAX);
        self.take(self.shown.saturating_sub(unread));
    }

    /// Takes bytes out of the host's pipe. Should somebody else have taken them, nobody waits.
    fn take(&self, mut bytes: usize) {
        while bytes > 0 {
            match splice(&self.from, None, &self.null, None, bytes, SpliceFlags::NONBLOCK) {
                Ok(taken @ 1..) => bytes = bytes.saturating_sub(taken),
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }
}
