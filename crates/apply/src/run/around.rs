//! Whether a sandbox of ours stands around us, and holds (Ruling 21).
//!
//! What somebody claims proves nothing: a name and a variable can be set by anybody. So each wall is
//! tried, and one that lets something through means that there is none.

use std::fs;

use palisade_plan::Trial;
use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

use super::shortage;
use crate::sys::process::{LeaveOnDrop, Side, await_end, clone_into, leave};
use crate::sys::{network, restrict, signal};

/// What the first process of our sandboxes is called.
pub(super) const REAPER: &str = "pal-reaper";

/// Folders that a sandbox has no writable tree above.
const SEALED: [&str; 5] = ["/", "/etc", "/usr", "/var", "/home"];

/// Tries what the walls of a sandbox around us must refuse.
pub(super) fn tried() -> Trial {
    let refused = |what: &'static str, errno| Trial::Refused { what: what.into(), errno };
    let first = fs::read_to_string("/proc/1/comm").unwrap_or_default();
    if first.trim_end() != REAPER {
        return refused("finding a sandbox around this process", libc::ENOENT);
    }
    if !SEALED.into_iter().all(is_sealed) {
        return refused("a write outside by the sandbox around this one", libc::EROFS);
    }
    if network::reaches_world() != Ok(false) || has_interfaces() {
        return refused("keeping the network from the sandbox around this one", libc::EISCONN);
    }
    judged(&shortage::waited(|| flat(outcome_of_unshare()), |(errno, _)| *errno))
}

/// Whether a process could be made, and then whether it got a namespace.
type Unshared = Result<(), (Errno, Tried)>;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tried {
    Process,
    Namespace,
}

fn flat(outcome: Result<Result<(), Errno>, Errno>) -> Unshared {
    outcome.map_err(|errno| (errno, Tried::Process))?.map_err(|errno| (errno, Tried::Namespace))
}

/// A wall refuses. What fails for another reason might work in a moment.
fn judged(unshared: &Unshared) -> Trial {
    let what = "keeping namespaces from the sandbox around this one";
    match *unshared {
        Ok(()) => Trial::Refused { what: what.into(), errno: 0 },
        Err((Errno::PERM | Errno::NOSYS, Tried::Namespace)) => Trial::Works,
        Err((errno, Tried::Process)) => shortage::told("trying the sandbox around this one", errno),
        Err((errno, Tried::Namespace)) => shortage::told(what, errno),
    }
}

/// Returns whether a folder is on a mount that cannot be written, and nothing can be made in it; one
/// that is not there is.
fn is_sealed(folder: &str) -> bool {
    let read_only = match rustix::fs::statvfs(folder) {
        Ok(found) => found.f_flag.contains(StatVfsMountFlags::RDONLY),
        Err(Errno::NOENT) => return true,
        Err(_) => false,
    };
    // A file without a name: were it made, nothing of it would stay.
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    read_only && rustix::fs::open(folder, flags, Mode::from_raw_mode(0o600)).is_err()
}

/// Returns whether there is any interface but the loopback (proc(5), /proc/net/dev).
fn has_interfaces() -> bool {
    let Ok(table) = fs::read_to_string("/proc/net/dev") else { return true };
    let mut names = table.lines().skip(2).filter_map(|line| line.split(':').next());
    names.any(|name| name.trim() != "lo")
}

/// Tries to make a user namespace, in a process that ends with it.
pub(super) fn outcome_of_unshare() -> Result<Result<(), Errno>, Errno> {
    let made = {
        let _blocked = signal::block_all();
        match clone_into(0)? {
            Side::Child => {
                let _guard = LeaveOnDrop;
                leave(restrict::new_user_namespace().err().map_or(0, Errno::raw_os_error))
            }
            Side::Parent(made) => made,
        }
    };
    match await_end(made.pid)?.status {
        0 => Ok(Ok(())),
        // A filter that kills does not let it, either.
        status if status & 0x7f != 0 => Ok(Err(Errno::PERM)),
        status => Ok(Err(Errno::from_raw_os_error((status >> 8) & 0xff))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_is_a_wall() {
        use Tried::{Namespace, Process};
        assert_eq!(judged(&Err((Errno::PERM, Namespace))), Trial::Works);
        assert_eq!(judged(&Err((Errno::NOSYS, Namespace))), Trial::Works);
        assert!(matches!(judged(&Ok(())), Trial::Refused { .. }), "it can be made");
        for tried in [Process, Namespace] {
            for errno in [Errno::AGAIN, Errno::NOMEM] {
                assert!(matches!(judged(&Err((errno, tried))), Trial::Short { .. }), "{errno}");
            }
            assert!(matches!(judged(&Err((Errno::USERS, tried))), Trial::Refused { .. }));
        }
        assert!(matches!(judged(&Err((Errno::PERM, Process))), Trial::Refused { .. }));
    }
}
