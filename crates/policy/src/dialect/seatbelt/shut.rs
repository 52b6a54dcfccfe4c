//! What stays shut inside writable folders.
//!
//! A profile tells files by their paths. Whoever may move a file, or a folder above it, takes it
//! out of every rule about its path; so what is hidden is not writable either, and the folders
//! above what is hidden or protected stay where they are.

use super::place::{depth, overlap};
use crate::name::{Folder, PathPattern};
use crate::policy::Policy;

/// What of a policy's writable folders is shut.
pub(super) struct Shut {
    /// Folders that may be written.
    pub(super) open: Vec<PathPattern>,
    /// Hidden paths inside them.
    pub(super) hidden: Vec<PathPattern>,
    /// What stays readable in those, and would be writable by the policy.
    pub(super) readable: Vec<PathPattern>,
    /// Folders that must not be moved.
    pub(super) pins: Vec<PathPattern>,
    /// Paths of which a folder above can be moved all the same.
    pub(super) movable: Vec<PathPattern>,
}

impl Shut {
    pub(super) fn new(policy: &Policy) -> Self {
        let files = &policy.files;
        let folders = distinct(files.write.values().map(Folder::as_pattern));
        let (hides, opens) = (distinct(files.hide.values()), distinct(files.allow_read.values()));
        let reopened = |folder: &PathPattern, hide: &PathPattern| {
            let deeper = |open: &PathPattern| match (depth(open), depth(hide)) {
                (Some(open), Some(hide)) => open >= hide,
                (None, _) | (_, None) => false,
            };
            opens.iter().any(|open| open.covers(folder) && deeper(open))
        };
        let is_open = |folder: &&PathPattern| {
            hides.iter().all(|hide| !hide.covers(folder) || reopened(folder, hide))
        };
        let open: Vec<PathPattern> = folders.iter().filter(is_open).cloned().collect();
        let inside = |path: &PathPattern| {
            open.iter().any(|folder| overlap(folder, path) && !path.covers(folder))
        };
        let hidden: Vec<PathPattern> = hides.iter().filter(|hide| inside(hide)).cloned().collect();
        let readable = opens.iter().filter(|open| {
            let covers = |folder: &&PathPattern| overlap(folder, open);
            let in_hidden = hidden.iter().any(|hide| overlap(hide, open));
            let in_shut = folders.iter().filter(covers).any(|folder| !is_open(&folder));
            in_hidden && inside(open) || in_shut
        });
        let readable = readable.cloned().collect();
        let mut shut = Self { open, hidden, readable, pins: Vec::new(), movable: Vec::new() };
        let closed = distinct(files.protect.values().chain(&shut.hidden));
        closed.iter().for_each(|path| shut.pin(path));
        shut
    }

    /// Pins the folders between a writable one and a path in it.
    fn pin(&mut self, path: &PathPattern) {
        let text = path.to_string();
        let names: Vec<&str> = text.split('/').skip(1).collect();
        let apart = self
            .open
            .iter()
            .filter(|one| self.open.iter().any(|other| !other.covers(one) && !one.covers(other)));
        let apart = apart.count() > 0;
        for folder in self.open.clone() {
            if !overlap(&folder, path) || path.covers(&folder) {
                continue;
            }
            let top = depth(&folder).unwrap_or_default();
            let mut sure = folder.covers(path);
            for end in top.max(1)..names.len() {
                let last = names.get(end - 1).copied().unwrap_or_default();
                let above = format!("/{}", names.get(..end).unwrap_or_default().join("/"));
                match above.parse::<PathPattern>() {
                    // Wherever such a folder goes below this one, the pattern finds it.
                    _ if last == "**" => sure &= !apart,
                    Ok(pin) if !is_wild(last) => {
                        if !self.pins.contains(&pin) {
                            self.pins.push(pin);
                        }
                    }
                    Ok(_) | Err(_) => sure = false,
                }
            }
            if !sure && !self.movable.contains(path) {
                self.movable.push(path.clone());
            }
        }
    }
}

/// Returns each pattern once.
pub(super) fn distinct<'p>(patterns: impl Iterator<Item = &'p PathPattern>) -> Vec<PathPattern> {
    let mut found: Vec<PathPattern> = Vec::new();
    for pattern in patterns {
        if !found.contains(pattern) {
            found.push(pattern.clone());
        }
    }
    found
}

/// Returns whether a name of a pattern may match several.
fn is_wild(name: &str) -> bool {
    format!("/{name}").parse::<PathPattern>().map_or(true, |name| name.has_wildcard())
}
