//! A thread that the kernel tells when something in the folder of a guarded name is moved.
//!
//! A user has a hundred or so ways to be told, for all programs together. When there are no more,
//! the thread looks by itself, often.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use palisade_plan::Note;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::look::Looks;
use super::{Guarded, Watch};
use crate::sys::descriptor::lift;

/// How often the thread looks that nobody tells.
const OFTEN: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// The thread at work. Dropping this ends it.
#[derive(Debug)]
pub(super) struct Told {
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<Vec<Note>>>,
}

impl Told {
    /// Starts the thread, which goes on from what `looks` saw last.
    pub(super) fn start(
        watch: &Arc<Watch>,
        mut looks: Looks,
        events: Option<Arc<OwnedFd>>,
    ) -> std::io::Result<Self> {
        let asked = events.map(|events| folders(&events, &watch.names).map(|()| events));
        let events = match asked.transpose() {
            Ok(events) => events,
            // Too many are told already, here or elsewhere.
            Err(Errno::MFILE | Errno::NOSPC | Errno::NOMEM) => None,
            Err(errno) => return Err(errno.into()),
        };
        let watch = Arc::clone(watch);
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        let body = move || tell(&watch, events.as_deref(), &mut looks, stopped.as_fd());
        let thread = thread::Builder::new().name("palisade-guard".into()).spawn(body)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Ends the thread, and returns what it saw.
    pub(super) fn end(&mut self) -> Vec<Note> {
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

/// Asks to be told of the folders that these names are in.
fn folders(events: &OwnedFd, names: &[Guarded]) -> Result<(), Errno> {
    let what = WatchFlags::MOVED_TO
        | WatchFlags::MOVED_FROM
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::ONLYDIR;
    for name in names {
        let folder = name.path.parent().unwrap_or(&name.path);
        match inotify::add_watch(events, folder, what) {
            // One that is gone has no names either, and cannot come back: it is pinned.
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Looks whenever something happens, until it is stopped. What happens is of no interest, only
/// which files are there afterwards.
fn tell(
    watch: &Watch,
    events: Option<&OwnedFd>,
    looks: &mut Looks,
    stopped: BorrowedFd<'_>,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut room = [0; 4096];
    let pause = events.is_none().then_some(&OFTEN);
    loop {
        if let Some(events) = events {
            while rustix::io::read(events, &mut room[..]).is_ok_and(|read| read > 0) {}
        }
        notes.extend(looks.look(watch));
        let mut ready = vec![PollFd::from_borrowed_fd(stopped, PollFlags::IN)];
        ready.extend(events.map(|events| PollFd::from_borrowed_fd(events.as_fd(), PollFlags::IN)));
        match poll(&mut ready, pause) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return notes,
        }
        if ready.first().is_some_and(|stop| !stop.revents().is_empty()) {
            notes.extend(looks.look(watch));
            return notes;
        }
    }
}
