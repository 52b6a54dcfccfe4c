//! From a plan to memory: everything that can be allocated, opened or refused beforehand.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::{
    Access, Depth, Identity, Keep, Limit, MappedBy, Namespace, Owner, Plan, Step, seccomp,
};
use rustix::mount::MountFlags;
use rustix::process::{Pid, PidfdFlags, Resource};

use super::accounts::Announced;
use super::act::Act;
use super::ahead::Made;
use super::allowed;
use super::enter::clone_seen;
use super::error::{CannotStart, before};
use super::family::Family;
use super::furnish;
use super::group::Group;
use super::guard::Watched;
use super::host::Host;
use super::inlet;
use super::maps::write_maps;
use super::message::{self, Message};
use super::opened::can_be_made;
use super::reserve::Reserved;
use super::scratch::Scratch;
use super::terminal::Fresh;
use crate::sys::descriptor::{forget, lift};
use crate::sys::landlock::Handled;
use crate::sys::mount::{self, NO_DEVICES, NO_EXEC, NO_SUID, READ_ONLY, Reach};
use crate::sys::process::{Stack, Strings};
use crate::sys::restrict::{Bounding, Instruction};

/// Everything that the new process needs, at places that it can reach without allocating.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The steps, in order.
    pub(super) acts: Vec<Act>,
    /// The kept trees, by number; -1 where there is none yet.
    pub(super) slots: Vec<i32>,
    /// The sandbox's end of the socket.
    pub(super) inside: OwnedFd,
    /// The numbers of the supervisor's ends, to be closed.
    pub(super) outside: Vec<i32>,
    /// What will be 0, 1 and 2.
    pub(super) standard: [OwnedFd; 3],
    /// How a terminal of its own begins, if some of them are to be one.
    pub(super) terminal: Option<Fresh>,
    /// A pidfd of the supervisor.
    pub(super) supervisor: OwnedFd,
    /// Where the command's own process runs until it executes.
    pub(super) stack: Stack,
    /// How its descendants hang together.
    pub(super) family: Family,
    /// What was made ahead.
    pub(super) ahead: Made,
}

/// The same without streams: who fails before there are any has not taken them.
pub(super) struct Blank {
    acts: Vec<Act>,
    slots: Slots,
    inside: OwnedFd,
    outside: Vec<i32>,
    supervisor: OwnedFd,
    stack: Stack,
    family: Family,
}

/// What the supervisor keeps.
#[derive(Debug)]
pub(super) struct Ours {
    /// Its end of the socket.
    pub(super) control: OwnedFd,
    /// The flags of `clone3`.
    pub(super) namespaces: u64,
    /// The maps that the supervisor has to write, if it has to.
    pub(super) maps: Option<(Vec<u8>, Vec<u8>)>,
    /// The control group that the supervisor has to put the sandbox into, if there is one.
    pub(super) group: Option<Group>,
    /// The names that the supervisor has to keep, if it has to.
    pub(super) reserved: Option<Reserved>,
    /// The protected files that the supervisor has to watch, if there are any.
    pub(super) watched: Option<Watched>,
    /// The folder for temporary files that the supervisor has to remove, if there is one.
    pub(super) scratch: Option<Scratch>,
    /// What the run tells those that begin meanwhile, if it looks over what it leaves.
    pub(super) announced: Option<Announced>,
    /// Names in folders that cannot be written.
    impossible: Vec<PathBuf>,
}

/// Makes a plan ready, but for its streams. Nothing has run when this fails.
pub(super) fn prepare(host: &Host, plan: &Plan) -> Result<(Blank, Ours), CannotStart> {
    let (control, inside) = message::pair().map_err(before("make a socket"))?;
    let own = rustix::process::getpid();
    let supervisor = rustix::process::pidfd_open(own, PidfdFlags::empty())
        .and_then(lift)
        .map_err(before("open a descriptor of this process"))?;

    let mut ours = Ours {
        control,
        namespaces: 0,
        maps: None,
        group: None,
        reserved: None,
        scratch: None,
        watched: Watched::new(plan)?,
        announced: plan.after().and_then(|after| Announced::new(host.spares(), || after.account())),
        impossible: Vec::new(),
    };
    let mut slots = Slots::new();
    let mut acts = Vec::with_capacity(plan.steps().len());
    for step in plan.steps() {
        let act = ready(host, step, &mut ours, &mut slots)?;
        acts.push(if furnish::does(step) { Act::Furniture(Box::new(act)) } else { act });
    }
    if let (Some(reserved), Some(after)) = (&mut ours.reserved, plan.after()) {
        reserved.add_free(after, ours.announced.as_ref());
    }
    let outside = vec![ours.control.as_raw_fd()];
    let stack = Stack::new();
    let family = Family::of(plan);
    let blank = Blank { acts, slots, inside, outside, supervisor, stack, family };
    Ok((blank, ours))
}

