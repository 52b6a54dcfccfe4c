//! A host: what it offers, found out by trying, and starting sandboxes on it.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use palisade_plan::network::Rung;
use palisade_plan::seccomp::Arch;
use palisade_plan::{
    Enforced, Facts, Idmap, Kernel, Plan, Privilege, Questions, Searched, Step, Trial,
};
use rustix::io::Errno;

use super::accounts::{Announced, Looking, Told};
use super::capped::Cap;
use super::enter::enter;
use super::error::{CannotStart, before};
use super::family::Family;
use super::guard::{Watched, Watcher};
use super::handed::Streams;
use super::leftover::{Leftovers, Mounts};
use super::maps::swapped;
use super::message::{Message, send};
use super::needed::{Heaps, Needed};
use super::prepare::{Prepared, prepare};
use super::reserve::Reserved;
use super::sandbox::Sandbox;
use super::scratch::Scratch;
use super::streams::{self, Opened, Passing};
use super::supervise::Running;
use super::survey::{Changes, Surveyed, survey};
use super::{ahead, doors, group, mounts, shortage, trial, unlooked};
use crate::sys::ahead::Ahead;
use crate::sys::mount::{self, Reach};
use crate::sys::process::{Made, Side, clone_into, has_ended};
use crate::sys::{environment, landlock, memory, restrict, signal};

/// Plans a command anew for a kernel that was looked at more closely.
pub type Other<'o> = &'o dyn Fn(&Kernel) -> Option<Plan>;

/// A host on which sandboxes are started. It is asked once what it offers.
#[derive(Debug)]
pub struct Host {
    kernel: Kernel,
    probed: OnceLock<Kernel>,
    privilege: Privilege,
    uid: u32,
    gid: u32,
    /// User namespaces that swap an owner with the user of sandboxes, by owner.
    owners: Mutex<BTreeMap<(u32, u32), Arc<OwnedFd>>>,
    leftovers: Leftovers,
    heaps: Heaps,
    spares: Option<PathBuf>,
    /// Whether this process starts one sandbox and ends with it.
    is_for_one: bool,
}

impl Host {
    /// Finds out what this host offers, by trying it: the success of one call proves nothing
    /// about the next.
    pub fn probe() -> Self {
        let mut host = Self::assumed();
        host.kernel = trial::kernel(&host);
        host
    }

    /// Returns what the kernel offers, found out by trying: what was taken for granted is not asked
    /// before something fails. That all works is found out once; a refusal may pass, and nobody is to
    /// be held by less because of one.
    pub fn probed(&self) -> Kernel {
        if let Some(known) = self.probed.get() {
            return known.clone();
        }
        let found = trial::kernel(self);
        if found.namespaces == Trial::Works {
            self.probed.set(found.clone()).ok();
        }
        found
    }

    /// Takes for granted that namespaces can be made here, which saves making some only to see. If
    /// they cannot, starting fails, and nothing has run.
    pub fn assumed() -> Self {
        environment::find();
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        let arch = match std::env::consts::ARCH {
            "x86_64" => Some(Arch::X86_64),
            "aarch64" => Some(Arch::Aarch64),
            _ => None,
        };
        let kernel = Kernel {
            arch,
            namespaces: Trial::Works,
            unaided: Trial::untried(),
            around: Trial::untried(),
            blocks: Vec::new(),
            landlock: landlock::version(),
            network: Rung::Queue,
        };
        let mut host = Self {
            kernel,
            privilege: Privilege::Ordinary,
            uid,
            gid,
            leftovers: Leftovers::default(),
            heaps: Heaps::default(),
            spares: None,
            is_for_one: false,
            owners: Mutex::default(),
            probed: OnceLock::new(),
        };
        if uid == 0 {
            host.privilege = Privilege::Root { idmap: host.try_idmap(Path::new("/")) };
        }
        host
    }

    /// Keeps the placeholders of absent names in this folder between runs, which is faster than to
    /// make and remove them. It is made when it is needed, and best lies on the filesystem that
    /// projects are on.
    #[must_use]
    pub fn keeping_spares(self, folder: Option<PathBuf>) -> Self {
        Self { spares: folder, ..self }
    }

    /// Says that this process starts one sandbox and ends with it: then nothing is prepared for
    /// others, and the little that is left of it stays until the host is dropped.
    pub fn for_one(&mut self) {
        self.leftovers = Leftovers::once();
        self.is_for_one = true;
    }

