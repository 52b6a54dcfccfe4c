//! Any text as the arguments of any tool: judging ends without a panic, strict mode is at least as
//! strict as the other, explaining decides the same, places lie in their texts, and one path
//! outside is enough whatever stands in front of it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use palisade_policy::Document;
use palisade_policy::decide::{Answer, Judge};
use palisade_policy::interception::{Call, Door, Interception, ToolVerdict};
use palisade_policy::jail::NoLookup;
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::name::Anchors;
use palisade_policy::text::Source;

const ROOT: &str = "/srv/app";
const TOOLS: [&str; 6] =
    ["write_file", "bash", "apply_patch", "move_file", "read_file", "frobnicate"];
/// Longer texts only repeat what shorter ones show.
const LONGEST: usize = 2048;

struct World {
    judge: Judge,
    interception: Interception,
}

static WORLDS: LazyLock<[World; 2]> = LazyLock::new(|| [false, true].map(world));

fuzz_target!(|text: &str| {
    if text.len() > LONGEST {
        return;
    }
    // One tool for every input, and all of them for a few: which one follows from the text.
    let sum = text.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
    let pick = sum % (TOOLS.len() + 1);
    let tools = TOOLS.get(pick..=pick).unwrap_or(&TOOLS);
    for tool in tools {
        let [lenient, strict] = WORLDS.each_ref().map(|world| judge(world, tool, text));
        assert!(strict.answer >= lenient.answer, "{tool}");
        assert!(strict.passed.is_empty(), "{tool}");
        for verdict in [&lenient, &strict] {
            for finding in verdict.findings.iter().chain(&verdict.passed) {
                let span = finding.reason.span;
                let place = finding.text.get(span.start()..span.end());
                assert!(place.is_some(), "{:?} in {:?}", finding.reason, finding.text);
            }
            assert_eq!(verdict.violation().is_some(), verdict.answer == Answer::Deny);
        }
    }
    if let Some(inside) = text.trim_end().strip_suffix('}') {
        let evil = format!("{inside},\"path\":\"/etc/evil\"}}");
        if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&evil).is_ok() {
            for world in WORLDS.iter() {
                assert_eq!(judge(world, "write_file", &evil).answer, Answer::Deny, "{evil}");
            }
        }
    }
});

fn judge(world: &World, tool: &str, arguments: &str) -> ToolVerdict {
    let World { judge, interception } = world;
    let call = Call { tool, arguments, cwd: ROOT };
    let verdict = interception.judge(&call, Door::Proxy, judge, &NoLookup);
    if arguments.len() % 4 == 0 {
        assert_eq!(interception.explain(&call, Door::Proxy, judge, &NoLookup).0, verdict);
    }
    verdict
}

fn world(strict: bool) -> World {
    let anchors = Anchors { root: ROOT.into(), home: Some("/home/dev".into()) };
    let mut stack = Stack::new(&anchors).expect("the built-in texts are whole");
    let text = format!("version: 1\ntools: {{ enabled: true, strict: {strict} }}\n");
    let source = Source::new("user.yaml", &text);
    let document = Document::parse(&source, Layer::User, &anchors).expect("a sound policy");
    stack.push(Layer::User, document);
    let policy =
        resolve(&stack, &Choice::default(), Trust::NotTrusted).expect("it resolves").policy;
    let home = Some("/home/dev");
    World {
        judge: Judge::new(&policy, ROOT, home, &NoLookup),
        interception: Interception::new(&policy, ROOT, home, &NoLookup),
    }
}
