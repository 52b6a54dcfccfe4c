//! Giving up: capabilities, privileges to come, system calls, resources.

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::path::Arg;
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, Gid, Uid, UnshareFlags};

use super::{check, raw};

/// One instruction of a filter, as the kernel reads it.
pub(crate) type Instruction = libc::sock_filter;

/// Nobody without special rights may look into this process from now on.
pub(crate) fn undumpable() -> Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// No program gains rights by being started, from now on and for all descendants.
pub(crate) fn no_new_privileges() -> Result<()> {
    rustix::thread::set_no_new_privs(true)
}

/// What becomes of the bounding set, which says what programs may gain when they are started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bounding {
    /// It is emptied.
    Emptied,
    /// It stays where we have no right to empty it: nothing is gained from it without new privileges.
    MayStay,
}

/// Gives up every capability in every set, the bounding set included.
pub(crate) fn no_capabilities(bounding: Bounding) -> Result<()> {
    rustix::thread::clear_ambient_capability_set()?;
    match empty_bounding_set() {
        Err(Errno::PERM) if bounding == Bounding::MayStay => {}
        emptied => emptied?,
    }
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )
}

/// Empties the bounding set, which processes that are made later begin with: what is not in it any
/// more is only looked at, as to take something out takes five times as long. It allocates nothing, and
/// does without the C library.
pub(crate) fn empty_bounding_set() -> Result<()> {
    let ask = |operation: i32, number: usize| {
        let arguments = [operation.cast_unsigned() as usize, number, 0, 0, 0];
        // SAFETY: the call takes integers and touches no memory.
        unsafe { raw::call(libc::SYS_prctl, arguments) }
    };
    for number in 0..64 {
        match ask(libc::PR_CAPBSET_READ, number) {
            Ok(0) => {}
            Ok(_) => ask(libc::PR_CAPBSET_DROP, number).map(drop)?,
            // The kernel knows no more of them.
            Err(Errno::INVAL) if number > 0 => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Becomes this user and group, in every sense of the word, and leaves all other groups.
pub(crate) fn become_user(uid: u32, gid: u32) -> Result<()> {
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    match rustix::thread::set_thread_groups(&[]) {
        // In a namespace of an ordinary user nobody may leave groups, as that user may not.
        Err(Errno::PERM) if groups_stay() => {}
        left => left?,
    }
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)
}

/// Returns whether nobody in our user namespace may leave groups (user_namespaces(7)). It allocates
/// nothing.
fn groups_stay() -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut text = [0; 8];
    rustix::fs::open(c"/proc/self/setgroups", flags, Mode::empty())
        .and_then(|file| rustix::io::read(&file, &mut text))
        .is_ok_and(|_| text.starts_with(b"deny"))
}

/// Makes a user namespace of this process's own, where that is not refused.
pub(crate) fn new_user_namespace() -> Result<()> {
    // SAFETY: the call takes one integer and touches no memory; descriptors stay shared.
    let returned = unsafe { libc::unshare(libc::CLONE_NEWUSER) };
    check(libc::c_long::from(returned)).map(drop)
}

/// Asks for a user namespace together with something that there is not, which makes nothing: the
/// kernel calls it wrong, unless a filter answers first.
pub(crate) fn nonsense_unshare() -> Result<()> {
    let nothing = 1;
    // SAFETY: the call takes one integer and touches no memory.
    let returned = unsafe { libc::unshare(libc::CLONE_NEWUSER | nothing) };
    check(libc::c_long::from(returned)).map(drop)
}

/// Makes namespaces of this process's own.
pub(crate) fn new_namespaces(kinds: UnshareFlags) -> Result<()> {
    // SAFETY: descriptors stay shared, which is what others must not lose.
    unsafe { rustix::thread::unshare_unsafe(kinds) }
}

/// Says which users and groups there are in the user namespace of this process, which is new.
pub(crate) fn map_self(uids: &[u8], gids: &[u8]) -> Result<()> {
    write_whole(c"/proc/self/setgroups", b"deny")?;
    write_whole(c"/proc/self/uid_map", uids)?;
    write_whole(c"/proc/self/gid_map", gids)
}

/// Writes to a file of the kernel's that takes one write or none.
pub(crate) fn write_whole(path: impl Arg, bytes: &[u8]) -> Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    let written = rustix::io::write(&file, bytes)?;
    if written == bytes.len() { Ok(()) } else { Err(Errno::IO) }
}

/// Installs a filter of system calls, for this process and all descendants.
pub(crate) fn filter(program: &[Instruction]) -> Result<()> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    // The kernel only reads; the type of the pointer is an accident of the header.
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    let flags: libc::c_ulong = 0;
    // SAFETY: the kernel reads the header and `len` instructions behind it, both borrowed until
    // the call returns, and checks every instruction; a program it does not like is an error.
    let returned = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    check(returned).map(drop)
}

/// Leaves no image of this process's memory, should it crash: one would lie where it works.
pub(crate) fn no_cores() -> Result<()> {
    let maximum = rustix::process::getrlimit(Resource::Core).maximum;
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum })
}

/// Sets an upper bound that cannot be raised again.
pub(crate) fn limit(resource: Resource, most: u64) -> Result<()> {
    // Never above what we were given ourselves: only root could, and it need not.
    let had = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let most = most.min(had);
    // At the first bound of time a signal says which it was, at the second nothing is said.
    let last = if resource == Resource::Cpu { most.saturating_add(1).min(had) } else { most };
    rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(last) })
}
