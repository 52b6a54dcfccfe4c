//! Names that do not exist yet, and must not come to be.

use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use crate::facts::{Facts, Kind, Place};
use crate::names::Exactly;
use crate::paths::{Lies as _, below, is_within, split};

/// Names that git takes for a file whenever they are there: a folder in their place stops it. They
/// are set aside at the end instead.
const ONLY_FILES: [&str; 2] = ["commondir", "config.worktree"];

/// Returns the paths in writable trees that a plan may have to keep from being made, and the
/// folders above them in those trees.
///
/// A name that matters in every folder is kept from being made at the top of each tree, and in
/// every folder that the search finds its first component in. There are too many others.
pub(crate) fn candidates(protect: &[PathPattern], trees: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for pattern in protect {
        let (above, names) = match pattern.as_literal() {
            Some(path) => (path, None),
            None => match pattern.as_anywhere_below() {
                Some((above, names)) => (above, Some(names)),
                None => {
                    paths.extend(ways(pattern, trees));
                    continue;
                }
            },
        };
        for tree in trees {
            let path = match &names {
                // Nearly all of them lie elsewhere.
                None if is_within(&above, tree) => above.clone().into_owned(),
                None => continue,
                Some(names) if is_within(tree, &above) => below(tree, names.as_os_str()),
                Some(names) => below(&above, names.as_os_str()),
            };
            // What lies in it has a longer path.
            let shortest = tree.as_os_str().len();
            if path.as_os_str().len() <= shortest || !is_within(&path, tree) {
                continue;
            }
            let mut inner = split(&path);
            while let Some((folder, _)) =
                inner.filter(|(above, _)| above.as_os_str().len() > shortest)
            {
                paths.push(folder.to_owned());
                inner = split(folder);
            }
            paths.push(path);
        }
    }
    paths
}

/// Returns the folders at the top of trees that a pattern leads through: a link there would lead what
/// it names elsewhere.
pub(crate) fn ways(pattern: &PathPattern, trees: &[PathBuf]) -> Vec<PathBuf> {
    let Some((above, ways)) = pattern.ways_below() else { return Vec::new() };
    let tops = trees.iter().filter_map(|tree| match is_within(tree, &above) {
        true => Some(tree),
        false => is_within(&above, tree).then_some(&above),
    });
    tops.flat_map(|top| ways.iter().map(|way| below(top, way.as_os_str()))).collect()
}

/// Returns the paths at which something must stand while the command runs, free of links: the
/// topmost of what is missing, for each name.
pub(crate) fn reserved(exactly: &Exactly<'_>, facts: &Facts, trees: &[&Place]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for place in facts.places.iter().filter(|place| exactly.name(&place.path)) {
        let missing = place.is == Kind::Absent && !stops_git(&place.path);
        if !missing && !is_placeholder(place) {
            continue;
        }
        // The topmost folder that is missing too; one that cannot be told of is not touched.
        let above = place.path.ancestors().map_while(|path| facts.place(path));
        let Some(top) = above.take_while(|above| !above.exists() || is_placeholder(above)).last()
        else {
            continue;
        };
        // A repository that is made inside must be whole; it is looked over at the end.
        let is_new_repository = top.path != place.path && top.path.ends_with(".git");
        let known = top.path.parent().is_some_and(|parent| {
            trees.iter().any(|tree| tree.path == parent || tree.real == parent)
                || facts.place(parent).is_some_and(|parent| parent.is == Kind::Folder)
        });
        let inside = trees.iter().any(|tree| top.at != tree.real && top.at.lies_in(&tree.real));
        let had = |path: &PathBuf| path.as_os_str() == top.at.as_os_str();
        if known && inside && !is_new_repository && !paths.iter().any(had) {
            paths.push(top.at.clone());
        }
    }
    paths
}

/// Returns whether a folder with this mode may keep a name: nobody else may write it, and it has a mark
/// that folders do not have by chance. A command can set that mark, so such a folder must be empty too.
pub fn may_be_placeholder(mode: u32) -> bool {
    mode & 0o1022 == 0o1000
}

/// Returns whether what lies there is what an earlier or another run put there to keep the name.
pub(crate) fn is_placeholder(place: &Place) -> bool {
    place.is == Kind::Folder && place.empty && may_be_placeholder(place.mode)
}

fn stops_git(path: &Path) -> bool {
    ONLY_FILES.iter().any(|names| path.ends_with(names))
}
