//! What a dialect may know of the world, answered from the file system and the request.

use std::fs;
use std::path::Path;

use palisade_policy::dialect::{FileKind, Surroundings};
use palisade_policy::name::Anchors;

use super::request::Request;
use crate::read::{Place, read_policy_file};

/// Most names that are looked at in one folder.
const MAX_NAMES: usize = 10_000;

/// Hands the surroundings of `request` to `ask`; other files are read as far as `place` allows.
pub(super) fn with_surroundings<T>(
    request: &Request,
    anchors: &Anchors,
    place: Place<'_>,
    ask: impl FnOnce(&Surroundings<'_>) -> T,
) -> T {
    let var = |name: &str| request.var(name).map(|value| value.to_string_lossy().into_owned());
    with_world(&World { anchors, cwd: &request.cwd, var: &var, place }, ask)
}

/// What is known beside the file system.
pub(crate) struct World<'a> {
    pub(crate) anchors: &'a Anchors,
    pub(crate) cwd: &'a Path,
    pub(crate) var: &'a dyn Fn(&str) -> Option<String>,
    /// How far paths that files name are believed.
    pub(crate) place: Place<'a>,
}

/// Hands a world to `ask`.
pub(crate) fn with_world<T>(world: &World<'_>, ask: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let World { anchors, cwd, var, place } = *world;
    let read = |path: &Path| read_policy_file(path, place).map_err(|error| error.to_string());
    ask(&Surroundings { anchors, cwd, var, kind: &kind, list: &list, read: &read })
}

fn kind(path: &Path) -> Option<FileKind> {
    let found = fs::metadata(path).ok()?;
    Some(if found.is_file() {
        FileKind::File
    } else if found.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Other
    })
}

fn list(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_NAMES);
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}
