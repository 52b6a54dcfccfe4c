//! Links that a command may have made, and what they must not open.
//!
//! A name in a policy grants what it names. Where it leads through a link in a folder that a command
//! can write, a command says what that is: `build/out` leads to `~/.config` in the next run, and grants
//! that. Such a name grants nothing. What it leads to can be named itself.

use std::path::{Path, PathBuf};

use super::caches;
use crate::facts::{Facts, Place};
use crate::order::Order;
use crate::paths::Lies as _;
use crate::plan::Note;

/// Folders in which a command may have made links, now or in a run before: the project, which can be
/// read-only this time, and whatever the policy lets be written.
pub(super) struct Ground<'f>(Vec<&'f Path>);

impl<'f> Ground<'f> {
    pub(super) fn of(order: &'f Order, facts: &'f Facts) -> Self {
        let shared = caches::shared(order);
        let named = |path: &PathBuf| facts.place(path);
        let places = order.write.iter().chain(&shared).filter_map(named);
        let mut folders: Vec<&Path> = vec![&order.root];
        folders.extend(order.others.iter().map(PathBuf::as_path));
        folders.extend(named(&order.root).map(|root| &*root.real));
        for place in places {
            folders.extend([&*place.at, &*place.real]);
        }
        Self(folders)
    }

    /// Returns the first link on the way to a place that a command may have made.
    pub(super) fn planted<'p>(&self, place: &'p Place) -> Option<&'p Path> {
        let in_ground = |link: &&PathBuf| {
            let folder = link.parent().unwrap_or(link);
            self.0.iter().any(|ground| folder.lies_in(ground))
        };
        place.links.iter().find(in_ground).map(PathBuf::as_path)
    }
}

/// Says that a name opens nothing.
pub(super) fn refused(place: &Place, link: &Path, code: &'static str) -> Note {
    let (path, real) = (place.path.display(), place.real.display());
    let message = format!(
        "`{path}` leads to `{real}` through the link `{}`, which a command can make, and opens \
         nothing; name `{real}` itself if that is meant",
        link.display()
    );
    Note { code, message }
}
