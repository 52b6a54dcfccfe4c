//! From sections to documents: what stands above what, and which defaults hold.

mod files;
mod network;

use std::collections::{BTreeMap, BTreeSet};

use super::file::File;
use super::section::Section;
use super::switch::{hears, switches};
use super::workspaces::mutual_denial;
use crate::dialect::{Reading, Readings};
use crate::key::{Field as _, Refusals, Setting, Sourced};
use crate::layer::{Layer, Origin, Scope};
use crate::name::{Anchors, Folder};
use crate::policy::{Document, NetworkMode, Policy};
use crate::text::{Diagnostic, Span};

/// Turns files into readings; `disabled` is who switched them all off.
pub(super) fn readings(
    mut files: Vec<File>,
    disabled: Option<&Origin>,
    anchors: &Anchors,
) -> Readings {
    let root = match ".".parse::<Folder>().and_then(|root| root.anchored(anchors)) {
        Ok(root) => root,
        Err(invalid) => {
            let problem = |file: &File| {
                Diagnostic::new(&file.source, invalid.code(), invalid.problem().to_owned())
            };
            return Err(files.iter().map(problem).collect());
        }
    };
    let mut documents: Vec<Document> = files.iter().map(|file| document(file, &files)).collect();
    let mut lowering = Lowering::new(&files, anchors, root);
    let mut notes: Vec<Vec<Diagnostic>> = files.iter().map(|_| Vec::new()).collect();
    for (at, section) in ordered(&files) {
        let (Some(document), Some(notes)) = (documents.get_mut(at), notes.get_mut(at)) else {
            continue;
        };
        lowering.lower(section, &files[at], document, notes);
    }
    keep_apart(&files, &mut documents)?;
    let mut readings = Vec::new();
    for ((file, mut document), more) in files.iter_mut().zip(documents).zip(notes) {
        if let Some(origin) = disabled.filter(|_| file.layer != Layer::System) {
            let off = Sourced { value: false, origin: origin.clone() };
            document.enabled = [(Scope::Base, off)].into();
            document.unsaid.clear();
        }
        let mut notes = std::mem::take(&mut file.problems);
        notes.extend(more);
        notes.sort_by_cached_key(Diagnostic::place);
        readings.push(Reading { layer: file.layer, document, notes });
    }
    Ok(readings)
}

/// Hides from each agent the workspaces that a file names for the others.
fn keep_apart(files: &[File], documents: &mut [Document]) -> Result<(), Vec<Diagnostic>> {
    for (file, document) in files.iter().zip(documents) {
        let mut workspaces = Vec::new();
        for section in &file.sections {
            if let (Scope::Agent(name), Some((folder, span))) =
                (&section.scope, &section.other_workspace)
            {
                workspaces.push((name.clone(), folder.path(), *span));
            }
        }
        let folders: Vec<_> =
            workspaces.iter().map(|(name, path, _)| (name.clone(), path.clone())).collect();
        let hidden = mutual_denial(&folders).map_err(|invalid| {
            let span = workspaces.last().map(|(_, _, span)| *span).unwrap_or_default();
            let (code, problem) = (invalid.code(), invalid.problem().to_owned());
            let problem = Diagnostic::new(&file.source, code, problem).at(span);
            vec![match invalid.hint() {
                Some(hint) => problem.hint(hint),
                None => problem,
            }]
        })?;
        for (name, paths) in hidden {
            let Some(section) =
                file.sections.iter().find(|s| s.scope == Scope::Agent(name.clone()))
            else {
                continue;
            };
            let origin = &section.origin;
            let said = |value| Sourced { value, origin: origin.clone() };
            if let Some(policy) = document.agents.get_mut(&name) {
                policy.files.hide.merge(Refusals::new(paths.into_iter().map(said).collect()));
            }
        }
    }
    Ok(())
}

/// Starts a file's document: its switches, and its tasks.
fn document(file: &File, files: &[File]) -> Document {
    let (enabled, unsaid) = switches(files, file.layer);
    let mut document = Document { enabled, unsaid, ..Document::default() };
    for (name, agent) in &file.tasks {
        document.tasks.entry(name.clone()).or_default().agent.clone_from(agent);
    }
    document
}

/// Lists sections in the order in which layers will be merged, the weakest first.
fn ordered(files: &[File]) -> Vec<(usize, &Section)> {
    let rank = |section: &Section| match section.scope {
        Scope::Base => 0,
        Scope::Agent(_) => 1,
        Scope::Task(_) => 2,
    };
    let numbered = files.iter().enumerate();
    let mut sections: Vec<(usize, &Section)> =
        numbered.flat_map(|(at, file)| file.sections.iter().map(move |part| (at, part))).collect();
    sections.sort_by_key(|(at, section)| {
        let layer = files[*at].layer;
        (layer.max(Layer::Project), rank(section), layer, *at)
    });
    sections
}

