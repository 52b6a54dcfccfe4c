//! Which runs go on at the same time, and what each knew of protected names when it began.
//!
//! Each has a file beside the spares, which it holds for as long as it lasts, and with it its janitor.
//! The files stay for those that come next: mostly one is there already that says what has to be said.
//! Who looks around reads those that are held, and those that were let go of since it began to look. It
//! says so by a lock of the folder: until it has read them none is written over, nor taken away.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::{Account, Enforced, Layer};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, ftruncate};
use rustix::io::{Errno, Result};
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::opened::open_folder;
use super::spare::open_or_make;
use crate::sys::descriptor::lift;
use crate::sys::lock;

/// How many runs of one user tell each other what they knew.
const MOST: usize = 1000;

/// How many files stay when they are not needed any more, and how many are taken away at once.
const KEPT: usize = 16;
const AWAY: usize = 64;

/// The longest account that is read.
const LONGEST: usize = 4 << 20;

/// How long nobody takes to look around, in nanoseconds.
const LONG: u64 = 60 * 1_000_000_000;

/// The first byte of a file: whether what follows is that of a run that goes on since the time behind
/// it, or of one that went on until then.
const HOLDS: u8 = b'+';
const DONE: u8 = b'-';

/// That byte and the time.
const HEAD: usize = 9;

/// A run's account, for as long as the run lasts, or why others are not told.
#[derive(Debug)]
pub(super) struct Announced(std::result::Result<OwnedFd, Errno>);

/// Somebody looks around.
#[derive(Debug)]
pub(super) struct Looking<'f> {
    folder: Option<&'f Path>,
    /// With the lock; none if there is no such folder yet.
    open: Option<OwnedFd>,
    exactly: u64,
    /// By the clock that files are dated by, which is behind.
    of_files: Timespec,
}

/// Which files can be written over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Over {
    /// Those of all runs that have ended, if nobody looks around.
    Ended,
    /// Those of runs that ended long ago, and new ones.
    LongAgo,
}

impl Announced {
    /// Tells others what a run knows, before its command runs; nothing if there is no folder for it.
    /// Nobody is kept from running by a file that cannot be written, but it is said.
    pub(super) fn new(folder: Option<&Path>, account: impl FnOnce() -> Account) -> Option<Self> {
        let folder = folder?;
        Some(Self(open_or_make(folder).and_then(|open| announce(open.as_fd(), &account()))))
    }

    /// Returns what holds the file, if there is one.
    pub(super) fn held(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().ok().map(OwnedFd::as_fd)
    }

    /// Says of the layers of a run if others were not told.
    pub(super) fn tell(&self, enforced: &mut [Enforced]) {
        let Err(errno) = &self.0 else { return };
        let what = format!(
            "runs that began meanwhile were not told what was there ({errno}): what this one made \
             under protected names they take for the host's"
        );
        let layers = enforced.iter_mut().filter(|it| it.layer == Layer::Protect);
        layers.for_each(|layer| layer.strength.lacks(what.clone()));
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        let Ok(open) = &self.0 else { return };
        tell_end(open.as_fd());
        // Not by closing it: a process that another thread has just made has it open, too.
        rustix::fs::flock(open, FlockOperation::Unlock).ok();
    }
}

/// Says that a run has ended, and when. It allocates nothing, and does without the C library.
pub(super) fn tell_end(held: BorrowedFd<'_>) {
    rustix::io::pwrite(held, &head(DONE), 0).ok();
}

fn announce(folder: BorrowedFd<'_>, account: &Account) -> Result<OwnedFd> {
    let bytes = to_bytes(account);
    if let Some(held) = hold(folder, &bytes, Over::Ended)? {
        return Ok(held);
    }
    // One more is made, while nobody takes any away.
    lock::share_turn(folder)?;
    let held = hold(folder, &bytes, Over::LongAgo);
    lock::end_turn(folder);
    held?.ok_or(Errno::USERS)
}

/// Finds a file that nobody holds, and writes into it.
fn hold(folder: BorrowedFd<'_>, bytes: &[u8], over: Over) -> Result<Option<OwnedFd>> {
    let create = match over {
        Over::Ended => OFlags::empty(),
        Over::LongAgo => OFlags::CREATE,
    };
    for number in 0..MOST {
        let open = match open(folder, number, OFlags::RDWR | create) {
            Ok(open) => open,
            // They are made in order.
            Err(Errno::NOENT) => return Ok(None),
            // Somebody else's.
            Err(Errno::ACCESS | Errno::PERM | Errno::ISDIR | Errno::LOOP) => continue,
            Err(errno) => return Err(errno),
        };
        if rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        // One that was taken away since it was opened is seen by nobody.
        if number >= KEPT && rustix::fs::fstat(&open)?.st_nlink == 0 {
            return Ok(None);
        }
        let open = lift(open)?;
        let written = write(&open, bytes, || may_lose(folder, over));
        if written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))? {
            return Ok(Some(open));
        }
        rustix::fs::flock(&open, FlockOperation::Unlock).ok();
    }
    Ok(None)
}

/// Writes an account, and says whether it did: somebody may be about to read another that is there.
fn write(open: &OwnedFd, bytes: &[u8], may_lose: impl FnOnce() -> bool) -> std::io::Result<bool> {
    let had = content(open.as_fd(), HEAD + bytes.len())?;
    if had.get(HEAD..) != Some(bytes) {
        let ended = parts(&had).filter(|(state, ..)| *state == DONE).map(|(_, time, _)| time);
        let is_recent = ended.is_some_and(|ended| exactly_now().abs_diff(ended) < LONG);
        if is_recent && !may_lose() {
            return Ok(false);
        }
        // What is half written is nobody's.
        ftruncate(open, 0)?;
        let file = File::from(open.try_clone()?);
        file.write_all_at(&head(DONE), 0)?;
        file.write_all_at(bytes, HEAD as u64)?;
    }
    if rustix::io::pwrite(open, &head(HOLDS), 0)? < HEAD {
        return Err(ErrorKind::WriteZero.into());
    }
    Ok(true)
}

