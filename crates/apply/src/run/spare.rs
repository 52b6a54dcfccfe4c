//! Placeholders that wait for their next use, in a folder of the user's own.
//!
//! Each is named by its inode. That nobody has put anything into one is told by its time of
//! modification, which is long ago until somebody does.

use std::ffi::{CStr, CString};
use std::fs::DirBuilder;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, Mode, RawDir, RenameFlags, Timespec, Timestamps};
use rustix::io::Errno;

use super::laid::{Found, LONG_AGO, find};
use super::opened::open_folder;
use super::reserve::MODE;

/// How many spares wait for their use: what many runs at once have needed goes away again, so many at
/// once.
const KEPT: usize = 64;
const AWAY: usize = 8;

/// Room for the names that the kernel tells at once: many more than are kept.
const ROOM: usize = 8 << 10;

/// What names begin with until a spare has been used.
const NEW: &str = "new-";

/// A folder of spares, and some of what is in it.
#[derive(Debug)]
pub(super) struct Spares {
    pub(super) pool: Arc<Pool>,
    ready: Vec<CString>,
    /// How many were looked for.
    most: usize,
}

/// The folder itself, which a janitor knows too.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) open: OwnedFd,
    /// The filesystem: nothing can be moved to another.
    pub(super) device: u64,
    /// Whose spares they are.
    pub(super) owner: u32,
}

impl Spares {
    /// Opens the folder, which is made if it is missing, and finds up to `most` spares in it. Who
    /// cannot have any does without.
    pub(super) fn open(path: &Path, most: usize) -> Option<Self> {
        let open = open_or_make(path).ok()?;
        let device = rustix::fs::fstat(&open).ok()?.st_dev;
        let owner = rustix::process::geteuid().as_raw();
        let mut names = names_in(&open)?;
        // The last are used first: those that somebody has made and not used.
        names.sort_unstable_by_key(|name| name.to_bytes().starts_with(NEW.as_bytes()));
        let (count, bound) = (names.len(), KEPT.max(2 * most));
        let ready = names.split_off(count.saturating_sub(most));
        for name in names.iter().take(count.saturating_sub(bound).min(AWAY)) {
            // One that somebody has put something into stays.
            rustix::fs::unlinkat(&open, name.as_c_str(), AtFlags::REMOVEDIR).ok();
        }
        Some(Self { pool: Arc::new(Pool { open, device, owner }), ready, most })
    }

    /// Whether there are fewer than were looked for.
    pub(super) fn is_short(&self) -> bool {
        self.ready.len() < self.most
    }

    /// Takes back what stands at a name in `folder`, to be used at once.
    pub(super) fn return_one(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        found: &Found,
    ) -> bool {
        let taken = self.pool.take_back(folder, name, found);
        if taken {
            let mut room = [0; 24];
            self.ready.extend(number(found.inode, &mut room).map(CStr::to_owned));
        }
        taken
    }

    /// Makes a spare here, for want of any: none without its mark is ever seen in a project, whenever
    /// we are killed.
    fn make(&self) -> Option<CString> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let own = rustix::process::getpid().as_raw_nonzero();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("{NEW}{own}-{count}")).ok()?;
        let mode = Mode::from_raw_mode(MODE);
        rustix::fs::mkdirat(&self.pool.open, name.as_c_str(), mode).ok()?;
        mark(self.pool.open.as_fd(), &name);
        Some(name)
    }

    /// Moves a spare to a name in `folder`, and returns what it is; nothing if there can be none, or
    /// something has that name.
    pub(super) fn put(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> Option<Found> {
        let (pool, mut made) = (Arc::clone(&self.pool), false);
        loop {
            let spare = match self.ready.pop() {
                Some(spare) => spare,
                None if made => return None,
                None => self.make().inspect(|_| made = true)?,
            };
            let found = find(pool.open.as_fd(), &spare).ok();
            let Some(found) = found.filter(|found| found.is_untouched(pool.owner)) else {
                // No use will ever be made of it.
                rustix::fs::unlinkat(&pool.open, spare.as_c_str(), AtFlags::REMOVEDIR).ok();
                continue;
            };
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&pool.open, spare.as_c_str(), folder, name, flags) {
                Ok(()) => return Some(found),
                // Another run was faster.
                Err(Errno::NOENT) => {}
                Err(_) => {
                    self.ready.push(spare);
                    return None;
                }
            }
        }
    }
}

