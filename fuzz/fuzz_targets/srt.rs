//! Any text as srt's settings: it is read or refused, a refusal cannot repaint the terminal, and
//! what was read is written again as settings that are read without an error.
#![no_main]

mod world;

use libfuzzer_sys::fuzz_target;
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::text::Source;

fuzz_target!(|text: &str| {
    world::with_world(|around| {
        let source = Source::new(".srt-settings.json", text);
        let Some((srt, readings)) = world::readings("srt", &source, Layer::User, around) else {
            return;
        };
        let Ok(mut stack) = Stack::new(around.anchors) else { return };
        for reading in readings {
            stack.push(reading.layer, reading.document);
        }
        let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted);
        let (Ok(resolved), Some(write)) = (resolved, srt.write) else { return };
        let written = write(&resolved.policy, around);
        let again = Source::new(".srt-settings.json", &written.text);
        let again = world::readings("srt", &again, Layer::User, around);
        assert!(again.is_some(), "{}", written.text);
    });
});
