//! The ground a policy lays: what may be written, what is protected, what is hidden.

use std::fmt;
use std::path::Path;

use super::lookup::{Lookup, NoLookup};
use super::marks::{Hits, MarkKind, Marks, Spelling, has_wildcard, is_special};
use super::place::{Access, Doubt, Names, Place, Region, Route, Standing};
use super::secret::{holds_secret, is_secret};
use super::text::{self, below, is_under};
use super::walk::{End, Last, Walk};
use crate::command::HOLE;
use crate::layer::Origin;
use crate::name::{PathPattern, Step};
use crate::policy::Policy;
use crate::text::byte;

/// The kernel's `PATH_MAX`.
const LONGEST: usize = 4096;

/// Folders that the sandbox replaces by private ones.
const TEMP: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Devices that keep nothing and reach nobody.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Folders of the system below `/`, on Linux and macOS.
const SYSTEM: [&str; 20] = [
    "Applications",
    "Library",
    "System",
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "nix",
    "opt",
    "private",
    "proc",
    "run",
    "sbin",
    "sys",
    "usr",
    "var",
];

/// Folders below `/` that hold people's homes.
const HOMES: [&str; 3] = ["Users", "home", "root"];

/// What a policy says about places, ready to be asked. Built once, asked for every path.
#[derive(Clone)]
pub struct Ground {
    root: String,
    home: Option<String>,
    writable: Vec<String>,
    /// `files.hide` and `files.allow_read`.
    hide: Marks,
    protect: Marks,
}

/// How a path is meant.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct How {
    /// What happens to a link at its end.
    pub last: Last,
    /// Whether its wildcards are the shell's.
    pub spelling: Spelling,
}

impl Ground {
    /// Lays the ground of `policy` for the project at `root`.
    ///
    /// `root` and `home` may be reached through links; what they lead to is what counts.
    pub fn new(policy: &Policy, root: &str, home: Option<&str>, lookup: &dyn Lookup) -> Self {
        let real_root = real(root, lookup);
        let real_home = home.map(|home| real(home, lookup));
        let moved = |pattern: &PathPattern| {
            // The root first: it may lie in the home folder.
            let moves = [(Some(root), Some(&real_root)), (home, real_home.as_ref())];
            moves.into_iter().find_map(|(from, to)| {
                let (from, to) = (from?, to?);
                (from != to).then(|| pattern.moved(Path::new(from), Path::new(to))).flatten()
            })
        };
        let files = &policy.files;
        let mut writable = Vec::new();
        for folder in files.write.values() {
            if let Some(path) = folder.path().to_str() {
                writable.push(real(path, lookup));
            }
        }
        let protect = [(MarkKind::Protect, files.protect.entries())];
        let hide = [
            (MarkKind::Hide, files.hide.entries()),
            (MarkKind::AllowRead, files.allow_read.entries()),
        ];
        let protect = Marks::new(&protect, moved, &real_root);
        let hide = Marks::new(&hide, moved, &real_root);
        Self { root: real_root, home: real_home, writable, hide, protect }
    }

    /// Lays a ground on which only the project root counts.
    pub fn bare(root: &str) -> Self {
        let root = real(root, &NoLookup);
        let (hide, protect) = (Marks::default(), Marks::default());
        Self { writable: vec![root.clone()], root, home: None, hide, protect }
    }

    /// Returns the project root, free of links.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Returns whether a pattern, made absolute, matches all that lies in the project root.
    pub(crate) fn empties(&self, path: &str) -> bool {
        below(path, &self.root).is_some_and(|below| {
            let below = below.trim_matches('/');
            !below.is_empty() && below.split('/').all(is_any_name)
        })
    }

