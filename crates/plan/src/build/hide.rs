//! Which folders are shown without some of their names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use super::bare::Bare;
use super::files::{below_any, is_private};
use crate::facts::{Facts, Kind, Place};
use crate::order::Order;
use crate::paths::Lies as _;
use crate::plan::Strength;
use crate::step::{Step, Tree};

/// A folder, and what does not exist in it.
pub(super) struct Group {
    pub(super) over: PathBuf,
    pub(super) is_home: bool,
    mode: u32,
    names: BTreeSet<PathBuf>,
    between: Vec<(PathBuf, u32)>,
}

/// How what is hidden will be.
pub(super) struct Hidden {
    /// Names that do not exist.
    pub(super) groups: Vec<Group>,
    /// What cannot be taken away, and is covered.
    pub(super) masked: Vec<PathBuf>,
    /// Folders that are shown empty, but for what stays readable in them.
    pub(super) emptied: Vec<PathBuf>,
}

/// Sorts what is hidden by the folder that will be shown without it.
///
/// The home folder always gets a layer, even when nothing in it is hidden: below one, sockets and
/// pipes of the host lead nowhere.
pub(super) fn groups(
    order: &Order,
    facts: &Facts,
    trees: &[&Place],
    (hidden, readable, bare): (&[&Place], &[&Place], Option<&Bare<'_>>),
    strength: &mut Strength,
) -> Hidden {
    let (mut masked, mut emptied) = (Vec::new(), Vec::new());
    let in_tree = |path: &Path| trees.iter().any(|tree| path.lies_in(&tree.real));
    let mut groups: Vec<Group> = Vec::new();
    let home = order.home.as_ref().and_then(|home| facts.place(home));
    let home = home.filter(|home| home.leads_to == Kind::Folder && !in_tree(&home.real));
    let home = home.filter(|_| bare.is_none());
    if let Some(home) = home.filter(|home| home.real.components().count() > 1) {
        if facts.has_mount_below(&home.real) {
            strength.lacks(format!("`{}` has mounts below it", home.real.display()));
        } else {
            groups.push(Group::new(home.real.clone(), home.mode, true));
        }
    }
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    for place in hidden {
        // The name itself, where a link leads, and every other mount that shows it.
        for path in [&place.at, &place.real] {
            paths.insert(path.clone());
            paths.extend(facts.aliases(path));
        }
        tell_overlaid(place, facts, hidden, strength);
    }
    let mut done: Vec<PathBuf> = Vec::new();
    for path in paths {
        // What is not shown at all need not be taken away.
        if in_tree(&path) || bare.is_some_and(|bare| !bare.shows(&path)) {
            continue;
        }
        // Sorted: what lies in something hidden comes after it, and is hidden with it, unless
        // something between the two is readable again.
        if let Some(above) = done.iter().rev().find(|above| path.lies_in(above)) {
            let opens = |open: &Place| open.real.lies_in(above) && open.real != *above;
            if readable.iter().any(|open| opens(open) && path.lies_in(&open.real)) {
                strength.lacks(format!("`{}` is masked, not absent", path.display()));
                masked.push(path.clone());
                done.push(path);
            }
            continue;
        }
        done.push(path.clone());
        if readable.iter().any(|open| open.real.lies_in(&path) && open.real != path) {
            emptied.push(path);
            continue;
        }
        if groups.iter_mut().any(|group| group.take(&path, facts)) {
            continue;
        }
        if is_private(&path, facts) {
            continue;
        }
        match path.parent() {
            // Behind an empty root a layer would show the rest of its folder.
            Some(parent)
                if parent != Path::new("/") && bare.is_none() && !facts.has_mount_below(parent) =>
            {
                let mode = facts.place(parent).map_or(0o755, |place| place.mode);
                let mut group = Group::new(parent.into(), mode, false);
                group.take(&path, facts);
                groups.push(group);
            }
            Some(_) | None => {
                strength.lacks(format!("`{}` is masked, not absent", path.display()));
                masked.push(path);
            }
        }
    }
    Hidden { groups, masked, emptied }
}

/// Says where an overlay may show something hidden once more. Nobody knows whether it does: a folder
/// that it merges may have come to be another there.
pub(super) fn tell_overlaid(
    place: &Place,
    facts: &Facts,
    hidden: &[&Place],
    strength: &mut Strength,
) {
    for alias in facts.overlaid(&place.real).iter().filter(|alias| !below_any(hidden, alias)) {
        let (real, alias) = (place.real.display(), alias.display());
        strength.lacks(format!("`{real}` may be seen as `{alias}`, in an overlay over its folder"));
    }
}

/// Returns whether a pattern matches in places where nobody searches for names: outside of the
/// project and of what can be written there may be millions.
pub(super) fn is_unsearched(pattern: &PathPattern, order: &Order) -> bool {
    let Some(above) = plain_part(pattern) else { return false };
    !order.write.iter().chain([&order.root]).any(|tree| above.lies_in(tree))
}

/// Returns whether a pattern may name something in a folder of a tree.
pub(super) fn reaches(pattern: &PathPattern, folder: &Place, order: &Order, facts: &Facts) -> bool {
    match (pattern.literal(), plain_part(pattern)) {
        (Some(path), _) => {
            let is_in = |path: &Path| path.lies_in(&folder.at) && path != folder.at;
            is_in(&path) || facts.place(&path).is_some_and(|place| is_in(&place.at))
        }
        // Trees as they were written: the folder is free of links, and the pattern is not.
        (None, Some(above)) => {
            let mut trees = order.write.iter().chain([&order.root]);
            trees.any(|tree| above.lies_in(tree) || tree.lies_in(&above))
        }
        (None, None) => true,
    }
}

/// Returns what stands before the first wildcard of a pattern that has any.
fn plain_part(pattern: &PathPattern) -> Option<PathBuf> {
    if pattern.literal().is_some() {
        return None;
    }
    let text = pattern.to_string();
    let plain = Path::new(&text).components().take_while(|part| {
        part.as_os_str().to_str().is_some_and(|part| !part.contains(['*', '?', '[']))
    });
    Some(plain.collect())
}

/// Returns the step that shows the folder of `group`, kept as `tree`, without the names.
pub(super) fn overlay(tree: Tree, group: Group) -> Step {
    let Group { over, mode, names, between, .. } = group;
    Step::Hide { tree, at: over, mode, names: names.into_iter().collect(), between }
}

impl Group {
    fn new(over: PathBuf, mode: u32, is_home: bool) -> Self {
        Self { over, is_home, mode, names: BTreeSet::new(), between: Vec::new() }
    }

    /// Takes a path into the group if it lies in its folder.
    fn take(&mut self, path: &Path, facts: &Facts) -> bool {
        let Ok(name) = path.strip_prefix(&self.over) else { return false };
        if name.as_os_str().is_empty() {
            return false;
        }
        let folders: Vec<&Path> = name.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
            if !self.between.iter().any(|(done, _)| done == folder) {
                let mode = facts.place(&self.over.join(folder)).map_or(0o755, |place| place.mode);
                self.between.push((folder.into(), mode));
            }
        }
        self.names.insert(name.into());
        true
    }
}
