//! What cannot be changed in writable trees.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use super::cover::shown_at;
use super::files::{Files, below_any};
use crate::absent::{is_placeholder, reserved};
use crate::after::After;
use crate::facts::{Facts, Kind, Place, Searched};
use crate::names::{Exactly, Names};
use crate::order::Order;
use crate::paths::Lies as _;
use crate::step::Step;

impl Files {
    /// Makes what is protected read-only, and holds the folders above it where they are. What does
    /// not exist yet gets something to hold. Returns what is left to look for at the end.
    pub(super) fn protect(
        &mut self,
        order: &Order,
        facts: &Facts,
        trees: &[&Place],
        hidden: &[&Place],
    ) -> Option<After> {
        let (names, exactly) = (Names::new(&order.protect, &[]), Exactly::new(&order.protect));
        let mut absent = reserved(&exactly, facts, trees);
        absent.retain(|path| !below_any(hidden, path));
        let mut held = Held::default();
        // A folder that is moved away takes what is hidden in it to a name that nobody hides.
        let is_top = |place: &&&Place| {
            !hidden.iter().any(|it| place.real.lies_in(&it.real) && it.real != place.real)
        };
        for path in hidden.iter().filter(is_top).flat_map(|place| shown_at(place, trees, facts)) {
            held.pin_above(&path, trees);
        }
        let mut replaceable = false;
        for path in self.leading(&names, facts, trees) {
            if !below_any(hidden, &path) {
                replaceable |= held.hold(&path, trees);
            }
        }
        for place in protected(&names, &exactly, facts) {
            let paths = paths_of(place, facts, trees);
            for path in paths.iter().filter(|path| !below_any(hidden, path)) {
                let taken = held.hold(path, trees);
                let is_file = place.leads_to == Kind::File;
                if taken && place.names > 1 && is_file {
                    let what = format!("`{}` has other names, which stay", path.display());
                    self.protect.lacks(what);
                }
                replaceable |= taken && place.leads_to != Kind::Absent;
            }
        }
        for path in &absent {
            held.hold(path, trees);
            // What stands at the name stands there in every mount.
            for other in facts.aliases(path) {
                held.hold(&other, trees);
            }
        }
        if !absent.is_empty() {
            let what = "what somebody puts in the place of a placeholder is set aside at the end";
            self.protect.watches(what.into());
            self.steps.push(Step::Reserve(absent));
        }
        self.steps.append(&mut held.steps);
        if replaceable {
            self.protect
                .watches("what the host replaces is protected again once it is seen".into());
        }
        let any = order.protect.iter().any(PathPattern::has_wildcard);
        let missing = missing(order, facts, trees);
        if missing.iter().any(|path| !held.protected.contains(path.as_os_str())) {
            let what = "names that git takes for files are set aside at the end";
            self.protect.watches(what.into());
        }
        match facts.searched {
            Searched::Whole if any && !trees.is_empty() => {
                let what = "names made in other letter cases and in other folders are set aside at the end";
                self.protect.watches(what.into());
            }
            Searched::Partly if any => {
                self.tell_unprotected();
            }
            Searched::Whole | Searched::Partly => {}
        }
        let after = After::new(&order.protect, (names, &exactly), facts, trees, missing);
        if after.is_some() {
            self.tell_overlapping(facts, trees);
        }
        after
    }
}

