//! Going through the folders of writable trees, level by level and not for ever.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

/// How many names are looked at.
const MOST: usize = 20_000;

/// Folders that hold nothing a person wrote, and very much of it.
const SKIPPED: [&str; 5] = ["node_modules", "objects", "target", ".venv", "__pycache__"];

/// Where to go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Walk {
    /// Into the folder, later.
    Into,
    /// With the next name.
    Past,
}

/// How far it went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Extent {
    /// Everywhere.
    Whole,
    /// Until there were too many names.
    Partly,
}

/// A name that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'w> {
    folder: &'w Path,
    pub(super) name: &'w OsStr,
    pub(super) kind: FileType,
}

impl Seen<'_> {
    /// Returns where it is.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(self.name)
    }
}

/// Shows every name in the trees to `visit`. No link is followed. `open` opens a folder for reading;
/// one that it does not open is passed by.
pub(super) fn walk(
    trees: impl Iterator<Item = PathBuf>,
    mut open: impl FnMut(&Path) -> Option<OwnedFd>,
    mut visit: impl FnMut(Seen<'_>) -> Walk,
) -> Extent {
    let mut left = MOST;
    let mut folders: VecDeque<PathBuf> = trees.collect();
    while let Some(folder) = folders.pop_front() {
        let Some(open) = open(&folder) else { continue };
        let Ok(entries) = Dir::read_from(&open) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let Some(less) = left.checked_sub(1) else { return Extent::Partly };
            left = less;
            let mut kind = entry.file_type();
            // Some filesystems do not tell with the name.
            if kind == FileType::Unknown {
                let stat = rustix::fs::statat(&open, name, AtFlags::SYMLINK_NOFOLLOW);
                let Ok(stat) = stat else { continue };
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            let seen = Seen { folder: &folder, name: OsStr::from_bytes(name.to_bytes()), kind };
            let is_folder = kind == FileType::Directory;
            if visit(seen) == Walk::Into && is_folder && !SKIPPED.iter().any(|no| seen.name == *no)
            {
                folders.push_back(seen.path());
            }
        }
    }
    Extent::Whole
}

/// Opens a folder to list it. A link at its end is not followed.
pub(super) fn listed(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
}
