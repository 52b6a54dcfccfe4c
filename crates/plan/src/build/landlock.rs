//! A plan without namespaces: Landlock and the filter of system calls hold what they can, and the rest
//! is told.
//!
//! The first process stays outside of Landlock's domain, where the command's signals do not reach it,
//! and ends what the command leaves behind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_policy::name::PathPattern;
use palisade_policy::policy::NetworkMode;

use super::bare::Bare;
use super::files::{below_any, cwd, named};
use super::hide::{is_unsearched, tell_overlaid};
use super::inside::{self, DEVICES, ROOTS_OWN};
use super::level::Around;
use super::protect::{missing, paths_of, protected};
use super::{CannotPlan, Files, Unkept, caches, group, limits, loader, reached, second};
use crate::after::After;
use crate::coming::{Coming, READ};
use crate::facts::{Facts, Kind, Place, Privilege, Searched};
use crate::names::{Exactly, Names};
use crate::order::{Order, Trace};
use crate::paths::Lies as _;
use crate::plan::{Enforced, Layer, Level, Note, Plan, Strength};
use crate::seccomp::{Arch, Nesting, Sockets};
use crate::step::{Alone, Step};

pub(super) fn plan(
    order: &Order,
    facts: &Facts,
    arch: Arch,
    around: Around,
) -> Result<Plan, CannotPlan> {
    let sockets = match (order.network, around) {
        (NetworkMode::DenyAll, Around::Nothing) => Sockets::Pairs,
        // The network is the one of the sandbox around us, which leads nowhere.
        (NetworkMode::DenyAll, Around::Sandbox) => Sockets::Internet,
        (NetworkMode::Disabled, _) => Sockets::Internet,
        (mode @ (NetworkMode::AllowList | NetworkMode::Monitor), _) => {
            return Err(CannotPlan::Network(mode));
        }
    };
    let cwd = cwd(order, facts)?;
    let mut files = Files::bare(order, facts)?;
    let (alone, after, sealed) = files.alone(order, facts, around)?;
    let group = group(order, facts);
    let grouped = group.as_ref().map(|(_, note)| note.clone());
    let (limits, limited) = limits(order, group.as_ref().map(|(step, _)| step), &UNKEPT);

    let mut steps = vec![Step::Adopt];
    steps.extend(group.map(|(step, _)| step));
    steps.extend(facts.scratch.clone().map(Step::Scratch));
    steps.extend([Step::Undumpable, Step::NoCapabilities, Step::NoNewPrivileges]);
    steps.push(Step::Seccomp { arch, nesting: Nesting::Off, sockets, groups: facts.groups_made() });
    steps.extend([Step::Reaper, Step::Session, Step::Descriptors]);
    steps.extend(limits.into_iter().map(Step::Limit));
    steps.push(Step::Enter(cwd));
    let version = alone.version;
    steps.push(Step::LandlockAlone(alone));
    let (network, nesting) = (reached(order.network), Nesting::Off);
    steps.push(Step::Prove { sealed, network, nesting });
    steps.push(program(order, facts));

    let enforced = [
        (Layer::Namespaces, namespaces(around)),
        (Layer::Files, written(facts)),
        (Layer::Hide, files.hide),
        (Layer::Protect, files.protect),
        (Layer::Devices, Strength::Partial(vec!["there are no terminals of its own".into()])),
        (Layer::SystemCalls, Strength::Kernel),
        (Layer::Landlock, second::only(version)),
        (Layer::Network, connected(order, around)),
        (Layer::Privileges, privileges(facts)),
        (Layer::Limits, limited),
    ];
    let enforced = enforced.map(|(layer, strength)| Enforced { layer, strength }).into();
    let told_before = order.notes.iter().chain(&facts.left).cloned();
    let mut notes: Vec<Note> = told_before.chain(grouped).collect();
    notes.extend(files.notes);
    notes.extend(told(order, facts, around));
    let level = match around {
        Around::Sandbox => Level::Full,
        Around::Nothing => Level::Landlock,
    };
    let (steps, after) = (steps.into(), after.map(Arc::new));
    Ok(Plan { level, steps, enforced, notes, bounds: order.bounds, after, coming: None })
}

/// Returns the folders that are private where there are mounts, which here nothing can be read in, and
/// what lies in them and is shown all the same. In another sandbox they are that one's.
fn apart(order: &Order, facts: &Facts, around: Around) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut shut: Vec<PathBuf> = vec!["/dev".into()];
    match around {
        Around::Sandbox => return (shut, Vec::new()),
        Around::Nothing => shut.extend(["/run", "/tmp", "/var/tmp"].map(PathBuf::from)),
    }
    let resolver = Path::new("/etc/resolv.conf");
    let shown = [Some(&*order.root), order.home.as_deref(), Some(resolver)].into_iter().flatten();
    let shown = shown.filter_map(|path| facts.place(path)).map(|place| place.real.clone());
    let shown = shown.filter(|path| shut.iter().any(|shut| path.lies_in(shut) && path != shut));
    let shown = shown.collect();
    (shut, shown)
}

