//! Mounts: taking clones of trees, changing what may be done with them, putting them in place.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags,
};

use super::{raw, straight};

/// Attributes of mounts (mount_setattr(2)).
pub(crate) const READ_ONLY: u64 = 0x1;
pub(crate) const NO_SUID: u64 = 0x2;
pub(crate) const NO_DEVICES: u64 = 0x4;
pub(crate) const NO_EXEC: u64 = 0x8;
const IDMAP: u64 = 0x10_0000;

/// What a change of attributes reaches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    /// One mount.
    One,
    /// It and every mount below.
    All,
}

/// Opens what lies at `path`, to be cloned or mounted on. A link among its folders is an error: the path
/// was free of them, and somebody has put one there since. A link at its end is opened itself.
pub(crate) fn find(path: &CStr) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    straight::open(path, flags)
}

/// Takes a clone of the tree at a place that was opened.
pub(crate) fn clone_at(place: BorrowedFd<'_>, reach: Reach) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    let flags = match reach {
        Reach::One => flags,
        Reach::All => flags | OpenTreeFlags::AT_RECURSIVE,
    };
    rustix::mount::open_tree(place, c"", flags)
}

/// Takes a clone of the tree at `path`, whoever has put links on the way, which belongs to no folder until it is attached. A link at
/// the end of the path is taken itself.
pub(crate) fn clone_tree(path: &CStr, reach: Reach) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let flags = match reach {
        Reach::One => flags,
        Reach::All => flags | OpenTreeFlags::AT_RECURSIVE,
    };
    rustix::mount::open_tree(CWD, path, flags)
}

/// Sets attributes of a cloned tree, makes it private, and gives its files other owners if
/// `owners`, a user namespace, says so.
pub(crate) fn change_tree(
    tree: BorrowedFd<'_>,
    set: u64,
    owners: Option<BorrowedFd<'_>>,
    reach: Reach,
) -> Result<()> {
    let empty_path = libc::AT_EMPTY_PATH.cast_unsigned();
    let namespace = owners.map_or(0, |owners| u64::from(owners.as_raw_fd().cast_unsigned()));
    let set = if owners.is_some() { set | IDMAP } else { set };
    let change = Change { set, clear: 0, namespace };
    set_attributes(tree.as_raw_fd(), c"", empty_path, change, reach)
}

/// Sets attributes of a cloned tree, takes others off, and makes it private.
pub(crate) fn reopen_tree(tree: BorrowedFd<'_>, set: u64, clear: u64) -> Result<()> {
    let empty_path = libc::AT_EMPTY_PATH.cast_unsigned();
    let change = Change { set, clear, namespace: 0 };
    set_attributes(tree.as_raw_fd(), c"", empty_path, change, Reach::One)
}

/// Sets attributes of the mount at `path` and makes it private.
pub(crate) fn change_path(path: &CStr, set: u64, reach: Reach) -> Result<()> {
    set_attributes(libc::AT_FDCWD, path, 0, Change { set, clear: 0, namespace: 0 }, reach)
}

/// Sets attributes of the mount at `path`, takes others off, and makes it private.
pub(crate) fn reopen_path(path: &CStr, set: u64, clear: u64, reach: Reach) -> Result<()> {
    set_attributes(libc::AT_FDCWD, path, 0, Change { set, clear, namespace: 0 }, reach)
}

/// What becomes of a mount.
struct Change {
    set: u64,
    clear: u64,
    /// The number of the user namespace that says who owns its files, if one does.
    namespace: u64,
}

fn set_attributes(
    folder: i32,
    path: &CStr,
    flags: u32,
    change: Change,
    reach: Reach,
) -> Result<()> {
    let recursive = match reach {
        Reach::One => 0,
        Reach::All => 0x8000_u32, // AT_RECURSIVE
    };
    // struct mount_attr: attr_set, attr_clr, propagation, userns_fd.
    let attributes: [u64; 4] = [change.set, change.clear, libc::MS_PRIVATE, change.namespace];
    let arguments = [
        // The kernel takes an int, whatever stands above it.
        folder.cast_unsigned() as usize,
        path.as_ptr().expose_provenance(),
        (flags | recursive) as usize,
        attributes.as_ptr().expose_provenance(),
        size_of_val(&attributes),
    ];
    // Without the C library: who makes mounts ahead of us shares the memory of its thread.
    // SAFETY: the kernel reads a C string and 32 bytes of `attributes`, both alive until the call
    // returns, and writes nothing. Wrong descriptors, paths and flags come back as errors.
    unsafe { raw::call(libc::SYS_mount_setattr, arguments) }.map(drop)
}

