//! Opening a project: which files speak, what they say together, and what was left out.

mod apart;
mod check;
mod error;
mod group;
mod links;
mod load;
mod locate;
mod named;
mod outvoted;
mod profile;
pub(crate) mod request;
mod status;
mod switched;
#[cfg(test)]
mod tests;
pub(crate) mod world;

use std::path::{Path, PathBuf};

use palisade_policy::agent::AgentPreset;
use palisade_policy::dialect::{Lost, Written};
use palisade_policy::key::{Field, Ignored, Refusals, Row, Setting, Sourced};
use palisade_policy::layer::{Choice, Layer, Resolved, Stack, Trust, resolve};
use palisade_policy::lint::{WithoutEffect, without_effect};
use palisade_policy::name::{Anchors, Folder, PathPattern};
use palisade_policy::policy::{NetworkMode, Profile, Require};
use palisade_policy::text::{Diagnostic, Source};
use palisade_policy::{Origin, Policy};

use apart::Apart;
pub use check::Checked;
pub use error::{OpenError, Warning};
pub use load::LoadedFile;
pub use request::{Existence, Request, Sandboxing, Speaker};

use crate::places::Places;
use crate::read::Place;
use crate::root::ProjectRoot;
use crate::trust::{ContentHash, Status, TrustError, TrustStore};
use crate::workspaces::Workspace;
use load::Loaded;

/// A project and the policy in force for it.
#[derive(Clone, Debug)]
pub struct Session {
    root: ProjectRoot,
    home: Option<PathBuf>,
    // Large, and sessions are moved.
    resolved: Box<Resolved>,
    stack: Stack,
    files: Vec<LoadedFile>,
    project: Option<ProjectFiles>,
    warnings: Vec<Warning>,
    profile_folders: Vec<(PathBuf, Layer)>,
    /// Seatbelt profiles, as they were read.
    profile_texts: Vec<(Folder, Source)>,
    /// What keeps every file that has a say from being changed.
    own: Refusals<PathPattern>,
    /// What others keep to themselves.
    apart: Apart,
}

/// A project's own policy files, and whether the user agreed to them.
#[derive(Clone, Debug)]
pub struct ProjectFiles {
    /// The files, the project's policy first.
    pub paths: Vec<PathBuf>,
    /// What names their content.
    pub content: ContentHash,
    /// What the user thinks of it.
    pub agreement: Agreement,
    store: Option<TrustStore>,
    folder: PathBuf,
    ignored: Vec<Ignored>,
    choices: Vec<Choice>,
}

/// What a project's policy files open.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Opens {
    /// What trusting them would open now.
    pub now: Vec<Ignored>,
    /// What they also say, and what your own policy allows already: it stays open should that
    /// become stricter.
    pub later: Vec<Ignored>,
    /// What no project may say, trusted or not.
    pub never: Vec<Ignored>,
}

/// Whether the user agreed to a project's policy files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Agreement {
    /// To another content than the present one.
    Changed,
    /// Never.
    Never,
    /// To exactly this content.
    Trusted,
}

