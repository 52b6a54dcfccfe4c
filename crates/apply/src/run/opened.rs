//! Opening folders by paths that are free of links, also those that a command has shut.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::path::Arg as _;

use super::lent::{Lent, can_be_entered};
use crate::sys::descriptor::lift;
use crate::sys::straight;

/// Lets names in a folder of ours be removed, which the command may have forbidden by its mode.
/// Returns that mode and the one it has now.
pub(super) fn open_up(folder: BorrowedFd<'_>) -> Option<(u32, u32)> {
    let stat = rustix::fs::fstat(folder).ok()?;
    let had = stat.st_mode & 0o7777;
    let has = had | 0o300;
    let is_ours = stat.st_uid == rustix::process::geteuid().as_raw();
    if has == had || !is_ours {
        return None;
    }
    rustix::fs::fchmod(folder, Mode::from_raw_mode(has)).ok().map(|()| (had, has))
}

/// Undoes that, unless somebody has changed the mode meanwhile.
pub(super) fn shut_again(folder: BorrowedFd<'_>, opened: Option<(u32, u32)>) {
    let Some((had, has)) = opened else { return };
    if rustix::fs::fstat(folder).is_ok_and(|stat| stat.st_mode & 0o777 == has & 0o777) {
        rustix::fs::fchmod(folder, Mode::from_raw_mode(had)).ok();
    }
}

/// Returns whether this process could make something in the folder of `path`, or can let itself.
/// Where it cannot, the command cannot either.
pub(super) fn can_be_made(path: &Path) -> bool {
    let above = path.parent().unwrap_or(path);
    let rights = Access::WRITE_OK | Access::EXEC_OK;
    match rustix::fs::accessat(CWD, above, rights, AtFlags::EACCESS) {
        Err(Errno::ACCESS) => open_shut(above).is_ok_and(|folder| {
            let is_open = open_up(folder.as_fd());
            shut_again(folder.as_fd(), is_open);
            is_open.is_some()
        }),
        may => may.is_ok(),
    }
}

/// Opens a folder as [`open_folder`] does, also where a command has shut it or what is above it.
pub(super) fn open_shut(path: &Path) -> Result<OwnedFd> {
    match open_folder(path) {
        Err(Errno::ACCESS) => {
            let mut lent = Lent::anywhere();
            let above: Vec<&Path> = path.ancestors().skip(1).collect();
            for folder in above.into_iter().rev().filter(|folder| !can_be_entered(folder)) {
                lent.look_into(folder)?;
            }
            // It may be the first that is shut, or one that can be entered.
            lent.look_into(path).ok();
            open_folder(path)
        }
        open => open,
    }
}

/// Opens a folder whose path is free of links; one that no longer is is an error.
pub(super) fn open_folder(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    path.into_with_c_str(|path| straight::open(path, flags)).and_then(lift)
}
