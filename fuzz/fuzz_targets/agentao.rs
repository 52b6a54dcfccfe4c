//! Any text as Agentao's `sandbox.json` and `permissions.json`, the user's and the project's: it is
//! read or refused, a refusal cannot repaint the terminal, and what is written back is read again.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use palisade_policy::Layer;
use palisade_policy::dialect::{self, Dialect, Input, Surroundings};
use palisade_policy::name::Anchors;
use palisade_policy::text::{Diagnostic, Source};

fuzz_target!(|text: &str| {
    let (below, above) = text.split_once("\n%%%\n").unwrap_or((text, text));
    let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
    let around = Surroundings {
        anchors: &anchors,
        cwd: Path::new("/proj/app"),
        var: &|_| None,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("nothing".into()),
    };
    let agentao = dialect::named("agentao").expect("it is in the table");
    for name in ["sandbox.json", "permissions.json", "mine.json", "mine.yaml"] {
        let below = Source::new(&format!("/home/dev/.agentao/{name}"), below);
        let above = Source::new(&format!("/proj/app/.agentao/{name}"), above);
        let _told = dialect::tell(&below);
        let inputs = [
            Input { source: &below, layer: Layer::User },
            Input { source: &above, layer: Layer::Project },
        ];
        read(agentao, &inputs, &around);
    }
    let source = Source::new("runner.yaml", text);
    let runner = dialect::named("runner").expect("it is in the table");
    read(runner, &[Input { source: &source, layer: Layer::User }], &around);
});

fn read(dialect: &Dialect, inputs: &[Input<'_>], around: &Surroundings<'_>) {
    let readings = match (dialect.read)(inputs, around) {
        Ok(readings) => readings,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a word");
            return problems.iter().for_each(check);
        }
    };
    assert_eq!(readings.len(), inputs.len(), "one reading for each text");
    for reading in readings {
        reading.notes.iter().for_each(check);
        let Some(write) = dialect.write else { continue };
        let written = write(&reading.document.policy, around);
        let source = Source::new("/home/dev/.agentao/sandbox.json", &written.text);
        let again = (dialect.read)(&[Input { source: &source, layer: Layer::User }], around);
        assert!(again.is_ok(), "{} is not read back: {again:?}", written.text);
    }
}

fn check(problem: &Diagnostic) {
    let shown = problem.to_string();
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
}
