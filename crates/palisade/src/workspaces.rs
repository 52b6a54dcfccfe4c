//! Which agents work where: what each of them must not read of the others, running or not.
//!
//! A run for an agent leaves a file in the user's state folder that names the agent and its root.
//! Every later run for another agent hides that root. The file is written before the others are read,
//! so of two runs that begin together at least one sees the other, and both do in the end.
//!
//! What a file says counts if its name is made of it. One that does not is no reason to leave a place
//! open: nobody knows which it was, so that nothing is run for an agent until a person has looked.

mod unknown;

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FlockOperation, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

pub use unknown::Unknown;

/// The places where agents work, as one user's runs left them.
#[derive(Clone, Debug)]
pub struct Workspaces {
    folder: PathBuf,
    uid: u32,
}

/// One agent's place.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Workspace {
    /// Where it works.
    pub root: PathBuf,
    /// The agent.
    pub agent: String,
    file: PathBuf,
}

/// A place that is in use; others can tell as long as this value lives.
#[derive(Debug)]
pub struct InUse {
    held: File,
    path: PathBuf,
    entry: Entry,
    /// Agents that were running before this place was known: they can read it until they end.
    pub before: Vec<Workspace>,
}

/// What becomes of an entry when its run has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Entry {
    Stays,
    /// It is this run's own, and goes if nothing runs.
    Provisional,
    /// Nothing has run.
    Goes,
}

/// What the folder holds.
#[derive(Debug, Default)]
pub struct Found {
    /// The places that are understood, by their roots.
    pub places: Vec<Workspace>,
    /// Those whose folders are gone from the disk, which hide nothing.
    pub gone: Vec<Workspace>,
    /// The entries that are not understood.
    pub unknown: Vec<Unknown>,
}

/// Most places that a run hides, and the longest file about one.
const MOST: usize = 4096;
const LONGEST: u64 = 8 << 10;

/// How long somebody who looks may hold an entry.
const PATIENCE: Duration = Duration::from_secs(2);

impl Workspaces {
    /// Looks into a user's state folder, which need not exist.
    pub fn new(state: &Path, uid: u32) -> Self {
        Self { folder: state.join("workspaces"), uid }
    }

    /// Looks at every entry, however many there are, and tells those apart that cannot be understood.
    ///
    /// # Errors
    ///
    /// When the folder is not the user's alone, or cannot be read: what it says is not to be believed.
    pub fn look(&self) -> Result<Found, Unknown> {
        Ok(Found::in_entries(&self.entries()?))
    }

    /// Lists them all, by their roots. Those that are gone from the disk are left out.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::look`], and when an entry is not understood or there are too many to hide:
    /// part of the list would leave others open.
    pub fn list(&self) -> Result<Vec<Workspace>, Unknown> {
        let entries = self.entries()?;
        if entries.len() > MOST {
            return Err(Unknown::TooMany { count: entries.len(), folder: self.folder.clone() });
        }
        let found = Found::in_entries(&entries);
        match found.unknown.into_iter().next() {
            Some(unknown) => Err(unknown),
            None => Ok(found.places),
        }
    }

    /// Lists where other agents than this one work.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::list`].
    pub fn of_others(&self, agent: &str) -> Result<Vec<Workspace>, Unknown> {
        Ok(self.list()?.into_iter().filter(|it| it.agent != agent).collect())
    }

