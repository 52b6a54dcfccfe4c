//! Other systems' policy files, read as they are.
//!
//! Each dialect is one module of the same shape: tell whether a text is mine, read it into
//! [`Document`]s, and, where I can, write a policy back. Inside a dialect its own precedence,
//! anchors and defaults hold; between dialects the layers decide, and any deny wins. A dialect
//! reads all its files at once, because what one of them means may depend on another.

pub mod agentao;
pub mod bloom;
mod claude;
mod glob;
mod lost;
mod manner;
mod native;
pub mod proxy;
mod runner;
pub mod seatbelt;
mod srt;

use std::path::{Path, PathBuf};

pub use lost::{Effect, Lost, Written};
pub(crate) use lost::{brought, left_out, refuses, shared_temp};
pub use manner::{FilesOf, FindFolders, Lists, Manner, RootKey, Walls};
pub use native::write_document;

use crate::layer::Layer;
use crate::name::Anchors;
use crate::policy::{Document, Policy};
use crate::text::{self, Diagnostic, Node, Severity, Source};

/// Every dialect there is; the native one first.
pub const DIALECTS: &[&Dialect] = &[
    &native::NATIVE,
    &agentao::AGENTAO,
    &seatbelt::SEATBELT,
    &bloom::BLOOM,
    &srt::SRT,
    &proxy::PROXY,
    &claude::CLAUDE,
    &runner::RUNNER,
];

/// One system's way of writing a policy.
#[derive(Debug)]
pub struct Dialect {
    /// Its name, as in `--policy NAME:FILE`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Tells how much a text looks like one of this dialect.
    pub detect: fn(&Source, Option<&Node>) -> Likeness,
    /// Lists the files that the system itself documents, weakest first.
    pub places: fn(&Surroundings<'_>) -> Vec<DocumentedPlace>,
    /// Reads texts, weakest first, into documents.
    pub read: fn(&[Input<'_>], &Surroundings<'_>) -> Readings,
    /// Writes a policy, if this dialect can say one.
    pub write: Option<fn(&Policy, &Surroundings<'_>) -> Written>,
    /// How its files stand among others.
    pub manner: Manner,
}

impl PartialEq for Dialect {
    /// Names are unique in the table.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// How much a text looks like one of a dialect.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Likeness {
    /// Not at all.
    No,
    /// Its keys are those of the dialect.
    Shape,
    /// Its file is called as the dialect documents.
    Name,
}

/// A file that a system documents as its own.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DocumentedPlace {
    /// Where it lies.
    pub path: PathBuf,
    /// Whose voice it has.
    pub layer: Layer,
}

/// A text to read.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The text; its name is its path.
    pub source: &'a Source,
    /// Whose voice it has.
    pub layer: Layer,
}

/// What a dialect may know of the world. It is handed in: this crate touches nothing itself.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The project's root and the home folder.
    pub anchors: &'a Anchors,
    /// The folder the user works in.
    pub cwd: &'a Path,
    /// Returns an environment variable.
    pub var: &'a dyn Fn(&str) -> Option<String>,
    /// Returns what lies at a path.
    pub kind: &'a dyn Fn(&Path) -> Option<FileKind>,
    /// Returns the names in a folder, sorted; none if there is no such folder.
    pub list: &'a dyn Fn(&Path) -> Vec<String>,
    /// Returns the text of a file that another file names; an error is a sentence.
    pub read: &'a dyn Fn(&Path) -> Result<String, String>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("anchors", self.anchors).finish_non_exhaustive()
    }
}

/// What lies at a path, links followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Something else.
    Other,
}

/// What one text says.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Whose voice it has.
    pub layer: Layer,
    /// What it says.
    pub document: Document,
    /// What its author should know: keys that are not read, things that mean nothing here.
    pub notes: Vec<Diagnostic>,
}

/// What several texts say, or every problem of them.
pub type Readings = Result<Vec<Reading>, Vec<Diagnostic>>;

/// Returns our own dialect.
pub fn native() -> &'static Dialect {
    &native::NATIVE
}

/// Finds a dialect by its name.
pub fn named(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.name == name)
}

/// Tells the dialect of a text: by its file's name, then by its shape. One that no dialect claims
/// counts as native.
///
/// # Errors
///
/// When several dialects claim it, or its name and its shape disagree: `--dialect` is needed.
pub fn tell(source: &Source) -> Result<&'static Dialect, Diagnostic> {
    let node = parse_if_data(source)?;
    let likeness = |dialect: &Dialect| (dialect.detect)(source, node.as_ref());
    for wanted in [Likeness::Name, Likeness::Shape] {
        let claims: Vec<&'static Dialect> =
            DIALECTS.iter().copied().filter(|dialect| likeness(dialect) == wanted).collect();
        match claims.as_slice() {
            [] => {}
            [only] => return contradicted(source, node.as_ref(), only),
            [..] => {
                let names: Vec<&str> = claims.iter().map(|dialect| dialect.name).collect();
                let message = format!("this could be written for {}", names.join(" or "));
                let problem = Diagnostic::new(source, "ambiguous-dialect", message);
                return Err(problem.hint("say which: --dialect NAME, or NAME:FILE"));
            }
        }
    }
    // Nothing claims it: it is read as a native file, whose errors then say what is wrong with it.
    Ok(&native::NATIVE)
}

/// Refuses a text whose name says one dialect and whose keys say another.
fn contradicted(
    source: &Source,
    node: Option<&Node>,
    told: &'static Dialect,
) -> Result<&'static Dialect, Diagnostic> {
    let nameless = Source::new("", source.text());
    let shaped = |dialect: &Dialect| (dialect.detect)(&nameless, node) == Likeness::Shape;
    // Our own files take no other's keys, and complain about each of them.
    if told.manner.files == FilesOf::Ourselves || shaped(told) {
        return Ok(told);
    }
    let Some(other) = DIALECTS.iter().find(|dialect| shaped(dialect)) else { return Ok(told) };
    let message =
        format!("this is called like a file of {}, and written for {}", told.name, other.name);
    let problem = Diagnostic::new(source, "ambiguous-dialect", message);
    Err(problem.hint("say which: --dialect NAME, or NAME:FILE"))
}

/// Parses a text as data, unless its name says that it is something else.
fn parse_if_data(source: &Source) -> Result<Option<Node>, Diagnostic> {
    if source.name().ends_with(".sb") { Ok(None) } else { text::parse(source).map(Some) }
}

/// Returns the notes among the problems of a text, or its errors if there are any.
pub(crate) fn settled(problems: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let (errors, notes): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|problem| problem.severity() == Severity::Error);
    if errors.is_empty() { Ok(notes) } else { Err(errors) }
}

/// Gathers the readings of several texts, or the problems of all of them.
pub(crate) fn all(results: impl Iterator<Item = Result<Reading, Vec<Diagnostic>>>) -> Readings {
    let (mut readings, mut problems) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(reading) => readings.push(reading),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(readings) } else { Err(problems) }
}

/// Tells whether a map has any of some keys.
pub(crate) fn has_any(node: Option<&Node>, keys: &[&str]) -> bool {
    node.is_some_and(|node| keys.iter().any(|key| node.find(key).is_some()))
}

/// Returns the last part of a source's name.
pub(crate) fn file_name(source: &Source) -> &str {
    source.name().rsplit('/').next().unwrap_or_default()
}
