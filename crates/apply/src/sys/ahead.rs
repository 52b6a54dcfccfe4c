//! A process that makes namespaces ahead of their use.
//!
//! An empty network takes the kernel longer than anything else that a sandbox is made of. This
//! process makes one, and the other namespaces that it can be in itself, while its owner still finds
//! out what the sandbox is to be. Then it makes the sandbox's first process in there, as a child of
//! the owner and with a copy of the owner's memory, as if the owner had made it.
//!
//! It works in the owner's memory and with the owner's descriptors, as a thread does, and dies with
//! the owner. It shares the thread-local memory of the thread that made it: it calls nothing that
//! writes there, such as a C function that can fail.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, Result};
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::{CpuSet, UnshareFlags, sched_getaffinity, sched_getcpu, sched_setaffinity};

use super::descriptor::lift;
use super::process::{Made, Side, Stack, await_end, clone_beside, clone_noting, leave, signal};
use super::{network, restrict, signal as signals};

/// What it makes beside a user namespace.
pub(crate) const MADE: UnshareFlags = UnshareFlags::NEWNET
    .union(UnshareFlags::NEWNS)
    .union(UnshareFlags::NEWIPC)
    .union(UnshareFlags::NEWUTS)
    .union(UnshareFlags::NEWCGROUP);

/// How long it may take to make a process: far longer than it does, unless somebody has stopped it.
const PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// What it is asked for instead of namespaces when it is to end.
const END: u64 = u64::MAX;

/// The process, and what it shares with us. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Ahead {
    made: Made,
    /// Who we were when it was sent: it still is.
    who: (u32, u32),
    shared: Arc<Shared>,
    // Freed after the process has ended.
    _stack: Stack,
    // Bound to the thread whose memory it uses.
    _here: PhantomData<*mut ()>,
}

/// What both sides use. Each number is written by one side before it rings, and read by the other
/// after.
#[derive(Debug)]
struct Shared {
    /// The maps that it writes itself, if it is to: of users and of groups.
    maps: Option<[Vec<u8>; 2]>,
    /// What else it makes then.
    furnish: fn() -> Result<bool>,
    /// Whether it has.
    furnished: AtomicBool,
    /// The processors that it, and who comes after it, may run on.
    processors: Option<CpuSet>,
    /// Whether it runs.
    begun: AtomicBool,
    /// The processor that its owner works on meanwhile.
    busy: AtomicUsize,
    /// A pidfd of the owner.
    owner: OwnedFd,
    /// The owner rings: make a process.
    wanted: OwnedFd,
    /// It rings: made, or not.
    done: OwnedFd,
    namespaces: AtomicU64,
    body: AtomicPtr<c_void>,
    errno: AtomicI32,
    pid: AtomicI32,
    pidfd: AtomicI32,
}

impl Ahead {
    /// Sends one ahead, which maps users and groups like this if it is to do that itself, and then
    /// furnishes its mounts. That must allocate nothing, and call no C function that can fail.
    pub(crate) fn new(maps: Option<[Vec<u8>; 2]>, furnish: fn() -> Result<bool>) -> Result<Self> {
        let bell = || eventfd(0, EventfdFlags::CLOEXEC).and_then(lift);
        let own = rustix::process::getpid();
        let shared = Arc::new(Shared {
            maps,
            furnish,
            furnished: AtomicBool::new(false),
            processors: sched_getaffinity(None).ok(),
            begun: AtomicBool::new(false),
            busy: AtomicUsize::new(usize::MAX),
            owner: rustix::process::pidfd_open(own, PidfdFlags::empty()).and_then(lift)?,
            wanted: bell()?,
            done: bell()?,
            namespaces: AtomicU64::new(0),
            body: AtomicPtr::new(ptr::null_mut()),
            errno: AtomicI32::new(0),
            pid: AtomicI32::new(0),
            pidfd: AtomicI32::new(-1),
        });
        let mut stack = Stack::new();
        let flags = libc::CLONE_FILES | libc::CLONE_NEWUSER;
        let given = Arc::as_ptr(&shared).cast_mut().cast::<c_void>();
        let _blocked = signals::block_all();
        // SAFETY: the stack and what is shared stay where they are until the process has ended, and
        // it only reads the latter, but for atomics.
        let made = unsafe { clone_beside(work, &mut stack, flags, given) }?;
        Ok(Self { made, who: who(), shared, _stack: stack, _here: PhantomData })
    }

    /// Has it run on another processor, if it still waits for ours. Some kernels leave new processes
    /// where they were made for as long as their maker runs, to keep other processors asleep: it would
    /// make nothing meanwhile, and then hold us up.
    pub(crate) fn push(&self) {
        let shared = &*self.shared;
        shared.busy.store(sched_getcpu(), Ordering::Release);
        if !shared.begun.load(Ordering::Acquire) {
            shared.keep_off(Some(self.made.pid));
        }
    }

    /// Returns the processors that whoever it makes may run on in the end: it begins on another than
    /// ours, as we go on meanwhile.
    pub(crate) fn processors(&self) -> Option<CpuSet> {
        self.shared.processors
    }

    /// Returns whether it is of use to who we are now.
    pub(crate) fn is_ours(&self) -> bool {
        self.who == who()
    }

    /// Returns whether it maps users and groups itself, and tries to furnish its mounts.
    pub(crate) fn is_mapped(&self) -> bool {
        self.shared.maps.is_some()
    }