    /// Returns where `path` leads for a program in the folder `cwd`.
    pub fn place(&self, path: &str, cwd: &str, lookup: &dyn Lookup) -> Place<'_> {
        self.place_with(path, cwd, lookup, How::default())
    }

    /// Returns where `path` leads, with a say in how it is read. A [`HOLE`] in it stands for any
    /// text.
    pub fn place_with(&self, path: &str, cwd: &str, lookup: &dyn Lookup, how: How) -> Place<'_> {
        // Nearly no path has a NUL, or the first byte of a hole.
        let is_odd = byte::has_either(path, 0, 0xEF);
        if is_odd && byte::has(path, 0) {
            return self.unplaced(path, Standing::Unknowable(Doubt::Nul));
        }
        if path.is_empty() || path.len() > LONGEST {
            return self.unplaced(path, Standing::Unknowable(Doubt::Length));
        }
        let hole = if is_odd { path.split_once(HOLE) } else { None };
        let (known, last, extent) = match hole {
            Some(("", _)) => return self.unplaced(path, Standing::Unknowable(Doubt::Hole)),
            // The component that the hole is a part of may turn out to be `..`.
            Some((known, _)) => {
                let end = known.rfind('/').map_or(0, |slash| slash + 1);
                (known.get(..end).unwrap_or_default(), Last::Follow, Extent::Start)
            }
            None => (path, how.last, Extent::All),
        };
        let (start, before, names) = match self.start(known, cwd) {
            Ok(start) => start,
            Err(standing) => return self.unplaced(path, standing),
        };
        let mut walk = Walk::new(start, cwd, lookup, before.len() + names.len());
        walk.along(before, Last::Follow, Spelling::Plain);
        walk.along(names, last, how.spelling);
        if walk.doubt == Some(Doubt::Loop) {
            return self.unplaced(path, Standing::Unknowable(Doubt::Loop));
        }
        self.judge(walk, extent, how.spelling)
    }

    /// Returns where a path starts, and the names to walk from there: those of the working folder,
    /// and its own.
    fn start<'p>(
        &'p self,
        path: &'p str,
        cwd: &'p str,
    ) -> Result<(&'p str, &'p str, &'p str), Standing> {
        // The root is known to be free of links: nobody need look at it again.
        let absolute = |path: &'p str| match below(path, &self.root) {
            Some(rest) => (self.root.as_str(), rest),
            None => ("", path),
        };
        if path.starts_with('/') {
            let (start, names) = absolute(path);
            return Ok((start, "", names));
        }
        let relative = |names: &'p str| {
            if !text::is_settled(cwd) {
                return Err(Standing::Unknowable(Doubt::Cwd));
            }
            let (start, before) = absolute(cwd);
            Ok((start, before, names))
        };
        let Some(tilde) = path.strip_prefix('~') else { return relative(path) };
        let (user, names) = tilde.split_once('/').unwrap_or((tilde, ""));
        match (user, &self.home) {
            ("", Some(home)) => Ok((home, "", names)),
            ("+", _) => relative(names),
            ("-", _) => Err(Standing::Unknowable(Doubt::Cwd)),
            (_, _) => Err(Standing::Outside(Region::Home)),
        }
    }

    fn judge(&self, walk: Walk<'_>, extent: Extent, spelling: Spelling) -> Place<'_> {
        let Walk { path, route, doubt, end, crossed, .. } = walk;
        let path = if path.is_empty() { "/".to_owned() } else { path };
        let lies = if end == End::Stream { Standing::Device } else { self.standing(&path) };
        let ours = match lies {
            Standing::Root | Standing::Inside | Standing::Granted | Standing::Temp => true,
            Standing::Device | Standing::Outside(_) | Standing::Unknowable(_) => false,
        };
        let standing = match (doubt, extent) {
            (Some(Doubt::Unseen), _) if !ours => lies,
            (Some(doubt), _) => Standing::Unknowable(doubt),
            (None, Extent::Start) if ours => Standing::Unknowable(Doubt::Tail),
            (None, Extent::Start | Extent::All) => lies,
        };
        let writes = self.writable.iter().any(|folder| is_under(&path, folder));
        Place {
            ground: self,
            standing,
            route,
            access: if writes { Access::Write } else { Access::Read },
            spelling,
            names: if end == End::Shared { Names::Several } else { Names::One },
            crossed: Some(crossed),
            path,
        }
    }

    fn standing(&self, path: &str) -> Standing {
        if path == self.root {
            Standing::Root
        } else if is_under(path, &self.root) {
            Standing::Inside
        } else if self.writable.iter().any(|folder| is_under(path, folder)) {
            Standing::Granted
        } else if TEMP.iter().any(|folder| is_under(path, folder)) {
            Standing::Temp
        } else if path.starts_with("/dev/") && DEVICES.contains(&path) {
            Standing::Device
        } else {
            Standing::Outside(self.region(path))
        }
    }

    fn region(&self, path: &str) -> Region {
        let names = path.strip_prefix('/').unwrap_or_default();
        let first = byte::split_once(names, b'/').map_or(names, |(first, _)| first);
        let near_home =
            self.home.as_deref().is_some_and(|home| is_under(path, home) || is_under(home, path));
        if first.is_empty() {
            Region::System
        } else if near_home || HOMES.contains(&first) {
            Region::Home
        } else if first == "dev" && path != "/dev" {
            Region::Device
        } else if SYSTEM.contains(&first) {
            Region::System
        } else {
            Region::Elsewhere
        }
    }

    fn unplaced(&self, path: &str, standing: Standing) -> Place<'_> {
        Place {
            ground: self,
            path: path.to_owned(),
            standing,
            route: Route::Straight,
            access: Access::Read,
            spelling: Spelling::Plain,
            names: Names::One,
            crossed: None,
        }
    }

    /// Returns who hides a path.
    pub(super) fn hides(&self, path: &str, spelling: Spelling) -> Option<&Origin> {
        hidden_by(&self.hide.hits(path, spelling), path, spelling)
    }

    /// Returns whether a path outside of the home folder, whose secrets are hidden by name, holds
    /// secrets of the machine.
    pub(super) fn is_secret(&self, path: &str, spelling: Spelling) -> bool {
        let at_home = self.home.as_deref().is_some_and(|home| is_under(path, home));
        !at_home && is_secret(path, spelling)
    }

    /// Returns whether something that is hidden, or a secret of the machine, lies below a folder,
    /// given by its normal path.
    pub(crate) fn holds_hidden(&self, folder: &str) -> bool {
        let at_home = self.home.as_deref().is_some_and(|home| is_under(folder, home));
        !at_home && holds_secret(folder) || self.hide.hidden_below(folder).is_some()
    }

    /// Returns who protects a path, and who protects something below it.
    pub(super) fn protects(
        &self,
        path: &str,
        spelling: Spelling,
    ) -> (Option<&Origin>, Option<&Origin>) {
        let hits = self.protect.hits(path, spelling);
        (hits.protect, hits.holds)
    }

    /// Returns whether `path` is or holds a folder that is mounted as a whole.
    pub(super) fn stands_on(&self, path: &str, spelling: Spelling) -> bool {
        let inner = |folder: &str| {
            self.writable.iter().any(|other| other != folder && is_under(folder, other))
        };
        let granted = self.writable.iter().filter(|folder| !inner(folder)).map(String::as_str);
        let mut folders =
            granted.chain(TEMP).chain([self.root.as_str()]).chain(self.home.as_deref());
        folders.any(|folder| holds(path, folder, spelling))
    }
}

