//! A plan as other engines see it: what is mounted where, from the top down, and what runs.
//!
//! Our own plan works in place, on trees that it holds on to. Others start from paths: so every
//! mount here names what the host has at a path, and a deeper one always comes after those above it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palisade_policy::jail::{Entry, Lookup};

use super::CannotExport;
use super::lack::{Lack, Missed};
use super::shell::text;
use crate::build::ROOTS_OWN;
use crate::plan::Plan;
use crate::seccomp::{Arch, Groups, Nesting};
use crate::step::{Access, Identity, Limit, Namespace, Shape, Step, Tree};

/// What stands in a plan, for engines.
pub(super) struct Scene<'p> {
    pub(super) namespaces: &'p [Namespace],
    pub(super) identity: Option<Identity>,
    /// From the top down.
    pub(super) mounts: Vec<Mount>,
    /// The project, if it cannot be written, and everything that can.
    pub(super) trees: Vec<(PathBuf, Access)>,
    /// Bytes of memory of all processes, and how many of them, if a control group holds that.
    pub(super) group: Option<(u64, Option<u64>)>,
    pub(super) filter: Option<(Arch, Nesting, Groups)>,
    pub(super) limits: Vec<Limit>,
    pub(super) cwd: &'p Path,
    pub(super) argv: &'p [String],
    pub(super) environment: Vec<(String, String)>,
    pub(super) missed: Missed,
    /// Whether nothing is there but what is attached.
    pub(super) bare: bool,
}

/// Something at a path.
#[derive(Clone, Debug)]
pub(super) struct Mount {
    pub(super) at: PathBuf,
    pub(super) what: What,
}

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// An empty folder in memory.
    Memory { size: Option<u64>, mode: u32 },
    /// What the host has there.
    Tree(Access),
    /// A text in place of a file.
    Text(String),
    /// What the host has there, mounted on itself so that it stays.
    Pin,
    /// Something that can neither be read nor written.
    Cover(Shape),
    /// An empty folder that keeps the name from being made.
    Reserved,
    /// What the host has there, read-only.
    Sealed,
}

impl<'p> Scene<'p> {
    pub(super) fn of(plan: &'p Plan, lookup: &dyn Lookup) -> Result<Self, CannotExport> {
        let mut scene = Self {
            namespaces: &[],
            identity: None,
            mounts: Vec::new(),
            trees: Vec::new(),
            group: None,
            filter: None,
            limits: Vec::new(),
            cwd: Path::new("/"),
            argv: &[],
            environment: Vec::new(),
            missed: Missed::of(plan),
            bare: false,
        };
        for step in plan.steps() {
            scene.take(step, plan, lookup)?;
        }
        if scene.identity.is_some_and(|it| it.uid != it.outer_uid) {
            scene.missed.add(
                Lack::Identity,
                "root inside is root outside, but for capabilities, masks and what is read-only",
            );
            scene.cover(ROOTS_OWN.iter().map(PathBuf::from), lookup)?;
        }
        let unbounded = scene.identity.is_some_and(|it| it.uid == 0 || it.outer_uid == 0);
        if unbounded && scene.limits.iter().any(|limit| matches!(limit, Limit::Processes(_))) {
            scene.missed.add(Lack::Processes, "the kernel does not count those of root");
        }
        if plan.bounds().memory.is_some() {
            scene.missed.add(Lack::Memory, "the sum of all processes is not bounded");
        }
        scene.settle();
        Ok(scene)
    }

    /// Returns whether the command can write somewhere in `path` or above it.
    pub(super) fn may_write(&self, path: &Path) -> bool {
        let writable = |mount: &Mount| matches!(mount.what, What::Tree(Access::Write));
        self.mounts.iter().any(|mount| writable(mount) && path.starts_with(&mount.at))
    }

    /// Returns the names that an empty folder keeps from being made.
    pub(super) fn reserved(&self) -> impl Iterator<Item = &Path> {
        let reserved = self.mounts.iter().filter(|mount| matches!(mount.what, What::Reserved));
        reserved.map(|mount| mount.at.as_path())
    }

