//! From layers to the policy in force.

mod between;
mod error;
mod known;
mod picking;

use std::sync::Arc;

use super::{Layer, Origin, Scope};
use crate::agent::AgentPreset;
use crate::builtin::BuiltIn;
use crate::key::{Field, Grants, Ignored, Setting, Sourced, Strictness};
use crate::name::{Anchors, Folder, PathPattern, WideHost};
use crate::policy::{Document, NetworkMode, Policy, Preset, Profile, Require, Task};
use crate::text::Diagnostic;
use between::Statement;
pub use error::CannotResolve;
use known::Known;

/// The texts that were loaded, each with its layer, on top of the built-in ones.
#[derive(Clone, Debug)]
pub struct Stack {
    builtin: BuiltIn,
    documents: Vec<(Layer, Document)>,
    profiles: Vec<(Folder, Policy)>,
}

impl Stack {
    /// Starts with what Palisade itself brings.
    ///
    /// # Errors
    ///
    /// When that cannot be read for these folders: see [`BuiltIn::read`].
    pub fn new(anchors: &Anchors) -> Result<Self, Vec<Diagnostic>> {
        let builtin = BuiltIn::read(anchors)?;
        Ok(Self { builtin, documents: Vec::new(), profiles: Vec::new() })
    }

    /// Adds the content of a profile that stands in a file. A file that was never added counts as
    /// `readonly`.
    pub fn push_profile(&mut self, file: Folder, content: Policy) {
        self.profiles.push((file, content.into_default()));
    }

    /// Returns the profile files that some text names, for everyone, an agent, a task or a rule.
    pub fn profile_files(&self) -> Vec<Sourced<Profile>> {
        let policies: Vec<&Policy> =
            self.documents.iter().flat_map(|(_, doc)| doc.policies()).collect();
        let rules = policies.iter().flat_map(|policy| policy.commands.rules.lists());
        let rules = rules.flat_map(|list| &list.rules).filter_map(|rule| {
            let value = rule.value.profile.clone()?;
            Some(Sourced { value, origin: rule.origin.clone() })
        });
        let chosen = policies.iter().filter_map(|policy| policy.profile.sourced().cloned());
        let named = chosen.chain(rules);
        named.filter(|profile| matches!(profile.value, Profile::File(_))).collect()
    }

    /// Adds a text; among texts of one layer a later one stands above an earlier one.
    pub fn push(&mut self, layer: Layer, document: Document) {
        self.documents.push((layer, document));
    }

    /// Returns the folder that a file means by the workspace, where it names another than the root
    /// together with the profile that stands at `profile`. Only the voice that chose the profile
    /// says so: a project may repeat a choice of the user's, and not move its workspace.
    pub fn workspace_of(&self, profile: &Origin) -> Option<&Folder> {
        let chooses = |policy: &&Policy| {
            let chosen = policy.profile.sourced().map(|chosen| &chosen.origin);
            let rules = policy.commands.rules.lists().iter().flat_map(|list| &list.rules);
            rules.map(|rule| &rule.origin).chain(chosen).any(|origin| origin == profile)
        };
        let policies = self.documents.iter().flat_map(|(_, doc)| doc.policies());
        let roots = policies.filter(chooses).filter_map(|policy| policy.root.sourced());
        let mut own = roots.filter(|root| root.origin.layer == profile.layer);
        own.next().map(|root| &root.value)
    }

    /// Returns a policy with what its profile supplies written out, where that stands in a file.
    ///
    /// # Errors
    ///
    /// When a text that Palisade itself brings cannot be read.
    pub fn written_out(&self, policy: &Policy) -> Result<Policy, CannotResolve> {
        let mut whole = self.with_profile(policy.clone())?;
        whole.profile = Setting::default();
        Ok(whole)
    }

    /// Returns every document with its layer, in the order it was added.
    pub fn documents(&self) -> impl Iterator<Item = (Layer, &Document)> {
        self.documents.iter().map(|(layer, document)| (*layer, document))
    }

