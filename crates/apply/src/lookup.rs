//! What lies on this machine's disks, for deciding.

use std::io::ErrorKind;
use std::os::unix::fs::DirEntryExt as _;
use std::path::Path;

use palisade_plan::{Entry, Listing, Lookup, Named, NamedKind};
use rustix::fs::FileType;
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
