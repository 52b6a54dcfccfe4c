//! Which walls can be had on a host, and whether they are enough.
//!
//! The strongest that there are is planned, whatever a policy requires; what it requires says how far
//! down the ladder may go before the command is refused. Nothing is weakened silently.

#[cfg(test)]
mod table;
#[cfg(test)]
mod tests;

use palisade_policy::policy::Require;

use super::CannotPlan;
use super::unconfined::Why;
use crate::block::Block;
use crate::errno::meaning;
use crate::facts::{Facts, Idmap, Kernel, Privilege, Trial};
use crate::order::Order;
use crate::seccomp::{Arch, Nesting};

/// The least version of Landlock that can be the only wall: older ones let files be emptied that
/// cannot be written.
pub(crate) const LEAST: u32 = 3;

/// What the walls of a plan rest on.
pub(super) enum Base {
    /// Namespaces and mounts.
    Namespaces {
        /// For the filter of system calls.
        arch: Arch,
        /// Whether users are the sandbox's own.
        users: Users,
    },
    /// Landlock and the filter of system calls.
    Landlock {
        /// For the filter of system calls.
        arch: Arch,
        /// Whether another sandbox holds the rest.
        around: Around,
    },
    /// Nothing.
    Nothing(Why),
}

/// Whose the users are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Users {
    /// The sandbox's own, in a namespace.
    Own,
    /// The host's: who starts has the right to make all other namespaces (Ruling 25).
    Hosts,
}

/// What stands around us.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Around {
    /// Nothing that is known.
    Nothing,
    /// A sandbox whose walls were seen to hold (Ruling 21).
    Sandbox,
}

/// Chooses the strongest walls that can be had, if they are enough.
pub(super) fn choose(order: &Order, facts: &Facts) -> Result<Base, CannotPlan> {
    let missing = match (full(order, facts), order.require) {
        (_, Require::External) => return Ok(Base::Nothing(Why::External)),
        // What passes is no reason to be held by less, whatever the policy accepts.
        (Err(short @ CannotPlan::Short { .. }), _) => return Err(short),
        (Ok(base), Require::Full | Require::Landlock | Require::None) => return Ok(base),
        (Err(missing), Require::Full) => return Err(missing.with_less(order, facts)),
        (Err(missing), Require::Landlock | Require::None) => missing,
    };
    match (landlock(order, facts), order.require) {
        (Ok(base), _) => Ok(base),
        (Err(_), Require::None) => Ok(Base::Nothing(Why::Accepted(missing.told()))),
        (Err(lacks), Require::Full | Require::Landlock | Require::External) => Err(lacks),
    }
}

fn full(order: &Order, facts: &Facts) -> Result<Base, CannotPlan> {
    let require = order.require;
    let Kernel { namespaces, unaided, around, .. } = &facts.kernel;
    let wall = "a sandbox of namespaces";
    let users = match (namespaces, unaided, around) {
        (Trial::Works, ..) => match facts.privilege {
            Privilege::Root { idmap: Idmap::Short(errno) } => {
                let why = format!("giving trees other owners fails, {}", meaning(errno));
                return Err(CannotPlan::Short { wall, why });
            }
            Privilege::Root { idmap: Idmap::Works | Idmap::Refused(_) } | Privilege::Ordinary => {
                Users::Own
            }
        },
        (Trial::Refused { .. }, Trial::Works, _) => Users::Hosts,
        (Trial::Refused { .. }, Trial::Refused { .. }, Trial::Works) => {
            return alone(order, facts, Around::Sandbox);
        }
        (Trial::Short { what, errno }, ..)
        | (Trial::Refused { .. }, Trial::Short { what, errno }, _)
        | (Trial::Refused { .. }, Trial::Refused { .. }, Trial::Short { what, errno }) => {
            let why = format!("{what} fails, {}", meaning(*errno));
            return Err(CannotPlan::Short { wall, why });
        }
        (Trial::Refused { what, errno }, Trial::Refused { .. }, Trial::Refused { .. }) => {
            let blocks = &facts.kernel.blocks;
            let found: Vec<&str> = blocks.iter().map(|block| block.why()).collect();
            let mut why = format!("{what} fails, {}", meaning(*errno));
            if !found.is_empty() {
                why = format!("{why}: {}", found.join("; "));
            }
            let remedy = match blocks.as_slice() {
                [] => remedy(*errno).to_owned(),
                some => some.iter().map(|one| one.remedy()).collect::<Vec<_>>().join("; "),
            };
            return Err(CannotPlan::Missing { require, wall, why, remedy });
        }
    };
    let is_without = facts.kernel.landlock == 0 && order.nesting == Nesting::Off;
    if require == Require::Full && is_without {
        let remedy = "use Linux 5.13 or newer, with `landlock` in /sys/kernel/security/lsm".into();
        let why = "the kernel does not have it".into();
        return Err(CannotPlan::Missing { require, wall: "Landlock", why, remedy });
    }
    Ok(Base::Namespaces { arch: arch(order, facts)?, users })
}