impl Session {
    /// Finds the project, loads every layer and works out what holds.
    ///
    /// # Errors
    ///
    /// Anything unreadable or invalid, in any layer. Nothing was run, and there is no policy to
    /// fall back to.
    pub fn open(request: &Request) -> Result<Self, OpenError> {
        let places = request.places();
        let loaded = load::load(request, &places)?;
        let Loaded { root, root_origin, stack, files, project, mut warnings, .. } = loaded;
        let (profile_folders, profile_texts) = (loaded.profile_folders, loaded.profile_texts);
        let choice = request.choice();
        let project = project.map(|content| {
            let mut files = ProjectFiles::new(content, &places, &mut warnings);
            match request.switches.trust {
                Some(Trust::Trusted) => files.agreement = Agreement::Trusted,
                Some(Trust::NotTrusted) => files.agreement = Agreement::Never,
                None => {}
            }
            files
        });
        let agreement = project.as_ref().map_or(Agreement::Never, |project| project.agreement);
        let trust = match agreement {
            Agreement::Trusted => Trust::Trusted,
            Agreement::Changed | Agreement::Never => Trust::NotTrusted,
        };
        let mut resolved = Box::new(resolve(&stack, &choice, trust)?);
        if let Some(project) = &project {
            resolved.ignored.extend(project.ignored.iter().cloned());
        }
        links::refuse(&mut resolved);
        let anchors = Anchors { root: root.path.clone(), home: places.home.clone() };
        links::close_targets(&mut resolved.policy, &anchors);
        if !resolved.ignored.is_empty() {
            warnings.push(Warning::Ignored { agreement, parts: resolved.ignored.clone() });
        }
        if let Some(origin) = &resolved.unconfined {
            warnings.push(Warning::Unconfined { origin: origin.clone() });
        }
        if let Some(agent) = &resolved.choice.agent {
            let known: Vec<String> = stack.agents().into_iter().map(str::to_owned).collect();
            if resolved.agent.is_none() && !known.iter().any(|name| **name == **agent) {
                warnings.extend(named::unknown(agent, known, request)?);
            }
        }
        if let Some(agent) = &resolved.agent
            && resolved.policy.network.mode.value() == NetworkMode::DenyAll
            && resolved.unconfined.is_none()
            && resolved.policy.require.value() != Require::External
        {
            warnings.push(Warning::AgentOffline { agent: agent.name });
        }
        let apart = Apart::new(resolved.choice.agent.as_deref(), request, &anchors)?;
        warnings.extend(apart.hide(&mut resolved.policy, &root.path)?);
        let own = ourselves(&files, &places, &root.path);
        resolved.policy.files.protect.merge(own.clone());
        resolved.policy.root =
            Setting::new(Sourced { value: Folder::literal(&root.path)?, origin: root_origin });
        warnings.extend(replaced(&resolved.policy));
        warnings.extend(overruled(&stack, &resolved.policy));
        let home = places.home;
        Ok(Self {
            root,
            home,
            resolved,
            stack,
            files,
            project,
            warnings,
            profile_folders,
            profile_texts,
            own,
            apart,
        })
    }

    /// Opens as [`Session::open`] does, for an agent if a policy speaks of it. What is built in about
    /// agents does not count: it is for a whole agent behind walls, and opens its login to it.
    ///
    /// # Errors
    ///
    /// As [`Session::open`].
    pub fn open_for(request: &Request, agent: &str) -> Result<Self, OpenError> {
        let session = Self::open(request)?;
        let is_spoken_of = session.stack.agents().contains(&agent);
        if request.agent.is_some() || !is_spoken_of {
            return Ok(session);
        }
        let mut request = request.clone();
        request.agent = Some(agent.to_owned());
        Self::open(&request)
    }

    /// Works out what holds for calls for which the rules pick `profile`.
    ///
    /// # Errors
    ///
    /// As [`Session::open`].
    pub(crate) fn policy_for(&self, profile: &Profile) -> Result<Policy, OpenError> {
        let stack = self.stack.picking(profile);
        let mut resolved = resolve(&stack, &self.resolved.choice, self.trust())?;
        links::refuse(&mut resolved);
        let anchors = Anchors { root: self.root.path.clone(), home: self.home.clone() };
        links::close_targets(&mut resolved.policy, &anchors);
        self.apart.hide(&mut resolved.policy, &self.root.path)?;
        resolved.policy.files.protect.merge(self.own.clone());
        resolved.policy.root = self.resolved.policy.root.clone();
        Ok(resolved.policy)
    }

    fn trust(&self) -> Trust {
        match self.project.as_ref().map_or(Agreement::Never, |project| project.agreement) {
            Agreement::Trusted => Trust::Trusted,
            Agreement::Changed | Agreement::Never => Trust::NotTrusted,
        }
    }

    /// Works out what the project's files open, for everyone they speak of and whatever options
    /// this session was opened with: trust is for all that they say.
    ///
    /// # Errors
    ///
    /// As [`resolve`].
    pub fn project_opens(&self) -> Result<Opens, OpenError> {
        let Some(project) = &self.project else { return Ok(Opens::default()) };
        let stack = self.stack.found_alone();
        let mut opens = Opens { never: project.ignored.clone(), ..Opens::default() };
        for choice in std::iter::once(&Choice::default()).chain(&project.choices) {
            extend(&mut opens.never, resolve(&stack, choice, Trust::Trusted)?.ignored);
            extend(&mut opens.now, resolve(&stack, choice, Trust::NotTrusted)?.ignored);
        }
        opens.now.retain(|part| !opens.never.contains(part));
        extend(&mut opens.later, stack.project_grants());
        opens.later.retain(|part| !opens.now.contains(part) && !opens.never.contains(part));
        Ok(opens)
    }

    /// Returns the project's root and how it was found.
    pub fn root(&self) -> &ProjectRoot {
        &self.root
    }

    /// Returns the home folder that `~` stands for, where it is known.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the policy in force.
    pub fn policy(&self) -> &Policy {
        &self.resolved.policy
    }