    /// Returns the layers that are found by themselves, without options and files named for one run.
    pub fn found_alone(&self) -> Self {
        let mut alone = self.clone();
        alone.documents.retain(|(layer, _)| *layer <= Layer::Project);
        alone
    }

    /// Lists every statement of the project that could ever open something, whatever stands below.
    pub fn project_grants(&self) -> Vec<Ignored> {
        let mut grants = Vec::new();
        for (_, document) in self.documents.iter().filter(|(layer, _)| *layer == Layer::Project) {
            for policy in document.policies() {
                policy.clone().clamp(&Policy::default(), "", &mut grants);
            }
        }
        grants
    }

    /// Returns the names of every agent that some text speaks of.
    pub fn agents(&self) -> Vec<&str> {
        let names = self.documents.iter().flat_map(|(_, doc)| doc.agents.keys());
        let mut names: Vec<&str> = names.map(|name| &**name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the names of every task that some text defines.
    pub fn tasks(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .documents
            .iter()
            .flat_map(|(_, doc)| doc.tasks.keys().map(|name| &**name))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// For whom the policy is worked out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Choice {
    /// The agent; one without an entry gets what holds for everyone.
    pub agent: Option<Arc<str>>,
    /// The task; it must exist.
    pub task: Option<Arc<str>>,
}

/// Whether the user trusted the project's files as they are now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trust {
    /// They were not: they can only narrow.
    NotTrusted,
    /// They were: they count like the user's own, but for what no project may say.
    Trusted,
}

impl Trust {
    /// Returns whether what this layer opens, chooses or switches off counts.
    fn hears(self, layer: Layer) -> bool {
        layer != Layer::Project || self == Self::Trusted
    }
}

/// The policy in force, and what was left out of it.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What holds.
    pub policy: Policy,
    /// What the project said that was left out, because it widens.
    pub ignored: Vec<Ignored>,
    /// For whom.
    pub choice: Choice,
    /// What is known of the agent, where no policy speaks of it.
    pub agent: Option<Box<AgentPreset>>,
    /// What is known of it, where a policy says what holds instead.
    pub spoken_of: Option<Box<AgentPreset>>,
    /// The file that says that nothing is confined, where that holds.
    pub unconfined: Option<Origin>,
}

/// Works out what holds for an agent and a task.
///
/// # Errors
///
/// When the task does not exist, or is for another agent, or a built-in text cannot be read.
pub fn resolve(stack: &Stack, choice: &Choice, trust: Trust) -> Result<Resolved, CannotResolve> {
    let mut ignored = Vec::new();
    let choice = settle(stack, choice, trust, &mut ignored)?;
    let mut said = statements(stack, &choice, |_| true);
    for statement in &mut said {
        statement.policy.drop_reserved(&mut ignored);
    }
    let said = stack.between(said)?;
    let preset = chosen_preset(&said);
    let known = stack.agent_preset(&choice, trust)?;
    let narrowing = trust == Trust::NotTrusted
        && stack.documents.iter().any(|(layer, _)| *layer == Layer::Project);
    let policy = if narrowing {
        stack.narrowed(said, &choice, &known, &mut ignored)?
    } else {
        stack.fold(said, preset, &known)?
    };
    let unheard = stack.documents.iter().filter(|(layer, _)| !trust.hears(*layer));
    ignored.extend(unheard.filter_map(|(_, document)| {
        let origin = document.lets_out(&choice)?.clone();
        Some(Ignored { key: "enabled".into(), value: "false".into(), origin })
    }));
    ignored.retain(|part| part.origin.layer == Layer::Project);
    let Known { holds: agent, spoken_of } = known;
    let mut resolved = Resolved { policy, ignored, choice, agent, spoken_of, unconfined: None };
    // A file that lets everyone out but some agents must not let a task out whose agent we do not
    // believe.
    if !resolved.ignored.iter().any(|part| part.key.starts_with("tasks.")) {
        resolved.settle_confinement(stack, trust);
    }
    Ok(resolved)
}

/// Finds the task's agent, and refuses a task that does not exist. An untrusted project does not
/// choose the agent: another agent's section may be wider.
fn settle(
    stack: &Stack,
    choice: &Choice,
    trust: Trust,
    ignored: &mut Vec<Ignored>,
) -> Result<Choice, CannotResolve> {
    let Some(name) = &choice.task else { return Ok(choice.clone()) };
    let mut found: Vec<(Layer, &Task)> = stack
        .documents
        .iter()
        .filter_map(|(layer, doc)| doc.tasks.get(name).map(|task| (*layer, task)))
        .collect();
    if found.is_empty() {
        let known = stack.tasks().into_iter().map(str::to_owned).collect();
        return Err(CannotResolve::NoSuchTask { task: name.to_string(), known });
    }
    found.sort_by_key(|(layer, _)| *layer); // stable: texts of one layer stay in their order
    for (_, task) in found.iter().filter(|(layer, _)| !trust.hears(*layer)) {
        if let Some(agent) = &task.agent {
            let scope = Scope::Task(Arc::clone(name));
            let origin = Origin { scope, ..Origin::of(Layer::Project) };
            let key = format!("tasks.{name}.agent");
            ignored.push(Ignored { key, value: agent.to_string(), origin });
        }
    }
    let mut named = found.iter().rev().filter(|(layer, _)| trust.hears(*layer));
    let wanted = named.find_map(|(_, task)| task.agent.clone());
    match (&choice.agent, wanted) {
        (Some(given), Some(wanted)) if *given != wanted => Err(CannotResolve::OtherAgent {
            task: name.to_string(),
            wanted: wanted.to_string(),
            given: given.to_string(),
        }),
        (given, wanted) => {
            Ok(Choice { agent: given.clone().or(wanted), task: choice.task.clone() })
        }
    }
}

/// Lists what is said for this choice, weakest first. Within the files, what is said for one agent
/// or task stands above what is said for everyone; options and named files stand above both.
fn statements(stack: &Stack, choice: &Choice, wanted: impl Fn(Layer) -> bool) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    for (layer, document) in stack.documents.iter().filter(|(layer, _)| wanted(*layer)) {
        if document.switched_off(choice).is_some() {
            continue; // it confines nothing, so it says nothing
        }
        let group = (*layer).max(Layer::Project);
        let mut say = |scope, policy: &Policy| {
            let (rank, dialect) = ((group, scope, *layer), document.dialect);
            found.push(Statement { rank, dialect, policy: policy.clone() });
        };
        say(0, &document.policy);
        if let Some(policy) = choice.agent.as_ref().and_then(|name| document.agents.get(name)) {
            say(1, policy);
        }
        if let Some(task) = choice.task.as_ref().and_then(|name| document.tasks.get(name)) {
            say(2, &task.policy);
        }
    }
    found.sort_by_key(|said| said.rank); // stable: texts of one layer stay in their order
    found
}

