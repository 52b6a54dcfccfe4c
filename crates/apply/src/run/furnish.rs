//! The /dev of a sandbox, made ahead: that of every sandbox is the same.

use std::ffi::CStr;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use palisade_plan::{Access, Depth, Keep, Owner, Plan, Step};
use rustix::fs::{Mode, OFlags};
use rustix::io::Result;
use rustix::mount::MountFlags;

use crate::sys::mount::{self, NO_DEVICES, NO_EXEC, NO_SUID, READ_ONLY, Reach};

const DEV: &CStr = c"/dev";
const SIZE: u64 = 64 << 10;
const MODE: u32 = 0o755;
const DATA: &CStr = c"size=65536,mode=755";

const DEVICES: [&CStr; 6] =
    [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom", c"/dev/tty"];

const LINKS: [(&CStr, &CStr); 5] = [
    (c"/dev/fd", c"/proc/self/fd"),
    (c"/dev/stdin", c"/proc/self/fd/0"),
    (c"/dev/stdout", c"/proc/self/fd/1"),
    (c"/dev/stderr", c"/proc/self/fd/2"),
    (c"/dev/ptmx", c"pts/ptmx"),
];

const TERMINALS: &CStr = c"/dev/pts";
const FOLDERS: [&CStr; 2] = [TERMINALS, c"/dev/shm"];

/// How terminals of its own are mounted, with these flags.
pub(super) const FRESH_TERMINALS: &CStr = c"newinstance,ptmxmode=0666,mode=0620";
pub(super) const TERMINAL_FLAGS: MountFlags = MountFlags::NOSUID.union(MountFlags::NOEXEC);

/// Every step of [`furnish`]: a tree of each device, the folder, a file and a tree for each.
const STEPS: usize = 3 * DEVICES.len() + 1 + LINKS.len() + FOLDERS.len() + 1;

/// Makes it, in the mounts of this process; returns whether it has. Where the host's /dev is not like
/// others, nothing is changed. It allocates nothing, and calls the kernel directly: the number of an
/// error that a C function keeps would be another thread's.
pub(super) fn furnish() -> Result<bool> {
    let mut trees = [const { None }; DEVICES.len()];
    for (tree, device) in trees.iter_mut().zip(DEVICES) {
        // What is sealed with everything else is opened again, which not every host lets us do.
        let opened = mount::clone_tree(device, Reach::One).and_then(|tree| {
            mount::reopen_tree(tree.as_fd(), NO_SUID | NO_EXEC, READ_ONLY | NO_DEVICES)?;
            Ok(tree)
        });
        let Ok(opened) = opened else { return Ok(false) };
        *tree = Some(opened);
    }
    mount::fresh(c"tmpfs", DEV, MountFlags::NOSUID | MountFlags::NODEV, DATA)?;
    for (tree, device) in trees.into_iter().flatten().zip(DEVICES) {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDONLY | OFlags::CLOEXEC;
        rustix::fs::open(device, flags, Mode::from_raw_mode(0o644))?;
        mount::attach(tree.as_fd(), device)?;
    }
    for (at, to) in LINKS {
        rustix::fs::symlink(to, at)?;
    }
    for folder in FOLDERS {
        rustix::fs::mkdir(folder, Mode::from_raw_mode(0o755))?;
    }
    mount::fresh(c"devpts", TERMINALS, TERMINAL_FLAGS, FRESH_TERMINALS)?;
    Ok(true)
}

/// Takes back what sealing everything did to it: devices are devices here, and nothing runs.
pub(super) fn unseal() -> Result<()> {
    mount::reopen_path(DEV, NO_SUID | NO_EXEC, READ_ONLY | NO_DEVICES, Reach::All)?;
    mount::reopen_path(DEV, NO_SUID | NO_DEVICES, NO_EXEC, Reach::One)
}

/// Returns whether a plan asks for just this /dev, and takes nothing else from the host's.
pub(super) fn fits(plan: &Plan) -> bool {
    let steps = plan.steps();
    let is_other = |step: &Step| {
        matches!(step, Step::Keep(keep) if keep.path.starts_with("/dev")) && !does(step)
    };
    // Behind an empty root there is nothing of what was made before.
    steps.iter().filter(|step| does(step)).count() == STEPS
        && !steps.iter().any(|step| is_other(step) || *step == Step::EmptyRoot)
}

/// Returns whether a step is one of those that [`furnish`] does.
pub(super) fn does(step: &Step) -> bool {
    let is = |path: &Path, known: &CStr| path.as_os_str().as_bytes() == known.to_bytes();
    let one_of = |path: &Path, known: &[&CStr]| known.iter().any(|known| is(path, known));
    if let Step::Keep(Keep { path, access, depth, owner, .. }) = step {
        let as_ours = (access, depth, owner) == (&Access::Device, &Depth::One, &Owner::Same);
        return as_ours && one_of(path, &DEVICES);
    }
    if let Step::MakeFile(at) | Step::Attach { at, .. } = step {
        return one_of(at, &DEVICES);
    }
    if let Step::MakeLink { at, to } = step {
        return LINKS.iter().any(|(link, leads)| is(at, link) && is(Path::new(to), leads));
    }
    if let Step::Tmpfs { at, size, mode } = step {
        return is(at, DEV) && *size == Some(SIZE) && *mode == MODE;
    }
    if let Step::MakeFolder(at) = step {
        return one_of(at, &FOLDERS);
    }
    *step == Step::FreshTerminals
}
