//! The terminal of the person who started us: its size, and its modes, which are always given back.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcgetpgrp, tcsetattr};

/// A terminal that is read for the command.
#[derive(Debug)]
pub(super) struct Outer {
    fd: OwnedFd,
    /// The modes it had; while this is here, it has ours.
    before: Option<Termios>,
}

impl Outer {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self { fd: unshared(fd), before: None }
    }

    /// Hands every key over as it is typed, if this process is in the foreground: keys and modes
    /// belong to others otherwise, and touching them would stop us.
    pub(super) fn take(&mut self) {
        if self.before.is_some() || !self.is_foreground() {
            return;
        }
        let Ok(before) = tcgetattr(&self.fd) else { return };
        let mut raw = before.clone();
        raw.make_raw();
        if tcsetattr(&self.fd, OptionalActions::Now, &raw).is_ok() {
            self.before = Some(before);
        }
    }

    /// Gives the modes back. What was not read is dropped: an answer to a question of the command
    /// must not be typed at whoever reads next.
    pub(super) fn give_back(&mut self) {
        if let Some(before) = self.before.take() {
            while tcsetattr(&self.fd, OptionalActions::Flush, &before) == Err(Errno::INTR) {}
        }
    }

    /// Returns the descriptor while keys are ours.
    pub(super) fn keys(&self) -> Option<BorrowedFd<'_>> {
        self.before.as_ref().map(|_| self.fd.as_fd())
    }

    fn is_foreground(&self) -> bool {
        tcgetpgrp(&self.fd).is_ok_and(|group| group == rustix::process::getpgrp())
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Returns the size of a terminal; a usual one where it has none.
pub(super) fn size(fd: Option<BorrowedFd<'_>>) -> Winsize {
    let usual = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let told = fd.and_then(|fd| rustix::termios::tcgetwinsize(fd).ok());
    told.filter(|size| size.ws_row > 0 && size.ws_col > 0).unwrap_or(usual)
}

/// Opens a terminal once more, so that calls on it can be told not to wait: the flag of the
/// descriptor that we were handed belongs to everybody who has it.
pub(super) fn unshared(fd: OwnedFd) -> OwnedFd {
    use std::os::fd::AsRawFd as _;
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // A terminal of another user, as after su(1), cannot be; then calls wait.
    rustix::fs::open(path, flags, Mode::empty()).unwrap_or(fd)
}