/// Returns the preset that the strongest statement names.
fn chosen_preset(statements: &[Policy]) -> Preset {
    let named = statements.iter().rev().find_map(|said| said.preset.sourced());
    named.map_or(Preset::Confined, |preset| preset.value)
}

impl Stack {
    /// Merges statements of which those of an untrusted project can only narrow.
    // Apart, as most projects say nothing, and a policy takes much of a stack.
    #[inline(never)]
    fn narrowed(
        &self,
        said: Vec<Policy>,
        choice: &Choice,
        known: &Known,
        ignored: &mut Vec<Ignored>,
    ) -> Result<Policy, CannotResolve> {
        let preset = chosen_preset(&said);
        let without = self.between(statements(self, choice, |layer| layer != Layer::Project))?;
        // The preset brings statements of its own, so it is settled before anything is merged.
        let allowed = chosen_preset(&without);
        let base = self.fold(without, allowed, known)?;
        let narrower = if preset.within(&allowed) { preset } else { allowed };
        // Whether the agent's state is opened is for the others to say.
        let root = &self.builtin.anchors().root;
        let opened = known.spoken_of.clone().filter(|agent| agent.is_opened_by(&base, root));
        let heard = Known { holds: known.holds.clone(), spoken_of: opened };
        let mut policy = self.fold(said, narrower, &heard)?;
        let asked = policy.network.ask.clone();
        let lifts = policy.lifts(&base);
        policy.clamp(&base, "", ignored);
        for lift in lifts {
            if !ignored.contains(&lift) {
                ignored.push(lift);
            }
        }
        policy.ask_for_allowed(&asked, &base, ignored);
        Ok(policy)
    }

