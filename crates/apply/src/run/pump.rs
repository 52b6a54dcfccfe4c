//! Moving bytes between the command and the supervisor, as far as they go without waiting.

use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::event::PollFlags;
use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::kept::Buffer;
use super::streams::{Drain, Feed};

/// The most that is read ahead for the command.
const AHEAD: usize = 16 << 10;

impl Feed {
    /// Returns what has to be waited for before more can be fed.
    pub(super) fn wants(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match self {
            Self::None => None,
            Self::Bytes(pipe, ..) => Some((pipe.write.as_fd(), PollFlags::OUT)),
            Self::Relay(_, source) if source.ahead.is_empty() => {
                Some((source.from.as_fd(), PollFlags::IN))
            }
            Self::Relay(pipe, _) => Some((pipe.write.as_fd(), PollFlags::OUT)),
            Self::Fed(..) => None,
            Self::Mirror(mirror) => Some(mirror.wants()),
        }
    }

    /// The command reads no more: what it has not read of a file is there for whoever reads next.
    pub(super) fn give_back(self) {
        let (read, source) = match self {
            Self::None | Self::Bytes(..) => return,
            Self::Relay(pipe, source) => (pipe.read, source),
            Self::Fed(read, source) => (read, source),
            Self::Mirror(mirror) => return mirror.give_back(),
        };
        let unread = rustix::io::ioctl_fionread(&read).unwrap_or(0);
        // It may have filled the pipe itself: no more goes back than was taken.
        let unread = unread.saturating_add(source.ahead.len() as u64).min(source.taken);
        let back = i64::try_from(unread).unwrap_or(0);
        // A socket has no place to go back to.
        rustix::fs::seek(&source.from, SeekFrom::Current(-back)).ok();
    }

    /// Feeds what can be fed; the pipe is closed when nothing is left.
    pub(super) fn pump(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Bytes(pipe, bytes, mut done) => {
                match rustix::io::write(&pipe.write, bytes.get(done..).unwrap_or_default()) {
                    Ok(written) => done += written,
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(_) => return Self::None,
                }
                if done < bytes.len() { Self::Bytes(pipe, bytes, done) } else { Self::None }
            }
            Self::Relay(pipe, mut source) if source.ahead.is_empty() => {
                source.ahead.resize(AHEAD, 0);
                let read = rustix::io::read(&source.from, &mut source.ahead[..]);
                source.ahead.truncate(read.unwrap_or(0));
                source.taken += source.ahead.len() as u64;
                match read {
                    Ok(1..) | Err(Errno::AGAIN | Errno::INTR) => Self::Relay(pipe, source),
                    Ok(0) | Err(_) => Self::Fed(pipe.read, source),
                }
            }
            Self::Relay(pipe, mut source) => {
                match rustix::io::write(&pipe.write, &source.ahead) {
                    Ok(written) => drop(source.ahead.drain(..written.min(source.ahead.len()))),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(_) => return Self::Fed(pipe.read, source),
                }
                Self::Relay(pipe, source)
            }
            Self::Fed(read, source) => Self::Fed(read, source),
            Self::Mirror(mirror) => mirror.pump().map_or(Self::None, Self::Mirror),
        }
    }
}

impl Drain {
    /// Returns what has to be waited for before more can be taken.
    pub(super) fn wants(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match self {
            Self::None => None,
            Self::Capture(from) | Self::Relay(from, _) => Some((from.as_fd(), PollFlags::IN)),
            Self::Capped(capped) => capped.wants(),
        }
    }

    /// Nobody is left who could write, and nothing is there to be read.
    pub(super) fn is_all(&mut self, buffer: &mut Buffer) {
        let is_done = match &mut *self {
            Self::None => return,
            Self::Capture(_) | Self::Relay(..) => true,
            Self::Capped(capped) => {
                capped.is_all(buffer);
                capped.is_done()
            }
        };
        if is_done {
            *self = Self::None;
        }
    }

    /// The command was ended: nobody who reads what it wrote is waited for.
    pub(super) fn hurry(&mut self) {
        if let Self::Capped(capped) = self {
            capped.hurry();
            if capped.is_done() {
                *self = Self::None;
            }
        }
    }

    /// Takes what the command has written, and returns whether there was anything.
    pub(super) fn pump(&mut self, chunk: &mut [u8], buffer: &mut Buffer) -> bool {
        let from = match &mut *self {
            Self::None => return false,
            Self::Capture(from) | Self::Relay(from, _) => from,
            Self::Capped(capped) => {
                let any = capped.pump(chunk, buffer);
                if capped.is_done() {
                    *self = Self::None;
                }
                return any;
            }
        };
        let read = match rustix::io::read(from, &mut *chunk) {
            Err(Errno::AGAIN | Errno::INTR) => return false,
            Ok(0) | Err(_) => {
                *self = Self::None;
                return false;
            }
            Ok(read) => read,
        };
        let bytes = chunk.get(..read).unwrap_or_default();
        match self {
            Self::Relay(_, to) => relay(to.as_fd(), bytes),
            Self::Capture(_) => buffer.push(bytes),
            Self::Capped(_) | Self::None => {}
        }
        true
    }
}

/// Writes for the command. A full disk is the reader's problem: the bytes are lost, as they would
/// be for a program that does not look.
fn relay(to: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
