//! Which placeholder stands at a name, and whether anything else does by now.
//!
//! Numbers alone: the janitor shares them, and must not wait for anybody.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use palisade_plan::may_be_placeholder;
use rustix::fs::{AtFlags, FileType, StatxFlags, statx};
use rustix::io::Errno;

/// What was laid at a name: its inode and when it was made, because inodes are used again. None yet if
/// both are nothing.
#[derive(Debug, Default)]
pub(super) struct Laid {
    inode: AtomicU64,
    made: AtomicU64,
    taken: AtomicBool,
}

/// What is at a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Standing {
    /// What was laid.
    Laid,
    /// Nothing.
    Gone,
    /// Something else.
    Other,
}

impl Laid {
    /// Notes what stands at the name now.
    pub(super) fn note(&self, found: &Found) {
        self.inode.store(found.inode, Ordering::Relaxed);
        self.made.store(found.made, Ordering::Relaxed);
    }

    /// Says what stands at a name. It allocates nothing, and does without the C library.
    pub(super) fn standing(&self, folder: BorrowedFd<'_>, name: &CStr) -> Standing {
        let laid = (self.inode.load(Ordering::Relaxed), self.made.load(Ordering::Relaxed));
        match find(folder, name).map(|found| (found.inode, found.made)) {
            Ok(found) if found == laid => Standing::Laid,
            Ok(_) => Standing::Other,
            Err(Errno::NOENT) => Standing::Gone,
            // Nobody can say, and what was noted cannot be said to be gone.
            Err(_) => Standing::Laid,
        }
    }

    /// Notes that something else was found there in the end.
    pub(super) fn take(&self) {
        self.taken.store(true, Ordering::Relaxed);
    }

    /// Returns whether something else was found there in the end.
    pub(super) fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }
}

/// What is found at a name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) mode: u32,
    pub(super) owner: u32,
    pub(super) inode: u64,
    /// When it was changed, in seconds.
    pub(super) changed: i64,
    /// When it was made, in nanoseconds.
    pub(super) made: u64,
}

/// The time of an empty placeholder, in seconds: no file is this old.
pub(super) const LONG_AGO: i64 = 1;

impl Found {
    /// Returns whether it is a placeholder of this owner.
    pub(super) fn is_placeholder(&self, owner: u32) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::Directory
            && may_be_placeholder(self.mode)
            && self.owner == owner
    }

    /// Returns whether it is one as we left it: nothing else is dated so.
    pub(super) fn is_untouched(&self, owner: u32) -> bool {
        self.is_placeholder(owner) && self.changed == LONG_AGO
    }
}

/// Returns whether what is found at a name is a placeholder of whoever we are.
pub(super) fn is_placeholder(folder: BorrowedFd<'_>, name: &CStr) -> bool {
    find(folder, name).is_ok_and(|found| found.is_placeholder(rustix::process::geteuid().as_raw()))
}

/// Looks at what stands at a name. It allocates nothing, and does without the C library.
pub(super) fn find(folder: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<Found> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME | StatxFlags::TYPE | StatxFlags::MODE;
    let wanted = wanted | StatxFlags::UID | StatxFlags::MTIME;
    let found = statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
    let seconds = found.stx_btime.tv_sec.cast_unsigned();
    Ok(Found {
        mode: found.stx_mode.into(),
        owner: found.stx_uid,
        inode: found.stx_ino,
        changed: found.stx_mtime.tv_sec,
        made: seconds.wrapping_mul(1_000_000_000).wrapping_add(found.stx_btime.tv_nsec.into()),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd as _;

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn a_folder_that_was_made_again_is_another() {
        let project = Project::new().dir("kept");
        let folder = fs::File::open(project.root()).unwrap();
        let laid = Laid::default();
        laid.note(&find(folder.as_fd(), c"kept").unwrap());
        let standing = || laid.standing(folder.as_fd(), c"kept");
        fs::write(project.path("kept/by-the-host"), "").unwrap();
        assert_eq!(standing(), Standing::Laid, "what is in it is its own");
        // The clock that files are dated by ticks a few times in this; the inode may be the same.
        std::thread::sleep(std::time::Duration::from_millis(30));
        fs::remove_dir_all(project.path("kept")).unwrap();
        assert_eq!(standing(), Standing::Gone);
        fs::create_dir(project.path("kept")).unwrap();
        assert_eq!(standing(), Standing::Other);
    }
}
