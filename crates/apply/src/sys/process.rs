//! Making, replacing, ending and awaiting processes.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, Result};
use rustix::process::Pid;

use super::{check, idle, raw, signal as signals};

/// Which side of a fork this is.
#[derive(Debug)]
pub(crate) enum Side<T> {
    /// The new process.
    Child,
    /// The one that made it, with what it knows of it.
    Parent(T),
}

/// A process that was made, and a descriptor that means it and no other.
#[derive(Debug)]
pub(crate) struct Made {
    /// Its number, as seen here.
    pub(crate) pid: Pid,
    /// Readable once it has ended.
    pub(crate) pidfd: OwnedFd,
}

/// What a process that has ended used, with those it awaited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its status, as wait(2) has it.
    pub(crate) status: i32,
    /// Microseconds of processor time, in programs.
    pub(crate) user: u64,
    /// Microseconds of processor time, in the kernel.
    pub(crate) system: u64,
    /// The largest memory that one process had, in KiB.
    pub(crate) peak: u64,
}

/// Makes a process in new namespaces: clone3(2), with handlers reset and no signal at its end.
///
/// The child has a copy of this thread and of no other: until it executes or ends, it must not
/// allocate, take a lock, or return from the function that called this.
pub(crate) fn clone_into(namespaces: u64) -> Result<Side<Made>> {
    let (pid, pidfd) = (AtomicI32::new(0), AtomicI32::new(-1));
    let side = match clone_noting(namespaces, &pid, &pidfd) {
        // Filters of containers, and our own around us, hide the newer call.
        Err(Errno::NOSYS) => clone_plainly(namespaces, &pid, &pidfd)?,
        side => side?,
    };
    match side {
        Side::Child => Ok(Side::Child),
        Side::Parent(()) => Made::noted(&pid, &pidfd).map(Side::Parent),
    }
}

