//! Tests of the whole dialect; attacks are at least half of every table.

mod broken;
mod meaning;
mod network;
mod property;
mod rows;
mod writer;

use super::*;
use crate::dialect::{FileKind, Written};
use crate::key::Sourced;
use crate::name::{Anchors, PathPattern};
use crate::policy::NetworkMode;

pub(super) const ROOT: &str = "/proj/app";

pub(super) fn anchors() -> Anchors {
    Anchors { root: ROOT.into(), home: Some("/home/me".into()) }
}

/// Knows of a few folders and one file, and of nothing else.
fn kind(path: &Path) -> Option<FileKind> {
    if path == Path::new("/a/file") {
        return Some(FileKind::File);
    }
    let folders = ["/usr", "/proj", "/proj/app", "/home/me"];
    folders.iter().any(|folder| path == Path::new(folder)).then_some(FileKind::Folder)
}

pub(super) fn with_world<T>(run: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let anchors = anchors();
    run(&Surroundings {
        anchors: &anchors,
        cwd: Path::new(ROOT),
        var: &|_| None,
        kind: &kind,
        list: &|_| Vec::new(),
        read: &|_| Err("no files here".into()),
    })
}

pub(super) fn read_text(text: &str) -> Result<(Policy, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = Source::new("test.sb", text);
    let params = Params::of_root(Path::new(ROOT));
    with_world(|around| read_profile(&source, &params, Layer::User, around))
}

/// Reads rules under the usual beginning.
pub(super) fn read_rules(rules: &str) -> Result<(Policy, Vec<Diagnostic>), Vec<Diagnostic>> {
    read_text(&format!("(version 1)\n(deny default)\n(allow process*)\n{rules}"))
}

pub(super) fn shown<'p, T: std::fmt::Display + 'p>(
    values: impl Iterator<Item = &'p T>,
) -> Vec<String> {
    values.map(ToString::to_string).collect()
}

/// Returns `hide`, `allow_read`, `write` and `protect`.
pub(super) fn files(policy: &Policy) -> [Vec<String>; 4] {
    let files = &policy.files;
    [
        shown(files.hide.values()),
        shown(files.allow_read.values()),
        shown(files.write.values()),
        shown(files.protect.values()),
    ]
}

pub(super) fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(Diagnostic::code).collect()
}
