//! A thread that the kernel tells when something in the folder of a guarded name is moved, or comes
//! where a hidden name may come.
//!
//! A user has a hundred or so ways to be told, for all programs together. When there are no more,
//! the thread looks by itself, often.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use palisade_plan::{Coming, Note};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::come::Come;
use super::folders::{Folders, Heard};
use super::look::Looks;
use super::vacated::Vacated;
use super::{Seen, Watch};
use crate::run::quiet::Quiet;
use crate::sys::descriptor::lift;
use crate::sys::idle;

/// How often the thread looks that nobody tells.
const OFTEN: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// The stack of the thread, of which less than half is in use while it waits.
const STACK: usize = 1 << 20;

/// How long the thread is waited for in the end. It may be held up by a filesystem of the host, for
/// ever, and then goes by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// The thread at work. Dropping this ends it.
#[derive(Debug)]
pub(super) struct Told {
    stop: Option<OwnedFd>,
    seen: Receiver<Seen>,
}

impl Told {
    /// Starts the thread, which goes on from what `looks` saw last.
    pub(super) fn start(
        watch: &Arc<Watch>,
        coming: Option<Arc<Coming>>,
        mut looks: Looks,
        events: Option<Arc<OwnedFd>>,
    ) -> std::io::Result<Self> {
        let watch = Arc::clone(watch);
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        let (to, seen) = channel();
        let body = move || {
            let all = tell(&watch, coming, Folders::new(events), &mut looks, stopped.as_fd());
            // Whoever hears of it goes on, and may end this process.
            drop(watch);
            to.send(all).ok();
        };
        thread::Builder::new().name("palisade-guard".into()).stack_size(STACK).spawn(body)?;
        Ok(Self { stop: Some(stop), seen })
    }

    /// Ends the thread, and returns what it saw.
    pub(super) fn end(&mut self) -> Seen {
        if self.stop.take().is_none() {
            return Seen::default();
        }
        self.seen.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let message = "whoever watches protected and hidden names is held up by a filesystem; \
                           what was replaced, and what came, is not told";
            let note = Note { code: "guard-late", message: message.into() };
            Seen { notes: vec![note], missed: true }
        })
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// Returns a descriptor on which the kernel can tell.
pub(super) fn open() -> Result<OwnedFd, Errno> {
    inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).and_then(lift)
}

/// Asks to be told of the folders that guarded names are in.
fn above(folders: &mut Folders, watch: &Watch) -> Result<(), Errno> {
    let kept = watch.kept.iter().flat_map(|kept| kept.folders());
    let guarded = watch.names.iter().map(|name| name.path().parent().unwrap_or(name.path()));
    for folder in guarded.chain(kept) {
        match folders.watch(folder) {
            // One that is gone has no names either.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Looks whenever something happens, until it is stopped. What happens is of no interest, only
/// which files are there afterwards.
fn tell(
    watch: &Watch,
    coming: Option<Arc<Coming>>,
    mut folders: Folders,
    looks: &mut Looks,
    stopped: BorrowedFd<'_>,
) -> Seen {
    let mut seen = Seen::default();
    let mut come = coming.map(|coming| Come::new(&coming));
    let mut vacated = watch.kept.as_ref().map(Vacated::new);
    let mut heard = Heard::anything();
    let mut quiet = Quiet::new(Instant::now());
    if above(&mut folders, watch).is_err() {
        // Too many are told already, here or elsewhere, or a folder cannot be listed.
        folders = Folders::default();
    }
    loop {
        if heard.all || !heard.folders.is_empty() {
            // A folder that has come back is another one.
            above(&mut folders, watch).ok();
        }
        if watch.names.iter().any(|name| heard.is_about(name.path())) {
            seen.notes.extend(looks.look(watch));
        }
        if let Some(vacated) = &mut vacated {
            seen.notes.extend(vacated.look(&heard, &watch.inside));
        }
        if let Some(come) = &mut come {
            seen.notes.extend(come.look(&heard, &mut folders, &watch.inside));
            seen.missed = come.has_missed();
        }
        let now = Instant::now();
        if quiet.as_mut().is_some_and(|quiet| quiet.is_long(now)) {
            idle::give_back_stack(STACK / 2);
        }
        let calm =
            quiet.as_ref().and_then(Quiet::due).map(|due| due.saturating_duration_since(now));
        let pauses =
            [come.as_ref().and_then(Come::pause), vacated.as_ref().and_then(Vacated::pause), calm];
        let pause = pauses.into_iter().flatten().min().and_then(|it| Timespec::try_from(it).ok());
        let events = folders.events();
        let pause = if events.is_some() { pause } else { Some(OFTEN) };
        let mut ready = vec![PollFd::from_borrowed_fd(stopped, PollFlags::IN)];
        ready.extend(events.map(|events| PollFd::from_borrowed_fd(events, PollFlags::IN)));
        match poll(&mut ready, pause.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => quiet.iter_mut().for_each(|quiet| quiet.stir(Instant::now())),
            Err(_) => return seen,
        }
        if ready.first().is_some_and(|stop| !stop.revents().is_empty()) {
            // Nobody is left who could read what comes now.
            seen.notes.extend(looks.look(watch));
            return seen;
        }
        heard = folders.hear();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use palisade_testkit::Project;

    use super::super::look::Identity;
    use super::super::{Against, Guard, Guarded, Inside};
    use super::*;

    /// As many as would take half a minute, each for as long as a mount is tried.
    #[test]
    fn whoever_waits_is_not_held_up_by_what_cannot_be_guarded_again() {
        let project = Project::new().file("old", "x");
        let mut names = Vec::new();
        for number in 0..100 {
            let path = project.path(format!("{number}"));
            fs::write(&path, "x").unwrap();
            names.push(Guarded::new(&path, Against::Sight).unwrap());
        }
        let seen = vec![Identity::at(&project.path("old")); names.len()];
        // Nobody can enter that.
        let inside = Inside { users: None, mounts: File::open("/dev/null").unwrap().into() };
        let watch = Arc::new(Watch { names, kept: None, inside });
        let looks = Looks::new(seen);
        let mut guard =
            Guard { watch, coming: None, looks, events: None, told: None, notes: Vec::new() };
        let begun = Instant::now();
        guard.look(begun + Duration::from_millis(1));
        let seen = guard.finish();
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        let codes: Vec<_> = seen.notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["guard-late"]);
    }
}