    /// Returns the agent the policy is for, if one was chosen or the task names one.
    pub fn agent(&self) -> Option<&str> {
        self.resolved.choice.agent.as_deref()
    }

    /// Returns what is known of that agent, where no policy speaks of it and this holds instead.
    pub fn agent_preset(&self) -> Option<&AgentPreset> {
        self.resolved.agent.as_deref()
    }

    /// Returns what is known of that agent, whoever says what holds for it.
    pub(crate) fn known_agent(&self) -> Option<&AgentPreset> {
        self.resolved.agent.as_deref().or(self.resolved.spoken_of.as_deref())
    }

    /// Returns the task the policy is for.
    pub fn task(&self) -> Option<&str> {
        self.resolved.choice.task.as_deref()
    }

    /// Returns the text of a Seatbelt profile that stands in a file, as it was read.
    pub fn profile_text(&self, profile: &Profile) -> Option<&str> {
        let Profile::File(file) = profile else { return None };
        let mut texts = self.profile_texts.iter();
        texts.find(|(known, _)| known == file).map(|(_, source)| source.text())
    }

    /// Lists every key with its values and their origins.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.resolved.policy.rows("", &mut rows);
        rows
    }

    /// Returns the files that were read, weakest layer first.
    pub fn files(&self) -> &[LoadedFile] {
        &self.files
    }

    /// Returns the project's own policy files, if it has any.
    pub fn project_files(&self) -> Option<&ProjectFiles> {
        self.project.as_ref()
    }

    /// Returns what the project says that was left out.
    pub fn ignored(&self) -> &[Ignored] {
        &self.resolved.ignored
    }

    /// Returns the keys of the policy that change nothing for a command that runs.
    pub fn without_effect(&self) -> Vec<WithoutEffect> {
        without_effect(self.policy())
    }

    /// Returns whose workspace a folder is that is hidden from the agent of this session.
    pub(crate) fn hiding(&self, folder: &Path) -> Option<&Workspace> {
        self.apart.hiding(folder, self.policy(), &self.root.path)
    }

    /// Returns what a person should know before anything runs.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

impl ProjectFiles {
    fn new(content: load::ProjectContent, places: &Places, warnings: &mut Vec<Warning>) -> Self {
        let store = places.state.as_deref().map(|state| TrustStore::new(state, places.uid));
        let status = store.as_ref().map(|store| store.status(&content.folder, &content.hash));
        let agreement = match status {
            Some(Status::Trusted) => Agreement::Trusted,
            Some(Status::Changed) => Agreement::Changed,
            Some(Status::Unknown { doubt }) => {
                warnings.extend(doubt.map(|doubt| Warning::TrustStore(doubt.to_string())));
                Agreement::Never
            }
            None => Agreement::Never,
        };
        let load::ProjectContent { folder, paths, hash, ignored, choices } = content;
        Self { paths, content: hash, agreement, store, folder, ignored, choices }
    }

    /// Remembers that the user agrees to exactly this content.
    ///
    /// # Errors
    ///
    /// Nothing was remembered.
    pub fn trust(&self) -> Result<(), OpenError> {
        let store = self.store.as_ref().ok_or(OpenError::NoState)?;
        Ok(store.pin(&self.folder, &self.content, &self.paths)?)
    }
}

/// Forgets what the user agreed to for the project, whatever its files say now; answers which
/// project that is, and whether there was anything to forget.
///
/// # Errors
///
/// The agreement then still holds.
pub fn revoke(request: &Request) -> Result<(ProjectRoot, bool), OpenError> {
    let project = request.project()?;
    let state = request.places().state.ok_or(OpenError::NoState)?;
    let forgotten = TrustStore::new(&state, request.uid()).revoke(&project.path)?;
    Ok((project, forgotten))
}

/// Writes the policy in force in the form of another system; none if that has no writer.
pub fn export(session: &Session, request: &Request, dialect: &str) -> Option<Written> {
    let write = palisade_policy::dialect::named(dialect)?.write?;
    let anchors = Anchors { root: session.root.path.clone(), home: request.places().home };
    let mut written = world::with_surroundings(request, &anchors, Place::Named, |around| {
        write(session.policy(), around)
    });
    // The policy in force is one agent's and one task's, or nobody's.
    let why = "what is said for it alone is not written; name it to have it written";
    let others = |key: &str, names: Vec<&str>, chosen: Option<&str>| {
        let others = names.into_iter().filter(|name| chosen != Some(name));
        let lost = others.map(|name| Lost::new(key, name.to_owned(), why));
        lost.collect::<Vec<_>>()
    };
    let agents = others("agents", session.stack.agents(), session.agent());
    let tasks = others("tasks", session.stack.tasks(), session.task());
    written.lost.splice(0..0, agents.into_iter().chain(tasks));
    Some(written)
}

