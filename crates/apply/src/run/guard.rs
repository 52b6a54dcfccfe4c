//! What is protected or hidden, and what somebody on the host replaces while a command runs.
//!
//! Git and editors save by moving a new file over the old one, a checkout removes a folder and makes
//! another, and with the old one goes what was mounted on it. Whoever waits for the command looks at
//! protected and hidden names, mounts over what has come in their place again, and says so. What the
//! command writes into a file while that is done is put back; what it wrote before anybody looked
//! stays, what it read was read, and the note says that too.
//!
//! A command that goes on for longer, or that nobody waits for yet, is guarded by a thread that the
//! kernel tells. Short ones are not: to stop being told takes longer than many of them do. That is
//! why the janitor, where there is one, has the descriptor too: who lets go last waits.

mod again;
mod events;
mod look;

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use palisade_plan::{Access, Note, Plan, Step};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::error::{CannotStart, before};
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
    /// Where the kernel will tell; none if it has no more of them.
    events: Option<OwnedFd>,
}

/// A name of which what lies there is guarded.
#[derive(Debug)]
struct Guarded {
    path: PathBuf,
    text: CString,
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
    looks: Looks,
    events: Option<Arc<OwnedFd>>,
    told: Option<Told>,
    notes: Vec<Note>,
}

impl Watched {
    /// Looks at what a plan protects, and hides in writable trees; `None` if there is none of it.
    pub(super) fn new(plan: &Plan) -> Result<Option<Self>, CannotStart> {
        let steps = plan.steps();
        let reserved = steps.iter().filter_map(|step| {
            let Step::Reserve(paths) = step else { return None };
            Some(paths.iter().map(|path| path.as_os_str()))
        });
        let reserved: BTreeSet<&OsStr> = reserved.flatten().collect();
        let is_written = |path: &Path| {
            steps.iter().any(|step| {
                matches!(step, Step::Keep(keep)
                    if keep.access == Access::Write && path.starts_with(&keep.path))
            })
        };
        let guarded = steps.iter().filter_map(|step| {
            if let Step::Protect(path) = step {
                // What is absent is nothing to be replaced.
                let is_there = !reserved.contains(path.as_os_str());
                is_there.then(|| Some((path, Against::Change, Identity::at(path)?))).flatten()
            } else if let Step::Cover { at, .. } = step {
                // Elsewhere names are hidden, whatever has them.
                is_written(at).then(|| Some((at, Against::Sight, Identity::at(at)?))).flatten()
            } else {
                None
            }
        });
        let (mut names, mut seen) = (Vec::new(), Vec::new());
        for (path, against, identity) in guarded {
            let text = CString::new(path.as_os_str().as_bytes())
                .map_err(|_| CannotStart::ZeroByte(path.display().to_string()))?;
            names.push(Guarded { path: path.clone(), text, against });
            seen.push(Some(identity));
        }
        Ok((!names.is_empty()).then(|| Self { names, seen, events: events::open().ok() }))
    }

    /// Returns where the kernel will tell.
    pub(super) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(OwnedFd::as_fd)
    }

    /// Guards them for the sandbox whose first process this is.
    pub(super) fn guard(self, first: Pid, watcher: Watcher) -> Result<Guard, CannotStart> {
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
        let watch = Arc::new(Watch { names: self.names, inside });
        let looks = Looks::new(self.seen);
        let events = self.events.map(Arc::new);
        let mut guard = Guard { watch, looks, events, told: None, notes: Vec::new() };
        if watcher == Watcher::Thread {
            let doing = "watch protected files";
            guard.told =
                Some(guard.be_told().map_err(|errno| CannotStart::Before { doing, errno })?);
        }
        Ok(guard)
    }
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
        let last = self.looks.pass(now);
        self.notes.extend(self.looks.look(&self.watch));
        if last {
            match self.be_told() {
                Ok(told) => self.told = Some(told),
                // Looking goes on.
                Err(_) => self.looks.begin_again(now),
            }
        }
    }

    fn be_told(&self) -> std::io::Result<Told> {
        let again = || events::open().ok().map(Arc::new);
        Told::start(&self.watch, self.looks.clone(), self.events.clone().or_else(again))
    }

    /// Ends the watch, and returns what was seen.
    pub(super) fn finish(mut self) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(match &mut self.told {
            Some(told) => told.end(),
            None => self.looks.look(&self.watch),
        });
        notes
    }
}
