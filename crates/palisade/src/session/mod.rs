//! Opening a project: which files speak, what they say together, and what was left out.

mod error;
mod load;
mod request;

use std::path::PathBuf;

use palisade_policy::key::{Field, Ignored, Row, Setting, Sourced};
use palisade_policy::layer::{Layer, Resolved, Trust, resolve};
use palisade_policy::name::Folder;
use palisade_policy::text::Diagnostic;
use palisade_policy::{Origin, Policy};

pub use error::{OpenError, Warning};
pub use load::{LoadedFile, check_file};
pub use request::{Request, Speaker};

use crate::root::ProjectRoot;
use crate::trust::{ContentHash, Status, TrustError, TrustStore};
use load::Loaded;

/// A project and the policy in force for it.
#[derive(Clone, Debug)]
pub struct Session {
    root: ProjectRoot,
    resolved: Resolved,
    files: Vec<LoadedFile>,
    project: Option<ProjectFiles>,
    warnings: Vec<Warning>,
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
    /// What the files would open if they were trusted.
    pub widens: Vec<Ignored>,
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
        let Loaded { root, root_origin, stack, files, project, mut warnings } =
            load::load(request)?;
        let choice = request.choice();
        let mut widens = Vec::new();
        let mut agreement = Agreement::Never;
        let mut store = None;
        if let Some(content) = &project {
            store = request
                .places()
                .state
                .as_deref()
                .map(|state| TrustStore::new(state, request.uid()));
            let status = store.as_ref().map(|store| store.status(&content.folder, &content.hash));
            agreement = match status {
                Some(Status::Trusted) => Agreement::Trusted,
                Some(Status::Changed) => Agreement::Changed,
                Some(Status::Unknown { doubt }) => {
                    warnings.extend(doubt.map(|doubt| Warning::TrustStore(doubt.to_string())));
                    Agreement::Never
                }
                None => Agreement::Never,
            };
            // Trust is for all that the files say, so also for what they say to other agents.
            for choice in std::iter::once(&choice).chain(&content.choices) {
                for part in resolve(&stack, choice, Trust::NotTrusted)?.ignored {
                    if !widens.contains(&part) {
                        widens.push(part);
                    }
                }
            }
            widens.extend(content.ignored.iter().cloned());
        }
        let trust = match agreement {
            Agreement::Trusted => Trust::Trusted,
            Agreement::Changed | Agreement::Never => Trust::NotTrusted,
        };
        let mut resolved = resolve(&stack, &choice, trust)?;
        if let Some(content) = &project {
            resolved.ignored.extend(content.ignored.iter().cloned());
        }
        if !resolved.ignored.is_empty() {
            warnings.push(Warning::Ignored { agreement, parts: resolved.ignored.clone() });
        }
        if let Some(origin) = &resolved.unconfined {
            warnings.push(Warning::Unconfined { origin: origin.clone() });
        }
        resolved.policy.root =
            Setting::new(Sourced { value: Folder::literal(&root.path)?, origin: root_origin });
        let project = project.map(|content| ProjectFiles {
            paths: content.paths,
            content: content.hash,
            agreement,
            store,
            folder: content.folder,
            widens,
        });
        Ok(Self { root, resolved, files, project, warnings })
    }

    /// Returns the project's root and how it was found.
    pub fn root(&self) -> &ProjectRoot {
        &self.root
    }

    /// Returns the policy in force.
    pub fn policy(&self) -> &Policy {
        &self.resolved.policy
    }

    /// Returns the agent the policy is for, if one was chosen or the task names one.
    pub fn agent(&self) -> Option<&str> {
        self.resolved.choice.agent.as_deref()
    }

    /// Returns the task the policy is for.
    pub fn task(&self) -> Option<&str> {
        self.resolved.choice.task.as_deref()
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

    /// Returns what a person should know before anything runs.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

impl ProjectFiles {
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

impl From<TrustError> for OpenError {
    fn from(error: TrustError) -> Self {
        Self::Trust(error)
    }
}

/// Tells the layers apart that a person speaks through.
fn said_by(layer: Layer) -> Origin {
    Origin::of(layer)
}

/// Boxes the complaints about one text.
fn broken(problems: Vec<Diagnostic>) -> OpenError {
    OpenError::Text(problems)
}
