//! Names that must not come to be while a command runs.
//!
//! An empty folder stands at each, which the sandbox mounts read-only over itself. It is made only
//! once a janitor is there to remove it, and removed by `rmdir`, which cannot delete anybody's data.
//! Runs that keep the same name share its folder: each says so by a lock, and the last removes it.
//! One that is left behind after the supervisor and the janitor were both killed is taken over, and
//! removed, by the next run that keeps the name, or brought back by the next that is short of spares.
//!
//! Where the user has a folder for spares, a placeholder is moved there instead of removed, and from
//! there instead of made: filesystems move folders much faster than they make and free them.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_plan::{After, Note};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::{Errno, Result};

use super::accounts::{self, Announced};
use super::after::is_harmless;
use super::error::{CannotStart, before};
use super::free::Free;
use super::janitor::Janitor;
use super::journal;
use super::laid::{Found, Laid, Standing, find};
use super::opened::{open_folder, open_shut, open_up, shut_again};
use super::spare::{self, Pool, Spares};
use crate::sys::descriptor::{close, copy};
use crate::sys::lock;

/// The mode of a placeholder: with the mark that the planner knows them by, and open to its owner,
/// so that a host can put something into it that then stays.
pub(super) const MODE: u32 = 0o1755;

/// How many names the janitor knows that came while another run went on: a command can make many.
const DOUBTED: usize = 64;

/// Names to be kept, and the folders they are in. Dropping it gives them back.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    names: Arc<Names>,
    spares: Option<Spares>,
    janitor: Option<Janitor>,
}

/// What has to be known to give names back.
#[derive(Debug, Default)]
pub(super) struct Names {
    folders: Vec<Folder>,
    spares: Option<Arc<Pool>>,
    /// Names that nothing keeps from being made.
    free: Vec<Free>,
    announced: Option<OwnedFd>,
    /// Whether they were given back.
    given: AtomicBool,
    /// Whether some could not be given back.
    stayed: AtomicBool,
}

/// Names in one folder.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    open: OwnedFd,
    names: Vec<Kept>,
    device: u64,
    /// Whose placeholders they are.
    owner: u32,
}

/// A name, and what stands there for it.
#[derive(Debug)]
struct Kept {
    name: CString,
    laid: Laid,
}

impl Reserved {
    /// Opens the folders of these paths, and that of spares, if there is to be one. Nothing is
    /// made yet.
    pub(super) fn open(
        paths: &[PathBuf],
        spares: Option<&Path>,
    ) -> std::result::Result<Self, CannotStart> {
        let failed = before("open the folder of a name that must stay absent");
        let mut folders: Vec<Folder> = Vec::new();
        let owner = rustix::process::geteuid().as_raw();
        for path in paths {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let name = CString::new(name.as_bytes())
                .map_err(|_| CannotStart::ZeroByte(path.display().to_string()))?;
            let name = Kept { name, laid: Laid::default() };
            if let Some(known) = folders.iter_mut().find(|folder| folder.path == above) {
                known.names.push(name);
                continue;
            }
            let open = open_shut(above).map_err(&failed)?;
            let device = rustix::fs::fstat(&open).map_err(&failed)?.st_dev;
            folders.push(Folder { path: above.into(), open, names: vec![name], device, owner });
        }
        let some = spares.filter(|_| !folders.is_empty());
        let mut spares = some.and_then(|spares| Spares::open(spares, paths.len()));
        // On other filesystems there are never any, and nothing follows from that.
        let pool = spares.as_ref().map(|spares| Arc::clone(&spares.pool));
        let device = pool.as_ref().map(|pool| pool.device);
        let mut used = folders.iter().filter(|it| Some(it.device) == device).peekable();
        if let Some(spares) = spares.as_mut().filter(|_| used.peek().is_some()) {
            journal::note(spares, used.map(|folder| &*folder.path));
        }
        let names = Names { folders, spares: pool, ..Names::default() };
        Ok(Self { names: Arc::new(names), spares, janitor: None })
    }

    /// Adds names that nothing keeps from being made, and that are not there, and some that are there
    /// and nobody leaves behind. Those whose folder cannot be opened are left out. What the run has
    /// `announced` holds until they are set aside.
    pub(super) fn add_free(&mut self, after: &After, announced: Option<&Announced>) {
        let Some(names) = Arc::get_mut(&mut self.names) else { return };
        let own = after.own_names().into_iter().filter(|path| path.symlink_metadata().is_err());
        // What is harmless is protected as it is.
        let doubted = after.doubted().filter(|path| !is_harmless(path)).take(DOUBTED);
        let paths = own.map(Cow::Owned).chain(doubted.map(|path| Cow::Borrowed(&**path)));
        names.free = Free::all(paths.filter(|path| !names.keep(path)));
        let held = announced.and_then(Announced::held);
        names.announced = held.and_then(|held| copy(held).ok());
    }

