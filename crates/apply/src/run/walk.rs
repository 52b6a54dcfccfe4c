//! Going through the folders of writable trees, level by level and not for ever.

use std::collections::VecDeque;
use std::ffi::{CStr, OsStr};
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::SKIPPED;
#[cfg(target_os = "linux")]
use rustix::fs::RawDir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

/// How many names are looked at.
const MOST: usize = 20_000;

/// How long a path can be, with the byte that ends it.
const LONGEST: usize = 4096;

/// Where git keeps what it was given, and nothing under a name of anybody's choosing.
const OBJECTS: &str = "objects";

/// Room for the names that the kernel tells at once.
#[cfg(target_os = "linux")]
const ROOM: usize = 32 << 10;

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
    /// Whether it is a folder that nobody looks into, for there is too much in it.
    pub(super) is_skipped: bool,
}

impl Seen<'_> {
    /// Returns the folder that it is in, if its path is longer than the kernel takes.
    pub(super) fn beyond(&self) -> Option<&Path> {
        let length = self.folder.as_os_str().len() + 1 + self.name.len();
        (length >= LONGEST).then_some(self.folder)
    }

    /// Returns where it is. Most names are of no interest, and need no path.
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
    let mut names = NamesIn::default();
    let mut folders: VecDeque<PathBuf> = trees.collect();
    while let Some(folder) = folders.pop_front() {
        let Some(open) = open(&folder) else { continue };
        let whole = names.each(&open, |name, told| {
            if matches!(name.to_bytes(), b"." | b"..") {
                return ControlFlow::Continue(());
            }
            let Some(less) = left.checked_sub(1) else { return ControlFlow::Break(()) };
            left = less;
            let mut kind = told;
            // Some filesystems do not tell with the name.
            if kind == FileType::Unknown {
                let stat = rustix::fs::statat(&open, name, AtFlags::SYMLINK_NOFOLLOW);
                let Ok(stat) = stat else { return ControlFlow::Continue(()) };
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            let is_folder = kind == FileType::Directory;
            let name = OsStr::from_bytes(name.to_bytes());
            let is_skipped = is_folder && is_skipped(name);
            let seen = Seen { folder: &folder, name, kind, is_skipped };
            let is_entered = visit(seen) == Walk::Into && is_folder && !is_skipped;
            if is_entered && !(name == OBJECTS && is_repository(&folder, &open)) {
                folders.push_back(seen.path());
            }
            ControlFlow::Continue(())
        });
        if whole.is_break() {
            return Extent::Partly;
        }
    }
    Extent::Whole
}

/// Returns whether nobody looks into folders of this name.
pub(super) fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|skipped| name == *skipped)
}

/// Returns whether a folder is a repository of git, by its name too: the rest is quickly made.
fn is_repository(path: &Path, folder: &OwnedFd) -> bool {
    let has = |name| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    path.iter().any(|part| part.as_bytes().ends_with(b".git")) && has(c"HEAD") && has(c"refs")
}

/// Tells names in folders: with room that is used again, where the kernel fills that itself.
#[derive(Default)]
struct NamesIn {
    #[cfg(target_os = "linux")]
    room: Vec<MaybeUninit<u8>>,
}

#[cfg(target_os = "linux")]
impl NamesIn {
    fn each(
        &mut self,
        folder: &OwnedFd,
        mut tell: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.room.resize(ROOM, MaybeUninit::uninit());
        let mut entries = RawDir::new(folder, &mut self.room);
        while let Some(entry) = entries.next() {
            // What cannot be told to the end was not seen to the end.
            let Ok(entry) = entry else { return ControlFlow::Break(()) };
            tell(entry.file_name(), entry.file_type())?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(not(target_os = "linux"))]
impl NamesIn {
    fn each(
        &mut self,
        folder: &OwnedFd,
        mut tell: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Ok(entries) = rustix::fs::Dir::read_from(folder) else {
            return ControlFlow::Break(());
        };
        for entry in entries {
            let Ok(entry) = entry else { return ControlFlow::Break(()) };
            tell(entry.file_name(), entry.file_type())?;
        }
        ControlFlow::Continue(())
    }
}

/// Opens a folder to list it. A link at its end is not followed.
pub(super) fn listed(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn every_level_is_seen_but_for_what_nobody_wrote() {
        let deep = "a/b/c/d/e/f/g/h/i/j/k/l";
        let project = Project::new()
            .file(format!("{deep}/file"), "x")
            .file("node_modules/m/file", "x")
            .file("src/objects/file", "x")
            .file("src/HEAD", "x")
            .file("src/refs/x", "x")
            .file(".git/objects/file", "x")
            .file(".git/HEAD", "x")
            .file(".git/refs/x", "x")
            .symlink("link", "a");
        let (mut seen, mut skipped) = (Vec::new(), Vec::new());
        let visit = |one: Seen<'_>| {
            skipped.extend(one.is_skipped.then(|| one.path()));
            seen.push(one.path().strip_prefix(project.root()).unwrap().to_owned());
            Walk::Into
        };
        let trees = [project.root().to_owned()].into_iter();
        let extent = walk(trees, |folder| listed(folder).ok(), visit);
        assert_eq!(extent, Extent::Whole);
        assert!(seen.contains(&PathBuf::from(deep).join("file")), "{seen:?}");
        assert!(seen.iter().any(|path| path == "link"));
        assert!(!seen.iter().any(|path| path.starts_with("link/b")), "links are not followed");
        assert!(!seen.iter().any(|path| path.starts_with("node_modules/m")));
        assert_eq!(skipped, [project.path("node_modules")]);
        assert!(
            seen.contains(&"src/objects/file".into()),
            "not every folder of this name is git's"
        );
        assert!(!seen.contains(&".git/objects/file".into()));
    }
}
