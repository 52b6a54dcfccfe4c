//! Profiles by name: where they are found, and what choosing one says.

use std::path::{Path, PathBuf};

use super::sandbox::{Said, Sandbox, ToolProfile};
use crate::dialect::{FileKind, Surroundings, seatbelt};
use crate::key::{Grants, RuleLists, Setting, Sourced};
use crate::layer::Layer;
use crate::name::{Folder, ToolPattern};
use crate::policy::{Policy, Profile, Rule};
use crate::text::{Diagnostic, Severity, Source, visible};

/// The tool whose calls Agentao confines.
pub const SHELL_TOOL: &str = "run_shell_command";

/// Whose rules replace each other, the higher file's the lower one's.
const SYSTEM: &str = "agentao";

/// The profile that holds when no file names one.
const DEFAULT: &str = "workspace-write-no-network";

/// The profiles that files can name: those of a folder, then the built-in ones.
#[derive(Debug)]
pub struct Profiles<'a> {
    holds: &'a Sandbox,
    around: &'a Surroundings<'a>,
}

impl<'a> Profiles<'a> {
    /// Looks profiles up where `holds` is in force.
    pub fn new(holds: &'a Sandbox, around: &'a Surroundings<'a>) -> Self {
        Self { holds, around }
    }

    /// Finds a profile: `NAME` or `NAME.sb` in the folder of profiles, else a built-in one.
    pub fn find(&self, name: &str) -> Option<Profile> {
        let in_folder = self.folder().and_then(|folder| in_folder(&folder, name, self.around));
        match in_folder {
            Some(path) => Folder::literal(&path).ok().map(Profile::File),
            None => Profile::NAMES.contains(&name).then(|| name.parse().ok()).flatten(),
        }
    }

