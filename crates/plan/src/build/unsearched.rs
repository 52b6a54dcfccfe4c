//! Folders in which nobody looked for names: their own user may not, and the command, which can change
//! that, may; or there are too many.

use std::path::PathBuf;

use palisade_policy::name::PathPattern;

use super::files::Files;
use super::hide::{is_unsearched, reaches};
use super::{CannotPlan, Order};
use crate::facts::{Facts, Place, Searched};
use crate::paths::Lies as _;
use crate::plan::Note;

const TOO_MANY: &str = "names were not searched in all folders: there are too many";

const UNTOLD: &str = "a run that goes on here could not see all names when it began: what its command \
                      made under protected names is taken for the host's";

impl Files {
    /// Says that patterns of protected names do not hold in folders that nobody looked into.
    pub(super) fn tell_unprotected(&mut self) {
        self.protect.lacks(TOO_MANY.into());
        let message = format!("{TOO_MANY}; what a pattern protects in them may be changed");
        self.notes.push(Note { code: "unsearched", message });
    }

    /// Says that a run which goes on here has not told all that was there when it began.
    pub(super) fn tell_overlapping(&mut self, facts: &Facts, trees: &[&Place]) {
        let trees: Vec<PathBuf> = trees.iter().map(|tree| tree.real.clone()).collect();
        if facts.beside.iter().any(|account| account.leaves_open(&trees)) {
            self.protect.lacks(UNTOLD.into());
        }
    }

    /// Returns the folders in which something may be hidden or protected and nobody could look: they
    /// are hidden themselves, with all that is in them, and that is told.
    pub(super) fn unsearched<'f>(
        &mut self,
        order: &Order,
        facts: &'f Facts,
    ) -> Result<Vec<&'f Place>, CannotPlan> {
        let any = order
            .hide
            .iter()
            .any(|pattern| pattern.has_wildcard() && !is_unsearched(pattern, order));
        if facts.searched == Searched::Partly && any {
            self.hide.lacks(TOO_MANY.into());
            let message = format!("{TOO_MANY}; what a pattern hides in them may be seen");
            self.notes.push(Note { code: "unsearched", message });
        }
        if let Some(first) = facts.skipped.first().filter(|_| any) {
            let others = match facts.skipped.len() {
                1 => String::new(),
                more => format!(" and {} more folders like it", more - 1),
            };
            let what = format!("names were not searched in `{}`{others}", first.display());
            self.hide.lacks(what);
        }
        let mut closed = Vec::new();
        for folder in facts.unsearched() {
            let any = |patterns: &[PathPattern]| {
                patterns.iter().any(|pattern| reaches(pattern, folder, order, facts))
            };
            let (hide, protect) = (any(&order.hide), any(&order.protect));
            if !hide && !protect {
                continue;
            }
            let shown = folder.at.display();
            if order.root.lies_in(&folder.at) {
                return Err(CannotPlan::Missing {
                    require: order.require,
                    wall: "a look at the project",
                    why: format!("`{shown}` cannot be searched for what is hidden or protected"),
                    remedy: format!("let yourself in: chmod u+rwx {shown}"),
                });
            }
            let what = format!("`{shown}` could not be searched, and is closed as a whole");
            if hide {
                self.hide.lacks(what.clone());
            }
            if protect {
                self.protect.lacks(what.clone());
            }
            self.notes.push(Note { code: "unsearched", message: what });
            closed.push(folder);
        }
        Ok(closed)
    }
}