/// Landlock and the filter where nothing else can be had.
fn landlock(order: &Order, facts: &Facts) -> Result<Base, CannotPlan> {
    alone(order, facts, Around::Nothing)
}

fn alone(order: &Order, facts: &Facts, around: Around) -> Result<Base, CannotPlan> {
    let (require, version) = (order.require, facts.kernel.landlock);
    if order.nesting == Nesting::UserNamespaces {
        let why = "the host refuses them, and Landlock, which would be the wall, forbids their \
                   mounts"
            .into();
        let remedy = "say `nested: off`".into();
        let wall = "user namespaces inside (`nested: userns`)";
        return Err(CannotPlan::Missing { require, wall, why, remedy });
    }
    if version < LEAST {
        let why = match version {
            0 => "the kernel does not have it".to_owned(),
            old => {
                format!("version {old} of this kernel lets files be emptied that cannot be written")
            }
        };
        let remedy = "use Linux 6.2 or newer, with `landlock` in /sys/kernel/security/lsm".into();
        let wall = "Landlock as the only wall";
        return Err(CannotPlan::Missing { require, wall, why, remedy });
    }
    Ok(Base::Landlock { arch: arch(order, facts)?, around })
}

fn arch(order: &Order, facts: &Facts) -> Result<Arch, CannotPlan> {
    facts.kernel.arch.ok_or_else(|| CannotPlan::Missing {
        require: order.require,
        wall: "a filter of system calls",
        why: "this processor is not known".into(),
        remedy: "use a machine with an x86-64 or a 64-bit ARM processor".into(),
    })
}

/// Returns what lifts a refusal of namespaces, by what the kernel said.
fn remedy(errno: i32) -> &'static str {
    match errno {
        // ENOSPC, EUSERS
        28 | 87 => "raise `user.max_user_namespaces` and its like, or start fewer at once",
        // ENOSYS
        38 => Block::Filter.remedy(),
        // EAGAIN, ENOMEM, EMFILE
        11 | 12 | 24 => "raise the limits of this user or container, or start fewer at once",
        // ENOENT
        2 => Block::NoProc.remedy(),
        // EPERM, EACCES and whatever else
        _ => {
            "allow user namespaces: `kernel.unprivileged_userns_clone=1`, or on Ubuntu \
             `kernel.apparmor_restrict_unprivileged_userns=0`; a container's profile must allow \
             `unshare` and `mount`, and leave /proc unmasked"
        }
    }
}

impl CannotPlan {
    /// Adds that less could be had, if it could.
    fn with_less(mut self, order: &Order, facts: &Facts) -> Self {
        let is_less = landlock(order, facts).is_ok();
        if let Self::Missing { wall: "a sandbox of namespaces", remedy, .. } = &mut self
            && is_less
        {
            remedy.push_str("; or accept less with `require: landlock` (`palisade doctor` tells)");
        }
        self
    }

    /// Says what is missing, for whoever accepts that.
    fn told(&self) -> String {
        if let Self::Missing { wall, why, .. } = self {
            format!("{wall} cannot be had here: {why}")
        } else {
            self.to_string()
        }
    }
}
