//! Being told of system calls before they happen (seccomp_unotify(2)).

use std::mem;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::io::{Errno, Result};

use super::check;
use super::restrict::Instruction;

/// `SECCOMP_FILTER_FLAG_NEW_LISTENER`, and `_WAIT_KILLABLE_RECV`: only a deadly signal interrupts
/// a call that we are being told of (Linux 5.19).
const LISTEN: libc::c_ulong = 1 << 3;
const UNDISTURBED: libc::c_ulong = 1 << 5;

/// `SECCOMP_IOCTL_NOTIF_RECV`, `_SEND`, `_ID_VALID` and `_SET_FLAGS`, the same on every processor we know.
const RECEIVE: u32 = 0xc050_2100;
const SEND: u32 = 0xc018_2101;
const IS_VALID: u32 = 0x4008_2102;
const SET_FLAGS: u32 = 0x4008_2104;

/// A call that somebody is about to make, and waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    id: u64,
    /// The thread, as numbered here.
    pub(crate) thread: u32,
    /// The call's number.
    pub(crate) number: u32,
    /// Its arguments.
    pub(crate) arguments: [u64; 6],
}

/// Installs a filter, for this process and all descendants, and returns where its questions
/// arrive. It allocates nothing.
pub(crate) fn listen(program: &[Instruction]) -> Result<OwnedFd> {
    match install(program, LISTEN | UNDISTURBED) {
        Err(Errno::INVAL) => install(program, LISTEN),
        outcome => outcome,
    }
}

fn install(program: &[Instruction], flags: libc::c_ulong) -> Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    // The kernel only reads; the type of the pointer is an accident of the header.
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel reads the header and `len` instructions behind it, both borrowed until
    // the call returns, and checks every instruction; a program it does not like is an error.
    let returned = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    let fd = i32::try_from(check(returned)?).map_err(|_| Errno::BADF)?;
    // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Asks the kernel to hand over to us, and back, on the same processor (Linux 6.6). Without it
/// everything works, slower.
pub(crate) fn hurry(listener: BorrowedFd<'_>) {
    let wake_up = 1_u64;
    // SAFETY: this request takes a number, and no memory; an unknown one is an error.
    unsafe { libc::syscall(libc::SYS_ioctl, listener.as_raw_fd(), SET_FLAGS, wake_up) };
}

/// Returns the next call. It waits for one.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<Pending> {
    // SAFETY: an all-zero notification is a valid one, and the one that the kernel asks for.
    let mut told: libc::seccomp_notif = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes one `seccomp_notif`, whose size is part of the request, on this
    // stack; the descriptor is borrowed until the call returns.
    let returned =
        unsafe { libc::syscall(libc::SYS_ioctl, listener.as_raw_fd(), RECEIVE, &raw mut told) };
    check(returned)?;
    Ok(Pending {
        id: told.id,
        thread: told.pid,
        number: u32::try_from(told.data.nr).unwrap_or(u32::MAX),
        arguments: told.data.args,
    })
}

/// Returns whether whoever makes a call still waits. Then what was looked up by the number of the thread
/// since the call was told is that thread's; else the number may be somebody else's by now.
pub(crate) fn is_waiting(listener: BorrowedFd<'_>, pending: &Pending) -> bool {
    let id = pending.id;
    // SAFETY: the kernel reads one number of 64 bits on this stack; one of a call that is gone is an
    // error.
    let returned =
        unsafe { libc::syscall(libc::SYS_ioctl, listener.as_raw_fd(), IS_VALID, &raw const id) };
    check(returned).is_ok()
}

/// Lets a call go on as if nobody had asked.
pub(crate) fn go_on(listener: BorrowedFd<'_>, pending: &Pending) -> Result<()> {
    let flags = 1; // SECCOMP_USER_NOTIF_FLAG_CONTINUE
    let mut answer = libc::seccomp_notif_resp { id: pending.id, val: 0, error: 0, flags };
    // SAFETY: the kernel reads one `seccomp_notif_resp`, whose size is part of the request, on
    // this stack; a call that is gone is an error.
    let returned =
        unsafe { libc::syscall(libc::SYS_ioctl, listener.as_raw_fd(), SEND, &raw mut answer) };
    check(returned).map(drop)
}
