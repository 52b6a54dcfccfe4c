//! Claude Code's `settings.json`: `permissions` and `sandbox`.
//!
//! Permissions become one list of rules per file, in the order deny, ask, allow, because that is
//! Claude Code's precedence and the first match of a list speaks for it; between files the strictest
//! wins, which is its precedence too. Paths that may not be read or edited are also hidden or
//! protected, so that a command cannot do what a tool may not. Other sections are not ours.
//!
//! | Module | What it does |
//! | --- | --- |
//! | `permissions` | from `Tool(specifier)` to rules |
//! | `asks` | the mode in which nobody is asked, across files |
//! | `command` | from a specifier of `Bash` to a regular expression |
//! | `path` | from a specifier of `Read` or `Edit` to patterns and regular expressions |
//! | `sandbox` | from `sandbox` to files, network and environment |
//! | `top` | which keys a file may have besides |

mod asks;
mod command;
mod path;
mod permissions;
mod sandbox;
mod top;

use std::path::{Component, Path, PathBuf};

use super::srt::schema::{Fate, Key, Shape, Unknown, check_map, note};
use super::srt::table::{
    CREDENTIALS, FILESYSTEM, NESTED, NETWORK, ON_MAC, PLUMBING, PROGRAM, SILENCED, TEXTS, key,
};
use super::{
    Dialect, DocumentedPlace, Input, Likeness, Manner, Reading, Readings, Surroundings, all,
    file_name, has_any, settled,
};
use crate::key::Reader;
use crate::layer::Layer;
use crate::name::Anchors;
use crate::policy::{Document, Policy};
use crate::text::{Diagnostic, Node, Source, json};
use asks::Asks;

/// Settings of Claude Code.
pub(super) static CLAUDE: Dialect = Dialect {
    name: "claude",
    about: "permissions and sandbox of Claude Code's settings.json",
    detect,
    places,
    read,
    write: None,
    manner: Manner::USUAL,
};

fn detect(source: &Source, node: Option<&Node>) -> Likeness {
    let section = |name| node.and_then(|node| node.find(name));
    let named = ["settings.json", "settings.local.json", "managed-settings.json"]
        .contains(&file_name(source));
    let shaped = has_any(section("permissions"), &["allow", "ask", "deny", "defaultMode"])
        || has_any(section("sandbox"), &["filesystem", "network", "autoAllowBashIfSandboxed"]);
    match (named, shaped) {
        (true, _) if shaped || source.name().contains(".claude/") => Likeness::Name,
        (_, true) => Likeness::Shape,
        (_, false) => Likeness::No,
    }
}

fn places(around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    let place = |path: PathBuf, layer| DocumentedPlace { path, layer };
    let home = around.anchors.home.as_ref();
    let user = home.map(|home| place(home.join(".claude/settings.json"), Layer::User));
    let project = around.anchors.root.join(".claude");
    [place("/etc/claude-code/managed-settings.json".into(), Layer::System)]
        .into_iter()
        .chain(user)
        .chain(
            ["settings.json", "settings.local.json"]
                .map(|name| place(project.join(name), Layer::Project)),
        )
        .collect()
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    let parsed: Vec<Result<Node, Diagnostic>> =
        inputs.iter().map(|input| json::parse(input.source)).collect();
    let managed = inputs.iter().zip(&parsed).filter(|(input, _)| input.layer == Layer::System);
    let managed = Managed::gather(
        managed.filter_map(|(_, node)| node.as_ref().ok()),
        Writes::settle(parsed.iter().filter_map(|node| node.as_ref().ok())),
    );
    let unasking: Vec<Layer> = inputs
        .iter()
        .zip(&parsed)
        .filter(|(_, node)| node.as_ref().is_ok_and(|node| mode(node) == Some("dontAsk")))
        .map(|(input, _)| input.layer)
        .collect();
    let readings = all(inputs.iter().zip(parsed).map(|(input, node)| {
        let node = node.map_err(|problem| vec![problem])?;
        let asks = Asks::settle(&unasking, input.layer);
        let base = base(input, around);
        let anchors = Anchors { root: base, home: around.anchors.home.clone() };
        let mut cx = Reader::new(input.source, &anchors, input.layer);
        let document = lower(&node, (&managed, asks), around, &mut cx);
        Ok(Reading { layer: input.layer, document, notes: settled(cx.into_problems())? })
    }))?;
    Ok(asks::allow_across(readings))
}

/// Returns the mode that a file starts in.
fn mode(node: &Node) -> Option<&str> {
    node.find("permissions")?.find("defaultMode")?.text()
}

