//! Rights that a folder of ours is lent for the time of a look.
//!
//! A command can take its user's own rights to a folder away, and what it left there must not be
//! hidden by that: neither at its end, nor when the next one starts. Others of the user's programs
//! run meanwhile: what gets rights is a folder that is held by a descriptor, and never the end of a
//! link.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result};
use rustix::path::Arg as _;

use super::walk::listed;
use crate::sys::straight;

/// To list and to enter.
const LOOK: u32 = 0o500;

/// To change what is in it, too.
const CHANGE: u32 = 0o700;

/// Folders that have more rights than they had. Dropping it gives them their old modes back.
#[derive(Debug)]
pub(super) struct Lent {
    to: Reach,
    given: Vec<Given>,
}

/// Which folders may be lent rights.
#[derive(Debug)]
enum Reach {
    /// Those on these filesystems: nothing of the sandbox runs any more.
    Devices(Vec<u64>),
    /// Those in these trees, which commands of other runs may change as well. Elsewhere it is the
    /// user who has shut a folder, and for a moment others could look.
    Trees(Vec<PathBuf>),
    Anywhere,
}

/// A folder, and the mode that it had. By its path: there may be more of them than descriptors.
#[derive(Debug)]
struct Given {
    path: PathBuf,
    is: (u64, u64),
    had: u32,
    has: u32,
}

impl Lent {
    /// Nothing yet, to folders in these trees.
    pub(super) fn new<'t>(trees: impl IntoIterator<Item = &'t PathBuf>) -> Self {
        let stats = trees.into_iter().map(|tree| {
            rustix::fs::statat(CWD, tree, AtFlags::SYMLINK_NOFOLLOW).map(|stat| stat.st_dev)
        });
        Self { to: Reach::Devices(stats.flatten().collect()), given: Vec::new() }
    }

    /// Nothing, to none.
    pub(super) fn nothing() -> Self {
        Self::within(&[])
    }

    /// Nothing yet, to folders of these trees.
    pub(super) fn within(trees: &[PathBuf]) -> Self {
        Self { to: Reach::Trees(trees.into()), given: Vec::new() }
    }

    /// Nothing yet, to any folder: where there are no mounts a command can change the mode of each.
    pub(super) fn anywhere() -> Self {
        Self { to: Reach::Anywhere, given: Vec::new() }
    }

    /// Lets names in a folder be looked at, if only its mode forbids that.
    pub(super) fn look_into(&mut self, path: &Path) -> Result<()> {
        self.lend(path, LOOK)
    }

    /// Opens a folder so that it can be listed and entered.
    pub(super) fn open(&mut self, path: &Path) -> Result<OwnedFd> {
        match listed(path) {
            Err(Errno::ACCESS) => {
                self.lend(path, LOOK)?;
                listed(path)
            }
            Ok(folder) => {
                // One that can be listed cannot always be entered.
                let is_shut = rustix::fs::fstat(&folder).is_ok_and(|stat| lacks(&stat, LOOK));
                if is_shut && !can_be_entered(path) {
                    self.lend(path, LOOK)?;
                }
                Ok(folder)
            }
            failed @ Err(_) => failed,
        }
    }

    /// Opens what is below a folder, which is entered level by level.
    pub(super) fn open_below(&mut self, folder: &Path, below: &Path) -> Result<OwnedFd> {
        let mut path = folder.to_owned();
        let mut open = self.open(&path)?;
        for name in below {
            path.push(name);
            open = self.open(&path)?;
        }
        Ok(open)
    }

    /// Lets names in a folder be changed, if only its mode forbids that.
    pub(super) fn open_to_change(&mut self, path: &Path) -> Result<()> {
        self.lend(path, CHANGE)
    }

    fn lend(&mut self, path: &Path, rights: u32) -> Result<()> {
        let folder = find(path)?;
        let stat = rustix::fs::fstat(&folder)?;
        if !lacks(&stat, rights) {
            // Not ours, or something else than its mode is in the way.
            return Err(Errno::ACCESS);
        }
        match &self.to {
            Reach::Devices(devices) if !devices.contains(&stat.st_dev) => return Err(Errno::XDEV),
            Reach::Trees(trees) if !trees.iter().any(|tree| lies_in(path, tree)) => {
                return Err(Errno::ACCESS);
            }
            Reach::Devices(_) | Reach::Trees(_) | Reach::Anywhere => {}
        }
        let had = stat.st_mode & 0o7777;
        let has = had | rights;
        // Without /proc nothing can be lent, which is not to say that the folder is gone.
        change(&folder, has).map_err(|_| Errno::PERM)?;
        self.given.push(Given { path: path.into(), is: (stat.st_dev, stat.st_ino), had, has });
        Ok(())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // The last first: they lie in the others, and one may have been lent rights twice.
        for Given { path, is, had, has } in self.given.drain(..).rev() {
            let Ok(folder) = find(&path) else { continue };
            let stat = rustix::fs::fstat(&folder);
            let unchanged = |stat: Stat| {
                (stat.st_dev, stat.st_ino) == is && stat.st_mode & 0o777 == has & 0o777
            };
            // What somebody has changed meanwhile is theirs.
            if stat.is_ok_and(unchanged) {
                change(&folder, had).ok();
            }
        }
    }
}

/// Returns whether a folder that cannot be listed can be entered all the same: then somebody who
/// knows a name in it, or makes one, gets there.
pub(super) fn can_be_entered(path: &Path) -> bool {
    rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// Returns whether a path, which is free of links, lies in a tree, which need not be.
fn lies_in(path: &Path, tree: &Path) -> bool {
    path.starts_with(tree) || tree.canonicalize().is_ok_and(|tree| path.starts_with(tree))
}

fn find(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    path.into_with_c_str(|path| straight::open(path, flags))
}

/// Returns whether it is ours and lacks some of these rights.
fn lacks(stat: &Stat, rights: u32) -> bool {
    stat.st_mode & rights != rights && stat.st_uid == rustix::process::geteuid().as_raw()
}

/// By the descriptor: what has the path by now may be something else.
fn change(folder: &OwnedFd, mode: u32) -> Result<()> {
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    rustix::fs::chmod(path, Mode::from_raw_mode(mode))
}
