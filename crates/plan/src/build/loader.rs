//! What every program needs to start: the loader that the kernel hands it to, and the loader's cache.

use std::path::{Path, PathBuf};

use super::CannotPlan;
use crate::facts::{Facts, Kind, Place};
use crate::paths::{Lies as _, is_within};

/// The names that programs have for loaders.
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Where the loader looks up which libraries there are.
pub(super) const CACHE: &str = "/etc/ld.so.cache";

/// Folders that loaders are in, or that lead there.
const HOMES: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/// Returns what must be known of loaders, where a policy may hide them: `hidden` is what it hides by
/// name.
pub(crate) fn questions(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let near = |path: &PathBuf| {
        HOMES.iter().any(|home| is_within(path, home.as_ref()) || is_within(home.as_ref(), path))
    };
    if !hidden.iter().any(near) {
        return Vec::new();
    }
    let mut paths: Vec<PathBuf> = LOADERS.iter().map(PathBuf::from).collect();
    if hidden.iter().any(|path| path == Path::new("/")) {
        paths.push(CACHE.into());
    }
    paths
}

/// Returns the loaders that there are.
pub(super) fn loaders(facts: &Facts) -> impl Iterator<Item = &Place> {
    let known = LOADERS.iter().filter_map(|path| facts.place(Path::new(path)));
    known.filter(|place| place.leads_to == Kind::File)
}

/// Complains if a loader is hidden by name: no program would start, and the kernel would say that
/// the program is missing.
pub(super) fn check(
    facts: &Facts,
    hidden: &[&Place],
    readable: &[&Place],
) -> Result<(), CannotPlan> {
    for loader in loaders(facts) {
        for path in [&loader.at, &loader.real] {
            let Some(by) = hider(path, hidden, readable) else { continue };
            return Err(CannotPlan::Loader { loader: path.clone(), hidden: by.path.clone() });
        }
    }
    Ok(())
}

/// Returns what hides a path, unless something that lies deeper shows it again.
pub(super) fn hider<'p>(
    path: &Path,
    hidden: &[&'p Place],
    readable: &[&Place],
) -> Option<&'p Place> {
    let above = hidden.iter().copied().filter(|place| path.lies_in(&place.real));
    let nearest = above.max_by_key(|place| place.real.components().count())?;
    let opens = |open: &&Place| path.lies_in(&open.real) && open.real.lies_in(&nearest.real);
    (!readable.iter().any(opens)).then_some(nearest)
}
