//! Hidden names that come while a command runs.
//!
//! Who made them nobody tells: what a command makes under a hidden name is closed to it, too. A name
//! that a command has asked for in vain may stay unseen inside for a while, where the filesystem
//! remembers that it was not there; then there is nothing to cover yet, and somebody looks again.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use palisade_plan::{Coming, Note};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::again::mount_again;
use super::folders::{Folders, Heard};
use super::look::Identity;
use super::{Against, Guarded, Inside};
use crate::run::walk::{Extent, Walk, is_skipped, listed, walk};

/// In how many folders names are seen to come.
const FOLDERS: usize = 4000;

/// How much is covered: a command can make names faster than anybody can cover them.
const COVERED: usize = 250;

/// How often there is a look at what cannot be covered yet, and through folders that nobody tells of.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a name is watched again whose folders come and go at this moment.
const TRIES: u32 = 8;

/// What may come, and what has.
#[derive(Debug)]
pub(super) struct Come {
    coming: Coming,
    /// Single paths first, then what has matched a pattern.
    names: Vec<(Guarded, Option<Identity>)>,
    singles: usize,
    sweeps: Sweeps,
    /// Whether something is there that cannot be covered yet.
    waits: bool,
    covered: usize,
    /// Whether names may have come where nobody looked.
    missed: bool,
}

/// Looks through all folders, which take long.
#[derive(Debug, Default)]
struct Sweeps {
    last: Option<Instant>,
    /// Whether there has to be another one, as soon as that is not too soon.
    owed: bool,
}

impl Sweeps {
    /// Returns whether it is time for one, and takes it as done then. Where `anything` may have
    /// happened there is one, now or later.
    fn are_due(&mut self, anything: bool, now: Instant) -> bool {
        self.owed |= anything;
        let is_soon = self.last.is_some_and(|last| now.duration_since(last) < PAUSE);
        if !self.owed || is_soon {
            return false;
        }
        (self.last, self.owed) = (Some(now), false);
        true
    }
}

impl Come {
    pub(super) fn new(coming: &Coming) -> Self {
        // What it was made together with can go.
        let mut coming = coming.apart();
        let paths = std::mem::take(&mut coming.paths);
        let names = paths.iter().filter_map(|path| Guarded::new(path, Against::Sight));
        let names: Vec<_> = names.map(|name| (name, None)).collect();
        Self {
            singles: names.len(),
            names,
            coming,
            sweeps: Sweeps::default(),
            waits: false,
            covered: 0,
            missed: false,
        }
    }

    /// Returns how long nobody has to look, if nothing happens.
    pub(super) fn pause(&self) -> Option<Duration> {
        (self.waits || self.sweeps.owed).then_some(PAUSE)
    }

    /// Returns whether names may have come where nobody looked.
    pub(super) fn has_missed(&self) -> bool {
        self.missed
    }

    /// Hides what has come, after what was heard.
    pub(super) fn look(
        &mut self,
        heard: &Heard,
        folders: &mut Folders,
        inside: &Inside,
    ) -> Vec<Note> {
        if heard.all || !heard.folders.is_empty() {
            // Before anybody looks: what comes after the look is told.
            self.watch_singles(folders);
        }
        let mut came: Vec<PathBuf> = Vec::new();
        for path in &heard.names {
            let may = path.file_name().is_some_and(|name| self.coming.may_want(name));
            came.extend((may && self.coming.wants(path)).then(|| path.clone()));
        }
        if self.sweeps.are_due(heard.all, Instant::now()) {
            came.extend(self.sweep(self.coming.trees.clone(), folders));
        } else if !heard.folders.is_empty() {
            let in_tree = |it: &&PathBuf| self.coming.trees.iter().any(|tree| it.starts_with(tree));
            let skips = |it: &&PathBuf| it.file_name().is_some_and(is_skipped);
            let new = heard.folders.iter().filter(in_tree);
            let (skipped, new): (Vec<&PathBuf>, Vec<&PathBuf>) = new.partition(skips);
            self.missed |= !skipped.is_empty();
            let new = new.into_iter().cloned().collect();
            came.extend(self.sweep(new, folders));
        }
        let is_new = came.iter().filter(|path| self.add(path)).count() > 0;
        let is_told = || self.names.iter().any(|(name, _)| heard.is_about(name.path()));
        if is_new || self.waits || is_told() { self.cover(inside) } else { Vec::new() }
    }