    fn take(
        &mut self,
        step: &'p Step,
        plan: &Plan,
        lookup: &dyn Lookup,
    ) -> Result<(), CannotExport> {
        match step {
            Step::Namespaces(list) => self.namespaces = list,
            Step::Identity(identity) => self.identity = Some(*identity),
            Step::Group { memory, processes, .. } => self.group = Some((*memory, *processes)),
            Step::EmptyRoot => self.bare = true,
            // Every engine makes a /dev of its own.
            Step::Tmpfs { at, .. } if at == Path::new("/dev") => {}
            Step::Tmpfs { at, size, mode } => {
                self.add(at, What::Memory { size: *size, mode: *mode });
            }
            Step::Attach { tree, at } => match access(plan, *tree) {
                Some(Access::Device) | None => {}
                Some(access) => {
                    self.trees.push((at.clone(), access));
                    self.add(at, What::Tree(access));
                }
            },
            Step::Hide { at, names, .. } => {
                self.add(at, What::Tree(Access::Read));
                self.cover(names.iter().map(|name| at.join(name)), lookup)?;
                let what = "hidden names are covered: they can be seen, and not read";
                self.missed.add(Lack::Absence, what);
                let what = "sockets of the host in the home folder can be reached";
                self.missed.add(Lack::Sockets, what);
            }
            Step::Cover { at, shape } => self.add(at, What::Cover(*shape)),
            Step::Mask(paths) => self.cover(paths.iter().cloned(), lookup)?,
            Step::Show { at, text } => self.add(at, What::Text(text.clone())),
            Step::Reserve(paths) => paths.iter().for_each(|path| self.add(path, What::Reserved)),
            Step::Pin(path) => self.add(path, What::Pin),
            Step::Protect(path) => self.seal(path, lookup),
            Step::Seccomp { arch, nesting, groups, .. } => {
                self.filter = Some((*arch, *nesting, *groups));
            }
            Step::Limit(limit) => self.limits.push(*limit),
            Step::Enter(cwd) => self.cwd = cwd,
            Step::Exec { argv, environment, .. } => {
                self.argv = argv;
                self.environment = environment.iter().map(searched).collect();
            }
            Step::Cache { at, .. } => {
                self.missed.add(Lack::Caches, format!("`{}` cannot be written", at.display()));
            }
            Step::Landlock { .. } => self.missed.add(Lack::Landlock, "there is no second wall"),
            Step::Prove { .. } => {
                let what = "nothing tries the walls before the command starts";
                self.missed.add(Lack::SelfTest, what);
            }
            Step::Inlets(_) => self.missed.add(Lack::Hosts, "no host can be reached"),
            Step::Publish(_) => {
                self.missed.add(Lack::Published, "servers inside are not reached from the host");
            }
            Step::TraceWrites(_) => self.missed.add(Lack::Trace, "writes in vain are not told"),
            // What engines do by themselves, or name as missing.
            Step::Keep(_)
            | Step::SealRoot
            | Step::CloseRoot
            | Step::Seatbelt { .. }
            | Step::FreshProc
            | Step::FreshTerminals
            | Step::MakeFolder(_)
            | Step::MakeFile(_)
            | Step::MakeLink { .. }
            | Step::LoopbackUp
            | Step::Undumpable
            | Step::NoCapabilities
            | Step::NoNewPrivileges
            | Step::Adopt
            | Step::LandlockAlone(_)
            | Step::Scratch(_)
            | Step::Reaper
            | Step::Session
            | Step::Descriptors => {}
        }
        Ok(())
    }

    fn add(&mut self, at: &Path, what: What) {
        self.mounts.push(Mount { at: at.into(), what });
    }

    /// Covers those of the paths that are there. A link is none: what it leads to is covered. A path
    /// that is no text could be there, and no command can name it.
    fn cover(
        &mut self,
        paths: impl Iterator<Item = PathBuf>,
        lookup: &dyn Lookup,
    ) -> Result<(), CannotExport> {
        for path in paths {
            let shape = match lookup.look(text(&path)?) {
                Entry::Folder => Shape::Folder,
                Entry::File | Entry::SharedFile | Entry::Other => Shape::File,
                // Whom the disk does not tell, it does not tell the command either.
                Entry::Absent | Entry::Link(_) | Entry::Unknown => continue,
            };
            self.add(&path, What::Cover(shape));
        }
        Ok(())
    }

    fn seal(&mut self, path: &Path, lookup: &dyn Lookup) {
        let is_reserved = |mount: &Mount| matches!(mount.what, What::Reserved) && mount.at == path;
        if self.mounts.iter().any(is_reserved) {
            return;
        }
        if let Some(Entry::Link(_)) = path.to_str().map(|path| lookup.look(path)) {
            let what = format!("the protected link `{}` can be replaced", path.display());
            return self.missed.add(Lack::Links, what);
        }
        self.add(path, What::Sealed);
    }

