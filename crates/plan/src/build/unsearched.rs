//! Folders that their own user may not search, and the command, which can change that, may.

use palisade_policy::name::PathPattern;

use super::files::Files;
use super::hide::reaches;
use crate::facts::Facts;
use crate::order::Order;
use crate::plan::Note;

impl Files {
    /// Says what does not hold in folders in which nobody could look for names.
    pub(super) fn tell_unsearched(&mut self, order: &Order, facts: &Facts) {
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
