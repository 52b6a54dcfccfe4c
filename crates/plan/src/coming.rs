//! Hidden names that are not there at the start, and may come while a command runs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use crate::facts::{Facts, Kind, Place};
use crate::names::{Exactly, named_by};
use crate::order::Order;
use crate::paths::Lies as _;

/// What is said of what is there and covered.
pub(crate) const REPLACED: &str = "what the host replaces is hidden again once it is seen";

/// What is said of single paths.
pub(crate) const SINGLE: &str =
    "a hidden name that is not there yet is hidden once it is seen to come";

/// What is said of patterns.
pub(crate) const MATCHED: &str = "what comes to match a hidden pattern is hidden once it is seen";

/// What is said where nothing can be hidden any more once a command runs.
pub(crate) const READ: &str = "what comes to have a hidden name can be read, unless something hidden \
                               lies in its folder, or below that, from the start";

/// What the supervisor hides once it comes: whoever makes it, for nobody tells who did.
#[derive(Clone, Debug, PartialEq)]
pub struct Coming {
    /// Single paths, free of links as far as they exist.
    pub paths: Vec<PathBuf>,
    /// Where what matches a pattern is looked for, free of links; nowhere if there is no pattern.
    pub trees: Vec<PathBuf>,
    patterns: Vec<PathPattern>,
    readable: Vec<PathPattern>,
    /// What is hidden from the start.
    known: BTreeSet<PathBuf>,
}

impl Coming {
    /// Returns what may come; `None` if nothing may. What lies where it `is_hidden` is so whenever it
    /// comes.
    pub(crate) fn new(
        order: &Order,
        facts: &Facts,
        trees: &[&Place],
        hidden: &[&Place],
        is_hidden: &dyn Fn(&Path) -> bool,
    ) -> Option<Self> {
        let (hide, readable) = (Exactly::new(&order.hide), Exactly::new(&order.readable));
        let absent = facts.places.iter().filter(|place| {
            place.is == Kind::Absent
                && hide.name(&place.path)
                && !readable.name(&place.path)
                && !is_hidden(&place.at)
        });
        let paths: Vec<PathBuf> = absent.map(|place| place.at.clone()).collect();
        let mut searched: Vec<PathBuf> = trees.iter().map(|tree| tree.real.clone()).collect();
        let root = facts.place(&order.root).filter(|root| !is_hidden(&root.real));
        let root = root.filter(|root| !searched.iter().any(|tree| root.real.lies_in(tree)));
        searched.extend(root.map(|root| root.real.clone()));
        let reaches = |pattern: &&PathPattern| {
            let above = pattern.fixed_prefix();
            pattern.has_wildcard()
                && searched.iter().any(|tree| above.lies_in(tree) || tree.lies_in(&above))
        };
        let patterns: Vec<PathPattern> = order.hide.iter().filter(reaches).cloned().collect();
        if patterns.is_empty() {
            searched.clear();
        }
        let mut known = BTreeSet::new();
        for path in hidden.iter().filter(|_| !patterns.is_empty()).flat_map(|it| [&it.at, &it.real])
        {
            known.insert(path.clone());
            known.extend(facts.aliases(path));
        }
        let readable = order.readable.clone();
        let some = !paths.is_empty() || !searched.is_empty();
        some.then_some(Self { paths, trees: searched, patterns, readable, known })
    }

    /// Returns the same in memory of its own: it keeps nothing of the policy that it is from.
    #[must_use]
    pub fn apart(&self) -> Self {
        let mut names = BTreeSet::new();
        Self {
            paths: self.paths.clone(),
            trees: self.trees.clone(),
            patterns: self.patterns.iter().map(|one| one.apart(&mut names)).collect(),
            readable: self.readable.iter().map(|one| one.apart(&mut names)).collect(),
            known: self.known.clone(),
        }
    }

    /// Returns whether something of this name may be wanted, as [`Coming::wants`] then tells.
    pub fn may_want(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        self.patterns.iter().any(|pattern| pattern.may_end_in(&name))
    }

    /// Returns whether a path, free of links, is hidden from the start, with what is in it.
    pub fn knows(&self, path: &Path) -> bool {
        self.known.contains(path)
    }

    /// Returns whether a path, free of links, is hidden by a pattern.
    pub fn wants(&self, path: &Path) -> bool {
        named_by(self.patterns.iter(), path) && !named_by(self.readable.iter(), path)
    }
}
