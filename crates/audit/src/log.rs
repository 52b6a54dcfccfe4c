//! Where events go: a file with one record in each line, each with the hash of the one before it.
//!
//! Several processes may append. Who does holds a lock ([`beside`]), looks where the log ends, writes
//! its records at once, and then the head. Who is ended meanwhile leaves at most what it was writing,
//! or a part of it, behind the head. The next one takes records that the key sealed, and tells of the rest
//! ([`settle`]).

mod beside;
mod segment;
mod settle;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::event::{Event, Recovered, What};
use crate::hash::{Hash, Key};
use crate::head::{self, Found, Head};
use crate::seal;
use crate::stamp::Stamp;

pub(crate) use beside::{Beside, locked};
pub(crate) use segment::{Segment, segments};
use settle::{Settled, settle};

/// After how many records the chain is signed.
const CHECKPOINT: u64 = 1000;

/// The most records that one write has; so many may stand behind a head.
pub(crate) const BATCH: u64 = 16;

/// The most events in one write: what the log says of itself comes on top.
const EVENTS: usize = 12;

/// How long somebody else may hold the lock before an event is given up.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long the head's own lock is waited for by who holds the one that counts.
pub(crate) const COURTESY: Duration = Duration::from_millis(20);

/// How many other names are tried for a file whose name somebody else took.
const NAMES: usize = 8;

/// When a new file is begun.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Rotation {
    /// At this size.
    pub size: Option<u64>,
    /// At this age.
    pub age: Option<Duration>,
}

/// A log that events are appended to, one line each. Several processes may append to the same.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    head: File,
    /// What lies in the user's own state; none where there is no such state.
    beside: Option<Beside>,
    key: Option<Key>,
    rotation: Rotation,
    writing: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: File,
    /// Records that could not be appended, and could not be counted where others see it.
    lost: u64,
    /// The head that this process wrote last, and its text.
    head: Option<(String, Head)>,
    /// How long to wait for others; nobody waits twice in vain.
    patience: Duration,
    courtesy: Duration,
}

/// Why an event was not recorded. The run it is about goes on.
#[derive(Debug)]
pub struct CannotRecord {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub because: io::Error,
}

/// Whether a record has to be on the disk before anything goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Durable {
    /// It is with the kernel, which is enough if a process ends.
    No,
    /// It is on the disk, which is enough if the machine does.
    Yes,
}