    /// Remembers that an agent works at `root`, which it does as long as the answer lives.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::list`], and when nothing could be written.
    pub fn enter(&self, agent: &str, root: &Path) -> Result<InUse, Unknown> {
        let unwritable = |error| Unknown::Unwritable { path: self.folder.clone(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(unwritable)?;
        let count = self.entries()?.len();
        let bytes = [agent.as_bytes(), root.as_os_str().as_bytes()].join(&0);
        let path = self.folder.join(name_of(&bytes));
        let mut known = path.symlink_metadata().is_ok();
        if !known && count >= MOST {
            return Err(Unknown::TooMany { count: count + 1, folder: self.folder.clone() });
        }
        let held = loop {
            if !known {
                self.write(&path, &bytes).map_err(unwritable)?;
            }
            match opened(&path) {
                Ok(held) => {
                    lock(&held, &path)?;
                    if is_still(&path, &held) {
                        break held;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Unknown::Unreadable { path, error }),
            }
            // Somebody forgot it just now.
            known = false;
        };
        let mut before = Vec::new();
        if !known {
            let others = self.of_others(agent)?.into_iter();
            before.extend(others.filter(|other| other.root != root && other.is_in_use()));
        }
        let entry = if known { Entry::Stays } else { Entry::Provisional };
        Ok(InUse { held, path, entry, before })
    }

    /// Forgets who works at `root`; answers how many agents that were.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::look`], and when an entry cannot be removed.
    pub fn forget(&self, root: &Path) -> Result<usize, Unknown> {
        let found = self.look()?;
        let there = found.places.into_iter().chain(found.gone).filter(|it| it.root == root);
        forgotten(there)
    }

    /// Forgets that one agent works at `root`; answers how many entries that were.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::forget`].
    pub fn forget_one(&self, agent: &str, root: &Path) -> Result<usize, Unknown> {
        let found = self.look()?;
        let known = found.places.into_iter().chain(found.gone);
        forgotten(known.filter(|it| it.root == root && it.agent == agent))
    }

    /// Forgets every place whose folder is gone from the disk; answers how many these were.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::forget`].
    pub fn forget_gone(&self) -> Result<usize, Unknown> {
        forgotten(self.look()?.gone.into_iter())
    }

    /// Returns the path of every entry.
    fn entries(&self) -> Result<Vec<PathBuf>, Unknown> {
        let unreadable = |error| Unknown::Unreadable { path: self.folder.clone(), error };
        let found = match fs::symlink_metadata(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            found => found.map_err(unreadable)?,
        };
        if !found.is_dir() || found.uid() != self.uid || found.mode() & 0o022 != 0 {
            return Err(Unknown::NotOurs { folder: self.folder.clone() });
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension() == Some(OsStr::new("workspace")) {
                entries.push(path);
            }
        }
        Ok(entries)
    }

    /// Writes an entry under a name of its own first, which no other thread or process has: nobody
    /// reads half of it, and the machine may stop at any time.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(NO_LINK);
        let (draft, mut file) = loop {
            let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
            let draft = path.with_extension(format!("{}.{number}.draft", std::process::id()));
            match options.open(&draft) {
                Ok(file) => break (draft, file),
                // Left by a process of the same number, here or in another container.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let written = file.write_all(bytes).and_then(|()| file.sync_data());
        let written = written.and_then(|()| match fs::hard_link(&draft, path) {
            // Another has written the same, and may hold it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // There are file systems without such links.
            Err(_) => moved(&draft, path),
            Ok(()) => Ok(()),
        });
        fs::remove_file(&draft).ok();
        // Its name is in the folder, and must be there after the machine has stopped, too.
        written.and_then(|()| File::open(&self.folder)?.sync_all())
    }
}

impl InUse {
    /// Says that nothing has run there: what this run wrote down is forgotten, unless another run has
    /// come to rely on it.
    pub(crate) fn nothing_ran(&mut self) {
        if self.entry == Entry::Provisional {
            self.entry = Entry::Goes;
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if self.entry != Entry::Goes || !is_still(&self.path, &self.held) {
            return;
        }
        // Nobody else holds it, and who comes now looks again when they do.
        if rustix::fs::flock(&self.held, FlockOperation::NonBlockingLockExclusive).is_ok() {
            fs::remove_file(&self.path).ok();
        }
    }
}

impl Found {
    fn in_entries(entries: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for path in entries {
            match read(path) {
                Ok(None) => {}
                Ok(Some(place)) if place.is_gone() => found.gone.push(place),
                Ok(Some(place)) => found.places.push(place),
                Err(unknown) => found.unknown.push(unknown),
            }
        }
        found.places.sort_unstable();
        found.gone.sort_unstable();
        found
    }
}

impl Workspace {
    /// Whether the agent runs there now, or may.
    pub fn is_in_use(&self) -> bool {
        match opened(&self.file) {
            Ok(file) => rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Whether there is no such folder any more. One that cannot be looked at may be there.
    fn is_gone(&self) -> bool {
        match fs::metadata(&self.root) {
            Ok(found) => !found.is_dir(),
            Err(error) => {
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
        }
    }
}

/// Gives a draft its name, unless something has that already: another has written the same, and may
/// hold it.
fn moved(draft: &Path, path: &Path) -> io::Result<()> {
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => Ok(()),
        // There are file systems that do not know how.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::rename(draft, path),
        moved => Ok(moved?),
    }
}

const NO_LINK: i32 = {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
    flags.bits().cast_signed()
};

fn opened(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(NO_LINK).open(path)
}

/// Whether an entry is the file that was opened, and not another or none.
fn is_still(path: &Path, held: &File) -> bool {
    let (Ok(there), Ok(held)) = (fs::symlink_metadata(path), held.metadata()) else { return false };
    (there.dev(), there.ino()) == (held.dev(), held.ino())
}

/// Says that an entry is in use. Somebody may just be looking whether it is; who holds it longer must
/// not keep us for good.
fn lock(held: &File, path: &Path) -> Result<(), Unknown> {
    let until = Instant::now() + PATIENCE;
    loop {
        match rustix::fs::flock(held, FlockOperation::NonBlockingLockShared) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK) => {
                return Err(Unknown::Locked { file: path.to_owned() });
            }
            Err(error) => {
                return Err(Unknown::Unwritable { path: path.to_owned(), error: error.into() });
            }
        }
    }
}

fn forgotten(places: impl Iterator<Item = Workspace>) -> Result<usize, Unknown> {
    let mut count = 0;
    for Workspace { file, .. } in places {
        match fs::remove_file(&file) {
            Ok(()) => count += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Unknown::Unwritable { path: file, error }),
        }
    }
    Ok(count)
}

/// Returns the name of the entry that says this: one that was cut or changed has another.
fn name_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{name}.workspace")
}

/// Reads one entry; one that vanished meanwhile says nothing.
fn read(path: &Path) -> Result<Option<Workspace>, Unknown> {
    let unreadable = |error| Unknown::Unreadable { path: path.to_owned(), error };
    let file = match opened(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(unreadable)?,
    };
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(unreadable)?;
    let broken = |why| Unknown::Broken { file: path.to_owned(), why };
    if path.file_name() != Some(OsStr::new(&name_of(&bytes))) {
        return Err(broken("what it says does not fit its name"));
    }
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let agent = parts.next().and_then(|agent| std::str::from_utf8(agent).ok());
    let root = parts.next().map(|root| PathBuf::from(OsStr::from_bytes(root)));
    let (Some(agent), Some(root)) = (agent, root.filter(|root| root.is_absolute())) else {
        return Err(broken("no agent and folder stand in it"));
    };
    Ok(Some(Workspace { root, agent: agent.to_owned(), file: path.to_owned() }))
}

#[cfg(test)]
mod tests;
