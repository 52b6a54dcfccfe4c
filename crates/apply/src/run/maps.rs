//! Who is who in a user namespace.

use std::os::fd::{AsFd as _, OwnedFd};

use palisade_plan::UNPRIVILEGED;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags};

use crate::sys::process::Holder;
use crate::sys::{restrict, signal};

/// Makes a user namespace whose map is everybody as they are, but for two who change places.
pub(super) fn swapped(uid: u32, gid: u32) -> rustix::io::Result<OwnedFd> {
    let own = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    let holder = {
        let _blocked = signal::block_all();
        // Until we are done, or gone. The end of a pipe would not tell: children of other threads
        // may have a copy.
        Holder::new(u64::from(libc::CLONE_NEWUSER.cast_unsigned()), own.as_fd())?
    };
    let pid = holder.pid();
    let map = |id: u32| {
        let (low, high) = (id.min(UNPRIVILEGED), id.max(UNPRIVILEGED));
        let mut map = format!("{low} {high} 1\n{high} {low} 1\n");
        let ranges = [(0, low), (low.saturating_add(1), high), (high.saturating_add(1), u32::MAX)];
        for (from, to) in ranges.into_iter().filter(|(from, to)| from < to) {
            map += &format!("{from} {from} {}\n", to - from);
        }
        map.into_bytes()
    };
    write_maps(pid, &map(uid), &map(gid))?;
    let path = format!("/proc/{}/ns/user", pid.as_raw_nonzero());
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Tells the kernel who is who in the namespace of a process.
pub(super) fn write_maps(pid: Pid, uids: &[u8], gids: &[u8]) -> rustix::io::Result<()> {
    let write = |name: &str, bytes: &[u8]| {
        restrict::write_whole(format!("/proc/{}/{name}", pid.as_raw_nonzero()), bytes)
    };
    write("uid_map", uids)?;
    write("gid_map", gids)
}