    /// Waits for what is left of the only sandbox of this process, before the process ends
    /// ([`Host::for_one`]).
    pub fn finish(&self) {
        self.leftovers.finish();
    }

    /// Returns what a plan for these questions has to know.
    pub fn facts(&self, questions: &Questions) -> Facts {
        self.facts_of(&self.kernel, questions)
    }

    /// Returns what a plan has to know on a host whose kernel is this one.
    pub fn facts_of(&self, kernel: &Kernel, questions: &Questions) -> Facts {
        let (mounts, looking) = (mounts::read(), Looking::begin(self.spares()));
        let delegated = questions.memory.and_then(|_| group::delegated(&mounts));
        let privilege = self.privilege_over(&questions.owned);
        let (sockets, doors) = match questions.paths.is_empty() {
            true => (Vec::new(), Searched::Whole),
            false => doors::found(),
        };
        let asked = if questions.sockets { &*sockets } else { &[] };
        let changes = match kernel.namespaces {
            Trial::Works => Changes::Trees,
            Trial::Refused { .. } | Trial::Short { .. } => Changes::All,
        };
        let Surveyed { places, searched, skipped } = survey(questions, privilege, changes, asked);
        let Told { beside, killed, .. } = looking.others();
        if let Some(left) = unlooked::look_over(self.spares(), &killed, &questions.trees) {
            // It has changed what there is.
            let mut facts = self.facts_of(kernel, questions);
            facts.left.splice(0..0, left);
            return facts;
        }
        let groups = rustix::process::getgroups().unwrap_or_default();
        Facts {
            uid: self.uid,
            gid: self.gid,
            groups: groups.into_iter().map(rustix::process::Gid::as_raw).collect(),
            name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            privilege,
            kernel: kernel.clone(),
            mounts,
            places,
            searched: if searched { Searched::Whole } else { Searched::Partly },
            skipped,
            sockets,
            doors,
            delegated,
            // Only who has no /tmp of its own needs one.
            scratch: match kernel.namespaces {
                Trial::Works => None,
                Trial::Refused { .. } | Trial::Short { .. } => Scratch::path(),
            },
            beside,
            left: Vec::new(),
        }
    }

    /// Returns what the kernel offers.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Does as [`send_ahead`](crate::send_ahead), unless other threads start sandboxes here too and no
    /// processor is idle: then nothing would be made meanwhile, and it is one more that has to run.
    pub fn send_ahead(&self) {
        if !self.heaps.are_of_others() || ahead::is_idle() {
            ahead::send_ahead();
        }
    }

    /// Starts the command of a plan that was built for this host.
    ///
    /// # Errors
    ///
    /// When something is missing before the sandbox exists. What fails later is told by
    /// [`Running::wait`]; in both cases the command has not run.
    pub fn start(&self, plan: &Plan, streams: Streams) -> Result<Running, CannotStart> {
        self.start_watched(plan, streams, Watcher::Thread, None)
    }

    /// Starts a command whose end is waited for at once: who waits watches its protected files
    /// meanwhile, which is faster than a thread of their own for short commands.
    ///
    /// # Errors
    ///
    /// As [`Host::start`].
    pub fn start_awaited(&self, plan: &Plan, streams: Streams) -> Result<Running, CannotStart> {
        self.start_watched(plan, streams, Watcher::Waiter, None)
    }

    /// Starts a command as [`Host::start`] does or, if it is `awaited` at once, as
    /// [`Host::start_awaited`]. Where its namespaces cannot be made after all, the host is looked at
    /// more closely, and the `other` plan for what it offers is started instead, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Host::start`].
    pub fn start_or(
        &self,
        plan: &Plan,
        streams: Streams,
        awaited: bool,
        other: Other<'_>,
    ) -> Result<Running, CannotStart> {
        let watcher = if awaited { Watcher::Waiter } else { Watcher::Thread };
        self.start_watched(plan, streams, watcher, Some(other))
    }

