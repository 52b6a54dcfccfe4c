//! Agentao's sandbox as its own programs use it: switched on and off, and to another profile, for
//! one session.
//!
//! Nothing of this is written to a file. The files are read once, and again when the project
//! changes; what is wrong with them is kept, and nothing is confined by guess: while the files are
//! broken every question but "off" gets the error.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod running;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use palisade_apply::sys::identity;
use palisade_policy::dialect::agentao::{self, Profiles, SHELL_TOOL, Sandbox};
use palisade_policy::dialect::{self, Input, Reading, Surroundings};
use palisade_policy::key::{Sourced, Strictness as _};
use palisade_policy::layer::{Choice, Layer, Origin, Resolved, Stack, Trust, resolve};
use palisade_policy::name::{Anchors, Folder, Found};
use palisade_policy::policy::{Document, Policy, Profile};
use palisade_policy::text::{Diagnostic, Source, visible};

use crate::read::{Place, ReadError, read_policy_file};
use crate::session::OpenError;
use crate::session::world::{World, with_world};

/// One session of Agentao's sandbox.
#[derive(Clone, Debug)]
pub struct SandboxSession {
    anchors: Anchors,
    trust: Trust,
    loaded: Result<Loaded, SandboxMisconfigured>,
    enabled: Option<bool>,
    default_profile: Option<String>,
}

/// The sandbox's files cannot be used. Nothing was executed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the sandbox is misconfigured, nothing was executed: {}", problems.join("; "))]
pub struct SandboxMisconfigured {
    /// Everything that is wrong, one by one.
    pub problems: Vec<String>,
}

/// Why there is no sandbox. Nothing was executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotOpen {
    /// Agentao's files cannot be used.
    #[error(transparent)]
    Misconfigured(#[from] SandboxMisconfigured),
    /// A policy cannot.
    #[error("nothing was executed: {0}")]
    Policy(#[from] OpenError),
}

/// How the sandbox stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Status {
    /// Whether it confines.
    pub state: State,
    /// The profile for calls that no rule picks one for; none while the files are broken.
    pub default_profile: Option<String>,
    /// What the profile may write.
    pub workspace_root: PathBuf,
    /// The profiles that can be chosen.
    pub profiles: Vec<String>,
    /// The rule that picks another profile for every shell command, if there is one.
    pub shadowed_by: Option<ShadowingRule>,
    /// What is wrong with the files.
    pub problems: Vec<String>,
}

/// Whether the sandbox confines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// Its files cannot be used, so no command runs.
    Broken,
    /// It does not.
    Disabled,
    /// It does.
    Enabled,
}

impl State {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Disabled => "disabled",
            Self::Enabled => "enabled",
        }
    }
}

/// A rule that keeps the default profile from shell commands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShadowingRule {
    /// The profile it picks.
    pub profile: String,
    /// Where it stands.
    pub origin: Origin,
}

/// What the files say.
#[derive(Clone, Debug)]
struct Loaded {
    /// The keys of the files that may widen.
    sandbox: Sandbox,
    readings: Vec<Reading>,
}

impl SandboxSession {
    /// Reads the user's and the project's `sandbox.json`. What is wrong with them is not lost: it
    /// is what [`status`](Self::status) shows and every command is refused with.
    pub fn open(root: &Path, home: Option<&Path>, trust: Trust) -> Self {
        let anchors = Anchors { root: root.into(), home: home.map(Into::into) };
        let loaded = Loaded::read(&anchors, trust);
        Self { anchors, trust, loaded, enabled: None, default_profile: None }
    }

    /// Goes to another project and reads its files. What was switched in this session stays so.
    pub fn set_project(&mut self, root: &Path, trust: Trust) {
        self.anchors.root = root.into();
        self.trust = trust;
        self.loaded = Loaded::read(&self.anchors, trust);
    }

    /// Switches the sandbox on or off for this session; `None` leaves it to the files. Off works
    /// whatever the files say, even broken ones. Only a person may ask for it.
    pub fn set_enabled(&mut self, enabled: Option<bool>) {
        self.enabled = enabled;
    }

    /// Chooses the profile for this session; returns the rule that keeps it from shell commands, if
    /// there is one, because the person who chose it should know.
    ///
    /// # Errors
    ///
    /// The profile is unknown or broken, or the files are; the one before stays.
    pub fn set_default_profile(
        &mut self,
        name: &str,
    ) -> Result<Option<ShadowingRule>, SandboxMisconfigured> {
        self.loaded()?;
        match self.profile_health_error(name) {
            Some(problem) => Err(SandboxMisconfigured { problems: vec![problem] }),
            None => {
                self.default_profile = Some(name.into());
                Ok(self.status().shadowed_by)
            }
        }
    }

