//! One question at a time: two processes at one terminal take turns.
//!
//! Two locks say whose turn it is. One is a file of the user's own, named after the terminal: it works
//! where the terminal belongs to somebody else, as behind `su`, and no command can hold it. The other
//! is the terminal itself, where it can be opened: it works between users. With neither, nobody is asked.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use palisade::Answered;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::termios::tcgetsid;

use super::clock::Due;

/// The terminal, for as long as this lives.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "the locks go with them")] Vec<File>);

impl Turn {
    /// Waits for the others. `folder` is where the user's own locks lie.
    pub(super) fn take(
        terminal: &File,
        folder: Option<&Path>,
        due: Option<Due>,
    ) -> Result<Self, Answered> {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let own = [stdin.as_fd(), stderr.as_fd(), stdout.as_fd()];
        // `/dev/tty` is one file for all terminals: the lock is on the terminal's own.
        let device = own.into_iter().find_map(opened);
        let own = folder.and_then(|folder| named(folder, terminal).ok());
        let locks: Vec<File> = own.into_iter().chain(device).collect();
        if locks.is_empty() {
            return Err(Answered::Nobody);
        }
        for lock in &locks {
            while flock(lock, FlockOperation::NonBlockingLockExclusive).is_err() {
                if due.is_some_and(Due::is_past) {
                    return Err(Answered::Timeout);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(Self(locks))
    }
}

/// Opens the user's own lock for a terminal. A terminal belongs to one session, and a session has one
/// terminal.
fn named(folder: &Path, terminal: &File) -> io::Result<File> {
    let session = tcgetsid(terminal)?.as_raw_nonzero();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    options.open(folder.join(format!("turn-{session}")))
}

fn opened(fd: BorrowedFd<'_>) -> Option<File> {
    let name = rustix::termios::ttyname(fd, Vec::new()).ok()?;
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed();
    let path = OsStr::from_bytes(name.to_bytes());
    OpenOptions::new().read(true).custom_flags(flags).open(path).ok()
}
