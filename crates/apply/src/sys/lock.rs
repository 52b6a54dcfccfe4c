//! Saying to other processes that something is in use. Whoever ends, however, no longer says it.
//!
//! Turns are flock(2); use is an open file description lock (fcntl(2), `F_OFD_SETLK`) on one byte,
//! which any number of processes can share. Both belong to the open file, and so to every process
//! that has inherited it.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use rustix::fs::FlockOperation;
use rustix::io::{Errno, Result};
use rustix::thread::{ClockId, Timespec, clock_nanosleep_relative};

use super::raw;

/// How long a turn is waited for, in steps of a millisecond. Whoever has one is done at once, unless
/// it means to hold others up.
const PATIENCE: u32 = 500;
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// How long it is waited for before a run begins, which fails without: hundreds may begin at once, on a
/// machine that has other things to do.
const MORE_PATIENCE: u32 = 10 * PATIENCE;

/// Waits for a turn with the folder.
pub(crate) fn take_turn(folder: BorrowedFd<'_>) -> Result<()> {
    taken_within(folder, FlockOperation::NonBlockingLockExclusive, PATIENCE)
}

/// Waits for a turn with the folder that others may have, too, as long as nobody has one alone.
pub(crate) fn share_turn(folder: BorrowedFd<'_>) -> Result<()> {
    taken_within(folder, FlockOperation::NonBlockingLockShared, PATIENCE)
}

/// Waits for a turn with the folder, on which it depends whether something begins.
pub(crate) fn take_turn_to_begin(folder: BorrowedFd<'_>) -> Result<()> {
    taken_within(folder, FlockOperation::NonBlockingLockExclusive, MORE_PATIENCE)
}

fn taken_within(folder: BorrowedFd<'_>, how: FlockOperation, steps: u32) -> Result<()> {
    for _ in 0..steps {
        match rustix::fs::flock(folder, how) {
            Err(Errno::INTR) => {}
            // Not by the standard library: janitors do without the C library.
            Err(Errno::WOULDBLOCK) => {
                drop(clock_nanosleep_relative(ClockId::Monotonic, &STEP));
            }
            outcome => return outcome,
        }
    }
    Err(Errno::BUSY)
}

/// Ends the turn.
pub(crate) fn end_turn(folder: BorrowedFd<'_>) {
    rustix::fs::flock(folder, FlockOperation::Unlock).ok();
}

/// Says that the thing with this number is in use.
pub(crate) fn share(folder: BorrowedFd<'_>, number: u64) -> Result<()> {
    set(folder, libc::F_OFD_SETLK, libc::F_RDLCK, (number, 1)).map(drop)
}

/// Says that nothing is in use any more.
pub(crate) fn unshare_all(folder: BorrowedFd<'_>) -> Result<()> {
    set(folder, libc::F_OFD_SETLK, libc::F_UNLCK, EVERYTHING).map(drop)
}

/// Returns whether another open file says that it is in use.
pub(crate) fn is_shared(folder: BorrowedFd<'_>, number: u64) -> Result<bool> {
    let found = set(folder, libc::F_OFD_GETLK, libc::F_WRLCK, (number, 1))?;
    Ok(i32::from(found) != libc::F_UNLCK)
}

/// Returns whether another open file says that anything is in use.
pub(crate) fn is_any_shared(folder: BorrowedFd<'_>) -> Result<bool> {
    let found = set(folder, libc::F_OFD_GETLK, libc::F_WRLCK, EVERYTHING)?;
    Ok(i32::from(found) != libc::F_UNLCK)
}

/// Every byte that there could be: none is as many as there are.
const EVERYTHING: (u64, i64) = (0, 0);

/// Asks for or about some bytes, and returns the kind of lock that stands in the way.
fn set(folder: BorrowedFd<'_>, what: i32, kind: i32, (first, count): (u64, i64)) -> Result<i16> {
    let small = |number: i32| i16::try_from(number).map_err(|_| Errno::INVAL);
    // SAFETY: an all-zero `flock` is a valid one.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = small(kind)?;
    lock.l_whence = small(libc::SEEK_SET)?;
    lock.l_start = i64::try_from(first & (u64::MAX >> 2)).map_err(|_| Errno::INVAL)?;
    lock.l_len = count;
    let [number, what] = [folder.as_raw_fd(), what].map(|it| it.unsigned_abs() as usize);
    let address = (&raw mut lock).expose_provenance();
    // SAFETY: the kernel reads and, for F_OFD_GETLK, writes one `flock` on this stack. The
    // descriptor is borrowed; one that cannot be locked comes back as an error.
    unsafe { raw::call(libc::SYS_fcntl, [number, what, address, 0, 0]) }?;
    Ok(lock.l_type)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd as _;

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn use_is_seen_by_others_and_ends_with_whoever_said_it() {
        let project = Project::new();
        let [one, two] = [(), ()].map(|()| File::open(project.root()).unwrap());
        assert_eq!(is_shared(one.as_fd(), 7), Ok(false));
        share(one.as_fd(), 7).unwrap();
        share(two.as_fd(), 7).unwrap();
        assert_eq!(is_shared(one.as_fd(), 7), Ok(true));
        assert_eq!(is_shared(one.as_fd(), 8), Ok(false), "another thing");
        assert_eq!(is_any_shared(one.as_fd()), Ok(true), "one thing is");
        unshare_all(one.as_fd()).unwrap();
        assert_eq!(is_shared(two.as_fd(), 7), Ok(false), "its own word does not count");
        assert_eq!(is_any_shared(two.as_fd()), Ok(false), "nor for all");
        let copy = two.try_clone().unwrap();
        drop(two);
        assert_eq!(is_shared(one.as_fd(), 7), Ok(true), "a copy still says it");
        drop(copy);
        assert_eq!(is_shared(one.as_fd(), 7), Ok(false));
    }

    #[test]
    fn a_turn_is_one_at_a_time_and_is_not_waited_for_for_ever() {
        let project = Project::new();
        let [one, two] = [(), ()].map(|()| File::open(project.root()).unwrap());
        take_turn(one.as_fd()).unwrap();
        take_turn(one.as_fd()).unwrap();
        assert_eq!(take_turn(two.as_fd()), Err(Errno::BUSY));
        end_turn(one.as_fd());
        assert_eq!(take_turn(two.as_fd()), Ok(()));
    }
}
