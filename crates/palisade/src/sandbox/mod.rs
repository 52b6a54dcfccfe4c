//! Running commands: decide, confirm, confine, record, in this order.

mod agent;
mod always;
mod ask;
#[cfg(target_os = "linux")]
mod beside;
mod confirm;
#[cfg_attr(not(target_os = "linux"), path = "no_doors.rs")]
mod doors;
mod error;
mod export;
mod far;
mod hint;
mod homes;
mod job;
mod json;
mod latest;
mod missing;
mod network;
mod outcome;
mod own_state;
mod patience;
mod pending;
mod planned;
#[cfg_attr(not(target_os = "linux"), path = "not_published.rs")]
mod published;
mod record;
mod reply;
mod run;
mod suggest;
mod telemetry;
mod tool;
mod variables;

use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_apply::cache::{Held, Store};
use palisade_apply::worktree::Pointed;
use palisade_apply::{Host, Opening, straight_folder, worktree};
use palisade_plan::policy::decide::{Permit, Reason, Verdict};
use palisade_plan::{Caches, Note, Order, Plain, Plan, Walls};
use palisade_policy::Origin;
use palisade_policy::name::Folder;
use palisade_policy::policy::Require;

pub use always::Always;
pub use confirm::{Answered, Confirm, HostQuestion, Named, Nobody, Question};
pub use error::CannotRun;
pub use export::{export_folder, write_export};
pub use hint::Under;
pub use job::{Each, Input, Job, Output, Signals};
pub(crate) use json::milliseconds;
pub use network::Traffic;
pub use outcome::{Done, Outcome};
pub use pending::Pending;
pub use reply::Unconfirmed;
pub use run::{Run, Stop};
pub use suggest::Suggestion;
pub use telemetry::EachSpan;

use crate::decision::Guard;
use crate::places::shown;
use crate::session::{OpenError, Request, Session, Warning};
use crate::workspaces::{InUse, Workspaces};
use ask::Asking;
use latest::Latest;
use own_state::OwnState;
use planned::Ordered;
pub(crate) use planned::{LOWER, for_this_machine};
use record::{Recorded, Recorder, run_name};
use run::{About, After, Awaited};
use telemetry::{Telemetry, Watch};
pub(crate) use tool::{judged, tell_hook};

/// A project, the policy in force for it, and a host to run commands on.
///
/// A call is decided first. A denied one is an outcome, and nothing is started; one that asks goes
/// to whoever can be asked ([`Sandbox::confirmer`]; without one the answer is no). What may run is
/// started behind the walls of its plan, and what became of it is recorded where `audit.path` says.
///
/// ```no_run
/// use palisade::{Request, Sandbox};
///
/// let sandbox = Sandbox::new(&Request::from_process()?)?;
/// let outcome = sandbox.run(["cargo", "test"])?;
/// println!("{} {}", outcome.exit_code(), outcome.stdout_text());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is cheap to clone, and may be used by many threads at once.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    session: Session,
    guard: Guard,
    host: Host,
    cwd: PathBuf,
    environment: Vec<(String, String)>,
    asking: Arc<Asking>,
    recorder: Arc<Recorder>,
    telemetry: Arc<Telemetry>,
    store: Option<Store>,
    workspaces: Option<Workspaces>,
    /// The folder of our own state.
    state: Option<PathBuf>,
    /// Where others work that know of this project.
    beside: Vec<PathBuf>,
    /// The user's home, as the user table has it.
    real_home: Option<PathBuf>,
    /// Plans of earlier runs; none where there is one run.
    latest: Option<Latest>,
}

/// How a call would be confined.
#[derive(Clone, Debug)]
pub enum Planned {
    /// Like this.
    Plan {
        /// The steps.
        plan: Box<Plan>,
        /// Why a person would be asked first; empty if none would.
        asks: Vec<Reason>,
    },
    /// Not at all: it is denied.
    Denied(Vec<Reason>),
}

/// A call that may run.
struct Ready {
    permit: Permit,
    ordered: Ordered,
    about: About,
    name: String,
    caches: Option<Held>,
    in_use: Option<InUse>,
}

impl Sandbox {
    /// Opens the project and the policy that `request` asks for.
    ///
    /// # Errors
    ///
    /// Anything unreadable or invalid in a policy. There is none to fall back to.
    pub fn new(request: &Request) -> Result<Self, OpenError> {
        Ok(Self::of(Session::open(request)?, request))
    }

