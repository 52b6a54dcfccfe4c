//! What a policy allows, and its author probably did not mean.
//!
//! A lint is a warning: the policy is used as it stands. Each has a code that never changes, what is
//! odd here, why that matters, and what to write instead. `palisade policy check` prints them.

mod calls;
mod files;
mod idle;
mod lists;
mod network;
mod rules;

use std::path::Path;

use crate::layer::Origin;
use crate::name::{Anchors, Folder};
use crate::policy::Policy;

pub use idle::{SHORTEST_FILE, SMALLEST_FILE, WithoutEffect, without_effect};

/// Something that a policy says, or leaves out, and that looks like a mistake.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lint {
    /// A name that never changes, for programs, tests and the manual.
    pub code: &'static str,
    /// What is odd here, in one line.
    pub message: String,
    /// Why that matters.
    pub explanation: &'static str,
    /// What to write instead.
    pub fix: String,
    /// Where it was said, if anybody said it.
    pub origin: Option<Origin>,
}

/// Where the policy is going to be used.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The project's root and the home folder.
    pub anchors: &'a Anchors,
    /// The folder that commands start in.
    pub cwd: &'a Path,
    /// The profile files that were read and found whole.
    pub checked: &'a [Folder],
    /// What the texts say for the agent or task alone that the policy is for.
    pub own: &'a [&'a Policy],
}

/// Looks a resolved policy over.
pub fn lint(policy: &Policy, context: &Context<'_>) -> Vec<Lint> {
    let mut lints = Vec::new();
    for check in CHECKS {
        let found = (check.find)(policy, context);
        lints.extend(found.into_iter().map(|Finding { message, fix, origin }| Lint {
            code: check.code,
            message,
            explanation: check.explanation,
            fix,
            origin,
        }));
    }
    lints
}

/// One thing to look for.
struct Check {
    code: &'static str,
    explanation: &'static str,
    find: fn(&Policy, &Context<'_>) -> Vec<Finding>,
}

/// One place where it was found.
struct Finding {
    message: String,
    fix: String,
    origin: Option<Origin>,
}

const CHECKS: [Check; 19] = [
    Check {
        code: "L001-no-rules",
        explanation: "No rule of this policy refuses a command or asks about one: only what the \
                      preset itself finds is refused or asked.",
        find: calls::no_rules,
    },
    Check {
        code: "L002-write-nothing",
        explanation: "The profile is one that writes, yet nothing is writable: every edit fails, \
                      and people then switch the sandbox off.",
        find: files::write_nothing,
    },
    Check {
        code: "L003-write-misses-cwd",
        explanation: "Commands start in a folder that they cannot write, which is rarely meant \
                      where others are writable.",
        find: files::write_misses_cwd,
    },
    Check {
        code: "L004-write-everything",
        explanation: "Whoever can write the home folder or the whole disk can change what runs at \
                      the next login, and has left the sandbox.",
        find: files::write_everything,
    },
    Check {
        code: "L005-profile-unchecked",
        explanation: "A profile of your own is only known to be whole once it was read: until \
                      then it counts as `readonly`.",
        find: files::profile_unchecked,
    },
    Check {
        code: "L006-network-open",
        explanation: "With the network untouched, whatever can be read can be sent anywhere, and \
                      no connection is recorded.",
        find: network::open,
    },
    Check {
        code: "L007-hosts-unused",
        explanation: "The list of allowed hosts counts in mode `allow-list` only; in every other \
                      mode it looks like a limit and is none.",
        find: network::hosts_unused,
    },
    Check {
        code: "L008-credentials-visible",
        explanation: "A command that can read a key can use it, and can send it to every host it \
                      reaches.",
        find: files::credentials_visible,
    },
    Check {
        code: "L009-wildcard-without-name",
        explanation: "`*.x` stands for every name below `x`, and not for `x` itself.",
        find: network::wildcard_without_name,
    },
    Check {
        code: "L010-broad-tool-pattern",
        explanation: "An expression that fits many tools decides about tools that nobody thought \
                      of, and of those to come.",
        find: calls::broad_tool_pattern,
    },
    Check {
        code: "L011-secret-passed",
        explanation: "A variable that holds a secret can be read by every program inside, and \
                      printed by it.",
        find: calls::secret_passed,
    },
    Check {
        code: "L012-weak-require",
        explanation: "Where less than all walls is accepted, a machine that lacks some runs \
                      commands with fewer of them.",
        find: calls::weak_require,
    },
    Check {
        code: "L013-credentials-unhidden",
        explanation: "The built-in list hides credentials because no build needs to read them; \
                      taking one off it hands it to every command.",
        find: files::credentials_unhidden,
    },
    Check {
        code: "L014-rule-never-fires",
        explanation: "A rule that is never asked looks like a limit, or like a permission, and is \
                      neither.",
        find: rules::never_fires,
    },
    Check {
        code: "L015-rule-shadowed",
        explanation: "Within a list the first rule that matches decides; one behind it that \
                      matches no more than it does is never asked.",
        find: rules::shadowed,
    },
    Check {
        code: "L016-list-closes-nothing",
        explanation: "Lists that open add up: one that is empty, or repeats what holds already, \
                      takes nothing back of what is open for everyone.",
        find: lists::idle,
    },
    Check {
        code: "L017-key-without-effect",
        explanation: "A key that changes nothing looks like a limit, or like a door, and is \
                      neither.",
        find: idle::idle,
    },
    Check {
        code: "L018-nobody-listed",
        explanation: "In mode `allow-list` only what is listed can be reached. Without an entry the \
                      network is closed, which `deny-all` says in so many words.",
        find: network::nobody_listed,
    },
    Check {
        code: "L019-sockets-that-lead-out",
        explanation: "Whoever listens at a socket of the host does what it is asked with its own \
                      rights: one that starts containers or services gives the machine away.",
        find: network::leads_out,
    },
];

#[cfg(test)]
mod tests;
