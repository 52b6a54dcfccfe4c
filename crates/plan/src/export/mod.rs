//! The same plan for other engines: a command or a bundle that carries its steps.
//!
//! Each engine has a module of its own that goes through the plan. What an engine cannot carry has a
//! name ([`Lack`]), and the export is refused unless the caller accepts each of them by that name:
//! nobody gets a weaker sandbox without having said so. What is merely different is a note.

mod bwrap;
mod calls;
mod docker;
mod lack;
mod oci;
mod program;
mod scene;
mod seatbelt;
mod shell;
mod systemd;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use palisade_policy::jail::Lookup;

pub use lack::{Lack, Missing};

use crate::macos::Verbatim;
use crate::plan::{Note, Plan};
use crate::step::Step;
use oci::Runtime;
use scene::Scene;

/// Who is to confine a command instead of us.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Engine {
    /// bubblewrap, 0.8 or newer.
    Bwrap,
    /// A bundle of the Open Container Initiative, for runc and its like.
    Oci,
    /// The same for gVisor's runsc.
    Gvisor,
    /// A container of docker's, in an image.
    Docker,
    /// A service of systemd's, 252 or newer.
    Systemd,
    /// A profile of macOS.
    Seatbelt,
}

/// What an export has to know besides the plan.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// The disk, for the shape of what is covered.
    pub lookup: &'a dyn Lookup,
    /// The caller's environment: variables that come from it are named, and their values are not
    /// printed.
    pub outside: &'a [(String, String)],
    /// The folder that files beside the text will lie in, absolute and free of links.
    pub folder: Option<&'a Path>,
    /// The image, for engines that start from one.
    pub image: Option<&'a str>,
    /// The policy files in force.
    pub policies: &'a [PathBuf],
    /// What is done around a run of ours, which no engine does.
    pub ours: Ours,
}

/// What is done before and after a command runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ours {
    /// The policy has a person asked first.
    pub asks: bool,
    /// The policy has it recorded.
    pub records: bool,
}

/// What carries a plan to another engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Export {
    /// The text: a command line for a shell, or a configuration.
    pub text: String,
    /// What it needs beside it, in the folder it was made for.
    pub files: Vec<File>,
    /// Empty folders that it needs there too, with their permission bits.
    pub folders: Vec<(&'static str, u32)>,
    /// What this engine does not carry; the caller has accepted all of it.
    pub missing: Vec<Missing>,
    /// What is different without being weaker.
    pub notes: Vec<Note>,
}

/// A file that an engine reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct File {
    /// Its name in the folder.
    pub name: &'static str,
    /// What it holds.
    pub content: Vec<u8>,
}

/// Why a plan cannot be exported.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotExport {
    /// The engine lacks something that the caller has not accepted.
    #[error("{engine} does not carry all of this plan:{}", lack::told(missing))]
    Weaker {
        /// The engine.
        engine: Engine,
        /// What was not accepted.
        missing: Vec<Missing>,
        /// The names of everything that is missing.
        all: Vec<Lack>,
    },
    /// There are no walls to carry.
    #[error("the policy confines nothing, so there is nothing for {0} to carry")]
    Unconfined(Engine),
    /// The plan of this host has no mounts, which is what engines make.
    #[error("this host can plan no mounts, which is what {0} would carry")]
    NoMounts(Engine),
    /// The engine starts from the host's root, and the policy hides that.
    #[error("the policy hides `/`, and {0} shows all of it but what is named")]
    Bare(Engine),
    /// The plan is one for macOS already.
    #[error("a plan for macOS cannot be carried to {0}")]
    Macos(Engine),
    /// The engine reads files, and there is no folder for them.
    #[error("{0} needs files beside its command")]
    NoFolder(Engine),
    /// The engine starts from an image, and none that it could take was named.
    #[error("{0} starts from an image")]
    NoImage(Engine),
    /// What is confined could change the files that confine it.
    #[error("the command could change what is in `{}`", .0.display())]
    FolderInside(PathBuf),
    /// What is confined could change a program that confines it.
    #[error("the command could change the program `{}`", .0.display())]
    ProgramInside(PathBuf),
    /// A value of the caller's would have to be printed, or would be read as something else.
    #[error("the value of `{name}` cannot be handed over: {why}")]
    Value {
        /// The variable.
        name: String,
        /// What stands against it.
        why: &'static str,
    },
    /// A path or a word that is no text.
    #[error("`{0}` cannot be written into a command")]
    NoText(String),
}