    /// Says why a profile cannot be used; none if it can.
    pub fn profile_health_error(&self, name: &str) -> Option<String> {
        with_files(&self.anchors, |around| Profiles::new(&self.said(), around).health_error(name))
    }

    /// Returns the profile that confines a call for which no rule picks another; none while the
    /// sandbox is off.
    ///
    /// # Errors
    ///
    /// The files are broken, or the profile is: the call must not run.
    pub fn default_profile(&self) -> Result<Option<Profile>, SandboxMisconfigured> {
        match self.state() {
            State::Disabled => return Ok(None),
            State::Broken | State::Enabled => {}
        }
        Ok(Some(self.resolved()?.policy.profile.value()))
    }

    /// Tells how the sandbox stands.
    pub fn status(&self) -> Status {
        let (resolved, problems) = match self.resolved() {
            Ok(resolved) => (Some(resolved), Vec::new()),
            Err(SandboxMisconfigured { problems }) => (None, problems),
        };
        let policy = resolved.map(|resolved| resolved.policy);
        Status {
            state: self.state(),
            default_profile: policy.as_ref().map(|policy| name_of(&policy.profile.value())),
            workspace_root: policy
                .as_ref()
                .and_then(workspace_root)
                .unwrap_or_else(|| self.anchors.root.clone()),
            profiles: with_files(&self.anchors, |around| {
                Profiles::new(&self.said(), around).names()
            }),
            shadowed_by: policy.as_ref().and_then(shadowing_rule),
            problems,
        }
    }

    fn state(&self) -> State {
        match (self.enabled, &self.loaded) {
            (Some(false), _) => State::Disabled,
            (_, Err(_)) => State::Broken,
            (Some(true), Ok(_)) => State::Enabled,
            (None, Ok(loaded)) if loaded.is_on() => State::Enabled,
            (None, Ok(_)) => State::Disabled,
        }
    }

    fn loaded(&self) -> Result<&Loaded, SandboxMisconfigured> {
        self.loaded.as_ref().map_err(Clone::clone)
    }

    /// Returns what the files say of profiles; nothing while they are broken.
    fn said(&self) -> Sandbox {
        self.loaded.as_ref().map(|loaded| loaded.sandbox.clone()).unwrap_or_default()
    }

    /// Returns what the profile stands for that was chosen in this session, if one was.
    fn chosen(&self) -> Result<Option<Policy>, SandboxMisconfigured> {
        let (loaded, Some(name)) = (self.loaded()?, &self.default_profile) else {
            return Ok(None);
        };
        with_files(&self.anchors, |around| {
            let profiles = Profiles::new(&loaded.sandbox, around);
            // The project may have changed since the profile was chosen.
            match (profiles.health_error(name), profiles.find(name)) {
                (None, Some(value)) => {
                    let origin = Origin::of(Layer::Library);
                    Ok(Some(profiles.chosen(Sourced { value, origin })))
                }
                (problem, _) => Err(misconfigured(problem.into_iter())),
            }
        })
    }

    /// Works out what holds when the sandbox is on.
    fn resolved(&self) -> Result<Resolved, SandboxMisconfigured> {
        let loaded = self.loaded()?;
        let mut stack = Stack::new(&self.anchors).map_err(|problems| SandboxMisconfigured {
            problems: problems.iter().map(ToString::to_string).collect(),
        })?;
        // A file that is off says nothing, unless a person switched all of it on, or asks what
        // would hold if they did.
        let as_if_on = self.enabled == Some(true) || self.state() == State::Disabled;
        for Reading { layer, document, .. } in &loaded.readings {
            let mut document = document.clone();
            if as_if_on {
                document.enabled.clear();
            }
            stack.push(*layer, document);
        }
        if let Some(policy) = self.chosen()? {
            stack.push(Layer::Library, Document { policy, ..Document::default() });
        }
        resolve(&stack, &Choice::default(), self.trust)
            .map_err(|error| misconfigured([error.to_string()].into_iter()))
    }
}

