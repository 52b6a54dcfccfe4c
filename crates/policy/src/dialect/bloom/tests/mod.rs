//! Bloom's files, row by row.

mod bad;
mod examples;
mod network;
mod paths;
mod switches;
mod work;
mod written;

use super::*;
use crate::dialect::{self, Reading};
use crate::key::Field;
use crate::layer::{Choice, Resolved, Stack, Trust, resolve};
use crate::policy::Document;
use crate::text::{Diagnostic, Severity};

pub(super) const CONFIG: &str = "/home/dev/.bloom/config.yaml";
pub(super) const TASKS: &str = "/proj/app/tasks.yaml";

/// A text: its name, its layer, its words.
pub(super) type Text<'a> = (&'a str, Layer, &'a str);

pub(super) fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

/// Hands out a world of two folders and some variables.
pub(super) fn within<T>(vars: &[(&str, &str)], act: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let anchors = anchors();
    let var = |name: &str| {
        vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    act(&Surroundings {
        anchors: &anchors,
        cwd: &anchors.root,
        var: &var,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("there is nothing to read".into()),
    })
}

pub(super) fn try_read(texts: &[Text<'_>], vars: &[(&str, &str)]) -> Readings {
    let sources: Vec<Source> =
        texts.iter().map(|(name, _, text)| Source::new(name, text)).collect();
    let inputs: Vec<Input<'_>> = sources
        .iter()
        .zip(texts)
        .map(|(source, (_, layer, _))| Input { source, layer: *layer })
        .collect();
    within(vars, |around| read(&inputs, around))
}

pub(super) fn readings(texts: &[Text<'_>]) -> Vec<Reading> {
    try_read(texts, &[]).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

/// Reads the user's own file.
pub(super) fn config(text: &str) -> Reading {
    readings(&[(CONFIG, Layer::User, text)]).remove(0)
}

/// Resolves for an agent and a task, either of which may be empty.
pub(super) fn resolved(readings: &[Reading], agent: &str, task: &str) -> Resolved {
    resolved_beside(readings, &[], agent, task)
}

/// The same with native files beside Bloom's.
pub(super) fn resolved_beside(
    readings: &[Reading],
    native: &[(Layer, &str)],
    agent: &str,
    task: &str,
) -> Resolved {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (layer, text) in native {
        let document = Document::parse(&Source::new("policy.yaml", text), *layer, &anchors());
        stack.push(*layer, document.unwrap_or_else(|problems| panic!("{}", problems[0])));
    }
    for reading in readings {
        stack.push(reading.layer, reading.document.clone());
    }
    let named = |name: &str| (!name.is_empty()).then(|| name.into());
    let choice = Choice { agent: named(agent), task: named(task) };
    resolve(&stack, &choice, Trust::NotTrusted).unwrap()
}

pub(super) fn of_config(text: &str, agent: &str) -> Resolved {
    resolved(&[config(text)], agent, "")
}

pub(super) fn codes(reading: &Reading) -> Vec<&'static str> {
    reading.notes.iter().map(Diagnostic::code).collect()
}

/// Shows a key's values, without repetitions.
pub(super) fn shown(resolved: &Resolved, key: &str) -> Vec<String> {
    let mut rows = Vec::new();
    resolved.policy.rows("", &mut rows);
    let row = rows.into_iter().find(|row| row.key == key).unwrap();
    let text = |value: &serde_json::Value| value.as_str().map_or(value.to_string(), str::to_owned);
    row.values.iter().map(|value| text(&value.value)).collect()
}

/// Shows what this user's files hide, built-in paths left out.
pub(super) fn hides(resolved: &Resolved, path: &str) -> bool {
    resolved.policy.files.hide.values().any(|hidden| hidden.matches(path.as_ref()))
}

#[test]
fn a088_the_policy_of_each_agent_is_read_from_the_users_config() {
    let reading = config(include_str!("../fixtures/agents.yaml"));
    let names: Vec<&str> = reading.document.agents.keys().map(|name| &**name).collect();
    assert_eq!(names, ["claude", "codex", "copilot"], "reserved keys are no agents");
    assert_eq!(codes(&reading), [""; 0], "other sections are nobody's business");
    let claude = &reading.document.agents["claude"];
    let mode = claude.network.mode.sourced().unwrap();
    assert_eq!(mode.origin.to_string(), format!("user {CONFIG}:10:22 (agent claude)"));
    let paths: Vec<_> =
        within(&[], places).into_iter().map(|place| (place.path, place.layer)).collect();
    assert_eq!(paths, [(CONFIG.into(), Layer::User)]);
}

#[test]
fn a088_unknown_agents_are_accepted_and_unknown_keys_are_not_read() {
    let text = "agent:\n  my-agent:\n    sandbox: { enabled: true, networkPolicy: monitor, denyReadPath: [~/x] }\n";
    let reading = config(text);
    assert_eq!(codes(&reading), ["unknown-agent", "unknown-key"]);
    assert_eq!(reading.notes[1].advice(), Some("did you mean `denyReadPaths`?"));
    assert!(reading.notes.iter().all(|note| note.severity() == Severity::Warning));
    let resolved = resolved(&[reading], "my-agent", "");
    assert_eq!(shown(&resolved, "network.mode"), ["monitor"]);
    assert!(!hides(&resolved, "/home/dev/x"), "a key that does not exist hides nothing");
    assert!(hides(&resolved, "/home/dev/.ssh"), "and takes no default away");
}

#[test]
fn a_text_is_told_by_its_name_then_by_its_shape() {
    #[rustfmt::skip]
    let cases = [
        // name                    text                                                 dialect   because
        (CONFIG,                   "agent: {}",                                          "bloom",  "the documented place"),
        ("/p/.bloom/config.yaml",  "ui: { theme: dark }",                                "bloom",  "in a project too"),
        (TASKS,                    "tasks: []",                                          "bloom",  "its own name"),
        ("x.yaml",                 "agent: { claude: { sandbox: { enabled: true } } }",  "bloom",  "an agent's section"),
        ("x.yaml",                 "sandbox: { networkPolicy: deny-all }",               "bloom",  "the bare form"),
        ("x.yaml",                 "tasks: [{ id: a, sandbox: {} }]",                    "bloom",  "a task's section"),
        ("x.yaml",                 "tasks: { a: { sandbox: {} } }",                      "bloom",  "a map of tasks"),
        ("x.yaml",                 "version: 1\ntasks: { a: { agent: b } }",             "native", "our tasks have no such section"),
        ("/p/x.bloom/config.yaml", "agent: {}",                                          "native", "not that folder"),
        ("config.yaml",            "agent: { claude: {} }",                              "native", "nothing in it is Bloom's"),
        ("policy.yaml",            "sandbox: { networkPolicy: deny-all }",               "native", "the name counts first"),
        ("x.yaml",                 "sandbox: { enabled: true }",                         "native", "other systems have that too"),
    ];
    for (name, text, expected, because) in cases {
        let found = dialect::tell(&Source::new(name, text)).unwrap();
        assert_eq!(found.name, expected, "{name}: {text}: {because}");
    }
}

#[test]
fn workspaces_are_hidden_from_everybody_else() {
    let pairs = |list: &[(&str, &str)]| -> Vec<(std::sync::Arc<str>, std::path::PathBuf)> {
        list.iter().map(|(agent, path)| ((*agent).into(), (*path).into())).collect()
    };
    let three = [("a", "/w/a"), ("b", "/w/b*"), ("c", "/w/c"), ("a", "/w/a2")];
    let denied = mutual_denial(&pairs(&three)).unwrap();
    let reads =
        |agent: &str, path: &str| !denied[agent].iter().any(|hidden| hidden.matches(path.as_ref()));
    #[rustfmt::skip]
    let cases = [
        // agent path           reads   because
        ("a",   "/w/a/x",       true,   "its own"),
        ("a",   "/w/a2/x",      true,   "its own too"),
        ("c",   "/w/bee",       true,   "a star in a folder's name is no wildcard"),
        ("a",   "/w/b*/secret", false,  "b's"),
        ("b",   "/w/a/x",       false,  "a's"),
        ("b",   "/w/a2",        false,  "a's second"),
        ("c",   "/w/a",         false,  "a's"),
    ];
    for (agent, path, expected, because) in cases {
        assert_eq!(reads(agent, path), expected, "{agent} {path}: {because}");
    }
    let overlaps = [
        [("a", "/w"), ("b", "/w/b")],
        [("a", "/w/b"), ("b", "/w")],
        [("a", "/w"), ("b", "/w")],
        [("a", "/w/x/.."), ("b", "/w/b")],
    ];
    for overlap in overlaps {
        let refused = mutual_denial(&pairs(&overlap)).unwrap_err();
        assert_eq!(refused.code(), "workspaces-overlap", "{overlap:?}");
    }
    assert_eq!(mutual_denial(&pairs(&[("a", "w")])).unwrap_err().code(), "path-anchor");
    assert!(mutual_denial(&[]).unwrap().is_empty());
}
