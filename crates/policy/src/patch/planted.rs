//! The disk as it is once a patch has made its links.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::{Deed, Patch, Target};
use crate::effort::Effort;
use crate::jail::{Entry, Ground, How, Last, Lookup, Spelling};

/// A disk, and over it every link that a patch makes, so that a path through one is seen to lead
/// where the link says.
pub(super) struct Planted<'l> {
    disk: &'l dyn Lookup,
    links: BTreeMap<String, Entry>,
    effort: &'l Effort,
}

impl<'l> Planted<'l> {
    /// Lays the links of `patch`, applied in the folder `cwd`, over `disk`.
    ///
    /// All of them lie there from the start: the order in which a patch is applied, and whether
    /// all of it is, is for others to decide.
    pub(super) fn new(
        patch: &Patch,
        ground: &Ground,
        cwd: &str,
        disk: &'l dyn Lookup,
        effort: &'l Effort,
    ) -> Self {
        let mut planted = Self { disk, links: BTreeMap::new(), effort };
        let mut source: Vec<String> = Vec::new();
        for touched in &patch.touched {
            // Then the patch is denied, whatever its links are.
            if effort.is_spent() {
                break;
            }
            match &touched.deed {
                Deed::Link(target) => {
                    let entry = match target {
                        Target::Text(text) => Entry::Link(text.clone()),
                        Target::Unknown => Entry::Unknown,
                    };
                    for path in touched.readings() {
                        planted.plant(&path, &entry, ground, cwd);
                    }
                }
                Deed::MoveFrom | Deed::CopyFrom => source = touched.readings(),
                // A link that is moved leads elsewhere from its new place.
                Deed::MoveTo | Deed::CopyTo => {
                    let moved: Vec<Entry> = source
                        .iter()
                        .map(|path| planted.look(&planted.at(path, ground, cwd)))
                        .filter(|entry| matches!(entry, Entry::Link(_) | Entry::Unknown))
                        .collect();
                    for path in touched.readings() {
                        for entry in &moved {
                            planted.plant(&path, entry, ground, cwd);
                        }
                    }
                }
                Deed::Create | Deed::Change | Deed::Delete | Deed::Unlink | Deed::Mode => {}
            }
        }
        planted
    }

    /// Whether the patch makes no links.
    pub(super) fn is_bare(&self) -> bool {
        self.links.is_empty()
    }

    /// Puts a link where it lies on the disk, and where it lies behind the patch's own links.
    fn plant(&mut self, path: &str, entry: &Entry, ground: &Ground, cwd: &str) {
        let straight = ground.place_with(path, cwd, self.disk, KEEP).path;
        for at in [straight, self.at(path, ground, cwd)] {
            let known = self.links.entry(at).or_insert_with(|| entry.clone());
            // Two links at one place: which of them is there, and when, cannot be told.
            if known != entry {
                *known = Entry::Unknown;
            }
        }
    }

    fn at(&self, path: &str, ground: &Ground, cwd: &str) -> String {
        ground.place_with(path, cwd, self, KEEP).path
    }
}

const KEEP: How = How { last: Last::Keep, spelling: Spelling::Plain };

impl Lookup for Planted<'_> {
    fn look(&self, path: &str) -> Entry {
        if !self.effort.spend(1) {
            return Entry::Unknown;
        }
        if let Some(entry) = self.links.get(path) {
            return entry.clone();
        }
        match self.disk.look(path) {
            // A folder that is made for what is put into it.
            Entry::Absent if self.holds_links(path) => Entry::Folder,
            entry @ (Entry::Absent
            | Entry::Link(_)
            | Entry::Folder
            | Entry::File
            | Entry::SharedFile
            | Entry::Other
            | Entry::Unknown) => entry,
        }
    }
}

impl Planted<'_> {
    fn holds_links(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let from = (Bound::Included(below.as_str()), Bound::Unbounded);
        self.links.range::<str, _>(from).next().is_some_and(|(at, _)| at.starts_with(&below))
    }
}

impl std::fmt::Debug for Planted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planted").field("links", &self.links).finish_non_exhaustive()
    }
}
