//! What a version of Landlock knows, and so what it does not hold.

use palisade_policy::policy::NetworkMode;

use crate::facts::Facts;
use crate::order::Order;
use crate::plan::Strength;
use crate::seccomp::Nesting;

/// Returns how strongly it holds as the second wall, behind mounts and namespaces.
pub(super) fn wall(order: &Order, facts: &Facts) -> Strength {
    let version = match (order.nesting, facts.kernel.landlock) {
        (Nesting::UserNamespaces, _) => {
            let why = "it would forbid the mounts that `nested: userns` allows";
            return Strength::Absent(why.into());
        }
        (Nesting::Off, 0) => return Strength::Absent("the kernel does not have it".into()),
        (Nesting::Off, version) => version,
    };
    let mut strength = known(version);
    if version < 6 {
        strength.lacks("signals are held by the namespace of processes alone".into());
        if order.network == NetworkMode::Disabled {
            let what = "sockets of the host without a path can be reached: they belong to its \
                        network";
            strength.lacks(what.into());
        }
    }
    strength
}

/// Returns how strongly it holds where it is the only wall.
pub(super) fn only(version: u32) -> Strength {
    let mut strength = known(version);
    if version < 6 {
        strength.lacks(
            "signals reach other processes of this user, and the first process of this run".into(),
        );
    }
    strength
}

fn known(version: u32) -> Strength {
    let mut strength = Strength::Kernel;
    if version < 2 {
        strength.lacks("files cannot be moved or linked from one folder to another".into());
    }
    if version < 3 {
        strength.lacks("files that cannot be written can be emptied, where mounts allow it".into());
    }
    if version < 5 {
        strength.lacks("requests to devices (ioctl) are not told apart".into());
    }
    strength
}
