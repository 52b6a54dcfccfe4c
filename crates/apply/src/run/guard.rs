//! What is protected or hidden, and what somebody on the host replaces while a command runs.
//!
//! Git and editors save by moving a new file over the old one, a checkout removes a folder and makes
//! another, and with the old one goes what was mounted on it. Whoever waits for the command looks at
//! protected and hidden names, mounts over what has come in their place again, and says so. What the
//! command writes into a file while that is done is put back; what it wrote before anybody looked
//! stays, what it read was read, and the note says that too.
//!
//! Hidden names that were not there and come meanwhile are hidden then, and placeholders that are
//! removed are laid again, by the thread alone.
//!
//! A command that goes on for longer, or that nobody waits for yet, is guarded by a thread that the
//! kernel tells. Short ones are not: to stop being told takes longer than many of them do. That is
//! why the janitor, where there is one, has the descriptor too: who lets go last waits. Of a thread's
//! descriptor nobody waits for the end.

mod again;
mod come;
mod events;
mod folders;
mod look;
mod vacated;

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use palisade_plan::{Coming, Layer, Note, Plan, Step, Strength};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::error::{CannotStart, before};
use super::leftover::let_go;
use super::outcome::Outcome;
use super::reserve::Names;
use events::Told;
use look::{Identity, Looks};

/// Who watches what is protected from a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Watcher {
    /// Who waits for its end, from now on; a thread when that takes long.
    Waiter,
    /// A thread, from now on.
    Thread,
}

/// What is guarded, before there is a sandbox.
#[derive(Debug)]
pub(super) struct Watched {
    names: Vec<Guarded>,
    seen: Vec<Option<Identity>>,
    coming: Option<Arc<Coming>>,
    /// Whether looking at one of them may take for ever.
    slow: bool,
    /// Where the kernel will tell; none if it has no more of them.
    events: Option<OwnedFd>,
}

/// A name of which what lies there is guarded.
#[derive(Debug)]
struct Guarded {
    path: CString,
    against: Against,
}

/// What it is guarded from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Against {
    /// Being changed.
    Change,
    /// Being seen.
    Sight,
}

/// What is guarded, and the sandbox that it is guarded from.
#[derive(Debug)]
struct Watch {
    names: Vec<Guarded>,
    /// Names that placeholders keep, if any do.
    kept: Option<Arc<Names>>,
    inside: Inside,
}

/// Where the sandbox's mounts are.
#[derive(Debug)]
struct Inside {
    /// None if users are the host's.
    users: Option<OwnedFd>,
    mounts: OwnedFd,
}

/// A watch that is kept.
#[derive(Debug)]
pub(super) struct Guard {
    watch: Arc<Watch>,
    /// What may come, until the thread has it.
    coming: Option<Arc<Coming>>,
    looks: Looks,
    events: Option<Arc<OwnedFd>>,
    told: Option<Told>,
    notes: Vec<Note>,
}

/// What was seen during a watch.
#[derive(Debug, Default)]
pub(super) struct Seen {
    notes: Vec<Note>,
    /// Whether hidden names may have come where nobody looked.
    missed: bool,
}

impl Guarded {
    fn new(path: &Path, against: Against) -> Option<Self> {
        Some(Self { path: CString::new(path.as_os_str().as_bytes()).ok()?, against })
    }

    fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.path.to_bytes()))
    }
}

impl Watched {
    /// Looks at what a plan protects, and covers in what it attaches; `None` if there is none of it,
    /// nor anything that may come to be hidden.
    pub(super) fn new(plan: &Plan) -> Result<Option<Self>, CannotStart> {
        let steps = plan.steps();
        let reserved = steps.iter().filter_map(|step| {
            let Step::Reserve(paths) = step else { return None };
            Some(paths.iter().map(|path| path.as_os_str()))
        });
        let reserved: BTreeSet<&OsStr> = reserved.flatten().collect();
        let is_attached = |path: &Path| {
            let holds =
                |step: &Step| matches!(step, Step::Attach { at, .. } if path.starts_with(at));
            steps.iter().any(holds)
        };
        let guarded = steps.iter().filter_map(|step| {
            if let Step::Protect(path) = step {
                // What is absent is nothing to be replaced: placeholders are looked after by who laid them.
                let is_there = !reserved.contains(path.as_os_str());
                is_there.then(|| Some((path, Against::Change, Identity::at(path)?))).flatten()
            } else if let Step::Cover { at, .. } = step {
                // Elsewhere names are hidden, whatever has them.
                is_attached(at).then(|| Some((at, Against::Sight, Identity::at(at)?))).flatten()
            } else {
                None
            }
        });
        let (mut names, mut seen) = (Vec::new(), Vec::new());
        for (path, against, identity) in guarded {
            let name = Guarded::new(path, against);
            names.push(name.ok_or_else(|| CannotStart::ZeroByte(path.display().to_string()))?);
            seen.push(Some(identity));
        }
        let coming = plan.coming().cloned();
        let some = !names.is_empty() || !reserved.is_empty() || coming.is_some();
        let slow = are_slow(&names, &seen);
        Ok(some.then(|| Self { names, seen, coming, slow, events: events::open().ok() }))
    }

