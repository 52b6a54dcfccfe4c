//! Homes of tools that tools write to: each project gets its own layer over the real ones.

use std::path::{Path, PathBuf};

use super::files::is_private;
use super::{Owners, is_folder};
use crate::facts::{Facts, Place};
use crate::order::{Caches, Order};
use crate::paths::{Lies as _, below, sort_by_bytes};
use crate::step::{Access, Depth, Keep, Step, Tree};

/// A home of a tool below `~`.
struct Home {
    /// Where it is.
    path: &'static str,
    /// What in a project calls for it; nothing is every project.
    markers: &'static [&'static str],
    /// Variables that say where it is instead, and the folder in it that each means.
    variables: &'static [(&'static str, &'static str)],
}

const PYTHON: &[&str] = &["pyproject.toml", "setup.py", "requirements.txt", "uv.lock"];

const HOMES: [Home; 9] = [
    Home {
        path: ".cache",
        markers: &[],
        variables: &[
            ("XDG_CACHE_HOME", ""),
            ("GOCACHE", "go-build"),
            ("PIP_CACHE_DIR", "pip"),
            ("UV_CACHE_DIR", "uv"),
        ],
    },
    Home { path: ".cargo", markers: &["Cargo.toml"], variables: &[("CARGO_HOME", "")] },
    Home { path: ".npm", markers: &["package.json"], variables: &[("npm_config_cache", "")] },
    Home { path: ".local/share/pnpm", markers: &["pnpm-lock.yaml"], variables: &[] },
    Home { path: "go", markers: &["go.mod"], variables: &[("GOPATH", "")] },
    Home {
        path: ".gradle",
        markers: &["build.gradle", "build.gradle.kts"],
        variables: &[("GRADLE_USER_HOME", "")],
    },
    Home { path: ".m2", markers: &["pom.xml"], variables: &[] },
    Home { path: ".bun", markers: &["bun.lock", "bun.lockb"], variables: &[] },
    Home { path: ".deno", markers: &["deno.json", "deno.jsonc"], variables: &[("DENO_DIR", "")] },
];

/// What plans do about the homes of tools.
#[derive(Default)]
pub(super) struct Cached {
    /// Trees to keep: a project's layers.
    pub(super) keeps: Vec<Keep>,
    /// Puts the layers in place, once everything else is.
    pub(super) steps: Vec<Step>,
    /// Where tools may write.
    pub(super) writable: Vec<PathBuf>,
    /// Says to tools where to write instead.
    pub(super) environment: Vec<(String, String)>,
}

/// Returns the folders that a store has for the homes of tools, by name.
pub(crate) fn names() -> impl Iterator<Item = String> {
    HOMES.iter().map(|home| name(home.path))
}

/// Returns every path that planning caches asks about.
pub(crate) fn questions(order: &Order) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = shared(order);
    let Caches::Private { store } = &order.caches else { return paths };
    for home in &HOMES {
        paths.extend(home.markers.iter().flat_map(|marker| marked(order, marker)));
        paths.extend(order.home.iter().map(|folder| below(folder, home.path.as_ref())));
        paths.extend(store.iter().map(|store| store.join(name(home.path))));
    }
    paths.extend(PYTHON.iter().flat_map(|marker| marked(order, marker)));
    paths
}

/// Returns the files of a project that call for caches: if none is there, a plan has no use for a
/// store.
pub(crate) fn markers(order: &Order) -> Vec<PathBuf> {
    let names = HOMES.iter().flat_map(|home| home.markers).chain(PYTHON);
    let mut paths: Vec<PathBuf> = names.flat_map(|marker| marked(order, marker)).collect();
    sort_by_bytes(&mut paths);
    paths.dedup();
    paths
}

/// Returns the real homes, where the policy lets them be written.
pub(super) fn shared(order: &Order) -> Vec<PathBuf> {
    match (&order.caches, &order.home) {
        (Caches::Shared, Some(home)) => HOMES.iter().map(|one| home.join(one.path)).collect(),
        (Caches::Shared | Caches::Off | Caches::Private { .. }, _) => Vec::new(),
    }
}

