//! File operations that cannot leave a folder.

mod failed;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

pub use self::failed::{Failed, Why};
use self::failed::{Place, wrong};
use crate::sys::beneath::{self, Access, Links};
use crate::sys::entry::kind_of;

/// A folder, held open, for file operations that stay beneath it.
///
/// Paths are relative to it. The kernel resolves them and refuses to leave the folder at any step,
/// so there is no moment between looking and using in which somebody could plant a link. Links
/// that stay beneath work as long as they are relative; an absolute one is refused even if it
/// leads back. Nothing waits: pipes, sockets and devices are refused.
///
/// # Examples
///
/// ```no_run
/// use palisade_apply::{Jail, Why};
///
/// let jail = Jail::open_root("project".as_ref())?;
/// let text = jail.read("src/main.py".as_ref(), 1 << 20)?;
/// let failed = jail.read("../secret".as_ref(), 1 << 20).unwrap_err();
/// assert_eq!(failed.why(), Why::Outside);
/// # Ok::<(), palisade_apply::Failed>(())
/// ```
#[derive(Debug)]
pub struct Jail {
    root: OwnedFd,
    links: Links,
}

/// What something is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device, or what the file system does not tell.
    Other,
}

/// What is known of a file without opening it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Metadata {
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// How many names it has.
    pub names: Names,
}

/// How many names a file has. Of a folder it says nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Names {
    /// This one.
    One,
    /// Others too, perhaps outside.
    Several,
}

/// A name in a folder.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Listed {
    /// The name.
    pub name: OsString,
    /// What has it.
    pub kind: Kind,
}

impl Jail {
    /// Opens the folder at `path`, which is trusted and may be reached through links.
    ///
    /// # Errors
    ///
    /// When there is no folder, or it may not be searched.
    pub fn open_root(path: &Path) -> Result<Self, Failed> {
        let root = beneath::open_folder(path).place("open", path)?;
        Ok(Self { root, links: Links::Followed })
    }

    /// Refuses every symbolic link on the way, those that stay beneath too: what is opened is then at
    /// the very path that was judged, whoever moves links about meanwhile.
    #[must_use]
    pub fn without_links(self) -> Self {
        Self { links: Links::Refused, ..self }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// When it lies outside, is no file, or cannot be opened.
    pub fn open(&self, path: &Path) -> Result<File, Failed> {
        self.open_file(path, Access::Read, "open").map(|(file, _)| file.into())
    }

    /// Returns the content of a file of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and when the file is longer.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Failed> {
        let mut content = Vec::new();
        // One byte more tells a file that is just as long from one that is longer.
        let mut file = self.open(path)?.take(limit.saturating_add(1));
        file.read_to_end(&mut content).place("read", path)?;
        if u64::try_from(content.len()).is_ok_and(|len| len <= limit) {
            Ok(content)
        } else {
            Err(wrong(Errno::FBIG, Why::TooLarge, "read", path))
        }
    }

    /// Replaces the content of a file that exists.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and when the file has more names than one: the others may lie
    /// outside.
    pub fn write(&self, path: &Path, content: &[u8]) -> Result<(), Failed> {
        let (file, stat) = self.open_file(path, Access::Write, "write")?;
        if stat.st_nlink > 1 {
            return Err(wrong(Errno::MLINK, Why::SeveralNames, "write", path));
        }
        beneath::empty(file.as_fd()).place("write", path)?;
        File::from(file).write_all(content).place("write", path)
    }

    /// Makes a file. Its name must be free; not even a link may have it.
    ///
    /// # Errors
    ///
    /// When the name is taken, or the folder lies outside or cannot be written.
    pub fn create(&self, path: &Path, content: &[u8]) -> Result<(), Failed> {
        let file = beneath::open(self.root.as_fd(), path, Access::Create, self.links)
            .place("create", path)?;
        File::from(file).write_all(content).place("create", path)
    }

