//! Agentao's files in a small world of their own.

mod permissions;
mod sandbox;
mod trust;
mod write;
mod wrong;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;
use crate::dialect::FileKind;
use crate::layer::{Choice, Resolved, Stack, Trust, resolve};
use crate::policy::{Policy, Profile};

pub(super) const USER: &str = "/home/dev/.agentao/sandbox.json";
pub(super) const PROJECT: &str = "/proj/app/.agentao/sandbox.json";
const STRICT: &str = include_str!("../fixtures/strict.sb");

/// Files that a test makes up.
#[derive(Default)]
pub(super) struct World {
    files: BTreeMap<PathBuf, String>,
}

impl World {
    pub(super) fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }

    /// Puts a sound profile at a path.
    pub(super) fn profile(self, path: &str) -> Self {
        self.with(path, STRICT)
    }

    pub(super) fn ask<T>(&self, ask: impl FnOnce(&Surroundings<'_>) -> T) -> T {
        let list = |folder: &Path| {
            let inside = self.files.keys().filter(|path| path.parent() == Some(folder));
            inside.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        ask(&Surroundings {
            anchors: &anchors(),
            cwd: Path::new("/proj/app"),
            var: &|_| None,
            kind: &|path| self.files.get(path).map(|_| FileKind::File),
            list: &list,
            read: &|path| self.files.get(path).cloned().ok_or_else(|| "it is not there".into()),
        })
    }

    /// Reads every documented file of this world, weakest first.
    pub(super) fn readings(&self) -> Readings {
        self.ask(|around| {
            let mut sources = Vec::new();
            for place in places(around) {
                if let Some(text) = self.files.get(&place.path) {
                    sources.push((Source::new(place.path.to_str().unwrap(), text), place.layer));
                }
            }
            let inputs: Vec<Input<'_>> =
                sources.iter().map(|(source, layer)| Input { source, layer: *layer }).collect();
            read(&inputs, around)
        })
    }

    pub(super) fn stack(&self) -> Stack {
        let mut stack = Stack::new(&anchors()).unwrap();
        for reading in self.readings().unwrap_or_else(|problems| panic!("{}", problems[0])) {
            stack.push(reading.layer, reading.document);
        }
        stack
    }

    pub(super) fn resolved(&self, trust: Trust) -> Resolved {
        resolve(&self.stack(), &Choice::default(), trust).unwrap()
    }

    pub(super) fn policy(&self, trust: Trust) -> Policy {
        self.resolved(trust).policy
    }

    /// Returns the codes of every note.
    pub(super) fn notes(&self) -> Vec<&'static str> {
        let readings = self.readings().unwrap_or_else(|problems| panic!("{}", problems[0]));
        readings.iter().flat_map(|reading| reading.notes.iter().map(Diagnostic::code)).collect()
    }
}

/// A world with a user's and a project's `sandbox.json`, and a profile in each one's folder.
pub(super) fn world(user: &str, project: &str) -> World {
    let mut world = World::default()
        .profile("/home/dev/.agentao/profiles/strict.sb")
        .profile("/proj/app/boxes/loose.sb");
    for (path, text) in [(USER, user), (PROJECT, project)] {
        if !text.is_empty() {
            world = world.with(path, text);
        }
    }
    world
}

pub(super) fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

pub(super) fn writes(policy: &Policy) -> Vec<String> {
    policy.files.write.values().map(ToString::to_string).collect()
}

pub(super) fn file(path: &str) -> Profile {
    Profile::File(path.parse().unwrap())
}

#[test]
fn a_file_is_told_by_its_name_then_by_its_shape() {
    let tell = |name: &str, text: &str| {
        let source = Source::new(name, text);
        detect(&source, crate::text::parse(&source).ok().as_ref())
    };
    #[rustfmt::skip]
    let cases = [
        // name                text                                            likeness
        ("/x/sandbox.json",    "{}",                                           Likeness::Name),
        ("/x/permissions.json", "not json",                                    Likeness::Name),
        ("mine.json",          r#"{"default_profile":"readonly"}"#,            Likeness::Shape),
        ("mine.json",          r#"{"rules":[{"tool":"x","action":"deny"}]}"#,  Likeness::Shape),
        ("mine.json",          r#"{"enabled":true}"#,                          Likeness::No),
        ("mine.json",          r#"{"rules":[],"version":1}"#,                  Likeness::No),
        ("mine.json",          r#"{"rules":7}"#,                               Likeness::No),
        ("mine.json",          "[]",                                           Likeness::No),
    ];
    for (name, text, likeness) in cases {
        assert_eq!(tell(name, text), likeness, "{name} {text}");
    }
}
