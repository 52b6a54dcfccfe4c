//! Each level, tried by a command that does nothing behind its walls: the last step before it starts
//! is to try them.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use palisade_apply::{End, Host, Streams};
use palisade_plan::{
    Bounds, Caches, CannotPlan, Enforced, Kernel, Level, Order, Plan, Trace, Trial, Walls, build,
};
use palisade_policy::Policy;
use palisade_policy::decide::{Asked, Call, Judge, Permit};
use palisade_policy::jail::NoLookup;
use palisade_policy::name::PathPattern;
use palisade_policy::policy::{NetworkMode, Require};

use super::PATIENCE;
use crate::sandbox::{CannotRun, Sandbox, for_this_machine};
use crate::session::Request;

/// A level that was tried.
#[derive(Debug)]
pub struct Tried {
    /// Which.
    pub level: Level,
    /// What held, layer by layer, or why it cannot be had.
    pub held: Result<Vec<Enforced>, CannotRun>,
}

impl Tried {
    /// Says why it cannot be had. The trial asked for it: what the policy requires is another matter.
    pub fn why(&self) -> Option<String> {
        let error = self.held.as_ref().err()?;
        Some(if let CannotRun::Plan(CannotPlan::Missing { wall, why, .. }) = error {
            format!("{wall} cannot be had here: {why}")
        } else {
            error.to_string()
        })
    }

    /// Returns what lifts that, when we know, without sending anybody to where they are.
    pub fn remedy(&self) -> Option<String> {
        let hint = self.held.as_ref().err()?.hint()?;
        Some(hint.replace(" (`palisade doctor` tells)", ""))
    }
}

/// Tries them, the strongest first. What each holds is what it holds of a policy's runs; where there
/// is none to ask, of the trial.
pub(super) fn tried(
    host: &Host,
    kernel: &Kernel,
    request: &Request,
    sandbox: Option<&Sandbox>,
) -> Vec<Tried> {
    let levels = [Level::Full, Level::Landlock, Level::External, Level::None].into_iter();
    // On macOS there is one wall, and it is there or not.
    let levels = levels.filter(|level| !cfg!(target_os = "macos") || *level != Level::Landlock);
    levels
        .map(|level| Tried { level, held: hold((host, kernel), request, sandbox, level) })
        .collect()
}

fn hold(
    (host, probed): (&Host, &Kernel),
    request: &Request,
    sandbox: Option<&Sandbox>,
    level: Level,
) -> Result<Vec<Enforced>, CannotRun> {
    let (require, kernel) = match level {
        Level::Full => (Require::Full, probed.clone()),
        Level::Landlock => (Require::Landlock, without_namespaces(probed)),
        Level::External => (Require::External, probed.clone()),
        // Nothing is needed for nothing.
        Level::None => return Ok(Vec::new()),
    };
    let (folder, order) = trial(request, require)?;
    if level == Level::Landlock {
        // As for a run: where something is missing that may be there again, nothing weaker is taken.
        let plan = planned((host, probed), &order, &folder);
        if let Err(short @ CannotRun::Plan(CannotPlan::Short { .. })) = plan {
            return Err(short);
        }
    }
    let plan = planned((host, &kernel), &order, &folder)?;
    let outcome = host.start(&plan, Streams::default())?.wait()?;
    ended(&outcome.end)?;
    match sandbox {
        Some(sandbox) => sandbox.held_on(&permitted(&folder)?, host, &kernel, require),
        None => Ok(outcome.enforced),
    }
}

/// Returns a command that does nothing, and the folder that it is tried in.
pub(super) fn trial(request: &Request, require: Require) -> Result<(Folder, Order), CannotRun> {
    let folder = Folder::make().map_err(|error| {
        CannotRun::Trial(format!("there is no place for a folder to try it in: {error}"))
    })?;
    let home = request.real_home().map(Path::to_owned);
    let order = order(&folder.0, home, require);
    Ok((folder, order))
}

/// Plans it for a kernel.
pub(super) fn planned(
    (host, kernel): (&Host, &Kernel),
    order: &Order,
    folder: &Folder,
) -> Result<Plan, CannotRun> {
    let facts = host.facts_of(kernel, &order.questions());
    for_this_machine(build(&permitted(folder)?, order, &facts)?, None)
}

fn permitted(folder: &Folder) -> Result<Permit, CannotRun> {
    permit(&folder.0).ok_or_else(|| CannotRun::Internal("nothing may run".into()))
}

/// A level that a command which does nothing fails at cannot be had.
pub(super) fn ended(end: &End) -> Result<(), CannotRun> {
    let how = match end {
        End::Exited(0) => return Ok(()),
        End::Exited(code) => format!("ended with {code}"),
        End::Signalled(signal) => format!("was ended by signal {signal}"),
        End::TimedOut | End::Idle => "did not end".to_owned(),
        End::Stopped => "was stopped".to_owned(),
        End::NotFound => "was not found".to_owned(),
        End::NotStarted(errno) => {
            format!("could not be started: {}", std::io::Error::from_raw_os_error(*errno))
        }
    };
    Err(CannotRun::Trial(format!("the command `true`, which does nothing, {how} behind its walls")))
}

/// Returns the same kernel as if it refused every namespace, so that the next level can be tried.
fn without_namespaces(kernel: &Kernel) -> Kernel {
    let refused = Trial::Refused { what: "this trial".into(), errno: 1 };
    let (unaided, around) = (Trial::untried(), Trial::untried());
    Kernel { namespaces: refused, unaided, around, ..kernel.clone() }
}

/// A command that does nothing, with something to hide and something to write.
fn order(folder: &Path, home: Option<PathBuf>, require: Require) -> Order {
    let secret = home.as_ref().map(|home| home.join(".ssh"));
    let secret = secret.and_then(|path| path.to_str()?.parse::<PathPattern>().ok());
    Order {
        plain: None,
        root: folder.into(),
        cwd: folder.into(),
        home,
        argv: vec!["true".into()],
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        write: vec![folder.into()],
        protect: Vec::new(),
        hide: secret.into_iter().collect(),
        readable: Vec::new(),
        others: Vec::new(),
        network: NetworkMode::DenyAll,
        unix: Vec::new(),
        publish: Vec::new(),
        nesting: palisade_plan::seccomp::Nesting::Off,
        require,
        walls: Walls::Up,
        bounds: Bounds { time: Some(PATIENCE), ..Bounds::default() },
        caches: Caches::Off,
        trace: Trace::Off,
        notes: Vec::new(),
    }
}

/// Lets the trial run: no policy of anybody's is asked.
fn permit(folder: &Path) -> Option<Permit> {
    let folder = folder.to_str()?;
    let judge = Judge::new(&Policy::default(), folder, None, &NoLookup);
    let argv = ["true".to_owned()];
    judge.decide(&Call { command: Asked::Argv(&argv), cwd: folder }, &NoLookup).confirmed()
}

/// A folder that goes with the trial.
pub(super) struct Folder(PathBuf);

impl Folder {
    fn make() -> std::io::Result<Self> {
        let name = format!("palisade-doctor-{:016x}", RandomState::new().build_hasher().finish());
        let path = fs::canonicalize(std::env::temp_dir())?.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).ok();
    }
}
