//! What the command tried to write and will be refused, told before the kernel decides.
//!
//! It is a prediction, because the path lies in the command's memory and may change after we read
//! it; the walls do not depend on it. A thread answers, and each call goes on whatever we found.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path, PathBuf};
use std::thread::JoinHandle;

use palisade_plan::seccomp::{Arch, EXECUTE, Last, TRACED, Traced};
use palisade_plan::{Plan, Step, is_system};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, ResolveFlags, StatVfsMountFlags};
use rustix::io::Errno;

use super::outcome::{Used, Violation, Violations};
use crate::sys::notify::{self, Pending};

/// The most that is reported; the rest is the same again, nearly always.
const MOST: usize = 256;

/// The most that is kept of what was written, and of what was started.
const MOST_USED: usize = 4096;

/// A thread that is told of writes.
#[derive(Debug)]
pub(super) struct Tracer(JoinHandle<Told>);

/// What a thread was told.
#[derive(Debug, Default)]
struct Told {
    refused: Vec<Violation>,
    used: Used,
}

/// What becomes of one call.
enum Fate {
    Refused(Violation),
    Written(PathBuf),
    Started(PathBuf),
}

impl Tracer {
    /// Starts to listen, if the plan says so.
    pub(super) fn start(listener: OwnedFd, plan: &Plan) -> Option<Self> {
        let arch = plan.steps().iter().find_map(|step| {
            let Step::TraceWrites(arch) = step else { return None };
            Some(*arch)
        })?;
        let known = Known::of(plan);
        let body = move || attend(&listener, arch, &known);
        std::thread::Builder::new().name("palisade-trace".into()).spawn(body).ok().map(Self)
    }

    /// Returns what was found. Everybody in the sandbox must have ended.
    pub(super) fn finish(self) -> (Violations, Used) {
        match self.0.join() {
            Ok(told) => (Violations::Predicted(told.refused), told.used),
            Err(_) => (Violations::Unavailable, Used::default()),
        }
    }
}

/// What shows something that is hidden. A plan does not tell whose it is.
const SHOWN: &str = "files.unhide shows it, unless it is what Palisade keeps for itself";

/// What the plan says about paths.
struct Known {
    protected: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Known {
    fn of(plan: &Plan) -> Self {
        let mut known = Self { protected: Vec::new(), hidden: Vec::new(), home: None };
        for step in plan.steps() {
            if let Step::Protect(path) = step {
                known.protected.push(path.clone());
            } else if let Step::Cover { at, .. } = step {
                known.hidden.push(at.clone());
            } else if let Step::Hide { at, names, .. } = step {
                known.hidden.extend(names.iter().map(|name| at.join(name)));
            } else if let Step::Exec { environment, .. } = step {
                let home = environment.iter().find(|(name, _)| name == "HOME");
                known.home = home.map(|(_, home)| home.into());
            }
        }
        known
    }
}

/// Answers until the last process that could ask is gone.
fn attend(listener: &OwnedFd, arch: Arch, known: &Known) -> Told {
    notify::hurry(listener.as_fd());
    let mut found = Told::default();
    loop {
        let mut watched = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return found,
        }
        let [told] = watched.map(|one| one.revents());
        if !told.contains(PollFlags::IN) {
            return found;
        }
        // Whoever asked may have been killed in the meantime.
        let Ok(pending) = notify::receive(listener.as_fd()) else { continue };
        let calls = TRACED.iter().filter(|call| call.number(arch) == Some(pending.number));
        let asked = Asked { listener: listener.as_fd(), pending: &pending };
        let predicted: Vec<_> = calls.filter_map(|call| asked.predicted(call, known)).collect();
        notify::go_on(listener.as_fd(), &pending).ok();
        predicted.into_iter().for_each(|one| note(&mut found, one));
    }
}

fn note(told: &mut Told, one: Fate) {
    let (kept, path, used) = match one {
        Fate::Refused(one) => return note_refused(&mut told.refused, one),
        Fate::Written(path) => (&mut told.used.written, path, &mut told.used.more),
        Fate::Started(path) => (&mut told.used.programs, path, &mut told.used.more),
    };
    if kept.len() < MOST_USED {
        kept.insert(path);
    } else {
        *used |= !kept.contains(&path);
    }
}

