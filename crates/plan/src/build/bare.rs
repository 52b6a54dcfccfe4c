//! A root that holds nothing but what is named, for policies that hide `/`.
//!
//! Profiles that deny reading by default come to this. The host's root is replaced by an empty one
//! in memory, in which what may be read is attached; folders above that are there, and empty. What
//! no program can start without is implied: the loader, its cache, and links in the root that lead
//! to what is shown.

use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use super::files::Files;
use super::{Owners, loader};
use crate::facts::{Facts, Kind, Place};
use crate::order::Order;
use crate::paths::Lies as _;
use crate::plan::Note;
use crate::step::{Access, Depth, Owner, Step, Tree};

/// Links in the root that distributions have.
const LINKS: [&str; 6] = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin"];

/// What is made anew, and never shown from the host.
const OURS: [&str; 5] = ["/dev", "/proc", "/run", "/tmp", "/var/tmp"];

/// What is shown of a disk of which all else is hidden.
pub(super) struct Bare<'f> {
    shown: Vec<&'f Place>,
}

/// Returns whether one of the patterns is everything.
pub(crate) fn names_root(patterns: &[PathPattern]) -> bool {
    patterns.iter().any(PathPattern::is_root)
}

/// Returns the paths that planning this asks about.
pub(crate) fn questions(hide: &[PathPattern]) -> Vec<PathBuf> {
    if names_root(hide) { LINKS.iter().map(PathBuf::from).collect() } else { Vec::new() }
}

impl<'f> Bare<'f> {
    /// Returns what is shown; none if the root is.
    pub(super) fn of(order: &Order, readable: &[&'f Place]) -> Option<Self> {
        let whole = names_root(&order.readable)
            || readable.iter().any(|place| place.real == Path::new("/"));
        (names_root(&order.hide) && !whole).then(|| Self { shown: readable.to_vec() })
    }

    /// Returns whether a path can be seen.
    pub(super) fn shows(&self, path: &Path) -> bool {
        self.shown.iter().any(|place| path.lies_in(&place.real))
    }

    /// Returns what has to be attached to be seen: not what lies in something that is, unless it is
    /// hidden there.
    pub(super) fn trees(&self, hidden: &[&Place]) -> Vec<&'f Place> {
        let ours = |place: &Place| {
            OURS.iter().any(|own| place.real == Path::new(own))
                || ["/dev", "/proc"].iter().any(|own| place.real.lies_in(own))
        };
        let mut trees: Vec<&Place> = Vec::new();
        for place in self.shown.iter().copied().filter(|place| !ours(place)) {
            let inside =
                |other: &&Place| place.real.lies_in(&other.real) && other.real != place.real;
            let again = hidden.iter().any(|hidden| place.real.lies_in(&hidden.real));
            let data = matches!(place.leads_to, Kind::File | Kind::Folder);
            let known = trees.iter().any(|tree| tree.real.is(&place.real));
            if data && !known && (again || !self.shown.iter().any(inside)) {
                trees.push(place);
            }
        }
        trees
    }

    /// Returns whose the files of a tree are: what everybody may read needs no other owner.
    pub(super) fn owner(place: &Place, owners: Owners) -> Owner {
        if place.mode & 0o005 == 0o005 { Owner::Same } else { owners.of(Some(place)) }
    }
}

impl Files {
    /// Adds what no program can start without, and says so; returns the links of the root.
    pub(super) fn imply(
        &mut self,
        bare: &Bare<'_>,
        facts: &Facts,
        hidden: &[&Place],
        attach: &mut Vec<(Tree, PathBuf, Kind)>,
    ) -> Vec<Step> {
        let mut implied: Vec<PathBuf> = Vec::new();
        let cache = facts.place(Path::new(loader::CACHE));
        let cache = cache.filter(|place| place.leads_to == Kind::File);
        let cache = cache.filter(|place| loader::hider(&place.real, hidden, &[]).is_none());
        for place in loader::loaders(facts).chain(cache) {
            // At the name it is started by, and free of links, so that both are there.
            for at in [&place.at, &place.real] {
                if !bare.shows(at) && !implied.contains(at) {
                    let tree = self.keep(&place.real, Access::Read, Depth::One, Owner::Same);
                    attach.push((tree, at.clone(), Kind::File));
                    implied.push(at.clone());
                }
            }
        }
        let mut links = Vec::new();
        for link in LINKS.iter().filter_map(|path| facts.place(Path::new(path))) {
            let leads = |path: &PathBuf| path.lies_in(&link.real);
            let used = bare.shows(&link.real) || implied.iter().any(leads);
            if let (Kind::Link, true, Some(to)) = (link.is, used, link.real.to_str()) {
                links.push(Step::MakeLink { at: link.at.clone(), to: to.to_owned() });
                implied.push(link.at.clone());
            }
        }
        if !implied.is_empty() {
            let names: Vec<String> =
                implied.iter().map(|path| format!("`{}`", path.display())).collect();
            let message = format!("{} can be read: no program starts without", names.join(", "));
            self.notes.push(Note { code: "implied", message });
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::build::tests::{facts, order, pattern, permit};
    use crate::facts::Privilege;

    fn planned(hide: &[&str], readable: &[&str]) -> Vec<String> {
        let all = |list: &[&str]| list.iter().map(|text| pattern(text)).collect();
        let order = Order { hide: all(hide), readable: all(readable), ..order() };
        let plan = build(&permit(), &order, &facts(Privilege::Ordinary)).unwrap();
        plan.steps().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn behind_an_empty_root_nothing_is_kept_but_what_is_named() {
        let steps = planned(&["/", "/home/dev/.ssh"], &["/home/dev/app"]);
        let at = |name: &str| steps.iter().position(|step| step == name).unwrap();
        assert!(at("seal-root read-only no-devices no-suid private") < at("empty-root"));
        assert!(at("empty-root") < at("folder /proc") && at("folder /proc") < at("proc /proc"));
        assert!(at("proc /proc") < at("close-root read-only no-devices no-suid"));
        let kept = steps.iter().filter(|step| step.starts_with("keep ") && !step.contains("/dev/"));
        assert_eq!(kept.count(), 0, "{steps:?}");
        let kept =
            steps.iter().filter(|step| step.starts_with("keep ") && step.contains(" write "));
        assert_eq!(kept.collect::<Vec<_>>(), ["keep %6 /home/dev/app write deep owner=same"]);
        // No layer shows the home, and nothing has to be taken away that is not there.
        assert!(!steps.iter().any(|step| step.starts_with("hide ") || step.starts_with("cover ")));
        assert!(!steps.iter().any(|step| step.starts_with("show ")), "nor the names of hosts");
    }

    #[test]
    fn a_root_that_is_readable_all_the_same_is_the_hosts() {
        for (hide, readable) in [(&["/"][..], &["/"][..]), (&["/home/dev/.ssh"], &[])] {
            let steps = planned(hide, readable);
            assert!(!steps.iter().any(|step| step == "empty-root"), "{hide:?}");
        }
    }

    #[test]
    fn what_is_not_shown_is_not_written_either() {
        let steps = planned(&["/"], &["/usr"]);
        let writes = |step: &String| step.starts_with("keep ") && step.contains(" write ");
        assert!(!steps.iter().any(writes), "{steps:?}");
        assert!(
            steps.iter().any(|step| step == "folder /home/dev/app"),
            "it starts in an empty one"
        );
    }
}