    fn start_watched(
        &self,
        plan: &Plan,
        streams: Streams,
        watcher: Watcher,
        other: Option<Other<'_>>,
    ) -> Result<Running, CannotStart> {
        let started = Instant::now();
        // The clock that files are dated by.
        let clock = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        let bounds = plan.bounds();
        let passing = Passing {
            cap: bounds.streamed.map(|bytes| Cap { bytes, keep: bounds.keep }),
            is_timed: bounds.idle.is_some(),
        };
        let Opened { standard, feed, drains, terminal } =
            streams::open(streams, reader(plan), passing)?;
        let (fresh, terminal) = terminal.unzip();
        let mut second = None;
        let next = |failed| other.and_then(|other| other(&self.probed())).ok_or(failed);
        let (blank, mut ours) = match prepare(self, plan) {
            Ok(ready) => ready,
            Err(failed) => prepare(self, second.insert(next(failed)?))?,
        };
        let mut prepared = blank.with(standard, fresh);
        let ahead = ahead::take(second.as_ref().unwrap_or(plan));
        // Before: to make one while our memory is copied takes as long as the copy.
        let mut kept = ours.watch_names();
        // Names take as long as it takes somebody else to make a process. Should we be killed then,
        // the janitor knows of no sandbox, and none has begun: it waits for what only we say.
        let mut made = {
            let namespaces = ours.namespaces;
            let keep =
                || kept = std::mem::replace(&mut kept, Ok(())).and_then(|()| ours.keep_names());
            self.made(ahead.as_ref(), &mut prepared, namespaces, keep)
        };
        if let (Err(errno), None) = (&made, &second) {
            let next = next(before("make namespaces")(*errno))?;
            (prepared, ours) = prepared.again(self, &next)?;
            second = Some(next);
            let namespaces = ours.namespaces;
            kept = ours.watch_names();
            let keep =
                || kept = std::mem::replace(&mut kept, Ok(())).and_then(|()| ours.keep_names());
            made = self.made(None, &mut prepared, namespaces, keep);
        }
        let made = made.map_err(before("make namespaces"))?;
        let plan = second.as_ref().unwrap_or(plan);
        let pid = made.pid;
        let sandbox = Sandbox::new(made, Family::of(plan));
        if self.is_for_one {
            restrict::no_cores().ok();
        }
        // Now: once the first process is undumpable, only root may look.
        let moved = ours.reserved.as_ref().is_none_or(Reserved::moves_all);
        let has_mounts = plan.has_namespaces() && moved;
        let mounts = has_mounts.then(|| Mounts::hold(pid)).flatten();
        kept?;
        // One that is guarded waits once more: until then it mounts what it can.
        let is_guarded = ours.watched.is_some();
        if is_guarded {
            ours.let_go_on(pid)?;
        }
        if let Some(reserved) = &mut ours.reserved {
            let events = ours.watched.as_ref().and_then(Watched::events);
            reserved.hand_over(sandbox.pidfd(), [mounts.as_ref().map(Mounts::as_fd), events])?;
        }
        // Who holds them last waits for their end: not we, where there is a janitor.
        let is_held = ours.reserved.as_ref().is_some_and(Reserved::has_janitor);
        let mounts = mounts.map(|mounts| self.leftovers.take(Some(mounts).filter(|_| !is_held)));
        let names = ours.reserved.as_ref().map(Reserved::names);
        let guard = ours.watched.take().map(|watched| watched.guard(pid, watcher, names));
        let guard = match guard.transpose() {
            // One that has failed meanwhile says why itself.
            Err(_) if has_ended(sandbox.pidfd()) => None,
            guard => guard?,
        };
        // Before the command can run: until it is gone it counts against the bound of processes. It
        // goes by itself, and nearly always has.
        drop(ahead);
        if !is_guarded {
            ours.let_go_on(pid)?;
        }
        if guard.is_some() {
            send(ours.control.as_fd(), Message::Go).ok();
        }
        // What it works on is its own by now.
        drop(prepared);
        Ok(Running {
            sandbox,
            guard,
            group: ours.group,
            reserved: ours.reserved,
            mounts,
            scratch: ours.scratch,
            announced: ours.announced.map(Announced::begun),
            control: ours.control,
            feed,
            drains,
            terminal,
            plan: plan.clone(),
            started,
            clock,
            stop: Arc::new(AtomicBool::new(false)),
            brief: false,
            inlets: None,
            maker: None,
        })
    }

