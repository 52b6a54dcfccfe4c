//! Agentao's `sandbox.json` and `permissions.json`.
//!
//! `sandbox.json` says which profile confines: the project's file stands over the user's key by
//! key, and what a name means depends on the folder of profiles that holds after that, so all files
//! are read together. `permissions.json` says which tool calls may happen; only the user's counts.

mod domain;
mod parse;
mod permissions;
mod picks;
mod profiles;
mod sandbox;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};

use super::{
    Dialect, DocumentedPlace, Input, Likeness, Manner, Reading, Readings, Surroundings, Walls, all,
    file_name, has_any, settled,
};
use crate::key::Reader;
use crate::layer::Layer;
use crate::name::Anchors;
use crate::policy::Document;
use crate::text::{Diagnostic, Entry, Node, Source, Value, json, visible};

pub use profiles::{Profiles, SHELL_TOOL};
pub use sandbox::{Said, Sandbox, ToolProfile, merged};

/// Agentao's files.
pub(super) static AGENTAO: Dialect = Dialect {
    name: "agentao",
    about: "Agentao's sandbox.json and permissions.json",
    detect,
    places,
    read,
    write: Some(write::write),
    manner: Manner {
        walls: Walls::WithSwitch,
        profile_folders: sandbox::profile_folders,
        ..Manner::USUAL
    },
};

fn detect(source: &Source, node: Option<&Node>) -> Likeness {
    if matches!(file_name(source), "sandbox.json" | "permissions.json") {
        Likeness::Name
    } else if has_any(node, &["default_profile", "profiles_dir", "workspace_root"])
        || has_rules_alone(node)
    {
        Likeness::Shape
    } else {
        Likeness::No
    }
}

/// Lists the four files. The project's `permissions.json` is among them so that it is seen, and
/// seen to be left out.
fn places(around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    let project = around.anchors.root.join(FOLDER);
    let user = around.anchors.home.as_ref().map(|home| (home.join(FOLDER), Layer::User));
    let mut places = Vec::new();
    for (folder, layer) in user.into_iter().chain([(project, Layer::Project)]) {
        for name in ["sandbox.json", "permissions.json"] {
            places.push(DocumentedPlace { path: folder.join(name), layer });
        }
    }
    places
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    let mut below = sandbox::Below::default();
    all(inputs.iter().map(|input| {
        let mut problems = Vec::new();
        let document = match (kind(input.source), input.layer) {
            (Kind::Permissions, Layer::Project) => {
                problems.push(left_out(input.source));
                Some(Document::default())
            }
            (Kind::Permissions, _) => permissions::read(input, around, &mut problems),
            (Kind::Sandbox, _) => below.read(input, around, &mut problems),
        };
        let document = document.unwrap_or_default(); // where there is none there is an error
        Ok(Reading { layer: input.layer, document, notes: settled(problems)? })
    }))
}

/// Returns whether a text is a `sandbox.json`, by its name or its shape.
pub fn is_sandbox(source: &Source) -> bool {
    matches!(kind(source), Kind::Sandbox)
}

/// The folder of Agentao's files, in the home folder and in a project.
const FOLDER: &str = ".agentao";

/// The two kinds of file.
enum Kind {
    Permissions,
    Sandbox,
}

fn kind(source: &Source) -> Kind {
    match file_name(source) {
        "permissions.json" => Kind::Permissions,
        "sandbox.json" => Kind::Sandbox,
        _ if has_rules_alone(json::parse(source).ok().as_ref()) => Kind::Permissions,
        _ => Kind::Sandbox,
    }
}

/// Tells a `permissions.json` by its shape: rules with actions or domains, and nothing else.
fn has_rules_alone(node: Option<&Node>) -> bool {
    let alone = node.is_some_and(|node| match &node.value {
        Value::Map(entries) => entries.len() == 1,
        Value::Bool(_) | Value::List(_) | Value::Null | Value::Number(_) | Value::Text(_) => false,
    });
    let rules = node.filter(|_| alone).and_then(|node| node.find("rules"));
    rules.is_some_and(|rules| match &rules.value {
        Value::List(rules) => rules.iter().any(|rule| has_any(Some(rule), &["action", "domain"])),
        Value::Bool(_) | Value::Map(_) | Value::Null | Value::Number(_) | Value::Text(_) => false,
    })
}

/// Says that a project's rules are left out: a repository must not grant itself rights.
fn left_out(source: &Source) -> Diagnostic {
    let name = visible(source.name());
    let message = format!("the rules of `{name}` are not used: they come from the project");
    let note = Diagnostic::new(source, "project-permissions", message).warning();
    note.hint("move the ones you want to ~/.agentao/permissions.json")
}

/// Returns the folder that relative paths of a file start from: `~/.agentao` for the user's own,
/// the project's root for a project's, and its own folder for a file that lies elsewhere.
fn anchor(input: &Input<'_>, around: &Surroundings<'_>) -> Anchors {
    let path = around.cwd.join(input.source.name());
    let folder = path.parent().unwrap_or(Path::new("/"));
    let users = around.anchors.home.as_ref().map(|home| home.join(FOLDER));
    let root: PathBuf = if input.layer == Layer::Project {
        around.anchors.root.clone()
    } else if users.as_deref() != Some(folder) && folder.file_name().is_some_and(|n| n == FOLDER) {
        folder.parent().unwrap_or(folder).into()
    } else {
        folder.into()
    };
    Anchors { root, home: around.anchors.home.clone() }
}

/// Reads the tree of a file with `take`; none if it cannot be understood at all.
fn with_tree<T>(
    input: &Input<'_>,
    around: &Surroundings<'_>,
    problems: &mut Vec<Diagnostic>,
    take: impl FnOnce(&Node, &mut Reader<'_>) -> T,
) -> Option<T> {
    let node = json::parse(input.source).map_err(|problem| problems.push(problem)).ok()?;
    let anchors = anchor(input, around);
    let mut cx = Reader::new(input.source, &anchors, input.layer);
    let taken = take(&node, &mut cx);
    problems.extend(cx.into_problems());
    Some(taken)
}

/// Returns the text of a field, or complains.
fn text_of<'n>(field: &str, node: &'n Node, cx: &mut Reader<'_>) -> Option<&'n str> {
    node.text().or_else(|| cx.wrong_type(field, "text", node))
}

/// Mentions a key that means nothing here: Agentao keeps such keys and does not read them.
fn unknown_key(entry: &Entry, known: &[&str], cx: &mut Reader<'_>) {
    cx.report(cx.unknown("", entry, known).warning());
}
