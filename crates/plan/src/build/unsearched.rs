//! Folders in which nobody looked for names: their own user may not, and the command, which can change
//! that, may; or there are too many.

use palisade_policy::name::PathPattern;

use super::files::Files;
use super::hide::{is_unsearched, reaches};
use crate::facts::{Facts, Searched};
use crate::order::Order;
use crate::plan::Note;

impl Files {
    /// Says what does not hold in folders in which nobody could look for names, or nobody did.
    pub(super) fn tell_unsearched(&mut self, order: &Order, facts: &Facts) {
        let any = order
            .hide
            .iter()
            .any(|pattern| pattern.has_wildcard() && !is_unsearched(pattern, order));
        if facts.searched == Searched::Partly && any {
            let what = "names were not searched in all folders: there are too many";
            self.hide.lacks(what.into());
            let message = format!("{what}; what a pattern hides in them may be seen");
            self.notes.push(Note { code: "unsearched", message });
        }
        for folder in facts.unsearched() {
            let any = |patterns: &[PathPattern]| {
                patterns.iter().any(|pattern| reaches(pattern, folder, order, facts))
            };
            let (hide, protect) = (any(&order.hide), any(&order.protect));
            let what =
                format!("`{}` could not be searched: its mode forbids it", folder.at.display());
            if hide {
                self.hide.lacks(what.clone());
            }
            if protect {
                self.protect.lacks(what.clone());
            }
            if hide || protect {
                let message = format!("{what}; what is hidden or protected in it may not be");
                self.notes.push(Note { code: "unsearched", message });
            }
        }
    }
}
