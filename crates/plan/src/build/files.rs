//! What can be read, written and seen.

use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use super::bare::Bare;
use super::hide::{Group, Hidden, groups, is_unsearched, overlay};
use super::opened::Opened;
use super::planted::{Ground, refused};
use super::{CannotPlan, Owners, caches, doors, inside, is_folder, loader};
use crate::after::After;
use crate::coming::{Coming, REPLACED};
use crate::facts::{Facts, Kind, Place};
use crate::names::Exactly;
use crate::order::{Order, TOOLCHAINS};
use crate::paths::Lies as _;
use crate::plan::{Note, Strength};
use crate::step::{Access, Depth, Keep, Owner, Shape, Step, Tree};

/// Folders that are replaced by private ones.
const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];

/// Places that are never writable trees: they are made anew, or are the machine's.
const NEVER: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The most trees that one plan attaches.
const MOST: usize = 4000;

/// The part of a plan that is about files.
pub(super) struct Files {
    pub(super) keeps: Vec<Keep>,
    pub(super) steps: Vec<Step>,
    pub(super) notes: Vec<Note>,
    pub(super) hide: Strength,
    pub(super) protect: Strength,
    /// Where Landlock lets everything be done.
    pub(super) writable: Vec<PathBuf>,
    /// Folders in which nothing can be made.
    pub(super) sealed: Vec<PathBuf>,
    pub(super) cwd: PathBuf,
    pub(super) after: Option<After>,
    pub(super) coming: Option<Coming>,
    /// Says to tools where their caches are.
    pub(super) environment: Vec<(String, String)>,
}

impl Files {
    /// Nothing is kept, hidden or protected yet.
    pub(super) fn bare(order: &Order, facts: &Facts) -> Result<Self, CannotPlan> {
        Ok(Self {
            keeps: Vec::new(),
            steps: Vec::new(),
            notes: Vec::new(),
            hide: Strength::Kernel,
            protect: Strength::Kernel,
            writable: ["/tmp", "/var/tmp", "/dev", "/proc", "/run"].map(PathBuf::from).into(),
            sealed: vec!["/".into()],
            cwd: cwd(order, facts)?,
            after: None,
            coming: None,
            environment: Vec::new(),
        })
    }

