//! Passing output on up to a cap, for policies that say how much may stream.
//!
//! The first bytes go out as they come; the last ones can only be told at the end. Either way a line
//! says how many are missing. What nobody reads yet is waited for without holding up anybody else.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use palisade_plan::Kept;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::kept::Buffer;
use super::outcome::Stream;

/// What a pipe takes at once, if it takes anything: its writer may be one that waits.
const PIECE: usize = 4096;

/// How much of each stream is passed on, and which end of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cap {
    pub(super) bytes: u64,
    pub(super) keep: Kept,
}

impl Cap {
    /// All of it.
    pub(super) const NONE: Self = Self { bytes: u64::MAX, keep: Kept::Head };
}

/// A stream that is passed on up to a cap.
#[derive(Debug)]
pub(super) struct Capped {
    /// The command's side; nothing once it has ended.
    from: Option<OwnedFd>,
    to: OwnedFd,
    cap: Cap,
    /// How many of the first bytes are still to come.
    left: u64,
    dropped: u64,
    /// The last bytes, if those are kept.
    tail: Buffer,
    /// What is to be written.
    ahead: Vec<u8>,
    last: u8,
    /// Whether the command was ended.
    is_late: bool,
    /// Whether nobody read what was left then.
    is_lost: bool,
}

impl Capped {
    pub(super) fn new(from: OwnedFd, to: OwnedFd, cap: Cap) -> Self {
        let tail = Buffer::new(cap.bytes, Kept::Tail);
        let (left, ahead) = (cap.bytes, Vec::new());
        let (is_late, is_lost) = (false, false);
        let from = Some(from);
        Self { from, to, cap, left, dropped: 0, tail, ahead, last: b'\n', is_late, is_lost }
    }

    /// Returns what has to be waited for.
    pub(super) fn wants(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.ahead.is_empty() {
            self.from.as_ref().map(|from| (from.as_fd(), PollFlags::IN))
        } else {
            Some((self.to.as_fd(), PollFlags::OUT))
        }
    }

    /// Whether everything was passed on, or cannot be any more.
    pub(super) fn is_done(&self) -> bool {
        self.from.is_none() && self.ahead.is_empty()
    }

    /// Nobody is left who could write: what has come is all.
    pub(super) fn is_all(&mut self, buffer: &mut Buffer) {
        if self.from.is_some() && self.ahead.is_empty() {
            self.end(buffer);
            self.flush_if_late();
        }
    }

    /// Takes or passes on what can be; returns whether the command has written anything.
    pub(super) fn pump(&mut self, chunk: &mut [u8], buffer: &mut Buffer) -> bool {
        if !self.ahead.is_empty() {
            self.write();
            return false;
        }
        let Some(from) = &self.from else { return false };
        match rustix::io::read(from, &mut *chunk) {
            Err(Errno::AGAIN | Errno::INTR) => false,
            Ok(0) | Err(_) => {
                self.end(buffer);
                self.flush_if_late();
                false
            }
            Ok(read) => {
                self.take(chunk.get(..read).unwrap_or_default());
                self.flush_if_late();
                true
            }
        }
    }

    /// The command was ended: from now on, whoever does not read at once is not waited for.
    pub(super) fn hurry(&mut self) {
        self.is_late = true;
        self.flush_if_late();
    }

