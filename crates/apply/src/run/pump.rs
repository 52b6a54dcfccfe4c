//! Moving bytes between the command and the supervisor, as far as they go without waiting.

use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::event::PollFlags;
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
            Self::Relay(_, from, ahead) if ahead.is_empty() => Some((from.as_fd(), PollFlags::IN)),
            Self::Relay(pipe, ..) => Some((pipe.write.as_fd(), PollFlags::OUT)),
        }
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
            Self::Relay(pipe, from, mut ahead) if ahead.is_empty() => {
                ahead.resize(AHEAD, 0);
                match rustix::io::read(&from, &mut ahead[..]) {
                    Ok(0) => return Self::None,
                    Ok(read) => ahead.truncate(read),
                    Err(Errno::AGAIN | Errno::INTR) => ahead.clear(),
                    Err(_) => return Self::None,
                }
                Self::Relay(pipe, from, ahead)
            }
            Self::Relay(pipe, from, mut ahead) => {
                match rustix::io::write(&pipe.write, &ahead) {
                    Ok(written) => drop(ahead.drain(..written.min(ahead.len()))),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(_) => return Self::None,
                }
                Self::Relay(pipe, from, ahead)
            }
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