impl Blank {
    /// Adds its streams.
    pub(super) fn with(self, standard: [OwnedFd; 3], terminal: Option<Fresh>) -> Prepared {
        let Self { acts, slots, inside, outside, supervisor, stack, family } = self;
        Prepared {
            acts,
            slots: slots.take(),
            inside,
            outside,
            standard,
            terminal,
            supervisor,
            stack,
            family,
            ahead: Made::default(),
        }
    }
}

impl Ours {
    /// Does what the sandbox waits for, in the order in which it waits, and says so each time. One that
    /// has failed meanwhile says why itself.
    pub(super) fn let_go_on(&self, first: Pid) -> Result<(), CannotStart> {
        let go = || message::send(self.control.as_fd(), Message::Go);
        if let Some((uids, gids)) = &self.maps {
            write_maps(first, uids, gids).map_err(before("map users"))?;
            go().map_err(before("start the sandbox"))?;
        }
        if let Some(group) = &self.group {
            group.take(first)?;
            go().ok();
        }
        if self.reserved.is_some() {
            go().ok();
        }
        Ok(())
    }

    /// Returns the number of the folder in which a placeholder keeps this name.
    fn number_of_folder(&self, path: &Path) -> Option<usize> {
        self.reserved.as_ref()?.number_of_folder(path)
    }

    /// Sees to it that somebody gives names back, should we be killed, if there are to be any.
    pub(super) fn watch_names(&mut self) -> Result<(), CannotStart> {
        self.reserved.as_mut().map_or(Ok(()), Reserved::watch)
    }

    /// Keeps the names that must stay absent, if there are any.
    pub(super) fn keep_names(&mut self) -> Result<(), CannotStart> {
        self.reserved.as_mut().map_or(Ok(()), Reserved::keep)
    }
}

impl Prepared {
    /// Makes another plan ready, with the same streams.
    pub(super) fn again(&self, host: &Host, plan: &Plan) -> Result<(Self, Ours), CannotStart> {
        let failed = |error: std::io::Error| CannotStart::Before {
            doing: "hand streams over again",
            errno: error,
        };
        let copy = |fd: &OwnedFd| fd.try_clone().map_err(failed);
        let [input, output, errors] = &self.standard;
        let lifted = |fd: OwnedFd| lift(fd).map_err(before("hand streams over again"));
        let standard = [lifted(copy(input)?)?, lifted(copy(output)?)?, lifted(copy(errors)?)?];
        let (blank, ours) = prepare(host, plan)?;
        Ok((blank.with(standard, self.terminal.clone()), ours))
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // In the supervisor, whose copies of the kept trees are no longer needed.
        drop(Slots(std::mem::take(&mut self.slots)));
    }
}

/// Numbers of kept trees, closed when dropped.
struct Slots(Vec<i32>);

impl Slots {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn put(&mut self, slot: usize, number: i32) {
        if self.0.len() <= slot {
            self.0.resize(slot + 1, -1);
        }
        if let Some(place) = self.0.get_mut(slot) {
            *place = number;
        }
    }

    fn take(mut self) -> Vec<i32> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        for number in self.0.drain(..) {
            drop(crate::sys::descriptor::remember(number));
        }
    }
}

