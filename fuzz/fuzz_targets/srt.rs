//! Any text as srt's settings: it is read or refused, a refusal cannot repaint the terminal, and
//! what was read is written again as settings that are read without an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::dialect::{Input, Surroundings, named, tell};
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::name::Anchors;
use palisade_policy::text::{Diagnostic, Source};

fuzz_target!(|text: &str| {
    let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
    let around = Surroundings {
        anchors: &anchors,
        cwd: "/proj/app".as_ref(),
        var: &|_| None,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("there are no other files".into()),
    };
    let source = Source::new(".srt-settings.json", text);
    if let Err(problem) = tell(&source) {
        check(&[problem]);
    }
    let Some(srt) = named("srt") else { return };
    match (srt.read)(&[Input { source: &source, layer: Layer::User }], &around) {
        Ok(readings) => {
            let Ok(mut stack) = Stack::new(&anchors) else { return };
            for reading in readings {
                check(&reading.notes);
                stack.push(reading.layer, reading.document);
            }
            let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted);
            let (Ok(resolved), Some(write)) = (resolved, srt.write) else { return };
            let written = write(&resolved.policy, &around);
            let again = Source::new(".srt-settings.json", &written.text);
            let again = (srt.read)(&[Input { source: &again, layer: Layer::User }], &around);
            assert!(again.is_ok(), "{}\n{}", written.text, again.unwrap_err()[0]);
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            check(&problems);
        }
    }
});

fn check(problems: &[Diagnostic]) {
    for problem in problems {
        let shown = problem.to_string();
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    }
}
