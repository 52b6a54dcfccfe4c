//! The verdicts that were recorded of Agentao's own floor, and what it lets through.
#![expect(clippy::disallowed_methods, reason = "the corpus is not part of this repository")]

use std::path::Path;

use palisade_policy::decide::{Answer, Asked, Call, Judge};
use palisade_policy::jail::NoLookup;
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::name::Anchors;
use palisade_policy::permission::Source;
use palisade_policy::policy::Document;
use palisade_policy::text::Source as Text;
use serde_json::Value as Json;

const ROOT: &str = "/proj/app";
const HOME: &str = "/home/dev";

fn full_access() -> Judge {
    let anchors = Anchors { root: ROOT.into(), home: Some(HOME.into()) };
    let mut stack = Stack::new(&anchors).unwrap();
    let source = Text::new("user.yaml", "version: 1\npreset: agentao:full-access\n");
    stack.push(Layer::User, Document::parse(&source, Layer::User, &anchors).unwrap());
    let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap();
    Judge::new(&resolved.policy, ROOT, Some(HOME), &NoLookup)
}

/// Returns a file of the specification, if it lies beside this repository.
fn recorded(name: &str) -> Option<Json> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/spec/data");
    let path = Path::new(beside).join(name);
    if !path.exists() {
        eprintln!("SKIPPED {name}: there is no ../shared");
        return None;
    }
    Some(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

fn is_on_floor(judge: &Judge, text: &str) -> bool {
    let verdict = judge.decide(&Call { command: Asked::Shell(text), cwd: ROOT }, &NoLookup);
    verdict.answer() == Answer::Deny && verdict.source() == Source::Hardline
}

#[test]
fn a081_every_recorded_verdict_is_given() {
    let Some(corpus) = recorded("agentao_hardline_corpus_flat.json") else { return };
    let judge = full_access();
    let rows = corpus.as_array().unwrap();
    let mut wrong = Vec::new();
    for row in rows {
        let (text, expected) =
            (row["command"].as_str().unwrap(), row["hardline"].as_bool().unwrap());
        if is_on_floor(&judge, text) != expected {
            wrong.push(format!("{text:?} expected {expected}"));
        }
    }
    assert_eq!(rows.len(), 554);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a081_what_the_original_lets_through_is_caught() {
    let Some(gaps) = recorded("agentao_hardline_gaps.json") else { return };
    let judge = full_access();
    let commands = gaps["commands"].as_array().unwrap();
    let passed: Vec<&Json> =
        commands.iter().filter(|text| !is_on_floor(&judge, text.as_str().unwrap())).collect();
    assert_eq!(commands.len(), 25);
    assert!(passed.is_empty(), "{passed:#?}");
}