impl Files {
    /// Sorts what is written, hidden and protected into what Landlock can tell apart.
    fn alone(
        &mut self,
        order: &Order,
        facts: &Facts,
        around: Around,
    ) -> Result<(Alone, Option<After>, Vec<PathBuf>), CannotPlan> {
        for pattern in order.hide.iter().filter(|pattern| is_unsearched(pattern, order)) {
            let what = format!("`{pattern}` holds in the project and in what can be written only");
            self.hide.lacks(what);
        }
        let mut hidden = named(&order.hide, facts);
        let readable = self.readable(order, facts, &hidden);
        hidden.extend(self.unsearched(order, facts)?);
        hidden.retain(|place| !readable.iter().any(|open| open.real.is(&place.real)));
        if Bare::of(order, &readable).is_some() {
            let why = "the policy hides `/`, and only mounts can show what is left of it";
            return Err(CannotPlan::Missing {
                require: order.require,
                wall: "a root of its own",
                why: why.into(),
                remedy: "`palisade doctor` says what keeps namespaces from being made here".into(),
            });
        }
        loader::check(facts, &hidden, &readable)?;
        let is_hidden = |path: &Path| below_any(&hidden, path);
        let trees = self.writable_trees(order, facts, &is_hidden)?;
        let mut without = self.without(&hidden, facts);
        if Coming::new(order, facts, &trees, &hidden, &is_hidden).is_some() {
            self.hide.lacks(READ.into());
        }
        if let Privilege::Root { .. } = facts.privilege {
            // What only root can read stays root's, but for what has rules of its own.
            let files = ROOTS_OWN.iter().map(PathBuf::from);
            without.extend(files.filter(|path| !path.starts_with("/proc")));
        }
        without.sort();
        without.dedup();
        let fixed = self.fixed(order, facts, &trees, &hidden);
        let names = (Names::new(&order.protect, &[]), &Exactly::new(&order.protect));
        let missing = missing(order, facts, &trees);
        let after = After::new(&order.protect, names, facts, &trees, missing);
        if after.is_some() {
            let what = match facts.searched {
                Searched::Whole => {
                    "names that do not exist yet can be made, and are set aside at the end"
                }
                Searched::Partly => {
                    "names that do not exist yet can be made, and stay, but for single paths and \
                     the project's own repository: there is too much to look over at the end"
                }
            };
            self.protect.lacks(what.into());
            self.tell_overlapping(facts, &trees);
        }
        if !fixed.is_empty() {
            let what = "modes, owners, times and attributes of what is protected can be changed";
            self.protect.lacks(what.into());
            let what =
                "what the host moves to a protected name can be changed if it could be before";
            self.protect.lacks(what.into());
        }
        let any = order.protect.iter().any(PathPattern::has_wildcard);
        if facts.searched == Searched::Partly && any {
            self.tell_unprotected();
        }
        if !fixed.is_empty() {
            let message = "nothing new can be made in folders above what is protected or hidden \
                           in writable trees: without mounts these have no rights of their own";
            self.notes.push(Note { code: "fixed-folders", message: message.into() });
        }
        // Everybody may write to /tmp but for this wall.
        let mut sealed = self.sealed.clone();
        sealed.push("/tmp".into());
        let home = order.home.as_ref().and_then(|home| facts.place(home));
        let home = home.filter(|home| home.leads_to == Kind::Folder);
        sealed.extend(home.map(|home| home.real.clone()));
        let is_written = |folder: &Path| trees.iter().any(|tree| folder.lies_in(&tree.real));
        sealed.retain(|folder| !is_written(folder));
        let mut write: Vec<PathBuf> = trees.iter().map(|tree| tree.real.clone()).collect();
        write.extend(facts.scratch.clone());
        let (shut, shown) = apart(order, facts, around);
        let alone = Alone {
            version: facts.kernel.landlock,
            hidden: without,
            shut,
            readable: readable.iter().map(|place| place.real.clone()).chain(shown).collect(),
            write,
            fixed,
            devices: DEVICES.iter().map(|name| Path::new("/dev").join(name)).collect(),
        };
        Ok((alone, after, sealed))
    }

