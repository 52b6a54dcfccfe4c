//! Our own state: what runs left behind is nobody's to read inside. It tells which projects there are
//! and what was agreed to for them, and holds what they have built.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use palisade_apply::sys::identity;
use palisade_plan::Order;
use palisade_policy::name::Folder;
use rustix::io::Errno;

use super::CannotRun;
use crate::places::{OWN, names_in};

/// The folder of all projects' caches.
const CACHES: &str = "caches";

/// Makes the folders in which something may be kept before the command has ended: what is not there
/// cannot be hidden.
pub(super) fn make(state: &Path) {
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

/// Hides everything in the state folder but the caches.
pub(super) fn hide(order: &mut Order, state: &Path) -> Result<(), CannotRun> {
    let state = real(state);
    let known = OWN.iter().map(|name| state.join(name));
    let found = names(&state)?.into_iter().filter(|path| path.file_name() != Some(CACHES.as_ref()));
    add(order, known.chain(found))
}

/// Hides the caches of all projects but those of this one, which lie at `own` and are used from
/// there: the folder itself cannot be hidden then.
pub(super) fn hide_caches(
    order: &mut Order,
    state: &Path,
    own: Option<&Path>,
) -> Result<(), CannotRun> {
    let caches = real(state).join(CACHES);
    let Some(own) = own.map(real) else { return add(order, [caches].into_iter()) };
    let others = names(&caches)?.into_iter().filter(|other| !own.starts_with(other));
    add(order, others)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Lists what lies in a folder, if there is one.
fn names(folder: &Path) -> Result<Vec<PathBuf>, CannotRun> {
    match names_in(folder).and_then(Iterator::collect::<Result<Vec<OsString>, _>>) {
        Ok(names) => Ok(names.iter().map(|name| folder.join(name)).collect()),
        Err(Errno::NOENT) => Ok(Vec::new()),
        Err(errno) => Err(CannotRun::OwnState { folder: folder.to_owned(), error: errno.into() }),
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
