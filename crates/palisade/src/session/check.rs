//! Looking at one file, without any of the others.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use palisade_policy::dialect::{self, Reading};
use palisade_policy::key::{Field, Grants};
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::lint::{self, Lint};
use palisade_policy::name::{Anchors, Folder};
use palisade_policy::policy::{Document, Include, Policy, Profile};
use palisade_policy::text::Source;

use super::broken;
use super::error::OpenError;
use super::group::{Group, Text};
use super::load::{Loader, found_texts, read_named};
use super::locate::find_root;
use super::request::Request;
use crate::read::{Place, read_policy_stream};
use crate::root::ProjectRoot;

/// What `policy check` and `policy import` learn of one file.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The dialect the file is written in.
    pub dialect: &'static str,
    /// What it says, and its author's notes; a dialect may read more than one document from it.
    pub readings: Vec<Reading>,
    stack: Stack,
    /// The profiles that were read and found whole.
    profiles: Vec<Folder>,
    anchors: Anchors,
    cwd: PathBuf,
}

impl Checked {
    /// Looks the policies over that the file makes, alone on top of the built-in one: for everyone,
    /// and for each agent and task it speaks of. What is odd for several is told once.
    ///
    /// # Errors
    ///
    /// As [`resolve`].
    pub fn lints(&self) -> Result<Vec<Lint>, OpenError> {
        let mut lints: Vec<Lint> = Vec::new();
        for choice in self.choices() {
            let resolved = resolve(&self.stack, &choice, Trust::Trusted)?;
            let documents = self.stack.documents().map(|(_, document)| document);
            let own = documents.flat_map(|document| {
                let agent = choice.agent.as_ref().and_then(|name| document.agents.get(name));
                let task = choice.task.as_ref().and_then(|name| document.tasks.get(name));
                agent.into_iter().chain(task.map(|task| &task.policy))
            });
            let own: Vec<&Policy> = own.collect();
            let context = lint::Context {
                anchors: &self.anchors,
                cwd: &self.cwd,
                checked: &self.profiles,
                own: &own,
            };
            for found in lint::lint(&resolved.policy, &context) {
                let same =
                    |known: &Lint| (known.code, &known.origin) == (found.code, &found.origin);
                if !lints.iter().any(same) {
                    lints.push(found);
                }
            }
        }
        Ok(lints)
    }

    /// Lists everyone for whom some text says something of its own, and everyone else.
    fn choices(&self) -> Vec<Choice> {
        let agents = self.stack.agents().into_iter();
        let agents = agents.map(|name| Choice { agent: Some(name.into()), task: None });
        let tasks = self.stack.tasks().into_iter();
        let tasks = tasks.map(|name| Choice { agent: None, task: Some(name.into()) });
        std::iter::once(Choice::default()).chain(agents).chain(tasks).collect()
    }

    /// Returns all that the file and its includes say as one native document, as text, and what
    /// is not in it.
    pub fn native_text(&self) -> (String, Vec<&'static str>) {
        let (mut whole, mut lost) = (Document::default(), Vec::new());
        for (layer, document) in self.stack.documents() {
            if layer == Layer::Project {
                lost.push("the project's own files are left out; translate them by name");
                continue;
            }
            let Document { policy, agents, tasks, .. } = document.clone();
            whole.policy.merge(self.portable(policy, &mut lost));
            for (name, policy) in agents {
                whole.agents.entry(name).or_default().merge(self.portable(policy, &mut lost));
            }
            for (name, task) in tasks {
                let known = whole.tasks.entry(name).or_default();
                known.policy.merge(self.portable(task.policy, &mut lost));
                known.agent = task.agent.or(known.agent.take());
            }
        }
        lost.sort_unstable();
        lost.dedup();
        (dialect::write_document(&whole, &self.anchors), lost)
    }

