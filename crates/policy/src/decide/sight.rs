//! What lies at a path at one point of a text: the disk, and the links that the text itself made.

use super::walk::Walk;
use crate::jail::{Entry, Lookup};

/// The disk with the links of a text on top.
pub(super) struct Sight<'s> {
    disk: &'s dyn Lookup,
    links: &'s [(String, String)],
}

impl Lookup for Sight<'_> {
    fn look(&self, path: &str) -> Entry {
        // The last one made counts.
        match self.links.iter().rev().find(|(name, _)| name == path) {
            Some((_, target)) => Entry::Link(target.clone()),
            None => self.disk.look(path),
        }
    }
}

impl Walk<'_> {
    /// Returns what can be seen from here.
    pub(super) fn sight(&self) -> Sight<'_> {
        Sight { disk: self.lookup, links: self.disk.links() }
    }
}