    /// Puts everything in order, and drops what the sealed root shows anyway.
    fn settle(&mut self) {
        let (cwd, trees) = (self.cwd, &mut self.trees);
        let is_around = |tree: &(PathBuf, Access)| cwd.starts_with(&tree.0);
        let around = trees.iter().filter(|tree| is_around(tree));
        let project = around.max_by_key(|(tree, _)| tree.components().count()).cloned();
        trees.retain(|tree| tree.1 == Access::Write || Some(tree) == project.as_ref());
        let replaced: Vec<PathBuf> = self
            .mounts
            .iter()
            .filter(|mount| matches!(mount.what, What::Memory { .. } | What::Cover(_)))
            .map(|mount| mount.at.clone())
            .collect();
        let bare = self.bare;
        self.mounts.retain(|mount| {
            bare || !matches!(mount.what, What::Tree(Access::Read))
                || replaced.iter().any(|above| mount.at.starts_with(above))
        });
        let rank = |what: &What| match what {
            What::Memory { .. } | What::Tree(_) => 0,
            What::Text(_) | What::Pin => 1,
            What::Cover(_) | What::Reserved => 2,
            What::Sealed => 3,
        };
        self.mounts.sort_by_key(|it| (it.at.components().count(), rank(&it.what)));
        // The same cover twice is one, and what is sealed on top of it would show it again. Sealed
        // ones come later.
        let mut covered = BTreeSet::new();
        self.mounts.retain(|it| match it.what {
            What::Cover(_) => covered.insert(it.at.clone()),
            What::Sealed => !covered.contains(&it.at),
            What::Memory { .. } | What::Tree(_) | What::Text(_) | What::Pin | What::Reserved => {
                true
            }
        });
    }
}

/// Returns a variable as engines may see it: they would look for programs in the current folder
/// where an entry of `PATH` is not absolute, and a plan does not.
fn searched((name, value): &(String, String)) -> (String, String) {
    if name != "PATH" {
        return (name.clone(), value.clone());
    }
    let folders: Vec<&str> = value.split(':').filter(|folder| folder.starts_with('/')).collect();
    (name.clone(), folders.join(":"))
}

/// Returns what may be done with a tree that the plan keeps.
fn access(plan: &Plan, tree: Tree) -> Option<Access> {
    plan.steps().iter().find_map(|step| {
        let Step::Keep(keep) = step else { return None };
        (keep.tree == tree).then_some(keep.access)
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;
    use crate::build::build;
    use crate::build::tests::{facts, order, permit};
    use crate::facts::Privilege;

    /// A disk full of folders.
    struct Folders;

    impl Lookup for Folders {
        fn look(&self, _: &str) -> Entry {
            Entry::Folder
        }
    }

    #[test]
    fn a_path_is_covered_once_and_stays_covered() {
        let plan = build(&permit(), &order(), &facts(Privilege::Ordinary)).unwrap();
        let mut scene = Scene::of(&plan, &Folders).unwrap();
        let paths = ["/srv/a", "/srv/b", "/srv/a", "/srv/c", "/srv/b"];
        scene.cover(paths.into_iter().map(PathBuf::from), &Folders).unwrap();
        scene.seal(Path::new("/srv/b"), &Folders);
        scene.seal(Path::new("/srv/d"), &Folders);
        scene.settle();
        let found = scene.mounts.iter().filter(|mount| mount.at.starts_with("/srv"));
        let found: Vec<String> =
            found.map(|mount| format!("{} {:?}", mount.at.display(), mount.what)).collect();
        let covers = ["a", "b", "c"].map(|name| format!("/srv/{name} Cover(Folder)"));
        assert_eq!(found, [&covers[..], &["/srv/d Sealed".to_owned()]].concat());
    }

    #[test]
    fn a_hidden_path_that_is_no_text_is_refused() {
        let plan = build(&permit(), &order(), &facts(Privilege::Ordinary)).unwrap();
        let mut scene = Scene::of(&plan, &Folders).unwrap();
        let path = PathBuf::from(OsString::from_vec(b"/srv/\xff".to_vec()));
        let refused = scene.cover(std::iter::once(path), &Folders);
        assert!(matches!(refused, Err(CannotExport::NoText(_))), "{refused:?}");
    }
}