    /// Notes a name, unless it is known.
    fn add(&mut self, path: &Path) -> bool {
        let known = self.coming.knows(path) || self.names.iter().any(|(it, _)| it.path() == path);
        if known || self.names.len() > COVERED + self.singles {
            self.missed |= !known;
            return false;
        }
        let Some(name) = Guarded::new(path, Against::Sight) else { return false };
        self.names.push((name, None));
        true
    }

    /// Asks to be told of the folder that each single path will come to, or of the one in which the
    /// first folder on the way will.
    fn watch_singles(&mut self, folders: &mut Folders) {
        let mut done: Vec<&Path> = Vec::new();
        for path in self.names.iter().take(self.singles).map(|(name, _)| name.path()) {
            for _ in 0..TRIES {
                let mut nearest = path.parent().unwrap_or(path);
                let told = loop {
                    if done.contains(&nearest) {
                        break Ok(());
                    }
                    match (folders.watch(nearest), nearest.parent()) {
                        (Err(Errno::NOENT | Errno::NOTDIR), Some(above)) => nearest = above,
                        (told, _) => break told,
                    }
                };
                self.missed |= told.is_err();
                done.push(nearest);
                // One of the folders on the way may have come before we were told.
                let below = path.ancestors().take_while(|it| *it != nearest).last();
                let is_there =
                    |it: &Path| it != path && it.symlink_metadata().is_ok_and(|it| it.is_dir());
                if told.is_err() || !below.is_some_and(is_there) {
                    break;
                }
                done.retain(|it| *it != nearest);
            }
        }
    }

    /// Goes through folders, asks to be told of them, and returns what is hidden by a pattern.
    fn sweep(&mut self, trees: Vec<PathBuf>, folders: &mut Folders) -> Vec<PathBuf> {
        let (coming, mut found, mut missed) = (&self.coming, Vec::new(), false);
        let open = |folder: &Path| {
            let told = match folders.count() < FOLDERS {
                true => folders.watch(folder),
                false => Err(Errno::NOSPC),
            };
            missed |= !matches!(told, Ok(()) | Err(Errno::NOENT | Errno::NOTDIR));
            listed(folder).ok()
        };
        let mut skipped = false;
        let extent = walk(trees.into_iter(), open, |seen| {
            skipped |= seen.is_skipped;
            let is_folder = seen.kind == FileType::Directory;
            if !coming.may_want(seen.name) && !is_folder {
                return Walk::Past;
            }
            let path = seen.path();
            if coming.knows(&path) {
                return Walk::Past;
            }
            if coming.wants(&path) {
                found.push(path);
                return Walk::Past;
            }
            if is_folder { Walk::Into } else { Walk::Past }
        });
        self.missed |= missed || skipped || extent == Extent::Partly;
        found
    }

    /// Covers whatever is there and was not.
    fn cover(&mut self, inside: &Inside) -> Vec<Note> {
        let mut notes = Vec::new();
        self.waits = false;
        for (name, seen) in &mut self.names {
            let is = Identity::at(name.path());
            if is == *seen {
                continue;
            }
            if is.is_some() && self.covered >= COVERED {
                self.missed = true;
                continue;
            }
            let done = if is.is_some() { mount_again(name, inside) } else { Ok(()) };
            let (code, what) = match (is, done) {
                // It came, and is gone again.
                (None, _) => {
                    *seen = None;
                    continue;
                }
                (Some(_), Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => {
                    self.waits = true;
                    continue;
                }
                (Some(_), Ok(())) => (
                    "hidden-came",
                    "came while the command ran, and is hidden now; until then it could be read"
                        .to_owned(),
                ),
                (Some(_), Err(errno)) => (
                    "hidden-lost",
                    format!("came while the command ran, and is not hidden: {errno}"),
                ),
            };
            self.covered += 1;
            *seen = is;
            notes.push(Note { code, message: format!("`{}` {what}", name.path().display()) });
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_missed_is_looked_for_soon_and_not_never() {
        let mut sweeps = Sweeps::default();
        let begun = Instant::now();
        assert!(!sweeps.are_due(false, begun), "nothing has happened");
        assert!(sweeps.are_due(true, begun));
        assert!(!sweeps.are_due(true, begun + PAUSE / 2), "too soon");
        assert!(sweeps.owed, "and not forgotten");
        assert!(!sweeps.are_due(false, begun + PAUSE / 2));
        assert!(sweeps.are_due(false, begun + PAUSE));
        assert!(!sweeps.owed && !sweeps.are_due(false, begun + 9 * PAUSE));
    }
}