fn note_refused(found: &mut Vec<Violation>, one: Violation) {
    let same = |had: &Violation| had.operation == one.operation && had.path == one.path;
    let had = found.iter().position(same).and_then(|at| found.get_mut(at));
    if let Some(had) = had {
        had.times += 1;
    } else if found.len() < MOST {
        found.push(one);
    }
}

/// A call, and where it was told.
struct Asked<'a> {
    listener: BorrowedFd<'a>,
    pending: &'a Pending,
}

impl Asked<'_> {
    /// Says what will be refused about the call, if whoever makes it waits until that is known: all of
    /// it is looked up by the number of a thread, which is used again.
    fn predicted(&self, call: &Traced, known: &Known) -> Option<Fate> {
        self.while_waiting(|memory| predict(call, self.pending, memory, known))
    }

    fn while_waiting<T>(&self, look: impl FnOnce(&File) -> Option<T>) -> Option<T> {
        let is_waiting = || notify::is_waiting(self.listener, self.pending);
        let memory = File::open(format!("/proc/{}/mem", self.pending.thread)).ok()?;
        is_waiting().then(|| look(&memory))?.filter(|_| is_waiting())
    }
}

/// Says what will be refused about a call, if anything.
fn predict(call: &Traced, pending: &Pending, memory: &File, known: &Known) -> Option<Fate> {
    let named = path_of(call, pending, memory)?;
    let violation = |path: PathBuf, rule, remedy| {
        let operation = call.operation;
        Some(Fate::Refused(Violation { operation, path, rule, remedy, times: 1 }))
    };
    let below = |list: &[PathBuf], path: &Path| list.iter().any(|one| path.starts_with(one));
    if call.operation == EXECUTE {
        return started(pending.thread, &named).map(Fate::Started);
    }
    let Some((path, seal)) = place(pending.thread, &named, call.last) else {
        return below(&known.hidden, &named)
            .then(|| violation(named, "files.hide", SHOWN.into()))?;
    };
    if seal == Seal::Open {
        return Some(Fate::Written(path));
    }
    if below(&known.protected, &path) {
        let remedy = "it is protected: change it yourself, outside the sandbox".into();
        return violation(path, "files.protect", remedy);
    }
    if below(&known.hidden, &path) {
        return violation(path, "files.hide", SHOWN.into());
    }
    let remedy = remedy(&path, known);
    violation(path, "files.write", remedy)
}

/// Returns the program that a path leads to, if there is one: a shell tries many that there are not.
fn started(thread: u32, path: &Path) -> Option<PathBuf> {
    let (real, _) = place(thread, path, Last::Followed)?;
    rustix::fs::stat(format!("/proc/{thread}/root{}", real.display())).ok()?;
    Some(real)
}

/// Says what would let a path be written, and opens no more than that.
fn remedy(path: &Path, known: &Known) -> String {
    const BELOW: &str = "write below what files.write lists";
    let folder = path.parent().unwrap_or(path);
    let above = |home: &PathBuf| home.starts_with(folder);
    if folder.parent().is_none() || is_system(path) {
        return format!("{BELOW}: this is the system's");
    }
    if known.home.as_ref().is_some_and(above) {
        let path = path.display();
        return format!("{BELOW}, or make `{path}` yourself and add it to files.write, alone");
    }
    format!("{BELOW}, or add `{}` to files.write", folder.display())
}

