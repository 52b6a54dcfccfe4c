//! The operations that rules are about.

/// What a rule is about, as far as Linux has it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    /// Always possible inside: allowing it says nothing new, denying it cannot be kept.
    Always,
    /// Whatever no rule speaks of.
    Default,
    /// Starting a program.
    Exec,
    /// Reading and writing files.
    Files,
    /// Something that only macOS has.
    Foreign,
    /// Making a process.
    Fork,
    /// Connections.
    Network(Ways),
    /// Starting programs and making processes.
    Process,
    /// Reading files.
    Read(Part),
    /// Something that a wall settles for every policy, whatever a rule says.
    Walled(Wall),
    /// Writing files.
    Write(Part),
}

/// What settles an operation here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wall {
    Devices,
    Memory,
    Privileges,
    Processes,
    Settings,
    Signals,
    Terminals,
}

impl Wall {
    /// Returns what holds at the level `full`, and what does not.
    pub(super) fn holds(self) -> &'static str {
        match self {
            Self::Devices => {
                "no device of the host is there but null, zero, full, random, urandom and tty"
            }
            Self::Memory => {
                "shared memory, semaphores and queues are the sandbox's own; inside it they work"
            }
            Self::Privileges => "no process inside has the privilege",
            Self::Processes => "no process outside is seen; inside, processes see each other",
            Self::Settings => "/proc/sys is read-only",
            Self::Signals => "no signal leaves the sandbox; inside, processes signal each other",
            Self::Terminals => "the host's terminals are out of reach; the sandbox has its own",
        }
    }
}

/// How much of reading or writing an operation is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// What files hold, or one way to change that.
    Content,
    /// What is known about files: times, modes, attributes.
    Detail,
    /// Where they lie: removing and moving them.
    Place,
}

/// Which ways of talking an operation is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ways {
    All,
    Bind,
    Inbound,
    Outbound,
}

impl Operation {
    /// Returns how much it stands for. Whether a later rule about more takes back an earlier one
    /// about less is not certain: the documents say that the last rule counts, and that the more
    /// specific operation does.
    pub(super) fn breadth(self) -> Breadth {
        match self {
            Self::Files | Self::Network(Ways::All) | Self::Process | Self::Default => {
                Breadth::Several
            }
            Self::Read(Part::Whole) | Self::Write(Part::Whole) => Breadth::One,
            Self::Always
            | Self::Exec
            | Self::Foreign
            | Self::Fork
            | Self::Network(_)
            | Self::Read(_)
            | Self::Walled(_)
            | Self::Write(_) => Breadth::Part,
        }
    }
}

/// How much an operation stands for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Breadth {
    /// One that has no parts.
    Part,
    /// All parts of one.
    One,
    /// Several.
    Several,
}

/// Finds an operation by its name; none if there is no such operation.
pub(super) fn operation(name: &str) -> Option<Operation> {
    let known = match name {
        "default" => Operation::Default,
        "file*" => Operation::Files,
        "file-read*" => Operation::Read(Part::Whole),
        "file-read-data" => Operation::Read(Part::Content),
        "file-read-metadata" | "file-read-xattr" | "file-test-existence" => {
            Operation::Read(Part::Detail)
        }
        "file-write*" => Operation::Write(Part::Whole),
        "file-write-create" | "file-write-data" => Operation::Write(Part::Content),
        "file-write-unlink" => Operation::Write(Part::Place),
        "file-clone" | "file-link" | "file-write-acl" | "file-write-flags" | "file-write-mode"
        | "file-write-owner" | "file-write-times" | "file-write-xattr" => {
            Operation::Write(Part::Detail)
        }
        "network*" => Operation::Network(Ways::All),
        "network-bind" => Operation::Network(Ways::Bind),
        "network-inbound" => Operation::Network(Ways::Inbound),
        "network-outbound" => Operation::Network(Ways::Outbound),
        "process*" => Operation::Process,
        "process-exec" | "process-exec*" => Operation::Exec,
        "process-fork" => Operation::Fork,
        "dynamic-code-generation"
        | "file-ioctl"
        | "file-map-executable"
        | "necp-client-open"
        | "process-exec-interpreter"
        | "socket-ioctl"
        | "socket-option*"
        | "socket-option-get"
        | "socket-option-set"
        | "syscall*"
        | "syscall-unix"
        | "sysctl*"
        | "sysctl-read"
        | "system*"
        | "system-socket" => Operation::Always,
        "device*" => Operation::Walled(Wall::Devices),
        "pseudo-tty" => Operation::Walled(Wall::Terminals),
        "signal" => Operation::Walled(Wall::Signals),
        "sysctl-write" => Operation::Walled(Wall::Settings),
        _ if name.starts_with("process-info") && FOREIGN.contains(&name) => {
            Operation::Walled(Wall::Processes)
        }
        _ if name.starts_with("ipc") && FOREIGN.contains(&name) => Operation::Walled(Wall::Memory),
        _ if PRIVILEGED.contains(&name) => Operation::Walled(Wall::Privileges),
        _ if FOREIGN.contains(&name) => Operation::Foreign,
        _ => return None,
    };
    Some(known)
}

