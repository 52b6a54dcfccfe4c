//! What this host can hold, tried live, and what to do about what it cannot.

mod files;
mod levels;
mod machine;
mod network;

use std::time::Duration;

use palisade_apply::Host;
use palisade_plan::{Block, Enforced, Level};
use palisade_policy::policy::Require;

pub use files::Lying;
pub use levels::Tried;
pub use machine::{Machine, Subsystem};
pub use network::Filtered;
pub use palisade_apply::Probe;

use crate::sandbox::{CannotRun, Outcome, Sandbox};
use crate::session::{OpenError, Request, Session, Warning};

/// How long a trial may take: it runs nothing that takes any time.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was found.
#[derive(Debug)]
pub struct Report {
    /// What kind of machine this is.
    pub machine: Machine,
    /// What walls are made of, each tried.
    pub probes: Vec<Probe>,
    /// What was found to be in the way of namespaces, by name.
    pub blocks: Vec<&'static str>,
    /// Every level, each tried, the strongest first.
    pub levels: Vec<Tried>,
    /// A network that is filtered by name, tried.
    pub network: Filtered,
    /// What the policy in force requires, or why there is none.
    pub require: Result<Require, OpenError>,
    /// Whether a file switches all walls off.
    pub is_off: bool,
    /// What a person should know of the policy in force.
    pub warnings: Vec<String>,
    /// Policy files of other systems that lie about and are not in force.
    pub files: Vec<Lying>,
    /// What became of running a command under a profile, if that was asked for.
    pub profile: Option<Profiled>,
}

/// A profile that was run.
#[derive(Debug)]
pub struct Profiled {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub outcome: Result<Outcome, Unusable>,
}

/// Why a profile cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The policy with it cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A command cannot be confined by it.
    #[error(transparent)]
    Run(#[from] CannotRun),
}

impl Unusable {
    /// Returns what to do about it, when we know.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open(error) => error.hint(),
            Self::Run(error) => error.hint(),
        }
    }
}

impl Report {
    /// Looks at this host as the project of `request` sees it.
    pub fn new(request: &Request) -> Self {
        let host = Host::assumed().keeping_spares(request.spares());
        let kernel = host.probed();
        let mut plain = request.clone();
        plain.profile = None;
        let opened = Session::open(&plain);
        let files = opened.as_ref().ok().map(|session| files::lying(request, session));
        let warnings = opened.as_ref().ok().map(|session| {
            session.warnings().iter().map(ToString::to_string).collect::<Vec<String>>()
        });
        let off = |warning: &Warning| matches!(warning, Warning::Unconfined { .. });
        let is_off = opened.as_ref().is_ok_and(|session| session.warnings().iter().any(off));
        let opened = opened.map(|session| Sandbox::of(session, &plain));
        Self {
            machine: Machine::look(request),
            probes: host.probes(),
            blocks: kernel.blocks.iter().copied().map(Block::word).collect(),
            levels: levels::tried(&host, &kernel, request, opened.as_ref().ok()),
            network: Filtered::tried(&host, &kernel, request),
            files: files.unwrap_or_default(),
            is_off,
            warnings: warnings.unwrap_or_default(),
            require: opened.map(|sandbox| sandbox.session().policy().require.value()),
            profile: request.profile.as_ref().map(|name| Profiled::run(name, request)),
        }
    }

    /// Returns whether what the policy requires can be had here, the profile works, and a service that
    /// builds and tests has walls.
    pub fn is_met(&self) -> bool {
        self.has_level()
            && self.profile.as_ref().is_none_or(Profiled::works)
            && self.bare_service().is_none()
    }

    /// Returns the service that this is run by, if it runs everything without walls: there nobody
    /// sees the warning, and what is built is often a stranger's.
    pub fn bare_service(&self) -> Option<&'static str> {
        let takes_none = matches!(self.require, Ok(Require::None));
        let has_walls = |tried: &Tried| matches!(tried.level, Level::Full | Level::Landlock);
        let is_bare = self.is_off || takes_none && !self.strongest().is_some_and(has_walls);
        self.machine.ci.filter(|_| is_bare)
    }

    /// Returns whether the level that the policy requires can be had here.
    pub fn has_level(&self) -> bool {
        let works = |level| self.levels.iter().any(|it| it.level == level && it.held.is_ok());
        match self.require {
            Ok(Require::Full) => works(Level::Full),
            Ok(Require::Landlock) => works(Level::Full) || works(Level::Landlock),
            Ok(Require::External | Require::None) => true,
            Err(_) => false,
        }
    }

    /// Returns the strongest level that can be had.
    pub fn strongest(&self) -> Option<&Tried> {
        self.levels.iter().find(|tried| tried.held.is_ok())
    }
}

impl Profiled {
    fn run(name: &str, request: &Request) -> Self {
        let run = || -> Result<Outcome, Unusable> {
            let sandbox = Sandbox::new(request)?;
            let job = crate::Job::from(["true"]).timeout(PATIENCE).brief();
            Ok(sandbox.run(job)?)
        };
        Self { name: name.to_owned(), outcome: run() }
    }

    /// Returns whether a command ran under it, and ended well.
    pub fn works(&self) -> bool {
        self.outcome.as_ref().is_ok_and(Outcome::ok)
    }

    /// Returns what held while it ran, layer by layer.
    pub fn enforced(&self) -> &[Enforced] {
        self.outcome.as_ref().map_or(&[], |outcome| outcome.layers())
    }
}
