//! Any text as Claude Code's settings: it is read or refused, a refusal cannot repaint the terminal,
//! and no rule that allows a command reaches a second one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::dialect::{Input, Surroundings, named, tell};
use palisade_policy::layer::Layer;
use palisade_policy::name::{Anchors, Found};
use palisade_policy::policy::Action;
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
    let source = Source::new("/proj/app/.claude/settings.json", text);
    if let Err(problem) = tell(&source) {
        check(&[problem]);
    }
    let Some(claude) = named("claude") else { return };
    match (claude.read)(&[Input { source: &source, layer: Layer::Project }], &around) {
        Ok(readings) => {
            for reading in readings {
                check(&reading.notes);
                for list in reading.document.policy.commands.rules.lists() {
                    for rule in list.rules.iter().map(|rule| &rule.value) {
                        let Some(command) = rule.args.get("command") else { continue };
                        // A newline ends a command, and no specifier can hold one unescaped.
                        let second = command.search("true x\nrm -rf /") == Found::Yes;
                        assert!(rule.action != Some(Action::Allow) || !second, "{command}");
                    }
                }
            }
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
