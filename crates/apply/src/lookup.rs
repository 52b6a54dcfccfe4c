//! What lies on this machine's disks, for deciding.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirEntryExt as _;
use std::path::{Component, Path, PathBuf};

use palisade_plan::{Entry, Listing, Lookup, Named, NamedKind};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::sys::entry;

/// Most names that are listed of one folder.
const MOST_ENTRIES: usize = 10_000;

/// Folders of the machine's own programs.
const PROGRAMS: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin", "/usr/sbin"];

/// Looks at the disks of this machine with the rights of this process.
///
/// What it says was true when it looked. Decisions that must hold later rest on the walls, or on a
/// [`Jail`](crate::Jail).
#[derive(Clone, Copy, Debug)]
pub struct HostLookup;

/// What another says, each path asked once: for one question, which leads along the same folders
/// again and again.
pub struct Once<'l> {
    of: &'l dyn Lookup,
    known: RefCell<BTreeMap<String, Entry>>,
}

impl<'l> Once<'l> {
    /// Asks `lookup`, and nothing twice.
    pub fn of(lookup: &'l dyn Lookup) -> Self {
        Self { of: lookup, known: RefCell::default() }
    }
}

impl fmt::Debug for Once<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("known", &self.known).finish_non_exhaustive()
    }
}

impl Lookup for Once<'_> {
    fn look(&self, path: &str) -> Entry {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let entry = self.of.look(path);
        self.known.borrow_mut().insert(path.to_owned(), entry.clone());
        entry
    }

    fn list(&self, folder: &str) -> Listing {
        self.of.list(folder)
    }

    fn programs_at(&self, path: &str) -> Vec<String> {
        self.of.programs_at(path)
    }
}

/// What a folder is opened for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Opening {
    /// To be named, and looked at itself.
    Look,
    /// To read its names.
    List,
}

/// How something is opened only to be looked at.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY;

/// Opens a folder whose path has no links, and returns that as realpath(3) would. None where there are
/// some, and where it cannot be opened for any other reason.
pub fn straight_folder(path: &Path, to: Opening) -> Option<(PathBuf, OwnedFd)> {
    let access = match to {
        Opening::Look => LOOK,
        Opening::List => OFlags::RDONLY,
    };
    let real = normal(path)?;
    straight(path, access | OFlags::DIRECTORY).map(|open| (real, open))
}

/// Returns a path without its links, as realpath(3) does. Most have none, which the kernel says at
/// once.
///
/// # Errors
///
/// As realpath(3).
pub fn real(path: &Path) -> io::Result<PathBuf> {
    let known = normal(path).filter(|_| straight(path, LOOK).is_some());
    known.map_or_else(|| std::fs::canonicalize(path), Ok)
}

/// Returns an absolute path in one spelling; none of one that climbs.
fn normal(path: &Path) -> Option<PathBuf> {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    (path.is_absolute() && !climbs).then(|| path.components().collect())
}

#[cfg(target_os = "linux")]
fn straight(path: &Path, access: OFlags) -> Option<OwnedFd> {
    use rustix::path::Arg as _;
    path.into_with_c_str(|path| crate::sys::straight::open(path, access | OFlags::CLOEXEC)).ok()
}

#[cfg(not(target_os = "linux"))]
fn straight(_: &Path, _: OFlags) -> Option<OwnedFd> {
    None
}

impl Lookup for HostLookup {
    fn look(&self, path: &str) -> Entry {
        let path = Path::new(path);
        let stat = match entry::stat_of(path) {
            Ok(stat) => stat,
            // Below a file nothing can lie.
            Err(Errno::NOENT | Errno::NOTDIR) => return Entry::Absent,
            Err(_) => return Entry::Unknown,
        };
        match entry::kind_of(&stat) {
            FileType::Symlink => match entry::link_at(path).map(String::from_utf8) {
                Ok(Ok(target)) => Entry::Link(target),
                Ok(Err(_)) | Err(_) => Entry::Unknown,
            },
            FileType::Directory => Entry::Folder,
            FileType::RegularFile if stat.st_nlink > 1 => Entry::SharedFile,
            FileType::RegularFile => Entry::File,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Entry::Other,
        }
    }

