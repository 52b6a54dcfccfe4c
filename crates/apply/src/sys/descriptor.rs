//! Descriptors: closing the rest, putting them at fixed numbers.

use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::io::{Errno, Result};

use super::{check, raw};

/// Descriptors that a sandbox is prepared with lie above the numbers it will use.
pub(crate) const LOWEST: i32 = 10;

/// What happens to descriptors that are not kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rest {
    /// They are closed now.
    Close,
    /// They are closed by execve(2).
    CloseAtExec,
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: u32, rest: Rest) -> Result<()> {
    let flags: u32 = match rest {
        Rest::Close => 0,
        Rest::CloseAtExec => 4, // CLOSE_RANGE_CLOEXEC
    };
    // SAFETY: the call takes integers. Nothing of ours is used afterwards that owned a descriptor
    // closed here: callers are children that end or execute, without running destructors.
    let returned = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, flags) };
    check(returned).map(drop)
}

/// Closes every descriptor from `first` to `last`, in a child only; none if there are none.
pub(crate) fn close_between(first: i32, last: i32) -> Result<()> {
    if last < first {
        return Ok(());
    }
    let [first, last] = [first, last].map(|number| number.unsigned_abs() as usize);
    // SAFETY: the call takes integers. The child that calls this uses none of the values that
    // owned these descriptors, and ends without running their destructors.
    unsafe { raw::call(libc::SYS_close_range, [first, last, 0, 0, 0]) }.map(drop)
}

/// Makes `number` mean what `fd` means, without closing at execve(2). In a child only: what
/// `number` meant before is gone, whoever owned it.
pub(crate) fn put(fd: BorrowedFd<'_>, number: i32) -> Result<()> {
    // SAFETY: the call takes integers. The child that calls this owns no value whose descriptor
    // is `number`: prepared ones lie at `LOWEST` and above.
    let returned = unsafe { libc::dup2(fd.as_raw_fd(), number) };
    check(libc::c_long::from(returned)).map(drop)
}

/// Returns the descriptor with this number for a child that knows it to be open.
pub(crate) fn known(number: i32) -> BorrowedFd<'static> {
    // SAFETY: called in a child for numbers that it has just put something at and never closes;
    // a closed number would only make calls fail with EBADF. It is not -1.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Moves a descriptor above the numbers that a sandbox uses; it closes at execve(2).
pub(crate) fn lift(fd: OwnedFd) -> Result<OwnedFd> {
    if fd.as_raw_fd() >= LOWEST { Ok(fd) } else { copy(std::os::fd::AsFd::as_fd(&fd)) }
}

/// Copies a descriptor to a number above those that a sandbox uses; it closes at execve(2).
pub(crate) fn copy(fd: BorrowedFd<'_>) -> Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(fd, LOWEST)
}

/// Closes a descriptor, as dropping it does, but without the C library.
pub(crate) fn close(fd: OwnedFd) {
    // SAFETY: it was ours, and nobody uses its number any more.
    unsafe { rustix::io::close(forget(fd)) };
}

/// Gives a child's own number up as a descriptor that nobody closes.
pub(crate) fn forget(fd: OwnedFd) -> i32 {
    std::os::fd::IntoRawFd::into_raw_fd(fd)
}

/// Takes a number that [`forget`] gave as a descriptor again.
pub(crate) fn remember(number: i32) -> Result<OwnedFd> {
    if number < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: numbers come from `forget`, each is remembered once, and nobody else closes them.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
