//! Folders that the kernel tells about, and what it tells.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::inotify::{self, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// The most that is heard at once: the rest comes next.
const MOST: usize = 4096;

/// What somebody is told about.
#[derive(Debug, Default)]
pub(super) struct Folders {
    /// None if the kernel tells nothing.
    events: Option<Arc<OwnedFd>>,
    paths: HashMap<i32, PathBuf>,
}

/// What has happened since the last time.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Where names came or went.
    pub(super) names: Vec<PathBuf>,
    /// Which of them are folders that came.
    pub(super) folders: Vec<PathBuf>,
    /// Whether anything may have happened.
    pub(super) all: bool,
}

impl Folders {
    pub(super) fn new(events: Option<Arc<OwnedFd>>) -> Self {
        Self { events, paths: HashMap::new() }
    }

    /// Returns where the kernel tells, if it does.
    pub(super) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(|events| events.as_fd())
    }

    pub(super) fn count(&self) -> usize {
        self.paths.len()
    }

    /// Asks to be told of names that come to and go from a folder, by its path of now.
    pub(super) fn watch(&mut self, folder: &Path) -> Result<(), Errno> {
        let Some(events) = &self.events else { return Ok(()) };
        let what = WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::ONLYDIR;
        let number = inotify::add_watch(events, folder, what)?;
        self.paths.insert(number, folder.into());
        Ok(())
    }

    /// Hears what has happened. Who is told nothing hears that anything may have.
    pub(super) fn hear(&mut self) -> Heard {
        let Some(events) = &self.events else { return Heard::anything() };
        let mut heard = Heard::default();
        let mut room = [MaybeUninit::uninit(); 8192];
        let mut reader = Reader::new(events, &mut room);
        // What was read has to be told: nobody will say it again.
        while heard.names.len() < MOST || !reader.is_buffer_empty() {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(_) => break,
            };
            let (number, flags) = (event.wd(), event.events());
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                heard.all = true;
            }
            if flags.contains(ReadFlags::IGNORED) {
                self.paths.remove(&number);
            }
            let Some((folder, name)) = self.paths.get(&number).zip(event.file_name()) else {
                continue;
            };
            let path = folder.join(OsStr::from_bytes(name.to_bytes()));
            let comes = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
            if comes && flags.contains(ReadFlags::ISDIR) {
                heard.folders.push(path.clone());
            }
            heard.names.push(path);
        }
        heard
    }
}

impl Heard {
    /// Anything may have happened.
    pub(super) fn anything() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Returns whether something has happened at a path or above it.
    pub(super) fn is_about(&self, path: &Path) -> bool {
        self.all || self.names.iter().any(|name| lies_in(path, name))
    }
}

/// As `starts_with`, by bytes: both are made of names alone, and nearly all differ early.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let rest = path.as_os_str().as_bytes().strip_prefix(folder.as_os_str().as_bytes());
    rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use palisade_testkit::Project;
    use rustix::fs::inotify::CreateFlags;

    use super::*;

    #[test]
    fn what_comes_to_watched_folders_is_heard_by_its_path() {
        let project = Project::new().dir("a").dir("b");
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        let mut folders = Folders::new(Some(Arc::new(events)));
        folders.watch(&project.path("a")).unwrap();
        assert_eq!(folders.watch(&project.path("none")), Err(Errno::NOENT));
        fs::write(project.path("a/file"), "").unwrap();
        fs::create_dir(project.path("a/folder")).unwrap();
        fs::write(project.path("b/file"), "").unwrap();
        let heard = folders.hear();
        assert_eq!(heard.names, [project.path("a/file"), project.path("a/folder")]);
        assert_eq!(heard.folders, [project.path("a/folder")]);
        assert!(!heard.all);
        assert!(heard.is_about(&project.path("a/folder/x")));
        assert!(!heard.is_about(&project.path("a/folder2")));
        assert!(!heard.is_about(&project.path("a")), "only what is in it has changed");
        // A folder that is moved is known by its new path once it is watched there.
        fs::rename(project.path("a"), project.path("b/a")).unwrap();
        folders.watch(&project.path("b/a")).unwrap();
        fs::remove_file(project.path("b/a/file")).unwrap();
        assert_eq!(folders.hear().names, [project.path("b/a/file")]);
        assert_eq!(folders.count(), 1);
    }

    #[test]
    fn everything_that_comes_is_heard_however_much_it_is() {
        let project = Project::new().dir("a");
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        let mut folders = Folders::new(Some(Arc::new(events)));
        folders.watch(&project.path("a")).unwrap();
        // Names of odd lengths: no number of them fills what is read at once.
        let most = MOST + 500;
        for number in 0..most {
            fs::write(project.path(format!("a/{}{number}", "x".repeat(number % 60))), "").unwrap();
        }
        let (mut count, mut times) = (0, 0);
        loop {
            let heard = folders.hear();
            assert!(!heard.all);
            if heard.names.is_empty() {
                break;
            }
            count += heard.names.len();
            times += 1;
        }
        assert!(times > 1, "it came at once");
        assert_eq!(count, most);
    }
}
