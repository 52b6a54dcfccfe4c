//! The three standard descriptors: which may be handed over, and which are read for the command.

use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Gid, Uid};

use super::capped::{Cap, Capped};
use super::error::{CannotStart, before};
use super::handed::{Input, Output, Streams};
use super::mirror::Mirror;
use super::terminal::{Fresh, Terminal};
use crate::sys::descriptor::{copy, lift};

/// Both sides of the three streams.
pub(super) struct Opened {
    /// The command's.
    pub(super) standard: [OwnedFd; 3],
    /// What is fed to it.
    pub(super) feed: Feed,
    /// Where its output goes.
    pub(super) drains: [Drain; 2],
    /// The terminals, if there are any.
    pub(super) terminal: Option<(Fresh, Terminal)>,
}

/// What the supervisor feeds to the command.
#[derive(Debug)]
pub(super) enum Feed {
    /// Nothing.
    None,
    /// Bytes, and how many of them are written.
    Bytes(Pipe, Vec<u8>, usize),
    /// A file or a socket that is read for it.
    Relay(Pipe, Source),
    /// The same at its end. What was fed may not be read yet.
    Fed(OwnedFd, Source),
    /// A pipe of the host's, of which only what the command reads is taken.
    Mirror(Mirror),
}

/// What is read for the command.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) from: OwnedFd,
    /// What was read and not yet fed.
    pub(super) ahead: Vec<u8>,
    /// How many bytes were read.
    pub(super) taken: u64,
}

/// A pipe into the command. Our copy of its other end keeps us from being killed by it.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) write: OwnedFd,
    pub(super) read: OwnedFd,
}

/// Where what the command writes goes.
#[derive(Debug)]
pub(super) enum Drain {
    /// Nowhere of ours.
    None,
    /// Into memory.
    Capture(OwnedFd),
    /// Into a descriptor.
    Relay(OwnedFd, OwnedFd),
    /// Into a descriptor, up to a cap.
    Capped(Box<Capped>),
}

/// Opens the command's side of each stream, and ours.
///
/// `reader` is the user outside that the command will be: a pipe that it may not open anew, by
/// `/dev/stdout`, is of little use to it.
///
/// No pipe or socket of the host's is handed over: one can be opened anew in its other direction, to
/// write what others will read, and a socket leads to other places than its own.
pub(super) fn open(
    streams: Streams,
    reader: Option<u32>,
    passing: Passing,
) -> Result<Opened, CannotStart> {
    let mut terminals = [false; 3];
    let mut read = None;
    let (zero, feed) = match streams.stdin {
        Input::Null => (null(OFlags::RDONLY)?, Feed::None),
        Input::Bytes(bytes) => {
            let (read, pipe) = into_command(reader)?;
            (read, Feed::Bytes(pipe, bytes, 0))
        }
        Input::From(fd) => match manner(fd.as_fd(), None, 0)? {
            Manner::Null => (copied(fd.as_fd())?, Feed::None),
            Manner::File | Manner::Socket => {
                let (read, pipe) = into_command(reader)?;
                (read, Feed::Relay(pipe, Source { from: fd, ahead: Vec::new(), taken: 0 }))
            }
            Manner::Pipe => {
                let (read, pipe) = into_command(reader)?;
                let mirror = Mirror::new(pipe, fd, null(OFlags::WRONLY)?);
                (read, Feed::Mirror(mirror.map_err(before("set up a pipe"))?))
            }
            Manner::Terminal => {
                (terminals, read) = ([true, false, false], Some(fd));
                (null(OFlags::RDONLY)?, Feed::None)
            }
        },
    };
    let [_, is_one, is_two] = &mut terminals;
    let mut shown = None;
    let [first, second] = [seen(&streams.stdout)?, seen(&streams.stderr)?];
    let is_one_place = passing.cap.is_none() && are_one(first.as_ref(), second.as_ref());
    let (one, out) = output((streams.stdout, first, 1), reader, passing, (is_one, &mut shown))?;
    let is_ours = matches!(out, Drain::Relay(..) | Drain::Capped(_));
    let (two, err) = if is_one_place && is_ours {
        // What goes to one place stays in its order.
        (copied(one.as_fd())?, Drain::None)
    } else {
        output((streams.stderr, second, 2), reader, passing, (is_two, &mut shown))?
    };
    let any = terminals.contains(&true);
    let terminal = any.then(|| Terminal::new(terminals, read, shown, passing.cap));
    Ok(Opened { standard: [zero, one, two], feed, drains: [out, err], terminal })
}

/// How output that goes into a descriptor is passed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    /// How much of each stream, if that is bounded.
    pub(super) cap: Option<Cap>,
    /// Whether it counts when something was written.
    pub(super) is_timed: bool,
}

/// Looks at where an output goes, if that was open before.
fn seen(output: &Output) -> Result<Option<Stat>, CannotStart> {
    match output {
        Output::To(fd) => Ok(Some(stat(fd.as_fd())?)),
        Output::Null | Output::Capture | Output::Pipe(_) => Ok(None),
    }
}

/// Returns whether two outputs go to one file, pipe or socket.
fn are_one(one: Option<&Stat>, two: Option<&Stat>) -> bool {
    let place = |stat: &Stat| (stat.st_dev, stat.st_ino);
    one.is_some_and(|one| two.map(place) == Some(place(one)))
}