    /// Makes a policy say in a native file no more than it says here.
    fn portable(&self, policy: Policy, lost: &mut Vec<&'static str>) -> Policy {
        let in_file = policy.profile.sourced().and_then(|profile| match &profile.value {
            Profile::File(file) => Some(file.path()),
            Profile::Readonly | Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork => None,
        });
        let ending = in_file.as_ref().and_then(|file| file.extension());
        let unnamed = in_file.is_some() && !ending.is_some_and(|it| it == "sb" || it == "yaml");
        let moved = in_file.is_some() && policy.root.sourced().is_some();
        if moved {
            lost.push("the profile is written out: a native file has no workspace beside the root");
        } else if unnamed {
            lost.push("the profile is written out: a native file names `.sb` and `.yaml` files");
        }
        // One that cannot be written out goes on naming its file.
        let whole = (moved || unnamed).then(|| self.stack.written_out(&policy).ok()).flatten();
        let mut policy = whole.unwrap_or(policy);
        // Such an entry takes back our list alone; in a native file it would reach further.
        let unhide = policy.files.unhide.entries();
        let (ours, own): (Vec<_>, Vec<_>) =
            unhide.iter().cloned().partition(|entry| entry.origin.layer == Layer::Preset);
        if !ours.is_empty() {
            lost.push("what the built-in list hides stays hidden; `files.unhide` would lift it");
            policy.files.unhide = if own.is_empty() { Grants::default() } else { Grants::new(own) };
        }
        policy
    }
}

impl Request {
    /// Reads one file, told apart by its name and shape unless a dialect is given as
    /// `DIALECT:FILE`, and says what is in it. Relative paths in it start at `root`.
    ///
    /// # Errors
    ///
    /// Every problem of the file.
    pub fn check_file(&self, named: &str, root: &Path) -> Result<Checked, OpenError> {
        // The lines of a faulty file are printed, so a file of the project leads to no other place.
        let path = self.cwd.join(&*Include::new(named).path);
        // A path that climbs out is one that a person typed, and is theirs.
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let real = if climbs { path.canonicalize().unwrap_or(path) } else { path };
        let lies_in = real.starts_with(root);
        let place = if lies_in { Place::InProject { root, uid: self.uid() } } else { Place::Named };
        self.check(read_named(&self.cwd, self.layer(), place, named)?, root)
    }

    /// Reads a policy text from a stream and says what is in it, as [`Request::check_file`] does
    /// for a file. `name` stands for it in messages; no more is read than a file may hold.
    ///
    /// # Errors
    ///
    /// Every problem of the text.
    pub fn check_stream(
        &self,
        name: &str,
        stream: impl Read,
        root: &Path,
    ) -> Result<Checked, OpenError> {
        let path = PathBuf::from(name);
        let text = read_policy_stream(&path, stream)?;
        let text = Text { layer: self.layer(), source: Source::new(name, &text), path };
        let told = dialect::tell(&text.source).map_err(|problem| broken(vec![problem]))?;
        self.check(Group::Texts(told, vec![text]), root)
    }

    /// Finds the project without reading any file of it; a user's file may name it.
    ///
    /// # Errors
    ///
    /// When there is none, or the one that was named is not a folder.
    pub fn project(&self) -> Result<ProjectRoot, OpenError> {
        let places = self.places();
        let found = found_texts(&places)?;
        let texts = found.iter().map(|text| (text.layer, &text.source));
        Ok(find_root(self, &places, texts)?.0)
    }

    fn check(&self, group: Group, root: &Path) -> Result<Checked, OpenError> {
        let anchors = Anchors { root: root.into(), home: self.places().home };
        let in_project = Place::InProject { root, uid: self.uid() };
        let mut loader = Loader::new(self, in_project, &anchors)?;
        let lies_in = |text: &Text| text.path.is_relative() || text.path.starts_with(root);
        loader.contained = group.texts().iter().any(lies_in);
        let (Group::Texts(dialect, _) | Group::Places(dialect, _)) = &group;
        let dialect = dialect.name;
        let readings = loader.add(group, &mut Vec::new())?;
        let profiles = loader.add_profiles()?;
        let stack = loader.stack;
        Ok(Checked { dialect, readings, stack, profiles, anchors, cwd: self.cwd.clone() })
    }
}