    pub(super) fn plan(order: &Order, facts: &Facts, owners: Owners) -> Result<Self, CannotPlan> {
        let mut made = Self::bare(order, facts)?;
        for pattern in order.hide.iter().filter(|pattern| is_unsearched(pattern, order)) {
            let what = format!("`{pattern}` holds in the project and in what can be written only");
            made.hide.lacks(what);
        }
        let devices = inside::keep_devices(&mut made.keeps);
        let mut hidden = named(&order.hide, facts);
        let readable = made.readable(order, facts, &hidden);
        hidden.extend(made.unsearched(order, facts)?);
        // Readable beats hidden where both name the same; above it, it says less.
        hidden.retain(|place| !readable.iter().any(|open| open.real.is(&place.real)));
        let bare = Bare::of(order, &readable);
        hidden.retain(|place| bare.is_none() || place.real != Path::new("/"));
        loader::check(facts, &hidden, &readable)?;
        let is_hidden = |path: &Path| {
            below_any(&hidden, path) || bare.as_ref().is_some_and(|bare| !bare.shows(path))
        };
        let trees = made.writable_trees(order, facts, &is_hidden)?;
        if trees.len() + hidden.len() > MOST {
            return Err(CannotPlan::TooMany(trees.len() + hidden.len()));
        }

        let opened = Opened::of(order, facts, (owners, &is_hidden), &mut made.notes);

        // Everything below is kept as it is now, before the root is sealed.
        let Hidden { groups, masked, emptied } =
            groups(order, facts, &trees, (&hidden, &readable, bare.as_ref()), &mut made.hide);
        let mut attach: Vec<(Tree, PathBuf, Kind)> = Vec::new();
        let mut overlays: Vec<(Tree, Group)> = Vec::new();
        for group in groups {
            let owner =
                if group.is_home { owners.of(facts.place(&group.over)) } else { Owner::Same };
            let tree = made.keep(&group.over, Access::Read, Depth::One, owner);
            overlays.push((tree, group));
        }
        let around = bare.is_none();
        for folder in shut_folders(order, facts, owners, &trees).into_iter().filter(|_| around) {
            let owner = owners.of(facts.place(&folder));
            let tree = made.keep(&folder, Access::Read, Depth::All, owner);
            attach.push((tree, folder, Kind::Folder));
        }
        for place in toolchains(order, facts, &trees, &hidden).into_iter().filter(|_| around) {
            let tree = made.keep(&place.real, Access::Read, Depth::All, owners.of(Some(place)));
            attach.push((tree, place.real.clone(), place.leads_to));
        }
        let open: Vec<&Place> = match &bare {
            // The project is attached below, with its own owner.
            Some(bare) => {
                bare.trees(&hidden).into_iter().filter(|p| p.real != order.root).collect()
            }
            None => readable.iter().copied().filter(|p| below_any(&hidden, &p.real)).collect(),
        };
        let open = open.iter().filter(|p| !trees.iter().any(|t| p.real.lies_in(&t.real)));
        for place in open {
            let owner = match bare {
                Some(_) => Bare::owner(place, owners),
                None => owners.of(Some(place)),
            };
            let tree = made.keep(&place.real, Access::Read, Depth::All, owner);
            attach.push((tree, place.real.clone(), place.leads_to));
        }
        let root = facts.place(&order.root).filter(|root| !is_hidden(&root.real) || around);
        if let Some(root) = root.filter(|root| !trees.iter().any(|t| root.real.lies_in(&t.real))) {
            // Readable at least: it may lie in a folder that is replaced, or be for its owner only.
            let tree = made.keep(&root.real, Access::Read, Depth::All, owners.of(Some(root)));
            attach.push((tree, root.real.clone(), root.leads_to));
        }
        let links = match &bare {
            Some(bare) => made.imply(bare, facts, &hidden, &mut attach),
            None => Vec::new(),
        };
        let gone: Vec<PathBuf> = emptied.iter().chain(&masked).cloned().collect();
        let revealed = made.revealed(&hidden, &overlays, &attach, (&trees, &gone), facts);
        for place in &trees {
            let tree = made.keep_written(place, owners);
            attach.push((tree, place.real.clone(), place.leads_to));
            made.writable.push(place.real.clone());
        }
        for (place, at) in opened.outside(&trees) {
            let owner = owners.of(Some(place));
            let tree = made.keep(&place.real, Access::Read, Depth::One, owner);
            attach.push((tree, at, Kind::Socket));
        }
        let resolver = facts.place(Path::new("/etc/resolv.conf"));
        let resolver = resolver.filter(|place| place.leads_to == Kind::File);
        let resolver = resolver.filter(|place| !is_hidden(&place.at) || around);
        if let Some(place) = resolver.filter(|place| is_private(&place.real, facts)) {
            let tree = made.keep(&place.real, Access::Read, Depth::One, Owner::Same);
            attach.push((tree, place.real.clone(), Kind::File));
        }

        // The home is where a caller's own rights would let a broken wall be seen.
        let home = order.home.as_ref().and_then(|home| facts.place(home));
        let home = home.filter(|home| is_folder(home.leads_to));
        made.sealed.extend(home.map(|home| home.real.clone()));
        made.sealed.retain(|folder| !trees.iter().any(|tree| folder.lies_in(&tree.real)));

        if bare.is_some() {
            made.steps.push(Step::EmptyRoot);
            made.steps.extend(["/dev", "/proc"].map(|own| Step::MakeFolder(own.into())));
        }
        made.private_folders(order, facts, around);
        inside::devices(devices, order.bounds.tmp, &mut made.steps);
        made.steps.push(Step::FreshProc);
        inside::machine(owners, facts, &mut made.steps);
        if around {
            made.steps.extend(inside::hosts(order, facts));
        }
        let layers: Vec<&Path> = overlays.iter().map(|(_, group)| &*group.over).collect();
        let attached: Vec<&Path> = attach.iter().map(|(_, at, _)| &**at).collect();
        let doors = doors::cover(facts, &trees, (&layers, &attached), &opened);
        let is_new = |path: &Path| is_private(path, facts) || !around;
        // Layers lie over homes of tools, which are not shown.
        let cached = if around {
            caches::plan(order, facts, owners, made.keeps.len())
        } else {
            caches::Cached::default()
        };
        // What may be written below such a home lies over its layer, or nothing written would last.
        let is_written = |path: &Path| trees.iter().any(|tree| tree.real == path);
        let (above, attach): (Vec<_>, Vec<_>) =
            attach.into_iter().partition(|(_, at, _)| is_written(at) && cached.lies_over(at));
        made.place(overlays, &emptied, attach, &is_new);
        made.steps.extend(links);
        made.keeps.extend(cached.keeps);
        made.steps.extend(cached.steps);
        made.steps.extend(above.into_iter().map(|(tree, at, _)| Step::Attach { tree, at }));
        made.steps.extend(revealed);
        let is_shown = |place: &&Place| !is_hidden(&place.at) && !is_hidden(&place.real);
        if let Some(place) = resolver.filter(is_shown).filter(|_| around) {
            made.steps.extend(inside::resolver(order, place));
        }
        made.writable.extend(cached.writable);
        made.environment = cached.environment;
        for at in masked {
            let folder = facts.place(&at).is_none_or(|place| is_folder(place.leads_to));
            let shape = if folder { Shape::Folder } else { Shape::File };
            made.steps.push(Step::Cover { at, shape });
        }
        made.cover(&hidden, &trees, facts);
        made.cover_sockets(&trees, facts, &opened);
        made.steps.extend(doors);
        made.after = made.protect(order, facts, &trees, &hidden);
        made.await_hidden(Coming::new(order, facts, &trees, &hidden, &is_hidden));
        if !around {
            // Empty, where the project itself is not shown.
            made.steps.push(Step::MakeFolder(made.cwd.clone()));
            made.steps.push(Step::CloseRoot);
        }
        Ok(made)
    }

