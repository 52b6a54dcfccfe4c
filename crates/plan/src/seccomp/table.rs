//! The table: one line for each call that is refused, and why.

use super::{Check, Family, Refusal, Rule, Sockets};

/// The newest number that was known when this was written (`file_setattr`, Linux 6.17). What comes
/// later does not exist inside.
pub const NEWEST: u32 = 469;

const PERM: Check = Check::Always(Refusal::NotPermitted);
const MISSING: Check = Check::Always(Refusal::Missing);

/// Every `CLONE_NEW*`: time, mount, cgroup, uts, ipc, user, pid, network.
const NAMESPACES: u32 = 0x80
    | 0x2_0000
    | 0x200_0000
    | 0x400_0000
    | 0x800_0000
    | 0x1000_0000
    | 0x2000_0000
    | 0x4000_0000;

/// `TIOCSTI`, `TIOCLINUX`, `TIOCSETD`.
///
/// Behind them `FS_IOC_RESVSP`, `FS_IOC_RESVSP64` and `FS_IOC_ZERO_RANGE`, which are `fallocate` under
/// other names.
const REQUESTS: [u32; 6] = [0x5412, 0x541c, 0x5423, 0x4030_5828, 0x4030_582a, 0x4030_5839];

/// The internet protocols: whichever fits, TCP, UDP, MPTCP.
const INTERNET: [u32; 4] = [0, 6, 17, 262];

const FAMILIES: [Family; 4] = [
    Family { name: "unix", number: 1, protocols: &[] },
    Family { name: "inet", number: 2, protocols: &INTERNET },
    Family { name: "inet6", number: 10, protocols: &INTERNET },
    // Addresses and routes only; the others reach netfilter, xfrm, audit and more.
    Family { name: "netlink", number: 16, protocols: &[0] },
];

/// `S_ISUID`.
const SET_USER: u32 = 0o4000;

/// That and `S_ISGID`, for calls that make no folder.
const SET_EITHER: u32 = 0o6000;

/// `O_CREAT` and the bit of its own that `O_TMPFILE` has: only then is there a mode to look at.
const CREATES: u32 = 0o100 | 0o20_000_000;

/// `RENAME_WHITEOUT`.
const WHITEOUT: u32 = 4;

/// `FALLOC_FL_INSERT_RANGE`, and `FALLOC_FL_KEEP_SIZE` alone, with `FALLOC_FL_ZERO_RANGE` and with
/// `FALLOC_FL_UNSHARE_RANGE`: the first lets a file grow, the others fill the disk behind its end.
const UNBOUNDED: [u32; 4] = [0x20, 0x1, 0x11, 0x41];

const fn rule(
    call: &'static str,
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    check: Check,
    why: &'static str,
) -> Rule {
    Rule { call, x86_64, aarch64, check, why }
}

