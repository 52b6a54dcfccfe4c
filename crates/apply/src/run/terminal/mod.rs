//! A terminal of the sandbox's own, and the one of the person in front of it.
//!
//! The command gets neither the person's terminal nor one of the host's: the new process opens one
//! on the sandbox's own devpts and hands the other side out. What is typed goes in, what is shown
//! comes out through a [`Filter`].

mod filter;
mod outer;

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios, Winsize, tcgetattr,
    tcgetpgrp, tcsetattr, tcsetwinsize,
};

use super::capped::Cap;
use super::message::{Message, send_with};
use super::outcome::Stream;
use crate::sys::descriptor::lift;
use filter::Filter;
use outer::{Outer, Use, size, unshared};

/// The most that is read at once, in both directions.
const CHUNK: usize = 16 << 10;

/// How long after one interrupt another one means "now".
const PATIENCE: Duration = Duration::from_secs(2);

/// How the sandbox's own terminal begins, ready for the new process.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    /// Which of the standard descriptors it is.
    pub(super) streams: [bool; 3],
    modes: Option<Termios>,
    size: Winsize,
}

/// Both terminals, as the supervisor sees them.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The other side of the sandbox's; there is none before it starts, nor after its end.
    inner: Option<OwnedFd>,
    /// The same once nobody has it open. Closing it would hang up on a command that has closed its
    /// standard descriptors and is about to end.
    quiet: Option<OwnedFd>,
    /// The process group of the command, as numbered here.
    command: Option<Pid>,
    input: Option<Outer>,
    output: Option<OwnedFd>,
    filter: Filter,
    typed: Vec<u8>,
    shown: Vec<u8>,
    /// How many bytes may still be shown, if that is bounded, and how many were not.
    left: Option<u64>,
    dropped: u64,
}

/// What a person's keys ask of the supervisor, beside being handed over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    /// Nothing.
    Nothing,
    /// To end the command now.
    Kill,
    /// To put it, and us, to sleep.
    Suspend,
}

/// Whether an interrupt is the second within a short time, or something that asks for the end the second
/// of its kind.
#[derive(Debug, Default)]
pub(super) struct Patience {
    interrupted: Option<Instant>,
    /// Which of them, a bit for each.
    asked: u64,
}

impl Patience {
    /// Notes an interrupt, and says whether it means "now".
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        let before = self.interrupted.replace(now);
        before.is_some_and(|before| now.saturating_duration_since(before) < PATIENCE)
    }

    /// Notes that a signal asked for the end, and says whether the same did before, however long ago:
    /// nobody types that by mistake.
    pub(super) fn is_asked_again(&mut self, signal: i32) -> bool {
        let before = self.asked;
        self.asked |= 1 << signal.clamp(0, 63);
        self.asked == before
    }
}

impl Terminal {
    /// Takes the terminals among a caller's streams: `streams` says which they are, `input` is
    /// read for the command, `output` shows what it writes.
    pub(super) fn new(
        streams: [bool; 3],
        input: Option<OwnedFd>,
        output: Option<OwnedFd>,
        cap: Option<Cap>,
    ) -> (Fresh, Self) {
        let known = output.as_ref().or(input.as_ref());
        let use_of = if streams[1] { Use::Whole } else { Use::Shared };
        let mut modes = known.and_then(|fd| tcgetattr(fd).ok());
        if let Some(modes) = modes.as_mut().filter(|_| input.is_some() && use_of == Use::Shared) {
            // The outer one does this already.
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
            modes.output_modes.remove(OutputModes::OPOST);
        }
        let fresh = Fresh { streams, modes, size: size(known.map(OwnedFd::as_fd)) };
        let terminal = Self {
            inner: None,
            quiet: None,
            command: None,
            input: input.map(|input| Outer::new(input, use_of)),
            output: output.map(unshared),
            filter: Filter::default(),
            typed: Vec::new(),
            shown: Vec::new(),
            left: cap.map(|cap| cap.bytes),
            dropped: 0,
        };
        (fresh, terminal)
    }

    /// Takes the other side of the sandbox's terminal: the command is about to start.
    pub(super) fn begin(&mut self, inner: OwnedFd) {
        rustix::fs::fcntl_setfl(&inner, OFlags::NONBLOCK).ok();
        self.command = tcgetpgrp(&inner).ok();
        self.inner = Some(inner);
        self.resume();
    }

    /// Returns whether everything was shown, or cannot be any more.
    pub(super) fn is_done(&self) -> bool {
        self.inner.is_none() && (self.shown.is_empty() || self.output.is_none())
    }

    /// Gives the sandbox's terminal the size of the person's.
    pub(super) fn resize(&self) {
        let known = self.output.as_ref().map(OwnedFd::as_fd);
        let known = known.or_else(|| self.input.as_ref().and_then(Outer::keys));
        if let (Some(known), Some(inner)) = (known, &self.inner) {
            tcsetwinsize(inner, size(Some(known))).ok();
        }
    }

    /// Gives the person's terminal back for a while.
    pub(super) fn suspend(&mut self) {
        self.input.iter_mut().for_each(Outer::give_back);
    }

    /// Takes it again.
    pub(super) fn resume(&mut self) {
        self.input.iter_mut().for_each(Outer::take);
        self.resize();
    }