    pub(super) fn keep(&mut self, path: &Path, access: Access, depth: Depth, owner: Owner) -> Tree {
        let tree = Tree(u16::try_from(self.keeps.len()).unwrap_or(u16::MAX));
        self.keeps.push(Keep { tree, path: path.into(), access, depth, owner, id: None });
        tree
    }

    /// Keeps a tree that can be written: only the one that was looked at.
    fn keep_written(&mut self, place: &Place, owners: Owners) -> Tree {
        let tree = self.keep(&place.real, Access::Write, Depth::All, owners.of(Some(place)));
        if let Some(kept) = self.keeps.last_mut() {
            kept.id = place.id;
        }
        tree
    }

    /// Returns what stays readable in hidden places. A name elsewhere that leads into one opens
    /// nothing, nor does one that leads through a link that a command may have made.
    pub(super) fn readable<'f>(
        &mut self,
        order: &Order,
        facts: &'f Facts,
        hidden: &[&Place],
    ) -> Vec<&'f Place> {
        let mut readable = named(&order.readable, facts);
        let ground = Ground::of(order, facts);
        readable.retain(|open| {
            if let Some(link) = ground.planted(open) {
                self.notes.push(refused(open, link, "readable-link"));
                return false;
            }
            let leads_in = |hidden: &&&Place| {
                let says = |name: &Path| open.path.lies_in(name);
                open.real.lies_in(&hidden.real)
                    && ![&hidden.path, &hidden.at, &hidden.real].iter().any(|name| says(name))
            };
            let Some(within) = hidden.iter().find(leads_in) else { return true };
            let (open, within) = (open.path.display(), within.real.display());
            let message = format!("`{open}` leads into `{within}`, which stays hidden");
            self.note("readable-link", message);
            false
        });
        readable
    }

    pub(super) fn note(&mut self, code: &'static str, message: String) {
        self.notes.push(Note { code, message });
    }

    /// Returns the trees that may be written, without those that lie in another.
    pub(super) fn writable_trees<'f>(
        &mut self,
        order: &Order,
        facts: &'f Facts,
        is_hidden: &dyn Fn(&Path) -> bool,
    ) -> Result<Vec<&'f Place>, CannotPlan> {
        let mut trees: Vec<&Place> = Vec::new();
        let mut planted: Vec<(&Place, &Path)> = Vec::new();
        let ground = Ground::of(order, facts);
        let shared = caches::shared(order);
        for path in order.write.iter().chain(&shared) {
            if shared.contains(path) && facts.place(path).is_none_or(|place| !place.exists()) {
                continue;
            }
            let Some(place) = facts.place(path).filter(|place| place.leads_to != Kind::Absent)
            else {
                let message = format!("`{}` is to be writable, and is not there", path.display());
                self.note("write-absent", message);
                continue;
            };
            if let Some(link) = ground.planted(place) {
                planted.push((place, link));
                continue;
            }
            let is_machine = NEVER.iter().any(|never| place.real.lies_in(never));
            let is_data = matches!(place.leads_to, Kind::Folder | Kind::File);
            if place.real == Path::new("/") || is_machine || !is_data {
                return Err(CannotPlan::NotWritable(place.real.clone()));
            }
            if is_hidden(&place.real) {
                let message = format!("`{}` is hidden, and so not writable", path.display());
                self.note("write-hidden", message);
                continue;
            }
            trees.push(place);
        }
        trees.sort_by(|a, b| a.real.cmp(&b.real));
        let mut kept: Vec<&Place> = Vec::new();
        for place in trees {
            if !kept.iter().any(|above| place.real.lies_in(&above.real)) {
                kept.push(place);
            }
        }
        // One that leads to where things can be written anyway opens nothing.
        planted.retain(|(place, _)| !kept.iter().any(|tree| place.real.lies_in(&tree.real)));
        self.notes.extend(planted.iter().map(|(place, link)| refused(place, link, "write-link")));
        Ok(kept)
    }

    fn private_folders(&mut self, order: &Order, facts: &Facts, around: bool) {
        for folder in PRIVATE.iter().map(Path::new) {
            let place = facts.place(folder);
            // A link leads to one of the others, which is enough.
            if place.is_some_and(|place| place.is == Kind::Folder) {
                let size = order.bounds.tmp;
                self.steps.extend((!around).then(|| Step::MakeFolder(folder.into())));
                self.steps.push(Step::Tmpfs { at: folder.into(), size, mode: 0o1777 });
            }
        }
        if facts.place(Path::new("/run")).is_some_and(|place| place.is == Kind::Folder) {
            self.steps.extend((!around).then(|| Step::MakeFolder("/run".into())));
            self.steps.push(Step::Tmpfs { at: "/run".into(), size: Some(1 << 20), mode: 0o755 });
        }
    }

    /// Puts everything in its place, from the top down.
    fn place(
        &mut self,
        overlays: Vec<(Tree, Group)>,
        emptied: &[PathBuf],
        attach: Vec<(Tree, PathBuf, Kind)>,
        is_new: &dyn Fn(&Path) -> bool,
    ) {
        let mut all: Vec<(usize, Vec<Step>)> = Vec::new();
        let depth = |path: &Path| path.components().count() * 2;
        for (tree, group) in overlays {
            let mut steps = Vec::new();
            if is_new(&group.over) {
                steps.push(Step::MakeFolder(group.over.clone()));
            }
            let at = depth(&group.over);
            steps.push(overlay(tree, group));
            all.push((at, steps));
        }
        for folder in emptied {
            let at = depth(folder) + 1;
            all.push((
                at,
                vec![Step::Tmpfs { at: folder.into(), size: Some(64 << 10), mode: 0o755 }],
            ));
        }
        for (tree, at, kind) in attach {
            let mut steps = Vec::new();
            if is_new(&at) || emptied.iter().any(|folder| at.lies_in(folder)) {
                let folder = is_folder(kind);
                steps.push(if folder { Step::MakeFolder } else { Step::MakeFile }(at.clone()));
            }
            let place = depth(&at) + 1;
            steps.push(Step::Attach { tree, at });
            all.push((place, steps));
        }
        all.sort_by_key(|(depth, _)| *depth);
        self.steps.extend(all.into_iter().flat_map(|(_, steps)| steps));
    }

    /// Covers what is hidden and would be shown again by a tree that is attached over the layer that
    /// hides it, or that brings it into a private folder.
    fn revealed(
        &mut self,
        hidden: &[&Place],
        overlays: &[(Tree, Group)],
        attach: &[(Tree, PathBuf, Kind)],
        (trees, gone): (&[&Place], &[PathBuf]),
        facts: &Facts,
    ) -> Vec<Step> {
        let mut paths: Vec<(PathBuf, Kind)> = Vec::new();
        for place in hidden {
            // What a link leads to is another of them.
            let named = (place.is != Kind::Link).then_some(&place.at);
            for path in named.into_iter().chain([&place.real]) {
                let others = facts.aliases(path).into_iter().chain([path.clone()]);
                paths.extend(others.map(|path| (path, place.leads_to)));
            }
        }
        // Those that can be written are looked at later.
        paths.retain(|(path, _)| !trees.iter().any(|tree| path.lies_in(&tree.real)));
        paths.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut covers: Vec<Step> = Vec::new();
        let mut done: Vec<PathBuf> = Vec::new();
        for (path, kind) in paths {
            let around = |at: &&PathBuf| path.lies_in(at) && path != **at;
            let shown = attach.iter().map(|(_, at, _)| at).filter(around);
            let Some(tree) = shown.max_by_key(|at| at.components().count()) else { continue };
            let below = |over: &Path| over.lies_in(tree) && over != tree;
            let hides = |group: &Group| path.lies_in(&group.over) && below(&group.over);
            let is_gone = overlays.iter().any(|(_, group)| hides(group))
                || gone.iter().any(|folder| path.lies_in(folder) && below(folder));
            if kind == Kind::Absent || is_gone || done.iter().any(|above| path.lies_in(above)) {
                continue;
            }
            let shape = if is_folder(kind) { Shape::Folder } else { Shape::File };
            self.note("masked", format!("`{}` is masked, not absent", path.display()));
            covers.push(Step::Cover { at: path.clone(), shape });
            done.push(path);
        }
        if !covers.is_empty() {
            self.hide.watches(REPLACED.into());
        }
        covers
    }
}

