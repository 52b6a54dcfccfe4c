//! The folder that holds the agreements: opened once, checked, and used by its descriptor.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::doubt::exposed;
use super::{Doubt, Pin, Why};

/// The largest stored agreement, in bytes.
pub(super) const MAX_PIN: u64 = 64 << 10;

/// An open folder that belongs to `uid` and that nobody else can write to.
pub(super) struct Folder {
    folder: File,
    path: PathBuf,
    uid: u32,
}

impl Folder {
    /// Returns where the folder lies below the state folder.
    pub(super) fn path(state: &Path) -> PathBuf {
        state.join("trust")
    }

    /// Makes what is missing, for the user alone; what is there keeps its mode and is checked later.
    pub(super) fn make(state: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(state)?;
        match DirBuilder::new().mode(0o700).create(Self::path(state)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Opens the folder, or finds that there is none yet.
    pub(super) fn open(state: &Path, uid: u32) -> Result<Option<Self>, Doubt> {
        // The way to the state folder may hold links, which are the user's own; beyond it none may.
        let Some(above) = open_checked(CWD, state, OFlags::empty(), state, uid)? else {
            return Ok(None);
        };
        let path = Self::path(state);
        let name = Path::new("trust");
        let folder = open_checked(&above, name, OFlags::NOFOLLOW, &path, uid)?;
        Ok(folder.map(|folder| Self { folder, path, uid }))
    }

    /// Reads the agreement in the file `name`, if there is one.
    pub(super) fn read(&self, name: &str) -> Result<Option<Pin>, Doubt> {
        let doubt = |why| self.doubt(name, why);
        let unreadable = |error: io::Error| self.doubt(name, Why::Unreadable(error.kind()));
        // Non-blocking, so that a pipe in place of the file is refused and not waited for.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(doubt(refusal(errno))),
        };
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err(doubt(Why::NotPlain));
        }
        if let Some(why) = exposed(&found, self.uid) {
            return Err(doubt(why));
        }
        if found.nlink() > 1 {
            return Err(doubt(Why::Linked));
        }
        let mut bytes = Vec::new();
        file.take(MAX_PIN + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_PIN {
            return Err(doubt(Why::TooLarge));
        }
        Pin::parse(&bytes).map(Some).ok_or_else(|| doubt(Why::Malformed))
    }

    /// Returns the names of everything inside, in order.
    pub(super) fn names(&self) -> Result<Vec<String>, Doubt> {
        let unreadable = |errno: Errno| Doubt::new(&self.path, refusal(errno));
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            // Names of ours are plain; others are not looked at.
            names.extend(entry.file_name().to_str().ok().map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// Puts `bytes` in place of `name` as a whole, durably, or leaves everything as it was.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        // One writer at a time, so a draft that is lying about was left by one that died.
        rustix::fs::flock(&self.folder, FlockOperation::LockExclusive)?;
        let draft = format!("{name}.draft");
        self.remove(&draft)?;
        let written = self
            .write_draft(&draft, bytes)
            .and_then(|()| Ok(rustix::fs::renameat(&self.folder, &draft, &self.folder, name)?));
        if written.is_err() {
            // The first failure is the one to report; a draft that stays is removed next time.
            self.remove(&draft).ok();
        }
        written?;
        // Only now does the new name survive a power cut. Until then either agreement may.
        self.folder.sync_all()
    }

    /// Removes the file `name` and answers whether there was one.
    pub(super) fn remove(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) => self.folder.sync_all().map(|()| true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn doubt(&self, name: &str, why: Why) -> Doubt {
        Doubt::new(&self.path.join(name), why)
    }

    fn write_draft(&self, draft: &str, bytes: &[u8]) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let owner_only = Mode::RUSR | Mode::WUSR;
        let mut file = File::from(rustix::fs::openat(&self.folder, draft, flags, owner_only)?);
        file.write_all(bytes)?;
        // The content must be on disk before the name is.
        file.sync_all()
    }
}

/// Answers whether the state folder lies inside the project, which could then trust itself.
pub(super) fn lies_inside(state: &Path, root: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.into());
    real(state).starts_with(real(root))
}

fn open_checked(
    at: impl AsFd,
    name: &Path,
    extra: OFlags,
    path: &Path,
    uid: u32,
) -> Result<Option<File>, Doubt> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | extra;
    let folder = match rustix::fs::openat(at, name, flags, Mode::empty()) {
        Ok(folder) => File::from(folder),
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(Doubt::new(path, refusal(errno))),
    };
    let unreadable = |error: io::Error| Doubt::new(path, Why::Unreadable(error.kind()));
    match exposed(&folder.metadata().map_err(unreadable)?, uid) {
        Some(why) => Err(Doubt::new(path, why)),
        None => Ok(Some(folder)),
    }
}

fn refusal(errno: Errno) -> Why {
    match errno {
        // A link where none may be, something else than a folder, a socket.
        Errno::LOOP | Errno::NOTDIR | Errno::NXIO => Why::NotPlain,
        other => Why::Unreadable(io::Error::from(other).kind()),
    }
}
