//! What a caller asks for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use palisade_apply::sys::identity;
use palisade_policy::layer::{Choice, Layer, Trust};
use palisade_policy::policy::{NetworkMode, Policy};

use crate::places::Places;
use crate::runner::RunnerConfig;
use crate::workspaces::Workspaces;

/// What to open: a folder to start from, the environment, and what the caller says on top of the
/// files.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folder to start from; the project is looked for from here upwards.
    pub cwd: PathBuf,
    /// The environment: `HOME`, `XDG_…` and `PALISADE_…` are looked at.
    pub env: BTreeMap<OsString, OsString>,
    /// The project root, if it is not to be detected.
    pub root: Option<PathBuf>,
    /// Whether the given root must exist.
    pub existence: Existence,
    /// Policy files that a person names, as `[DIALECT:]FILE`, weakest first.
    pub policies: Vec<String>,
    /// The preset, by name.
    pub preset: Option<String>,
    /// The profile, by name or path.
    pub profile: Option<String>,
    /// The mode of the network, whatever files say.
    pub network: Option<NetworkMode>,
    /// The agent.
    pub agent: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// Folders of others, which nobody here may read, whatever the policy says.
    pub apart: Vec<PathBuf>,
    /// Those of them in which nobody works yet, and where whoever begins knows of this project.
    pub beside: Vec<PathBuf>,
    /// Whether the LLM proxy's variables count, and what its flag says; none where nobody starts it.
    pub sandboxing: Option<Sandboxing>,
    /// The sandbox runner's configuration.
    pub runner: Option<RunnerConfig>,
    /// Who asks: the command line, or a program that embeds the library.
    pub speaker: Speaker,
    pub(crate) switches: Switches,
    identity: (u32, Option<PathBuf>),
}

/// What a person switched for one session, whatever Agentao's files say. There is no file, option or
/// variable for it: only a program that embeds the library can hand it on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switches {
    /// Whether its sandbox confines.
    pub(crate) enabled: Option<bool>,
    /// The profile that was chosen.
    pub(crate) chosen: Option<Box<Policy>>,
    /// Whether the program vouches for the project's files.
    pub(crate) trust: Option<Trust>,
}

impl Switches {
    /// Returns whether a person switched the sandbox off.
    pub(super) fn off(&self) -> bool {
        self.enabled == Some(false)
    }
}

/// What the flag `--enable-sandboxing` of the LLM proxy says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sandboxing {
    /// Nothing: files and variables say it.
    NotSaid,
    /// Tool calls are judged.
    On,
    /// They are not, whatever files say.
    Off,
}

/// Whether a given project root must exist.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Existence {
    /// It must.
    Required,
    /// It is only talked about: decisions are made by the text of paths where it does not exist.
    Hypothetical,
}

/// Who makes a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Speaker {
    /// A person at the command line.
    CommandLine,
    /// A program that embeds the library.
    Library,
}

impl Request {
    /// Asks for the project around `cwd` with an environment that is handed in.
    pub fn new(cwd: impl Into<PathBuf>, env: BTreeMap<OsString, OsString>) -> Self {
        let uid = identity::effective_uid();
        Self {
            cwd: cwd.into(),
            env,
            root: None,
            existence: Existence::Required,
            policies: Vec::new(),
            preset: None,
            profile: None,
            network: None,
            agent: None,
            task: None,
            apart: Vec::new(),
            beside: Vec::new(),
            sandboxing: None,
            runner: None,
            speaker: Speaker::Library,
            switches: Switches::default(),
            identity: (uid, identity::home_of(uid)),
        }
    }

    /// Asks for the project around this process's working folder, with its environment.
    ///
    /// # Errors
    ///
    /// When the working folder is gone.
    pub fn from_process() -> io::Result<Self> {
        Ok(Self::new(std::env::current_dir()?, std::env::vars_os().collect()))
    }

    pub(super) fn uid(&self) -> u32 {
        self.identity.0
    }

    /// Returns the home that the user table names, whatever `HOME` says. Root's is one that others can
    /// enter: its commands are somebody else outside.
    pub(crate) fn real_home(&self) -> Option<&Path> {
        use std::os::unix::fs::PermissionsExt as _;
        let is_open = |home: &Path| {
            home.metadata().is_ok_and(|found| found.permissions().mode() & 0o001 != 0)
        };
        self.identity.1.as_deref().filter(|home| self.identity.0 != 0 || is_open(home))
    }

    /// Returns where policies and state of this user lie. A home that is not there is not made: many
    /// a service is given one that means that it has none.
    pub fn places(&self) -> Places {
        let places = Places::from_env(&self.env, self.identity.0, self.identity.1.clone());
        let Some(home) = places.home.as_deref() else { return places };
        let is_lost =
            places.state.as_deref().is_some_and(|state| state.starts_with(home)) && !home.exists();
        if is_lost { Places { state: None, ..places } } else { places }
    }

    /// Returns where caches of projects are kept; nowhere if no home is known.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub fn cache_store(&self) -> Option<palisade_apply::cache::Store> {
        let state = self.places().state?;
        Some(palisade_apply::cache::Store::at(state.join("caches")))
    }

    /// Returns where it is remembered which agents work where; nowhere if no home is known.
    pub fn workspaces(&self) -> Option<Workspaces> {
        Some(Workspaces::new(&self.places().state?, self.identity.0))
    }

    /// Returns where placeholders wait for their next use.
    pub(crate) fn spares(&self) -> Option<PathBuf> {
        Some(self.places().state?.join("placeholders"))
    }

    pub(super) fn choice(&self) -> Choice {
        Choice {
            agent: self.agent.as_deref().map(Into::into),
            task: self.task.as_deref().map(Into::into),
        }
    }

    pub(super) fn layer(&self) -> Layer {
        match self.speaker {
            Speaker::CommandLine => Layer::CommandLine,
            Speaker::Library => Layer::Library,
        }
    }

    /// Returns a variable that is set and not empty.
    pub(crate) fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}
