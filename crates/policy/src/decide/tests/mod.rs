//! Decisions, row by row.

mod bulk;
mod carried;
mod closed;
mod code;
mod confined;
mod covered;
mod default;
mod disk;
mod environment;
mod escapes;
mod guessed;
mod input;
mod kept;
mod late;
mod launch;
mod limits;
mod mention;
mod reread;
mod runner;
mod said;
mod sent;
mod speech;
mod spellings;
mod state;
mod stray;
mod tools;
mod tree;

use std::collections::BTreeMap;

use super::*;
use crate::jail::{Entry, Listing, Lookup, Named, NamedKind, NoLookup};
use crate::layer::{Choice, Layer, Stack, Trust, resolve};
use crate::name::Anchors;
use crate::policy::Document;
use crate::text::Source;

const ROOT: &str = "/proj/app";
const HOME: &str = "/home/dev";

/// A disk in a map.
#[derive(Debug, Default)]
struct Tree(BTreeMap<&'static str, Entry>);

impl Tree {
    fn new(entries: &[(&'static str, Entry)]) -> Self {
        Self(entries.iter().cloned().collect())
    }
}

impl Lookup for Tree {
    fn look(&self, path: &str) -> Entry {
        self.0.get(path).cloned().unwrap_or(Entry::Absent)
    }

    fn list(&self, folder: &str) -> Listing {
        let inside =
            self.0.iter().filter_map(|(path, entry)| Some((path.rsplit_once('/')?, entry)));
        let here = inside.filter(|((above, _), _)| *above == folder);
        let named = |((_, name), entry): ((&str, &str), &Entry)| Named {
            name: name.to_owned(),
            kind: match entry {
                Entry::Link(_) => NamedKind::Link,
                Entry::Folder => NamedKind::Folder,
                Entry::Absent | Entry::File | Entry::SharedFile | Entry::Other | Entry::Unknown => {
                    NamedKind::Other
                }
            },
        };
        // What only another process may read is untold.
        match self.0.get(folder) {
            Some(Entry::Unknown) => Listing::Untold,
            Some(_) | None => Listing::Names(here.map(named).collect()),
        }
    }
}

fn judge_at(root: &str, yaml: &str, lookup: &dyn Lookup) -> Judge {
    let anchors = Anchors { root: root.into(), home: Some(HOME.into()) };
    let mut stack = Stack::new(&anchors).unwrap();
    let source = Source::new("user.yaml", yaml);
    let document = Document::parse(&source, Layer::User, &anchors);
    stack.push(Layer::User, document.unwrap_or_else(|problems| panic!("{}", problems[0])));
    let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap();
    Judge::new(&resolved.policy, root, Some(HOME), lookup)
}

fn judge(yaml: &str) -> Judge {
    judge_at(ROOT, yaml, &NoLookup)
}

fn runner() -> Judge {
    judge("version: 1\npreset: runner\n")
}

fn confined() -> Judge {
    judge("version: 1\n")
}

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn of_argv(judge: &Judge, words: &[&str]) -> Verdict {
    of_argv_on(judge, words, &NoLookup)
}

fn of_argv_on(judge: &Judge, words: &[&str], lookup: &dyn Lookup) -> Verdict {
    judge.decide(&Call { command: Asked::Argv(&argv(words)), cwd: judge.root() }, lookup)
}

fn of_shell(judge: &Judge, text: &str) -> Verdict {
    judge.decide(&Call { command: Asked::Shell(text), cwd: judge.root() }, &NoLookup)
}

/// The first reason's message, or nothing for an allow.
fn why(verdict: &Verdict) -> &str {
    verdict.reasons().first().map_or("", |reason| &reason.message)
}

fn codes(verdict: &Verdict) -> Vec<&str> {
    verdict.reasons().iter().map(|reason| reason.code).collect()
}

#[track_caller]
fn assert_shell(judge: &Judge, cases: &[(&str, Answer)]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let verdict = of_shell(judge, text);
        if verdict.answer() != *expected {
            wrong.push(format!(
                "{text:?}: {} instead of {expected} {:?}",
                verdict.answer(),
                codes(&verdict)
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every one is stopped: asked or denied, never allowed.
#[track_caller]
fn assert_stopped(judge: &Judge, texts: &[&str]) {
    let allowed: Vec<&&str> =
        texts.iter().filter(|text| of_shell(judge, text).answer() == Answer::Allow).collect();
    assert!(allowed.is_empty(), "allowed: {allowed:#?}");
}

#[track_caller]
fn assert_allowed(judge: &Judge, texts: &[&str]) {
    let stopped: Vec<String> = texts
        .iter()
        .map(|text| (text, of_shell(judge, text)))
        .filter(|(_, verdict)| verdict.answer() != Answer::Allow)
        .map(|(text, verdict)| format!("{text}: {:?}", codes(&verdict)))
        .collect();
    assert!(stopped.is_empty(), "not allowed: {stopped:#?}");
}
