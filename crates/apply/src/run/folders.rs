//! The folders that a survey goes through, each asked about once.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::{Privilege, below, split};

use super::lent::Lent;
use super::way::{self, Way, follow};
use crate::listing::Listing;

/// Folders by their paths, as these were written.
#[derive(Debug)]
pub(super) struct Folders {
    known: Vec<Folder>,
    /// Their places in that list.
    by_path: HashMap<OsString, usize>,
    /// Where the last one stands: questions come in the order of their paths.
    last: usize,
    privilege: Privilege,
    /// Folders in which something could not be looked at for want of rights, as they were written.
    pub(super) barred: BTreeSet<PathBuf>,
    /// The rights that they have until everything was looked at.
    pub(super) lent: Lent,
}

/// What lies at a path, a link not followed.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Where it is, with its folders free of links.
    pub(super) at: Option<PathBuf>,
    /// The links that lead to its folder.
    pub(super) links: Vec<PathBuf>,
    pub(super) found: Option<Metadata>,
}

/// A folder, or something else that has a name like one.
#[derive(Clone, Debug, Default)]
struct Folder {
    path: PathBuf,
    /// Its path without links; nothing if it leads nowhere.
    real: Option<PathBuf>,
    /// The links that lead to it.
    links: Vec<PathBuf>,
    /// The topmost of it and what is above it that others may not search.
    shut: Option<PathBuf>,
    /// What lies at its path, a link not followed, where that was looked at.
    itself: Option<Metadata>,
    /// Whether the survey has noted it.
    is_placed: bool,
    /// How many names in it were asked about that are not there.
    missed: u32,
    names: Option<Listing>,
}

/// After so many names that are not in a folder, all of its names are read at once: most of what
/// policies name is nowhere.
const PATIENCE: u32 = 2;

impl Folders {
    pub(super) fn new(privilege: Privilege, lent: Lent) -> Self {
        let (known, by_path) = (Vec::with_capacity(50), HashMap::with_capacity(50));
        Self { known, by_path, last: 0, privilege, barred: BTreeSet::new(), lent }
    }

    /// Looks at a name in a folder, whose path is `path`.
    pub(super) fn look(&mut self, above: &Path, name: &OsStr, path: &Path) -> Seen {
        let number = self.find(above);
        let folder = &self.known[number];
        // In a folder that is not there nothing is, and nobody is asked.
        let Some(real) = &folder.real else { return Seen::default() };
        let at = below(real, name);
        let (links, shut) = (folder.links.clone(), folder.shut.clone());
        let known = self.number(path);
        if let Some(found) = known.and_then(|known| self.known[known].itself.clone()) {
            return Seen { at: Some(at), links, found: Some(found) };
        }
        let found = self.looked(number, name, (&at, path));
        let found = found.inspect_err(|error| note_barred(&mut self.barred, above, error));
        let found = found.ok().flatten();
        if let (Some(found), None) = (found.as_ref().filter(|found| found.is_dir()), known) {
            let learned = Folder::new(at.clone(), links.clone(), shut, found);
            self.learn(path, Folder { itself: Some(found.clone()), ..learned });
        }
        Seen { at: Some(at), links, found }
    }

