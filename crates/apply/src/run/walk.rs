//! Going through the folders of writable trees, level by level and not for ever.

use std::collections::VecDeque;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

/// How many names are looked at.
const MOST: usize = 20_000;

/// Folders that hold nothing a person wrote, and very much of it.
const SKIPPED: [&str; 5] = ["node_modules", "objects", "target", ".venv", "__pycache__"];

/// Where to go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Walk {
    /// Into the folder, later.
    Into,
    /// With the next name.
    Past,
}

/// How far it went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Extent {
    /// Everywhere.
    Whole,
    /// Until there were too many names.
    Partly,
}

/// Shows every name in the trees to `visit`. No link is followed.
pub(super) fn walk(
    trees: impl Iterator<Item = PathBuf>,
    mut visit: impl FnMut(&Path, FileType) -> Walk,
) -> Extent {
    let mut left = MOST;
    let mut folders: VecDeque<PathBuf> = trees.collect();
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Some(less) = left.checked_sub(1) else { return Extent::Partly };
            left = less;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            if visit(&path, kind) == Walk::Into && kind.is_dir() && !skipped {
                folders.push_back(path);
            }
        }
    }
    Extent::Whole
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn every_level_is_seen_but_for_what_nobody_wrote() {
        let deep = "a/b/c/d/e/f/g/h/i/j/k/l";
        let project = Project::new()
            .file(format!("{deep}/file"), "x")
            .file("node_modules/m/file", "x")
            .symlink("link", "a");
        let mut seen = Vec::new();
        let extent = walk([project.root().to_owned()].into_iter(), |path, _| {
            seen.push(path.strip_prefix(project.root()).unwrap().to_owned());
            Walk::Into
        });
        assert_eq!(extent, Extent::Whole);
        assert!(seen.contains(&PathBuf::from(deep).join("file")), "{seen:?}");
        assert!(seen.iter().any(|path| path == "link"));
        assert!(!seen.iter().any(|path| path.starts_with("link/b")), "links are not followed");
        assert!(!seen.iter().any(|path| path.starts_with("node_modules/m")));
    }
}
