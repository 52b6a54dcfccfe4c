//! From what is wanted and what there is to a list of steps.

pub(crate) mod bare;
pub(crate) mod caches;
mod cover;
mod doors;
mod files;
mod hide;
mod inside;
mod landlock;
mod level;
pub(crate) mod loader;
mod opened;
mod planted;
mod protect;
mod published;
mod second;
#[cfg(test)]
pub(crate) mod tests;
mod unconfined;
mod unsearched;

use std::path::PathBuf;
use std::sync::Arc;

use palisade_policy::decide::Permit;
use palisade_policy::policy::{NetworkMode, Require};

use crate::errno::meaning;
use crate::facts::{Facts, Idmap, Kind, Place, Privilege};
use crate::order::{Bounds, Order, Trace, Walls};
use crate::plan::{Enforced, Layer, Level, Note, Plan, Strength};
use crate::seccomp::{Nesting, Sockets};
use crate::step::{Identity, Limit, MappedBy, Namespace, Owner, Reached, Step};
use files::Files;
pub(crate) use inside::ROOTS_OWN;
use level::{Base, Users};
use unconfined::Why;

/// The user and group outside that a sandbox started by root has the rights of. No distribution
/// hands it out, and no filesystem reads it as negative.
pub const UNPRIVILEGED: u32 = 1_900_000_000;

/// Why a command cannot be confined as the policy demands. Nothing has run.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotPlan {
    /// There is nothing to run.
    #[error("there is no command to run")]
    NoCommand,
    /// A wall that the policy requires cannot be built here.
    #[error("the policy requires `{require}`, and {wall} cannot be had here: {why}")]
    Missing {
        /// What the policy requires.
        require: Require,
        /// Which wall.
        wall: &'static str,
        /// Why not.
        why: String,
        /// What lifts it.
        remedy: String,
    },
    /// A wall cannot be built now, for want of something that may be there again in a moment.
    #[error("{wall} cannot be had at the moment: {why}; nothing weaker is taken instead")]
    Short {
        /// Which wall.
        wall: &'static str,
        /// Why not.
        why: String,
    },
    /// A mode of the network that cannot be planned.
    #[error("network mode `{0}` needs namespaces, which cannot be had here")]
    Network(NetworkMode),
    /// The folder to start in is outside the project.
    #[error("`{}` is not a folder in the project `{}`", cwd.display(), root.display())]
    Cwd {
        /// The folder.
        cwd: PathBuf,
        /// The project.
        root: PathBuf,
    },
    /// Something that can never be a writable tree.
    #[error("`{}` cannot be made writable", .0.display())]
    NotWritable(PathBuf),
    /// No program could start.
    #[error(
        "no program could start: the policy hides `{}`, and with it the loader `{}`",
        hidden.display(), loader.display()
    )]
    Loader {
        /// The loader.
        loader: PathBuf,
        /// What the policy names.
        hidden: PathBuf,
    },
    /// Too many trees.
    #[error("the policy names too many paths ({0})")]
    TooMany(usize),
}

impl CannotPlan {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoCommand => "no-command",
            Self::Missing { .. } => "missing-wall",
            Self::Short { .. } => "shortage",
            Self::Network(_) => "network-mode",
            Self::Cwd { .. } => "cwd-outside",
            Self::NotWritable(_) => "not-writable",
            Self::Loader { .. } => "loader-hidden",
            Self::TooMany(_) => "too-many-paths",
        }
    }
}

