//! What Agentao's files may ask about the file system.

use std::fs;
use std::path::Path;

use palisade_policy::dialect::{FileKind, Surroundings};
use palisade_policy::name::Anchors;

use crate::read::{Place, read_policy_file};

/// Most names that are looked at in one folder.
const MAX_NAMES: usize = 10_000;

/// Hands the world around a project to `ask`. There are no variables in it: Agentao's files mean
/// the same in every environment.
pub(super) fn with<T>(anchors: &Anchors, ask: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    ask(&Surroundings {
        anchors,
        cwd: &anchors.root,
        var: &|_| None,
        kind: &kind,
        list: &list,
        read: &|path| read_policy_file(path, Place::Named).map_err(|error| error.to_string()),
    })
}

fn kind(path: &Path) -> Option<FileKind> {
    let found = fs::metadata(path).ok()?;
    Some(match (found.is_file(), found.is_dir()) {
        (true, _) => FileKind::File,
        (_, true) => FileKind::Folder,
        (false, false) => FileKind::Other,
    })
}

fn list(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_NAMES);
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}