/// Returns the path that a call names, absolute and free of dots.
fn path_of(call: &Traced, pending: &Pending, memory: &File) -> Option<PathBuf> {
    let thread = pending.thread;
    let address = *pending.arguments.get(call.path)?;
    let mut text = vec![0; 4096];
    let read = memory.read_at(&mut text, address).ok()?;
    text.truncate(read);
    let end = text.iter().position(|byte| *byte == 0)?;
    let path = Path::new(OsStr::from_bytes(text.get(..end)?));
    // An empty path means an open file, which was judged when it was opened.
    if path.as_os_str().is_empty() {
        return None;
    }
    let folder = call.folder.and_then(|place| pending.arguments.get(place));
    let base = match folder.map(|number| *number & 0xffff_ffff) {
        // AT_FDCWD, in the low half.
        None | Some(0xffff_ff9c) => format!("/proc/{thread}/cwd"),
        Some(number) => format!("/proc/{thread}/fd/{number}"),
    };
    let whole = if path.is_absolute() { path.into() } else { fs::read_link(base).ok()?.join(path) };
    Some(whole.components().filter(|part| *part != Component::CurDir).collect())
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Seal {
    Open,
    ReadOnly,
}

/// Returns where a path leads inside, and whether that can be written, by the mount it is on.
fn place(thread: u32, path: &Path, last: Last) -> Option<(PathBuf, Seal)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(format!("/proc/{thread}/root"), flags, Mode::empty()).ok()?;
    let open = |path: &Path, flags| {
        rustix::fs::openat2(&root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)
    };
    let end = match last {
        Last::Followed => flags,
        Last::Itself => flags | OFlags::NOFOLLOW,
    };
    let (found, name) = match open(path, end) {
        Ok(found) => (found, None),
        Err(_) => (open(path.parent()?, flags).ok()?, path.file_name()),
    };
    let mount = rustix::fs::fstatvfs(&found).ok()?;
    let seal =
        if mount.f_flag.contains(StatVfsMountFlags::RDONLY) { Seal::ReadOnly } else { Seal::Open };
    let number = std::os::fd::AsRawFd::as_raw_fd(&found);
    let mut real = fs::read_link(format!("/proc/self/fd/{number}")).unwrap_or_else(|_| path.into());
    real.extend(name);
    Some((real, seal))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use palisade_plan::seccomp::{Instruction, trace};

    use super::*;
    use crate::sys::restrict;

    #[test]
    fn a_call_whose_maker_waits_no_longer_is_not_told_of() {
        // Only of this thread: filters are not shared with others.
        let (to, from) = channel();
        let maker = thread::spawn(move || {
            let arch = if cfg!(target_arch = "x86_64") { Arch::X86_64 } else { Arch::Aarch64 };
            let program: Vec<_> = trace(arch).iter().map(instruction).collect();
            restrict::no_new_privileges().unwrap();
            to.send((notify::listen(&program).unwrap(), arch)).unwrap();
            fs::create_dir("/proc/none").unwrap_err();
            // It is there as before, and its memory is, too.
            thread::park();
        });
        let (listener, arch) = from.recv().unwrap();
        let pending = notify::receive(listener.as_fd()).unwrap();
        let known = Known { protected: Vec::new(), hidden: vec!["/proc/none".into()], home: None };
        let asked = Asked { listener: listener.as_fd(), pending: &pending };
        let call = TRACED.iter().find(|call| call.number(arch) == Some(pending.number)).unwrap();
        // Where /proc can be written, as here, nothing would be refused; a memory that was read is
        // what matters.
        let memory = || File::open(format!("/proc/{}/mem", pending.thread)).unwrap();
        assert_eq!(path_of(call, &pending, &memory()), Some("/proc/none".into()));
        assert!(notify::is_waiting(listener.as_fd(), &pending));
        let waiting = asked.while_waiting(|memory| path_of(call, &pending, memory));
        assert_eq!(waiting, Some("/proc/none".into()));
        notify::go_on(listener.as_fd(), &pending).unwrap();
        assert!(!notify::is_waiting(listener.as_fd(), &pending));
        assert_eq!(asked.while_waiting(|memory| path_of(call, &pending, memory)), None);
        assert!(asked.predicted(call, &known).is_none());
        // It may make other such calls until it parks.
        drop(listener);
        maker.thread().unpark();
        maker.join().unwrap();
    }

    fn instruction(&(code, jt, jf, k): &Instruction) -> restrict::Instruction {
        restrict::Instruction { code, jt, jf, k }
    }
}
