//! How much one call may cost.

use std::cell::Cell;

use crate::jail::{Entry, Listing, Lookup};

/// What is left to spend on one call. Nobody here has a clock: a step is about a microsecond on a
/// machine of today.
#[derive(Debug)]
pub(crate) struct Effort {
    left: Cell<usize>,
}

/// A disk that is looked at as long as there is something left to spend; then nobody can tell what
/// lies there.
pub(crate) struct Counted<'l> {
    pub(crate) disk: &'l dyn Lookup,
    pub(crate) effort: &'l Effort,
}

/// What a look at the disk costs.
const LOOK: usize = 2;

impl Effort {
    /// As much as a call may cost.
    pub(crate) fn of_one_call() -> Self {
        Self { left: Cell::new(300_000) }
    }

    /// Spends something. Returns whether there was that much left.
    pub(crate) fn spend(&self, cost: usize) -> bool {
        let left = self.left.get().checked_sub(cost);
        self.left.set(left.unwrap_or(0));
        left.is_some_and(|left| left > 0)
    }

    /// Returns whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

impl Lookup for Counted<'_> {
    fn look(&self, path: &str) -> Entry {
        if self.effort.spend(LOOK) { self.disk.look(path) } else { Entry::Unknown }
    }

    fn list(&self, folder: &str) -> Listing {
        if self.effort.is_spent() {
            return Listing::Untold;
        }
        let listing = self.disk.list(folder);
        let names = match &listing {
            Listing::Names(names) => names.len(),
            Listing::Nowhere | Listing::Untold => 0,
        };
        self.effort.spend(LOOK * (1 + names));
        listing
    }

    fn programs_at(&self, path: &str) -> Vec<String> {
        self.effort.spend(LOOK);
        self.disk.programs_at(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jail::NoLookup;

    #[test]
    fn what_is_spent_stays_spent() {
        let effort = Effort { left: Cell::new(7) };
        let counted = Counted { disk: &NoLookup, effort: &effort };
        assert_eq!(counted.look("/a"), Entry::Absent);
        assert!(effort.spend(3));
        assert!(!effort.is_spent());
        assert_eq!(counted.look("/a"), Entry::Unknown, "the last step is one too many");
        assert!(effort.is_spent());
        assert!(!effort.spend(0));
        assert_eq!(counted.list("/a"), Listing::Untold);
    }
}