    /// Returns the number of the folder that a name to be kept is in.
    pub(super) fn number_of_folder(&self, path: &Path) -> Option<usize> {
        let (found, _) = self.names.find(path)?;
        self.names.folders.iter().position(|folder| std::ptr::eq(folder, found))
    }

    /// Whether all placeholders are spares, which are moved also while something is mounted on them.
    /// To remove one would take the mount down first, and wait for that each time.
    pub(super) fn moves_all(&self) -> bool {
        let Names { folders, spares, .. } = &*self.names;
        let device = spares.as_ref().map(|spares| spares.device);
        folders.iter().all(|folder| Some(folder.device) == device)
    }

    /// Whether somebody is there to give the names back, should we be killed.
    pub(super) fn has_janitor(&self) -> bool {
        self.janitor.is_some()
    }

    /// Returns the names, which then tell what became of them.
    pub(super) fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names)
    }

    /// Starts the janitor, without whom no name is kept.
    pub(super) fn watch(&mut self) -> std::result::Result<(), CannotStart> {
        if !self.names.folders.is_empty() {
            let janitor = Janitor::start(&self.names, None);
            self.janitor = Some(janitor.map_err(before("start the janitor"))?);
        }
        Ok(())
    }

    /// Tells the janitor who depends on the names; what is `held` it lets go of last.
    pub(super) fn hand_over(
        &mut self,
        sandbox: BorrowedFd<'_>,
        held: [Option<BorrowedFd<'_>>; 2],
    ) -> std::result::Result<(), CannotStart> {
        let Some(janitor) = &self.janitor else { return Ok(()) };
        if janitor.look_after(sandbox, held).is_ok() {
            return Ok(());
        }
        // Somebody else of this user has too many descriptors on their way: another inherits them.
        let another = Janitor::start(&self.names, Some((sandbox, held)));
        self.janitor = Some(another.map_err(before("start the janitor"))?);
        Ok(())
    }

    /// Puts a folder at each name.
    pub(super) fn keep(&mut self) -> std::result::Result<(), CannotStart> {
        if self.janitor.is_none() {
            return Ok(());
        }
        for folder in &self.names.folders {
            let mut spares =
                self.spares.as_mut().filter(|spares| spares.pool.device == folder.device);
            let kept = lock::take_turn_to_begin(folder.open.as_fd()).and_then(|()| {
                let opened = open_up(folder.open.as_fd());
                let mut names = folder.names.iter();
                let kept = names.try_for_each(|kept| folder.put(kept, spares.as_deref_mut()));
                shut_again(folder.open.as_fd(), opened);
                lock::end_turn(folder.open.as_fd());
                kept
            });
            kept.map_err(before("keep a name that must stay absent"))?;
        }
        Ok(())
    }

    /// Gives the names back, once nobody is left to take them. Should we be killed meanwhile, the
    /// janitor does the rest.
    pub(super) fn give_names_back(&self) {
        if self.janitor.is_some() {
            self.names.give_back();
            self.names.given.store(true, Ordering::Relaxed);
        }
    }

    /// Gives the names back, if that is not done, and tells the janitor to go home. Who drops what is
    /// returned waits until it has.
    pub(super) fn give_back(mut self) -> Option<Janitor> {
        self.end()
    }

    fn end(&mut self) -> Option<Janitor> {
        // Before the janitor goes: should we be killed here, it still knows what is left.
        if !self.names.given.load(Ordering::Relaxed) {
            self.give_names_back();
        }
        let janitor = self.janitor.take()?;
        janitor.dismiss();
        Some(janitor)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        drop(self.end());
    }
}

