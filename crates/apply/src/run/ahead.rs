//! Namespaces that are made while it is still being worked out what for.

use std::cell::Cell;

use palisade_plan::{Identity, MappedBy, Namespace, Plan, Step};
use rustix::thread::CpuSet;

use super::furnish::{self, furnish};
use crate::sys::ahead::Ahead;
use crate::sys::depth;

/// What a sandbox need not make any more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    /// The network, its loopback and the maps.
    pub(super) namespaces: bool,
    /// What is in /dev.
    pub(super) furniture: bool,
    /// The processors that the command may run on: its first process was kept from some.
    pub(super) processors: Option<CpuSet>,
}

thread_local! {
    /// What this thread has sent ahead.
    static SENT: Cell<Option<Ahead>> = const { Cell::new(None) };
}

/// Begins to make the namespaces of the next sandbox that this thread starts, while the thread goes
/// on. Where they cannot be made ahead, or are not what the plan then says, the start makes its own.
///
/// The sandbox has the mounts of the host, and the thread's limits and mask of modes, as they are
/// now. Whoever starts nothing after all ends it with [`call_back`].
pub fn send_ahead() {
    let sent = SENT.take().filter(Ahead::is_ours).or_else(|| Ahead::new(maps(), furnish).ok());
    // On another processor it makes a network meanwhile, and needs none of this.
    depth::expect();
    sent.iter().for_each(Ahead::push);
    SENT.set(sent);
}

/// Returns whether fewer threads want to run on this machine than there are processors for us, as far
/// as can be told.
pub(super) fn is_idle() -> bool {
    let Ok(load) = std::fs::read_to_string("/proc/loadavg") else { return true };
    let Ok(ours) = rustix::thread::sched_getaffinity(None) else { return true };
    running(&load).is_none_or(|running| running < ours.count())
}

/// Returns how many threads run or wait for a processor, of which we are one: the fourth field of
/// proc(5), loadavg.
fn running(load: &str) -> Option<u32> {
    load.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

/// Ends what this thread has sent ahead: no sandbox is started after all.
pub fn call_back() {
    drop(SENT.take());
}

/// Returns what one that was sent ahead has made, in the first process that it makes.
pub(super) fn made(sent: &Ahead) -> Made {
    Made { namespaces: true, furniture: sent.has_furnished(), processors: sent.processors() }
}

/// Returns what was sent ahead, if a plan asks for just that.
pub(super) fn take(plan: &Plan) -> Option<Ahead> {
    let sent = SENT.take()?;
    let furnished = !sent.is_mapped() || furnish::fits(plan);
    (sent.is_ours() && fits(plan) && furnished).then_some(sent)
}

/// The maps that it writes: of ordinary users, who are themselves inside. Who is root is mapped by
/// the supervisor.
fn maps() -> Option<[Vec<u8>; 2]> {
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    (uid != 0).then(|| [uid, gid].map(|id| format!("{id} {id} 1\n").into_bytes()))
}

/// Returns whether a plan asks for just what is made ahead.
fn fits(plan: &Plan) -> bool {
    let has = |wanted: &dyn Fn(&Step) -> bool| plan.steps().iter().any(wanted);
    has(
        &|step| matches!(step, Step::Namespaces(kinds) if MADE.iter().all(|kind| kinds.contains(kind))),
    ) && has(&|step| matches!(step, Step::Identity(identity) if is_ours(identity)))
        && has(&|step| *step == Step::LoopbackUp)
}

/// The namespaces that are made ahead.
const MADE: [Namespace; 6] = [
    Namespace::User,
    Namespace::Mount,
    Namespace::Network,
    Namespace::Ipc,
    Namespace::Name,
    Namespace::Cgroup,
];

/// Returns whether users and groups are mapped as [`maps`] says.
fn is_ours(identity: &Identity) -> bool {
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    match identity.mapped_by {
        MappedBy::Supervisor => uid == 0,
        MappedBy::Nobody => false,
        MappedBy::Itself => {
            let Identity { uid: inner, outer_uid, gid: inner_group, outer_gid, .. } = *identity;
            (inner, outer_uid, inner_group, outer_gid) == (uid, uid, gid, gid)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::prepare::flag;
    use crate::sys::ahead;

    #[test]
    fn who_wants_to_run_is_told_by_the_kernel() {
        assert_eq!(running("0.71 1.02 1.19 3/412 24826\n"), Some(3));
        for odd in ["", "0.71 1.02", "0.71 1.02 1.19 x/412 1\n"] {
            assert_eq!(running(odd), None, "{odd}");
        }
        let load = std::fs::read_to_string("/proc/loadavg").unwrap();
        assert!(running(&load).is_some_and(|running| running > 0), "{load}: we are one");
    }

    #[test]
    fn what_is_asked_for_is_what_is_made() {
        let flags = MADE.iter().fold(0, |all, kind| all | flag(*kind));
        let others = libc::CLONE_NEWUSER | libc::CLONE_NEWNET;
        assert_eq!(
            flags | u64::from(others.cast_unsigned()),
            u64::from(ahead::MADE.bits() | libc::CLONE_NEWUSER.cast_unsigned())
        );
    }
}
