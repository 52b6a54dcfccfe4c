//! Namespaces that are made while it is still being worked out what for.

use std::cell::Cell;

use palisade_plan::{Identity, MappedBy, Namespace, Plan, Step};

use crate::sys::ahead::Ahead;

thread_local! {
    /// What this thread has sent ahead.
    static SENT: Cell<Option<Ahead>> = const { Cell::new(None) };
}

/// Begins to make the namespaces of the next sandbox that this thread starts, while the thread goes
/// on. Where they cannot be made ahead, or are not what the plan then says, the start makes its own.
pub fn send_ahead() {
    let sent = SENT.take().or_else(|| Ahead::new(maps()).ok());
    SENT.set(sent);
}

/// Ends what this thread has sent ahead: no sandbox is started after all.
pub fn call_back() {
    drop(SENT.take());
}

/// Returns what was sent ahead, if a plan asks for just that.
pub(super) fn take(plan: &Plan) -> Option<Ahead> {
    let sent = SENT.take()?;
    fits(plan).then_some(sent)
}

/// The maps that it writes: of ordinary users, who are themselves inside. Who is root is mapped by
/// the supervisor.
fn maps() -> Option<[Vec<u8>; 2]> {
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    (uid != 0).then(|| [uid, gid].map(|id| format!("{id} {id} 1\n").into_bytes()))
}

fn fits(plan: &Plan) -> bool {
    let mut steps = plan.steps().iter();
    let namespaces = steps.any(|step| {
        matches!(step, Step::Namespaces(kinds)
            if kinds.contains(&Namespace::User) && kinds.contains(&Namespace::Network))
    });
    let same = |identity: &Identity| match identity.mapped_by {
        MappedBy::Supervisor => rustix::process::geteuid().is_root(),
        MappedBy::Itself => {
            identity.uid == rustix::process::geteuid().as_raw()
                && identity.gid == rustix::process::getegid().as_raw()
                && (identity.uid, identity.gid) == (identity.outer_uid, identity.outer_gid)
        }
    };
    let mut steps = plan.steps().iter();
    let identity = steps.any(|step| matches!(step, Step::Identity(identity) if same(identity)));
    namespaces && identity && plan.steps().contains(&Step::LoopbackUp)
}
