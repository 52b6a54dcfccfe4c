//! Removing a folder that a command has filled: it may be deeper than a path can say, than there are
//! descriptors, and than a stack can hold, and parts of it may be shut.
//!
//! Folders are moved up to the top before they are emptied, so two are open at a time and nothing
//! leads out: `..` is never used, and no link is followed.

use std::ffi::OsStr;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, Result};

use crate::cache::names;

/// How long a folder is emptied that somebody goes on filling. What nobody fills is emptied to its
/// end, however much it is.
const PATIENCE: Duration = Duration::from_secs(10);

/// Removes the folder at a path, with all that is in it. What could not be removed in time stays.
///
/// # Errors
///
/// When there is none, or something in it cannot be removed.
pub fn folder(path: &Path) -> Result<()> {
    within(PATIENCE, path)
}

fn within(patience: Duration, path: &Path) -> Result<()> {
    let until = Instant::now() + patience;
    let top = opened(rustix::fs::CWD, path.as_os_str())?;
    let mut moved = Moved::default();
    // How many names the top can have that are ours to remove.
    let mut left = usize::MAX;
    loop {
        let found = names(top.as_fd())?;
        // What cannot be removed does not keep the rest.
        let (mut gone, mut failed) = (0_usize, None);
        for name in &found {
            match clear(top.as_fd(), name, &mut moved) {
                Ok(()) => gone += 1,
                Err(errno) => failed = Some(errno),
            }
        }
        let filled = failed.is_some() || found.len() > left;
        match (gone, failed) {
            (0, None) => return rustix::fs::rmdir(path),
            (0, Some(errno)) => return Err(errno),
            (_, _) if filled && Instant::now() > until => return Err(Errno::NOTEMPTY),
            (_, _) => left = std::mem::take(&mut moved.this_round),
        }
    }
}

/// What was moved to the top.
#[derive(Default)]
struct Moved {
    /// Names that were tried, so the next is another one.
    tried: u64,
    this_round: usize,
}

/// Removes a name at the top; of a folder, what is in it is at the top afterwards.
fn clear(top: BorrowedFd<'_>, name: &OsStr, moved: &mut Moved) -> Result<()> {
    if unlinked(top, name)? {
        return Ok(());
    }
    let inner = opened(top, name)?;
    raise(inner.as_fd(), top, moved)?;
    rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)
}

/// Empties a folder: what is a folder itself is moved to the top, where its turn comes.
fn raise(folder: BorrowedFd<'_>, top: BorrowedFd<'_>, moved: &mut Moved) -> Result<()> {
    for name in names(folder)? {
        if unlinked(folder, &name)? {
            continue;
        }
        // To be moved it must be writable itself: its `..` changes.
        drop(opened(folder, &name)?);
        loop {
            moved.tried += 1;
            let to = format!("palisade-moved-{}", moved.tried);
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(folder, &name, top, &to, flags) {
                // Somebody has used our names.
                Err(Errno::EXIST) => {}
                done => break done?,
            }
        }
        moved.this_round += 1;
    }
    Ok(())
}

/// Removes a name; `false` if it is a folder.
fn unlinked(folder: BorrowedFd<'_>, name: &OsStr) -> Result<bool> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        // As other systems say it.
        Err(Errno::PERM) if cfg!(not(target_os = "linux")) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Opens a folder to be emptied, whatever its mode is.
#[cfg(not(target_os = "linux"))]
fn opened(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW).ok();
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// Opens a folder to be emptied, whatever its mode is.
#[cfg(target_os = "linux")]
fn opened(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = rustix::fs::openat(folder, name, flags | OFlags::PATH, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // By its descriptor: at its name something else may lie by now.
        rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::RWXU)?;
    }
    rustix::fs::openat(&place, c".", flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn what_nobody_fills_is_emptied_however_long_it_takes() {
        let project = palisade_testkit::Project::new();
        let path = project.path("deep");
        fs::create_dir_all(path.join("a/b/c/d/e/f")).unwrap();
        assert_eq!(within(Duration::ZERO, &path), Ok(()));
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_somebody_goes_on_filling_is_given_up_and_goes_later() {
        let project = palisade_testkit::Project::new();
        let path = project.path("filled");
        fs::create_dir(&path).unwrap();
        let done = AtomicBool::new(false);
        let begun = Instant::now();
        thread::scope(|scope| {
            for writer in 0..2 {
                let (path, done) = (&path, &done);
                scope.spawn(move || {
                    // An end of its own: what never ends must fail.
                    for count in 0.. {
                        if done.load(Ordering::Relaxed) || begun.elapsed().as_secs() > 4 {
                            break;
                        }
                        // Made sooner than removed.
                        fs::create_dir(path.join(format!("{writer}-{count}"))).ok();
                    }
                });
            }
            thread::sleep(Duration::from_millis(20));
            let removed = within(Duration::from_millis(200), &path);
            done.store(true, Ordering::Relaxed);
            assert_eq!(removed, Err(Errno::NOTEMPTY));
        });
        assert_eq!(folder(&path), Ok(()));
        assert!(!path.exists());
    }
}
