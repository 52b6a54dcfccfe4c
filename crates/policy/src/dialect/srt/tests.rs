//! What srt's files become, what they are refused for, and what comes back out.

mod bad_input;
mod round_trip;
mod rows;

use std::path::Path;

use super::*;
use crate::dialect::FileKind;
use crate::layer::{Choice, Resolved, Stack, Trust, resolve};
use crate::policy::{Document, Policy};
use crate::text::{Diagnostic, Severity};

pub(super) fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

/// Calls `act` with a world in which srt was started in `/proj/app/sub`, and one folder has the
/// name of a pattern.
pub(super) fn around<T>(act: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let anchors = anchors();
    let kind =
        |path: &Path| (path == Path::new("/proj/app/sub/pages/[id]")).then_some(FileKind::Folder);
    act(&Surroundings {
        anchors: &anchors,
        cwd: Path::new("/proj/app/sub"),
        var: &|_| None,
        kind: &kind,
        list: &|_| Vec::new(),
        read: &|_| Err("nothing is read".into()),
    })
}

pub(super) fn read_in(text: &str, layer: Layer) -> Result<Reading, Vec<Diagnostic>> {
    let source = Source::new("/home/dev/.srt-settings.json", text);
    let mut readings = around(|around| read(&[Input { source: &source, layer }], around))?;
    Ok(readings.remove(0))
}

pub(super) fn reading(text: &str) -> Reading {
    read_in(text, Layer::User).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

pub(super) fn problems(text: &str) -> Vec<Diagnostic> {
    let problems = read_in(text, Layer::User).err().unwrap_or_default();
    problems.into_iter().filter(|problem| problem.severity() == Severity::Error).collect()
}

pub(super) fn resolved(documents: &[(Layer, Document)]) -> Resolved {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (layer, document) in documents {
        stack.push(*layer, document.clone());
    }
    resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap()
}

pub(super) fn in_force(text: &str) -> Policy {
    resolved(&[(Layer::User, reading(text).document)]).policy
}

pub(super) fn shown<T: ToString>(values: impl Iterator<Item = T>) -> Vec<String> {
    values.map(|value| value.to_string()).collect()
}

/// Returns the notes as `code: message`.
pub(super) fn notes(reading: &Reading) -> Vec<String> {
    let note = |note: &Diagnostic| format!("{}: {}", note.code(), note.message());
    reading.notes.iter().map(note).collect()
}

#[test]
fn a_settings_file_is_told_by_its_name_or_its_shape() {
    #[rustfmt::skip]
    let cases = [
        // name                     text                                         likeness
        ("/h/.srt-settings.json",   "{}",                                        Likeness::Name),
        ("x.json",                  r#"{"network":{"allowedDomains":[]}}"#,      Likeness::Shape),
        ("x.json",                  r#"{"filesystem":{"denyRead":[]}}"#,         Likeness::Shape),
        ("settings.json",           r#"{"sandbox":{"network":{}}}"#,             Likeness::No),
        ("x.json",                  r#"{"version":1,"network":{"allow":[]}}"#,   Likeness::No),
        ("x.json",                  "[]",                                        Likeness::No),
    ];
    for (name, text, expected) in cases {
        let source = Source::new(name, text);
        let node = json::parse(&source).unwrap();
        assert_eq!(detect(&source, Some(&node)), expected, "{name} {text}");
    }
}
