//! What lies at a path at one point of a text: the disk, and the links that the text itself made.

use super::disk::below;
use super::moved::put_there;
use super::walk::Walk;
use crate::jail::{Entry, Listing, Lookup};

/// The disk with the links of a text on top.
pub(super) struct Sight<'s> {
    disk: &'s dyn Lookup,
    links: &'s [(String, String)],
    moves: &'s [(String, String)],
}

impl Lookup for Sight<'_> {
    fn look(&self, path: &str) -> Entry {
        // The last one made counts.
        if let Some((_, target)) = self.links.iter().rev().find(|(name, _)| name == path) {
            return Entry::Link(target.clone());
        }
        let put = put_there(self.moves, self.disk, path);
        if let Some(Entry::Link(_)) = put {
            return put.unwrap_or(Entry::Unknown);
        }
        let entry = match (self.disk.look(path), put) {
            (Entry::Absent, Some(put)) => put,
            (entry, _) => entry,
        };
        // The folder of a link, and of what was put there, was made before it.
        let holds = || {
            let links = self.links.iter().map(|(name, _)| name);
            let put = self.moves.iter().map(|(_, to)| to);
            links.chain(put).any(|name| below(name, path).is_some_and(|rest| !rest.is_empty()))
        };
        if entry == Entry::Absent && holds() { Entry::Folder } else { entry }
    }

    fn list(&self, folder: &str) -> Listing {
        self.disk.list(folder)
    }

    fn programs_at(&self, path: &str) -> Vec<String> {
        self.disk.programs_at(path)
    }
}

impl Walk<'_> {
    /// Returns what can be seen from here.
    pub(super) fn sight(&self) -> Sight<'_> {
        Sight { disk: self.lookup, links: self.disk.links(), moves: self.disk.moves() }
    }
}
