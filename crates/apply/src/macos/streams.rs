//! The three standard descriptors: which may be handed over, and which are read for the command.

use std::fs::File;
use std::io::{PipeWriter, Write as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::thread;

use palisade_plan::Bounds;
use rustix::fs::FileType;

use super::error::{CannotStart, before};
use super::handed::{Input, Output};
use super::pump::{Pump, To};

/// Whether a descriptor is handed to a command or read and written for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Manner {
    HandedOver,
    Relayed,
}

/// Says what becomes of a descriptor, by what it is.
fn manner(number: u8, fd: &OwnedFd) -> Result<Manner, CannotStart> {
    let stat = rustix::fs::fstat(fd).map_err(before("look at a standard descriptor"))?;
    let refused = |what| Err(CannotStart::Descriptor { number, what });
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo | FileType::Socket => Ok(Manner::HandedOver),
        FileType::CharacterDevice if rustix::termios::isatty(fd) => Ok(Manner::HandedOver),
        FileType::RegularFile => Ok(Manner::Relayed),
        // /dev/null, which is read and written like any other.
        FileType::CharacterDevice => Ok(Manner::Relayed),
        FileType::Directory => refused("a folder"),
        FileType::BlockDevice => refused("a device"),
        FileType::Symlink | FileType::Unknown => refused("nothing that can be read"),
    }
}

/// Opens what the command reads.
pub(super) fn input(input: Input) -> Result<Stdio, CannotStart> {
    match input {
        Input::Null => Ok(Stdio::null()),
        Input::Bytes(bytes) => {
            let (stdio, mut writer) = fed()?;
            thread::spawn(move || writer.write_all(&bytes).ok());
            Ok(stdio)
        }
        Input::From(fd) => match manner(0, &fd)? {
            Manner::HandedOver => Ok(fd.into()),
            Manner::Relayed => {
                let (stdio, mut writer) = fed()?;
                let mut file = File::from(fd);
                thread::spawn(move || std::io::copy(&mut file, &mut writer).ok());
                Ok(stdio)
            }
        },
    }
}

/// Opens where the command writes, and what takes that from it.
pub(super) fn output(
    number: u8,
    output: Output,
    bounds: Bounds,
) -> Result<(Stdio, Option<Pump>), CannotStart> {
    let to = match output {
        Output::Null => return Ok((Stdio::null(), None)),
        Output::Capture => To::Memory,
        Output::Pipe(pipe) => return self::output(number, Output::To(pipe.into()), bounds),
        Output::To(fd) => {
            // What is bounded must pass through our hands.
            let bounded = bounds.streamed.is_some() || bounds.idle.is_some();
            if manner(number, &fd)? == Manner::HandedOver && !bounded {
                return Ok((fd.into(), None));
            }
            To::Descriptor(File::from(fd))
        }
    };
    let (reader, writer) = std::io::pipe().map_err(pipe)?;
    Ok((writer.into(), Some(Pump::start(reader, to, bounds))))
}

fn fed() -> Result<(Stdio, PipeWriter), CannotStart> {
    let (reader, writer) = std::io::pipe().map_err(pipe)?;
    Ok((reader.into(), writer))
}

fn pipe(errno: std::io::Error) -> CannotStart {
    CannotStart::Before { doing: "make a pipe", errno }
}