impl Loaded {
    fn read(anchors: &Anchors, trust: Trust) -> Result<Self, SandboxMisconfigured> {
        with_files(anchors, |around| {
            let sources =
                sources(around).map_err(|error| misconfigured([error.to_string()].into_iter()))?;
            let inputs: Vec<Input<'_>> =
                sources.iter().map(|(source, layer)| Input { source, layer: *layer }).collect();
            let told = |problems: Vec<Diagnostic>| misconfigured(problems.iter().map(one_line));
            let Some(dialect) = dialect::named("agentao") else {
                return Err(misconfigured(["the dialect is missing".to_owned()].into_iter()));
            };
            let readings = (dialect.read)(&inputs, around).map_err(told)?;
            // Where profiles lie is not for a project to say unless it is trusted.
            let heard =
                |input: &&Input<'_>| input.layer != Layer::Project || trust == Trust::Trusted;
            let heard: Vec<Input<'_>> = inputs.iter().filter(heard).copied().collect();
            let sandbox = agentao::merged(&heard, around).map_err(told)?;
            let unhealthy = unhealthy(&sandbox, around);
            if unhealthy.is_empty() {
                Ok(Self { sandbox, readings })
            } else {
                Err(SandboxMisconfigured { problems: unhealthy })
            }
        })
    }

    /// Returns whether some file switches the sandbox on. A file that is off confines nothing
    /// itself and lifts no other (Ruling 8): a project's `false` stands over the user's `true` for
    /// the project's own file alone, trusted or not.
    fn is_on(&self) -> bool {
        let on = |reading: &Reading| reading.document.switched_off(&Choice::default()).is_none();
        self.readings.iter().any(on)
    }
}

/// Hands the world around a project to `ask`. There are no variables in it: Agentao's files mean
/// the same in every environment.
fn with_files<T>(anchors: &Anchors, ask: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let world = World { anchors, cwd: &anchors.root, var: &|_| None, place: Place::Named };
    with_world(&world, ask)
}

/// Reads the documented files that exist, weakest first.
fn sources(around: &Surroundings<'_>) -> Result<Vec<(Source, Layer)>, ReadError> {
    let root = &around.anchors.root;
    let user = around.anchors.home.as_ref().map(|home| (home, Layer::User, Place::Named));
    let in_project = Place::InProject { root, uid: identity::effective_uid() };
    let mut sources = Vec::new();
    for (folder, layer, place) in user.into_iter().chain([(root, Layer::Project, in_project)]) {
        let path = folder.join(".agentao/sandbox.json");
        match read_policy_file(&path, place) {
            Ok(text) => sources.push((Source::new(&path.to_string_lossy(), &text), layer)),
            Err(ReadError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sources)
}

/// Checks every profile that the files name: a broken one is found now, not at the first command.
fn unhealthy(sandbox: &Sandbox, around: &Surroundings<'_>) -> Vec<String> {
    let default = sandbox.default_profile.as_ref().and_then(|name| name.value.as_deref());
    let rules = sandbox.rules.iter().flat_map(|rules| &rules.value);
    let names = default.into_iter().chain(rules.map(|rule| &*rule.value.profile));
    let profiles = Profiles::new(sandbox, around);
    names.filter_map(|name| profiles.health_error(name)).collect()
}

fn misconfigured(problems: impl Iterator<Item = String>) -> SandboxMisconfigured {
    SandboxMisconfigured { problems: problems.collect() }
}

/// Tells a problem with its place and without the lines around it.
fn one_line(problem: &Diagnostic) -> String {
    let place = problem.place().map_or_else(String::new, |place| format!(":{place}"));
    format!("{}{place}: {}", visible(problem.file()), problem.message())
}

/// Returns the name of a profile; of one in a file, the name it is found by.
pub(crate) fn name_of(profile: &Profile) -> String {
    match profile {
        Profile::File(file) => {
            let path = file.path();
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            name.strip_suffix(".sb").unwrap_or(&name).into()
        }
        Profile::Readonly | Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork => {
            profile.to_string()
        }
    }
}

/// Returns the folder that the files name as writable.
fn workspace_root(policy: &Policy) -> Option<PathBuf> {
    let for_file = policy.root.sourced().map(|root| root.value.path());
    for_file.or_else(|| policy.files.write.values().next().map(Folder::path))
}

/// Finds the first rule that picks another profile for every shell command.
pub(crate) fn shadowing_rule(policy: &Policy) -> Option<ShadowingRule> {
    let rules = policy.commands.rules.lists().iter().flat_map(|list| &list.rules);
    let mut shell = rules.filter(|rule| {
        rule.value.args.is_empty() && rule.value.tool.matches(SHELL_TOOL) == Found::Yes
    });
    let (profile, origin) =
        shell.find_map(|rule| Some((rule.value.profile.as_ref()?, &rule.origin)))?;
    let own = policy.profile.value();
    let bounded = policy.profile.sourced().is_some_and(|chosen| chosen.origin.bounds_rule(origin));
    let holds = !bounded || !own.within(profile);
    let other = *profile != own && holds;
    other.then(|| ShadowingRule { profile: name_of(profile), origin: origin.clone() })
}