    /// Returns what to wait for: something shown, something typed, room to show it.
    pub(super) fn wants(&self) -> [Option<(BorrowedFd<'_>, PollFlags)>; 3] {
        let Some(inner) = &self.inner else {
            let left = self.output.as_ref().filter(|_| !self.shown.is_empty());
            return [None, None, left.map(|output| (output.as_fd(), PollFlags::OUT))];
        };
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, self.shown.is_empty());
        flags.set(PollFlags::OUT, !self.typed.is_empty());
        let output = self.output.as_ref().filter(|_| !self.shown.is_empty());
        let input = self.input.as_ref().filter(|_| self.typed.is_empty()).and_then(Outer::keys);
        [
            // Without a wish a hangup would be told again and again.
            (!flags.is_empty()).then_some((inner.as_fd(), flags)),
            input.map(|input| (input, PollFlags::IN)),
            output.map(|output| (output.as_fd(), PollFlags::OUT)),
        ]
    }

    /// Nobody is left who could show anything, unless something waits to be shown.
    pub(super) fn is_all(&mut self) {
        if self.inner.is_none() || !self.shown.is_empty() {
            return;
        }
        self.quiet = self.inner.take();
        let missing = Stream { bytes: Vec::new(), dropped: self.dropped }.marker();
        let lines = missing.iter();
        let lines = lines.flat_map(|line| b"\r\n".iter().chain(line.as_bytes()).chain(b"\r\n"));
        self.shown.extend(lines);
    }

    /// Returns how soon to look again, though nothing is ready.
    pub(super) fn due(&self) -> Option<Duration> {
        self.inner.as_ref().and(self.input.as_ref()).and_then(Outer::due)
    }

    /// Moves what the command shows; returns whether there was anything.
    // Apart, so that its room is not on the stack while nothing happens.
    #[inline(never)]
    pub(super) fn show(&mut self) -> bool {
        let mut any = false;
        if let Some(inner) = self.inner.as_ref().filter(|_| self.shown.is_empty()) {
            let mut chunk = [0; CHUNK];
            match rustix::io::read(inner, &mut chunk) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                // No process has this terminal open any more.
                Ok(0) | Err(_) => self.is_all(),
                Ok(read) => {
                    any = true;
                    let bytes = chunk.get(..read).unwrap_or_default();
                    self.filter.pass(bytes, &mut self.shown);
                    self.cut();
                }
            }
        }
        let Some(output) = &self.output else {
            self.shown.clear();
            return any;
        };
        while !self.shown.is_empty() {
            match rustix::io::write(output, &self.shown) {
                Ok(written) => drop(self.shown.drain(..written.min(self.shown.len()))),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // Nobody can see it any more.
                Err(_) => {
                    self.output = None;
                    self.shown.clear();
                    return any;
                }
            }
        }
        any
    }

    /// Drops what may not be shown any more. On a screen only the first bytes can be kept.
    fn cut(&mut self) {
        let Some(left) = &mut self.left else { return };
        let kept = usize::try_from(*left).unwrap_or(usize::MAX).min(self.shown.len());
        self.dropped += (self.shown.len() - kept) as u64;
        *left -= kept as u64;
        self.shown.truncate(kept);
    }

    /// Moves what a person types; returns what it asks of us.
    // Apart, as above.
    #[inline(never)]
    pub(super) fn type_in(&mut self, patience: &mut Patience) -> Asked {
        let mut asked = Asked::Nothing;
        if let Some(keys) =
            self.input.as_ref().and_then(Outer::keys).filter(|_| self.typed.is_empty())
        {
            let mut chunk = [0; CHUNK];
            match rustix::io::read(keys, &mut chunk) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                Ok(0) => match self.input.as_ref().and_then(Outer::end) {
                    Some(end) => self.typed.push(end),
                    None => self.input = None,
                },
                Err(_) => self.input = None,
                Ok(read) => {
                    let bytes = chunk.get(..read).unwrap_or_default();
                    asked = self.asked(bytes, patience);
                    if asked != Asked::Suspend {
                        self.typed.extend(bytes);
                    }
                }
            }
        }
        self.hand_over();
        asked
    }

    /// Gives the sandbox what was typed, as far as it takes it.
    pub(super) fn hand_over(&mut self) {
        if let Some(inner) = self.inner.as_ref().filter(|_| !self.typed.is_empty()) {
            match rustix::io::write(inner, &self.typed) {
                Ok(written) => drop(self.typed.drain(..written.min(self.typed.len()))),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => self.typed.clear(),
            }
        }
    }

    /// Says what keys mean to us. A program that takes every key as it is, like an editor, gets
    /// these too: then they mean nothing.
    fn asked(&self, keys: &[u8], patience: &mut Patience) -> Asked {
        let Some(inner) = &self.inner else { return Asked::Nothing };
        let Ok(modes) = tcgetattr(inner) else { return Asked::Nothing };
        if !modes.local_modes.contains(LocalModes::ISIG) {
            return Asked::Nothing;
        }
        let interrupt = modes.special_codes[SpecialCodeIndex::VINTR];
        let suspend = modes.special_codes[SpecialCodeIndex::VSUSP];
        let now = Instant::now();
        for key in keys {
            if *key == interrupt && patience.is_over(now) {
                return Asked::Kill;
            }
            // With a shell in between it is the shell's.
            if *key == suspend && self.command.is_some() && tcgetpgrp(inner).ok() == self.command {
                return Asked::Suspend;
            }
        }
        Asked::Nothing
    }
}

/// Opens the sandbox's terminal, makes it the one of this session, and hands the other side out.
/// It runs in the new process, and allocates nothing.
pub(super) fn open(fresh: &Fresh, control: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    unlockpt(&ours)?;
    let theirs = lift(ioctl_tiocgptpeer(&ours, flags)?)?;
    if let Some(modes) = &fresh.modes {
        tcsetattr(&theirs, OptionalActions::Now, modes)?;
    }
    tcsetwinsize(&ours, fresh.size)?;
    rustix::process::ioctl_tiocsctty(&theirs)?;
    send_with(control, Message::Terminal, ours.as_fd())?;
    Ok(theirs)
}
