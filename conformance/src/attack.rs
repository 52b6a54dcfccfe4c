//! The attacks by name, with the escape row that each belongs to.

/// Who knows whether an attack got through.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// It leaves a trace outside, and only that counts: inside, a write may go to a private copy.
    Outside,
    /// What was read or obtained is gone with the probe, so its word counts.
    Word,
}

/// One thing that must not work inside of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// Its name, which starts with its row.
    pub name: &'static str,
    /// The row of the escapes that it belongs to.
    pub row: u8,
    /// What is tried, for a person.
    pub what: &'static str,
    /// Who knows whether it worked.
    pub evidence: Evidence,
}

const fn outside(name: &'static str, row: u8, what: &'static str) -> Attack {
    Attack { name, row, what, evidence: Evidence::Outside }
}

const fn word(name: &'static str, row: u8, what: &'static str) -> Attack {
    Attack { name, row, what, evidence: Evidence::Word }
}

/// Every attack, in the order of rows.
pub const ATTACKS: [Attack; 43] = [
    outside("e031-made", 31, "make a protected file that does not exist yet"),
    outside("e031-moved", 31, "move or link something to a protected name"),
    outside("e032-hooks", 32, "plant a hook in the repository"),
    outside(
        "e032-config",
        32,
        "write the repository's configuration, or a file that stands for it",
    ),
    outside("e033-parent", 33, "move the repository away and make another"),
    outside("e033-replaced", 33, "replace the configuration by rename, exchange or link"),
    outside("e035-linked", 35, "write to an outer file through a hard link"),
    outside("e036-written", 36, "write to an outer file, by other spellings of its path"),
    word("e036-read", 36, "read a hidden credential, by other spellings of its path"),
    outside("e036-walked", 36, "write to an outer file through descriptors and links in /proc"),
    outside("e039-granted", 39, "write outside because a file of the workspace permits it"),
    outside("e040-startup", 40, "append to a start-up file in the home"),
    outside("e041-planted", 41, "write through a link that waits in the temporary folder"),
    outside("e045-moved-out", 45, "move a file out of the workspace"),
    outside("e045-moved-in", 45, "move an outer file into the workspace"),
    outside("e046-typed", 46, "type into the terminal of whoever started the engine"),
    outside("e047-poked", 47, "write into the memory of an outer process"),
    word("e047-environ", 47, "read a secret of the starter's environment from /proc"),
    word("e047-memory", 47, "read or open the memory of the engine's own processes"),
    word("e048-ring", 48, "make an io_uring"),
    word("e049-thirty-two", 49, "make an io_uring by the system calls of 32 bits"),
    word("e050-namespace", 50, "make a user namespace, with every capability in it"),
    word("e050-mount", 50, "mount a file system, the old way and the new"),
    word("e050-handle", 50, "ask for a handle of a file, and open it"),
    word("e050-entered", 50, "enter other namespaces"),
    outside("e051-connected", 51, "connect to a socket of the host by its path"),
    outside("e051-sent", 51, "send a datagram to a socket of the host by its path"),
    outside("e051-near", 51, "connect to a socket of the host that lies in the workspace"),
    outside("e052-nameless", 52, "connect to a socket of the host that has no path"),
    outside("e052-signalled", 52, "signal a process of the same user"),
    outside("e053-inherited", 53, "write to a file that the starter left open"),
    outside("e053-reopened", 53, "open standard input, which is read-only, for writing"),
    outside("e054-shared", 54, "write to a file in the host's /dev/shm"),
    outside("e054-segment", 54, "write to a segment of shared memory of the host"),
    outside("e054-queue", 54, "send to a queue of messages of the host"),
    word("e054-keys", 54, "put a key onto the user's keyring"),
    word("e055-elevated", 55, "start a program that runs as its owner"),
    outside("e059-daemon", 59, "leave a process behind"),
    word("e059-bomb", 59, "have 300 processes where 64 are allowed"),
    word("e059-memory", 59, "have 600 MiB where 256 MiB are allowed"),
    outside("e060-group", 60, "make a control group, or change a bound of one"),
    outside("e073-loopback", 73, "connect to a port on the loopback of the host"),
    outside("e077-packet", 77, "send a datagram to a port on the loopback of the host"),
];

/// Rows of the same groups that no probe inside of an engine can judge, and why.
pub const NOT_PROBED: [(u8, &str); 11] = [
    (34, "about tools outside of the engine that follow links: tests of `Jail`"),
    (37, "about the caller's choice of a root: tests of the command line"),
    (38, "about tools outside of the engine: tests of `Jail`"),
    (42, "about the start: nothing can be let through without a sandbox"),
    (43, "about the start: nothing can be let through without a sandbox"),
    (44, "about copies on write that a supervisor makes: tests of `Jail`"),
    (56, "about what an engine says of itself: tests of `prove`"),
    (57, "about one design, notification by seccomp: tests of the supervisor"),
    (58, "about one design, notification by seccomp: tests of the start"),
    (61, "macOS: tests of the generated profile"),
    (62, "macOS: tests of the generated profile"),
];

/// Returns the attack of that name.
#[must_use]
pub fn attack(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|attack| attack.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_both_groups_is_tried_or_named() {
        for row in 31..=62 {
            let tried = ATTACKS.iter().any(|attack| attack.row == row);
            let named = NOT_PROBED.iter().any(|(other, _)| *other == row);
            assert!(tried != named, "row {row}: tried {tried}, named as not tried {named}");
        }
    }

    #[test]
    fn names_start_with_their_row_and_are_in_order() {
        for pair in ATTACKS.windows(2) {
            assert!(pair[0].row <= pair[1].row, "{} before {}", pair[0].name, pair[1].name);
        }
        for one in &ATTACKS {
            assert!(one.name.starts_with(&format!("e{:03}-", one.row)), "{}", one.name);
            let same = ATTACKS.iter().filter(|other| other.name == one.name).count();
            assert_eq!(same, 1, "{}", one.name);
        }
    }
}
