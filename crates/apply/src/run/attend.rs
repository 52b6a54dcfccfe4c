//! Signals of whoever runs us, passed on to the command.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use super::terminal::Patience;
use crate::sys::signal::Caught;

/// What is caught while a command is attended.
const CAUGHT: [i32; 7] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGWINCH,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// Signals that reach us while a command is attended.
#[derive(Debug)]
pub(super) struct Signals(Caught);

/// What a signal asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Told {
    /// To send it to the command.
    Pass(i32),
    /// To end the command now.
    Kill,
    /// To look at the size of the terminal.
    Resize,
    /// To put the command, and us, to sleep.
    Suspend,
    /// We were woken.
    Resume,
}

impl Signals {
    /// Catches signals, if nobody else does: then they stay with whoever caught them first.
    pub(super) fn catch() -> Option<Self> {
        Caught::new(&CAUGHT).map(Self)
    }

    pub(super) fn wants(&self) -> BorrowedFd<'_> {
        self.0.told()
    }

    /// Returns what the signals since the last time ask for.
    pub(super) fn told(&self, patience: &mut Patience) -> Vec<Told> {
        let now = Instant::now();
        let told = self.0.taken().into_iter().map(|signal| match i32::from(signal) {
            libc::SIGWINCH => Told::Resize,
            libc::SIGTSTP => Told::Suspend,
            libc::SIGCONT => Told::Resume,
            _ if patience.is_over(now) => Told::Kill,
            other => Told::Pass(other),
        });
        told.collect()
    }
}