/// Finds out whether the newer call is there, by one that can make nothing.
pub(crate) fn knows_clone3() -> Result<()> {
    // SAFETY: with a null pointer and size 0 the call only answers with an error.
    let returned = unsafe { libc::syscall(libc::SYS_clone3, ptr::null::<c_void>(), 0_usize) };
    match check(returned) {
        Ok(_) | Err(Errno::INVAL | Errno::FAULT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Makes a process as [`clone_into`] does, by the older call.
fn clone_plainly(namespaces: u64, pid: &AtomicI32, pidfd: &AtomicI32) -> Result<Side<()>> {
    let flags = flags_of(namespaces)? | libc::CLONE_PIDFD;
    let (no_stack, none) = (ptr::null_mut::<c_void>(), 0_usize);
    // SAFETY: the kernel writes one int to `pidfd`, which is alive until the call returns. Without
    // CLONE_VM and without a stack the child works on a copy of our memory, as after fork(2). Wrong
    // flags come back as an error.
    let returned =
        unsafe { libc::syscall(libc::SYS_clone, flags, no_stack, pidfd.as_ptr(), none, none) };
    let made = i32::try_from(check(returned)?).map_err(|_| Errno::CHILD)?;
    if made == 0 {
        signals::no_handlers();
        return Ok(Side::Child);
    }
    pid.store(made, Ordering::Release);
    Ok(Side::Parent(()))
}

impl Made {
    /// Returns the process that the kernel has noted here ([`clone_noting`]).
    pub(super) fn noted(pid: &AtomicI32, pidfd: &AtomicI32) -> Result<Self> {
        let pid = Pid::from_raw(pid.load(Ordering::Acquire)).ok_or(Errno::CHILD)?;
        // SAFETY: a process was made, so the kernel has put a new descriptor here that nobody else
        // owns.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd.load(Ordering::Acquire)) };
        Ok(Self { pid, pidfd })
    }
}

/// Makes a process as [`clone_into`] does. Its number and a descriptor are noted by the kernel, before
/// the process runs: should this one be ended just then, others can still tell that it was made.
pub(super) fn clone_noting(
    namespaces: u64,
    pid: &AtomicI32,
    pidfd: &AtomicI32,
) -> Result<Side<()>> {
    // SAFETY: an all-zero `clone_args` is a valid one: it asks for nothing.
    let mut arguments: libc::clone_args = unsafe { mem::zeroed() };
    let noted = (libc::CLONE_PIDFD | libc::CLONE_PARENT_SETTID).cast_unsigned();
    arguments.flags = namespaces | u64::from(noted) | u64::from(CLEAR_HANDLERS_LOW) << 32;
    arguments.pidfd = pidfd.as_ptr().expose_provenance() as u64;
    arguments.parent_tid = pid.as_ptr().expose_provenance() as u64;
    let size = size_of::<libc::clone_args>();
    // SAFETY: the kernel reads `size` bytes of `arguments` and writes one int each to `pid` and
    // `pidfd`, all alive until the call returns. Without CLONE_VM the child works on a copy of our
    // memory, so two returns from one call see two stacks. Wrong flags come back as an error.
    let returned = unsafe {
        raw::call(libc::SYS_clone3, [(&raw mut arguments).expose_provenance(), size, 0, 0, 0])
    };
    Ok(if returned? == 0 { Side::Child } else { Side::Parent(()) })
}

/// `CLONE_CLEAR_SIGHAND`, bit 32.
const CLEAR_HANDLERS_LOW: u32 = 1;

/// A stack for a process that works in the memory of another.
#[derive(Debug)]
pub(crate) struct Stack(Box<[MaybeUninit<u128>]>);

impl Stack {
    /// Makes one; pages that are never used cost nothing.
    pub(crate) fn new() -> Self {
        Self::of(256 << 10)
    }

    pub(super) fn of(bytes: usize) -> Self {
        Self(Box::new_uninit_slice(bytes / size_of::<u128>()))
    }

    /// Returns where it lies.
    pub(crate) fn range(&self) -> Range<usize> {
        let range = self.0.as_ptr_range();
        range.start.addr()..range.end.addr()
    }

    pub(super) fn top(&mut self) -> *mut c_void {
        self.0.as_mut_ptr_range().end.cast::<c_void>()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if idle::is_wanted() {
            let Range { start, end } = self.0.as_mut_ptr_range();
            let pages = start.expose_provenance().next_multiple_of(idle::PAGE)
                ..end.addr() - end.addr() % idle::PAGE;
            // SAFETY: whole pages of what is ours, has no content, and is freed now.
            unsafe { idle::give(pages) };
        }
    }
}

/// Makes a process that runs `work` in our memory, on a stack of its own: clone(2) with `CLONE_VM`.
/// Every signal must be blocked: it has our handlers.
///
/// # Safety
///
/// `stack` and what `given` leads to stay where they are until the process has ended, and `work` does
/// nothing there that we would not expect of another thread.
pub(super) unsafe fn clone_beside(
    work: extern "C" fn(*mut c_void) -> c_int,
    stack: &mut Stack,
    flags: c_int,
    given: *mut c_void,
) -> Result<Made> {
    let mut pidfd: c_int = -1;
    let flags = flags | libc::CLONE_VM | libc::CLONE_PIDFD;
    // SAFETY: as the caller promises; the kernel writes one int to `pidfd`. A failure comes back as
    // an error.
    let returned = unsafe { libc::clone(work, stack.top(), flags, given, &raw mut pidfd) };
    let pid = check(libc::c_long::from(returned))?;
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::CHILD)?;
    // SAFETY: the call succeeded, so the kernel has put a new descriptor here that nobody else owns.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Made { pid, pidfd })
}

/// A process that does nothing but be in namespaces of its own, so that they can be opened.
/// Dropping it ends it. It uses our memory, which is much faster than a copy of it.
#[derive(Debug)]
pub(crate) struct Holder {
    made: Made,
    // Freed after the process has ended.
    _stack: Stack,
}

impl Holder {
    /// Makes one, which also ends when the process behind the pidfd `owner` does. Every signal must
    /// be blocked: it has our handlers.
    pub(crate) fn new(namespaces: u64, owner: BorrowedFd<'_>) -> Result<Self> {
        extern "C" fn hold(owner: *mut c_void) -> c_int {
            if let Ok(number) = i32::try_from(owner.addr()) {
                // SAFETY: our copy of the caller's descriptor, which nobody closes: we are the only
                // one with this table of descriptors.
                let owner = unsafe { BorrowedFd::borrow_raw(number) };
                let mut watched = [PollFd::from_borrowed_fd(owner, PollFlags::IN)];
                while poll(&mut watched, None) == Err(Errno::INTR) {}
            }
            leave(0)
        }
        let mut stack = Stack::of(16 << 10);
        let owner =
            ptr::without_provenance_mut::<c_void>(owner.as_raw_fd().unsigned_abs() as usize);
        // SAFETY: the stack stays until the process has ended, and is large enough for one system
        // call. All that the process does in our memory is to read it.
        let made = unsafe { clone_beside(hold, &mut stack, flags_of(namespaces)?, owner) }?;
        Ok(Self { made, _stack: stack })
    }

    /// Returns its number.
    pub(crate) fn pid(&self) -> Pid {
        self.made.pid
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        signal(self.made.pidfd.as_fd(), libc::SIGKILL).ok();
        await_end(self.made.pid).ok();
    }
}

fn flags_of(namespaces: u64) -> Result<c_int> {
    c_int::try_from(namespaces).map_err(|_| Errno::INVAL)
}

/// Makes a child that runs `body` in this process's own memory, on a stack of its own, while we
/// wait until it has executed a program or ended: clone(2) with `CLONE_VM` and `CLONE_VFORK`.
///
/// Copying the memory of a large host twice is what this saves. `body` must not return, and is
/// bound as the child of [`clone_into`].
pub(crate) fn fork_onto(stack: &mut Stack, mut body: &mut dyn FnMut()) -> Result<Pid> {
    extern "C" fn run(body: *mut c_void) -> c_int {
        // SAFETY: `body` is the address of a variable of `fork_onto`, which waits until we are
        // done with it; nobody else uses it meanwhile.
        let body = unsafe { &mut *body.cast::<&mut dyn FnMut()>() };
        body();
        leave(125)
    }
    let top = stack.top();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is ours, aligned, borrowed until the call returns, and large enough for a
    // straight line of system calls; `body` outlives the call, which returns only once the child no
    // longer uses our memory. A failure comes back as an error.
    let returned = unsafe { libc::clone(run, top, flags, (&raw mut body).cast::<c_void>()) };
    let pid = check(libc::c_long::from(returned))?;
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::CHILD)
}

/// A list of C strings that ends in a null pointer, as execve(2) wants it.
#[derive(Debug)]
pub(crate) struct Strings {
    pointers: Vec<*const c_char>,
    // Held for the memory that the pointers lead to.
    texts: Vec<CString>,
}

impl Strings {
    /// Makes the list.
    pub(crate) fn new(texts: Vec<CString>) -> Self {
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Self { pointers, texts }
    }

    /// Returns what the list is made of.
    pub(crate) fn memory(&self) -> (&[*const c_char], &[CString]) {
        (&self.pointers, &self.texts)
    }
}

/// Replaces this process by the program at `path`; returns only if that failed.
pub(crate) fn execute(path: &CStr, arguments: &Strings, environment: &Strings) -> Errno {
    let (arguments, environment) = (arguments.pointers.as_ptr(), environment.pointers.as_ptr());
    // SAFETY: `path` and both lists end as the call expects, and are borrowed until it returns; on
    // success our memory is gone, on failure it is untouched.
    unsafe { libc::execve(path.as_ptr(), arguments, environment) };
    check(-1).err().unwrap_or(Errno::IO)
}

/// Ends this process at once: no destructors, no buffers, no handlers.
pub(crate) fn leave(code: i32) -> ! {
    let arguments = [code.cast_unsigned() as usize, 0, 0, 0, 0];
    // Without the C library: some who leave have none of its memory.
    // SAFETY: the call does not return and touches no memory.
    unsafe { raw::call(libc::SYS_exit_group, arguments) }.ok();
    // On machines whose calls we do not know.
    // SAFETY: as above.
    unsafe { libc::_exit(code) }
}

/// Ends the process when dropped: a child that unwinds must not run its parent's code.
#[derive(Debug)]
pub(crate) struct LeaveOnDrop;

impl Drop for LeaveOnDrop {
    fn drop(&mut self) {
        leave(125);
    }
}

/// Returns whether the process behind `pidfd` has ended.
pub(crate) fn has_ended(pidfd: BorrowedFd<'_>) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(pidfd, PollFlags::IN)];
    poll(&mut watched, Some(&Timespec::default())) == Ok(1)
}

/// Awaits the process of `pid`, whatever signal it ends with.
pub(crate) fn await_end(pid: Pid) -> Result<Ended> {
    let mut status = 0;
    // SAFETY: an all-zero `rusage` is a valid one.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    loop {
        // SAFETY: the kernel writes an int and an `rusage`, both on this stack. A number that is
        // no child of ours comes back as an error.
        let returned = unsafe {
            libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, libc::__WALL, &raw mut usage)
        };
        match check(libc::c_long::from(returned)) {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
            Ok(_) => break,
        }
    }
    let micros = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0)
    };
    Ok(Ended {
        status,
        user: micros(usage.ru_utime),
        system: micros(usage.ru_stime),
        peak: u64::try_from(usage.ru_maxrss).unwrap_or(0),
    })
}