    /// Merges statements on top of the built-in ones, those of the preset and those of the agent.
    fn fold(
        &self,
        statements: Vec<Policy>,
        preset: Preset,
        known: &Known,
    ) -> Result<Policy, CannotResolve> {
        let agent = known.holds.as_deref();
        let floor: Vec<Sourced<Require>> = statements
            .iter()
            .filter_map(|said| said.require.sourced())
            .filter(|require| require.origin.layer == Layer::System)
            .cloned()
            .collect();
        let mut policy = self.with_profile(self.builtin.policy().clone())?;
        policy.merge(self.builtin.preset(preset)?.clone());
        if let Some(agent) = agent {
            policy.merge(agent.policy.clone());
        }
        for statement in statements {
            policy.merge(statement);
        }
        // What the administrator requires nobody lowers.
        for floor in floor {
            if !policy.require.sourced().is_some_and(|require| require.value.within(&floor.value)) {
                policy.require = Setting::new(floor);
            }
        }
        if let Some(agent) = agent {
            agent.open_state(&mut policy);
        }
        let root = &self.builtin.anchors().root;
        let opened = known.spoken_of.as_ref().filter(|agent| agent.is_opened_by(&policy, root));
        if let Some(agent) = opened {
            agent.keep_programs(&mut policy);
        }
        policy.apply_unhide();
        Ok(policy)
    }

    /// Puts the defaults of the profile that a statement chooses under the statement itself, where
    /// they replace what lower layers said (Ruling 1).
    fn with_profile(&self, statement: Policy) -> Result<Policy, CannotResolve> {
        let Some(mut policy) = self.defaults(&statement)? else { return Ok(statement) };
        policy.merge(statement);
        Ok(policy)
    }

    /// Returns what the profile that a statement chooses supplies.
    fn defaults(&self, statement: &Policy) -> Result<Option<Policy>, CannotResolve> {
        let Some(profile) = statement.profile.sourced() else { return Ok(None) };
        let in_file =
            self.profiles.iter().find(|(file, _)| profile.value == Profile::File(file.clone()));
        if let Some((_, content)) = in_file {
            return Ok(Some(content.clone()));
        }
        let known = self.builtin.profile(&profile.value, &profile.origin)?;
        match known {
            Some(known) => Ok(Some(known)),
            None => Ok(self.builtin.profile(&Profile::Readonly, &profile.origin)?),
        }
    }
}

impl Resolved {
    /// Honours a file of another system that says it confines nothing (Ruling 8): the built-in
    /// `require` gives way to it. Any other file that has a say confines, and then nothing gives
    /// way; an untrusted project can be such a file, but cannot switch anything off.
    fn settle_confinement(&mut self, stack: &Stack, trust: Trust) {
        let confining = stack.documents.iter().filter(|(_, doc)| doc.confines());
        let (off, on): (Vec<_>, Vec<_>) =
            confining.partition(|(_, doc)| doc.switched_off(&self.choice).is_some());
        let origin = off.iter().rfind(|(layer, _)| trust.hears(*layer));
        let origin = origin.and_then(|(_, doc)| doc.lets_out(&self.choice).cloned());
        // A person who says it for this session means every file that says nothing of walls.
        let in_person =
            |origin: &Origin| origin.layer > Layer::Environment && origin.file.is_none();
        let holds = |(_, doc): &&(Layer, Document)| {
            !origin.as_ref().is_some_and(in_person) || doc.speaks_of_walls()
        };
        let confined = on.into_iter().any(|document| holds(&document));
        if let Some(origin) = origin.filter(|_| !confined) {
            self.policy.require =
                Setting::new(Sourced { value: Require::None, origin: origin.clone() });
            self.unconfined = Some(origin);
        }
    }
}

