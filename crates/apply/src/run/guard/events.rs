//! A thread that the kernel tells when something in the folder of a guarded name is moved, or comes
//! where a hidden name may come.
//!
//! A user has a hundred or so ways to be told, for all programs together. When there are no more,
//! the thread looks by itself, often.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::come::Come;
use super::folders::{Folders, Heard};
use super::look::Looks;
use super::vacated::Vacated;
use super::{Seen, Watch};
use crate::sys::descriptor::lift;

/// How often the thread looks that nobody tells.
const OFTEN: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// The thread at work. Dropping this ends it.
#[derive(Debug)]
pub(super) struct Told {
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<Seen>>,
}

impl Told {
    /// Starts the thread, which goes on from what `looks` saw last.
    pub(super) fn start(
        watch: &Arc<Watch>,
        mut looks: Looks,
        events: Option<Arc<OwnedFd>>,
    ) -> std::io::Result<Self> {
        let mut folders = Folders::new(events);
        match above(&mut folders, watch) {
            Ok(()) => {}
            // Too many are told already, here or elsewhere.
            Err(Errno::MFILE | Errno::NOSPC | Errno::NOMEM) => folders = Folders::default(),
            Err(errno) => return Err(errno.into()),
        }
        let watch = Arc::clone(watch);
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        let body = move || tell(&watch, folders, &mut looks, stopped.as_fd());
        let thread = thread::Builder::new().name("palisade-guard".into()).spawn(body)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Ends the thread, and returns what it saw.
    pub(super) fn end(&mut self) -> Seen {
        drop(self.stop.take());
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
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
    let guarded = watch.names.iter().map(|name| name.path.parent().unwrap_or(&name.path));
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
fn tell(watch: &Watch, mut folders: Folders, looks: &mut Looks, stopped: BorrowedFd<'_>) -> Seen {
    let mut seen = Seen::default();
    let mut come = watch.coming.as_ref().map(Come::new);
    let mut vacated = watch.kept.as_ref().map(Vacated::new);
    let mut heard = Heard::anything();
    loop {
        if heard.all || !heard.folders.is_empty() {
            // A folder that has come back is another one.
            above(&mut folders, watch).ok();
        }
        if watch.names.iter().any(|name| heard.is_about(&name.path)) {
            seen.notes.extend(looks.look(watch));
        }
        if let Some(vacated) = &mut vacated {
            seen.notes.extend(vacated.look(&heard, &watch.inside));
        }
        if let Some(come) = &mut come {
            seen.notes.extend(come.look(&heard, &mut folders, &watch.inside));
            seen.missed = come.has_missed();
        }
        let pause = come.as_ref().and_then(Come::pause).and_then(|it| Timespec::try_from(it).ok());
        let events = folders.events();
        let pause = if events.is_some() { pause } else { Some(OFTEN) };
        let mut ready = vec![PollFd::from_borrowed_fd(stopped, PollFlags::IN)];
        ready.extend(events.map(|events| PollFd::from_borrowed_fd(events, PollFlags::IN)));
        match poll(&mut ready, pause.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
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