    /// Returns every path under which something hidden can be seen.
    fn without(&mut self, hidden: &[&Place], facts: &Facts) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for place in hidden {
            tell_overlaid(place, facts, hidden, &mut self.hide);
            for path in [&place.at, &place.real] {
                paths.push(path.clone());
                paths.extend(facts.aliases(path));
            }
            if place.names > 1 && place.leads_to == Kind::File {
                let what = format!("`{}` has other names, which stay", place.path.display());
                self.hide.lacks(what);
            }
        }
        paths.retain(|path| {
            let is_kernels = path.starts_with("/proc");
            if is_kernels {
                self.hide.lacks(format!("`{}` is the kernel's, and stays", path.display()));
            }
            !is_kernels
        });
        if !paths.is_empty() {
            let what = "what is hidden cannot be read, but seen to be there, and names in it are \
                        told to who watches it; folders above it cannot be listed, nor can what \
                        is made in them later be read";
            self.hide.lacks(what.into());
            let what = "what the host moves to the name of something hidden can be read if it could \
                        be before";
            self.hide.lacks(what.into());
        }
        paths
    }

    /// Returns what may not be changed in the trees.
    fn fixed(
        &mut self,
        order: &Order,
        facts: &Facts,
        trees: &[&Place],
        hidden: &[&Place],
    ) -> Vec<PathBuf> {
        let (names, exactly) = (Names::new(&order.protect, &[]), Exactly::new(&order.protect));
        let mut fixed = self.leading(&names, facts, trees);
        fixed.retain(|path| !below_any(hidden, path));
        for place in protected(&names, &exactly, facts) {
            for path in paths_of(place, facts, trees) {
                if below_any(hidden, &path) {
                    continue;
                }
                if place.names > 1 && place.leads_to == Kind::File {
                    let what = format!("`{}` has other names, which stay", path.display());
                    self.protect.lacks(what);
                }
                fixed.push(path);
            }
        }
        // A socket of the host cannot be connected to: there are none to connect.
        fixed.sort();
        fixed.dedup();
        fixed
    }
}

/// Returns the command, with a temporary folder of its own where it has one.
fn program(order: &Order, facts: &Facts) -> Step {
    let mut environment = order.environment.clone();
    environment.retain(|(name, _)| name != "TMPDIR");
    if let Some(scratch) = &facts.scratch {
        environment.extend(caches::cold(order, facts, scratch));
        environment.push(("TMPDIR".into(), scratch.to_string_lossy().into_owned()));
    }
    inside::program(&order.argv, environment)
}

fn namespaces(around: Around) -> Strength {
    match around {
        Around::Nothing => Strength::Absent(
            "not used at this level: other processes of this user can be seen, and their \
             priorities and limits changed"
                .into(),
        ),
        Around::Sandbox => Strength::Partial(vec![
            "they are those of the sandbox around this one, which were tried: its processes and \
             its temporary files are shared"
                .into(),
        ]),
    }
}

fn connected(order: &Order, around: Around) -> Strength {
    let mut strength = super::network(order, &Strength::Kernel);
    if around == Around::Sandbox {
        strength.lacks("the loopback is shared with the sandbox around this one".into());
    }
    strength
}

fn written(facts: &Facts) -> Strength {
    let mut strength = Strength::Kernel;
    strength.lacks("modes, owners, times and attributes of files outside can be changed".into());
    strength.lacks(match facts.scratch {
        Some(_) => {
            "/tmp is the host's and cannot be written; TMPDIR names a folder of its own".into()
        }
        None => "/tmp is the host's, and cannot be written".into(),
    });
    strength
}

fn privileges(facts: &Facts) -> Strength {
    match facts.privilege {
        Privilege::Ordinary => Strength::Kernel,
        Privilege::Root { .. } => {
            Strength::Partial(vec!["the command is root outside, without capabilities".into()])
        }
    }
}

fn told(order: &Order, facts: &Facts, around: Around) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |code, message: &str| notes.push(Note { code, message: message.into() });
    match around {
        Around::Sandbox => note(
            "nested",
            "this runs inside of another sandbox, whose walls were tried; Landlock and a filter \
             were added to them",
        ),
        Around::Nothing => note(
            "level-landlock",
            "namespaces cannot be had here: Landlock and a filter of system calls hold what they \
             can, and `enforced` lists what they cannot",
        ),
    }
    if order.network == NetworkMode::DenyAll && around == Around::Nothing {
        note("no-sockets", "no socket can be opened, not even to a server of the command's own");
    }
    if !order.unix.is_empty() {
        note("sockets-closed", "without mounts no socket of the host is open, whatever is listed");
    }
    if order.network == NetworkMode::DenyAll && !order.publish.is_empty() {
        note("not-published", "without namespaces no port is published");
    }
    if order.trace == Trace::Writes {
        note("not-traced", "writes in vain are not told without namespaces");
    }
    if facts.scratch.is_none() {
        note("no-scratch", "there is no folder for temporary files");
    }
    notes
}

/// As for any other command, but for what the kernel counts for all processes of a user.
const UNKEPT: Unkept = Unkept {
    processes: Some("processes: they are sampled; the kernel counts all of a user"),
    tmp: Some("tmp: the folder for temporary files is on the host's disk"),
};
