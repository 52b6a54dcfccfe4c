//! What stands in the way of namespaces: switches are read, and filters are tried.

use std::fs;

use palisade_plan::{Block, Trial};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities};

use super::trial::{MAKING, MAPPING};
use crate::sys::{identity, restrict};

/// Returns what is found to be in the way, after a trial failed like this.
pub(super) fn found(trial: &Trial) -> Vec<Block> {
    let Trial::Refused { what, errno } = trial else { return Vec::new() };
    let errno = Errno::from_raw_os_error(*errno);
    let is_ordinary = identity::effective_uid() != 0;
    let is_barred = matches!(errno, Errno::PERM | Errno::ACCESS);
    let switch =
        |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    let mut blocks = Vec::new();
    let mut add = |is: bool, block| blocks.extend(is.then_some(block));
    let is_proc = what.contains("/proc");
    add(is_proc && errno == Errno::NOENT, Block::NoProc);
    let counts = matches!(errno, Errno::NOSPC | Errno::USERS);
    add(counts || switch("/proc/sys/user/max_user_namespaces", "0"), Block::MostNamespaces);
    let clone = "/proc/sys/kernel/unprivileged_userns_clone";
    add(is_ordinary && switch(clone, "0"), Block::UnprivilegedClone);
    let apparmor = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    add(is_ordinary && is_barred && switch(apparmor, "1"), Block::AppArmor);
    add(is_filtered(), Block::Filter);
    let may_hand_on = |sets: CapabilitySets| sets.effective.contains(CapabilitySet::SETFCAP);
    let is_mapping = what == MAPPING;
    let is_capless = !is_ordinary && !capabilities(None).is_ok_and(may_hand_on);
    add(is_mapping && is_capless, Block::Capabilities);
    add(is_proc && is_barred, Block::CoveredProc);
    let is_told = !blocks.is_empty();
    // The kernel refuses a user namespace by itself to who is in a chroot, and that alone cannot be
    // read from anywhere by an ordinary user.
    let is_first = what == MAKING;
    let is_last = is_barred && is_first && (is_chroot() || !is_told);
    blocks.extend(is_last.then_some(Block::Chroot));
    blocks
}

/// Returns whether a filter answers in the kernel's place: the kernel would call the words wrong
/// before it asked who says them.
pub(super) fn is_filtered() -> bool {
    restrict::nonsense_unshare() != Err(Errno::INVAL)
}

/// Returns whether our root folder is not the top of our mounts.
pub(super) fn is_chroot() -> bool {
    // In a chroot, mounts above it are not listed, and none is at its top unless one was put there.
    let listed = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let has_top = listed.lines().any(|line| line.split(' ').nth(4) == Some("/"));
    let is_other = || {
        let which =
            |path: &str| rustix::fs::stat(path).ok().map(|found| (found.st_dev, found.st_ino));
        let first = which("/proc/1/root/.");
        first.is_some() && first != which("/")
    };
    (!listed.is_empty() && !has_top) || is_other()
}
