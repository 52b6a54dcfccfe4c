//! Signals of whoever runs us, passed on to the command.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

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

/// What asks a process to end.
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Signals that reach this process, held for a command that is about to start.
#[derive(Debug)]
pub struct Signals(Caught);

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
    /// Catches signals, if nobody else does: then they stay with whoever caught them first. Signals
    /// that this process ignores stay ignored.
    pub fn catch() -> Option<Self> {
        Caught::new(&CAUGHT).map(Self)
    }

    /// Catches what asks this process to end, for one that attends several commands at once.
    pub fn catch_ending() -> Option<Self> {
        Caught::new(&ENDING).map(Self)
    }

    /// Waits for at most `time`, and returns the first signal that came, if one did.
    pub fn next_within(&self, time: Duration) -> Option<i32> {
        let time = Timespec::try_from(time).ok()?;
        let told = self.0.told();
        poll(&mut [PollFd::new(&told, PollFlags::IN)], Some(&time)).ok()?;
        self.0.taken().first().copied().map(i32::from)
    }

    pub(super) fn wants(&self) -> BorrowedFd<'_> {
        self.0.told()
    }

    /// Returns what the signals since the last time ask for.
    pub(super) fn told(&self, patience: &mut Patience) -> Vec<Told> {
        let now = Instant::now();
        let told = self.0.taken().into_iter().flat_map(|signal| match i32::from(signal) {
            libc::SIGWINCH => [Some(Told::Resize), None],
            libc::SIGTSTP => [Some(Told::Suspend), None],
            libc::SIGCONT => [Some(Told::Resume), None],
            number if is_end(number) && patience.is_asked_again(number) => [Some(Told::Kill), None],
            _ if patience.is_over(now) => [Some(Told::Kill), None],
            // One that is stopped would not hear it.
            number => [number, libc::SIGCONT]
                .map(|it| (it == number || is_end(number)).then_some(Told::Pass(it))),
        });
        let told = told.flatten();
        told.collect()
    }
}

/// Returns whether a signal asks for the end, and is none that is typed.
fn is_end(number: i32) -> bool {
    matches!(number, libc::SIGTERM | libc::SIGHUP)
}

/// Puts this process and its job to sleep, as a terminal would, if it will notice.
pub(super) fn sleep_job(attended: bool) {
    if attended {
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP).ok();
    }
}