/// Reads a file from its beginning, for which this is mostly enough room.
fn content(open: BorrowedFd<'_>, room: usize) -> Result<Vec<u8>> {
    let (mut bytes, mut length) = (vec![0; room + 1], 0);
    while length < LONGEST {
        let rest = bytes.get_mut(length..).unwrap_or_default();
        let most = rest.len();
        let read = rustix::io::pread(open, rest, length as u64)?;
        length += read;
        // Behind what a file has to give there is nothing more.
        if read < most {
            break;
        }
        bytes.resize((4 * length).min(LONGEST), 0);
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Returns whether nobody looks around: who begins to from now on needs nothing that has ended.
fn may_lose(folder: BorrowedFd<'_>, over: Over) -> bool {
    let is_alone = over == Over::Ended
        && rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok();
    if is_alone {
        lock::end_turn(folder);
    }
    is_alone
}

impl<'f> Looking<'f> {
    pub(super) fn begin(folder: Option<&'f Path>) -> Self {
        let open = folder.and_then(|folder| open_folder(folder).ok());
        let open = open.filter(|open| lock::share_turn(open.as_fd()).is_ok());
        let of_files = clock_gettime(ClockId::RealtimeCoarse);
        Self { folder, open, exactly: exactly_now(), of_files }
    }

    /// Returns what other runs know that go on, or went on after this began.
    pub(super) fn others(mut self) -> Vec<Account> {
        let Some(folder) = self.folder else { return Vec::new() };
        let open = match self.open.take().map_or_else(|| open_folder(folder), Ok) {
            Ok(open) => open,
            // There are none, or they are somebody else's.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => return Vec::new(),
            Err(_) => return vec![Account::unknown()],
        };
        let (mut accounts, mut count) = (Vec::new(), MOST);
        for number in 0..MOST {
            match self::open(open.as_fd(), number, OFlags::RDONLY) {
                Ok(open) => accounts.extend(self.read(open)),
                // They are made in order.
                Err(Errno::NOENT) => {
                    count = number;
                    break;
                }
                Err(Errno::ACCESS | Errno::PERM | Errno::ISDIR | Errno::LOOP) => {}
                Err(_) => accounts.push(Account::unknown()),
            }
        }
        if exactly_now().saturating_sub(self.exactly) > LONG && !accounts.is_empty() {
            // It took so long that some may have been written over.
            accounts.push(Account::unknown());
        }
        if count > KEPT {
            take_away(open.as_fd(), count);
        }
        accounts
    }

    fn read(&self, open: OwnedFd) -> Option<Account> {
        let is_held = rustix::fs::flock(&open, FlockOperation::NonBlockingLockShared)
            == Err(Errno::WOULDBLOCK);
        if !is_held {
            let stat = rustix::fs::fstat(&open).ok()?;
            rustix::fs::flock(&open, FlockOperation::Unlock).ok();
            let changed = (stat.st_mtime, stat.st_mtime_nsec.cast_signed());
            if changed < (self.of_files.tv_sec, self.of_files.tv_nsec) {
                return None;
            }
        }
        let Ok(bytes) = content(open.as_fd(), 8 << 10) else { return Some(Account::unknown()) };
        let (state, time, rest) = parts(&bytes)?;
        match state {
            HOLDS => Some(from_bytes(rest).unwrap_or_else(Account::unknown)),
            // One that is held and says nothing yet has begun nothing. Who ends tells it before it lets
            // go.
            _ if time >= self.exactly => from_bytes(rest),
            _ => None,
        }
    }
}

/// Takes some files away that nobody needs, from the last on, if nobody looks around or makes one.
fn take_away(folder: BorrowedFd<'_>, count: usize) {
    if rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    for number in (KEPT..count).rev().take(AWAY) {
        let Ok(open) = open(folder, number, OFlags::RDONLY) else { break };
        let name = name(number);
        if rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_err()
            || rustix::fs::unlinkat(folder, name, AtFlags::empty()).is_err()
        {
            break;
        }
    }
    lock::end_turn(folder);
}

fn name(number: usize) -> String {
    // Spares have numbers for names, and no point before them.
    format!(".run-{number}")
}

fn open(folder: BorrowedFd<'_>, number: usize, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name(number), flags, Mode::from_raw_mode(0o600))
}

/// Returns the state, the time and the account that a file holds.
fn parts(bytes: &[u8]) -> Option<(u8, u64, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let (state, time) = head.split_first()?;
    Some((*state, u64::from_be_bytes(time.try_into().ok()?), rest))
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

/// Whether a run saw everything.
const WHOLE: &[u8] = b"whole";
const PARTLY: &[u8] = b"partly";

/// Writes lists, each of texts that end in a zero and with an empty one behind them.
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
    account.absent.iter().for_each(|path| put(path.as_os_str().as_bytes()));
    put(b"");
    put(if account.whole { WHOLE } else { PARTLY });
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
    let absent = list()?.iter().map(path).collect();
    let whole = match texts.next()? {
        WHOLE => true,
        PARTLY => false,
        _ => return None,
    };
    let account = Account { trees, protect, known, unsearched, absent, whole };
    texts.next().is_none().then_some(account)
}

#[cfg(test)]
mod tests;
