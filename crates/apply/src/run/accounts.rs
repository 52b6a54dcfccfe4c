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
/// it, of one that went on until then, or of one that was killed then: nobody has looked over what its
/// command left.
const HOLDS: u8 = b'+';
const DONE: u8 = b'-';
const KILLED: u8 = b'!';

/// That byte, the time, and when the run began.
const HEAD: usize = 17;

/// A run's account, for as long as the run lasts, or why others are not told.
#[derive(Debug)]
pub(super) struct Announced {
    held: std::result::Result<OwnedFd, Errno>,
    /// How it ends, if it ends now.
    end: End,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// Its command has left nothing that nobody has looked over.
    Done,
    /// It may have.
    Killed,
}

/// What is known of a run that was killed.
#[derive(Debug)]
pub(super) struct Killed {
    pub(super) account: Account,
    /// From when to when its command ran, in nanoseconds. Nobody may know its end.
    pub(super) ran: (u64, Option<u64>),
    /// Its file, by its number.
    number: usize,
}

/// What runs tell.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Those that go on, or went on since somebody began to look.
    pub(super) beside: Vec<Account>,
    /// Those that were killed.
    pub(super) killed: Vec<Killed>,
    /// The last of those that go on, as it was read.
    last: Vec<u8>,
}

/// Somebody looks around.
#[derive(Debug)]
pub(super) struct Looking<'f> {
    folder: Option<&'f Path>,
    /// With the lock; none if there is no such folder yet.
    open: Option<OwnedFd>,
    exactly: u64,
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
        let held = open_or_make(folder).and_then(|open| announce(open.as_fd(), &account()));
        Some(Self { held, end: End::Done })
    }

    /// Says that its command can begin.
    pub(super) fn begun(self) -> Self {
        self.ending(End::Killed)
    }

    /// Says that what its command left was looked over.
    pub(super) fn looked_over(self) -> Self {
        self.ending(End::Done)
    }

    fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// Returns what holds the file, if there is one.
    pub(super) fn held(&self) -> Option<BorrowedFd<'_>> {
        self.held.as_ref().ok().map(OwnedFd::as_fd)
    }

    /// Says of the layers of a run if others were not told.
    pub(super) fn tell(&self, enforced: &mut [Enforced]) {
        let Err(errno) = &self.held else { return };
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
        let Ok(open) = &self.held else { return };
        tell_end(open.as_fd(), self.end);
        // Not by closing it: a process that another thread has just made has it open, too.
        rustix::fs::flock(open, FlockOperation::Unlock).ok();
    }
}

/// Says that a run has ended, how, and when. It allocates nothing, and does without the C library.
pub(super) fn tell_end(held: BorrowedFd<'_>, end: End) {
    let state = match end {
        End::Done => DONE,
        End::Killed => KILLED,
    };
    let head = head(state);
    // When it began stays.
    let (said, _) = head.split_at(9);
    rustix::io::pwrite(held, said, 0).ok();
}

impl Killed {
    /// Does something with it, unless another run has meanwhile, and says that it is done.
    pub(super) fn settle<T>(&self, folder: &Path, look: impl FnOnce() -> T) -> Option<T> {
        let folder = open_folder(folder).ok()?;
        let open = open(folder.as_fd(), self.number, OFlags::RDWR).ok()?;
        rustix::fs::flock(&open, FlockOperation::LockExclusive).ok()?;
        let bytes = content(open.as_fd(), HEAD).ok()?;
        let is_same = parts(&bytes).is_some_and(|(state, _, began, _)| {
            (state == KILLED || state == HOLDS) && began == self.ran.0
        });
        let looked = is_same.then(look);
        if looked.is_some() {
            tell_end(open.as_fd(), End::Done);
        }
        rustix::fs::flock(&open, FlockOperation::Unlock).ok();
        looked
    }
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
    let before = parts(&had).map(|(state, time, ..)| (state, time));
    // What its command left is still to be looked over.
    if before.is_some_and(|(state, _)| state != DONE) {
        return Ok(false);
    }
    if had.get(HEAD..) != Some(bytes) {
        let ended = before.map(|(_, time)| time);
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
        Self { folder, open, exactly: exactly_now() }
    }

