//! One question at a time: two processes at one terminal take turns.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};

/// The terminal, for as long as this lives.
#[derive(Debug)]
pub(super) struct Turn(
    #[expect(dead_code, reason = "the lock goes with the descriptor")] Option<File>,
);

impl Turn {
    /// Waits for the others; none if they take too long.
    pub(super) fn take(due: Option<Instant>) -> Option<Self> {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let own = [stdin.as_fd(), stderr.as_fd(), stdout.as_fd()];
        // `/dev/tty` is one file for all terminals: the lock is on the terminal's own.
        let Some(file) = own.into_iter().find_map(opened) else { return Some(Self(None)) };
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if due.is_some_and(|due| Instant::now() >= due) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self(Some(file)))
    }
}

fn opened(fd: BorrowedFd<'_>) -> Option<File> {
    let name = rustix::termios::ttyname(fd, Vec::new()).ok()?;
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed();
    let path = OsStr::from_bytes(name.to_bytes());
    OpenOptions::new().read(true).custom_flags(flags).open(path).ok()
}
