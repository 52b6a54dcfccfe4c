//! What becomes of paths that lead through links.
//!
//! What a policy grants is compared by name. A link in the project is the project's to turn, so a
//! name that leads through one grants whatever the link points at when somebody looks: `out` that
//! lies inside the root, and is `/etc` tomorrow. Such an entry of a project's list is left out,
//! trusted or not.
//!
//! What a policy closes is closed under both names: a link that is hidden would otherwise leave
//! what it points at in plain view.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use palisade_policy::Policy;
use palisade_policy::key::{Field as _, Grants, Ignored, Refusals, Sourced};
use palisade_policy::layer::{Layer, Resolved};
use palisade_policy::name::{Anchors, Folder, PathPattern};

/// Leaves out every folder that a project grants by a name that leads through a link.
pub(super) fn refuse(resolved: &mut Resolved) {
    let Resolved { policy, ignored, .. } = resolved;
    for (key, list) in
        [("files.write", &mut policy.files.write), ("tools.roots", &mut policy.tools.roots)]
    {
        let (linked, kept): (Vec<_>, Vec<_>) = list.entries().iter().cloned().partition(|entry| {
            entry.origin.layer == Layer::Project && leads_through_link(&entry.value.path())
        });
        if linked.is_empty() {
            continue;
        }
        *list = Grants::new(kept);
        ignored.extend(linked.into_iter().map(|Sourced::<Folder> { value, origin }| Ignored {
            key: key.into(),
            value: format!("{value} (leads through a link)"),
            origin,
        }));
    }
}

/// Hides and protects what links lead to, besides the links. A link to something that the project
/// or the home folder lies in is closed alone: its author cannot mean all of that.
pub(super) fn close_targets(policy: &mut Policy, anchors: &Anchors) {
    let mut places = Places::default();
    for list in [&mut policy.files.hide, &mut policy.files.protect] {
        let targets = list.entries().iter().filter_map(|entry| {
            let link = entry.value.literal()?;
            let target = Some(places.real(&link)).filter(|target| *target != link)?;
            let around = [Some(link.as_path()), Some(&anchors.root), anchors.home.as_deref()];
            if around.into_iter().flatten().any(|path| path.starts_with(&target)) {
                return None;
            }
            let value = Folder::literal(&target).ok()?.as_pattern().clone();
            Some(Sourced { value, origin: entry.origin.clone() })
        });
        let known: Vec<&PathPattern> = list.values().collect();
        let targets: Vec<_> = targets.filter(|target| !known.contains(&&target.value)).collect();
        list.merge(Refusals::new(targets));
    }
}

/// Where folders lead, each asked once: most paths of a policy lie side by side.
#[derive(Debug, Default)]
struct Places(HashMap<OsString, (PathBuf, Found)>);

/// Whether anything lies at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Found {
    Something,
    Nothing,
}

impl Places {
    /// Returns where a path leads; what does not exist yet lies where its folder leads.
    fn real(&mut self, path: &Path) -> PathBuf {
        self.place(path).0
    }

    fn place(&mut self, path: &Path) -> (PathBuf, Found) {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return (path.to_path_buf(), Found::Something);
        };
        let (above, found) = match self.0.get(folder.as_os_str()) {
            Some(known) => known.clone(),
            None => {
                let place = self.place(folder);
                self.0.insert(folder.into(), place.clone());
                place
            }
        };
        // In a folder that is not there, nothing is.
        let stat = (found == Found::Something).then(|| path.symlink_metadata().ok()).flatten();
        match stat {
            Some(stat) if stat.is_symlink() => match path.canonicalize() {
                Ok(real) => (real, Found::Something),
                Err(_) => (above.join(name), Found::Nothing),
            },
            Some(_) => (above.join(name), Found::Something),
            None => (above.join(name), Found::Nothing),
        }
    }
}

/// Answers whether some part of the path that exists is a link.
fn leads_through_link(path: &Path) -> bool {
    path.ancestors().any(|part| part.symlink_metadata().is_ok_and(|found| found.is_symlink()))
}
