//! Which placeholder stands at a name, and whether anything else does by now.
//!
//! Numbers alone: the janitor shares them, and must not wait for anybody.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{AtFlags, StatxFlags, statx};
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
    /// Notes what stands at a name now.
    pub(super) fn note(&self, folder: BorrowedFd<'_>, name: &CStr) {
        let (inode, made) = which(folder, name).unwrap_or_default();
        self.inode.store(inode, Ordering::Relaxed);
        self.made.store(made, Ordering::Relaxed);
    }

    /// Says what stands at a name. It allocates nothing, and does without the C library.
    pub(super) fn standing(&self, folder: BorrowedFd<'_>, name: &CStr) -> Standing {
        let laid = (self.inode.load(Ordering::Relaxed), self.made.load(Ordering::Relaxed));
        match which(folder, name) {
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

fn which(folder: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<(u64, u64)> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    let found = statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
    let seconds = found.stx_btime.tv_sec.cast_unsigned();
    let made = seconds.wrapping_mul(1_000_000_000).wrapping_add(found.stx_btime.tv_nsec.into());
    Ok((found.stx_ino, made))
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
        laid.note(folder.as_fd(), c"kept");
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