impl From<TrustError> for OpenError {
    fn from(error: TrustError) -> Self {
        Self::Trust(error)
    }
}

/// Keeps every file that had a say, and the places where the user's policy and trust are kept, from
/// being changed by what they decide about (Ruling 10).
fn ourselves(files: &[LoadedFile], places: &Places, root: &Path) -> Refusals<PathPattern> {
    let folder = places.user_policy.as_deref().and_then(Path::parent);
    let own = folder.into_iter().chain(places.state.as_deref()).map(Path::to_path_buf);
    let paths = files.iter().map(|file| file.path.clone()).chain(own).chain(hooks(root, places));
    let patterns = paths.filter_map(|path| Folder::literal(&path).ok());
    let origin = said_by(Layer::BuiltIn);
    let entries = patterns
        .filter(Folder::is_absolute)
        .map(|folder| Sourced { value: folder.as_pattern().clone(), origin: origin.clone() });
    Refusals::new(entries.collect())
}

/// Finds our own hooks in settings of agents that are not protected as a whole.
fn hooks(root: &Path, places: &Places) -> impl Iterator<Item = PathBuf> {
    let project = [".github/hooks/palisade.json", ".opencode/plugins/palisade.js"];
    let user = [".copilot/hooks/palisade.json", ".config/opencode/plugins/palisade.js"];
    let home = places.home.as_deref().unwrap_or(root);
    let project = project.map(|file| root.join(file));
    let all = project.into_iter().chain(user.map(|file| home.join(file)));
    all.filter(|file| file.symlink_metadata().is_ok())
}

/// Tells where a profile that a person chose by an option does not hold, because a file of the same
/// voice says otherwise (Ruling 1).
fn replaced(policy: &Policy) -> Vec<Warning> {
    let Some(chosen) = policy.profile.sourced() else { return Vec::new() };
    if chosen.origin.file.is_some() || chosen.origin.layer <= Layer::Project {
        return Vec::new();
    }
    let write = policy.files.write.entries().first().filter(|_| policy.files.write.is_explicit());
    let mode = policy.network.mode.sourced().filter(|_| policy.network.mode.is_explicit());
    let keys = [
        ("files.write", write.map(|write| &write.origin)),
        ("network.mode", mode.map(|mode| &mode.origin)),
    ];
    let said = keys.into_iter().filter_map(|(key, origin)| Some((key, origin?)));
    let same = said.filter(|(_, origin)| origin.layer >= chosen.origin.layer);
    let profile = chosen.value.to_string();
    same.map(|(key, origin)| Warning::ProfileReplaced {
        profile: profile.clone(),
        key,
        origin: origin.clone(),
    })
    .collect()
}

/// Tells where a profile that a person chose by an option does not hold at all, because a file that
/// they named chooses another for this agent or task.
fn overruled(stack: &Stack, policy: &Policy) -> Option<Warning> {
    let holds = policy.profile.sourced()?;
    let said = stack.documents().filter_map(|(_, document)| document.policy.profile.sourced());
    let options = said.filter(|it| it.origin.file.is_none() && it.origin.layer > Layer::Project);
    let option = options.max_by_key(|it| it.origin.layer)?;
    if holds.value == option.value {
        return None;
    }
    let profile = option.value.to_string();
    if holds.origin.layer > Layer::Preset {
        return Some(Warning::ProfileReplaced {
            profile,
            key: "profile",
            origin: holds.origin.clone(),
        });
    }
    // Nobody chose what holds: what a file of another system says stands in for it.
    let mode = policy.network.mode.sourced().map(|mode| &mode.origin);
    let write = policy.files.write.entries().first().map(|write| &write.origin);
    let mut said = [mode, write].into_iter().flatten();
    let origin = said.find(|it| it.file.is_some() && it.layer > Layer::Preset).cloned();
    Some(Warning::ProfileWider { profile, origin })
}

fn extend(known: &mut Vec<Ignored>, more: Vec<Ignored>) {
    for part in more {
        if !known.contains(&part) {
            known.push(part);
        }
    }
}

/// Returns the origin of what stands in no file.
fn said_by(layer: Layer) -> Origin {
    Origin::of(layer)
}

fn broken(problems: Vec<Diagnostic>) -> OpenError {
    OpenError::Text(problems)
}