impl Files {
    /// Returns the links that lead what is protected elsewhere: they stay as they are, and so does what
    /// lies there, if it could be written.
    pub(super) fn leading(
        &mut self,
        names: &Names,
        facts: &Facts,
        trees: &[&Place],
    ) -> Vec<PathBuf> {
        let leads = |path: &Path| names.lead(path, trees.iter().map(|tree| &tree.real));
        let lies = |path: &Path| trees.iter().any(|tree| path.lies_in(&tree.real));
        let links = facts.places.iter();
        let links = links.filter(|it| it.is == Kind::Link && lies(&it.at) && leads(&it.at));
        let mut paths: Vec<PathBuf> = Vec::new();
        for link in links {
            // What is protected in another of the same name is protected there.
            let is_alike = link.real.file_name() == link.at.file_name() && leads(&link.real);
            let is_above = trees.iter().any(|tree| tree.real.lies_in(&link.real));
            if is_above {
                let what = "protected names that are made there are not seen";
                let (at, to) = (link.at.display(), link.real.display());
                self.protect.lacks(format!("`{at}` leads to `{to}`: {what}"));
            }
            let all = paths_of(link, facts, trees);
            let tos = facts.aliases(&link.real);
            let is_end = |path: &PathBuf| path.is(&link.real) || tos.contains(path);
            paths.extend(all.into_iter().filter(|path| !(is_alike || is_above) || !is_end(path)));
        }
        paths
    }
}

/// Returns the single paths in the trees that are not there.
pub(super) fn missing(order: &Order, facts: &Facts, trees: &[&Place]) -> BTreeSet<PathBuf> {
    let paths = order.protect.iter().filter_map(PathPattern::as_literal);
    let places = paths.filter_map(|path| facts.place(&path));
    let absent = places.filter(|place| place.is == Kind::Absent).map(|place| place.at.clone());
    absent.filter(|path| trees.iter().any(|tree| path.lies_in(&tree.real))).collect()
}

/// What is held where it is: paths free of links, byte by byte.
#[derive(Default)]
struct Held {
    pinned: BTreeSet<OsString>,
    protected: BTreeSet<OsString>,
    steps: Vec<Step>,
}

impl Held {
    /// Protects a path and pins the folders above it, if it lies in one of the trees.
    fn hold(&mut self, path: &Path, trees: &[&Place]) -> bool {
        let Some(tree) = trees.iter().find(|tree| path.lies_in(&tree.real)) else {
            return false;
        };
        if path.ancestors().any(|above| self.protected.contains(above.as_os_str())) {
            return false;
        }
        self.pin(path, &tree.real);
        self.steps.push(Step::Protect(path.into()));
        self.protected.insert(path.into());
        true
    }

    /// Pins the folders above a path, if it lies in one of the trees.
    fn pin_above(&mut self, path: &Path, trees: &[&Place]) {
        if let Some(tree) = trees.iter().find(|tree| path.lies_in(&tree.real)) {
            self.pin(path, &tree.real);
        }
    }

    /// Pins the folders of a tree above a path.
    fn pin(&mut self, path: &Path, tree: &Path) {
        // Those in the tree have longer paths than it has.
        let shortest = tree.as_os_str().len();
        let above = path.ancestors().skip(1).take_while(|at| at.as_os_str().len() > shortest);
        let above: Vec<&Path> = above.collect();
        for folder in above.into_iter().rev() {
            if self.pinned.insert(folder.into()) {
                self.steps.push(Step::Pin(folder.into()));
            }
        }
    }
}

/// Returns every path in the trees at which something protected could be changed: its own, where it
/// leads if it is a link, and those at which other mounts show the same.
pub(super) fn paths_of(place: &Place, facts: &Facts, trees: &[&Place]) -> Vec<PathBuf> {
    let mut paths = vec![place.at.clone()];
    if place.is == Kind::Link && place.leads_to != Kind::Absent {
        paths.push(place.real.clone());
    }
    let others: Vec<PathBuf> = paths.iter().flat_map(|path| facts.aliases(path)).collect();
    paths.extend(others);
    paths.retain(|path| trees.iter().any(|tree| path.lies_in(&tree.real)));
    paths
}

/// Returns what exists on the host of what the patterns name, in any letter case; not what keeps a
/// name for another run.
pub(super) fn protected<'f>(
    names: &Names,
    exactly: &Exactly<'_>,
    facts: &'f Facts,
) -> Vec<&'f Place> {
    let named = |place: &&Place| {
        let named = |path: &Path| exactly.name(path) || names.want(path);
        place.exists() && !is_placeholder(place) && (named(&place.path) || named(&place.at))
    };
    facts.places.iter().filter(named).collect()
}
