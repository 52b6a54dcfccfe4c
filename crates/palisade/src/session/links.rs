//! A project's paths may not lead through links.
//!
//! What a policy grants is compared by name. A link in the project is the project's to turn, so a
//! name that leads through one grants whatever the link points at when somebody looks: `out` that
//! lies inside the root, and is `/etc` tomorrow. Such an entry of a project's list is left out,
//! trusted or not.

use std::path::Path;

use palisade_policy::key::{Grants, Ignored, Sourced};
use palisade_policy::layer::{Layer, Resolved};
use palisade_policy::name::Folder;

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

/// Answers whether some part of the path that exists is a link.
fn leads_through_link(path: &Path) -> bool {
    path.ancestors().any(|part| part.symlink_metadata().is_ok_and(|found| found.is_symlink()))
}
