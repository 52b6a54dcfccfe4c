//! Which runs go on at the same time, and what each knew of protected names when it began.
//!
//! Each has a file beside the spares, which it holds for as long as it lasts, and with it its janitor.
//! The files stay for those that come next: mostly one is there already that says what has to be said.
//! Who looks around reads those that are held, and those that were let go of since it began to look.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::Account;
use rustix::fs::{FlockOperation, Mode, OFlags, ftruncate};
use rustix::io::{Errno, Result};
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::opened::open_folder;
use super::spare::open_or_make;
use crate::sys::descriptor::lift;

/// How many runs of one user tell each other what they knew.
const MOST: usize = 1000;

/// The longest account that is read.
const LONGEST: u64 = 4 << 20;

/// The first byte of a file: whether what follows is that of a run that goes on, or of one that went on
/// until the time behind it.
const HOLDS: u8 = b'+';
const DONE: u8 = b'-';

/// That byte and the time.
const HEAD: usize = 9;

/// A run's account, for as long as the run lasts.
#[derive(Debug)]
pub(super) struct Announced(OwnedFd);

/// When somebody began to look around.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    exactly: u64,
    /// By the clock that files are dated by, which is behind.
    of_files: Timespec,
}

impl Since {
    pub(super) fn now() -> Self {
        Self { exactly: exactly_now(), of_files: clock_gettime(ClockId::RealtimeCoarse) }
    }
}

impl Announced {
    /// Tells others what a run knows, before its command runs. Nobody is kept from running by a file
    /// that cannot be written.
    pub(super) fn new(folder: Option<&Path>, account: impl FnOnce() -> Account) -> Option<Self> {
        let folder = open_or_make(folder?).ok()?;
        for number in 0..MOST {
            let open = open(folder.as_fd(), number, OFlags::RDWR | OFlags::CREATE).ok()?;
            if rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let made = Self(lift(open).ok()?);
            return made.write(&to_bytes(&account())).ok().map(|()| made);
        }
        None
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = File::from(self.0.try_clone()?);
        let mut had = Vec::new();
        (&file).take(LONGEST).read_to_end(&mut had)?;
        if had.get(HEAD..) != Some(bytes) {
            // What is half written is nobody's.
            ftruncate(&file, 0)?;
            file.rewind()?;
            file.write_all(&head(DONE))?;
            file.write_all(bytes)?;
        }
        file.write_all_at(&head(HOLDS), 0)
    }

    /// Returns what holds the file.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // It says when the run ended, too.
        rustix::io::pwrite(&self.0, &head(DONE), 0).ok();
        // Not by closing it: a process that another thread has just made has it open, too.
        rustix::fs::flock(&self.0, FlockOperation::Unlock).ok();
    }
}

/// Returns what other runs know that go on, or went on after somebody began to look.
pub(super) fn of_others(folder: Option<&Path>, since: Since) -> Vec<Account> {
    let Some(folder) = folder.and_then(|folder| open_folder(folder).ok()) else {
        return Vec::new();
    };
    let mut accounts = Vec::new();
    for number in 0..MOST {
        match open(folder.as_fd(), number, OFlags::RDONLY) {
            Ok(open) => accounts.extend(read(open, since)),
            // They are made in order, and stay.
            Err(Errno::NOENT) => break,
            Err(_) => {}
        }
    }
    accounts
}

fn open(folder: BorrowedFd<'_>, number: usize, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // Spares have numbers for names, and no point before them.
    rustix::fs::openat(folder, format!(".run-{number}"), flags, Mode::from_raw_mode(0o600))
}

fn read(open: OwnedFd, since: Since) -> Option<Account> {
    let is_held =
        rustix::fs::flock(&open, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK);
    if !is_held {
        let stat = rustix::fs::fstat(&open).ok()?;
        rustix::fs::flock(&open, FlockOperation::Unlock).ok();
        let changed = (stat.st_mtime, stat.st_mtime_nsec.cast_signed());
        if changed < (since.of_files.tv_sec, since.of_files.tv_nsec) {
            return None;
        }
    }
    let mut bytes = Vec::new();
    File::from(open).take(LONGEST).read_to_end(&mut bytes).ok()?;
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let (state, ended) = head.split_first()?;
    let ended = u64::from_be_bytes(ended.try_into().ok()?);
    // One that is held and says nothing yet has begun nothing; one that was killed has no end.
    // Who ends tells it before it lets go.
    let counts = *state == HOLDS || ended >= since.exactly;
    counts.then(|| from_bytes(rest)).flatten()
}

