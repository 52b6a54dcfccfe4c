//! Opening paths that are free of links, and no others.
//!
//! Where openat2(2) is refused, as it is inside a sandbox of our own, each folder on the way is opened
//! from the one above it.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, statx};
use rustix::io::{Errno, Result};

use super::descriptor::close;

/// The longest name of a file, with the zero behind it.
const LONGEST: usize = 256;

/// Opens what lies at `path`. A link among its folders is an error, and one at its end unless `flags`
/// ask for the link itself. It allocates nothing.
pub(crate) fn open(path: &CStr, flags: OFlags) -> Result<OwnedFd> {
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => step_by_step(path, flags),
        opened => opened,
    }
}

/// Opens the folder `name` in `folder`; a link, another mount or anything else is an error.
pub(crate) fn folder_in(folder: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(folder, name, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS) => same_mount(folder, name, flags),
        opened => opened,
    }
}

fn same_mount(folder: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd> {
    let open = rustix::fs::openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    let mount = |open: BorrowedFd<'_>| {
        let found = statx(open, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
        // An old kernel does not say.
        if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 {
            return Err(Errno::NOSYS);
        }
        Ok(found.stx_mnt_id)
    };
    if mount(folder)? != mount(open.as_fd())? {
        return Err(Errno::XDEV);
    }
    Ok(open)
}

fn step_by_step(path: &CStr, flags: OFlags) -> Result<OwnedFd> {
    let way = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let bytes = path.to_bytes();
    let is_folder = bytes.ends_with(b"/");
    let start = if bytes.first() == Some(&b'/') { c"/" } else { c"." };
    let mut names = bytes.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none() {
        return rustix::fs::openat(CWD, start, flags, Mode::empty());
    }
    let mut folder = rustix::fs::openat(CWD, start, way, Mode::empty())?;
    while let Some(name) = names.next() {
        let flags = match names.peek() {
            Some(_) => way,
            // Only a folder has a slash behind its name.
            None if is_folder => flags | OFlags::NOFOLLOW | OFlags::DIRECTORY,
            None => flags | OFlags::NOFOLLOW,
        };
        let mut room = [0; LONGEST];
        room.get_mut(..name.len()).ok_or(Errno::NAMETOOLONG)?.copy_from_slice(name);
        let text = CStr::from_bytes_until_nul(&room).map_err(|_| Errno::NAMETOOLONG)?;
        let next = rustix::fs::openat(&folder, text, flags, Mode::empty());
        // Without the C library: some of those who call us do without it.
        close(std::mem::replace(&mut folder, next?));
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt as _;

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn both_ways_open_the_same_and_refuse_the_same() {
        let long = "x".repeat(LONGEST);
        let project = Project::new()
            .file("a/b/file", "x")
            .symlink("link", "a")
            .symlink("a/away", "/etc")
            .symlink("a/loop", "loop");
        let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let list = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for path in [
            "a",
            "a/b/file",
            "a//b/./file",
            "a/b/",
            "a/b/file/",
            "a/away/",
            "link/",
            "link",
            "link/b",
            "a/away",
            "a/away/hosts",
            "a/loop",
            "none",
            "a/none/x",
            "a/b/file/x",
            "",
            &long,
        ] {
            let text = CString::new(project.path(path).as_os_str().as_bytes()).unwrap();
            for flags in [look, list] {
                let which = |open: Result<OwnedFd>| {
                    open.map(|open| rustix::fs::fstat(open).unwrap().st_ino).map_err(|_| ())
                };
                let (one, other) = (open(&text, flags), step_by_step(&text, flags));
                assert_eq!(which(one), which(other), "{path} {flags:?}");
            }
        }
        let root = open(c"/", look).unwrap();
        assert_eq!(
            rustix::fs::fstat(root).unwrap().st_ino,
            rustix::fs::fstat(step_by_step(c"/", look).unwrap()).unwrap().st_ino
        );
    }

    #[test]
    fn a_folder_is_on_the_mount_of_the_one_above_it() {
        let root = open(c"/", OFlags::PATH | OFlags::CLOEXEC).unwrap();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        assert_eq!(folder_in(root.as_fd(), c"proc").unwrap_err(), Errno::XDEV);
        assert_eq!(same_mount(root.as_fd(), c"proc", flags).unwrap_err(), Errno::XDEV);
        let project = Project::new().dir("a").symlink("b", "a");
        let path = CString::new(project.root().as_os_str().as_bytes()).unwrap();
        let folder = open(&path, flags).unwrap();
        assert!(same_mount(folder.as_fd(), c"a", flags).is_ok());
        assert!(same_mount(folder.as_fd(), c"b", flags).is_err());
    }
}
