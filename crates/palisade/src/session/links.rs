//! What becomes of paths that lead through links.
//!
//! What a policy grants is compared by name. A link in the project is the project's to turn, so a
//! name that leads through one grants whatever the link points at when somebody looks: `out` that
//! lies inside the root, and is `/etc` tomorrow. Such an entry of a project's list is left out,
//! trusted or not.
//!
//! What a policy closes is closed under both names: a link that is hidden would otherwise leave
//! what it points at in plain view.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use palisade_apply::{Listing, Opening, straight_folder};
use palisade_policy::Policy;
use palisade_policy::key::{Field as _, Grants, Ignored, Refusals, Sourced};
use palisade_policy::layer::{Layer, Resolved};
use palisade_policy::name::{Anchors, Folder, PathPattern};

/// Leaves out everything that a project grants by a name that leads through a link.
pub(super) fn refuse(resolved: &mut Resolved) {
    let Resolved { policy, ignored, .. } = resolved;
    let folder = |folder: &Folder| Some(folder.path());
    ignored.extend(linked("files.write", &mut policy.files.write, folder));
    ignored.extend(linked("tools.roots", &mut policy.tools.roots, folder));
    ignored.extend(linked("files.allow_read", &mut policy.files.allow_read, PathPattern::literal));
}

/// Takes such entries off a list, and returns them; `path` is the one name that an entry has.
fn linked<T: Clone + Display>(
    key: &str,
    list: &mut Grants<T>,
    path: impl Fn(&T) -> Option<PathBuf>,
) -> Vec<Ignored> {
    let leads = |entry: &Sourced<T>| {
        entry.origin.layer == Layer::Project
            && path(&entry.value).is_some_and(|path| leads_through_link(&path))
    };
    let (linked, kept): (Vec<_>, Vec<_>) = list.entries().iter().cloned().partition(leads);
    if !linked.is_empty() {
        *list = Grants::new(kept);
    }
    let ignored = linked.into_iter().map(|Sourced { value, origin }| Ignored {
        key: key.into(),
        value: format!("{value} (leads through a link)"),
        origin,
    });
    ignored.collect()
}

/// Hides and protects what links lead to, besides the links. A link to something that the project
/// or the home folder lies in is closed alone: its author cannot mean all of that.
pub(super) fn close_targets(policy: &mut Policy, anchors: &Anchors) {
    let mut places = Places::around(anchors.home.as_deref());
    for list in [&mut policy.files.hide, &mut policy.files.protect] {
        let mut targets = Vec::new();
        for entry in list.entries() {
            let Some(link) = entry.value.as_literal() else { continue };
            let Some(target) = places.elsewhere(&link) else { continue };
            let around = [Some(&*link), Some(&anchors.root), anchors.home.as_deref()];
            if around.into_iter().flatten().any(|path| path.starts_with(&target)) {
                continue;
            }
            let Ok(target) = Folder::literal(&target) else { continue };
            if !list.values().any(|known| known == target.as_pattern()) {
                let value = target.as_pattern().clone();
                targets.push(Sourced { value, origin: entry.origin.clone() });
            }
        }
        list.merge(Refusals::new(targets));
    }
}

/// Where folders lead, each asked once: most paths of a policy lie side by side.
#[derive(Debug, Default)]
struct Places {
    /// The folder that most of them lie in, and its names.
    home: Option<(OsString, Place, Listing)>,
    /// By length and path: most are told apart by the first.
    others: BTreeMap<usize, BTreeMap<OsString, Place>>,
}

/// What is known of a path.
#[derive(Clone, Debug)]
struct Place {
    /// Where it leads, if not to itself.
    elsewhere: Option<PathBuf>,
    found: Found,
}

/// Whether anything lies at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Found {
    Something,
    Nothing,
}

impl Places {
    fn around(home: Option<&Path>) -> Self {
        let mut places = Self::default();
        places.home = home.map(|home| match straight_folder(home, Opening::List) {
            Some((real, open)) => {
                let elsewhere = Some(real).filter(|real| real != home);
                let place = Place { elsewhere, found: Found::Something };
                (home.into(), place, Listing::of(&open))
            }
            None => (home.into(), places.place(home), Listing::read(home)),
        });
        places
    }

    /// Returns where a path leads, if not to itself; what does not exist yet lies where its folder
    /// leads.
    fn elsewhere(&mut self, path: &Path) -> Option<PathBuf> {
        self.place(path).elsewhere
    }