impl Policy {
    /// Settles for whom a person is asked: whom the base asks for stays asked for, and an untrusted
    /// project may have a person asked for hosts that are allowed without asking. Of a list that
    /// opens, that is the part that narrows.
    fn ask_for_allowed(
        &mut self,
        asked: &Grants<WideHost>,
        base: &Self,
        ignored: &mut Vec<Ignored>,
    ) {
        let opened: Vec<WideHost> =
            base.network.allow.values().cloned().map(WideHost::from).collect();
        let narrows =
            |entry: &&Sourced<WideHost>| opened.iter().any(|host| host.covers(&entry.value));
        let more: Vec<_> = asked.entries().iter().filter(narrows).cloned().collect();
        ignored.retain(|part| {
            part.key != "network.ask" || !more.iter().any(|entry| entry.origin == part.origin)
        });
        let mut entries = base.network.ask.entries().to_vec();
        // Where only what is listed is reached, `*` is about names, and covers no address.
        let is_new = |entry: &Sourced<WideHost>| {
            let known = base
                .network
                .ask
                .values()
                .any(|known| !known.is_everything() && known.covers(&entry.value));
            entry.value.is_network()
                && base.network.mode.value() != NetworkMode::Monitor
                && !known
                && !more.contains(entry)
        };
        for entry in self.network.ask.entries().iter().chain(&more) {
            if is_new(entry) {
                let Sourced { value, origin } = entry.clone();
                let (key, value) = ("network.ask".to_owned(), value.to_string());
                ignored.push(Ignored { key, value, origin });
            } else if !entries.contains(entry) {
                entries.push(entry.clone());
            }
        }
        if !entries.is_empty() {
            self.network.ask = Grants::new(entries);
        }
    }

    /// Returns what a project unhides of the base. The user may have written the very same entry:
    /// there it does not reach what stands beside it, here it would.
    fn lifts(&self, base: &Self) -> Vec<Ignored> {
        let stays = |hidden: &&PathPattern| self.files.hide.values().any(|own| own == *hidden);
        let lost: Vec<&PathPattern> =
            base.files.hide.values().filter(|hidden| !stays(hidden)).collect();
        let opens = self.files.unhide.entries().iter().filter(|open| {
            open.origin.layer == Layer::Project
                && lost.iter().any(|hidden| open.value.covers(hidden))
        });
        let named = opens.map(|open| Ignored {
            key: "files.unhide".into(),
            value: open.value.to_string(),
            origin: open.origin.clone(),
        });
        named.collect()
    }

    /// Leaves out of a project's statements what no project may say, trusted or not.
    fn drop_reserved(&mut self, ignored: &mut Vec<Ignored>) {
        let reserved = self.never_a_projects().into_iter();
        let reserved: Vec<(&str, Origin)> =
            reserved.map(|(key, origin)| (key, origin.clone())).collect();
        for (said, origin) in reserved {
            if origin.layer != Layer::Project {
                continue;
            }
            let (key, value) = said.split_once(": ").unwrap_or((said, ""));
            match key {
                "require" => self.require = Setting::default(),
                _ => self.nested = Setting::default(),
            }
            ignored.push(Ignored { key: key.into(), value: value.into(), origin });
        }
    }
}

#[cfg(test)]
mod tests;
