//! Our own state: what runs left behind is nobody's to read inside. It tells which projects there are
//! and what was agreed to for them, and holds what they have built.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use palisade_apply::sys::identity;
use palisade_apply::{Opening, straight_folder};
use palisade_plan::Order;
use palisade_policy::name::Folder;
use rustix::io::Errno;

use super::CannotRun;
use crate::places::{OWN, names_in, names_of};

/// The folder of all projects' caches.
const CACHES: &str = "caches";

/// The folder of our own state, as it was when a run looked at it.
#[derive(Clone, Debug)]
pub(super) struct OwnState {
    /// Its path without links.
    real: PathBuf,
    names: Vec<OsString>,
}

impl OwnState {
    /// Looks at the folder. One that is not there holds nothing.
    pub(super) fn look(state: &Path) -> Result<Self, CannotRun> {
        let (real, names) = match straight_folder(state, Opening::List) {
            Some((real, open)) => (real, names_of(open).and_then(Iterator::collect)),
            None => {
                let real = real(state);
                let names = names_in(&real).and_then(Iterator::collect);
                (real, names)
            }
        };
        Ok(Self { names: told(&real, names)?, real })
    }

    /// Looks at the folder, and makes those in it in which something may be kept before the command has
    /// ended: what is not there cannot be hidden.
    pub(super) fn made(state: &Path) -> Result<Self, CannotRun> {
        let found = Self::look(state)?;
        let has = |name: &&str| found.names.iter().any(|found| *found == **name);
        if OWN.iter().chain(&[CACHES]).all(has) {
            return Ok(found);
        }
        make(state);
        Self::look(state)
    }

    /// Hides everything in the state folder but the caches.
    pub(super) fn hide(&self, order: &mut Order) -> Result<(), CannotRun> {
        let known = OWN.iter().map(|name| self.real.join(name));
        let found = self.names.iter().filter(|name| *name != CACHES);
        add(order, known.chain(found.map(|name| self.real.join(name))))
    }

    /// Hides the caches of all projects but those of this one, which lie at `own` and are used from
    /// there: the folder itself cannot be hidden then.
    pub(super) fn hide_caches(
        &self,
        order: &mut Order,
        own: Option<&Path>,
    ) -> Result<(), CannotRun> {
        let caches = self.real.join(CACHES);
        let Some(own) = own.map(real) else { return add(order, [caches].into_iter()) };
        let names = told(&caches, names_in(&caches).and_then(Iterator::collect))?;
        let others = names.iter().map(|name| caches.join(name));
        add(order, others.filter(|other| !own.starts_with(other)))
    }
}

fn make(state: &Path) {
    // Not in a home that is another's: they would be ours there, and keep its owner out.
    let uid = identity::effective_uid();
    let above = state.ancestors().find_map(|folder| folder.metadata().ok());
    if above.is_none_or(|folder| folder.uid() != uid) {
        return;
    }
    for name in OWN.iter().chain(&[CACHES]) {
        // Where we cannot make them, nothing will be kept either.
        DirBuilder::new().recursive(true).mode(0o700).create(state.join(name)).ok();
    }
}

fn real(path: &Path) -> PathBuf {
    palisade_apply::real(path).unwrap_or_else(|_| path.to_owned())
}

/// Takes the names in a folder, if there is one.
fn told(folder: &Path, names: Result<Vec<OsString>, Errno>) -> Result<Vec<OsString>, CannotRun> {
    match names {
        Err(Errno::NOENT) => Ok(Vec::new()),
        names => names.map_err(|errno| CannotRun::OwnState {
            folder: folder.to_owned(),
            error: errno.into(),
        }),
    }
}

fn add(order: &mut Order, paths: impl Iterator<Item = PathBuf>) -> Result<(), CannotRun> {
    for path in paths {
        // Whoever works in there means to.
        if order.root.starts_with(&path) {
            continue;
        }
        let unnamed = |_| CannotRun::NoText { folder: path.clone() };
        let pattern = Folder::literal(&path).map_err(unnamed)?.as_pattern().clone();
        if !order.hide.contains(&pattern) {
            order.hide.push(pattern);
        }
    }
    Ok(())
}