/// Plans how the permitted command of `order` is confined on the host of `facts`.
///
/// # Errors
///
/// When the least confinement that the policy accepts cannot be had, or the order makes no sense
/// on this host. Nothing has run, and nothing will.
pub fn build(_: &Permit, order: &Order, facts: &Facts) -> Result<Plan, CannotPlan> {
    if order.argv.is_empty() {
        return Err(CannotPlan::NoCommand);
    }
    if let Walls::Down { by } = &order.walls {
        return unconfined::plan(order, &Why::Said(by.clone()));
    }
    let base = level::choose(order, facts)?;
    if facts.mounts.is_empty() && !matches!(base, Base::Nothing(_)) {
        return Err(unmounted(order));
    }
    let (arch, users) = match base {
        Base::Namespaces { arch, users } => (arch, users),
        Base::Landlock { arch, around } => return landlock::plan(order, facts, arch, around),
        Base::Nothing(why) => {
            let mut plan = unconfined::plan(order, &why)?;
            plan.notes.extend(facts.left.iter().cloned());
            return Ok(plan);
        }
    };
    let owners = owners(facts, users);
    let files = Files::plan(order, facts, owners)?;

    let mut steps = vec![Step::Namespaces(namespaces(order.network, users))];
    steps.push(Step::Identity(identity(facts, owners, users)));
    let group = group(order, facts);
    let grouped = group.as_ref().map(|(_, note)| note.clone());
    steps.extend(group.map(|(step, _)| step));
    // While the settings of the new network can be written: root's are read-only behind the seal.
    if order.network != NetworkMode::Disabled {
        steps.push(Step::LoopbackUp);
    }
    if is_filtered(order.network) {
        steps.push(Step::Inlets(facts.kernel.network));
    }
    let published = published::plan(order);
    steps.extend(published.step);
    steps.extend(files.keeps.into_iter().map(Step::Keep));
    steps.push(Step::SealRoot);
    steps.extend(files.steps);
    steps.extend([Step::Undumpable, Step::NoCapabilities, Step::NoNewPrivileges]);
    let landlock = second::wall(order, facts);
    if !matches!(landlock, Strength::Absent(_)) {
        steps.push(Step::Landlock { version: facts.kernel.landlock, write: files.writable });
    }
    let (nesting, sockets) = (order.nesting, Sockets::Own);
    steps.push(Step::Seccomp { arch, nesting, sockets, groups: facts.groups_made() });
    steps.extend([Step::Reaper, Step::Session, Step::Descriptors]);
    let (limits, limited) = own_limits(order, owners, facts);
    steps.extend(limits.into_iter().map(Step::Limit));
    steps.push(Step::Enter(files.cwd));
    steps.push(Step::Prove {
        sealed: files.sealed,
        network: reached(order.network),
        nesting: order.nesting,
    });
    if order.trace == Trace::Writes {
        steps.push(Step::TraceWrites(arch));
    }
    steps.push(inside::exec(order, files.environment));

    let (written, uncovered) = doors::held(facts, &landlock);
    let network = network(order, &landlock);
    let enforced = [
        (Layer::Namespaces, namespaces_hold(order)),
        (Layer::Files, written),
        (Layer::Hide, watched(order.nesting, files.hide)),
        (Layer::Protect, watched(order.nesting, files.protect)),
        (Layer::Devices, Strength::Kernel),
        (Layer::SystemCalls, system_calls(order.nesting)),
        (Layer::Landlock, landlock),
        (Layer::Network, network),
        (Layer::Privileges, privileges(owners, facts)),
        (Layer::Limits, limited),
    ];
    let enforced = enforced.map(|(layer, strength)| Enforced { layer, strength }).into();
    let told = order.notes.iter().chain(&facts.left).cloned();
    let notes = told.chain(grouped).chain(files.notes).chain(uncovered);
    let notes = notes.chain(published.notes).collect();
    let level = match facts.kernel.landlock {
        0 if order.nesting == Nesting::Off => Level::Landlock,
        _ => Level::Full,
    };
    let (after, coming) = (files.after.map(Arc::new), files.coming.map(Arc::new));
    Ok(Plan { level, steps: steps.into(), enforced, notes, bounds: order.bounds, after, coming })
}

/// Something is always mounted. Where that is not known, nobody knows under which other paths lies
/// what is hidden.
fn unmounted(order: &Order) -> CannotPlan {
    CannotPlan::Missing {
        require: order.require,
        wall: "hiding in every place",
        why: "/proc/self/mountinfo, which tells what is mounted where, cannot be read".into(),
        remedy: "mount /proc, and let it be read".into(),
    }
}

/// Returns the names of the folders that a store of caches has (see [`Caches`](crate::Caches)).
pub fn cache_names() -> Vec<String> {
    caches::names().collect()
}

