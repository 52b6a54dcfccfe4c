//! The five names load, keep the runner's defaults, and nothing else is let in.

use std::path::Path;

use super::*;
use crate::layer::{Choice, Layer, Stack, Trust, resolve};
use crate::name::{Anchors, Folder};
use crate::policy::Policy;
use crate::text::Severity;

fn with_world<T>(ask: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
    ask(&Surroundings {
        anchors: &anchors,
        cwd: Path::new("/proj/app"),
        var: &|_| None,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("there are no files here".into()),
    })
}

fn load(name: &str, text: &str) -> Result<Reading, Vec<Diagnostic>> {
    let source = Source::new(name, text);
    let inputs = [Input { source: &source, layer: Layer::User }];
    with_world(|around| read(&inputs, around)).map(|mut readings| readings.remove(0))
}

fn resolved(reading: &Reading) -> Policy {
    let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
    let mut stack = Stack::new(&anchors).unwrap();
    stack.push(reading.layer, reading.document.clone());
    resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy
}

fn shown<T: ToString>(list: &Refusals<T>) -> Vec<String> {
    list.values().map(ToString::to_string).collect()
}

#[test]
fn a002_the_five_names_load_and_the_runners_defaults_hold() {
    let empty = load("runner.json", "{}").unwrap();
    let policy = resolved(&empty);
    assert_eq!(policy.preset.value(), Preset::Runner);
    assert_eq!(policy.limits.output.value().0.map(|size| size.to_string()), Some("64KiB".into()));
    assert_eq!(policy.limits.timeout.value().0.map(|time| time.to_string()), Some("30s".into()));
    assert_eq!(shown(&policy.commands.deny).len(), 24);
    assert_eq!(shown(&policy.commands.interpreters).len(), 14);
    assert_eq!(empty.notes, []);

    for (name, text) in [
        ("runner.json", include_str!("fixtures/runner.json")),
        ("runner.yaml", include_str!("fixtures/runner.yaml")),
    ] {
        let reading = load(name, text).unwrap();
        let root = reading.document.root.as_ref().map(|root| root.value.clone());
        assert_eq!(root, Some("/proj/app/service".parse::<Folder>().unwrap()), "{name}");
        let policy = resolved(&reading);
        assert_eq!(policy.preset.value(), Preset::Runner, "{name}");
        let output = policy.limits.output.value().0.map(|size| size.to_string());
        assert_eq!(output, Some("512B".into()), "{name}");
        let timeout = policy.limits.timeout.value().0.map(|time| time.to_string());
        assert_eq!(timeout, Some("2s500ms".into()), "{name}");
        assert!(shown(&policy.commands.deny).contains(&"terraform".into()), "{name}");
        assert!(shown(&policy.commands.deny).contains(&"sudo".into()), "{name}: nothing is lost");
        assert!(shown(&policy.commands.interpreters).contains(&"osascript".into()), "{name}");
        assert!(shown(&policy.commands.interpreters).contains(&"python3".into()), "{name}");
        let places = [&policy.limits.output.sourced().unwrap().origin];
        assert!(places.iter().all(|origin| origin.place.is_some()), "{name}");
    }
}

#[test]
fn a002_a_list_that_is_given_says_what_stays_of_the_runners_own() {
    let reading = load("r.json", r#"{ "denylist": ["rm", "mine"] }"#).unwrap();
    let [note] = reading.notes.as_slice() else { panic!("{:?}", reading.notes) };
    assert_eq!((note.code(), note.severity()), ("list-adds", Severity::Warning));
    let stay = note.expectation().unwrap();
    assert!(stay.contains("sudo") && !stay.split(", ").any(|name| name == "rm"), "{stay}");
}

#[test]
fn what_is_not_one_of_the_five_names_or_not_of_its_kind_is_refused() {
    #[rustfmt::skip]
    let cases = [
        // text                                    code             named in the message
        ("",                                       "empty",         ""),
        ("{",                                      "json",          ""),
        ("[]",                                     "wrong-type",    "a map"),
        ("null",                                   "wrong-type",    "a map"),
        (r#"{"deny_list":[]}"#,                    "unknown-key",   "deny_list"),
        (r#"{"preset":"confined"}"#,               "unknown-key",   "preset"),
        (r#"{"require":"none"}"#,                  "unknown-key",   "require"),
        (r#"{"env_allowlist":["AWS_SECRET"]}"#,    "unknown-key",   "env_allowlist"),
        (r#"{"max_output_bytes":"64KiB"}"#,        "wrong-type",    "bytes"),
        (r#"{"max_output_bytes":true}"#,           "wrong-type",    "bytes"),
        (r#"{"max_output_bytes":-1}"#,             "wrong-type",    "bytes"),
        (r#"{"timeout_seconds":"30"}"#,            "wrong-type",    "seconds"),
        (r#"{"timeout_seconds":-1}"#,              "wrong-type",    "seconds"),
        (r#"{"timeout_seconds":null}"#,            "wrong-type",    "seconds"),
        (r#"{"denylist":"rm"}"#,                   "wrong-type",    "a list"),
        (r#"{"denylist":[1]}"#,                    "wrong-type",    "name"),
        (r#"{"denylist":["/bin/rm"]}"#,            "command-path",  "/bin/rm"),
        (r#"{"interpreter_block":{}}"#,            "wrong-type",    "a list"),
        (r#"{"project_root":7}"#,                  "wrong-type",    "folder"),
        (r#"{"denylist":[],"denylist":["rm"]}"#,   "duplicate-key", "denylist"),
    ];
    for (text, code, named) in cases {
        let problems = load("r.json", text).unwrap_err();
        assert_eq!(problems[0].code(), code, "{text}");
        assert!(problems[0].message().contains(named), "{text}: {}", problems[0].message());
    }
}

#[test]
fn the_form_is_told_by_its_names_alone() {
    let tell = |text: &str| {
        let source = Source::new("x.yaml", text);
        detect(&source, text::parse(&source).ok().as_ref())
    };
    assert_eq!(tell("denylist: [rm]"), Likeness::Shape);
    assert_eq!(tell("timeout_seconds: 3\nmax_output_bytes: 9"), Likeness::Shape);
    for other in ["denylist: [rm]\nversion: 1", "{}", "[denylist]", "version: 1", "a"] {
        assert_eq!(tell(other), Likeness::No, "{other}");
    }
}