fn ready(host: &Host, step: &Step, ours: &mut Ours, slots: &mut Slots) -> Result<Act, CannotStart> {
    Ok(match step {
        Step::Namespaces(kinds) => {
            ours.namespaces = kinds.iter().fold(0, |all, kind| all | flag(*kind));
            // By far the longest to make: it makes it itself, while we go on.
            if kinds.contains(&Namespace::Network) { Act::Network } else { Act::Done }
        }
        Step::Identity(identity) => map(identity, ours),
        Step::Group { folder, memory, processes } => {
            ours.group = Some(Group::make(folder, Some(*memory), *processes)?);
            Act::AwaitGroup
        }
        Step::Keep(keep) => kept(host, keep, slots)?,
        Step::SealRoot => Act::Seal,
        Step::EmptyRoot => Act::EmptyRoot,
        Step::CloseRoot => Act::CloseRoot,
        Step::Tmpfs { at, size, mode } => {
            let size = size.map_or(String::new(), |size| format!("size={size},"));
            Act::Mount {
                kind: c"tmpfs",
                at: text(at)?,
                flags: MountFlags::NOSUID | MountFlags::NODEV,
                data: words(&format!("{size}mode={mode:o}"))?,
            }
        }
        Step::FreshProc => Act::Mount {
            kind: c"proc",
            at: c"/proc".into(),
            flags: MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
            data: CString::default(),
        },
        Step::FreshTerminals => Act::Mount {
            kind: c"devpts",
            at: c"/dev/pts".into(),
            flags: furnish::TERMINAL_FLAGS,
            data: furnish::FRESH_TERMINALS.into(),
        },
        Step::MakeFolder(path) => Act::Folders(folders(path)?),
        Step::MakeFile(path) => {
            let above = path.parent().map(folders).transpose()?.unwrap_or_default();
            Act::File(above, text(path)?)
        }
        Step::MakeLink { at, to } => Act::Link { at: text(at)?, to: words(to)? },
        Step::Attach { tree, at } => Act::Attach { slot: tree.0.into(), at: text(at)? },
        Step::Hide { tree, at, mode, names, between } => Act::Hide {
            slot: tree.0.into(),
            at: text(at)?,
            mode: *mode,
            names: names.iter().map(|name| text(name)).collect::<Result<_, _>>()?,
            between: between
                .iter()
                .map(|(name, mode)| Ok((text(name)?, *mode)))
                .collect::<Result<_, CannotStart>>()?,
        },
        Step::Cache { tree, at } => Act::Cache { slot: tree.0.into(), at: text(at)? },
        Step::Cover { at, .. } => Act::Cover(text(at)?),
        Step::Mask(paths) => {
            Act::Mask(paths.iter().map(|path| text(path)).collect::<Result<_, _>>()?)
        }
        Step::Show { at, text: shown } => Act::Show {
            at: text(at)?,
            made: c"/dev/shown".into(),
            text: shown.clone().into_bytes(),
        },
        Step::Reserve(paths) => {
            let mut folders: BTreeMap<Option<&Path>, bool> = BTreeMap::new();
            let (paths, others): (Vec<_>, Vec<_>) = paths.iter().partition(|path| {
                *folders.entry(path.parent()).or_insert_with(|| can_be_made(path))
            });
            let [paths, others]: [Vec<PathBuf>; 2] =
                [paths, others].map(|list: Vec<&PathBuf>| list.into_iter().cloned().collect());
            ours.reserved = Some(Reserved::open(&paths, host.spares())?);
            ours.impossible = others;
            Act::AwaitNames
        }
        // Nobody can make it, and there is nothing to hold.
        Step::Protect(path) if ours.impossible.contains(path) && !path.exists() => Act::Done,
        Step::Pin(path) => Act::Rebind { at: text(path)?, attributes: NO_SUID | NO_DEVICES },
        Step::Protect(path) if let Some(folder) = ours.number_of_folder(path) => {
            let above = path.parent().unwrap_or(path);
            let name = path.as_os_str().len() - path.file_name().map_or(0, OsStr::len);
            Act::Still { folder, above: text(above)?, path: text(path)?, name }
        }
        Step::Protect(path) => {
            Act::Rebind { at: text(path)?, attributes: READ_ONLY | NO_SUID | NO_DEVICES }
        }
        Step::LoopbackUp => Act::Loopback,
        Step::Inlets(best) => Act::Inlets(inlet::Ready::new(*best)),
        Step::Publish(_) => Act::Maker,
        Step::Undumpable if ours.watched.is_some() => Act::UndumpableOnGo,
        Step::Undumpable => Act::Undumpable,
        Step::NoCapabilities if ours.namespaces == 0 => Act::NoCapabilities(Bounding::MayStay),
        Step::NoCapabilities => Act::NoCapabilities(Bounding::Emptied),
        Step::NoNewPrivileges => Act::NoNewPrivileges,
        Step::Landlock { version, write } => {
            let below = write.iter().map(|path| text(path)).collect::<Result<_, _>>()?;
            Act::Landlock { handled: handled(*version), everywhere: READ, below }
        }
        Step::LandlockAlone(alone) => Act::Restrict(allowed::ruleset(alone)?),
        Step::Scratch(path) => {
            ours.scratch = Some(Scratch::make(path)?);
            Act::Done
        }
        Step::Seccomp { arch, nesting, sockets, groups } => {
            Act::Filter(instructions(seccomp::compile(*arch, *nesting, *sockets, *groups)))
        }
        Step::TraceWrites(arch) => Act::Trace(instructions(seccomp::trace(*arch))),
        Step::Adopt => Act::Adopt,
        Step::Reaper => Act::Split,
        Step::Session => Act::Session,
        Step::Descriptors => Act::Descriptors,
        Step::Limit(limit) => bound(*limit),
        Step::Enter(path) => Act::Enter(text(path)?),
        Step::Prove { sealed, network, nesting } => Act::Prove {
            sealed: sealed.iter().map(|path| text(path)).collect::<Result<_, _>>()?,
            network: *network,
            nesting: *nesting,
        },
        Step::Seatbelt { .. } => {
            return Err(before("put a plan for macOS in force")(rustix::io::Errno::NOSYS));
        }
        Step::Exec { argv, paths, environment } => Act::Execute {
            paths: paths.iter().map(|path| text(path)).collect::<Result<_, _>>()?,
            arguments: strings(argv.iter().map(|word| words(word)))?,
            environment: strings(
                environment.iter().map(|(name, value)| words(&format!("{name}={value}"))),
            )?,
        },
    })
}