fn namespaces(network: NetworkMode, users: Users) -> Vec<Namespace> {
    use Namespace::{Cgroup, Ipc, Mount, Name, Network, Process, User};
    let mut kinds = vec![User, Mount, Process, Network, Ipc, Name, Cgroup];
    kinds.retain(|kind| match kind {
        User => users == Users::Own,
        Network => network != NetworkMode::Disabled,
        Mount | Process | Ipc | Name | Cgroup => true,
    });
    kinds
}

/// Whether connections leave through the supervisor.
fn is_filtered(mode: NetworkMode) -> bool {
    matches!(mode, NetworkMode::AllowList | NetworkMode::Monitor)
}

/// Whether trees get other owners.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Owners {
    Same,
    Swapped,
}

impl Owners {
    /// Returns whose the files of the tree at `place` will be.
    fn of(self, place: Option<&Place>) -> Owner {
        match (self, place) {
            (Self::Swapped, Some(place)) => {
                let (uid, gid) = place.owner;
                Owner::Swapped { uid, gid }
            }
            (Self::Swapped, None) => Owner::Swapped { uid: 0, gid: 0 },
            (Self::Same, _) => Owner::Same,
        }
    }
}

fn owners(facts: &Facts, users: Users) -> Owners {
    match (facts.privilege, users) {
        (Privilege::Root { idmap: Idmap::Works }, Users::Own) => Owners::Swapped,
        // Other owners are the owners of another namespace of users.
        (Privilege::Root { .. } | Privilege::Ordinary, Users::Own | Users::Hosts) => Owners::Same,
    }
}

fn identity(facts: &Facts, owners: Owners, users: Users) -> Identity {
    let Facts { uid, gid, .. } = *facts;
    match owners {
        Owners::Swapped => Identity {
            uid,
            outer_uid: UNPRIVILEGED,
            gid,
            outer_gid: UNPRIVILEGED,
            mapped_by: MappedBy::Supervisor,
        },
        Owners::Same => Identity {
            uid,
            outer_uid: uid,
            gid,
            outer_gid: gid,
            mapped_by: match (facts.privilege, users) {
                (Privilege::Root { .. } | Privilege::Ordinary, Users::Hosts) => MappedBy::Nobody,
                // Root has groups to give up, which only the supervisor's map allows.
                (Privilege::Root { .. }, Users::Own) => MappedBy::Supervisor,
                (Privilege::Ordinary, Users::Own) => MappedBy::Itself,
            },
        },
    }
}

fn namespaces_hold(order: &Order) -> Strength {
    let mut strength = Strength::Kernel;
    if order.network == NetworkMode::Disabled {
        strength.lacks("the network is the host's".into());
    }
    strength
}

fn system_calls(nesting: Nesting) -> Strength {
    match nesting {
        Nesting::Off => Strength::Kernel,
        Nesting::UserNamespaces => {
            Strength::Partial(vec!["user namespaces and mounts are open inside".into()])
        }
    }
}

/// What is watched is closed again in the mounts of the sandbox. Whoever makes mounts of its own inside
/// keeps those of that moment, and can refuse what would be handed on.
fn watched(nesting: Nesting, mut strength: Strength) -> Strength {
    if nesting == Nesting::UserNamespaces && !matches!(strength, Strength::Kernel) {
        let what = "where programs inside have mounts of their own, what comes or is replaced later \
                    is not closed";
        strength.lacks(what.into());
    }
    strength
}

fn reached(mode: NetworkMode) -> Reached {
    match mode {
        NetworkMode::Disabled => Reached::World,
        NetworkMode::DenyAll => Reached::Nothing,
        NetworkMode::AllowList | NetworkMode::Monitor => Reached::Inlets,
    }
}

/// Only Landlock keeps sockets without a path apart where the network is the host's.
fn network(order: &Order, landlock: &Strength) -> Strength {
    match (order.network, landlock) {
        (NetworkMode::DenyAll | NetworkMode::AllowList | NetworkMode::Monitor, _) => {
            Strength::Kernel
        }
        (NetworkMode::Disabled, Strength::Absent(_)) => Strength::Absent(
            "the policy says `disabled`; sockets of the host without a path can be reached too"
                .into(),
        ),
        (NetworkMode::Disabled, _) => Strength::Absent("the policy says `disabled`".into()),
    }
}

