//! Any expression as a rule, and any text as a call. The first line is the expression, the rest the
//! command. No panic; no expression takes long; a rule that allows lifts no denial, one that denies
//! weakens nothing; explaining decides the same.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use palisade_policy::Document;
use palisade_policy::decide::{Answer, Asked, Call, Judge};
use palisade_policy::jail::NoLookup;
use palisade_policy::layer::{Choice, Layer, Stack, Trust, resolve};
use palisade_policy::name::{Anchors, Pattern};
use palisade_policy::permission::{Nature, PrefixRules, ToolCall};
use palisade_policy::text::Source;
use serde_json::json;

const ROOT: &str = "/proj/app";
/// Ten milliseconds of the processor, times what the checks of a fuzzer's build cost.
const BUDGET: u64 = 30 * 10_000_000;

/// Longer expressions and texts only repeat what shorter ones show; the time that the longest may
/// take is measured elsewhere.
const LONGEST: usize = 1024;
/// One input in so many has a policy of its own made ready, which is nearly all of the work.
const RULED: usize = 16;

const PRESETS: [&str; 4] =
    ["confined", "agentao:full-access", "agentao:workspace-write", "agentao:plan"];
static BUILT_IN: LazyLock<Stack> =
    LazyLock::new(|| Stack::new(&anchors()).expect("the built-in texts are whole"));
static BARE: LazyLock<[Judge; 4]> =
    LazyLock::new(|| PRESETS.map(|preset| judge(preset, "").expect("a sound policy")));

fuzz_target!(|input: &str| {
    if input.len() > LONGEST {
        return;
    }
    let (expression, text) = input.split_once('\n').unwrap_or((input, input));
    let started = nanoseconds();
    let Ok(pattern) = expression.parse::<Pattern>() else { return };
    // Compiled at first use, which is once.
    pattern.search("");
    pattern.full_match("");
    let compiled = nanoseconds() - started;
    let (searched, matched) = (timed(|| pattern.search(text)), timed(|| pattern.full_match(text)));
    for took in [compiled, searched, matched] {
        assert!(took < BUDGET, "{took} ns: {expression:?} on {} bytes", text.len());
    }
    let call = Call { command: Asked::Shell(text), cwd: ROOT };
    if let Some(rules) = PrefixRules::read(&json!({ "deny": [expression], "default": "ask" })) {
        BARE[0].judge_prefixes(&rules, &call, &NoLookup);
    }
    let sum = input.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
    if sum % RULED != 0 {
        return;
    }
    // One of each for every input: making a policy ready is most of the work.
    let pick = text.len() % PRESETS.len();
    let (preset, bare) = (PRESETS[pick], &BARE[pick]);
    let action = ["allow", "ask", "deny"][expression.len() % 3];
    let without = bare.decide(&call, &NoLookup).answer();
    let Some(ruled) = judge(preset, &rule(expression, action)) else { return };
    let (verdict, _) = ruled.explain(&call, &NoLookup);
    assert_eq!(verdict, ruled.decide(&call, &NoLookup));
    let answer = verdict.answer();
    let fine = match action {
        // In `workspace-write` a rule may allow what the mode alone denies.
        "allow" if preset == "confined" && without == Answer::Deny => answer == without,
        "allow" => answer <= without,
        _ => answer >= without || preset == "agentao:workspace-write",
    };
    assert!(fine, "{preset} {action}: {without} became {answer}");
    for reason in verdict.reasons() {
        let range = reason.span.start()..reason.span.end();
        assert!(text.get(range).is_some(), "{reason:?} in {text:?}");
    }
    let arguments = json!({ "command": text, "url": text, "path": text });
    for tool in ["Bash", "web_fetch", "write_file"] {
        let args = arguments.as_object().expect("a map");
        let call = ToolCall { tool, args, nature: Nature::of(tool) };
        let decision = ruled.decide_tool(&call, ROOT, &NoLookup);
        assert!(decision.tag.contains(':'));
    }
});

fn anchors() -> Anchors {
    Anchors { root: ROOT.into(), home: Some("/home/dev".into()) }
}

fn timed<T>(what: impl FnOnce() -> T) -> u64 {
    let started = nanoseconds();
    what();
    nanoseconds() - started
}

/// Time that this thread had the processor: others may be at work, too.
fn nanoseconds() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
}

fn rule(expression: &str, action: &str) -> String {
    json!({ "tool": "run_shell_command", "args": { "command": expression }, "action": action })
        .to_string()
}

fn judge(preset: &str, rules: &str) -> Option<Judge> {
    let anchors = anchors();
    let mut stack = BUILT_IN.clone();
    let text = format!(r#"{{"version":1,"preset":"{preset}","commands":{{"rules":[{rules}]}}}}"#);
    let document = Document::parse(&Source::new("user.json", &text), Layer::User, &anchors).ok()?;
    stack.push(Layer::User, document);
    let resolved = resolve(&stack, &Choice::default(), Trust::NotTrusted).expect("it resolves");
    Some(Judge::new(&resolved.policy, ROOT, Some("/home/dev"), &NoLookup))
}