    /// Returns what other runs know that go on, or went on after this began.
    pub(super) fn others(mut self) -> Told {
        let mut told = Told::default();
        let Some(folder) = self.folder else { return told };
        let open = match self.open.take().map_or_else(|| open_folder(folder), Ok) {
            Ok(open) => open,
            // There are none, or they are somebody else's.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => return told,
            Err(_) => {
                told.beside.push(Account::unknown());
                return told;
            }
        };
        let mut count = MOST;
        for number in 0..MOST {
            match self::open(open.as_fd(), number, OFlags::RDONLY) {
                Ok(open) => self.read(open, number, &mut told),
                // They are made in order.
                Err(Errno::NOENT) => {
                    count = number;
                    break;
                }
                Err(Errno::ACCESS | Errno::PERM | Errno::ISDIR | Errno::LOOP) => {}
                Err(_) => told.beside.push(Account::unknown()),
            }
        }
        if exactly_now().saturating_sub(self.exactly) > LONG && !told.beside.is_empty() {
            // It took so long that some may have been written over.
            told.beside.push(Account::unknown());
        }
        if count > KEPT {
            take_away(open.as_fd(), count);
        }
        told
    }

    fn read(&self, open: OwnedFd, number: usize, told: &mut Told) {
        let is_held = rustix::fs::flock(&open, FlockOperation::NonBlockingLockShared)
            == Err(Errno::WOULDBLOCK);
        if !is_held {
            let mut head = [0; HEAD];
            let read = rustix::io::pread(&open, &mut head, 0);
            let said = read.map(|length| parts(head.get(..length).unwrap_or_default()));
            let is_over = match said {
                // Nobody has said anything in it.
                Ok(None) => true,
                Ok(Some((DONE, time, ..))) => time < self.exactly,
                Ok(Some(_)) => {
                    told.killed.extend(killed(open.as_fd(), number));
                    true
                }
                Err(_) => false,
            };
            rustix::fs::flock(&open, FlockOperation::Unlock).ok();
            if is_over {
                return;
            }
        }
        self.read_whole(&open, told);
    }

    fn read_whole(&self, open: &OwnedFd, told: &mut Told) {
        let Ok(bytes) = content(open.as_fd(), 8 << 10) else {
            return told.beside.push(Account::unknown());
        };
        let Some((state, time, _, rest)) = parts(&bytes) else {
            // Of another version, or one in which nothing is said yet.
            let says = bytes.first().is_some_and(|state| *state != DONE);
            return told.beside.extend(says.then(Account::unknown));
        };
        // Runs in one project mostly know the same.
        if !told.last.is_empty() && told.last == rest {
            return;
        }
        let account = match state {
            HOLDS | KILLED => Some(from_bytes(rest).unwrap_or_else(Account::unknown)),
            // One that is held and says nothing yet has begun nothing. Who ends tells it before it lets
            // go.
            _ if time >= self.exactly => from_bytes(rest),
            _ => None,
        };
        if let Some(account) = account {
            told.beside.push(account);
            told.last = rest.to_vec();
        }
    }
}

/// Returns what is known of a run that nobody has said the end of, or that was killed. Of one whose
/// file cannot be read nobody knows where it ran.
fn killed(open: BorrowedFd<'_>, number: usize) -> Option<Killed> {
    let bytes = content(open, 8 << 10).ok()?;
    let (state, time, began, rest) = parts(&bytes)?;
    let account = from_bytes(rest).unwrap_or_default();
    Some(Killed { account, ran: (began, (state == KILLED).then_some(time)), number })
}

/// Takes some files away that nobody needs, from the last on, if nobody looks around or makes one.
fn take_away(folder: BorrowedFd<'_>, count: usize) {
    if rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    for number in (KEPT..count).rev().take(AWAY) {
        let Ok(open) = open(folder, number, OFlags::RDONLY) else { break };
        let name = name(number);
        let mut state = [0];
        let is_needed = rustix::io::pread(&open, &mut state, 0) != Ok(0) && state != [DONE];
        if is_needed
            || rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_err()
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

/// Returns the state, the time, when the run began, and the account that a file holds.
fn parts(bytes: &[u8]) -> Option<(u8, u64, u64, &[u8])> {
    let (state, rest) = bytes.split_first()?;
    let (time, rest) = rest.split_first_chunk()?;
    let (began, rest) = rest.split_first_chunk()?;
    Some((*state, u64::from_be_bytes(*time), u64::from_be_bytes(*began), rest))
}

/// Files are dated by a clock that moves in steps of milliseconds, in which a host does a lot.
fn exactly_now() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Realtime);
    let seconds = u64::try_from(tv_sec).unwrap_or_default().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::try_from(tv_nsec).unwrap_or_default())
}

/// Returns what a file begins with that says this of now.
fn head(state: u8) -> [u8; HEAD] {
    let mut head = [state; HEAD];
    let now = exactly_now().to_be_bytes();
    let (_, times) = head.split_at_mut(1);
    times.chunks_mut(now.len()).for_each(|time| time.copy_from_slice(&now));
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
