//! Any text as a Seatbelt profile: it is read or refused, what was read can be written and read
//! again, and a refusal cannot repaint the terminal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::dialect::{Surroundings, named, seatbelt, tell};
use palisade_policy::layer::Layer;
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
    let source = Source::new("fuzz.sb", text);
    assert!(tell(&source).is_ok_and(|dialect| dialect.name == "seatbelt"), "not told by its name");
    let params = seatbelt::Params::of_root(&anchors.root);
    let read = |source: &Source| seatbelt::read_profile(source, &params, Layer::User, &around);
    check(&seatbelt::check(&source));
    match read(&source) {
        Ok((policy, notes)) => {
            check(&notes);
            let write = named("seatbelt").and_then(|dialect| dialect.write);
            let written = write.map(|write| write(&policy, &around)).unwrap_or_default();
            let again = read(&Source::new("again.sb", &written.text));
            assert!(again.is_ok(), "{}\n{again:?}", written.text);
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