/// What is refused, and how.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    //   call                  x86-64     arm64      when           why
    rule("clone3",           Some(435), Some(435), MISSING, "its flags lie in memory, where no filter sees them; callers fall back to clone"),
    rule("clone",            Some(56),  Some(220), Check::AnyBit(0, NAMESPACES, Refusal::NotPermitted), "a new namespace gives its maker every capability in it"),
    rule("unshare",          Some(272), Some(97),  Check::AnyBit(0, NAMESPACES, Refusal::NotPermitted), "the same by another way"),
    rule("setns",            Some(308), Some(268), PERM, "entering namespaces"),
    rule("ioctl",            Some(16),  Some(29),  Check::OneOf(1, &REQUESTS, Refusal::NotPermitted), "typing into a terminal, its line disciplines; files that grow past their bound"),
    rule("socket",           Some(41),  Some(198), Check::Socket(&FAMILIES), "families nobody needs are parts of the kernel nobody needs"),
    rule("setsockopt",       Some(54),  Some(208), Check::Both((1, 6), (2, 31), Refusal::NotPermitted), "TCP_ULP loads protocols into a connection"),
    rule("chmod",            Some(90),  None,      Check::AnyBit(1, SET_USER, Refusal::NotPermitted), "a file that runs as its owner outlives the walls, and outside they are gone"),
    rule("fchmod",           Some(91),  Some(52),  Check::AnyBit(1, SET_USER, Refusal::NotPermitted), "the same by another way"),
    rule("fchmodat",         Some(268), Some(53),  Check::AnyBit(2, SET_USER, Refusal::NotPermitted), "the same by another way"),
    rule("fchmodat2",        Some(452), Some(452), Check::AnyBit(2, SET_USER, Refusal::NotPermitted), "the same by another way"),
    rule("creat",            Some(85),  None,      Check::AnyBit(1, SET_EITHER, Refusal::NotPermitted), "the same by another way"),
    rule("mknod",            Some(133), None,      Check::AnyBit(1, SET_EITHER, Refusal::NotPermitted), "the same by another way"),
    rule("mknodat",          Some(259), Some(33),  Check::AnyBit(2, SET_EITHER, Refusal::NotPermitted), "the same by another way"),
    rule("open",             Some(2),   None,      Check::BothBits((1, CREATES), (2, SET_EITHER), Refusal::NotPermitted), "the same by another way"),
    rule("openat",           Some(257), Some(56),  Check::BothBits((2, CREATES), (3, SET_EITHER), Refusal::NotPermitted), "the same by another way"),
    rule("openat2",          Some(437), Some(437), MISSING, "its mode lies in memory, where no filter sees it; callers fall back to openat"),
    rule("renameat2",        Some(316), Some(276), Check::AnyBit(4, WHITEOUT, Refusal::NotPermitted), "it leaves a device behind, where making one is refused"),
    rule("fallocate",        Some(285), Some(47),  Check::OneOf(1, &UNBOUNDED, Refusal::NotSupported), "what grows so meets no bound of a file's size; callers do without, as on other filesystems"),
    rule("prlimit64",        Some(302), Some(261), Check::AnyBit(0, u32::MAX, Refusal::NotPermitted), "limits of other processes, of which the first one is ours"),
    rule("process_vm_readv", Some(310), Some(270), PERM, "memory of other processes"),
    rule("process_vm_writev",Some(311), Some(271), PERM, "memory of other processes"),
    rule("process_madvise",  Some(440), Some(440), PERM, "memory of other processes"),
    rule("pidfd_getfd",      Some(438), Some(438), PERM, "descriptors of other processes"),
    rule("kcmp",             Some(312), Some(272), PERM, "compares the insides of other processes"),
    rule("io_uring_setup",   Some(425), Some(425), MISSING, "a second way into the kernel that no filter sees; callers fall back"),
    rule("io_uring_enter",   Some(426), Some(426), MISSING, "a second way into the kernel"),
    rule("io_uring_register",Some(427), Some(427), MISSING, "a second way into the kernel"),
    rule("add_key",          Some(248), Some(217), PERM, "keyrings are not namespaced"),
    rule("request_key",      Some(249), Some(218), PERM, "keyrings are not namespaced"),
    rule("keyctl",           Some(250), Some(219), PERM, "keyrings are not namespaced"),
    rule("userfaultfd",      Some(323), Some(282), PERM, "holds the kernel still at a chosen place"),
    rule("perf_event_open",  Some(298), Some(241), PERM, "watches the machine"),
    rule("bpf",              Some(321), Some(280), PERM, "programs in the kernel"),
    rule("init_module",      Some(175), Some(105), PERM, "code in the kernel"),
    rule("finit_module",     Some(313), Some(273), PERM, "code in the kernel"),
    rule("delete_module",    Some(176), Some(106), PERM, "code in the kernel"),
    rule("kexec_load",       Some(246), Some(104), PERM, "another kernel"),
    rule("kexec_file_load",  Some(320), Some(294), PERM, "another kernel"),
    rule("reboot",           Some(169), Some(142), PERM, "the machine"),
    rule("swapon",           Some(167), Some(224), PERM, "the machine"),
    rule("swapoff",          Some(168), Some(225), PERM, "the machine"),
    rule("acct",             Some(163), Some(89),  PERM, "the machine"),
    rule("quotactl",         Some(179), Some(60),  PERM, "quotas of other users"),
    rule("quotactl_fd",      Some(443), Some(443), PERM, "quotas of other users"),
    rule("settimeofday",     Some(164), Some(170), PERM, "the clock of the machine"),
    rule("clock_settime",    Some(227), Some(112), PERM, "the clock of the machine"),
    rule("clock_adjtime",    Some(305), Some(266), PERM, "the clock of the machine"),
    rule("adjtimex",         Some(159), Some(171), PERM, "the clock of the machine"),
    rule("syslog",           Some(103), Some(116), PERM, "the log of the kernel, and addresses in it"),
    rule("mount",            Some(165), Some(40),  PERM, "mounts are ours"),
    rule("umount2",          Some(166), Some(39),  PERM, "mounts are ours"),
    rule("pivot_root",       Some(155), Some(41),  PERM, "mounts are ours"),
    rule("chroot",           Some(161), Some(51),  PERM, "another root"),
    rule("open_tree",        Some(428), Some(428), PERM, "mounts are ours"),
    rule("open_tree_attr",   Some(467), Some(467), PERM, "mounts are ours"),
    rule("move_mount",       Some(429), Some(429), PERM, "mounts are ours"),
    rule("fsopen",           Some(430), Some(430), PERM, "mounts are ours"),
    rule("fsconfig",         Some(431), Some(431), PERM, "mounts are ours"),
    rule("fsmount",          Some(432), Some(432), PERM, "mounts are ours"),
    rule("fspick",           Some(433), Some(433), PERM, "mounts are ours"),
    rule("mount_setattr",    Some(442), Some(442), PERM, "mounts are ours"),
    rule("statmount",        Some(457), Some(457), MISSING, "tells of mounts outside; callers fall back"),
    rule("listmount",        Some(458), Some(458), MISSING, "tells of mounts outside; callers fall back"),
    rule("name_to_handle_at",Some(303), Some(264), PERM, "handles lead around every mount"),
    rule("open_by_handle_at",Some(304), Some(265), PERM, "handles lead around every mount"),
    rule("fanotify_init",    Some(300), Some(262), PERM, "watches whole filesystems"),
    rule("move_pages",       Some(279), Some(239), PERM, "memory of other processes"),
    rule("migrate_pages",    Some(256), Some(238), PERM, "memory of other processes"),
    rule("mbind",            Some(237), Some(235), PERM, "a long history of faults"),
    rule("memfd_secret",     Some(447), Some(447), PERM, "memory that no tool can look at"),
    rule("modify_ldt",       Some(154), None,      PERM, "16-bit segments"),
    rule("iopl",             Some(172), None,      PERM, "ports of the machine"),
    rule("ioperm",           Some(173), None,      PERM, "ports of the machine"),
    rule("uselib",           Some(134), None,      MISSING, "long gone"),
    rule("ustat",            Some(136), None,      MISSING, "long gone"),
    rule("sysfs",            Some(139), None,      MISSING, "long gone"),
    rule("_sysctl",          Some(156), None,      MISSING, "long gone"),
    rule("nfsservctl",       Some(180), Some(42),  MISSING, "long gone"),
    rule("lookup_dcookie",   Some(212), Some(18),  MISSING, "long gone"),
    rule("vhangup",          Some(153), Some(58),  PERM, "takes a terminal from others"),
    rule("lsm_set_self_attr",Some(460), Some(460), PERM, "security modules"),
];

