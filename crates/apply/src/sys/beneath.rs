//! Opening, moving and removing what lies beneath a folder, and nothing else.
//!
//! The kernel resolves the path and refuses with `EXDEV` as soon as it would leave the folder:
//! openat2(2) with `RESOLVE_BENEATH` and `RESOLVE_NO_MAGICLINKS`. Where that call does not exist
//! the answer is `ENOSYS`; there is no weaker way.

use std::ffi::OsStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, Stat};
use rustix::io::{Errno, Result};

use super::entry::again;

/// How often a path is resolved anew when something on it was moved in the meantime.
const TRIES: u32 = 128;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// To be looked at, not opened: nothing happens even if it is a device.
    Look,
    /// To be read.
    Read,
    /// To be listed; it must be a folder.
    List,
    /// To be written, if it exists.
    Write,
    /// To be written; it must not exist yet.
    Create,
}

/// What becomes of symbolic links on the way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Links {
    /// They are followed as long as they stay beneath.
    Followed,
    /// They are refused with `ELOOP`.
    Refused,
}

/// To be looked at only, where a system has that.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY;

/// Opens the folder that everything else stays beneath.
///
/// # Errors
///
/// As open(2) with `O_DIRECTORY`.
pub fn open_folder(path: &Path) -> Result<OwnedFd> {
    let flags = LOOK | OFlags::DIRECTORY | OFlags::CLOEXEC;
    again(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))
}

/// Opens `path` beneath `folder`.
///
/// It never waits (`O_NONBLOCK`: a pipe without a reader is an error) and never makes a terminal
/// ours.
///
/// # Errors
///
/// `EXDEV` if the path leads out of the folder, `EAGAIN` if it was moved about at each of many
/// tries, `ENOSYS` where the kernel lacks the call; else as open(2).
pub fn open(folder: BorrowedFd<'_>, path: &Path, access: Access, links: Links) -> Result<OwnedFd> {
    let always = OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let (flags, mode) = match access {
        Access::Look => (LOOK | OFlags::CLOEXEC, Mode::empty()),
        Access::Read => (OFlags::RDONLY | always, Mode::empty()),
        Access::List => (OFlags::RDONLY | OFlags::DIRECTORY | always, Mode::empty()),
        Access::Write => (OFlags::WRONLY | always, Mode::empty()),
        Access::Create => {
            (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | always, Mode::from_raw_mode(0o666))
        }
    };
    for _ in 0..TRIES {
        match resolve(folder, path, flags, mode, links) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            outcome => return outcome,
        }
    }
    Err(Errno::AGAIN)
}

/// Returns what an open file is.
///
/// # Errors
///
/// As fstat(2).
pub fn stat(file: BorrowedFd<'_>) -> Result<Stat> {
    again(|| rustix::fs::fstat(file))
}

/// Returns what the name `name` in `folder` is, itself and not where it leads.
///
/// # Errors
///
/// As fstatat(2).
pub fn stat_name(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Stat> {
    again(|| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))
}

/// Makes a folder called `name` in `folder`.
///
/// # Errors
///
/// As mkdirat(2).
pub fn make_folder(folder: BorrowedFd<'_>, name: &OsStr) -> Result<()> {
    again(|| rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)))
}

/// Moves one name to another, replacing what has it.
///
/// # Errors
///
/// As renameat(2).
pub fn rename(from: (BorrowedFd<'_>, &OsStr), to: (BorrowedFd<'_>, &OsStr)) -> Result<()> {
    again(|| rustix::fs::renameat(from.0, from.1, to.0, to.1))
}

/// Removes a name that is not a folder's.
///
/// # Errors
///
/// As unlinkat(2).
pub fn remove(folder: BorrowedFd<'_>, name: &OsStr) -> Result<()> {
    again(|| rustix::fs::unlinkat(folder, name, AtFlags::empty()))
}

/// Removes an empty folder.
///
/// # Errors
///
/// As unlinkat(2) with `AT_REMOVEDIR`.
pub fn remove_folder(folder: BorrowedFd<'_>, name: &OsStr) -> Result<()> {
    again(|| rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR))
}

/// Starts to read the names in an open folder.
///
/// # Errors
///
/// As opening the folder once more.
pub fn names(folder: OwnedFd) -> Result<Dir> {
    Dir::new(folder)
}

/// Cuts an open file to nothing.
///
/// # Errors
///
/// As ftruncate(2).
pub fn empty(file: BorrowedFd<'_>) -> Result<()> {
    again(|| rustix::fs::ftruncate(file, 0))
}

#[cfg(target_os = "linux")]
fn resolve(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
    links: Links,
) -> Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let how = match links {
        Links::Followed => beneath,
        Links::Refused => beneath | ResolveFlags::NO_SYMLINKS,
    };
    rustix::fs::openat2(folder, path, flags, mode, how)
}

#[cfg(not(target_os = "linux"))]
fn resolve(_: BorrowedFd<'_>, _: &Path, _: OFlags, _: Mode, _: Links) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}