/// Takes the status of any child that has ended, without waiting: its number and its status.
pub(crate) fn reap() -> Result<Option<(i32, i32)>> {
    let mut status = 0;
    // SAFETY: the kernel writes one int on this stack; the last pointer is null.
    let returned =
        unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG | libc::__WALL, ptr::null_mut()) };
    let pid = check(libc::c_long::from(returned))?;
    Ok(i32::try_from(pid).ok().filter(|pid| *pid > 0).map(|pid| (pid, status)))
}

/// Lets a child that has stopped because we trace it go on, untraced, with the signal that it stopped
/// for: but for the one that only tells a tracer of it, and would end it.
pub(crate) fn untrace(child: i32, status: i32) {
    let signal = match (status >> 8) & 0xff {
        libc::SIGTRAP => 0,
        signal => signal,
    };
    let [child, signal] = [child, signal].map(|number| number.unsigned_abs() as usize);
    let detach = 17; // PTRACE_DETACH
    // SAFETY: this request takes two numbers, and touches no memory of ours. One that is no child, or is
    // not traced by us, comes back as an error.
    unsafe { raw::call(libc::SYS_ptrace, [detach, child, 0, signal, 0]) }.ok();
}

/// Sends a signal to the process behind `pidfd`.
pub(crate) fn signal(pidfd: BorrowedFd<'_>, signal: i32) -> Result<()> {
    let [pidfd, signal] = [pidfd.as_raw_fd(), signal].map(|number| number.unsigned_abs() as usize);
    let (none, flags) = (0, 0);
    // SAFETY: the pointer is null, so the kernel touches no memory of ours; the descriptor is
    // borrowed. A process that is gone, or no pidfd, comes back as an error.
    unsafe { raw::call(libc::SYS_pidfd_send_signal, [pidfd, signal, none, flags, 0]) }.map(drop)
}