impl Pool {
    /// Moves what stands at a name in `folder` to the spares; `false` if it has to be removed
    /// instead. It allocates nothing.
    pub(super) fn take_back(&self, folder: BorrowedFd<'_>, name: &CStr, found: &Found) -> bool {
        let (spares, flags) = (self.open.as_fd(), RenameFlags::NOREPLACE);
        let mut room = [0; 24];
        let Some(spare) = number(found.inode, &mut room) else { return false };
        if !found.is_untouched(self.owner)
            || rustix::fs::renameat_with(folder, name, spares, spare, flags).is_err()
        {
            return false;
        }
        let is_it = |moved: Found| moved.inode == found.inode && moved.is_untouched(self.owner);
        if find(spares, spare).is_ok_and(is_it) {
            return true;
        }
        // Somebody was putting something in, or something else in its place: it is theirs.
        rustix::fs::renameat_with(spares, spare, folder, name, flags).is_err()
    }
}

/// Returns the names that the kernel tells at once, which is all of them unless there are far too many.
fn names_in(folder: &OwnedFd) -> Option<Vec<CString>> {
    let mut room = vec![MaybeUninit::uninit(); ROOM];
    let mut entries = RawDir::new(folder, &mut room);
    let mut names = Vec::with_capacity(KEPT);
    while let Some(entry) = entries.next() {
        let entry = entry.ok()?;
        if entry.file_name().to_bytes().first() != Some(&b'.') {
            names.push(entry.file_name().to_owned());
        }
        if entries.is_buffer_empty() {
            break;
        }
    }
    Some(names)
}

/// Opens the folder, which is made if it is missing.
pub(super) fn open_or_make(path: &Path) -> rustix::io::Result<OwnedFd> {
    match open_folder(path) {
        Err(Errno::NOENT) => {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            open_folder(path)
        }
        open => open,
    }
}

/// Says of a placeholder that was just made that nobody has put anything into it.
pub(super) fn mark(folder: BorrowedFd<'_>, name: &CStr) {
    let time = Timespec { tv_sec: LONG_AGO, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    // One without the mark is removed in the end, and no spare.
    rustix::fs::utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW).ok();
}

/// Writes a number as a text, without memory of its own.
fn number(mut rest: u64, room: &mut [u8; 24]) -> Option<&CStr> {
    let mut first = room.len() - 1;
    loop {
        first = first.checked_sub(1)?;
        *room.get_mut(first)? = b'0' + u8::try_from(rest % 10).ok()?;
        rest /= 10;
        if rest == 0 {
            return CStr::from_bytes_with_nul(room.get(first..)?).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn the_pool_shrinks_until_few_wait_and_new_ones_are_used_first() {
        let state = Project::new();
        let pool = state.path("pool");
        drop(Spares::open(&pool, 3).unwrap());
        let made = |name: &str| {
            std::fs::create_dir(pool.join(name)).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(MODE);
            std::fs::set_permissions(pool.join(name), mode).unwrap();
            let open = open_folder(&pool).unwrap();
            mark(open.as_fd(), &CString::new(name).unwrap());
        };
        let (count, project) = (|| std::fs::read_dir(&pool).unwrap().count(), Project::new());
        (0..500).for_each(|number| made(&format!("new-77-{number}")));
        (0..100).for_each(|number| made(&number.to_string()));
        let folder = open_folder(project.root()).unwrap();
        for _ in 0..200 {
            let before = count();
            let mut spares = Spares::open(&pool, 3).unwrap();
            assert!(before - count() <= AWAY, "a few at a time");
            let found = spares.put(folder.as_fd(), c"kept").unwrap();
            assert!(spares.pool.take_back(folder.as_fd(), c"kept", &found));
        }
        assert_eq!(count(), KEPT);
        made("new-78-0");
        let mut spares = Spares::open(&pool, 3).unwrap();
        assert!(spares.put(folder.as_fd(), c"kept").is_some());
        assert!(!pool.join("new-78-0").exists(), "it is used first");
        // What somebody has put something into is neither used nor removed.
        made("new-79-0");
        std::fs::write(pool.join("new-79-0/mine"), "").unwrap();
        assert!(Spares::open(&pool, 3).unwrap().put(folder.as_fd(), c"more").is_some());
        assert!(pool.join("new-79-0/mine").exists());
    }

    #[test]
    fn inodes_are_written_as_names() {
        for inode in [0, 7, 803_527, u64::MAX] {
            let mut room = [0; 24];
            let written = number(inode, &mut room).unwrap();
            assert_eq!(written.to_str().unwrap(), inode.to_string());
        }
    }
}
