//! The rules of Landlock where it is the only wall.
//!
//! Rights are given to trees and cannot be taken away in them. So where something in a tree is left
//! out, the folders down to it are gone through, and rights are given to what lies beside it. Folders
//! are opened one in another and never through links, so that nobody can move a rule elsewhere
//! meanwhile; what is made in such a folder later has no rights.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use palisade_plan::Alone;
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::enter::ON_FILES;
use super::error::{CannotStart, before};
use super::prepare::{READ, handled};
use crate::sys::descriptor::lift;
use crate::sys::landlock;

/// The right to list a folder.
const LIST: u64 = 1 << 3;

/// Read, write, truncate, and requests to devices.
const DEVICE: u64 = 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;

/// Making sockets and devices. Nobody needs them here: a socket with a path leads to others, which the
/// filter refuses, but one end of a pair could still be given a name.
const DOORS: u64 = 1 << 6 | 1 << 9 | 1 << 11;

/// The most rules: each is a descriptor for a moment, and a little memory of the kernel's for long.
const MOST: usize = 50_000;

/// Makes the rules. Nothing is restricted yet.
pub(super) fn ruleset(alone: &Alone) -> Result<OwnedFd, CannotStart> {
    let handled = handled(alone.version);
    let made = landlock::ruleset(&handled).map_err(before("make the rules of Landlock"))?;
    let mut rules = Rules { ruleset: &made, all: handled.files, given: 0 };
    rules.all(alone).map_err(before("make the rules of Landlock"))?;
    lift(made).map_err(before("make the rules of Landlock"))
}

struct Rules<'r> {
    ruleset: &'r OwnedFd,
    /// Every right that this version knows.
    all: u64,
    given: usize,
}

/// What is left out of a tree.
struct Except<'a> {
    paths: &'a [PathBuf],
    /// Those of them whose names are nobody's concern.
    secret: &'a [PathBuf],
}

impl Rules<'_> {
    fn all(&mut self, alone: &Alone) -> Result<(), Errno> {
        let Alone { hidden, shut, readable, write, fixed, devices, .. } = alone;
        let unread: Vec<PathBuf> = hidden.iter().chain(shut).cloned().collect();
        // What devices there are is no secret; what others have in temporary folders is.
        let secret: Vec<PathBuf> =
            unread.iter().filter(|path| **path != Path::new("/dev")).cloned().collect();
        self.give(Path::new("/"), READ, &Except { paths: &unread, secret: &secret })?;
        for path in readable {
            // What is hidden again in it stays so.
            let inner: Vec<PathBuf> =
                hidden.iter().filter(|it| *it != path && it.starts_with(path)).cloned().collect();
            self.give(path, READ, &Except { paths: &inner, secret: &inner })?;
        }
        let unchanged: Vec<PathBuf> = hidden.iter().chain(fixed).cloned().collect();
        for tree in write {
            let rights = self.all & !DOORS;
            self.give(tree, rights, &Except { paths: &unchanged, secret: hidden })?;
        }
        for device in devices {
            self.give(device, DEVICE, &Except { paths: &[], secret: &[] })?;
        }
        Ok(())
    }

    /// Gives rights to what lies at a path, but for what is left out. What is not there needs none.
    fn give(&mut self, path: &Path, rights: u64, except: &Except<'_>) -> Result<(), Errno> {
        match open(path) {
            Ok(place) => self.below(place.as_fd(), path, rights, except),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    fn below(
        &mut self,
        place: BorrowedFd<'_>,
        path: &Path,
        rights: u64,
        except: &Except<'_>,
    ) -> Result<(), Errno> {
        if except.paths.iter().any(|left| left == path) {
            return Ok(());
        }
        if !except.paths.iter().any(|left| left.starts_with(path)) {
            return self.rule(place, rights);
        }
        if rights & LIST != 0 && !self.has_secret_folder(path, except) {
            self.rule(place, LIST)?;
        }
        let names = match names(place) {
            // One that can be entered and not listed: down to what is left out, at least.
            Err(Errno::ACCESS) => next(path, except.paths),
            names => names?,
        };
        for name in names {
            let inner = path.join(&name);
            match step(place, &name) {
                Ok(place) => self.below(place.as_fd(), &inner, rights, except)?,
                // Gone since, a link, or not ours to enter.
                Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Returns whether listing what lies below would tell names in a folder that is hidden.
    fn has_secret_folder(&self, path: &Path, except: &Except<'_>) -> bool {
        let mut below = except.secret.iter().filter(|secret| secret.starts_with(path));
        // What cannot be looked at may be one.
        below.any(|secret| secret.metadata().map_or_else(is_barred, |found| found.is_dir()))
    }

    fn rule(&mut self, place: BorrowedFd<'_>, rights: u64) -> Result<(), Errno> {
        self.given += 1;
        if self.given > MOST {
            return Err(Errno::TOOBIG);
        }
        let kind = FileType::from_raw_mode(rustix::fs::fstat(place)?.st_mode);
        let rights = if kind == FileType::Directory { rights } else { rights & ON_FILES };
        let rights = rights & self.all;
        // A link gives nothing: what it leads to has rights of its own.
        if rights == 0 || kind == FileType::Symlink {
            return Ok(());
        }
        landlock::allow(self.ruleset.as_fd(), place, rights)
    }
}

fn is_barred(error: std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::PermissionDenied
}

/// Opens a path that has no links, and fails on one that has.
fn open(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut place = rustix::fs::open(c"/", flags, Mode::empty())?;
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => place = step(place.as_fd(), name)?,
            Component::CurDir | Component::ParentDir | Component::Prefix(_) => {
                return Err(Errno::INVAL);
            }
        }
    }
    Ok(place)
}

/// Opens a name in a folder; a link is opened itself.
fn step(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

fn names(folder: BorrowedFd<'_>) -> Result<Vec<OsString>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = rustix::fs::openat(folder, c".", flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::new(listed)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Returns the names in a folder that lead on to these paths.
fn next(folder: &Path, paths: &[PathBuf]) -> Vec<OsString> {
    let below = paths.iter().filter_map(|path| path.strip_prefix(folder).ok());
    let mut names: Vec<OsString> =
        below.filter_map(|path| Some(path.iter().next()?.to_owned())).collect();
    names.sort();
    names.dedup();
    names
}