fn lower(
    node: &Node,
    (managed, asks): (&Managed, Asks),
    around: &Surroundings<'_>,
    cx: &mut Reader<'_>,
) -> Document {
    let mut policy = Policy::default();
    if cx.map(node).is_none() {
        return Document::default();
    }
    top::check(node, cx);
    for (section, tables) in
        [("permissions", &[PERMISSIONS] as &'static [_]), ("sandbox", &[SANDBOX])]
    {
        if let Some(node) = node.find(section) {
            check_map(node, tables, section, Unknown::Warning, cx);
        }
    }
    if let Some(section) = node.find("sandbox") {
        sandbox::lower(section, managed, around, &mut policy, cx);
    }
    if let Some(section) = node.find("permissions") {
        permissions::lower(section, (managed, asks), around, &mut policy, cx);
    }
    Document { policy, ..Document::default() }
}

/// What one file decides for all: what an administrator's reserves for itself, where other files
/// then open nothing, and whether anything is writable.
struct Managed {
    domains: Reserved,
    reads: Reserved,
    rules: Reserved,
    writes: Writes,
}

/// Whether files can make folders writable.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Writes {
    Granted,
    /// Some file starts in the mode `plan`.
    Never,
}

impl Writes {
    fn settle<'n>(mut nodes: impl Iterator<Item = &'n Node>) -> Self {
        if nodes.any(|node| mode(node) == Some("plan")) { Self::Never } else { Self::Granted }
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Reserved {
    No,
    Yes,
}

impl Managed {
    fn gather<'n>(nodes: impl Iterator<Item = &'n Node>, writes: Writes) -> Self {
        let nodes: Vec<&Node> = nodes.collect();
        let reserved = |way: &[&str]| {
            let on = |node: &&Node| {
                let flag = way.iter().try_fold(*node, |node, key| node.find(key));
                flag.is_some_and(super::srt::lower::is_on)
            };
            if nodes.iter().any(on) { Reserved::Yes } else { Reserved::No }
        };
        Self {
            domains: reserved(&["sandbox", "network", "allowManagedDomainsOnly"]),
            reads: reserved(&["sandbox", "filesystem", "allowManagedReadPathsOnly"]),
            rules: reserved(&["allowManagedPermissionRulesOnly"]),
            writes,
        }
    }
}

impl Reserved {
    /// Answers whether a list that opens must be left out, and says so.
    fn leaves_out(self, list: Option<&Node>, cx: &mut Reader<'_>) -> bool {
        let Some(list) = list.filter(|_| self == Self::Yes && cx.layer() != Layer::System) else {
            return false;
        };
        let message = "the administrator's settings reserve this list; it is ignored here";
        note(cx, "reserved", message.into(), list);
        true
    }
}

/// Returns what `/x` in a rule and `./x` in the sandbox section start from: the user's own
/// `~/.claude`, however its file was named, or the project that the file belongs to.
fn base(input: &Input<'_>, around: &Surroundings<'_>) -> PathBuf {
    let users = around.anchors.home.as_ref().map(|home| home.join(".claude"));
    let file = without_dots(&around.cwd.join(input.source.name()));
    let folder = file.parent().unwrap_or(Path::new("/"));
    match users {
        Some(users) if folder == users => users,
        _ if folder.ends_with(".claude") => folder.parent().unwrap_or(folder).into(),
        Some(users) if input.layer == Layer::User => users,
        Some(_) | None => around.anchors.root.clone(),
    }
}

/// Takes `.` and `..` out of a path, by its text alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::Prefix(_) | Component::RootDir => plain.push(part),
        }
    }
    plain
}

const MODES: Shape =
    Shape::Word(&["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"]);
const DISABLE: Shape = Shape::Word(&["disable"]);

const PERMISSIONS: &[Key] = &[
    key("allow", TEXTS, Fate::Lowered),
    key("ask", TEXTS, Fate::Lowered),
    key("deny", TEXTS, Fate::Lowered),
    key("additionalDirectories", TEXTS, Fate::Lowered),
    key("defaultMode", MODES, Fate::Lowered),
    // Neither mode can be chosen here in the first place.
    key("disableBypassPermissionsMode", DISABLE, Fate::Lowered),
    key("disableAutoMode", DISABLE, Fate::Lowered),
];

const OUTSIDE: Fate = Fate::Noted("nothing runs outside the walls, whatever a file says");

const SANDBOX: &[Key] = &[
    key("enabled", Shape::Flag, Fate::Lowered),
    key("failIfUnavailable", Shape::Flag, Fate::Lowered),
    key(
        "autoAllowBashIfSandboxed",
        Shape::Flag,
        Fate::Noted("commands are judged as always; the walls alone do not allow them"),
    ),
    key("excludedCommands", TEXTS, OUTSIDE),
    key("allowUnsandboxedCommands", Shape::Flag, OUTSIDE),
    key("filesystem", Shape::Map(&[FILESYSTEM, MANAGED_READS]), Fate::Lowered),
    key("network", Shape::Map(&[NETWORK, MANAGED_DOMAINS]), Fate::Lowered),
    key("credentials", Shape::Map(&[CREDENTIALS]), Fate::Lowered),
    key("ignoreViolations", Shape::Record(&TEXTS), SILENCED),
    key("enableWeakerNestedSandbox", Shape::Flag, NESTED),
    key("enableWeakerNetworkIsolation", Shape::Flag, ON_MAC),
    key("allowAppleEvents", Shape::Flag, ON_MAC),
    key("bwrapPath", Shape::Text, PLUMBING),
    key("socatPath", Shape::Text, PLUMBING),
    key("ripgrep", Shape::Map(&[PROGRAM]), PLUMBING),
];

const MANAGED_READS: &[Key] = &[key("allowManagedReadPathsOnly", Shape::Flag, Fate::Lowered)];
const MANAGED_DOMAINS: &[Key] = &[key("allowManagedDomainsOnly", Shape::Flag, Fate::Lowered)];

#[cfg(test)]
mod tests;
