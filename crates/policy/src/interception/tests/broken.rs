//! Arguments that are broken, or too much.

use super::*;
use Answer::{Allow, Deny};

#[test]
fn broken_arguments_are_refused_strictly_and_otherwise_judged_as_far_as_they_go() {
    #[rustfmt::skip]
    let cases = [
        // arguments                              code                        lenient
        (r#"{"path":"a""#,                        "arguments-unreadable",     Allow),
        (r#"{"path":"a"#,                         "arguments-unreadable",     Allow),
        (r#"{"path":"/etc/x"#,                    "arguments-unreadable",     Deny),
        (r#"{"path":"a"} x"#,                     "arguments-unreadable",     Allow),
        (r#"{"path":"/etc/x",}"#,                 "arguments-unreadable",     Deny),
        (r#"{'path':'a'}"#,                       "arguments-unreadable",     Allow),
        (r#"{"path":"a","path":"b"}"#,            "arguments-duplicate-key",  Allow),
        (r#"{"path":"a","path":"/etc/x"}"#,       "arguments-duplicate-key",  Deny),
        (r#"{"path":"/etc/x","path":"a"}"#,       "arguments-duplicate-key",  Deny),
        (r#"{"path":"a","pa\u0074h":"/etc/x"}"#,  "arguments-duplicate-key",  Deny),
        (r#"{"path":"\ud800"}"#,                  "arguments-unreadable",     Allow),
        (r#"["/etc/x"]"#,                         "arguments-not-object",     Allow),
        ("7",                                     "arguments-not-object",     Allow),
        ("null",                                  "arguments-not-object",     Allow),
        ("what?",                                 "arguments-unreadable",     Allow),
        ("\"what?\"",                             "arguments-unreadable",     Allow),
    ];
    let (strict, lenient) = (World::proxy(true), World::proxy(false));
    for (arguments, code, answer) in cases {
        let verdict = strict.text(Door::Proxy, "write_file", arguments);
        assert_eq!(verdict.answer, Deny, "{arguments}");
        assert!(codes(&verdict).contains(&code), "{arguments}: {:?}", codes(&verdict));
        let verdict = lenient.text(Door::Proxy, "write_file", arguments);
        assert_eq!(verdict.answer, answer, "{arguments}: {:?}", codes(&verdict));
        assert!(verdict.passed.iter().any(|it| it.reason.code == code), "{arguments}: it is told");
    }
}

#[test]
fn too_much_is_refused_in_any_mode() {
    let long = format!(r#"{{"path":"a","content":"{}"}}"#, "x".repeat(10_000_000));
    let deep = format!(r#"{{"path":"a","x":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let many = format!(r#"{{"path":"a","x":[0{}]}}"#, ",0".repeat(200_000));
    let nested = (0..6).fold(r#"{"path":"a"}"#.to_owned(), |text, _| {
        json!({ "path": "a", "arguments": text }).to_string()
    });
    let lines = json!({ "path": "a\n".repeat(3) + &(0..3000).map(|n| format!("{n}\n")).collect::<String>() });
    for (arguments, code) in [
        (long, "arguments-too-long"),
        (deep, "arguments-too-deep"),
        (many, "arguments-too-many"),
        (nested, "arguments-too-deep"),
        (lines.to_string(), "path-too-many"),
    ] {
        for world in [World::proxy(true), World::proxy(false)] {
            let verdict = world.text(Door::Proxy, "write_file", &arguments);
            assert_eq!((verdict.answer, codes(&verdict)), (Deny, vec![code]));
        }
    }
}

#[test]
fn a_pointer_leads_back_to_the_value() {
    let arguments = json!({ "a/b": [{ "c~d": { "path": "/etc/x" } }] });
    let verdict = hook("write_file", arguments.clone());
    let pointer = pointers(&verdict)[0];
    assert_eq!(pointer, "/a~1b/0/c~0d/path");
    assert_eq!(arguments.pointer(pointer), Some(&json!("/etc/x")));
}
