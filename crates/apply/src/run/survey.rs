//! What lies at the paths that a policy names.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use palisade_plan::{Kind, Place, Privilege, Questions};

/// How deep names are searched in writable trees, and how many are looked at.
const DEPTH: usize = 4;
const MOST: usize = 20_000;

/// Folders that hold nothing a person wrote, and very much of it.
const SKIPPED: [&str; 5] = ["node_modules", "objects", "target", ".venv", "__pycache__"];

/// What was found.
pub(super) struct Surveyed {
    pub(super) places: Vec<Place>,
    /// Whether everything that should be searched was.
    pub(super) searched: bool,
}

pub(super) fn survey(questions: &Questions, privilege: Privilege) -> Surveyed {
    let mut places: BTreeMap<PathBuf, Place> = BTreeMap::new();
    for path in &questions.paths {
        let place = look(path, privilege);
        // The folders between, whose modes matter when they are shown anew.
        if place.exists() {
            for folder in path.ancestors().skip(1).filter(|folder| folder.parent().is_some()) {
                if !places.contains_key(folder) && !questions.paths.iter().any(|one| one == folder)
                {
                    places.insert(folder.into(), look(folder, privilege));
                }
            }
        }
        places.insert(path.clone(), place);
    }
    let mut left = MOST;
    let mut searched = true;
    for tree in &questions.trees {
        searched &= search(tree, questions, privilege, &mut places, &mut left);
    }
    Surveyed { places: places.into_values().collect(), searched }
}

/// Searches one tree for names that matter, level by level.
fn search(
    tree: &Path,
    questions: &Questions,
    privilege: Privilege,
    places: &mut BTreeMap<PathBuf, Place>,
    left: &mut usize,
) -> bool {
    let Ok(tree) = fs::canonicalize(tree) else { return true };
    let mut folders = VecDeque::from([(tree, 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if questions.wants(&path) || kind.is_socket() {
                let place = look(&path, privilege);
                places.insert(path, place);
            } else if kind.is_dir()
                && depth + 1 < DEPTH
                && !SKIPPED.iter().any(|name| entry.file_name() == *name)
            {
                folders.push_back((path, depth + 1));
            }
        }
    }
    true
}

fn look(path: &Path, privilege: Privilege) -> Place {
    let itself = fs::symlink_metadata(path).ok();
    let is = itself.as_ref().map_or(Kind::Absent, kind);
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    let at = folder.and_then(|folder| Some(folder.join(path.file_name()?)));
    let at = at.unwrap_or_else(|| path.into());
    let real = match is {
        Kind::Link => fs::canonicalize(path).unwrap_or_else(|_| at.clone()),
        Kind::Absent | Kind::Folder | Kind::File | Kind::Socket | Kind::Other => at.clone(),
    };
    let end = if is == Kind::Link { fs::metadata(path).ok() } else { itself };
    let shut = match privilege {
        Privilege::Ordinary => None,
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
