//! Protected files that somebody on the host replaces while a command runs.
//!
//! Git and editors save by moving a new file over the old one, and with the old file goes what was
//! mounted on it. A thread watches the folders of protected files, mounts what has come in their
//! place read-only again, and says so. What was changed in the moment between is put back.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use palisade_plan::{Note, Plan, Step};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::error::{CannotStart, before};
use crate::sys::mount::{self, NO_DEVICES, NO_SUID, READ_ONLY};
use crate::sys::process::{LeaveOnDrop, Side, await_end, clone_into, leave};
use crate::sys::signal;

/// The most of a file that is remembered, to be put back.
const LONGEST: u64 = 1 << 20;

/// How often a mount is tried that the sandbox is not ready for.
const TRIES: u32 = 200;

/// Folders that are watched, before there is a sandbox.
#[derive(Debug)]
pub(super) struct Watched {
    events: OwnedFd,
    files: Vec<Protected>,
}

/// A protected file and the folder it is watched in.
#[derive(Debug)]
struct Protected {
    watch: i32,
    path: PathBuf,
    text: CString,
}

/// The thread at work. Dropping this ends it.
#[derive(Debug)]
pub(super) struct Guard {
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<Vec<Note>>>,
}

/// Where the sandbox's mounts are.
struct Inside {
    users: OwnedFd,
    mounts: OwnedFd,
}

impl Watched {
    /// Watches the folders of the files that a plan protects; `None` if it protects none.
    pub(super) fn new(plan: &Plan) -> Result<Option<Self>, CannotStart> {
        let failed = before("watch protected files");
        let reserved = plan.steps().iter().filter_map(|step| {
            let Step::Reserve(paths) = step else { return None };
            Some(paths.iter().map(|path| path.as_os_str()))
        });
        let reserved: BTreeSet<&OsStr> = reserved.flatten().collect();
        let protected = plan.steps().iter().filter_map(|step| {
            let Step::Protect(path) = step else { return None };
            // What is absent is no file.
            let is_file = !reserved.contains(path.as_os_str())
                && std::fs::symlink_metadata(path).ok()?.is_file();
            is_file.then_some(path)
        });
        let protected: Vec<&PathBuf> = protected.collect();
        if protected.is_empty() {
            return Ok(None);
        }
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let events = inotify::init(flags).map_err(&failed)?;
        let mut files = Vec::with_capacity(protected.len());
        for path in protected {
            let folder = path.parent().unwrap_or(path);
            let what = WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::ONLYDIR;
            // One that is gone again fails as a step of the plan, which names it.
            let Ok(watch) = inotify::add_watch(&events, folder, what) else { continue };
            let text = CString::new(path.as_os_str().as_bytes())
                .map_err(|_| CannotStart::ZeroByte(path.display().to_string()))?;
            files.push(Protected { watch, path: path.clone(), text });
        }
        Ok(Some(Self { events, files }))
    }

    /// Guards them for the sandbox whose first process this is.
    pub(super) fn guard(self, first: Pid) -> Result<Guard, CannotStart> {
        let failed = before("guard protected files");
        let namespace = |name: &str| {
            let path = format!("/proc/{}/ns/{name}", first.as_raw_nonzero());
            rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        let inside = Inside {
            users: namespace("user").map_err(&failed)?,
            mounts: namespace("mnt").map_err(&failed)?,
        };
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC).map_err(&failed)?;
        let body = move || watch(&self, &inside, stopped.as_fd());
        let thread = thread::Builder::new().name("palisade-guard".into()).spawn(body);
        let thread =
            thread.map_err(|errno| CannotStart::Before { doing: "start a thread", errno })?;
        Ok(Guard { stop: Some(stop), thread: Some(thread) })
    }
}

impl Guard {
    /// Ends the thread, and returns what it saw.
    pub(super) fn finish(mut self) -> Vec<Note> {
        self.end()
    }

    fn end(&mut self) -> Vec<Note> {
        drop(self.stop.take());
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.end());
    }
}

fn watch(watched: &Watched, inside: &Inside, stopped: BorrowedFd<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut room = [MaybeUninit::uninit(); 4096];
    loop {
        let mut ready = [
            PollFd::from_borrowed_fd(watched.events.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(stopped, PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return notes,
        }
        let [some, stop] = ready.map(|one| !one.revents().is_empty());
        let mut replaced: Vec<&Protected> = Vec::new();
        let mut events = inotify::Reader::new(&watched.events, &mut room);
        while let Some(event) = some.then(|| events.next().ok()).flatten() {
            let all = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            let is = |file: &&Protected| {
                let name = event.file_name().map(std::ffi::CStr::to_bytes);
                let own = file.path.file_name().map(OsStrExt::as_bytes);
                all || (file.watch == event.wd() && name == own)
            };
            replaced.extend(watched.files.iter().filter(is));
        }
        replaced.dedup_by_key(|file| &file.path);
        notes.extend(replaced.into_iter().filter_map(|file| again(file, inside)));
        if stop {
            return notes;
        }
    }
}

/// Protects what lies at a path now.
fn again(file: &Protected, inside: &Inside) -> Option<Note> {
    let told = |code, what: String| {
        Some(Note { code, message: format!("`{}` {what}", file.path.display()) })
    };
    let Ok(before) = content(&file.path) else {
        return told("protected-removed", "was removed while the command ran".into());
    };
    let mut errno = Errno::AGAIN;
    for _ in 0..TRIES {
        match mount_again(file, inside) {
            Ok(()) => {
                return match content(&file.path) {
                    Ok(after) if after == before => told(
                        "protected-replaced",
                        "was replaced while the command ran, and is protected again".into(),
                    ),
                    Ok(_) | Err(_) => {
                        let put = put_back(&file.path, &before);
                        let put = put.map_or_else(
                            |e| format!("cannot be put back: {e}"),
                            |()| "was put back".into(),
                        );
                        told(
                            "protected-changed",
                            format!("was changed as it was replaced, and {put}"),
                        )
                    }
                };
            }
            Err(failed) => errno = failed,
        }
        thread::sleep(Duration::from_millis(1));
    }
    told("protected-lost", format!("was replaced, and could not be protected again: {errno}"))
}

/// Mounts it read-only on itself, by a process that enters the sandbox for this alone.
fn mount_again(file: &Protected, inside: &Inside) -> Result<(), Errno> {
    let made = {
        let _blocked = signal::block_all();
        match clone_into(0)? {
            Side::Child => {
                let _guard = LeaveOnDrop;
                let done = enter(file, inside);
                leave(done.err().map_or(0, Errno::raw_os_error));
            }
            Side::Parent(made) => made,
        }
    };
    match await_end(made.pid)?.status {
        0 => Ok(()),
        status => Err(Errno::from_raw_os_error((status >> 8) & 0xff)),
    }
}

/// In the other process: it allocates nothing.
fn enter(file: &Protected, inside: &Inside) -> Result<(), Errno> {
    move_into_link_name_space(inside.users.as_fd(), Some(LinkNameSpaceType::User))?;
    move_into_link_name_space(inside.mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
    mount::rebind(&file.text, READ_ONLY | NO_SUID | NO_DEVICES)
}

fn content(path: &Path) -> std::io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes into the file that is there, whose mount stays.
fn put_back(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let flags =
        OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    File::from(rustix::fs::open(path, flags, Mode::empty())?).write_all(bytes)
}