/// The names that a misspelt one is compared with.
pub(super) const COMMON: &[&str] = &[
    "default",
    "file*",
    "file-read*",
    "file-read-data",
    "file-read-metadata",
    "file-write*",
    "file-write-create",
    "file-write-data",
    "file-write-unlink",
    "network*",
    "network-bind",
    "network-inbound",
    "network-outbound",
    "process*",
    "process-exec",
    "process-fork",
    "signal",
    "mach-lookup",
    "sysctl-read",
    "ipc-posix-shm",
];

/// Operations that need a privilege on Linux too, which nothing inside has or gains.
const PRIVILEGED: &[&str] = &[
    "file-chroot",
    "file-mknod",
    "file-mount",
    "file-mount-update",
    "file-revoke",
    "file-unmount",
    "file-write-mount",
    "file-write-setugid",
    "file-write-umount",
    "file-write-unmount",
    "system-acct",
    "system-audit",
    "system-kext*",
    "system-privilege",
    "system-reboot",
    "system-set-time",
    "system-swap",
];

/// Other operations of macOS; what has a counterpart here was taken out before.
const FOREIGN: &[&str] = &[
    "appleevent-send",
    "authorization-right-obtain",
    "boot-arg-set",
    "darwin-notification-post",
    "device-camera",
    "device-microphone",
    "distributed-notification-post",
    "file-fsctl",
    "file-issue-extension",
    "file-issue-extension*",
    "file-search",
    "fs-snapshot*",
    "generic-issue-extension",
    "hid-control",
    "iokit*",
    "iokit-get-properties",
    "iokit-issue-extension",
    "iokit-open",
    "iokit-open*",
    "iokit-open-service",
    "iokit-open-user-client",
    "iokit-set-properties",
    "ipc*",
    "ipc-posix*",
    "ipc-posix-issue-extension",
    "ipc-posix-sem",
    "ipc-posix-sem*",
    "ipc-posix-shm",
    "ipc-posix-shm*",
    "ipc-posix-shm-read*",
    "ipc-posix-shm-read-data",
    "ipc-posix-shm-read-metadata",
    "ipc-posix-shm-write*",
    "ipc-posix-shm-write-create",
    "ipc-posix-shm-write-data",
    "ipc-posix-shm-write-unlink",
    "ipc-sysv*",
    "ipc-sysv-msg",
    "ipc-sysv-sem",
    "ipc-sysv-shm",
    "job-creation",
    "load-unsigned-code",
    "lsopen",
    "mach*",
    "mach-bootstrap",
    "mach-cross-domain-lookup",
    "mach-host*",
    "mach-host-exception-port-set",
    "mach-host-special-port-set",
    "mach-issue-extension",
    "mach-kernel-endpoint",
    "mach-lookup",
    "mach-per-user-lookup",
    "mach-priv*",
    "mach-priv-host-port",
    "mach-priv-task-port",
    "mach-register",
    "mach-task*",
    "mach-task-name",
    "mach-task-read",
    "mach-task-special-port-set",
    "managed-preference-read",
    "nvram*",
    "nvram-delete",
    "nvram-get",
    "nvram-set",
    "process-codesigning*",
    "process-codesigning-status*",
    "process-codesigning-status-get",
    "process-info*",
    "process-info-codesignature",
    "process-info-dirtycontrol",
    "process-info-listpids",
    "process-info-pidfdinfo",
    "process-info-pidfileportinfo",
    "process-info-pidinfo",
    "process-info-rusage",
    "process-info-setcontrol",
    "syscall-mach",
    "syscall-mig",
    "system-automount",
    "system-fsctl",
    "system-info",
    "system-lcid",
    "system-mac-label",
    "system-mac-syscall",
    "system-nfssvc",
    "system-pathconf",
    "system-sched",
    "system-suspend-resume",
    "user-preference*",
    "user-preference-read",
    "user-preference-write",
];
