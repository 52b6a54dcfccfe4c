//! What lies at the paths that a policy names.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt};
use std::path::{Path, PathBuf};

use palisade_plan::{Kind, Place, Privilege, Questions, by_bytes};
use rustix::fs::FileType;

use super::folders::Folders;
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
    folders: Folders,
}

impl Found {
    fn new(privilege: Privilege) -> Self {
        // Room for most of what is asked about.
        let (places, looked) = (Vec::with_capacity(200), HashMap::with_capacity(200));
        Self { places, looked, folders: Folders::new(privilege) }
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
        let (at, found) = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => self.folders.look(above, name, path),
            // The root, or `..` at its end: only the kernel knows which folder that is.
            (_, None) | (None, _) => (fs::canonicalize(path).ok(), fs::symlink_metadata(path).ok()),
        };
        let at = at.unwrap_or_else(|| path.into());
        let is = found.as_ref().map_or(Kind::Absent, kind);
        let (real, end) = match is {
            Kind::Link => {
                let real = fs::canonicalize(path).ok();
                (real.unwrap_or_else(|| at.clone()), fs::metadata(path).ok())
            }
            Kind::Absent | Kind::Folder | Kind::File | Kind::Socket | Kind::Other => {
                (at.clone(), found)
            }
        };
        let shut = (is != Kind::Absent).then(|| self.folders.shut_above(&real)).flatten();
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

    /// Returns a path without its links; nothing if it leads nowhere.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        self.folders.find(path).real.clone()
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