pub(super) fn instructions(program: Vec<seccomp::Instruction>) -> Vec<Instruction> {
    program.into_iter().map(|(code, jt, jf, k)| Instruction { code, jt, jf, k }).collect()
}

fn map(identity: &Identity, ours: &mut Ours) -> Act {
    let Identity { uid, outer_uid, gid, outer_gid, mapped_by } = *identity;
    let uids = format!("{uid} {outer_uid} 1\n").into_bytes();
    let gids = format!("{gid} {outer_gid} 1\n").into_bytes();
    match mapped_by {
        MappedBy::Itself => Act::Map { uids, gids },
        MappedBy::Supervisor => {
            ours.maps = Some((uids, gids));
            Act::AwaitMap { uid, gid }
        }
        // An ordinary user is in no position to leave groups.
        MappedBy::Nobody if outer_uid == 0 => Act::Become { uid, gid },
        MappedBy::Nobody => Act::Done,
    }
}

/// Takes a tree that gets other owners now: only this side has the right to.
fn kept(host: &Host, keep: &Keep, slots: &mut Slots) -> Result<Act, CannotStart> {
    let Keep { tree, path, access, depth, owner, id } = keep;
    let attributes = match access {
        Access::Read => READ_ONLY | NO_SUID | NO_DEVICES,
        Access::Write => NO_SUID | NO_DEVICES,
        Access::Device => NO_SUID | NO_EXEC,
    };
    let reach = match depth {
        Depth::All => Reach::All,
        Depth::One => Reach::One,
    };
    let (slot, path) = (usize::from(tree.0), text(path)?);
    slots.put(slot, -1);
    let Owner::Swapped { uid, gid } = *owner else {
        return Ok(Act::Keep { slot, path, reach, attributes, id: *id });
    };
    let owners = host.owners(uid, gid)?;
    let kept = clone_seen(&path, reach, *id)
        .and_then(|tree| {
            mount::change_tree(tree.as_fd(), attributes, Some(owners.as_fd()), reach)?;
            lift(tree)
        })
        .map_err(before("give a tree another owner"))?;
    slots.put(slot, forget(kept));
    Ok(Act::Done)
}

fn bound(limit: Limit) -> Act {
    let (resource, most) = match limit {
        Limit::Processes(most) => (Resource::Nproc, most),
        Limit::Data(most) => (Resource::Data, most),
        Limit::CpuSeconds(most) => (Resource::Cpu, most),
        Limit::FileSize(most) => (Resource::Fsize, most),
        Limit::OpenFiles(most) => (Resource::Nofile, most),
        Limit::NoCores => (Resource::Core, 0),
    };
    Act::Limit(resource, most)
}

/// Execute, read a file, list a folder.
pub(super) const READ: u64 = 1 | 1 << 2 | 1 << 3;

/// Returns every right that this version of Landlock knows, and what stays in the domain.
pub(super) fn handled(version: u32) -> Handled {
    let files = match version {
        0 | 1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    };
    // Abstract sockets and signals of others.
    let scoped = if version >= 6 { 3 } else { 0 };
    Handled { files, network: 0, scoped }
}

pub(super) fn flag(kind: Namespace) -> u64 {
    let flag = match kind {
        Namespace::User => libc::CLONE_NEWUSER,
        Namespace::Mount => libc::CLONE_NEWNS,
        Namespace::Process => libc::CLONE_NEWPID,
        Namespace::Network => 0,
        Namespace::Ipc => libc::CLONE_NEWIPC,
        Namespace::Name => libc::CLONE_NEWUTS,
        Namespace::Cgroup => libc::CLONE_NEWCGROUP,
    };
    u64::from(flag.cast_unsigned())
}

/// Returns a folder's path and those of all above it, from the top down.
fn folders(path: &Path) -> Result<Vec<CString>, CannotStart> {
    let above: Vec<&Path> = path.ancestors().collect();
    above.into_iter().rev().skip(1).map(text).collect()
}

fn strings(
    texts: impl Iterator<Item = Result<CString, CannotStart>>,
) -> Result<Strings, CannotStart> {
    Ok(Strings::new(texts.collect::<Result<_, _>>()?))
}

fn text(path: &Path) -> Result<CString, CannotStart> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| CannotStart::ZeroByte(path.display().to_string()))
}

fn words(text: &str) -> Result<CString, CannotStart> {
    CString::new(text).map_err(|_| CannotStart::ZeroByte(text.escape_debug().to_string()))
}
