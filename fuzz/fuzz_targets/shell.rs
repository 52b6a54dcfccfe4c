//! Any text as shell text: it is read or refused, every place lies in the text, and the walk over
//! what was read ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::shell::{self, MAX_COMMANDS, Part};
use palisade_policy::text::Span;

fuzz_target!(|text: &str| {
    let inside = |span: Span| assert!(text.get(span.start()..span.end()).is_some(), "{span:?}");
    match shell::parse(text) {
        Err(error) => inside(error.span),
        Ok(script) => {
            let mut commands = 0;
            script.every_part(&mut |part| match part {
                Part::Command(command) => {
                    commands += 1;
                    inside(command.span);
                }
                Part::Assignment(assignment) => inside(assignment.span),
                Part::Redirection(redirection) => inside(redirection.span),
                Part::Word(word) => inside(word.span),
            });
            assert!(commands <= 2 * MAX_COMMANDS + text.len());
            // Reading the same text again gives the same.
            assert_eq!(shell::parse(text).as_ref(), Ok(&script));
        }
    }
});
