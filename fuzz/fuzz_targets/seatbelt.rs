//! Any text as a Seatbelt profile: it is read or refused, what was read can be written and read
//! again, and a refusal cannot repaint the terminal.
#![no_main]

mod world;

use libfuzzer_sys::fuzz_target;
use palisade_policy::dialect::{seatbelt, tell};
use palisade_policy::layer::Layer;
use palisade_policy::text::Source;

fuzz_target!(|text: &str| {
    world::with_world(|around| {
        let source = Source::new("fuzz.sb", text);
        assert!(tell(&source).is_ok_and(|told| told.name == "seatbelt"), "not told by its name");
        let params = seatbelt::Params::of_root(&around.anchors.root);
        let read = |source: &Source| seatbelt::read_profile(source, &params, Layer::User, around);
        world::check(&seatbelt::check(&source, &around.anchors.root, around));
        let Some((dialect, readings)) = world::readings("seatbelt", &source, Layer::User, around)
        else {
            return;
        };
        for reading in readings {
            let policy = reading.document.policy;
            let written = dialect.write.map(|write| write(&policy, around)).unwrap_or_default();
            let again = read(&Source::new("again.sb", &written.text));
            assert!(again.is_ok(), "{}\n{again:?}", written.text);
        }
    });
});