/// Plans the layers of a project; `first` is the number of the next tree.
pub(super) fn plan(order: &Order, facts: &Facts, owners: Owners, first: usize) -> Cached {
    let mut cached = Cached::default();
    let (Caches::Private { store }, Some(folder)) = (&order.caches, &order.home) else {
        return cached;
    };
    let is_there = |path: PathBuf| facts.place(&path).is_some_and(Place::exists);
    let is_marked =
        |markers: &[&str]| markers.iter().any(|marker| marked(order, marker).any(is_there));
    let any = is_marked(PYTHON) || HOMES.iter().any(|home| is_marked(home.markers));
    for home in &HOMES {
        let is_called_for = if home.markers.is_empty() { any } else { is_marked(home.markers) };
        if !is_called_for {
            continue;
        }
        let real = facts.place(&folder.join(home.path)).filter(|place| is_folder(place.leads_to));
        let layer = store.as_ref().and_then(|store| facts.place(&store.join(name(home.path))));
        // One that is a link was never made by us.
        let layer = layer.filter(|place| is_folder(place.is));
        let writable = |path: &Path| order.write.iter().any(|tree| path.lies_in(tree));
        match (real, layer) {
            // The policy lets the real one be written.
            (Some(real), _) if writable(&real.real) => {}
            (Some(real), Some(layer)) => {
                let tree = cached.keep(layer, layer.real.clone(), owners, first);
                cached.steps.push(Step::Cache { tree, at: real.real.clone() });
                cached.writable.push(real.real.clone());
            }
            (_, Some(layer)) => {
                // Not all of it: what stands at this name is a layer over the real home in later runs.
                let upper = layer.real.join("upper");
                let tree = cached.keep(layer, upper.clone(), owners, first);
                if is_private(&layer.real, facts) {
                    cached.steps.push(Step::MakeFolder(upper.clone()));
                }
                cached.steps.push(Step::Attach { tree, at: upper.clone() });
                cached.say(home, &upper);
                cached.writable.push(upper);
            }
            // Cold every time, but it works. A tool that only reads what is there needs nothing.
            (None, None) => cached.say(home, &Path::new("/tmp/.cache").join(name(home.path))),
            (Some(_), None) if home.path == ".cache" => {
                cached.say(home, &Path::new("/tmp/.cache").join(name(home.path)));
            }
            (Some(_), None) => {}
        }
    }
    cached.environment.retain(|(name, _)| !order.environment.iter().any(|(had, _)| had == name));
    cached
}

/// Says to tools where to write where no layer can be mounted: into a folder that goes with the run.
/// Homes that are there can be read where they are, but for those that tools cannot do without
/// writing to.
pub(super) fn cold(order: &Order, facts: &Facts, folder: &Path) -> Vec<(String, String)> {
    let mut cached = Cached::default();
    let (Caches::Private { .. }, Some(own)) = (&order.caches, &order.home) else {
        return cached.environment;
    };
    for home in &HOMES {
        let is_there = facts.place(&own.join(home.path)).is_some_and(Place::exists);
        if !is_there || home.path == ".cache" {
            cached.say(home, &folder.join(".cache").join(name(home.path)));
        }
    }
    cached.environment.retain(|(name, _)| !order.environment.iter().any(|(had, _)| had == name));
    cached.environment
}

impl Cached {
    /// Returns whether a layer covers a path, which lies below its home.
    pub(super) fn lies_over(&self, path: &Path) -> bool {
        let covers =
            |at: &PathBuf| path.strip_prefix(at).is_ok_and(|rest| !rest.as_os_str().is_empty());
        self.steps.iter().any(|step| matches!(step, Step::Cache { at, .. } if covers(at)))
    }

    fn keep(&mut self, layer: &Place, path: PathBuf, owners: Owners, first: usize) -> Tree {
        let tree = Tree(u16::try_from(first + self.keeps.len()).unwrap_or(u16::MAX));
        let owner = owners.of(Some(layer));
        let (access, depth, id) = (Access::Write, Depth::One, None);
        self.keeps.push(Keep { tree, path, access, depth, owner, id });
        tree
    }

    fn say(&mut self, home: &Home, at: &Path) {
        for (variable, below) in home.variables {
            let at = if below.is_empty() { at.to_owned() } else { at.join(below) };
            self.environment.push(((*variable).to_owned(), at.to_string_lossy().into_owned()));
        }
    }
}

/// Returns where a marker counts: in the project, and in the part of it that the command is in.
fn marked(order: &Order, marker: &str) -> impl Iterator<Item = PathBuf> {
    let inner = (order.cwd.as_os_str() != order.root.as_os_str()).then_some(&order.cwd);
    [&order.root].into_iter().chain(inner).map(move |folder| below(folder, marker.as_ref()))
}

/// Returns the name of a home's layer in a store.
fn name(home: &str) -> String {
    home.trim_start_matches('.').replace('/', "-")
}