/// Files are dated by a clock that moves in steps of milliseconds, in which a host does a lot.
fn exactly_now() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Realtime);
    let seconds = u64::try_from(tv_sec).unwrap_or_default().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::try_from(tv_nsec).unwrap_or_default())
}

fn head(state: u8) -> [u8; HEAD] {
    let mut head = [state; HEAD];
    if let Some(time) = head.last_chunk_mut::<8>() {
        *time = exactly_now().to_be_bytes();
    }
    head
}

/// Writes four lists, each of texts that end in a zero and with an empty one behind them.
fn to_bytes(account: &Account) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 << 10);
    let mut put = |text: &[u8]| {
        bytes.extend_from_slice(text);
        bytes.push(0);
    };
    account.trees.iter().for_each(|tree| put(tree.as_os_str().as_bytes()));
    put(b"");
    account.protect.iter().for_each(|pattern| put(pattern.to_string().as_bytes()));
    put(b"");
    account.known.iter().for_each(|path| put(path.as_os_str().as_bytes()));
    put(b"");
    account.unsearched.iter().for_each(|path| put(path.as_os_str().as_bytes()));
    put(b"");
    bytes
}

/// Reads them; nothing if they are not whole.
fn from_bytes(bytes: &[u8]) -> Option<Account> {
    let mut texts = bytes.strip_suffix(&[0])?.split(|byte| *byte == 0);
    let mut list = || -> Option<Vec<&[u8]>> {
        let mut list = Vec::new();
        loop {
            match texts.next()? {
                [] => return Some(list),
                text => list.push(text),
            }
        }
    };
    let path = |text: &&[u8]| PathBuf::from(OsString::from_vec(text.to_vec()));
    let trees = list()?.iter().map(path).collect();
    let protect = list()?.into_iter().map(|text| OsStr::from_bytes(text).to_str()?.parse().ok());
    let protect = protect.collect::<Option<_>>()?;
    let known = list()?.iter().map(path).collect();
    let unsearched = list()?.iter().map(path).collect();
    texts.next().is_none().then_some(Account { trees, protect, known, unsearched })
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    fn account(known: &str) -> Account {
        let protect = ["/w/**/.bashrc", "/w/.mcp.json", "/w/a b/**/.git/hooks"];
        Account {
            trees: vec!["/w".into()],
            protect: protect.iter().map(|text| text.parse().unwrap()).collect(),
            known: [known, "/w/sub/.git"].iter().map(PathBuf::from).collect(),
            unsearched: vec!["/w/shut".into()],
        }
    }

    #[test]
    fn an_account_is_read_as_it_was_written_and_not_by_halves() {
        for account in [account("/w/x"), Account::default()] {
            let bytes = to_bytes(&account);
            assert_eq!(from_bytes(&bytes), Some(account));
            for length in 0..bytes.len() {
                assert_eq!(from_bytes(&bytes[..length]), None, "{length}");
            }
            assert_eq!(from_bytes(&[&*bytes, b"x\0"].concat()), None);
        }
    }

    #[test]
    fn runs_are_told_of_while_they_last_and_to_who_looked_then() {
        let state = Project::new();
        let folder = Some(state.root());
        let before = Since::now();
        assert!(of_others(folder, before).is_empty());
        let one = Announced::new(folder, || account("/w/one"));
        let two = Announced::new(folder, || account("/w/two"));
        assert!(one.is_some() && two.is_some());
        assert_eq!(of_others(folder, before), [account("/w/one"), account("/w/two")]);
        drop(one);
        assert_eq!(of_others(folder, before).len(), 2, "it went on when somebody began to look");
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert_eq!(of_others(folder, Since::now()), [account("/w/two")]);
        // The next has its file, and says what it knows.
        let three = Announced::new(folder, || account("/w/three"));
        assert_eq!(of_others(folder, Since::now()), [account("/w/three"), account("/w/two")]);
        drop((two, three));
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(of_others(folder, Since::now()).is_empty());
        assert_eq!(std::fs::read_dir(state.root()).unwrap().count(), 2);
        assert!(Announced::new(None, Account::default).is_none());
    }
}