/// `*`, `**`, `?*`, `*.*`: every name, or nearly.
pub(crate) fn is_any_name(name: &str) -> bool {
    name.bytes().all(|byte| matches!(byte, b'*' | b'?' | b'.')) && byte::has(name, b'*')
}

/// Without the index, which is longer than any message.
impl fmt::Debug for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ground").field("root", &self.root).finish_non_exhaustive()
    }
}

/// How much of a path is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Extent {
    All,
    Start,
}

/// Returns who hides `path`: of the patterns that name it or a folder above it the deepest counts,
/// and of two equals `allow_read`.
fn hidden_by<'g>(hits: &Hits<'g>, path: &str, spelling: Spelling) -> Option<&'g Origin> {
    let (depth, origin) = hits.hide?;
    // What a wildcard may match is not what it does match.
    let is_certain = spelling == Spelling::Plain || !has_wildcard(path);
    let open = hits.open.filter(|_| is_certain);
    open.is_none_or(|open| open < depth).then_some(origin)
}

/// Returns whether `path`, or something that it matches, is `folder` or lies above it.
fn holds(path: &str, folder: &str, spelling: Spelling) -> bool {
    // Nearly every path is told by its first letter.
    let first = |path: &str| path.as_bytes().get(1).copied();
    if first(path).is_some_and(|byte| !is_special(byte)) && first(path) != first(folder) {
        return false;
    }
    if spelling == Spelling::Plain || !has_wildcard(path) {
        return is_under(folder, path);
    }
    let mut folder = folder.split('/').skip(1);
    path.split('/').skip(1).all(|name| folder.next().is_some_and(|f| Step::pattern(name).may_be(f)))
}

/// Returns the normal form of an absolute path, free of the links that can be seen.
fn real(path: &str, lookup: &dyn Lookup) -> String {
    let mut walk = Walk::new("", "", lookup, path.len());
    walk.along(path, Last::Follow, Spelling::Plain);
    if walk.path.is_empty() { "/".to_owned() } else { walk.path }
}
