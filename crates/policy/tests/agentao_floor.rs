//! The verdicts that were recorded of Agentao's own floor, and what it lets through.
#![expect(clippy::disallowed_methods, reason = "the corpus is not part of this repository")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#![expect(clippy::unwrap_used, reason = "helpers of tests end where tests do")]

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

fn mode(name: &str) -> Judge {
    let anchors = Anchors { root: ROOT.into(), home: Some(HOME.into()) };
    let mut stack = Stack::new(&anchors).unwrap();
    let source = Text::new("user.yaml", &format!("version: 1\npreset: agentao:{name}\n"));
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
    let judge = mode("full-access");
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
fn a082_every_recorded_write_to_a_sensitive_file_is_told_from_others() {
    let Some(cases) = recorded("s2_agentao_sensitive_write.json") else { return };
    let judge = mode("workspace-write");
    for (key, expected) in
        [("sensitive_write_positive_cases", 23), ("sensitive_write_negative_cases", 14)]
    {
        let texts = cases[key].as_array().unwrap();
        assert_eq!(texts.len(), expected);
        for text in texts.iter().map(|text| text.as_str().unwrap()) {
            let call = Call { command: Asked::Shell(text), cwd: ROOT };
            let verdict = judge.decide(&call, &NoLookup);
            let asks = verdict.answer() == Answer::Ask
                && verdict.reasons().iter().any(|reason| reason.code == "sensitive-write");
            assert_eq!(asks, expected == 23, "{text}: {:?}", verdict.reasons());
        }
    }
}

#[test]
fn a081_what_the_original_lets_through_is_caught() {
    let Some(gaps) = recorded("agentao_hardline_gaps.json") else { return };
    let judge = mode("full-access");
    let commands = gaps["commands"].as_array().unwrap();
    let passed: Vec<&Json> =
        commands.iter().filter(|text| !is_on_floor(&judge, text.as_str().unwrap())).collect();
    assert_eq!(commands.len(), 25);
    assert!(passed.is_empty(), "{passed:#?}");
}