impl Names {
    /// Returns the descriptors that are needed to give them back.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let spares = self.spares.iter().map(|spares| spares.open.as_fd());
        let free = self.free.iter().map(Free::folder);
        let announced = self.announced.iter().map(OwnedFd::as_fd);
        self.folders
            .iter()
            .map(|folder| folder.open.as_fd())
            .chain(spares)
            .chain(free)
            .chain(announced)
    }

    /// Sets aside what was made under names that nothing kept from it. It allocates nothing, and does
    /// without the C library.
    pub(super) fn set_free_aside(&self) {
        self.free.iter().for_each(Free::set_aside);
    }

    /// Tells others how the run has ended. It allocates nothing, and does without the C library.
    pub(super) fn tell_end(&self, end: accounts::End) {
        self.announced.iter().for_each(|held| accounts::tell_end(held.as_fd(), end));
    }

    /// Returns the folders that they are in.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|folder| &*folder.path)
    }

    /// Returns where they are.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.all().map(|(folder, kept)| folder.at(kept)).collect()
    }

    /// Returns whether a path is one of them, and nothing else was found there in the end.
    pub(super) fn keep(&self, path: &Path) -> bool {
        self.find(path).is_some_and(|(folder, kept)| !kept.laid.is_taken() && folder.is_in_place())
    }

    /// Returns at which of them something else was found in the end, which may have been made inside.
    pub(super) fn taken(&self) -> Vec<PathBuf> {
        let taken = self.all().filter(|(_, kept)| kept.laid.is_taken());
        taken.map(|(folder, kept)| folder.at(kept)).collect()
    }

    /// Returns what stands at one of them, by its path: its folder may have been moved, and another be
    /// there.
    pub(super) fn standing(&self, path: &Path) -> Standing {
        let Some((folder, kept)) = self.find(path) else { return Standing::Laid };
        // The path tells nothing where the command has shut what is above.
        if folder.is_in_place() || rustix::fs::lstat(&folder.path).err() == Some(Errno::ACCESS) {
            return kept.laid.standing(folder.open.as_fd(), &kept.name);
        }
        if path.symlink_metadata().is_ok() { Standing::Other } else { Standing::Gone }
    }

    /// Puts a folder at one of them where it is gone. The command may be in it before it is closed: what
    /// is found in it in the end was not kept from being made.
    pub(super) fn lay_again(&self, path: &Path) -> Result<()> {
        let (folder, kept) = self.find(path).ok_or(Errno::NOENT)?;
        if !folder.is_in_place() {
            return Err(Errno::STALE);
        }
        let has_spares = self.spares.as_ref().is_some_and(|pool| pool.device == folder.device);
        lock::take_turn(folder.open.as_fd())?;
        let opened = open_up(folder.open.as_fd());
        let put = folder.make(&kept.name, has_spares).map(drop);
        shut_again(folder.open.as_fd(), opened);
        lock::end_turn(folder.open.as_fd());
        put
    }

    fn all(&self) -> impl Iterator<Item = (&Folder, &Kept)> {
        let folders = self.folders.iter();
        folders.flat_map(|folder| folder.names.iter().map(move |kept| (folder, kept)))
    }

    fn find(&self, path: &Path) -> Option<(&Folder, &Kept)> {
        let (above, name) = path.parent().zip(path.file_name())?;
        let folder = self.folders.iter().find(|it| it.path.as_os_str() == above.as_os_str())?;
        let kept = folder.names.iter().find(|kept| kept.name.as_bytes() == name.as_bytes())?;
        Some((folder, kept))
    }

    /// Gives them back. It allocates nothing, and does without the C library.
    pub(super) fn give_back(&self) {
        for folder in &self.folders {
            if folder.give_back(self.spares.as_deref()).is_err() {
                self.stayed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Says which placeholders stay though nobody else keeps them, if any do.
    pub(super) fn stayed(&self) -> Option<Note> {
        if !self.stayed.load(Ordering::Relaxed) {
            return None;
        }
        let stays = self.folders.iter().flat_map(Folder::stays);
        let paths: Vec<String> = stays.map(|path| format!("`{}`", path.display())).collect();
        let what = "empty folders that kept names for the run could not be removed";
        let message = format!("{what}: {}", paths.join(", "));
        (!paths.is_empty()).then_some(Note { code: "placeholder-stays", message })
    }
}

impl Folder {
    fn put(&self, Kept { name, laid }: &Kept, spares: Option<&mut Spares>) -> Result<()> {
        let folder = self.open.as_fd();
        let keeps_spares = spares.is_some();
        if let Some(found) = spares.and_then(|spares| spares.put(folder, name)) {
            lock::share(folder, found.inode).ok();
            laid.note(&found);
            return Ok(());
        }
        laid.note(&self.make(name, keeps_spares)?);
        Ok(())
    }

    /// Makes a folder at a name, one that can become a spare if there are any.
    fn make(&self, name: &CStr, keeps_spares: bool) -> Result<Found> {
        let folder = self.open.as_fd();
        match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(MODE)) {
            Ok(()) if keeps_spares => spare::mark(folder, name),
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        let found = find(folder, name)?;
        // Something else that came to be meanwhile is protected as it is.
        if found.is_placeholder(self.owner) {
            // Where a filesystem has no such locks, runs do not know of each other.
            lock::share(folder, found.inode).ok();
        }
        Ok(found)
    }

    /// Removes what nobody else keeps, with rights that the command may have taken from the folder.
    fn give_back(&self, spares: Option<&Pool>) -> Result<()> {
        let folder = self.open.as_fd();
        lock::take_turn(folder)?;
        let opened = open_up(folder);
        let removed = self.remove(spares);
        shut_again(folder, opened);
        lock::end_turn(folder);
        removed
    }

    /// Returns the last reason for which something stays.
    fn remove(&self, spares: Option<&Pool>) -> Result<()> {
        let folder = self.open.as_fd();
        let spares = spares.filter(|spares| spares.device == self.device);
        // Mostly there is no other run here, and each name need not be asked about.
        let alone = lock::is_any_shared(folder) != Ok(true);
        lock::unshare_all(folder).ok();
        let mut outcome = Ok(());
        for Kept { name, laid } in &self.names {
            let is_laid = || laid.standing(folder, name) == Standing::Laid;
            let found = match find(folder, name) {
                Ok(found) => found,
                Err(Errno::NOENT) => continue,
                Err(errno) => {
                    outcome = Err(errno);
                    continue;
                }
            };
            if !found.is_placeholder(self.owner) {
                if !is_laid() {
                    laid.take();
                }
                continue;
            }
            if (!alone && lock::is_shared(folder, found.inode) == Ok(true))
                || spares.is_some_and(|spares| spares.take_back(folder, name, &found))
            {
                continue;
            }
            let removed = rustix::fs::unlinkat(folder, name.as_c_str(), AtFlags::REMOVEDIR);
            match removed {
                Err(Errno::NOTEMPTY) => {
                    if !is_laid() {
                        laid.take();
                    }
                    unmark(folder, name, (self.device, found.inode)).ok();
                }
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => outcome = Err(errno),
            }
        }
        outcome
    }

    /// Returns whether its path still leads to it: somebody may have moved it, and made another.
    fn is_in_place(&self) -> bool {
        let which = |stat: Stat| (stat.st_dev, stat.st_ino);
        let (there, open) = (rustix::fs::lstat(&self.path), rustix::fs::fstat(&self.open));
        there.is_ok_and(|there| open.is_ok_and(|open| which(there) == which(open)))
    }

    /// Returns the placeholders that nobody else keeps, though they should be gone.
    fn stays(&self) -> Vec<PathBuf> {
        let folder = self.open.as_fd();
        let stays = |kept: &&Kept| match find(folder, &kept.name) {
            Ok(found) => {
                found.is_placeholder(self.owner) && lock::is_shared(folder, found.inode) != Ok(true)
            }
            Err(errno) => errno != Errno::NOENT,
        };
        let names = self.names.iter().filter(stays);
        names.map(|kept| self.at(kept)).collect()
    }

    fn at(&self, kept: &Kept) -> PathBuf {
        self.path.join(OsStr::from_bytes(kept.name.as_bytes()))
    }
}

/// Somebody has put something into it: it is theirs now, and an ordinary folder.
fn unmark(folder: BorrowedFd<'_>, name: &CString, was: (u64, u64)) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = rustix::fs::openat(folder, name.as_c_str(), flags, Mode::empty())?;
    let unmarked = rustix::fs::fstat(&open).and_then(|is| {
        if (is.st_dev, is.st_ino) != was {
            return Ok(());
        }
        rustix::fs::fchmod(&open, Mode::from_raw_mode(is.st_mode & 0o755))
    });
    close(open);
    unmarked
}

/// Removes what keeps a name for a run that was killed, and leaves what keeps one for another that goes
/// on. Returns whether it was one of them.
///
/// Nobody's turn is waited for where nothing keeps a name, nor again once it was in vain.
pub(super) fn is_of_others(path: &Path, waits: &mut bool) -> bool {
    let Some((above, name)) = path.parent().zip(path.file_name()) else { return false };
    let Ok(folder) = open_folder(above) else { return false };
    let folder = folder.as_fd();
    let Ok(name) = CString::new(name.as_bytes()) else { return false };
    let owner = rustix::process::geteuid().as_raw();
    let found = || find(folder, &name).ok().filter(|found| found.is_placeholder(owner));
    if found().is_none() {
        return false;
    }
    // Who holds others up for long has to bear that its name is laid again.
    let has_turn = *waits && lock::take_turn(folder).is_ok();
    *waits = has_turn;
    let is_theirs = found().is_some_and(|found| {
        lock::is_shared(folder, found.inode) == Ok(true)
            || rustix::fs::unlinkat(folder, name.as_c_str(), AtFlags::REMOVEDIR).is_ok()
    });
    if has_turn {
        lock::end_turn(folder);
    }
    is_theirs
}

/// Returns whether that is a placeholder of whoever we are.
pub(super) fn is_placeholder(stat: &Stat) -> bool {
    let found = Found { mode: stat.st_mode, owner: stat.st_uid, ..Found::default() };
    found.is_placeholder(rustix::process::geteuid().as_raw())
}

#[cfg(test)]
mod tests;