impl Log {
    /// Opens a log for appending, and makes it where there is none. It is its owner's alone, and so is
    /// one that was there and was not. The folder above it is made where it is missing.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or is no plain file: whoever planted a link or a pipe there would
    /// get to choose what is written or how long that takes.
    pub fn open(path: &Path, key: Option<Key>, rotation: Rotation) -> Result<Self, CannotRecord> {
        let failed = |because| CannotRecord { path: path.into(), because };
        let beside = head::beside(path);
        // Before the log: one that has no head is taken for one that somebody took it from.
        let head = match plain(&beside, OFlags::empty()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder).map_err(failed)?;
                }
                plain(&beside, OFlags::empty())
            }
            opened => opened,
        };
        let head = head.map_err(|because| CannotRecord { path: beside, because })?;
        let file = appending(path).map_err(failed)?;
        let writing = Writing { file, lost: 0, head: None, patience: PATIENCE, courtesy: COURTESY };
        let writing = Mutex::new(writing);
        Ok(Self { path: path.into(), head, beside: None, key, rotation, writing })
    }

    /// Keeps the lock, and the number of lost events, in a folder of the user's own, which no command
    /// can open. Where that cannot be had, the head is locked, and each process counts for itself.
    #[must_use]
    pub fn beside(mut self, folder: Option<&Path>) -> Self {
        self.beside = folder.and_then(|folder| Beside::open(folder, &self.path).ok());
        self
    }

    /// Returns a name for a call that only who has the key can tell from the call; none without a key.
    pub fn name_of(&self, hash: &str) -> Option<Hash> {
        self.key.as_ref().map(|key| key.sign(&format!("palisade call 1\n{hash}")))
    }

    /// Appends events that belong together, with one write unless they are many.
    ///
    /// # Errors
    ///
    /// When they were not, or not all, written. The next append tells how many are missing.
    pub fn append(&self, events: &[Event<'_>], durable: Durable) -> Result<(), CannotRecord> {
        let lines: Vec<String> = events.iter().map(Event::line).collect();
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut written = Ok(());
        for lines in lines.chunks(EVENTS) {
            if let Err(because) = self.locked(&mut writing, lines, durable) {
                let count = u64::try_from(lines.len()).unwrap_or(u64::MAX);
                let beside = self.beside.as_ref();
                if beside.is_none_or(|beside| beside.lose(count).is_err()) {
                    writing.lost = writing.lost.saturating_add(count);
                }
                written = Err(CannotRecord { path: self.path.clone(), because });
            }
        }
        written
    }

    fn locked(&self, writing: &mut Writing, lines: &[String], durable: Durable) -> io::Result<()> {
        self.lock(writing)?;
        let written = self.write(writing, lines, durable);
        rustix::fs::flock(&self.head, FlockOperation::Unlock)?;
        if let Some(beside) = &self.beside {
            rustix::fs::flock(&beside.turn, FlockOperation::Unlock)?;
        }
        written
    }

    /// Waits for others, but not for long: a process that holds the lock and sleeps stops no run.
    fn lock(&self, writing: &mut Writing) -> io::Result<()> {
        let exclusive = FlockOperation::NonBlockingLockExclusive;
        let lock = self.beside.as_ref().map_or(&self.head, |beside| &beside.turn);
        if !locked(lock, exclusive, writing.patience)? {
            writing.patience = Duration::ZERO;
            let busy = "another process holds its lock";
            return Err(io::Error::new(io::ErrorKind::WouldBlock, busy));
        }
        writing.patience = PATIENCE;
        // Who has another state, or none, holds this one. So may whoever reads the log, and then it
        // says nothing.
        if self.beside.is_some() && !locked(&self.head, exclusive, writing.courtesy)? {
            writing.courtesy = Duration::ZERO;
        }
        Ok(())
    }

    fn write(&self, writing: &mut Writing, lines: &[String], durable: Durable) -> io::Result<()> {
        let now = SystemTime::now();
        let key = self.key.as_ref();
        let found = Head::read(&self.head, key, writing.head.as_ref())?;
        let is_first = matches!(found, Found::Nothing);
        let Settled { mut head, mut recovered } =
            settle(&self.path, &mut writing.file, found, key, now)?;
        let elsewhere = self.beside.as_ref().map_or(0, Beside::lost);
        recovered.lost = writing.lost.saturating_add(elsewhere);
        if self.is_full(&head, now) {
            self.rotate(&mut head, &mut writing.file, now)?;
        }
        if is_first && head.sequence == 0 {
            // Whoever is ended behind the first record leaves one that stands behind a head.
            head.write(&self.head, key)?;
        }
        let (from, mut text) = (head.length, String::new());
        let mut add = |head: &mut Head, line: &str| {
            let from = text.len();
            head.sequence += 1;
            let stamp = Stamp { sequence: head.sequence, previous: head.hash };
            stamp.put(line.trim_end_matches('\n'), &mut text);
            head.hash = seal::put(&mut text, from, key);
            text.push('\n');
        };
        let own = |what| Event { at: now, run: "", what }.line();
        let amiss = (recovered != Recovered::default()).then(|| own(What::Recovered(recovered)));
        for line in amiss.iter().chain(lines) {
            // Behind the first record of a file, a thousandth may follow at once.
            while is_signed(head.sequence + 1, head.first) {
                let next = head.sequence + 1;
                let mac = key.map(|key| checkpoint(key, next, head.hash).to_string());
                add(&mut head, &own(What::Checkpoint { mac }));
            }
            add(&mut head, line);
        }
        head.length = from + u64::try_from(text.len()).unwrap_or(u64::MAX);
        let written =
            whole(&writing.file, text.as_bytes()).and_then(|()| head.write(&self.head, key));
        match written {
            Ok(text) => writing.head = Some((text, head)),
            Err(error) => {
                // What is there of it would be taken for a record that somebody cut.
                writing.file.set_len(from).ok();
                return Err(error);
            }
        }
        writing.lost = 0;
        if let Some(beside) = self.beside.as_ref().filter(|_| elsewhere > 0) {
            // Told twice is better than not at all.
            beside.told(elsewhere).ok();
        }
        match durable {
            Durable::No => Ok(()),
            Durable::Yes => writing.file.sync_data().and_then(|()| self.head.sync_data()),
        }
    }

    fn is_full(&self, head: &Head, now: SystemTime) -> bool {
        let Rotation { size, age } = self.rotation;
        let large = size.is_some_and(|size| head.length >= size);
        // A clock that was set back makes nothing old.
        let old = age.is_some_and(|age| seconds(now).saturating_sub(head.began) >= age.as_secs());
        head.length > 0 && (large || old)
    }

    /// Puts the file away. What somebody else put at its name stays, and stops nothing: the next name
    /// is one that nobody knows before.
    fn put_away(&self, first: u64) -> io::Result<()> {
        let mut away = segment::named(&self.path, first);
        for _ in 0..NAMES {
            let moved = rustix::fs::renameat_with(
                rustix::fs::CWD,
                &self.path,
                rustix::fs::CWD,
                &away,
                rustix::fs::RenameFlags::NOREPLACE,
            );
            match moved {
                Err(rustix::io::Errno::EXIST) => away = segment::beside(&self.path, first)?,
                moved => return Ok(moved?),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Puts the file away under the number of its first record, and begins another.
    fn rotate(&self, head: &mut Head, file: &mut File, now: SystemTime) -> io::Result<()> {
        self.put_away(head.first)?;
        *file = appending(&self.path)?;
        head.first = head.sequence + 1;
        head.began = seconds(now);
        head.length = 0;
        head.inode = file.metadata()?.ino();
        Ok(())
    }
}

/// Lists the files of a log: the one that is written, its head, and those that were put away.
pub fn files(log: &Path) -> Vec<PathBuf> {
    let mut found = vec![log.to_owned(), head::beside(log)];
    let away = segments(log).unwrap_or_default().into_iter();
    let away = away.filter(|it| it.first.is_some() && plain_reading(&it.path).is_ok());
    found.extend(away.map(|it| it.path));
    found
}

/// Whether a record is a checkpoint: the first of each file, and every thousandth.
pub(crate) fn is_signed(sequence: u64, first: u64) -> bool {
    sequence == first || sequence.is_multiple_of(CHECKPOINT)
}

/// Signs the chain up to a record.
pub(crate) fn checkpoint(key: &Key, sequence: u64, previous: Hash) -> Hash {
    key.sign(&format!("palisade checkpoint 1\n{sequence} {previous}"))
}

/// Writes all of it with one call, so that nobody sees a part.
fn whole(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    match file.write(bytes)? {
        length if length == bytes.len() => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::StorageFull, "only a part of it was written")),
    }
}

pub(crate) fn seconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Opens a file of records for reading: no link is followed, and no pipe is waited for.
pub(crate) fn plain_reading(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    Ok(file)
}

/// Opens a file of records.
fn appending(path: &Path) -> io::Result<File> {
    plain(path, OFlags::APPEND)
}

/// Opens a plain file, and makes it where there is none.
fn plain(path: &Path, how: OFlags) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | how;
    // A pipe would have us wait for its reader.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    if found.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

impl std::fmt::Display for CannotRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.to_string_lossy();
        let path = palisade_policy::text::visible(&path);
        write!(f, "cannot record what happens in `{path}`: {}", self.because)
    }
}

impl std::error::Error for CannotRecord {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.because)
    }
}

#[cfg(test)]
mod tests;