    /// Returns the names that can be found, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Profile::NAMES.iter().map(ToString::to_string).collect();
        if let Some(folder) = self.folder() {
            let files = (self.around.list)(&folder);
            let profiles = files.iter().filter_map(|file| file.strip_suffix(".sb"));
            names.extend(profiles.filter(|name| !name.is_empty()).map(visible));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Says why a profile cannot be used; none if it can.
    pub fn health_error(&self, name: &str) -> Option<String> {
        let shown = visible(name);
        match self.find(name) {
            None => Some(self.not_found(name)),
            Some(Profile::File(file)) => {
                let problems = check(&file.path(), &self.workspace(), self.around);
                let wrong = |problem: &&Diagnostic| problem.severity() == Severity::Error;
                let first = problems.iter().find(wrong)?;
                let place = first.place().map_or_else(String::new, |place| format!(":{place}"));
                let (file, message) = (visible(first.file()), first.message());
                Some(format!("profile `{shown}` failed to load: {file}{place}: {message}"))
            }
            Some(
                Profile::Readonly | Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork,
            ) => None,
        }
    }

    /// Returns the statements that a profile stands for where `holds` is in force: the profile
    /// itself, and what it may write when that is not the project's root.
    pub fn chosen(&self, profile: Sourced<Profile>) -> Policy {
        let mut policy = Policy::default();
        if let Some(said) = &self.holds.workspace_root {
            // `null` is said too: it must stand against the folder that a file below names.
            let root = || Folder::literal(&self.around.anchors.root).ok();
            let folder = said.value.clone().or_else(root);
            let folder = folder.map(|folder| said.sourced(folder));
            // Every profile means this folder by `_RW1`, also one that a rule picks.
            if self.holds.rules.as_ref().is_some_and(|rules| !rules.value.is_empty()) {
                policy.root = folder.clone().map(Setting::new).unwrap_or_default();
            }
            match profile.value {
                Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork => {
                    policy.files.write = Grants::new(folder.into_iter().collect());
                }
                // What the file says about `_RW1` is for its reader to apply.
                Profile::File(_) => policy.root = folder.map(Setting::new).unwrap_or_default(),
                Profile::Readonly => {}
            }
        }
        policy.profile = Setting::new(profile);
        policy
    }

    /// Says how a file confines by default.
    pub(super) fn confine(
        &self,
        file: &Sandbox,
        whole: &Said<()>,
        policy: &mut Policy,
        problems: &mut Vec<Diagnostic>,
    ) {
        let name = self.holds.default_profile.as_ref();
        let text = name.and_then(|name| name.value.as_deref()).unwrap_or(DEFAULT);
        // A name that a file below says can come to mean another profile because of this file.
        let moved = file.profiles_dir.as_ref().filter(|_| file.default_profile.is_none());
        let by = moved.map(Said::place).or_else(|| name.map(Said::place));
        let by = by.unwrap_or_else(|| whole.clone());
        if let Some(profile) = self.take(text, &by, problems) {
            *policy = self.chosen(by.sourced(profile));
        }
    }

    /// Turns the profiles for single tools into rules.
    pub(super) fn rules(
        &self,
        rules: &[Said<ToolProfile>],
        problems: &mut Vec<Diagnostic>,
    ) -> RuleLists<Rule> {
        let mut found = Vec::new();
        for said in rules {
            let ToolProfile { tool, profile, args } = &said.value;
            let profile = self.take(profile, &said.place(), problems);
            // The name is compared as it is; a rule of ours takes an expression.
            let tool: Option<ToolPattern> = fancy_regex::escape(tool).parse().ok();
            if let (Some(tool), Some(profile)) = (tool, profile) {
                found.push(said.sourced(Rule {
                    tool,
                    args: args.clone(),
                    domain: None,
                    action: None,
                    profile: Some(profile),
                    justification: None,
                }));
            }
        }
        RuleLists::replacing(found, SYSTEM)
    }

    /// Finds a profile that a file names, and checks it; complains at the place that names it.
    fn take(&self, name: &str, by: &Said<()>, problems: &mut Vec<Diagnostic>) -> Option<Profile> {
        let Some(profile) = self.find(name) else {
            let problem = by.complaint("unknown-profile", self.not_found(name));
            let hint = "nothing runs until it is found, or the sandbox is switched off";
            problems.push(problem.hint(hint));
            return None;
        };
        if let Profile::File(file) = &profile {
            let stem = name.strip_suffix(".sb").unwrap_or(name);
            if Profile::NAMES.contains(&stem) {
                let message = format!("`{file}` takes the place of the built-in `{stem}`");
                problems.push(by.complaint("shadows-built-in", message).warning());
            }
            // Complaints show lines of the file, and a project could name any file at all: its
            // own are checked by whoever reads them with care.
            let folder = self.holds.profiles_dir.as_ref();
            if folder.is_some_and(|folder| folder.layer != Layer::Project) {
                problems.extend(check(&file.path(), &self.workspace(), self.around));
            }
        }
        Some(profile)
    }

    fn not_found(&self, name: &str) -> String {
        let names = self.names().join(", ");
        format!("profile `{}` not found (available: {names})", visible(name))
    }

    /// Returns the folder that profiles mean by `_RW1`.
    fn workspace(&self) -> PathBuf {
        let said = self.holds.workspace_root.as_ref().and_then(|said| said.value.as_ref());
        said.map_or_else(|| self.around.anchors.root.clone(), Folder::path)
    }

    fn folder(&self) -> Option<PathBuf> {
        let said = self.holds.profiles_dir.as_ref()?;
        said.value.as_ref().map(Folder::path)
    }
}

impl<T> Said<T> {
    /// Returns the place alone.
    fn place(&self) -> Said<()> {
        Said { value: (), source: self.source.clone(), span: self.span, layer: self.layer }
    }
}

/// Finds a profile's file by name. Only what the folder itself holds is found: a name cannot climb.
pub(super) fn in_folder(folder: &Path, name: &str, around: &Surroundings<'_>) -> Option<PathBuf> {
    let files = (around.list)(folder);
    let with_ending = format!("{name}.sb");
    [name, &with_ending].into_iter().find_map(|name| {
        let path = folder.join(files.iter().find(|file| *file == name)?);
        ((around.kind)(&path) == Some(FileKind::File)).then_some(path)
    })
}

/// Reads a profile's file and returns what is wrong with it.
fn check(path: &Path, workspace: &Path, around: &Surroundings<'_>) -> Vec<Diagnostic> {
    let name = path.to_string_lossy();
    match (around.read)(path) {
        Ok(text) => seatbelt::check(&Source::new(&name, &text), workspace, around),
        Err(why) => {
            let source = Source::new(&name, "");
            let message = format!("the profile cannot be read: {}", visible(&why));
            vec![Diagnostic::new(&source, "profile-unreadable", message)]
        }
    }
}
