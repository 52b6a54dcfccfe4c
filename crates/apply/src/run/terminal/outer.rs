//! The terminal of the person who started us: its size, and its modes, which are always given back.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, Winsize, tcgetattr, tcgetpgrp,
    tcsetattr,
};

/// How often it is asked whose the keys of a shared terminal are: nobody tells.
const AGAIN: Duration = Duration::from_millis(250);

/// A terminal that is read for the command.
#[derive(Debug)]
pub(super) struct Outer {
    fd: OwnedFd,
    /// The modes it had; while this is here, it has ours.
    before: Option<Termios>,
    /// Who else may use it: where output goes elsewhere, as into a pager, its modes are not ours.
    use_of: Use,
}

/// Whose a terminal is while the command runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Use {
    /// The command's alone.
    Whole,
    /// Also that of others in the same pipeline.
    Shared,
}

impl Outer {
    pub(super) fn new(fd: OwnedFd, use_of: Use) -> Self {
        Self { fd: unshared(fd), before: None, use_of }
    }

    /// Hands every key over as it is typed, if this process is in the foreground: keys and modes
    /// belong to others otherwise, and touching them would stop us.
    pub(super) fn take(&mut self) {
        if self.use_of == Use::Shared || self.before.is_some() || !self.is_foreground() {
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
        let are_ours = match self.use_of {
            Use::Whole => self.before.is_some(),
            Use::Shared => self.is_foreground() && self.has_lines(),
        };
        are_ours.then(|| self.fd.as_fd())
    }

    /// Returns how soon to ask again whose the keys are, if they are somebody else's for now.
    pub(super) fn due(&self) -> Option<Duration> {
        (self.use_of == Use::Shared && self.keys().is_none()).then_some(AGAIN)
    }

    /// Returns the key that ends a text, if it comes to us as such an end.
    pub(super) fn end(&self) -> Option<u8> {
        let modes = tcgetattr(&self.fd).ok().filter(|_| self.use_of == Use::Shared)?;
        Some(modes.special_codes[SpecialCodeIndex::VEOF])
    }

    /// Whether whole lines are read: who wants single keys, as a pager does, has set it otherwise.
    fn has_lines(&self) -> bool {
        tcgetattr(&self.fd).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
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