/// What is refused instead where a file's group is root's.
#[rustfmt::skip]
pub const ROOTS: &[Rule] = &[
    rule("chmod",            Some(90),  None,      Check::AnyBit(1, SET_EITHER, Refusal::NotPermitted), "a file that runs as root's group outlives the walls; folders that hand it on are not worth that"),
    rule("fchmod",           Some(91),  Some(52),  Check::AnyBit(1, SET_EITHER, Refusal::NotPermitted), "the same by another way"),
    rule("fchmodat",         Some(268), Some(53),  Check::AnyBit(2, SET_EITHER, Refusal::NotPermitted), "the same by another way"),
    rule("fchmodat2",        Some(452), Some(452), Check::AnyBit(2, SET_EITHER, Refusal::NotPermitted), "the same by another way"),
];

/// The families that reach no program of the host by a path.
const INTERNET_FAMILIES: [Family; 3] = [
    Family { name: "inet", number: 2, protocols: &INTERNET },
    Family { name: "inet6", number: 10, protocols: &INTERNET },
    Family { name: "netlink", number: 16, protocols: &[0] },
];

/// `SOCK_DGRAM` and `SOCK_RAW`, which is the same here, alone and with `SOCK_NONBLOCK` and
/// `SOCK_CLOEXEC`: one end of such a pair can be connected anew, or send elsewhere.
const UNTIED: [u32; 8] = [2, 3, 0x802, 0x803, 0x8_0002, 0x8_0003, 0x8_0802, 0x8_0803];

/// What is refused, too, where the command has no namespaces of its own: with these sockets, or
/// whichever there are.
#[rustfmt::skip]
pub const UNSHARED: &[(Option<Sockets>, Rule)] = &[
    (Some(Sockets::Internet), rule("socket", Some(41), Some(198), Check::Socket(&INTERNET_FAMILIES), "sockets with a path lead to programs of the host")),
    (Some(Sockets::Pairs), rule("socket", Some(41), Some(198), Check::Always(Refusal::NoFamily), "the network is the host's")),
    (None, rule("socketpair", Some(53),  Some(199), Check::OneOf(1, &UNTIED, Refusal::NoProtocol), "one end can be connected to a program of the host")),
    (None, rule("shmget",     Some(29),  Some(194), PERM, "memory of the host")),
    (None, rule("shmat",      Some(30),  Some(196), PERM, "memory of the host")),
    (None, rule("shmctl",     Some(31),  Some(195), PERM, "memory of the host")),
    (None, rule("semget",     Some(64),  Some(190), PERM, "semaphores of the host")),
    (None, rule("semop",      Some(65),  Some(193), PERM, "semaphores of the host")),
    (None, rule("semctl",     Some(66),  Some(191), PERM, "semaphores of the host")),
    (None, rule("semtimedop", Some(220), Some(192), PERM, "semaphores of the host")),
    (None, rule("msgget",     Some(68),  Some(186), PERM, "queues of the host")),
    (None, rule("msgsnd",     Some(69),  Some(189), PERM, "queues of the host")),
    (None, rule("msgrcv",     Some(70),  Some(188), PERM, "queues of the host")),
    (None, rule("msgctl",     Some(71),  Some(187), PERM, "queues of the host")),
    (None, rule("mq_open",    Some(240), Some(180), PERM, "queues of the host")),
    (None, rule("mq_unlink",  Some(241), Some(181), PERM, "queues of the host")),
];