    /// Makes a sandbox of a session that is open, with the folder and the environment of `request`.
    pub fn of(session: Session, request: &Request) -> Self {
        let environment = request.env.iter().filter_map(|(name, value)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        });
        Self(Arc::new(Inner {
            guard: Guard::new(&session),
            host: Host::assumed().keeping_spares(request.spares()),
            cwd: request.cwd.clone(),
            environment: environment.collect(),
            asking: Arc::new(Asking::new(request)),
            recorder: Arc::new(Recorder::new(crate::history::opened(&session, request))),
            telemetry: Arc::new(Telemetry::new(&session.policy().audit, traceparent(request))),
            store: request.cache_store(),
            workspaces: request.workspaces(),
            state: request.places().state,
            beside: request.beside.clone(),
            real_home: request.real_home().map(Path::to_owned),
            latest: Some(Latest::default()),
            session,
        }))
    }

    /// Names who is asked when the policy says `ask`; nobody is otherwise, and that means no. Call
    /// it before the sandbox is cloned: clones that exist keep whom they had.
    #[must_use]
    pub fn confirmer(mut self, confirmer: impl Confirm + 'static) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            // Nobody else has it yet.
            if let Some(asking) = Arc::get_mut(&mut inner.asking) {
                asking.confirmer = Arc::new(confirmer);
            }
        }
        self
    }

    /// Has a function told of the span of each run and tool call. Call it before the sandbox is cloned.
    #[must_use]
    pub fn each_span(mut self, each: EachSpan) -> Self {
        let telemetry = Arc::get_mut(&mut self.0).map(|inner| &mut inner.telemetry);
        if let Some(telemetry) = telemetry.and_then(Arc::get_mut) {
            telemetry.each = Some(each);
        }
        self
    }

    /// Says that this process runs one command and ends with it, which spares it what others need to
    /// leave nothing behind. Call it before the sandbox is cloned.
    #[must_use]
    pub fn once(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.host.for_one();
            inner.latest = None;
        }
        self
    }

    /// Returns the project and its policy.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// Runs a command and waits for its end.
    ///
    /// # Errors
    ///
    /// When it may run and cannot be confined as the policy demands: then it has not run.
    pub fn run(&self, job: impl Into<Job>) -> Result<Outcome, CannotRun> {
        self.begin(job.into(), Awaited::AtOnce)?.wait()
    }

    /// Runs a command as [`Sandbox::run`] does, as the last thing that this process does with its
    /// policy. That is freed when the command takes long, if the process gives memory back at all,
    /// and otherwise never: the process ends with the command.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::run`].
    pub fn run_last(self, job: impl Into<Job>) -> Result<Outcome, CannotRun> {
        let telemetry = Arc::clone(&self.0.telemetry);
        let run = self.begin(job.into(), Awaited::AtOnce);
        let run = run.inspect_err(|_| telemetry.flush())?;
        let mut own = ManuallyDrop::new(Some(self));
        // The host is not freed piece by piece, either.
        let mut host: ManuallyDrop<Option<Host>> = ManuallyDrop::new(None);
        let mut free = || {
            let freed = own.take().and_then(|own| Arc::into_inner(own.0));
            *host = freed.map(|inner| inner.host);
        };
        let outcome = run.wait_freeing(&mut free, After::Ends);
        host.iter().for_each(Host::finish);
        own.iter().for_each(|own| own.0.host.finish());
        telemetry.flush();
        outcome.map(|mut outcome| {
            outcome.notes.extend(telemetry.trouble());
            outcome
        })
    }

    /// Starts a command, if it may run.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::run`].
    pub fn start(&self, job: impl Into<Job>) -> Result<Run, CannotRun> {
        self.begin(job.into(), Awaited::Later)
    }

    /// Runs a command in a thread of its own, as a future that needs no runtime. Dropping it ends
    /// the command.
    pub fn spawn(&self, job: impl Into<Job>) -> Pending {
        Pending::new(self.clone(), job.into())
    }

    // Apart, so that its variables are not on the stack while the command is waited for.
    #[inline(never)]
    fn begin(&self, job: Job, awaited: Awaited) -> Result<Run, CannotRun> {
        let watch = Watch::begin(&job);
        let (name, result) = match self.decide(&job) {
            Err(error) => (run_name(), Err(error)),
            Ok(Err((name, outcome))) => {
                palisade_apply::call_back();
                return Ok(Run::refused(self, &name, outcome, watch));
            }
            Ok(Ok(ready)) => {
                (ready.name.clone(), run::start(self, ready, job, awaited, watch.clone()))
            }
        };
        palisade_apply::call_back();
        result.inspect_err(|error| {
            self.0.recorder.ended(&name, Err(error), &watch);
            self.0.telemetry.run(&watch, &name, Err(error), self.0.session.agent());
        })
    }

    /// Decides, and asks if need be: what may run is made ready, what may not is an outcome.
    fn decide(&self, job: &Job) -> Result<Result<Ready, (String, Outcome)>, CannotRun> {
        let (cwd, place) = self.folder(job)?;
        let Inner { guard, recorder, session, .. } = &*self.0;
        let asked = job.words.asked();
        let verdict = guard.decide_as(job.tool.as_deref(), asked, &cwd);
        let verdict = variables::judged(guard, verdict, &job.variables, &cwd);
        let remembers = recorder.records() || matches!(verdict, Verdict::Ask(_));
        let (run, hash) = if remembers {
            (run_name(), recorder.hash(asked, guard.root(), &cwd, &job.variables))
        } else {
            (String::new(), String::new())
        };
        let variables = &job.variables;
        let call =
            Recorded { run: &run, hash: &hash, asked, root: guard.root(), cwd: &cwd, variables };
        if recorder.records() {
            recorder.decision(call, &verdict, session, self.unconfined().is_some());
        }
        let (argv, shell) = self.argv(job);
        let root = session.root().path.clone();
        let about = About { argv, shell, root, cwd: place, under: None };
        let refused = |result| (run.clone(), about.clone().outcome(result, Vec::new()));
        let permit = match &verdict {
            Verdict::Allow(permit) => permit.clone(),
            Verdict::Deny(reasons) => {
                return Ok(Err(refused(Done::Denied { reasons: reasons.clone() })));
            }
            Verdict::Ask(reasons) => {
                // A person takes their time, and what is made ahead grows old.
                palisade_apply::call_back();
                let because = self.ask(call, reasons);
                match (because, verdict.confirmed()) {
                    (None, Some(permit)) => permit,
                    (because, _) => {
                        let because = because.unwrap_or(Unconfirmed::Nobody);
                        let reasons = reasons.clone();
                        return Ok(Err(refused(Done::Unconfirmed { reasons, because })));
                    }
                }
            }
        };
        // It may run: what takes the kernel longest begins now, if somebody has time for it.
        self.0.host.send_ahead();
        let (mut ordered, caches) = self.prepared(job, &about.cwd, &cwd)?;
        let about = About { under: ordered.under.clone(), ..about.clone() };
        let in_use = self.enter_workspace(&mut ordered.order)?;
        Ok(Ok(Ready { permit, ordered, about, name: run, caches, in_use }))
    }

    /// Returns the folder that a job runs in: as text, and without links.
    fn folder(&self, job: &Job) -> Result<(String, PathBuf), CannotRun> {
        let folder = match &job.cwd {
            Some(folder) => self.0.cwd.join(folder),
            None => self.0.cwd.clone(),
        };
        let place = match straight_folder(&folder, Opening::Look) {
            Some((place, _)) => place,
            None => match folder.canonicalize() {
                Ok(place) if place.is_dir() => place,
                Ok(_) | Err(_) => return Err(CannotRun::Folder { folder }),
            },
        };
        self.check_ours(&place)?;
        match folder.into_os_string().into_string() {
            Ok(text) => Ok((text, place)),
            Err(folder) => Err(CannotRun::NoText { folder: folder.into() }),
        }
    }

    /// Works out what the policy says about a job, and under which profile it runs.
    fn order(
        &self,
        job: &Job,
        (place, cwd): (&Path, &str),
        own: Option<&OwnState>,
    ) -> Result<Ordered, CannotRun> {
        let Inner { session, guard, environment, .. } = &*self.0;
        let tool = job.tool.as_deref();
        let picked = guard.profile(tool, job.words.asked(), cwd);
        let picked = picked.filter(|picked| session.policy().profile.value() != *picked);
        let policy = match &picked {
            None => session.policy(),
            Some(picked) => guard.policy_under(picked).ok_or_else(|| {
                CannotRun::Internal(format!("nobody knows what `{picked}` means for this command"))
            })?,
        };
        let (argv, _) = self.argv(job);
        let wrapper = policy.wrapper.sourced().map(|wrapper| wrapper.value.0.clone());
        let wrapper: Vec<String> = wrapper.into_iter().flatten().collect();
        let wrapped = |argv: Vec<String>| [wrapper.clone(), argv].concat();
        let argv = wrapped(argv);
        let root = &session.root().path;
        let mut order = Order::new(policy, root, place, session.home(), &argv, environment);
        order.plain = self.plain(job, policy).map(|it| Plain { argv: wrapped(it.argv), ..it });
        if let Some(own) = own {
            own.hide(&mut order)?;
        }
        homes::hide_in_both(&mut order, self.0.real_home.as_deref());
        // Where nothing is ours, there is no proxy either.
        if self.unconfined().is_none() && policy.require.value() != Require::External {
            network::name_proxy(&mut order, &policy.network);
        }
        order.environment = job.added_to(order.environment);
        order.trace = job.trace;
        if let Some(by) = self.unconfined() {
            order.walls = Walls::Down { by: by.to_string() };
        }
        if let Some(time) = job.timeout {
            order.bounds.time = Some(order.bounds.time.map_or(time, |policy| policy.min(time)));
        }
        match worktree::of(root) {
            Ok(None) => {}
            Ok(Some(Pointed::Inside(folder))) => {
                order.guard_repository(&root.join(".git"), &folder);
            }
            Ok(Some(Pointed::Linked(worktree))) => order.grant_worktree(&worktree),
            Err(why) => order.refuse_worktree(&root.join(".git"), why),
        }
        let log = policy.audit.path.sourced();
        let log = log.map(|path| crate::history::files(&path.value.path(), root));
        let log = log.into_iter().flatten().filter_map(|file| Folder::literal(&file).ok());
        order.protect.extend(log.map(|file| file.as_pattern().clone()));
        let under = self.unconfined().is_none().then(|| Under::of(policy, picked.as_ref()));
        let workspace = session.workspace(policy);
        let network = policy.network.clone();
        let (profile, is_own) = (policy.profile.value(), !job.variables.is_empty());
        Ok(Ordered { order, under, profile, workspace, network, is_own })
    }

    /// Takes the project's own caches, where the policy keeps them apart and the project has a use
    /// for them. Who cannot have them works without, and what it fetches is gone with it.
    fn caches(&self, order: &mut Order) -> Option<Held> {
        let (Caches::Private { .. }, Walls::Up) = (&order.caches, &order.walls) else {
            return None;
        };
        // What is read only must leave nothing behind, least of all what another run then executes.
        if order.write.is_empty() {
            return None;
        }
        if !palisade_apply::is_any_there(&order.cache_markers()) {
            return None;
        }
        let held =
            self.0.store.as_ref()?.take(&order.root, self.whose().as_deref()).ok().flatten()?;
        let mut above = held.folder().ancestors();
        let hides = |folder: &Path| order.hide.iter().any(|hidden| hidden.matches(folder));
        if above.any(hides) {
            // A root of its own holds what the policy names, wherever our state lies.
            if hides(Path::new("/")) {
                return None;
            }
            let folder = shown(held.folder());
            let message = format!(
                "what tools fetch and build is not kept: it would lie in `{folder}`, which is \
                 hidden from this run; let XDG_STATE_HOME name a folder that no policy hides and \
                 no agent works in"
            );
            order.notes.push(Note { code: "caches", message });
            return None;
        }
        order.caches = Caches::Private { store: Some(held.folder().into()) };
        Some(held)
    }

    /// Returns whose caches a run has, if it is an agent's or a task's: rights differ between them.
    fn whose(&self) -> Option<String> {
        let session = &self.0.session;
        let agent = session.agent().map(|name| format!("agent {name}"));
        let task = session.task().map(|name| format!("task {name}"));
        let both: Vec<String> = agent.into_iter().chain(task).collect();
        (!both.is_empty()).then(|| both.join(", "))
    }

    /// Looks at our own state; where it is to be hidden, its folders are made first.
    fn own_state(&self) -> Result<Option<OwnState>, CannotRun> {
        let look = if self.hides() { OwnState::made } else { OwnState::look };
        self.0.state.as_deref().map(look).transpose()
    }

    /// Returns what says that nothing is confined, if something does.
    fn unconfined(&self) -> Option<&Origin> {
        let mut warnings = self.0.session.warnings().iter();
        warnings.find_map(|warning| {
            let Warning::Unconfined { origin } = warning else { return None };
            Some(origin)
        })
    }
}

/// Returns the caller's own span, if the environment names one.
fn traceparent(request: &Request) -> Option<&str> {
    request.env.get(std::ffi::OsStr::new("TRACEPARENT"))?.to_str()
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("root", &self.0.session.root().path).finish_non_exhaustive()
    }
}