fn privileges(owners: Owners, facts: &Facts) -> Strength {
    match (owners, facts.privilege) {
        (Owners::Same, Privilege::Root { idmap: Idmap::Refused(errno) | Idmap::Short(errno) }) => {
            let what = format!(
                "the command is root outside, but for masks: idmapped mounts fail, {}",
                meaning(errno)
            );
            Strength::Partial(vec![what])
        }
        (Owners::Same, Privilege::Root { idmap: Idmap::Works }) => {
            let what = "the command is root outside, but for masks: there is no user namespace";
            Strength::Partial(vec![what.into()])
        }
        (Owners::Same | Owners::Swapped, Privilege::Root { .. } | Privilege::Ordinary) => {
            Strength::Kernel
        }
    }
}

/// Plans a control group, where there can be one and memory is bounded: that is what the kernel
/// cannot bound for all processes together in any other way.
fn group(order: &Order, facts: &Facts) -> Option<(Step, Note)> {
    let delegated = facts.delegated.as_ref().filter(|delegated| delegated.memory)?;
    let (folder, memory) = (delegated.folder.clone(), order.bounds.memory?);
    // The reaper is one of them.
    let processes = order.bounds.processes.filter(|_| delegated.processes);
    let processes = processes.map(|most| most.saturating_add(1));
    let what = if processes.is_some() { "memory and processes are" } else { "memory is" };
    let message = format!("{what} bounded by a control group in `{}`", folder.display());
    Some((Step::Group { folder, memory, processes }, Note { code: "control-group", message }))
}

/// What is said of bounds that the kernel does not keep as they are written.
struct Unkept {
    processes: Option<&'static str>,
    tmp: Option<&'static str>,
}

/// Returns what the kernel bounds for each process, and what of the bounds it does not keep, given the
/// control group that there is.
fn limits(order: &Order, group: Option<&Step>, unkept: &Unkept) -> (Vec<Limit>, Strength) {
    let (limits, mut strength) = (bounds(&order.bounds), Strength::Kernel);
    if order.bounds.memory.is_some() && group.is_none() {
        strength.lacks(SAMPLED.into());
    }
    let is_counted = matches!(group, Some(Step::Group { processes: Some(_), .. }));
    let processes = unkept.processes.filter(|_| order.bounds.processes.is_some() && !is_counted);
    let tmp = unkept.tmp.filter(|_| order.bounds.tmp.is_some());
    processes.into_iter().chain(tmp).for_each(|what| strength.lacks(what.into()));
    (limits, strength)
}

/// The same behind namespaces, where processes are counted by themselves, but for root's.
fn own_limits(order: &Order, owners: Owners, facts: &Facts) -> (Vec<Limit>, Strength) {
    let is_roots = owners == Owners::Same && facts.privilege != Privilege::Ordinary;
    let uncounted = "processes: they are sampled; the kernel does not count those of root";
    let unkept = Unkept { processes: is_roots.then_some(uncounted), tmp: None };
    let group = group(order, facts).map(|(step, _)| step);
    let (mut all, strength) = limits(order, group.as_ref(), &unkept);
    // The reaper is one of them.
    let processes = order.bounds.processes.map(|most| most.saturating_add(1));
    all.extend(processes.map(Limit::Processes));
    (all, strength)
}

/// What bounds on memory are where no control group holds them.
const SAMPLED: &str = "memory: the sum of all processes is sampled; the kernel bounds each";

/// What the kernel bounds for each process.
fn bounds(bounds: &Bounds) -> Vec<Limit> {
    let mut limits = vec![Limit::NoCores];
    limits.extend(bounds.memory.map(Limit::Data));
    if let Some(cpu) = bounds.cpu {
        limits.push(Limit::CpuSeconds(cpu.as_secs().max(1)));
    }
    limits.extend(bounds.file_size.map(Limit::FileSize));
    limits.extend(bounds.open_files.map(Limit::OpenFiles));
    limits
}

/// Returns whether something is a folder once its links are followed.
fn is_folder(kind: Kind) -> bool {
    kind == Kind::Folder
}