    /// Looks at a name in the folder of this number, which is `at` a place and was asked about by a
    /// path; finds nothing where there is none.
    fn looked(
        &mut self,
        number: usize,
        name: &OsStr,
        (at, path): (&Path, &Path),
    ) -> Result<Option<Metadata>, Error> {
        let above = at.parent().unwrap_or(at);
        let folder = &mut self.known[number];
        if folder.missed >= PATIENCE && folder.names.is_none() {
            folder.names = Some(Listing::read(above));
        }
        if folder.names.as_ref().is_some_and(|names| !names.may_have(name)) {
            return Ok(None);
        }
        match way::look(above, path, &mut self.lent) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.known[number].missed += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Forgets what lay at the paths that were asked about, and what did not: those to come are told
    /// of by somebody who sees them later, and are looked at then.
    pub(super) fn forget(&mut self) {
        for folder in &mut self.known {
            (folder.itself, folder.names, folder.missed) = (None, None, 0);
        }
        self.by_path.retain(|_, number| self.known[*number].real.is_some());
        self.last = usize::MAX;
    }

    /// Follows a path to its end; nothing if it leads nowhere.
    pub(super) fn follow(&mut self, path: &Path) -> Option<Way> {
        let way = follow(path, &mut self.lent);
        way.inspect_err(|error| note_barred(&mut self.barred, path, error)).ok()
    }

    /// Returns a path without its links; nothing if it leads nowhere.
    pub(super) fn real(&mut self, path: &Path) -> Option<PathBuf> {
        let number = self.find(path);
        self.known[number].real.clone()
    }

    /// Returns the topmost folder above `path`, which is free of links, that others may not search;
    /// only root can be on the other side of one.
    pub(super) fn shut_above(&mut self, path: &Path) -> Option<PathBuf> {
        match self.privilege {
            Privilege::Ordinary => None,
            Privilege::Root { .. } => {
                let number = self.find(split(path)?.0);
                self.known[number].shut.clone()
            }
        }
    }

    /// Returns whether the survey has noted this folder.
    pub(super) fn is_placed(&self, path: &Path) -> bool {
        let known = self.number(path).and_then(|number| self.known.get(number));
        known.is_some_and(|folder| folder.is_placed)
    }

    /// Says that the survey has noted this folder.
    pub(super) fn placed(&mut self, path: &Path) {
        let last = self.last;
        let number = self.find(path);
        self.known[number].is_placed = true;
        // Its neighbour is more likely to be asked about than what is in it.
        self.last = last;
    }

    /// Returns the number of a folder, with everything above it asked about before.
    fn find(&mut self, path: &Path) -> usize {
        let number = self.number(path).unwrap_or_else(|| {
            let folder = self.ask(path);
            self.learn(path, folder)
        });
        self.last = number;
        number
    }

    fn number(&self, path: &Path) -> Option<usize> {
        let last = self.known.get(self.last);
        if last.is_some_and(|folder| folder.path.as_os_str() == path.as_os_str()) {
            return Some(self.last);
        }
        self.by_path.get(path.as_os_str()).copied()
    }

    fn learn(&mut self, path: &Path, folder: Folder) -> usize {
        let number = self.known.len();
        self.known.push(Folder { path: path.into(), ..folder });
        self.by_path.insert(path.into(), number);
        number
    }

    fn ask(&mut self, path: &Path) -> Folder {
        let Some((above, name)) = split(path) else { return self.elsewhere(path) };
        let number = self.find(above);
        let above = &self.known[number];
        let Some(real) = above.real.as_ref().map(|real| below(real, name)) else {
            return Folder::default();
        };
        let (shut, links) = (above.shut.clone(), above.links.clone());
        match self.looked(number, name, (&real, path)) {
            Ok(None) => Folder::default(),
            Ok(Some(found)) => {
                let folder = match found.is_symlink() {
                    true => self.elsewhere(path),
                    false => Folder::new(real, links, shut, &found),
                };
                Folder { itself: Some(found), ..folder }
            }
            Err(error) => {
                note_barred(&mut self.barred, path, &error);
                Folder::default()
            }
        }
    }

    /// Follows a path that does not lead where its words say.
    fn elsewhere(&mut self, path: &Path) -> Folder {
        let Some(Way { real, links, found }) = self.follow(path) else { return Folder::default() };
        let shut = self.shut_above(&real);
        Folder::new(real, links, shut, &found)
    }
}

/// That something cannot be looked at does not say that it is not there.
fn note_barred(barred: &mut BTreeSet<PathBuf>, path: &Path, error: &Error) {
    if error.kind() == ErrorKind::PermissionDenied {
        barred.insert(path.into());
    }
}

impl Folder {
    fn new(real: PathBuf, links: Vec<PathBuf>, shut: Option<PathBuf>, found: &Metadata) -> Self {
        let shut = shut.or_else(|| (found.mode() & 0o001 == 0).then(|| real.clone()));
        Self { real: Some(real), links, shut, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    /// Asks so often that the names are listed.
    fn ask(folders: &mut Folders, folder: &Path, name: &str) -> bool {
        for other in 0..PATIENCE {
            let other = format!("other{other}");
            folders.look(folder, other.as_ref(), &folder.join(&other));
        }
        folders.look(folder, name.as_ref(), &folder.join(name)).found.is_some()
    }

    #[test]
    fn what_is_listed_is_found_and_nothing_else() {
        let project = Project::new().file(".bashrc", "x").symlink("gone", "nowhere");
        let root = project.root();
        for (name, is_there) in [(".bashrc", true), ("gone", true), (".zshrc", false)] {
            let mut folders = Folders::new(Privilege::Ordinary, Lent::nothing());
            assert_eq!(ask(&mut folders, root, name), is_there, "{name}");
            let number = folders.find(root);
            assert!(
                folders.known[number].names.as_ref().is_some_and(Listing::is_whole),
                "it was listed"
            );
        }
    }

    #[test]
    fn what_came_since_is_found_once_the_rest_is_forgotten() {
        let project = Project::new().dir("there").dir("before");
        let root = project.root();
        let mut folders = Folders::new(Privilege::Ordinary, Lent::nothing());
        assert!(!ask(&mut folders, root, ".cargo"));
        assert_eq!(folders.real(&root.join(".cargo")), None, "the names tell of folders, too");
        assert_eq!(folders.real(&root.join("there")), Some(root.join("there")));
        let inode = |folders: &mut Folders, name: &str| {
            let seen = folders.look(root, name.as_ref(), &root.join(name));
            seen.found.map(|found| std::os::unix::fs::MetadataExt::ino(&found))
        };
        let there = inode(&mut folders, "there");
        std::fs::rename(project.path("there"), project.path("away")).unwrap();
        std::fs::rename(project.path("before"), project.path("there")).unwrap();
        std::fs::create_dir(project.path(".cargo")).unwrap();
        assert_eq!(inode(&mut folders, "there"), there, "one look is one answer");
        folders.forget();
        assert_ne!(inode(&mut folders, "there"), there);
        assert!(inode(&mut folders, ".cargo").is_some());
        assert_eq!(folders.real(&root.join(".cargo")), Some(root.join(".cargo")));
    }

    #[test]
    fn what_cannot_be_listed_is_looked_at() {
        let mut folders = Folders::new(Privilege::Ordinary, Lent::nothing());
        assert!(ask(&mut folders, Path::new("/proc/self"), "exe"));
    }
}