    fn flush_if_late(&mut self) {
        while self.is_late && !self.ahead.is_empty() {
            let mut ready = [PollFd::from_borrowed_fd(self.to.as_fd(), PollFlags::OUT)];
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            if matches!(poll(&mut ready, Some(&at_once)), Ok(1..)) {
                self.write();
            } else {
                self.dropped += self.ahead.len() as u64;
                self.ahead.clear();
                self.is_lost = true;
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.is_lost {
            self.dropped += bytes.len() as u64;
            return;
        }
        match self.cap.keep {
            Kept::Tail => self.tail.push(bytes),
            Kept::Head => {
                let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.ahead.extend(bytes.iter().take(most));
                self.left -= most as u64;
                self.dropped += (bytes.len() - most) as u64;
                self.last = self.ahead.last().copied().unwrap_or(self.last);
            }
        }
    }

    /// The command writes no more: says what is missing.
    fn end(&mut self, buffer: &mut Buffer) {
        self.from = None;
        let tail = std::mem::replace(&mut self.tail, Buffer::new(0, Kept::Tail)).finish();
        let dropped = self.dropped + tail.dropped;
        buffer.lose(dropped);
        if self.is_lost {
            return;
        }
        let marker = Stream { bytes: Vec::new(), dropped }.marker();
        let marker = marker.map_or(String::new(), |marker| marker + "\n");
        if !marker.is_empty() && self.last != b'\n' {
            self.ahead.push(b'\n');
        }
        self.ahead.extend(marker.bytes());
        self.ahead.extend(tail.bytes);
    }

    fn write(&mut self) {
        let piece = self.ahead.get(..self.ahead.len().min(PIECE)).unwrap_or_default();
        match rustix::io::write(&self.to, piece) {
            Ok(written) => drop(self.ahead.drain(..written)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Nobody reads it any more, and the command is told as it would be without us.
            Err(_) => {
                self.ahead.clear();
                self.from = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn one_end_goes_out_and_the_rest_is_counted() {
        #[rustfmt::skip]
        let cases = [
            (4, Kept::Head, "abcdef",   "abcd\n[palisade: 2 bytes of output not shown]\n", 2),
            (4, Kept::Head, "abc\ndef", "abc\n[palisade: 3 bytes of output not shown]\n",  3),
            (4, Kept::Head, "abcd",     "abcd",                                            0),
            (0, Kept::Head, "ab",       "[palisade: 2 bytes of output not shown]\n",       2),
            (4, Kept::Tail, "abcdef",   "[palisade: 2 bytes of output not shown]\ncdef",   2),
            (4, Kept::Tail, "abcd",     "abcd",                                            0),
        ];
        for (bytes, keep, said, expected, dropped) in cases {
            let (from, mut writes) = std::io::pipe().unwrap();
            let (mut reads, to) = std::io::pipe().unwrap();
            let mut capped = Capped::new(from.into(), to.into(), Cap { bytes, keep });
            let mut buffer = Buffer::new(64, Kept::Head);
            writes.write_all(said.as_bytes()).unwrap();
            drop(writes);
            while !capped.is_done() {
                assert!(capped.wants().is_some());
                capped.pump(&mut [0; 3], &mut buffer);
            }
            drop(capped);
            let mut text = String::new();
            reads.read_to_string(&mut text).unwrap();
            assert_eq!(text, expected, "{said} {keep:?}");
            assert_eq!(buffer.finish().dropped, dropped, "{said} {keep:?}");
        }
    }

    #[test]
    fn who_does_not_read_is_not_waited_for_once_the_command_was_ended() {
        let (from, mut writes) = std::io::pipe().unwrap();
        let (reads, mut to) = std::io::pipe().unwrap();
        to.write_all(&[b'x'; 64 << 10]).unwrap();
        let cap = Cap { bytes: 1 << 20, keep: Kept::Head };
        let mut capped = Capped::new(from.into(), to.into(), cap);
        let mut buffer = Buffer::new(64, Kept::Head);
        writes.write_all(b"said").unwrap();
        capped.pump(&mut [0; 64], &mut buffer);
        assert!(capped.wants().is_some_and(|(_, flags)| flags == PollFlags::OUT), "it waits");
        capped.hurry();
        writes.write_all(b"more").unwrap();
        drop(writes);
        while !capped.is_done() {
            assert!(capped.wants().is_some_and(|(_, flags)| flags == PollFlags::IN));
            capped.pump(&mut [0; 64], &mut buffer);
        }
        assert_eq!(buffer.finish().dropped, 8);
        drop(reads);
    }
}
