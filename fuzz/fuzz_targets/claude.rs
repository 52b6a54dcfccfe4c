//! Any text as Claude Code's settings: it is read or refused, a refusal cannot repaint the terminal,
//! and no rule that allows a command reaches a second one.
#![no_main]

mod world;

use libfuzzer_sys::fuzz_target;
use palisade_policy::layer::Layer;
use palisade_policy::name::Found;
use palisade_policy::policy::Action;
use palisade_policy::text::Source;

fuzz_target!(|text: &str| {
    world::with_world(|around| {
        let source = Source::new("/proj/app/.claude/settings.json", text);
        let readings = world::readings("claude", &source, Layer::Project, around);
        for reading in readings.into_iter().flat_map(|(_, readings)| readings) {
            for list in reading.document.policy.commands.rules.lists() {
                for rule in list.rules.iter().map(|rule| &rule.value) {
                    let Some(command) = rule.args.get("command") else { continue };
                    // A newline ends a command, and no specifier can hold one unescaped.
                    let second = command.search("true x\nrm -rf /") == Found::Yes;
                    assert!(rule.action != Some(Action::Allow) || !second, "{command}");
                }
            }
        }
    });
});
