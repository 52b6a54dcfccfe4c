//! The path jail, asked by text and through an invented disk.

mod marks;
mod rows;
mod walk;

use std::collections::BTreeMap;

use super::{Answer, Entry, Ground, How, Last, Lookup, NoLookup, Place, Spelling};
use crate::builtin::BuiltIn;
use crate::key::{Refusals, Sourced};
use crate::layer::{Layer, Origin};
use crate::name::{Anchors, Folder, PathPattern};
use crate::policy::Policy;

const ROOT: &str = "/srv/app";
const HOME: &str = "/home/ann";

/// A disk on which nothing lies but what is listed.
#[derive(Default)]
struct Disk(BTreeMap<String, Entry>);

impl Disk {
    fn with(entries: &[(&str, Entry)]) -> Self {
        Self(entries.iter().map(|(path, entry)| ((*path).into(), entry.clone())).collect())
    }
}

impl Lookup for Disk {
    fn look(&self, path: &str) -> Entry {
        let below = |known: &String| known.strip_prefix(path).is_some_and(|r| r.starts_with('/'));
        self.0
            .get(path)
            .cloned()
            .unwrap_or_else(|| if self.0.keys().any(below) { Entry::Folder } else { Entry::Absent })
    }
}

fn link(target: &str) -> Entry {
    Entry::Link(target.into())
}

/// What holds when nobody says anything, for the project `ROOT`, with the project writable.
fn policy() -> Policy {
    let anchors = Anchors { root: ROOT.into(), home: Some(HOME.into()) };
    let mut policy = BuiltIn::read(&anchors).unwrap().policy().clone();
    policy.files.write =
        crate::key::Grants::new(vec![said(&Folder::literal(ROOT.as_ref()).unwrap())]);
    policy
}

fn said<T: Clone>(value: &T) -> Sourced<T> {
    Sourced { value: value.clone(), origin: Origin::of(Layer::User) }
}

fn patterns(texts: &[&str]) -> Vec<Sourced<PathPattern>> {
    texts.iter().map(|text| said(&text.parse::<PathPattern>().unwrap())).collect()
}

fn ground() -> Ground {
    Ground::new(&policy(), ROOT, Some(HOME), &NoLookup)
}

/// Says an answer in a word.
fn word(answer: &Answer<'_>) -> &'static str {
    match answer {
        Answer::Yes => "yes",
        Answer::No(refused) => refused.why.code(),
        Answer::Unclear(doubt) => doubt.code(),
        Answer::Shared => "shared",
    }
}

fn removed<'g>(ground: &'g Ground, path: &str, lookup: &dyn Lookup) -> Place<'g> {
    let how = How { last: Last::Keep, ..How::default() };
    ground.place_with(path, ROOT, lookup, how)
}

fn globbed<'g>(ground: &'g Ground, path: &str) -> Place<'g> {
    let how = How { last: Last::Keep, spelling: Spelling::Pattern };
    ground.place_with(path, ROOT, &NoLookup, how)
}

fn protecting(texts: &[&str]) -> Refusals<PathPattern> {
    Refusals::new(patterns(texts))
}
