//! Our own files.

use std::path::Path;

use serde_json::Value as Json;

use super::{
    Dialect, DocumentedPlace, FilesOf, Input, Likeness, Manner, Reading, Readings, RootKey,
    Surroundings, Written, file_name, has_any,
};
use crate::key::{Field, Row};
use crate::name::Anchors;
use crate::policy::{Document, Policy};
use crate::print;
use crate::text::{Node, Source};

/// Native policy files.
pub(super) static NATIVE: Dialect = Dialect {
    name: "native",
    about: "Palisade's own policy files",
    detect,
    places,
    read,
    write: Some(write),
    manner: Manner { files: FilesOf::Ourselves, root: RootKey::AtTop, ..Manner::USUAL },
};

fn detect(source: &Source, node: Option<&Node>) -> Likeness {
    if file_name(source) == "policy.yaml" {
        Likeness::Name
    } else if has_any(node, &["version"]) && has_any(node, Policy::KEYS) {
        Likeness::Shape
    } else {
        Likeness::No
    }
}

/// Native files are found by themselves; naming the dialect alone adds nothing.
fn places(_around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    Vec::new()
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    let mut readings = Vec::new();
    for Input { source, layer } in inputs {
        let document = Document::parse(source, *layer, around.anchors)?;
        readings.push(Reading { layer: *layer, document, notes: Vec::new() });
    }
    Ok(readings)
}

/// Writes a policy as it is in force: a native file can say all of it.
fn write(policy: &Policy, around: &Surroundings<'_>) -> Written {
    let document = Document { policy: policy.clone(), ..Document::default() };
    Written { text: write_document(&document, around.anchors), lost: Vec::new() }
}

/// Writes what a document states, for everyone, for agents and for tasks. Paths below the root and
/// the home folder are written so that they mean the same on another machine.
pub fn write_document(document: &Document, anchors: &Anchors) -> String {
    let mut text = format!("version: 1\n{}", part(&document.policy, anchors));
    let agents = document.agents.iter().map(|(name, policy)| (name, None, policy));
    let tasks =
        document.tasks.iter().map(|(name, task)| (name, task.agent.as_deref(), &task.policy));
    for (section, parts) in [("agents", agents.collect::<Vec<_>>()), ("tasks", tasks.collect())] {
        if parts.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{section}:\n"));
        for (name, agent, policy) in parts {
            let agent = agent.map(|agent| format!("agent: {}\n", print::scalar(agent)));
            let body = format!("{}{}", agent.unwrap_or_default(), part(policy, anchors));
            if body.trim().is_empty() {
                text.push_str(&format!("  {}: {{}}\n", print::scalar(name)));
                continue;
            }
            text.push_str(&format!("  {}:\n", print::scalar(name)));
            let lines = body.lines().filter(|line| !line.is_empty());
            lines.for_each(|line| text.push_str(&format!("    {line}\n")));
        }
    }
    text
}

fn part(policy: &Policy, anchors: &Anchors) -> String {
    let mut rows = Vec::new();
    policy.rows("", &mut rows);
    rows.retain(|row| row.stated && row.key != "root");
    for row in rows.iter_mut().filter(|row| holds_paths(row)) {
        for value in &mut row.values {
            if let Json::String(path) = &mut value.value {
                *path = shortened(path, anchors);
            }
        }
    }
    print::yaml(&rows, None)
}

/// Tells the keys whose values are paths.
fn holds_paths(row: &Row) -> bool {
    let files = row.key.starts_with("files.") && row.key != "files.caches";
    files || matches!(&*row.key, "network.unix" | "tools.roots" | "audit.path" | "profile")
}

fn shortened(path: &str, anchors: &Anchors) -> String {
    let below = |folder: &Path| {
        let rest = path.strip_prefix(folder.to_str()?)?;
        if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
    };
    match (below(&anchors.root), anchors.home.as_deref().and_then(below)) {
        (Some(""), _) => ".".into(),
        (Some(rest), _) => format!("./{rest}"),
        (None, Some("")) => "~".into(),
        (None, Some(rest)) => format!("~/{rest}"),
        (None, None) => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::Layer;

    #[test]
    fn what_is_written_says_the_same() {
        let text = r#"
preset: runner
files: { write: [], hide: ["~/.ssh", "src/**/*.pem", "/etc/\\*", "\\~x"], unhide: ["~"] }
network: { mode: allow-list, allow: ["*.example.com:443"], host_ports: [5432], http_rules: [{ host: a.test, action: deny }] }
commands: { rules: [{ tool: sh, args: { command: "^git " }, action: allow, justification: "read: only" }] }
limits: { timeout: none, output: 64KiB }
env: { pass: ["LC_*"], set: { A: "b: c # d" } }
agents: { "a b.c": { network: { mode: deny-all } }, empty: {} }
tasks: { fetch: { agent: "a b.c", limits: { timeout: 5s } } }
"#;
        let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
        let elsewhere = Anchors { root: "/srv/x".into(), home: Some("/root".into()) };
        let read = |text: &str, anchors: &Anchors| {
            Document::parse(&Source::new("x.yaml", text), Layer::User, anchors)
                .unwrap_or_else(|problems| panic!("{}\n{text}", problems[0]))
        };
        let values = |document: &Document| {
            let mut rows = Vec::new();
            document.policies().for_each(|policy| policy.rows("", &mut rows));
            let value = |row: Row| {
                (row.key, row.stated, row.values.into_iter().map(|v| v.value).collect::<Vec<_>>())
            };
            (rows.into_iter().map(value).collect::<Vec<_>>(), document.tasks["fetch"].agent.clone())
        };
        let written = write_document(&read(text, &anchors), &anchors);
        assert_eq!(values(&read(&written, &anchors)), values(&read(text, &anchors)));
        assert_eq!(
            values(&read(&written, &elsewhere)),
            values(&read(text, &elsewhere)),
            "elsewhere too"
        );
    }
}
