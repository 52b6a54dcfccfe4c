//! What lies at the paths that a policy names.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt};
use std::path::{Path, PathBuf};

use palisade_plan::{Kind, Place, Privilege, Questions, by_bytes};
use rustix::fs::FileType;

use super::walk::{Extent, Walk, walk};

/// What was found.
pub(super) struct Surveyed {
    pub(super) places: Vec<Place>,
    /// Whether everything that should be searched was.
    pub(super) searched: bool,
}

pub(super) fn survey(questions: &Questions, privilege: Privilege) -> Surveyed {
    let mut found = Found::new(privilege);
    for path in &questions.paths {
        // The folders between, whose modes matter when they are shown anew. Above one that is known
        // all are.
        if found.look(path) {
            let above = path.ancestors().skip(1).filter(|folder| folder.parent().is_some());
            for folder in above {
                if found.looked.contains_key(folder.as_os_str()) {
                    break;
                }
                found.look(folder);
            }
        }
    }
    let trees: Vec<PathBuf> = questions.trees.iter().filter_map(|tree| found.real(tree)).collect();
    let searched = walk(trees.into_iter(), |seen| {
        let is_folder = seen.kind == FileType::Directory;
        if questions.may_want(seen.name) || seen.kind == FileType::Socket {
            let path = seen.path();
            if seen.kind == FileType::Socket || questions.wants(&path) {
                found.look(&path);
                return Walk::Past;
            }
        }
        if is_folder && questions.may_begin(seen.name) {
            let path = seen.path();
            for wanted in questions.within(&path) {
                wanted.ancestors().take_while(|above| above.starts_with(&path)).for_each(|above| {
                    found.look(above);
                });
            }
        }
        if is_folder { Walk::Into } else { Walk::Past }
    });
    let mut places = found.places;
    places.sort_by(|one, other| by_bytes(&one.path, &other.path));
    Surveyed { places, searched: searched == Extent::Whole }
}

/// What is known so far.
struct Found {
    places: Vec<Place>,
    /// The paths of these, and whether anything is there.
    looked: HashMap<OsString, bool>,
    /// What lies at paths, their links not followed; nothing where nothing does.
    there: HashMap<OsString, Option<Metadata>>,
    /// Paths without their links.
    real: HashMap<OsString, Option<PathBuf>>,
    privilege: Privilege,
}

impl Found {
    fn new(privilege: Privilege) -> Self {
        // Room for most of what is asked about.
        let (looked, there, real) =
            (HashMap::with_capacity(200), HashMap::with_capacity(200), HashMap::with_capacity(50));
        Self { places: Vec::with_capacity(200), looked, there, real, privilege }
    }

    /// Looks at a path, and returns whether anything is there.
    fn look(&mut self, path: &Path) -> bool {
        if let Some(exists) = self.looked.get(path.as_os_str()) {
            return *exists;
        }
        let place = self.place(path);
        let exists = place.exists();
        self.places.push(place);
        self.looked.insert(path.into(), exists);
        exists
    }

    fn place(&mut self, path: &Path) -> Place {
        let itself = self.there(path);
        let is = itself.as_ref().map_or(Kind::Absent, kind);
        let at = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => self.real(folder).map(|folder| folder.join(name)),
            (_, None) | (None, _) => self.real(path),
        };
        let at = at.unwrap_or_else(|| path.into());
        let real = match is {
            Kind::Link => self.real(path).unwrap_or_else(|| at.clone()),
            Kind::Absent | Kind::Folder | Kind::File | Kind::Socket | Kind::Other => at.clone(),
        };
        let end = if is == Kind::Link { fs::metadata(path).ok() } else { itself };
        let shut = match self.privilege {
            Privilege::Ordinary => None,
            Privilege::Root { .. } if is == Kind::Absent => None,
            Privilege::Root { .. } => self.shut_above(&real),
        };
        Place {
            path: path.into(),
            at,
            is,
            leads_to: end.as_ref().map_or(Kind::Absent, kind),
            names: end.as_ref().map_or(0, MetadataExt::nlink),
            mode: end.as_ref().map_or(0, |end| end.mode() & 0o7777),
            owner: end.as_ref().map_or((0, 0), |end| (end.uid(), end.gid())),
            shut,
            real,
        }
    }

    /// Returns what lies at a path, whose last link is not followed. In a folder that is not there
    /// nothing is, and nobody is asked.
    fn there(&mut self, path: &Path) -> Option<Metadata> {
        if let Some(known) = self.there.get(path.as_os_str()) {
            return known.clone();
        }
        let reached = path.parent().is_none_or(|folder| match self.real.get(folder.as_os_str()) {
            Some(real) => real.is_some(),
            None => self.real(folder).is_some(),
        });
        let found = reached.then(|| fs::symlink_metadata(path).ok()).flatten();
        self.there.insert(path.into(), found.clone());
        found
    }

    /// Returns a path without its links; nothing if it leads nowhere. Each component is asked about
    /// once, however many paths go through it.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.real.get(path.as_os_str()) {
            return known.clone();
        }
        let unknown: Vec<&Path> =
            path.ancestors().take_while(|part| !self.real.contains_key(part.as_os_str())).collect();
        // From the top down, so that the folder above is known each time.
        for part in unknown.into_iter().rev() {
            let real = match (part.parent(), part.file_name()) {
                (Some(folder), Some(name)) => match self.there(part) {
                    Some(found) if found.is_symlink() => fs::canonicalize(part).ok(),
                    Some(_) => self
                        .real
                        .get(folder.as_os_str())
                        .cloned()
                        .flatten()
                        .map(|real| real.join(name)),
                    None => None,
                },
                // `..` at its end: only the kernel knows which folder that is.
                (_, None) | (None, _) => fs::canonicalize(part).ok(),
            };
            self.real.insert(part.into(), real);
        }
        self.real.get(path.as_os_str()).cloned().flatten()
    }

    /// Returns the topmost folder above `path`, which is free of links, that others may not search.
    fn shut_above(&mut self, path: &Path) -> Option<PathBuf> {
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        let mut above = above.into_iter().rev();
        above
            .find(|folder| self.there(folder).is_some_and(|found| found.mode() & 0o001 == 0))
            .map(Into::into)
    }
}

fn kind(found: &Metadata) -> Kind {
    let kind = found.file_type();
    if kind.is_symlink() {
        Kind::Link
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else if kind.is_socket() {
        Kind::Socket
    } else {
        Kind::Other
    }
}