struct Lowering<'a> {
    files: &'a [File],
    anchors: &'a Anchors,
    root: Folder,
    /// Whether some section closes the workspace.
    closed: bool,
    /// Whose domains somebody above wants, and at which layer that one speaks.
    wanted: BTreeSet<(Scope, Layer)>,
    /// What is done, with its place in the order.
    done: BTreeMap<Scope, Vec<(usize, Lowered)>>,
    count: usize,
}

/// A section that is done, for those that stand above it.
#[derive(Clone, Copy)]
struct Lowered {
    layer: Layer,
    /// What holds for the network; none if that depends on an agent nobody knows yet.
    mode: Option<NetworkMode>,
    workspace: Workspace,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Workspace {
    Writable,
    /// It was never opened.
    NotOpened,
    /// It was opened below and is closed again, which nobody can undo.
    Protected,
}

/// Whether a section brings the documented defaults, or inherits.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Standing {
    /// It stands alone.
    First,
    /// It stands above others.
    Above,
    /// A task that any agent may carry out: what it stands on is not known.
    Anywhere,
}

impl<'a> Lowering<'a> {
    fn new(files: &'a [File], anchors: &'a Anchors, root: Folder) -> Self {
        let (mut closed, mut wanted) = (false, BTreeSet::new());
        for (file, section) in
            files.iter().flat_map(|file| file.sections.iter().map(move |s| (file, s)))
        {
            closed |= section.workspace.is_some_and(|(writable, _)| !writable);
            if section.mode.as_ref().is_some_and(|mode| mode.value == NetworkMode::AllowList) {
                wanted.extend(foundations(section).map(|scope| (scope, file.layer)));
            }
        }
        Self { files, anchors, root, closed, wanted, done: BTreeMap::new(), count: 0 }
    }

    fn lower(
        &mut self,
        section: &Section,
        file: &File,
        document: &mut Document,
        notes: &mut Vec<Diagnostic>,
    ) {
        let below = self.below(section, file);
        let standing = self.standing(section, file, &below);
        let mut out = Out { section, file, policy: Policy::default(), notes };
        out.note_default(document);
        let mode = self.lower_network(standing, &below, &mut out);
        let workspace = self.lower_write(standing, &below, &mut out);
        self.lower_hide(standing, &mut out);
        if let Some(processes) = &section.processes {
            out.policy.limits.processes = Setting::new(processes.clone());
        }
        let policy = out.policy;
        match &section.scope {
            Scope::Base => document.policy = policy,
            Scope::Agent(name) => drop(document.agents.insert(name.clone(), policy)),
            Scope::Task(name) => document.tasks.entry(name.clone()).or_default().policy = policy,
        }
        let lowered = Lowered { layer: file.layer, mode, workspace };
        self.done.entry(section.scope.clone()).or_default().push((self.count, lowered));
        self.count += 1;
    }

    /// Returns what a section stands on, the weakest first.
    fn below(&self, section: &Section, file: &File) -> Vec<Lowered> {
        let mut below: Vec<(usize, Lowered)> = foundations(section)
            .flat_map(|scope| self.done.get(&scope).into_iter().flatten().copied())
            .filter(|(_, lowered)| hears(file.layer, lowered.layer))
            .collect();
        below.sort_by_key(|(at, _)| *at);
        below.into_iter().map(|(_, lowered)| lowered).collect()
    }

    fn standing(&self, section: &Section, file: &File, below: &[Lowered]) -> Standing {
        let configured = || {
            let heard = |other: &&File| hears(file.layer, other.layer);
            self.files.iter().filter(heard).any(|other| other.config.is_some())
        };
        let task = matches!(section.scope, Scope::Task(_));
        if task && (section.agent.is_none() || !configured()) {
            Standing::Anywhere
        } else if below.is_empty() {
            Standing::First
        } else {
            Standing::Above
        }
    }
}

/// Lists for whom a section may say what this one inherits.
fn foundations(section: &Section) -> impl Iterator<Item = Scope> {
    let base = (section.scope != Scope::Base).then_some(Scope::Base);
    let agent = section.agent.clone().map(Scope::Agent);
    base.into_iter().chain(agent).chain([section.scope.clone()])
}

/// What one section becomes.
struct Out<'a> {
    section: &'a Section,
    file: &'a File,
    policy: Policy,
    notes: &'a mut Vec<Diagnostic>,
}

impl Out<'_> {
    fn note(&mut self, code: &'static str, message: String, span: Span, hint: Option<&str>) {
        let note = Diagnostic::new(&self.file.source, code, message).at(span).warning();
        self.notes.push(match hint {
            Some(hint) => note.hint(hint),
            None => note,
        });
    }

    /// Says that a section without `enabled` counts for nothing.
    fn note_default(&mut self, document: &Document) {
        let switch = document.enabled.get(&self.section.scope);
        if switch
            .is_some_and(|switch| !switch.value && switch.origin.place == self.section.origin.place)
            && self.section.enabled.is_none()
        {
            let message = "`enabled` is not set, and Bloom's sandbox is off by default".into();
            let hint = Some("write `enabled: true`, or nothing here is enforced");
            self.note("off-by-default", message, self.section.span, hint);
        }
    }
}