    /// Makes a folder. Its name must be free.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_folder(&self, path: &Path) -> Result<(), Failed> {
        let (folder, name) = self.parent(path, "create")?;
        beneath::make_folder(folder.as_fd(), name).place("create", path)
    }

    /// Moves `from` to `to`, replacing what has that name. A link is moved itself.
    ///
    /// # Errors
    ///
    /// When either lies outside, and as rename(2).
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), Failed> {
        let (from_folder, from_name) = self.parent(from, "rename")?;
        let (to_folder, to_name) = self.parent(to, "rename")?;
        beneath::rename((from_folder.as_fd(), from_name), (to_folder.as_fd(), to_name))
            .place("rename", from)
    }

    /// Removes a file, a link (and not where it leads), or an empty folder.
    ///
    /// # Errors
    ///
    /// When it lies outside, and as unlink(2) and rmdir(2).
    pub fn remove(&self, path: &Path) -> Result<(), Failed> {
        let (folder, name) = self.parent(path, "remove")?;
        let folder = folder.as_fd();
        let stat = beneath::stat_name(folder, name).place("remove", path)?;
        match kind(kind_of(&stat)) {
            Kind::Folder => beneath::remove_folder(folder, name),
            Kind::File | Kind::Link | Kind::Other => beneath::remove(folder, name),
        }
        .place("remove", path)
    }

    /// Returns the names in a folder, sorted; `most` of them at most.
    ///
    /// # Errors
    ///
    /// When it lies outside, is no folder, or holds more names.
    pub fn list(&self, path: &Path, most: usize) -> Result<Vec<Listed>, Failed> {
        let folder =
            beneath::open(self.root.as_fd(), path, Access::List, self.links).place("list", path)?;
        let mut names = Vec::new();
        for entry in beneath::names(folder).place("list", path)? {
            let entry = entry.place("list", path)?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            if names.len() == most {
                return Err(wrong(Errno::FBIG, Why::TooLarge, "list", path));
            }
            names.push(Listed { name, kind: kind(entry.file_type()) });
        }
        names.sort();
        Ok(names)
    }

    /// Returns what is known of a file without opening it. Links are followed.
    ///
    /// # Errors
    ///
    /// When it lies outside, or does not exist.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, Failed> {
        let stat = self.look(path, "look at")?;
        Ok(Metadata {
            kind: kind(kind_of(&stat)),
            len: u64::try_from(stat.st_size).unwrap_or_default(),
            names: if stat.st_nlink > 1 { Names::Several } else { Names::One },
        })
    }

    fn look(&self, path: &Path, doing: &'static str) -> Result<Stat, Failed> {
        let place =
            beneath::open(self.root.as_fd(), path, Access::Look, self.links).place(doing, path)?;
        beneath::stat(place.as_fd()).place(doing, path)
    }

    /// Opens something that is a file before it is opened, so that no device is touched, and
    /// after, so that it is the one that counts.
    fn open_file(
        &self,
        path: &Path,
        access: Access,
        doing: &'static str,
    ) -> Result<(OwnedFd, Stat), Failed> {
        let is_file = |stat: &Stat| kind_of(stat) == FileType::RegularFile;
        if is_file(&self.look(path, doing)?) {
            let file =
                beneath::open(self.root.as_fd(), path, access, self.links).place(doing, path)?;
            let stat = beneath::stat(file.as_fd()).place(doing, path)?;
            if is_file(&stat) {
                return Ok((file, stat));
            }
        }
        Err(wrong(Errno::INVAL, Why::NoFile, doing, path))
    }

    /// Opens the folder that holds `path`, and returns the name it has there.
    fn parent<'p>(
        &self,
        path: &'p Path,
        doing: &'static str,
    ) -> Result<(OwnedFd, &'p OsStr), Failed> {
        let Some(Component::Normal(name)) = path.components().next_back() else {
            return Err(wrong(Errno::INVAL, Why::NoName, doing, path));
        };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            Some(_) | None => Path::new("."),
        };
        let folder = beneath::open(self.root.as_fd(), folder, Access::Look, self.links)
            .place(doing, path)?;
        Ok((folder, name))
    }
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Kind::Other,
    }
}