    /// Makes the first process of a sandbox, in the namespaces that were made ahead, if some were.
    /// What is done `meanwhile` must not concern what is prepared.
    fn made(
        &self,
        sent: Option<&Ahead>,
        prepared: &mut Prepared,
        namespaces: u64,
        meanwhile: impl FnOnce(),
    ) -> rustix::io::Result<Made> {
        let _blocked = signal::block_all();
        self.heaps.note(prepared);
        let needed = self.heaps.needed(prepared);
        memory::is_copied();
        let mut meanwhile = Some(meanwhile);
        let mut meanwhile = || meanwhile.take().into_iter().for_each(|does| does());
        if let Some(sent) = sent {
            let mut body = || {
                // In the copy: here nothing changes, should the start have to do without.
                prepared.ahead = ahead::made(sent);
                needed.iter().for_each(Needed::keep);
                enter(prepared)
            };
            if let Ok(made) = sent.make(namespaces, &mut body, &mut meanwhile) {
                return Ok(made);
            }
            // What is wrong is told by the step that does it.
        }
        match clone_into(namespaces)? {
            Side::Child => {
                needed.iter().for_each(Needed::keep);
                enter(prepared)
            }
            Side::Parent(made) => {
                // What we write before it has let go is copied.
                if needed.is_some() {
                    rustix::thread::sched_yield();
                }
                meanwhile();
                Ok(made)
            }
        }
    }

    /// Returns what the layers of a plan hold on this machine: also what only its run finds out.
    pub fn enforced(&self, plan: &Plan) -> Vec<Enforced> {
        let mut enforced = plan.enforced().to_vec();
        let after = plan.after();
        if let Some(told) = after.and_then(|it| Announced::new(self.spares(), || it.account())) {
            told.tell(&mut enforced);
        }
        enforced
    }

    pub(super) fn spares(&self) -> Option<&Path> {
        self.spares.as_deref()
    }

    pub(super) fn identity(&self) -> (u32, u32, Privilege) {
        (self.uid, self.gid, self.privilege)
    }

    /// Returns a user namespace in which an owner and the user of sandboxes are swapped.
    pub(super) fn owners(&self, uid: u32, gid: u32) -> Result<Arc<OwnedFd>, CannotStart> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = owners.get(&(uid, gid)) {
            return Ok(Arc::clone(known));
        }
        let made = swapped(uid, gid).map_err(before("make a map of owners"))?;
        let made = Arc::new(made);
        owners.insert((uid, gid), Arc::clone(&made));
        Ok(made)
    }

    /// Returns what root can do with all of these trees: overlays and filesystems of programs do
    /// not change owners, whatever the root's own can do.
    fn privilege_over(&self, trees: &[PathBuf]) -> Privilege {
        let device = |path: &Path| rustix::fs::stat(path).ok().map(|stat| stat.st_dev);
        let privilege = match self.privilege {
            // It may have passed since.
            Privilege::Root { idmap: Idmap::Short(_) } => {
                Privilege::Root { idmap: idmap(self.give_owners(Path::new("/"))) }
            }
            known @ (Privilege::Root { .. } | Privilege::Ordinary) => known,
        };
        let Privilege::Root { idmap: Idmap::Works } = privilege else { return privilege };
        let mut tried = vec![device(Path::new("/"))];
        for tree in trees {
            let on = device(tree);
            if on.is_none() || tried.contains(&on) {
                continue;
            }
            tried.push(on);
            let idmap = self.try_idmap(tree);
            if idmap != Idmap::Works {
                return Privilege::Root { idmap };
            }
        }
        privilege
    }

    fn try_idmap(&self, tree: &Path) -> Idmap {
        idmap(shortage::waited(|| self.give_owners(tree), |errno| *errno))
    }

    /// Gives a copy of a tree other owners, to see whether that can be done.
    fn give_owners(&self, tree: &Path) -> rustix::io::Result<()> {
        let errno = |error: CannotStart| error.errno().unwrap_or(libc::EIO);
        let owners = self.owners(0, 0).map_err(|error| Errno::from_raw_os_error(errno(error)))?;
        let tree = CString::new(tree.as_os_str().as_bytes()).map_err(|_| Errno::IO)?;
        let tree = mount::clone_tree(&tree, Reach::One)?;
        mount::change_tree(tree.as_fd(), 0, Some((*owners).as_fd()), Reach::One)
    }
}

fn idmap(given: rustix::io::Result<()>) -> Idmap {
    match given {
        Ok(()) => Idmap::Works,
        Err(errno) if shortage::is_one(errno) => Idmap::Short(errno.raw_os_error()),
        Err(errno) => Idmap::Refused(errno.raw_os_error()),
    }
}

/// Returns the user outside that the command will be, if that is not the caller.
fn reader(plan: &Plan) -> Option<u32> {
    plan.steps().iter().find_map(|step| {
        let Step::Identity(identity) = step else { return None };
        (identity.uid != identity.outer_uid).then_some(identity.outer_uid)
    })
}
