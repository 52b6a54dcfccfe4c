//! A folder for the temporary files of one run, where it cannot have a /tmp of its own.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};

use super::error::{CannotStart, before};
use crate::remove;
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
        // What stays all the same goes with the next run that finds it.
        remove::folder(&self.path).ok();
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
            remove::folder(&entry.path()).ok();
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

    const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

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
    fn a_scratch_folder_goes_however_deep_and_shut_what_is_in_it_is() {
        let name = "run::scratch::tests::\
                    a_scratch_folder_goes_however_deep_and_shut_what_is_in_it_is";
        // What is shut is shut to ordinary users.
        if palisade_testkit::ordinary_user(name) == palisade_testkit::Turn::Done {
            return;
        }
        use std::os::unix::fs::PermissionsExt as _;
        let project = palisade_testkit::Project::new().file("outside", "theirs");
        // In memory, where that many folders are made and removed in no time.
        let path = Scratch::path().unwrap();
        let memory = Path::new("/dev/shm");
        let path = if memory.is_dir() { memory.join(path.file_name().unwrap()) } else { path };
        let made = Scratch::make(&path).unwrap();
        // Deeper than there are descriptors, and than a path can say.
        let mut folder = rustix::fs::open(&path, FOLDER, Mode::empty()).unwrap();
        for depth in 0..40_000 {
            rustix::fs::mkdirat(&folder, "d", Mode::RWXU).unwrap();
            if depth % 5000 == 0 {
                rustix::fs::symlinkat(project.root(), &folder, "link").unwrap();
                rustix::fs::mkdirat(&folder, "other", Mode::RWXU).unwrap();
            }
            folder = rustix::fs::openat(&folder, "d", FOLDER, Mode::empty()).unwrap();
        }
        drop(folder);
        fs::create_dir_all(path.join("shut/in/0")).unwrap();
        fs::write(path.join("shut/in/file"), "x").unwrap();
        for shut in ["shut/in/0", "shut/in", "shut"] {
            fs::set_permissions(path.join(shut), fs::Permissions::from_mode(0o000)).unwrap();
        }
        drop(made);
        assert!(!path.exists());
        assert_eq!(fs::read(project.path("outside")).unwrap(), b"theirs", "links lead nowhere");
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