/// Puts a cloned tree at a place that was opened.
pub(crate) fn attach_at(tree: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(tree, c"", place, c"", flags)
}

/// Puts a cloned tree at a name in a folder. A link there is not followed.
pub(crate) fn attach_in(tree: BorrowedFd<'_>, folder: BorrowedFd<'_>, name: &CStr) -> Result<()> {
    rustix::mount::move_mount(tree, c"", folder, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Puts a cloned tree at `path`. A link at the end of the path is not followed.
pub(crate) fn attach(tree: BorrowedFd<'_>, path: &CStr) -> Result<()> {
    rustix::mount::move_mount(tree, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Mounts what lies at `path` on itself, with these attributes.
///
/// What came in its place meanwhile is mounted then; only a name that is gone fails.
pub(crate) fn rebind(path: &CStr, attributes: u64) -> Result<()> {
    while_replaced(|| {
        let place = find(path)?;
        let tree = clone_at(place.as_fd(), Reach::All)?;
        change_tree(tree.as_fd(), attributes, None, Reach::All)?;
        attach_at(tree.as_fd(), place.as_fd())
    })
}

/// Covers what lies at `path` so that it can be used for nothing, whatever it is.
pub(crate) fn cover(path: &CStr) -> Result<()> {
    while_replaced(|| {
        let place = find(path)?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
        let cover = if kind == FileType::Directory { folder_cover()? } else { file_cover()? };
        attach_at(cover.as_fd(), place.as_fd())
    })
}

/// Mounts again and again: the kernel says "no such file" of one that is replaced between its finding
/// the name and its mounting there.
fn while_replaced(mut mounts: impl FnMut() -> Result<()>) -> Result<()> {
    let mut tries = 100_u32;
    loop {
        match mounts() {
            Err(Errno::NOENT) if tries > 0 => tries -= 1,
            done => return done,
        }
    }
}

/// Returns a file that can be opened for nothing: a device on a mount without devices.
pub(crate) fn file_cover() -> Result<OwnedFd> {
    let cover = clone_tree(c"/dev/null", Reach::One)?;
    change_tree(cover.as_fd(), READ_ONLY | NO_DEVICES, None, Reach::One)?;
    Ok(cover)
}

/// Returns an empty folder that nobody may enter.
pub(crate) fn folder_cover() -> Result<OwnedFd> {
    let context = rustix::mount::fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [(c"size", c"4k"), (c"nr_inodes", c"1"), (c"mode", c"000")] {
        rustix::mount::fsconfig_set_string(context.as_fd(), key, value)?;
    }
    rustix::mount::fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Mounts a new filesystem of `kind` at `path`.
pub(crate) fn fresh(kind: &CStr, path: &CStr, flags: MountFlags, data: &CStr) -> Result<()> {
    rustix::mount::mount(kind, path, kind, flags, data)
}

/// Makes a filesystem in memory that is mounted nowhere.
pub(crate) fn detached_memory() -> Result<OwnedFd> {
    let context = rustix::mount::fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), c"size", c"256k")?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Changes to an empty root in memory. The one before stays, out of reach of every path, until
/// [`close_root`]: the kernel mounts a /proc only for who has one.
pub(crate) fn empty_root() -> Result<()> {
    let root = detached_memory()?;
    rustix::fs::chmodat(root.as_fd(), c".", Mode::from_raw_mode(0o755), AtFlags::empty())?;
    attach(root.as_fd(), c"/")?;
    rustix::process::fchdir(root.as_fd())?;
    // Both by the folder we stand in: the old root is put on top of the new one (pivot_root(2)).
    rustix::process::pivot_root(c".", c".")
}

/// Lets go of the root before an empty one, and seals that.
pub(crate) fn close_root() -> Result<()> {
    rustix::process::chdir(c"/")?;
    rustix::mount::unmount(c".", UnmountFlags::DETACH)?;
    change_path(c"/", READ_ONLY | NO_SUID | NO_DEVICES, Reach::One)
}

/// Makes the mark that, in the upper layer of an overlay, says "this name does not exist".
pub(crate) fn whiteout(folder: BorrowedFd<'_>, name: &CStr) -> Result<()> {
    rustix::fs::mknodat(folder, name, FileType::CharacterDevice, Mode::empty(), 0)
}