fn output(
    (stream, seen, number): (Output, Option<Stat>, u8),
    reader: Option<u32>,
    passing: Passing,
    (is_terminal, shown): (&mut bool, &mut Option<OwnedFd>),
) -> Result<(OwnedFd, Drain), CannotStart> {
    Ok(match stream {
        Output::Null => (null(OFlags::WRONLY)?, Drain::None),
        Output::Capture => {
            let (read, write) = out_of_command(reader)?;
            (write, Drain::Capture(read))
        }
        Output::Pipe(pipe) if passing.cap.is_none() && !passing.is_timed => {
            (copied(pipe.as_fd())?, Drain::None)
        }
        Output::Pipe(pipe) => relayed(pipe.into(), reader, passing)?,
        Output::To(fd) => match manner(fd.as_fd(), seen, number)? {
            Manner::Null if passing.cap.is_none() && !passing.is_timed => {
                (copied(fd.as_fd())?, Drain::None)
            }
            Manner::File if passing.cap.is_none() => {
                let (read, write) = out_of_command(reader)?;
                (write, Drain::Relay(read, fd))
            }
            Manner::Null | Manner::File | Manner::Pipe | Manner::Socket => {
                relayed(fd, reader, passing)?
            }
            Manner::Terminal => {
                *is_terminal = true;
                // Two of them are nearly always the same one.
                shown.get_or_insert(fd);
                (null(OFlags::WRONLY)?, Drain::None)
            }
        },
    })
}

/// Passes output on without waiting for whoever reads it.
fn relayed(
    to: OwnedFd,
    reader: Option<u32>,
    passing: Passing,
) -> Result<(OwnedFd, Drain), CannotStart> {
    let (read, write) = out_of_command(reader)?;
    let cap = passing.cap.unwrap_or(Cap::NONE);
    Ok((write, Drain::Capped(Box::new(Capped::new(read, to, cap)))))
}

/// What a descriptor is, which says how it reaches the command.
enum Manner {
    Null,
    File,
    Pipe,
    Socket,
    Terminal,
}

fn stat(fd: BorrowedFd<'_>) -> Result<Stat, CannotStart> {
    rustix::fs::fstat(fd).map_err(before("look at a standard descriptor"))
}

/// Says what a descriptor is, which may have been looked at, if the command may have anything to do with
/// it.
fn manner(fd: BorrowedFd<'_>, seen: Option<Stat>, number: u8) -> Result<Manner, CannotStart> {
    let refused = |what| Err(CannotStart::Descriptor { number, what });
    let stat = seen.map_or_else(|| stat(fd), Ok)?;
    let flags = rustix::fs::fcntl_getfl(fd).map_err(before("look at a standard descriptor"))?;
    if flags.contains(OFlags::PATH) {
        return refused("a bare path");
    }
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo => Ok(Manner::Pipe),
        FileType::Socket => Ok(Manner::Socket),
        FileType::RegularFile => Ok(Manner::File),
        FileType::CharacterDevice if stat.st_rdev == rustix::fs::makedev(1, 3) => Ok(Manner::Null),
        FileType::CharacterDevice if rustix::termios::isatty(fd) => Ok(Manner::Terminal),
        FileType::CharacterDevice | FileType::BlockDevice => refused("a device"),
        FileType::Directory => refused("a folder"),
        FileType::Symlink | FileType::Unknown => refused("nothing known"),
    }
}

fn null(flags: OFlags) -> Result<OwnedFd, CannotStart> {
    rustix::fs::open(c"/dev/null", flags | OFlags::CLOEXEC, Mode::empty())
        .and_then(lift)
        .map_err(before("open /dev/null"))
}

fn copied(fd: BorrowedFd<'_>) -> Result<OwnedFd, CannotStart> {
    copy(fd).map_err(before("copy a standard descriptor"))
}

fn pipe(reader: Option<u32>) -> Result<(OwnedFd, OwnedFd), CannotStart> {
    let failed = before("make a pipe");
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(&failed)?;
    if let Some(reader) = reader {
        let (uid, gid) = (Uid::from_raw(reader), Gid::from_raw(reader));
        rustix::fs::fchown(&read, Some(uid), Some(gid)).map_err(&failed)?;
    }
    Ok((beside_standard(read)?, beside_standard(write)?))
}

/// Moves a descriptor away from the numbers of the three streams, should whoever runs us have closed
/// those: what is printed there must not end up in it.
fn beside_standard(fd: OwnedFd) -> Result<OwnedFd, CannotStart> {
    if fd.as_raw_fd() > 2 { Ok(fd) } else { lift(fd).map_err(before("make a pipe")) }
}

// Of each pipe only the command's end lies above the numbers that a sandbox uses. The sandbox has no
// use for ours, and puts others in their place.

fn into_command(reader: Option<u32>) -> Result<(OwnedFd, Pipe), CannotStart> {
    let (kept, write) = pipe(reader)?;
    let read = copied(kept.as_fd())?;
    unblocked(write.as_fd())?;
    Ok((read, Pipe { write, read: kept }))
}

fn out_of_command(reader: Option<u32>) -> Result<(OwnedFd, OwnedFd), CannotStart> {
    let (read, write) = pipe(reader)?;
    unblocked(read.as_fd())?;
    Ok((read, lift(write).map_err(before("make a pipe"))?))
}

fn unblocked(fd: BorrowedFd<'_>) -> Result<(), CannotStart> {
    rustix::fs::fcntl_setfl(fd, OFlags::NONBLOCK).map_err(before("set up a pipe"))
}
