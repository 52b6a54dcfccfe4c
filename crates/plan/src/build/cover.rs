//! What is hidden in writable trees, where names cannot be taken away: it is covered.

use std::path::PathBuf;

use super::files::Files;
use super::is_folder;
use super::opened::Opened;
use crate::coming::{Coming, MATCHED, REPLACED, SINGLE};
use crate::facts::{Facts, Kind, Place};
use crate::paths::Lies as _;
use crate::step::{Shape, Step};

impl Files {
    /// Covers what is hidden but lies where it cannot be taken away.
    pub(super) fn cover(&mut self, hidden: &[&Place], trees: &[&Place], facts: &Facts) {
        let mut done: Vec<PathBuf> = Vec::new();
        for place in hidden {
            if place.names > 1 && place.leads_to == Kind::File {
                let what = format!("`{}` has other names, which stay", place.path.display());
                self.hide.lacks(what);
            }
            let shape = if is_folder(place.leads_to) { Shape::Folder } else { Shape::File };
            for at in shown_at(place, trees, facts) {
                if done.iter().any(|above| at.lies_in(above)) {
                    continue;
                }
                self.note("masked", format!("`{}` is masked, not absent", at.display()));
                self.steps.push(Step::Cover { at: at.clone(), shape });
                done.push(at);
            }
        }
        if !done.is_empty() {
            self.hide.watches(REPLACED.into());
        }
    }

    /// Says of what may come under a hidden name that it is hidden then.
    pub(super) fn await_hidden(&mut self, coming: Option<Coming>) {
        if let Some(coming) = &coming {
            if !coming.paths.is_empty() {
                self.hide.watches(SINGLE.into());
            }
            if !coming.trees.is_empty() {
                self.hide.watches(MATCHED.into());
            }
        }
        self.coming = coming;
    }

    /// Covers the host's sockets in writable trees, which would be doors.
    pub(super) fn cover_sockets(&mut self, trees: &[&Place], facts: &Facts, opened: &Opened<'_>) {
        let sockets = facts.places.iter().filter(|place| place.is == Kind::Socket);
        for place in sockets.filter(|place| !opened.has(&place.path)) {
            if trees.iter().any(|tree| place.at.lies_in(&tree.real)) {
                self.note("socket", format!("`{}` is covered", place.at.display()));
                self.steps.push(Step::Cover { at: place.at.clone(), shape: Shape::File });
            }
        }
    }
}

/// Returns every path in the trees at which something hidden can be seen: its own, and those at which
/// other mounts show the same.
pub(super) fn shown_at(place: &Place, trees: &[&Place], facts: &Facts) -> Vec<PathBuf> {
    if place.leads_to == Kind::Absent {
        return Vec::new();
    }
    let mut paths = vec![place.real.clone()];
    paths.extend(facts.aliases(&place.real));
    paths.retain(|path| trees.iter().any(|tree| path.lies_in(&tree.real)));
    paths
}
