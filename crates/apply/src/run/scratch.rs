//! A folder for the temporary files of one run, where it cannot have a /tmp of its own.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};

use super::error::{CannotStart, before};
use crate::sys::descriptor::lift;

/// How long ago a folder must have been changed before anybody may take it for left behind: one that
/// was just made may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// What the names of all of them begin with.
const NAME: &str = "palisade-scratch-";

/// The folder; it is removed with this, and with all that is in it.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    /// Locked for as long as we live: others can tell that it is in use.
    _lock: OwnedFd,
}

impl Scratch {
    /// Returns a path at which nothing lies, most likely: making it fails if something does.
    pub(super) fn path() -> Option<PathBuf> {
        // The standard library's keys are the kernel's random numbers.
        let name = format!("{NAME}{:016x}", RandomState::new().build_hasher().finish());
        Some(fs::canonicalize("/tmp").ok()?.join(name))
    }

    /// Makes it, for its owner alone, and removes those whose owners were killed.
    pub(super) fn make(path: &Path) -> Result<Self, CannotStart> {
        path.parent().into_iter().for_each(sweep);
        let doing = "make a folder for temporary files";
        let made = DirBuilder::new().mode(0o700).create(path);
        made.map_err(|errno| CannotStart::Before { doing, errno })?;
        let lock = locked(path).and_then(lift).map_err(before(doing))?;
        Ok(Self { path: path.into(), _lock: lock })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Folders that the command has shut stay, as in any other folder of the host's.
        fs::remove_dir_all(&self.path).ok();
    }
}

/// Removes folders of ours that nobody uses.
fn sweep(folder: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME));
        let Some(found) = is_named.then(|| entry.metadata().ok()).flatten() else { continue };
        let age = found.modified().ok().and_then(|then| then.elapsed().ok()).unwrap_or_default();
        let is_ours = found.is_dir() && found.uid() == own && found.mode() & 0o77 == 0;
        if is_ours && age > YOUNG && locked(&entry.path()).is_ok() {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

/// Opens a folder that nobody else has locked.
fn locked(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty())?;
    rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_goes_with_what_is_in_it_and_never_takes_the_place_of_another() {
        let path = Scratch::path().unwrap();
        let made = Scratch::make(&path).unwrap();
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "x").unwrap();
        assert!(Scratch::make(&path).is_err(), "it is there");
        drop(made);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_run_left_is_removed_by_the_next_and_what_one_uses_is_not() {
        use std::time::SystemTime;
        let folder = palisade_testkit::Project::new();
        let [left, used, young] = ["1", "2", "3"].map(|it| folder.path(format!("{NAME}{it}")));
        let other = folder.path("other");
        let kept = Scratch::make(&used).unwrap();
        for path in [&left, &young, &other] {
            DirBuilder::new().mode(0o700).create(path).unwrap();
        }
        fs::write(left.join("file"), "x").unwrap();
        let old = SystemTime::now() - 2 * YOUNG;
        for path in [&left, &used, &other] {
            fs::File::open(path).unwrap().set_modified(old).unwrap();
        }
        sweep(folder.root());
        assert_eq!([&left, &used, &young, &other].map(|it| it.exists()), [false, true, true, true]);
        drop(kept);
        assert!(!used.exists());
    }
}