/// Carries `plan` to `engine`.
///
/// # Errors
///
/// When the engine lacks something that is not among `without`, or cannot carry this plan at all.
pub fn export(
    plan: &Plan,
    engine: Engine,
    around: &Around<'_>,
    without: &[Lack],
) -> Result<Export, CannotExport> {
    if !plan.is_confined() {
        return Err(CannotExport::Unconfined(engine));
    }
    if !plan.has_namespaces() {
        return Err(CannotExport::NoMounts(engine));
    }
    if plan.steps().iter().any(|step| matches!(step, Step::Seatbelt { .. })) {
        return Err(CannotExport::Macos(engine));
    }
    let mut scene = Scene::of(plan, around.lookup)?;
    if scene.bare && engine != Engine::Seatbelt {
        return Err(CannotExport::Bare(engine));
    }
    if around.ours.asks {
        scene.missed.add(Lack::Confirmation, "nobody is asked before it runs");
    }
    if around.ours.records {
        scene.missed.add(Lack::Record, "nobody records that it ran");
    }
    if let Some(folder) = around.folder.filter(|folder| scene.may_write(folder)) {
        return Err(CannotExport::FolderInside(folder.into()));
    }
    let export = match engine {
        Engine::Bwrap => bwrap::export(plan, scene, around)?,
        Engine::Oci => oci::export(plan, scene, around, Runtime::Runc)?,
        Engine::Gvisor => oci::export(plan, scene, around, Runtime::Runsc)?,
        Engine::Docker => docker::export(plan, scene, around)?,
        Engine::Systemd => systemd::export(plan, scene, around)?,
        Engine::Seatbelt => seatbelt::export(plan, scene, around)?,
    };
    let all: Vec<Lack> = export.missing.iter().map(|missing| missing.lack).collect();
    let refused = export.missing.iter().filter(|missing| !without.contains(&missing.lack));
    let missing: Vec<Missing> = refused.cloned().collect();
    if missing.is_empty() { Ok(export) } else { Err(CannotExport::Weaker { engine, missing, all }) }
}

/// A profile for macOS.
pub(crate) struct Seatbelt {
    pub(crate) text: String,
    pub(crate) parameters: Vec<(String, String)>,
    /// What it does not hold.
    pub(crate) missing: Vec<Missing>,
}

/// Returns the profile of a plan.
pub(crate) fn seatbelt_of(
    plan: &Plan,
    lookup: &dyn Lookup,
    own: Option<Verbatim<'_>>,
) -> Result<Seatbelt, CannotExport> {
    let mut scene = Scene::of(plan, lookup)?;
    let made = match own {
        None => seatbelt::profile(&scene)?,
        Some(own) => seatbelt::behind(&scene, own)?,
    };
    seatbelt::lacks(&mut scene, plan);
    let seatbelt::Made { text, parameters } = made;
    Ok(Seatbelt { text, parameters, missing: scene.missed.list() })
}

/// Tells of folders that are made in the workspace and left behind.
fn litter(scene: &Scene<'_>) -> Vec<Note> {
    let names: Vec<String> = scene.reserved().map(|path| path.display().to_string()).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let names = names.join(" ");
    let message = format!(
        "these folders are made, and stay, empty, until the next `palisade run` there: {names}"
    );
    vec![Note { code: "litter", message }]
}

/// Says that a file holds what no command prints.
fn values(name: &str) -> Note {
    let message = format!("`{name}` holds the values of variables, and is for its owner only");
    Note { code: "values", message }
}

impl CannotExport {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Weaker { .. } => "export-weaker",
            Self::Unconfined(_) => "export-unconfined",
            Self::NoMounts(_) => "export-mounts",
            Self::Bare(_) => "export-root",
            Self::Macos(_) => "export-macos",
            Self::NoFolder(_) | Self::FolderInside(_) => "export-folder",
            Self::NoImage(_) => "export-image",
            Self::ProgramInside(_) => "export-program",
            Self::Value { .. } => "export-value",
            Self::NoText(_) => "export-text",
        }
    }

    /// Returns what the caller can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Weaker { all, .. } => {
                let names: Vec<&str> = all.iter().map(|lack| lack.word()).collect();
                format!("accept it with --without {}, or use `palisade run`", names.join(","))
            }
            Self::Bare(_) => "use `palisade run`, or a profile that allows reading".into(),
            Self::Macos(_) => "export it on the machine that has the engine".into(),
            Self::Unconfined(_) => "run the command without an engine".into(),
            Self::NoMounts(_) => "export where `palisade doctor` finds the level `full`".into(),
            Self::NoFolder(_) => "name a new folder for them with --to".into(),
            Self::FolderInside(_) => "name a folder outside of what is writable with --to".into(),
            Self::NoImage(_) => "name one with --image".into(),
            Self::ProgramInside(_) => "install it outside of what is writable".into(),
            Self::Value { name, .. } => format!("take `{name}` out of `env.pass`"),
            Self::NoText(_) => "rename it".into(),
        }
    }
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Bwrap, Self::Oci, Self::Gvisor, Self::Docker, Self::Systemd, Self::Seatbelt];

    /// Returns the word that people write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Oci => "oci",
            Self::Gvisor => "gvisor",
            Self::Docker => "docker",
            Self::Systemd => "systemd",
            Self::Seatbelt => "seatbelt",
        }
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.word() == text);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Self::word);
            format!("`{text}` is no engine; it is one of {}", words.join(", "))
        })
    }
}

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Around").field("folder", &self.folder).finish_non_exhaustive()
    }
}
