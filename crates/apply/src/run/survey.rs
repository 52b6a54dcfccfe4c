//! What lies at the paths that a policy names.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use palisade_plan::{Kind, Place, Privilege, Questions};

use super::walk::{Extent, Walk, walk};

/// What was found.
pub(super) struct Surveyed {
    pub(super) places: Vec<Place>,
    /// Whether everything that should be searched was.
    pub(super) searched: bool,
}

pub(super) fn survey(questions: &Questions, privilege: Privilege) -> Surveyed {
    let mut found = Found { places: BTreeMap::new(), real: BTreeMap::new(), privilege };
    for path in &questions.paths {
        // The folders between, whose modes matter when they are shown anew.
        if found.look(path) {
            for folder in path.ancestors().skip(1).filter(|folder| folder.parent().is_some()) {
                if !found.places.contains_key(folder) {
                    found.look(folder);
                }
            }
        }
    }
    let trees = questions.trees.iter().filter_map(|tree| fs::canonicalize(tree).ok());
    let searched = walk(trees, |path, kind| {
        if questions.wants(path) || kind.is_socket() {
            found.look(path);
            return Walk::Past;
        }
        if !kind.is_dir() {
            return Walk::Past;
        }
        for wanted in questions.within(path) {
            wanted.ancestors().take_while(|above| above.starts_with(path)).for_each(|above| {
                found.look(above);
            });
        }
        Walk::Into
    });
    Surveyed { places: found.places.into_values().collect(), searched: searched == Extent::Whole }
}

/// What is known so far.
struct Found {
    places: BTreeMap<PathBuf, Place>,
    /// Folders without their links.
    real: BTreeMap<PathBuf, Option<PathBuf>>,
    privilege: Privilege,
}

impl Found {
    /// Looks at a path, and returns whether anything is there.
    fn look(&mut self, path: &Path) -> bool {
        let folder = path.parent().and_then(|folder| {
            let real = self.real.entry(folder.into());
            real.or_insert_with(|| fs::canonicalize(folder).ok()).as_deref()
        });
        let place = look(path, folder, self.privilege);
        let exists = place.exists();
        self.places.insert(path.into(), place);
        exists
    }
}

/// Looks at a path in `folder`, which is free of links.
fn look(path: &Path, folder: Option<&Path>, privilege: Privilege) -> Place {
    let itself = fs::symlink_metadata(path).ok();
    let is = itself.as_ref().map_or(Kind::Absent, kind);
    let at = match path.file_name() {
        Some(name) => folder.map(|folder| folder.join(name)),
        // `..` at its end: only the kernel knows which folder that is.
        None => fs::canonicalize(path).ok(),
    };
    let at = at.unwrap_or_else(|| path.into());
    let real = match is {
        Kind::Link => fs::canonicalize(path).unwrap_or_else(|_| at.clone()),
        Kind::Absent | Kind::Folder | Kind::File | Kind::Socket | Kind::Other => at.clone(),
    };
    let end = if is == Kind::Link { fs::metadata(path).ok() } else { itself };
    let shut = match privilege {
        Privilege::Ordinary => None,
        Privilege::Root { .. } if is == Kind::Absent => None,
        Privilege::Root { .. } => shut_above(&real),
    };
    Place {
        path: path.into(),
        at,
        is,
        leads_to: end.as_ref().map_or(Kind::Absent, kind),
        names: end.as_ref().map_or(0, std::os::unix::fs::MetadataExt::nlink),
        mode: end.as_ref().map_or(0, |end| end.mode() & 0o7777),
        owner: end.as_ref().map_or((0, 0), |end| (end.uid(), end.gid())),
        shut,
        real,
    }
}

/// Returns the topmost folder above `path` that others may not search.
fn shut_above(path: &Path) -> Option<PathBuf> {
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    let mut above = above.into_iter().rev();
    above
        .find(|folder| fs::symlink_metadata(folder).is_ok_and(|found| found.mode() & 0o001 == 0))
        .map(Into::into)
}

fn kind(found: &fs::Metadata) -> Kind {
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
