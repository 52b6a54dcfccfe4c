//! What tools of a project fetched and built, kept between runs and apart from other projects.
//!
//! A [`Store`] has a folder for each project, and in it a layer for each home of tools, which a plan
//! puts over the real one ([`Caches::Private`](palisade_plan::Caches::Private)). Nothing in it is
//! ever executed or read outside a sandbox of that project.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use palisade_plan::cache_names;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW,
};
use rustix::io::Errno;

use crate::remove;

/// The most bytes that all layers together may have, and how often that is looked at.
const MOST: u64 = 20 << 30;
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// How many projects may have the same short name.
const SAME: u32 = 64;

/// What says whose a folder is: the project, and the agent or task.
const ROOT: &str = "root";
const WHO: &str = "who";

/// How deep a layer is measured; what lies deeper does not count.
const DEPTH: usize = 256;

/// The layers of all projects of one user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Store {
    folder: PathBuf,
}

/// The layers of one project. While this is there nobody else has them.
#[derive(Debug)]
pub struct Held {
    folder: PathBuf,
    lock: OwnedFd,
}

/// What a store has of one project.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cached {
    /// The project.
    pub root: PathBuf,
    /// The agent or task that they are for, if it is one.
    pub who: Option<String>,
    /// Its folder in the store.
    pub folder: PathBuf,
    /// The bytes it takes on the disk.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
}

impl Store {
    /// Returns the store in `folder`, usually one below the user's state folder. It is made when
    /// it is needed.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Takes the layers of the project at `root`, which are made if there are none, for the agent or task
    /// called `who`, if it is one: what one may write another does not execute. Nothing if another run
    /// has them: then that one's layers are its own, and this one does without.
    ///
    /// # Errors
    ///
    /// When the folders cannot be made.
    pub fn take(&self, root: &Path, who: Option<&str>) -> io::Result<Option<Held>> {
        make(&self.folder)?;
        self.trim_at_times();
        let folder = self.of(root, who)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let lock = rustix::fs::open(&folder, flags, Mode::empty())?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Ok(None),
            outcome => outcome?,
        }
        // What was made last is there if all of them are.
        let mut layers = cache_names().into_iter().map(|name| folder.join(name));
        if layers.next_back().is_none_or(|last| !last.join("work").exists()) {
            for name in cache_names() {
                make(&folder.join(&name).join("upper"))?;
                make(&folder.join(&name).join("work"))?;
            }
        }
        used(&folder.join(ROOT))?;
        Ok(Some(Held { folder, lock }))
    }

    /// Returns what there is, by project. An absent store has nothing.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn show(&self) -> io::Result<Vec<Cached>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let folder = entry?.path();
            let mark = folder.join(ROOT);
            let (Ok(root), Ok(stat)) = (fs::read(&mark), fs::symlink_metadata(&mark)) else {
                continue;
            };
            let bytes = open(CWD, folder.as_os_str()).map_or(0, |open| size(open, DEPTH));
            let root = PathBuf::from(OsStr::from_bytes(&root));
            let who = fs::read_to_string(folder.join(WHO)).ok();
            all.push(Cached { root, who, folder, bytes, used: stat.modified()? });
        }
        all.sort_by(|a, b| (&a.root, &a.who).cmp(&(&b.root, &b.who)));
        Ok(all)
    }

    /// Removes the layers of one project, or of all, and returns how many bytes that freed. Those
    /// that a run has stay.
    ///
    /// # Errors
    ///
    /// When something cannot be removed.
    pub fn clear(&self, root: Option<&Path>) -> io::Result<u64> {
        let mut freed = 0;
        for cached in self.show()? {
            if root.is_none_or(|root| root == cached.root) {
                freed += if remove_project(&cached.folder)? { cached.bytes } else { 0 };
            }
        }
        Ok(freed)
    }

    /// Removes what was not used for longest, until no more than `most` bytes are left.
    ///
    /// # Errors
    ///
    /// As [`Store::clear`].
    pub fn trim(&self, most: u64) -> io::Result<()> {
        let mut all = self.show()?;
        all.sort_by_key(|cached| cached.used);
        let mut bytes: u64 = all.iter().map(|cached| cached.bytes).sum();
        for cached in all {
            if bytes <= most {
                break;
            }
            if remove_project(&cached.folder)? {
                bytes = bytes.saturating_sub(cached.bytes);
            }
        }
        Ok(())
    }

    fn trim_at_times(&self) {
        let mark = self.folder.join("looked");
        let last = fs::symlink_metadata(&mark).and_then(|stat| stat.modified());
        let age = last.ok().and_then(|last| last.elapsed().ok());
        if age.is_none_or(|age| age > EVERY) && fs::write(&mark, "").is_ok() {
            // A cache that is too large is no reason not to run.
            self.trim(MOST).ok();
        }
    }

    /// Returns the folder of a project: the one that says so, or the first free one.
    fn of(&self, root: &Path, who: Option<&str>) -> io::Result<PathBuf> {
        let name = root.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
        let name: String = name.chars().take(40).map(plain).collect();
        let root = root.as_os_str().as_bytes();
        let short = short(&[root, who.unwrap_or_default().as_bytes()].concat());
        for number in 0..SAME {
            let folder = self.folder.join(format!("{name}-{short:016x}-{number}"));
            match fs::read(folder.join(ROOT)) {
                Ok(had) if had == root => {
                    if fs::read_to_string(folder.join(WHO)).ok().as_deref() == who {
                        return Ok(folder);
                    }
                }
                Ok(_) => {}
                Err(_) => {
                    make(&folder)?;
                    match who {
                        Some(who) => fs::write(folder.join(WHO), who)?,
                        // Of one that was never finished.
                        None => drop(fs::remove_file(folder.join(WHO))),
                    }
                    fs::write(folder.join(ROOT), root)?;
                    return Ok(folder);
                }
            }
        }
        Err(io::Error::other("too many projects share a short name"))
    }
}

