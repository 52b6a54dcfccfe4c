//! Landlock: rules about paths that a process takes upon itself.

use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::{Errno, Result};

use super::check;

/// What a ruleset is about (`struct landlock_ruleset_attr`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Handled {
    /// Rights on files that exist only where a rule gives them.
    pub(crate) files: u64,
    /// Rights on TCP ports.
    pub(crate) network: u64,
    /// What reaches nobody outside the domain.
    pub(crate) scoped: u64,
}

/// Rights below one folder (`struct landlock_path_beneath_attr`).
#[repr(C, packed)]
struct Beneath {
    rights: u64,
    folder: i32,
}

/// Returns the version of Landlock, or 0 where there is none.
pub(crate) fn version() -> u32 {
    let (nothing, size, version) = (ptr::null::<Handled>(), 0_usize, 1_u32);
    // SAFETY: with a null pointer and size 0 the call only answers a number.
    let returned =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, size, version) };
    check(returned).ok().and_then(|found| u32::try_from(found).ok()).unwrap_or(0)
}

/// Makes a ruleset.
pub(crate) fn ruleset(handled: &Handled) -> Result<OwnedFd> {
    let flags = 0_u32;
    // SAFETY: the kernel reads the three numbers behind the pointer, borrowed until the call
    // returns. Rights that it does not know come back as an error.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::from_ref(handled),
            size_of::<Handled>(),
            flags,
        )
    };
    let fd = check(returned)?;
    let fd = i32::try_from(fd).map_err(|_| Errno::BADF)?;
    // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Gives rights at and below what `place` is.
pub(crate) fn allow(ruleset: BorrowedFd<'_>, place: BorrowedFd<'_>, rights: u64) -> Result<()> {
    let rule = Beneath { rights, folder: place.as_raw_fd() };
    let (beneath, flags) = (1_u32, 0_u32);
    // SAFETY: the kernel reads the 12 bytes of `rule` on this stack; both descriptors are borrowed
    // until the call returns. Rights outside the ruleset come back as an error.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            beneath,
            &raw const rule,
            flags,
        )
    };
    check(returned).map(drop)
}

/// Takes the rules upon this thread and all its descendants. It cannot be undone.
pub(crate) fn restrict(ruleset: BorrowedFd<'_>) -> Result<()> {
    let flags = 0_u32;
    // SAFETY: the call takes two integers and touches no memory; the descriptor is borrowed, and
    // one of another kind comes back as an error.
    let returned =
        unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), flags) };
    check(returned).map(drop)
}