    /// Returns whether it has furnished its mounts, in a process that it has made: before, nobody
    /// knows.
    pub(crate) fn has_furnished(&self) -> bool {
        self.shared.furnished.load(Ordering::Acquire)
    }

    /// Makes a process that runs `body` in these namespaces, as a child of ours: those that there
    /// are, and new ones of other kinds. `body` must not return, and is bound as the child of
    /// `clone_into`. What we do `meanwhile` the process may find done or not.
    pub(crate) fn make(
        &self,
        namespaces: u64,
        mut body: &mut dyn FnMut(),
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Made> {
        let shared = &*self.shared;
        let user = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
        let namespaces = namespaces & !(user | u64::from(MADE.bits()));
        shared.namespaces.store(namespaces, Ordering::Release);
        shared.body.store((&raw mut body).cast::<c_void>(), Ordering::Release);
        shared.busy.store(sched_getcpu(), Ordering::Release);
        let asked = ring(shared.wanted.as_fd());
        meanwhile();
        let done = asked
            .and_then(|()| either(shared.done.as_fd(), self.made.pidfd.as_fd(), Some(&PATIENCE)));
        if done.is_ok_and(|[done, _]| done) {
            match shared.errno.load(Ordering::Acquire) {
                0 => {}
                errno => return Err(Errno::from_raw_os_error(errno)),
            }
        } else {
            // It was killed or stopped, and may have made a process just before.
            self.end();
        }
        Made::noted(&shared.pid, &shared.pidfd)
    }

    /// Ends it, and waits until it has. Who is somebody else by now may not kill it, so it is told,
    /// too.
    fn end(&self) {
        self.shared.namespaces.store(END, Ordering::Release);
        ring(self.shared.wanted.as_fd()).ok();
        signal(self.made.pidfd.as_fd(), libc::SIGKILL).ok();
        await_end(self.made.pid).ok();
    }
}

impl Shared {
    /// Keeps a process, or this one, from running where the owner does, if there is another processor.
    fn keep_off(&self, process: Option<Pid>) {
        let Some(mut others) = self.processors else { return };
        let busy = self.busy.load(Ordering::Acquire);
        if busy < CpuSet::MAX_CPU {
            others.unset(busy);
        }
        if others.count() > 0 {
            sched_setaffinity(process, &others).ok();
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.end();
    }
}

fn who() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

/// The process itself.
extern "C" fn work(shared: *mut c_void) -> c_int {
    // SAFETY: the owner keeps it until we have ended.
    let shared = unsafe { &*shared.cast::<Shared>() };
    shared.begun.store(true, Ordering::Release);
    rustix::thread::set_name(c"pal-ahead").ok();
    // Should somebody have stopped us, we would not see that the owner is gone. That this is bound to
    // the owner's thread is right here: so are we.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).ok();
    let settled = settle(shared);
    let asked = either(shared.wanted.as_fd(), shared.owner.as_fd(), None);
    let namespaces = shared.namespaces.load(Ordering::Acquire);
    if asked != Ok([true, false]) || namespaces == END {
        leave(0)
    }
    shared.keep_off(None);
    let sibling = u64::from(libc::CLONE_PARENT.cast_unsigned());
    let made =
        settled.and_then(|()| clone_noting(namespaces | sibling, &shared.pid, &shared.pidfd));
    match made {
        Ok(Side::Child) => {
            let body = shared.body.load(Ordering::Acquire).cast::<&mut dyn FnMut()>();
            // SAFETY: the address of a variable of `make`, in our copy of the owner's memory, which
            // nobody else uses.
            unsafe { (*body)() };
            leave(125)
        }
        Ok(Side::Parent(())) => {}
        Err(errno) => shared.errno.store(errno.raw_os_error(), Ordering::Release),
    }
    // At once: as long as we are there, the kernel counts us among the sandbox's processes.
    ring(shared.done.as_fd()).ok();
    leave(0)
}

/// Makes what takes long.
fn settle(shared: &Shared) -> Result<()> {
    // Before there are mounts of its own: another thread may clone a process just now, which then has
    // these files too for a moment, and mounts with files that are written cannot be sealed.
    if let Some([uids, gids]) = &shared.maps {
        restrict::map_self(uids, gids)?;
    }
    restrict::new_namespaces(MADE)?;
    if shared.maps.is_some() {
        shared.furnished.store((shared.furnish)()?, Ordering::Release);
    }
    network::loopback_up()?;
    // Whoever is made here does so too, finds nothing left to do, and says what is wrong.
    restrict::empty_bounding_set().ok();
    Ok(())
}

fn ring(bell: BorrowedFd<'_>) -> Result<()> {
    rustix::io::write(bell, &1_u64.to_ne_bytes()).map(drop)
}

/// Waits until a bell rings or a process has ended, but not for longer than this; returns which. A
/// bell that rang is silent again.
fn either(
    bell: BorrowedFd<'_>,
    process: BorrowedFd<'_>,
    patience: Option<&Timespec>,
) -> Result<[bool; 2]> {
    loop {
        let mut watched = [
            PollFd::from_borrowed_fd(bell, PollFlags::IN),
            PollFd::from_borrowed_fd(process, PollFlags::IN),
        ];
        match poll(&mut watched, patience) {
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
            Ok(_) => {}
        }
        let is = watched.map(|one| !one.revents().is_empty());
        if let [true, _] = is {
            rustix::io::read(bell, &mut [0; 8])?;
        }
        return Ok(is);
    }
}