    fn place(&mut self, path: &Path) -> Place {
        let text = path.as_os_str().as_bytes();
        // The paths of patterns are absolute and normal, so that the last slash parts them.
        let Some(slash) = text.iter().rposition(|byte| *byte == b'/').filter(|_| text != b"/")
        else {
            return Place { elsewhere: None, found: Found::Something };
        };
        let (folder, name) = text.split_at(slash.max(1));
        let (folder, name) = (OsStr::from_bytes(folder), name.strip_prefix(b"/").unwrap_or(name));
        if let Some((_, above, names)) = self.home.as_ref().filter(|(home, ..)| home == folder) {
            return match names.may_have(OsStr::from_bytes(name)) {
                true => look(path, above, name),
                false => Place { elsewhere: above.beside(name), found: Found::Nothing },
            };
        }
        let as_long = self.others.get(&folder.len());
        match as_long.and_then(|others| others.get(folder)) {
            Some(above) => look(path, above, name),
            None => {
                let above = self.place(Path::new(folder));
                let place = look(path, &above, name);
                self.others.entry(folder.len()).or_default().insert(folder.into(), above);
                place
            }
        }
    }
}

impl Place {
    /// Returns where a name in this folder is, if not where it says.
    fn beside(&self, name: &[u8]) -> Option<PathBuf> {
        Some(self.elsewhere.as_ref()?.join(OsStr::from_bytes(name)))
    }
}

/// Looks at a path, of which the folder is known.
fn look(path: &Path, above: &Place, name: &[u8]) -> Place {
    let beside = || above.beside(name);
    // In a folder that is not there, nothing is.
    let is_there = above.found == Found::Something;
    match is_there.then(|| path.symlink_metadata().ok()).flatten() {
        Some(stat) if stat.is_symlink() => match path.canonicalize() {
            Ok(real) => {
                let elsewhere = Some(real).filter(|real| real != path);
                Place { elsewhere, found: Found::Something }
            }
            Err(_) => Place { elsewhere: beside(), found: Found::Nothing },
        },
        Some(_) => Place { elsewhere: beside(), found: Found::Something },
        None => Place { elsewhere: beside(), found: Found::Nothing },
    }
}

/// Answers whether some part of the path that exists is a link.
fn leads_through_link(path: &Path) -> bool {
    path.ancestors().any(|part| part.symlink_metadata().is_ok_and(|found| found.is_symlink()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use palisade_policy::layer::Origin;
    use palisade_testkit::Project;

    use super::*;

    /// Closes some paths of a home folder, and returns what is closed besides them, below the
    /// folder that holds everything.
    fn closed(world: &Project, paths: &[&str]) -> Vec<String> {
        let home = world.path("home");
        let anchors = Anchors { root: world.path("home/project"), home: Some(home) };
        let read = |path: &&str| {
            let value = path.parse::<PathPattern>().unwrap().anchored(&anchors).unwrap();
            Sourced { value, origin: Origin::of(Layer::User) }
        };
        let written: Vec<_> = paths.iter().map(read).collect();
        let mut policy = Policy::default();
        policy.files.hide = Refusals::new(written.clone());
        close_targets(&mut policy, &anchors);
        let (own, more) = policy.files.hide.entries().split_at(written.len());
        assert_eq!(own, written, "what was closed stays so");
        let top = world.root().to_string_lossy().into_owned();
        let below = more.iter().map(|entry| entry.value.to_string().replace(&top, ""));
        below.collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn what_links_lead_to_is_closed_with_them() {
        let world = Project::new()
            .dir("home/project")
            .dir("store/keys")
            .dir("store/config")
            .file("store/netrc", "")
            .symlink("home/.ssh", "../store/keys")
            .symlink("home/.netrc", "../store/netrc")
            .symlink("home/.gone", "../store/gone")
            .symlink("home/.config", "../store/config")
            .symlink("store/config/gh", "../keys")
            .symlink("home/.all", "..")
            .symlink("home/.here", "project")
            .dir("home/.aws");
        for (paths, more) in [
            (&["~/.ssh"][..], &["/store/keys"][..]),
            (&["~/.netrc", "~/.aws", "~/.absent"], &["/store/netrc"]),
            (&["~/.gone"], &[]),
            (&["~/.config/op", "~/.config/a/b"], &["/store/config/a/b", "/store/config/op"]),
            (&["~/.config/gh", "~/.config/gh/x"], &["/store/keys", "/store/keys/x"]),
            (&["~/.all", "~/.here", "~/.all/x"], &["/x"]),
            (&["~/.aws/credentials", "~/.absent/deep/er"], &[]),
            (&["~/.ssh/*", "~/.ssh"], &["/store/keys"]),
        ] {
            assert_eq!(closed(&world, paths), more, "{paths:?}");
        }
    }
}
