//! `sandbox.json`: which profile confines, and what it may write.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::parse::parse;
use super::profiles::Profiles;
use crate::dialect::{Input, Surroundings, settled};
use crate::key::Sourced;
use crate::layer::{Layer, Origin, Scope};
use crate::name::{Folder, Pattern};
use crate::policy::Document;
use crate::text::{Diagnostic, Node, Source, Span};

/// What one `sandbox.json` says, or several together. A key that is absent says nothing; one that
/// is `null` puts the documented default back.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// Whether it confines at all.
    pub enabled: Option<Said<bool>>,
    /// The profile's name.
    pub default_profile: Option<Said<Option<Box<str>>>>,
    /// Profiles for single tools; the first that matches counts.
    pub rules: Option<Said<Vec<Said<ToolProfile>>>>,
    /// Where custom profiles lie.
    pub profiles_dir: Option<Said<Option<Folder>>>,
    /// What may be written instead of the project's root.
    pub workspace_root: Option<Said<Option<Folder>>>,
}

/// A value and the place that says it.
#[derive(Clone, Debug)]
pub struct Said<T> {
    /// The value.
    pub value: T,
    pub(super) source: Source,
    pub(super) span: Span,
    pub(super) layer: Layer,
}

/// A profile for one tool.
#[derive(Clone, Debug)]
pub struct ToolProfile {
    /// The tool, by its exact name.
    pub tool: Box<str>,
    /// The profile's name.
    pub profile: Box<str>,
    /// Arguments that must match, by search.
    pub args: BTreeMap<String, Pattern>,
}

impl<T> Said<T> {
    pub(super) fn new(value: T, node: &Node, input: &Input<'_>) -> Self {
        Self { value, source: input.source.clone(), span: node.span, layer: input.layer }
    }

    /// Returns where the value stands.
    pub fn origin(&self) -> Origin {
        Origin {
            layer: self.layer,
            scope: Scope::Base,
            file: Some(self.source.shared_name()),
            place: Some(self.source.place(self.span.start())),
        }
    }

    pub(super) fn sourced<U>(&self, value: U) -> Sourced<U> {
        Sourced { value, origin: self.origin() }
    }

    pub(super) fn complaint(&self, code: &'static str, message: String) -> Diagnostic {
        Diagnostic::new(&self.source, code, message).at(self.span)
    }
}

/// Returns what several files say together, weakest first, key by key.
///
/// # Errors
///
/// Every problem of the files, as when they are read for a policy.
pub fn merged(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Result<Sandbox, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut whole = Sandbox::default();
    for input in inputs {
        if let Some((file, _)) = parse(input, around, &mut problems) {
            whole = file.over(&whole);
        }
    }
    settled(problems).map(|_| whole)
}

/// Returns the folders in which files look profiles up: the one that holds without the project's
/// files, and the one that holds with them.
pub(super) fn profile_folders(
    inputs: &[Input<'_>],
    around: &Surroundings<'_>,
) -> Vec<(PathBuf, Layer)> {
    let own: Vec<Input<'_>> =
        inputs.iter().filter(|input| input.layer != Layer::Project).copied().collect();
    let holds = [own.as_slice(), inputs].into_iter();
    let said = holds.filter_map(|inputs| merged(inputs, around).ok()?.profiles_dir);
    said.filter_map(|said| Some((said.value.as_ref()?.path(), said.layer))).collect()
}

impl Sandbox {
    /// Returns what holds when this stands above `below`.
    fn over(&self, below: &Self) -> Self {
        Self {
            enabled: self.enabled.clone().or_else(|| below.enabled.clone()),
            default_profile: self.default_profile.clone().or_else(|| below.default_profile.clone()),
            rules: self.rules.clone().or_else(|| below.rules.clone()),
            profiles_dir: self.profiles_dir.clone().or_else(|| below.profiles_dir.clone()),
            workspace_root: self.workspace_root.clone().or_else(|| below.workspace_root.clone()),
        }
    }

    fn is_on(&self) -> bool {
        self.enabled.as_ref().is_some_and(|enabled| enabled.value)
    }
}

/// What the files read so far say together. A project inherits from the files below it; nothing
/// inherits from a project, whose voice may not be trusted.
#[derive(Default)]
pub(super) struct Below {
    all: Option<Sandbox>,
    without_project: Option<Sandbox>,
}

impl Below {
    /// Reads one more file.
    pub(super) fn read(
        &mut self,
        input: &Input<'_>,
        around: &Surroundings<'_>,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Document> {
        let (file, whole) = parse(input, around, problems)?;
        let below = match input.layer {
            Layer::Project => self.all.take(),
            Layer::BuiltIn
            | Layer::Preset
            | Layer::System
            | Layer::User
            | Layer::Environment
            | Layer::CommandLine
            | Layer::Library => self.without_project.take(),
        };
        let holds = below.as_ref().map_or_else(|| file.clone(), |below| file.over(below));
        let document = document(&file, &holds, below.as_ref(), &whole, around, problems);
        if input.layer != Layer::Project {
            self.without_project = Some(holds.clone());
        }
        self.all = Some(holds);
        Some(document)
    }
}

/// Works out what a file says as a policy. Only what the file itself changes is said again: the
/// rest is said by the file below. That one is silent while it is off, so a file that switches on
/// what was off speaks for both.
fn document(
    file: &Sandbox,
    holds: &Sandbox,
    below: Option<&Sandbox>,
    whole: &Said<()>,
    around: &Surroundings<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Document {
    let mut document = Document::default();
    let speaks_for_both = below.is_none_or(|below| holds.is_on() && !below.is_on());
    let profiles = Profiles::new(holds, around);
    if speaks_for_both
        || file.default_profile.is_some()
        || file.profiles_dir.is_some()
        || file.workspace_root.is_some()
    {
        profiles.confine(file, whole, &mut document.policy, problems);
    }
    let rules = if speaks_for_both { &holds.rules } else { &file.rules };
    if let Some(rules) = rules {
        if file.rules.is_some() && below.is_some_and(|below| below.rules.is_some()) {
            let message = "these rules replace the ones of the file below".into();
            let note = rules.complaint("rules-replaced", message).warning();
            let hint = "until a project is trusted, both lists are asked, and the stricter holds";
            problems.push(note.hint(hint));
        }
        document.policy.commands.rules = profiles.rules(&rules.value, problems);
    }
    let switch = match &holds.enabled {
        Some(enabled) => enabled.sourced(enabled.value),
        None => whole.sourced(false), // off until somebody switches it on
    };
    document.enabled.insert(Scope::Base, switch);
    document
}
