//! Rules, modes and the floor.

mod fetch;
mod modes;
mod rules;

use serde_json::{Map, Value as Json};

use super::*;
use crate::decide::{Asked, Call, Judge, Verdict};
use crate::dialect::{self, Input, Surroundings};
use crate::jail::NoLookup;
use crate::layer::{Choice, Layer, Stack, Trust, resolve};
use crate::name::Anchors;
use crate::policy::Document;
use crate::text::Source as Text;

const ROOT: &str = "/proj/app";
const HOME: &str = "/home/dev";

fn anchors() -> Anchors {
    Anchors { root: ROOT.into(), home: Some(HOME.into()) }
}

fn document(layer: Layer, yaml: &str) -> Document {
    Document::parse(&Text::new("user.yaml", yaml), layer, &anchors())
        .unwrap_or_else(|problems| panic!("{}", problems[0]))
}

/// A judge for what a user's own file says.
fn judge(yaml: &str) -> Judge {
    judge_of(&[(Layer::User, yaml)])
}

fn judge_of(layers: &[(Layer, &str)]) -> Judge {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (layer, yaml) in layers {
        stack.push(*layer, document(*layer, yaml));
    }
    let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap();
    Judge::new(&resolved.policy, ROOT, Some(HOME), &NoLookup)
}

/// A judge for a mode, with rules beside it.
fn mode(name: &str, rules: &str) -> Judge {
    judge(&format!("version: 1\npreset: agentao:{name}\ncommands:\n  rules: [{rules}]\n"))
}

/// A judge for a `permissions.json` of Agentao, under one of its modes.
fn agentao(name: &str, permissions: &str) -> Judge {
    let path = "/home/dev/.agentao/permissions.json";
    let source = Text::new(path, permissions);
    let anchors = anchors();
    let around = Surroundings {
        anchors: &anchors,
        cwd: ROOT.as_ref(),
        var: &|_| None,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("it is not there".into()),
    };
    let inputs = [Input { source: &source, layer: Layer::User }];
    let read = dialect::named("agentao").unwrap().read;
    let mut readings = read(&inputs, &around).unwrap();
    let mut stack = Stack::new(&anchors).unwrap();
    stack.push(Layer::User, document(Layer::User, &format!("preset: agentao:{name}")));
    stack.push(Layer::User, readings.remove(0).document);
    let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap();
    Judge::new(&resolved.policy, ROOT, Some(HOME), &NoLookup)
}

fn of_shell(judge: &Judge, text: &str) -> Verdict {
    judge.decide(&Call { command: Asked::Shell(text), cwd: ROOT }, &NoLookup)
}

fn args(json: &Json) -> Map<String, Json> {
    json.as_object().unwrap().clone()
}

fn of_tool(judge: &Judge, tool: &str, json: Json) -> Decision {
    let args = args(&json);
    let call = ToolCall { tool, args: &args, nature: Nature::of(tool) };
    judge.decide_tool(&call, ROOT, &NoLookup)
}

/// Checks rows of text, answer and who decides.
#[track_caller]
fn assert_shell(judge: &Judge, cases: &[(&str, Answer, Source)]) {
    let mut wrong = Vec::new();
    for (text, answer, source) in cases {
        let verdict = of_shell(judge, text);
        if (verdict.answer(), verdict.source()) != (*answer, *source) {
            wrong.push(format!(
                "{text:?}: {} by {} instead of {answer} by {source}: {:?}",
                verdict.answer(),
                verdict.source(),
                verdict.reasons(),
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
