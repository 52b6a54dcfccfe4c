//! The three standard descriptors: which may be handed over, and which are read for the command.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Gid, Uid};

use super::capped::{Cap, Capped};
use super::error::{CannotStart, before};
use super::handed::{Input, Output, Streams};
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
    /// A descriptor that is read for it, and whether it is at its end.
    Relay(Pipe, OwnedFd, Vec<u8>),
}

/// A pipe into the command. Our copy of its other end keeps us from being killed by it.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) write: OwnedFd,
    _read: OwnedFd,
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
/// With a `cap`, what goes into a descriptor is read by us, and passed on up to it.
pub(super) fn open(
    streams: Streams,
    reader: Option<u32>,
    cap: Option<Cap>,
) -> Result<Opened, CannotStart> {
    let mut terminals = [false; 3];
    let mut read = None;
    let (zero, feed) = match streams.stdin {
        Input::Null => (null(OFlags::RDONLY)?, Feed::None),
        Input::Bytes(bytes) => {
            let (read, pipe) = into_command(reader)?;
            (read, Feed::Bytes(pipe, bytes, 0))
        }
        Input::From(fd) => match manner(fd.as_fd(), 0)? {
            Manner::Pass => (copied(fd.as_fd())?, Feed::None),
            Manner::Relay => {
                let (read, pipe) = into_command(reader)?;
                (read, Feed::Relay(pipe, fd, Vec::new()))
            }
            Manner::Terminal => {
                (terminals, read) = ([true, false, false], Some(fd));
                (null(OFlags::RDONLY)?, Feed::None)
            }
        },
    };
    let [_, is_one, is_two] = &mut terminals;
    let mut shown = None;
    let (one, out) = output((streams.stdout, 1), reader, cap, (is_one, &mut shown))?;
    let (two, err) = output((streams.stderr, 2), reader, cap, (is_two, &mut shown))?;
    let any = terminals.contains(&true);
    let terminal = any.then(|| Terminal::new(terminals, read, shown, cap));
    Ok(Opened { standard: [zero, one, two], feed, drains: [out, err], terminal })
}

fn output(
    (stream, number): (Output, u8),
    reader: Option<u32>,
    cap: Option<Cap>,
    (is_terminal, shown): (&mut bool, &mut Option<OwnedFd>),
) -> Result<(OwnedFd, Drain), CannotStart> {
    Ok(match stream {
        Output::Null => (null(OFlags::WRONLY)?, Drain::None),
        Output::Capture => {
            let (read, write) = out_of_command(reader)?;
            (write, Drain::Capture(read))
        }
        Output::To(fd) => match manner(fd.as_fd(), number)? {
            Manner::Pass if cap.is_none() => (copied(fd.as_fd())?, Drain::None),
            Manner::Pass | Manner::Relay => {
                let (read, write) = out_of_command(reader)?;
                let drain = match cap {
                    Some(cap) => Drain::Capped(Box::new(Capped::new(read, fd, cap))),
                    None => Drain::Relay(read, fd),
                };
                (write, drain)
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

/// How a descriptor reaches the command.
enum Manner {
    Pass,
    Relay,
    Terminal,
}

/// Says how a descriptor may reach the command, by what it is.
fn manner(fd: BorrowedFd<'_>, number: u8) -> Result<Manner, CannotStart> {
    let refused = |what| Err(CannotStart::Descriptor { number, what });
    let stat = rustix::fs::fstat(fd).map_err(before("look at a standard descriptor"))?;
    let flags = rustix::fs::fcntl_getfl(fd).map_err(before("look at a standard descriptor"))?;
    if flags.contains(OFlags::PATH) {
        return refused("a bare path");
    }
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo | FileType::Socket => Ok(Manner::Pass),
        FileType::RegularFile => Ok(Manner::Relay),
        FileType::CharacterDevice if stat.st_rdev == rustix::fs::makedev(1, 3) => Ok(Manner::Pass),
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
    Ok((lift(read).map_err(&failed)?, lift(write).map_err(&failed)?))
}

fn into_command(reader: Option<u32>) -> Result<(OwnedFd, Pipe), CannotStart> {
    let (read, write) = pipe(reader)?;
    let _read = copied(read.as_fd())?;
    unblocked(write.as_fd())?;
    Ok((read, Pipe { write, _read }))
}

fn out_of_command(reader: Option<u32>) -> Result<(OwnedFd, OwnedFd), CannotStart> {
    let (read, write) = pipe(reader)?;
    unblocked(read.as_fd())?;
    Ok((read, write))
}

fn unblocked(fd: BorrowedFd<'_>) -> Result<(), CannotStart> {
    rustix::fs::fcntl_setfl(fd, OFlags::NONBLOCK).map_err(before("set up a pipe"))
}