impl Held {
    /// Returns the folder with the layers, for [`Caches::Private`](palisade_plan::Caches::Private).
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing would not do: a child of another thread may have a copy for a moment.
        rustix::fs::flock(&self.lock, FlockOperation::Unlock).ok();
    }
}

/// Makes a folder for its owner alone, and those above it that are missing.
fn make(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Says that a project was used now, by the time of its mark.
fn used(mark: &Path) -> io::Result<()> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: now, last_modification: now };
    Ok(rustix::fs::utimensat(CWD, mark, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Returns a short number for a text: equal texts have equal ones, and few others do.
fn short(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Removes a project's folder; `false` if a run has it.
fn remove_project(folder: &Path) -> io::Result<bool> {
    let open = open(CWD, folder.as_os_str())?;
    match rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(false),
        outcome => outcome?,
    }
    // What says whose it is goes last: what could not be removed is still shown, and can be tried again.
    let marks = [WHO, ROOT];
    for name in names(open.as_fd())?.iter().filter(|name| !marks.iter().any(|mark| *name == mark)) {
        let path = folder.join(name);
        match rustix::fs::unlinkat(&open, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR | Errno::PERM) => remove::folder(&path)?,
            Err(errno) => return Err(errno.into()),
        }
    }
    for mark in marks {
        match rustix::fs::unlinkat(&open, mark, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    fs::remove_dir(folder)?;
    Ok(true)
}

fn size(folder: OwnedFd, depth: usize) -> u64 {
    let mut bytes = 0;
    for name in names(folder.as_fd()).unwrap_or_default() {
        let Ok(stat) = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        bytes += u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if let Some(depth) = depth.checked_sub(1).filter(|_| is_folder)
            && let Ok(inner) = open(folder.as_fd(), &name)
        {
            bytes += size(inner, depth);
        }
    }
    bytes
}

fn open(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

/// Returns the names in a folder.
pub(crate) fn names(folder: BorrowedFd<'_>) -> rustix::io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn layers_are_kept_by_project_shown_and_cleared() {
        let (state, outside) = (Project::new(), Project::new().file("kept", "kept"));
        let store = Store::at(state.path("cache"));
        assert_eq!(store.show().unwrap(), []);
        let (one, two) = (Path::new("/home/dev/one"), Path::new("/srv/one"));
        let held = store.take(one, None).unwrap().unwrap();
        let layer = held.folder().join("cargo/upper");
        fs::write(layer.join("fetched"), vec![1; 100_000]).unwrap();
        fs::create_dir(layer.join("shut")).unwrap();
        fs::write(layer.join("shut/file"), "x").unwrap();
        fs::set_permissions(layer.join("shut"), fs::Permissions::from_mode(0o000)).unwrap();
        std::os::unix::fs::symlink(outside.root(), layer.join("link")).unwrap();
        assert!(store.take(one, None).unwrap().is_none(), "one run at a time has them");
        assert_eq!(store.clear(None).unwrap(), 0, "not while a run has them");
        assert!(store.take(two, None).unwrap().is_some(), "another project has others");
        let folder = held.folder().to_owned();
        drop(held);
        assert_eq!(store.take(one, None).unwrap().unwrap().folder(), folder);

        let shown = store.show().unwrap();
        let roots: Vec<_> = shown.iter().map(|cached| cached.root.as_path()).collect();
        assert_eq!(roots, [one, two]);
        assert!(shown[0].bytes >= shown[1].bytes + 100_000, "{shown:?}");
        assert!(store.clear(Some(one)).unwrap() >= 100_000);
        assert!(!folder.exists());
        assert!(outside.path("kept").exists(), "links are not followed");
        assert_eq!(store.show().unwrap().len(), 1);
        store.trim(0).unwrap();
        assert_eq!(store.show().unwrap(), []);
    }

    #[test]
    fn a_layer_that_is_deeper_than_anybody_counts_is_cleared_and_what_stays_is_shown() {
        let state = Project::new();
        let store = Store::at(state.path("cache"));
        let root = Path::new("/home/dev/one");
        let held = store.take(root, None).unwrap().unwrap();
        let mut deep = held.folder().join("cargo/upper");
        let folder = held.folder().to_owned();
        for _ in 0..300 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
        drop(held);
        store.clear(Some(root)).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn an_agent_has_layers_of_its_own() {
        let state = Project::new();
        let store = Store::at(state.path("cache"));
        let root = Path::new("/home/dev/one");
        let nobody = store.take(root, None).unwrap().unwrap();
        let one = store.take(root, Some("one")).unwrap().unwrap();
        let two = store.take(root, Some("two")).unwrap().unwrap();
        let folders = [nobody.folder(), one.folder(), two.folder()];
        assert!(folders[0] != folders[1] && folders[1] != folders[2] && folders[0] != folders[2]);
        let again = folders[1].to_owned();
        let who: Vec<_> = store.show().unwrap().into_iter().map(|it| it.who).collect();
        assert_eq!(who, [None, Some("one".into()), Some("two".into())]);
        drop((nobody, one, two));
        assert_eq!(store.take(root, Some("one")).unwrap().unwrap().folder(), again);
        store.clear(Some(root)).unwrap();
        assert_eq!(store.show().unwrap(), [], "all of the project's");
    }

    #[test]
    fn two_projects_with_the_same_short_name_stay_apart() {
        let state = Project::new();
        let store = Store::at(state.root().into());
        let one = store.take(Path::new("/a/app"), None).unwrap().unwrap();
        // As if the number of the one were that of the other.
        fs::write(one.folder().join("root"), "/b/app").unwrap();
        let two = store.take(Path::new("/a/app"), None).unwrap().unwrap();
        assert_ne!(one.folder(), two.folder());
    }
}