    /// Returns where the kernel will tell.
    pub(super) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(OwnedFd::as_fd)
    }

    /// Guards them for the sandbox whose first process this is.
    pub(super) fn guard(
        self,
        first: Pid,
        watcher: Watcher,
        kept: Option<Arc<Names>>,
    ) -> Result<Guard, CannotStart> {
        let failed = before("guard protected files");
        let namespace = |name: &str| {
            let path = format!("/proc/{}/ns/{name}", first.as_raw_nonzero());
            rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        let users = namespace("user").map_err(&failed)?;
        let inside = Inside {
            users: (!is_own(&users)).then_some(users),
            mounts: namespace("mnt").map_err(&failed)?,
        };
        let watch = Arc::new(Watch { names: self.names, kept, inside });
        let looks = Looks::new(self.seen);
        let events = self.events.map(Arc::new);
        let coming = self.coming;
        let mut guard = Guard { watch, coming, looks, events, told: None, notes: Vec::new() };
        if watcher == Watcher::Thread || self.slow {
            let doing = "watch protected files";
            guard.told =
                Some(guard.be_told().map_err(|errno| CannotStart::Before { doing, errno })?);
        }
        Ok(guard)
    }
}

/// Filesystems behind which there is another program or machine (statfs(2)): FUSE, NFS, SMB, CIFS, 9p,
/// Ceph, AFS, Coda.
const SLOW: [u64; 8] = [
    0x6573_5546,
    0x6969,
    0xfe53_4d42,
    0xff53_4d42,
    0x0102_1997,
    0x00c3_6400,
    0x5346_414f,
    0x7375_7245,
];

/// Returns whether one of the names lies on such a filesystem. Those on disks of this machine need not
/// be asked about.
fn are_slow(names: &[Guarded], seen: &[Option<Identity>]) -> bool {
    let mut asked: Vec<(u32, u32)> = Vec::new();
    let mut is_slow = |(name, seen): (&Guarded, &Option<Identity>)| {
        let Some(device @ (0, _)) = seen.map(Identity::device) else { return false };
        if asked.contains(&device) {
            return false;
        }
        asked.push(device);
        let kind = rustix::fs::statfs(name.path()).map(|found| found.f_type.cast_unsigned());
        kind.is_ok_and(|kind| SLOW.contains(&(kind & 0xffff_ffff)))
    };
    names.iter().zip(seen).any(&mut is_slow)
}

/// Returns whether a namespace of users is the one that we are in, which nobody can enter again.
fn is_own(users: &OwnedFd) -> bool {
    let which = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    let (theirs, ours) = (rustix::fs::fstat(users), rustix::fs::stat(c"/proc/self/ns/user"));
    theirs.is_ok_and(|theirs| ours.is_ok_and(|ours| which(theirs) == which(ours)))
}

impl Guard {
    /// Returns when somebody has to look; never if a thread does.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.told.is_some() { None } else { self.looks.due() }
    }

    /// Looks, if it is time, and leaves the rest to a thread once it takes long.
    pub(super) fn look(&mut self, now: Instant) {
        if self.due().is_none_or(|due| now < due) {
            return;
        }
        // To guard something again takes as long as the host's filesystems like: whoever waits has
        // signals and time to look after.
        if self.looks.pass(now) || self.looks.differ(&self.watch) {
            match self.be_told() {
                Ok(told) => self.told = Some(told),
                // Looking goes on.
                Err(_) => {
                    self.notes.extend(self.looks.look(&self.watch));
                    self.looks.begin_again(now);
                }
            }
        }
    }

    fn be_told(&mut self) -> std::io::Result<Told> {
        let again = || events::open().ok().map(Arc::new);
        let events = self.events.clone().or_else(again);
        let told = Told::start(&self.watch, self.coming.clone(), self.looks.clone(), events)?;
        self.coming = None;
        Ok(told)
    }

    /// Ends the watch, and returns what was seen.
    pub(super) fn finish(mut self) -> Seen {
        let mut seen = match &mut self.told {
            Some(told) => told.end(),
            None => Seen { notes: self.looks.look(&self.watch), missed: false },
        };
        // The janitor may have let go of it already, and then it would be us who wait.
        if self.told.is_some() {
            let_go([self.events.take().and_then(Arc::into_inner), None]);
        }
        seen.notes.splice(..0, std::mem::take(&mut self.notes));
        seen
    }
}

impl Seen {
    /// Says it in an outcome.
    pub(super) fn tell(self, outcome: &mut Outcome) {
        outcome.notes.extend(self.notes);
        if !self.missed {
            return;
        }
        for layer in outcome.enforced.iter_mut().filter(|it| it.layer == Layer::Hide) {
            if let Strength::Window(told) | Strength::Partial(told) = &mut layer.strength {
                let mut told = std::mem::take(told);
                told.push("not all folders were watched for what comes to match a pattern".into());
                layer.strength = Strength::Partial(told);
            }
        }
    }
}