/// Returns what exists on the host of what the patterns name themselves, without what lies in it.
pub(super) fn named<'f>(patterns: &[PathPattern], facts: &'f Facts) -> Vec<&'f Place> {
    let exactly = Exactly::new(patterns);
    let named =
        |place: &&Place| place.exists() && (exactly.name(&place.path) || exactly.name(&place.at));
    facts.places.iter().filter(named).collect()
}

/// Returns whether `path` lies in a folder that is replaced by a private one.
pub(super) fn is_private(path: &Path, facts: &Facts) -> bool {
    let folders = PRIVATE.iter().chain(&["/run", "/dev"]).map(Path::new);
    let mut replaced =
        folders.filter(|folder| facts.place(folder).is_none_or(|place| place.is == Kind::Folder));
    replaced.any(|folder| path.lies_in(folder))
}

pub(super) fn below_any(places: &[&Place], path: &Path) -> bool {
    places.iter().any(|place| path.lies_in(&place.real))
}

/// Returns the homes of tools that are attached over what hides their neighbours.
fn toolchains<'f>(
    order: &Order,
    facts: &'f Facts,
    trees: &[&Place],
    hidden: &[&Place],
) -> Vec<&'f Place> {
    let Some(home) = &order.home else { return Vec::new() };
    let places = TOOLCHAINS.iter().filter_map(|name| facts.place(&home.join(name)));
    let plain = places.filter(|place| place.is == Kind::Folder);
    plain
        .filter(|place| !trees.iter().any(|tree| place.real.lies_in(&tree.real)))
        // One that holds something hidden stays under the layer that hides it.
        .filter(|place| !hidden.iter().any(|secret| secret.real.lies_in(&place.real)))
        .collect()
}

/// Returns the folders that only root may search, above trees that the sandbox must reach.
fn shut_folders(order: &Order, facts: &Facts, owners: Owners, trees: &[&Place]) -> Vec<PathBuf> {
    if owners == Owners::Same {
        return Vec::new();
    }
    let home = order.home.as_deref().unwrap_or(Path::new("/nonexistent"));
    let mut shut: Vec<PathBuf> = trees.iter().filter_map(|tree| tree.shut.clone()).collect();
    shut.extend(facts.place(&order.root).and_then(|root| root.shut.clone()));
    shut.sort();
    shut.dedup();
    shut.retain(|folder| !folder.lies_in(home) && !is_private(folder, facts));
    shut
}

pub(super) fn cwd(order: &Order, facts: &Facts) -> Result<PathBuf, CannotPlan> {
    let outside = || CannotPlan::Cwd { cwd: order.cwd.clone(), root: order.root.clone() };
    let place = facts.place(&order.cwd).ok_or_else(outside)?;
    let root = facts.place(&order.root).map_or(&order.root, |root| &root.real);
    if !is_folder(place.leads_to) || !place.real.lies_in(root) {
        return Err(outside());
    }
    Ok(place.real.clone())
}
