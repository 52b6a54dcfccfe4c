//! Guarding what has come in the place of something that was protected or hidden.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use palisade_plan::Note;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::{Against, Guarded, Inside, Watch};
use crate::sys::mount::{self, NO_DEVICES, NO_SUID, READ_ONLY};
use crate::sys::process::{LeaveOnDrop, Side, await_end, clone_into, leave};
use crate::sys::signal;

/// The most of a file that is remembered, to be put back.
const LONGEST: u64 = 1 << 20;

/// How often a mount is tried that the sandbox is not ready for.
const TRIES: u32 = 200;

/// Guards what lies at a path now.
pub(super) fn again(name: &Guarded, watch: &Watch) -> Option<Note> {
    let inside = &watch.inside;
    let told = |code, what: &str| {
        Some(Note { code, message: format!("`{}` {what}", name.path().display()) })
    };
    let Ok(is) = name.path().symlink_metadata() else {
        return told(
            match name.against {
                Against::Change => "protected-removed",
                Against::Sight => "hidden-removed",
            },
            "was removed while the command ran",
        );
    };
    // What is hidden may be large and is nobody's to look at; what is in a folder is its own.
    let file = is.is_file() && name.against == Against::Change && !is_record(name, watch);
    let opened = file.then(|| open(name.path()).and_then(|open| Ok((content(&open)?, open))).ok());
    let opened = opened.flatten();
    let mut errno = Errno::AGAIN;
    for _ in 0..TRIES {
        match mount_again(name, inside) {
            Ok(()) => {
                return match (name.against, opened) {
                    (Against::Sight, _) => told(
                        "hidden-replaced",
                        "was replaced while the command ran, and is hidden again; until then it \
                         could be read",
                    ),
                    (Against::Change, Some((before, open))) if !is_still(&open, &before) => {
                        let put = put_back(&open, &before);
                        let put = put.map_or_else(
                            |e| format!("cannot be put back: {e}"),
                            |()| "was put back".into(),
                        );
                        let what = format!("was changed as it was replaced, and {put}");
                        told("protected-changed", &what)
                    }
                    (Against::Change, _) => told(
                        "protected-replaced",
                        "was replaced while the command ran, and is protected again; what the \
                         command wrote into it before that stays",
                    ),
                };
            }
            Err(failed) => errno = failed,
        }
        thread::sleep(Duration::from_millis(1));
    }
    let (code, what) = match name.against {
        Against::Change => ("protected-lost", "protected"),
        Against::Sight => ("hidden-lost", "hidden"),
    };
    told(code, &format!("was replaced, and could not be {what} again: {errno}"))
}

/// Whether it is the record, which other processes append to all the time: what they wrote would be taken
/// out of it again. It has a head beside it, both are protected, and it tells by itself of what others
/// put into it.
fn is_record(name: &Guarded, watch: &Watch) -> bool {
    const HEAD: &[u8] = b".head";
    let path = name.path.as_bytes();
    watch.names.iter().filter(|other| other.against == Against::Change).any(|other| {
        let other = other.path.as_bytes();
        other.strip_suffix(HEAD) == Some(path) || path.strip_suffix(HEAD) == Some(other)
    })
}

/// Returns whether a file has this content: the same file, whatever the host has put in its place since.
fn is_still(file: &File, before: &[u8]) -> bool {
    content(file).is_ok_and(|after| after == before)
}

/// Mounts over it, by a process that enters the sandbox for this alone.
pub(super) fn mount_again(name: &Guarded, inside: &Inside) -> Result<(), Errno> {
    let made = {
        let _blocked = signal::block_all();
        match clone_into(0)? {
            Side::Child => {
                let _guard = LeaveOnDrop;
                let done = enter(name, inside);
                leave(done.err().map_or(0, Errno::raw_os_error));
            }
            Side::Parent(made) => made,
        }
    };
    match await_end(made.pid)?.status {
        0 => Ok(()),
        // Somebody ended it.
        status if status & 0xff != 0 => Err(Errno::INTR),
        status => Err(Errno::from_raw_os_error((status >> 8) & 0xff)),
    }
}

/// In the other process: it allocates nothing.
fn enter(name: &Guarded, inside: &Inside) -> Result<(), Errno> {
    if let Some(users) = &inside.users {
        move_into_link_name_space(users.as_fd(), Some(LinkNameSpaceType::User))?;
    }
    move_into_link_name_space(inside.mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
    match name.against {
        Against::Change => mount::rebind(&name.path, READ_ONLY | NO_SUID | NO_DEVICES),
        Against::Sight => mount::cover(&name.path),
    }
}

/// Opens a file once: what is read and written later is this one.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = |how| rustix::fs::open(path, flags | how, Mode::empty());
    Ok(File::from(open(OFlags::RDWR).or_else(|_| open(OFlags::RDONLY))?))
}

fn content(mut file: &File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(LONGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes into the file that is there, whose mount stays.
fn put_back(mut file: &File, bytes: &[u8]) -> std::io::Result<()> {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > LONGEST {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(length)
}
