//! Any text as the LLM proxy's configuration, flag and variable: it is read or refused, what was
//! read can be saved and loaded again, and a refusal cannot repaint the terminal.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use palisade_policy::dialect::{Input, Surroundings, named, proxy, tell};
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::name::Anchors;
use palisade_policy::text::{Diagnostic, Source};
use palisade_policy::{Document, Policy};

fuzz_target!(|text: &str| {
    let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
    // A comment in the first line is the value of a variable too.
    let first = text.lines().next().and_then(|line| line.strip_prefix('#')).map(str::to_owned);
    let around = Surroundings {
        anchors: &anchors,
        cwd: "/proj/app".as_ref(),
        var: &|name| first.clone().filter(|_| name == "SANDBOXING_STRICT_MODE"),
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("there are no other files".into()),
    };
    let source = Source::new("config/config.yaml", text);
    if let Err(problem) = tell(&source) {
        check(&[problem]);
    }
    if let Some(policy) = load(&source, &around) {
        let write = named("proxy").and_then(|dialect| dialect.write);
        let written = write.map(|write| write(&policy, &around)).unwrap_or_default();
        let saved = Source::new("config/config.yaml", &written.text);
        let again = load(&saved, &around).unwrap_or_else(|| panic!("{}", saved.text()));
        let tools = |policy: &Policy| {
            policy.tools.patterns.values().map(ToString::to_string).collect::<BTreeSet<_>>()
        };
        assert_eq!(tools(&policy), tools(&again), "{}", saved.text());
    }
    drop(proxy::from_flag(Some(text)));
});

/// Reads and resolves a text; none if it is refused.
fn load(source: &Source, around: &Surroundings<'_>) -> Option<Policy> {
    let inputs = [Input { source, layer: Layer::User }];
    let readings = match (named("proxy")?.read)(&inputs, around) {
        Ok(readings) => readings,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            check(&problems);
            return None;
        }
    };
    let mut stack = Stack::new(around.anchors).ok()?;
    for reading in readings {
        check(&reading.notes);
        stack.push(reading.layer, reading.document);
    }
    stack.push(Layer::CommandLine, Document::default());
    resolve(&stack, &Choice::default(), Trust::NotTrusted).ok().map(|resolved| resolved.policy)
}

fn check(problems: &[Diagnostic]) {
    for problem in problems {
        let shown = problem.to_string();
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    }
}
