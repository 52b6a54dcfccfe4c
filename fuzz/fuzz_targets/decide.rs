//! Any text, decided under both presets: no panic, places inside the text, and explaining decides
//! the same. A text that some program refuses to read is never allowed.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use palisade_policy::decide::{Answer, Asked, Call, Judge};
use palisade_policy::jail::NoLookup;
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::name::Anchors;
use palisade_policy::text::Source;
use palisade_policy::{Document, shell};

const ROOT: &str = "/proj/app";

static JUDGES: LazyLock<[Judge; 2]> = LazyLock::new(|| ["confined", "runner"].map(judge));

fuzz_target!(|text: &str| {
    for judge in JUDGES.iter() {
        let argv: Vec<String> = text.split('\n').map(str::to_owned).collect();
        for command in [Asked::Shell(text), Asked::Words(text), Asked::Argv(&argv)] {
            let call = Call { command, cwd: ROOT };
            let (verdict, _) = judge.explain(&call, &NoLookup);
            assert_eq!(verdict, judge.decide(&call, &NoLookup));
            let shown = call.text();
            for reason in verdict.reasons() {
                let range = reason.span.start()..reason.span.end();
                assert!(shown.get(range).is_some(), "{:?} in {shown:?}", reason);
            }
        }
        let call = Call { command: Asked::Shell(text), cwd: ROOT };
        if shell::parse(text).is_err() {
            assert_ne!(judge.decide(&call, &NoLookup).answer(), Answer::Allow);
        }
    }
});

fn judge(preset: &str) -> Judge {
    let anchors = Anchors { root: ROOT.into(), home: Some("/home/dev".into()) };
    let mut stack = Stack::new(&anchors).expect("the built-in texts are whole");
    let source = Source::new("user.yaml", &format!("version: 1\npreset: {preset}\n"));
    let document = Document::parse(&source, Layer::User, &anchors).expect("a sound policy");
    stack.push(Layer::User, document);
    let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted).expect("it resolves");
    Judge::new(&resolved.policy, ROOT, Some("/home/dev"), &NoLookup)
}