    fn list(&self, folder: &str) -> Listing {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Listing::Nowhere;
            }
            Err(_) => return Listing::Untold,
        };
        let mut names = Vec::new();
        for entry in entries {
            let named = entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)));
            let Ok((name, kind)) = named else { return Listing::Untold };
            let kind = match kind {
                kind if kind.is_symlink() => NamedKind::Link,
                kind if kind.is_dir() => NamedKind::Folder,
                _ => NamedKind::Other,
            };
            match (name.into_string(), kind) {
                (Ok(name), kind) => names.push(Named { name, kind }),
                // A pattern matches it, and nobody could say where it leads.
                (Err(_), NamedKind::Link | NamedKind::Folder) => return Listing::Untold,
                (Err(_), NamedKind::Other) => {}
            }
            if names.len() > MOST_ENTRIES {
                return Listing::Untold;
            }
        }
        Listing::Names(names)
    }

    fn programs_at(&self, path: &str) -> Vec<String> {
        let Ok(stat) = entry::stat_of(Path::new(path)) else { return Vec::new() };
        let mut found = Vec::new();
        for folder in PROGRAMS {
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            // The number of a file stands in its folder: only those that have it are looked at.
            for named in entries.flatten().filter(|named| named.ino() == stat.st_ino) {
                let same = entry::stat_of(&named.path())
                    .is_ok_and(|other| (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino));
                found.extend(named.path().to_str().filter(|_| same).map(str::to_owned));
            }
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn a_real_path_is_the_one_that_realpath_tells() {
        let project = Project::new()
            .file("a/b/file", "x")
            .symlink("to-a", "a")
            .symlink("a/to-file", "b/file")
            .symlink("gone", "nowhere")
            .symlink("round", "round");
        let root = project.root().to_string_lossy().into_owned();
        for path in [
            "",
            "/",
            "a",
            "a/",
            "a/.",
            "./a",
            "/a//b",
            "a/b/file",
            "a/b/file/",
            "a/b/file/.",
            "to-a",
            "to-a/b",
            "to-a/",
            "a/to-file",
            "a/../to-a/b",
            "a/..",
            "gone",
            "round",
            "missing",
            "a/b/file/x",
            "a\0b",
        ] {
            let path = PathBuf::from(format!("{root}/{path}"));
            let expected = std::fs::canonicalize(&path);
            let found = real(&path);
            assert_eq!(found.as_ref().ok(), expected.as_ref().ok(), "{path:?}");
            let kinds = [found.map_err(|it| it.kind()), expected.map_err(|it| it.kind())];
            assert_eq!(kinds[0], kinds[1], "{path:?}");
            for to in [Opening::Look, Opening::List] {
                let Some((folder, open)) = straight_folder(&path, to) else { continue };
                assert_eq!(Some(&folder), kinds[1].as_ref().ok(), "{path:?}");
                assert!(std::fs::File::from(open).metadata().unwrap().is_dir(), "{path:?}");
            }
        }
        assert_eq!(real(Path::new("/")).ok(), Some("/".into()));
        assert!(real(Path::new("")).is_err());
        assert_eq!(real(Path::new(".")).ok(), std::fs::canonicalize(".").ok());
    }

    #[test]
    fn a_path_is_asked_once_in_one_question() {
        let project = Project::new().file("file", "x").symlink("link", "file");
        let path = |name: &str| project.path(name).to_string_lossy().into_owned();
        let once = Once::of(&HostLookup);
        let told = ["file", "link", "gone"].map(|name| once.look(&path(name)));
        assert_eq!(told, [Entry::File, Entry::Link("file".into()), Entry::Absent]);
        std::fs::remove_file(project.path("file")).unwrap();
        assert_eq!(once.look(&path("file")), Entry::File);
        assert_eq!(Once::of(&HostLookup).look(&path("file")), Entry::Absent);
    }
}
