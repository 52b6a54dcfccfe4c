//! What is wrong is refused, by name and place.

use super::*;

fn problems(text: &str) -> Vec<Diagnostic> {
    world(text, "").readings().unwrap_err()
}

#[test]
fn a057_malformed_json_refuses_everything() {
    for text in ["", "{", "{]", "nonsense", "{'enabled':true}", "{\"enabled\":true,}", "\u{0}"] {
        for (user, project) in [(text, "{}"), ("{}", text)] {
            let world = World::default().with(USER, user).with(PROJECT, project);
            assert!(world.readings().is_err(), "{text:?}");
        }
    }
    // Also when the sandbox would be off: a file that cannot be read may have meant it on.
    assert_eq!(problems(r#"{"enabled":false"#)[0].code(), "json");
    assert!(world(r#"{"enabled":true}"#, "").readings().is_ok());
}

#[test]
fn a058_a_wrong_type_is_refused_and_its_field_named() {
    #[rustfmt::skip]
    let cases = [
        // text                                              field
        ("[]",                                               "sandbox.json"),
        ("null",                                             "sandbox.json"),
        (r#""enabled""#,                                     "sandbox.json"),
        (r#"{"enabled":1}"#,                                 "enabled"),
        (r#"{"enabled":0}"#,                                 "enabled"),
        (r#"{"enabled":"true"}"#,                            "enabled"),
        (r#"{"enabled":null}"#,                              "enabled"),
        (r#"{"platform":7}"#,                                "platform"),
        (r#"{"platform":null}"#,                             "platform"),
        (r#"{"platform":["darwin"]}"#,                       "platform"),
        (r#"{"default_profile":false}"#,                     "default_profile"),
        (r#"{"default_profile":["readonly"]}"#,              "default_profile"),
        (r#"{"profiles_dir":{}}"#,                           "profiles_dir"),
        (r#"{"profiles_dir":3}"#,                            "profiles_dir"),
        (r#"{"workspace_root":true}"#,                       "workspace_root"),
        (r#"{"workspace_root":[]}"#,                         "workspace_root"),
        (r#"{"rules":null}"#,                                "rules"),
        (r#"{"rules":{}}"#,                                  "rules"),
        (r#"{"rules":["x"]}"#,                               "rules[0]"),
        (r#"{"rules":[{"profile":"readonly"}]}"#,            "rules[0].tool"),
        (r#"{"rules":[{"tool":"","profile":"readonly"}]}"#,  "rules[0].tool"),
        (r#"{"rules":[{"tool":1,"profile":"readonly"}]}"#,   "rules[0].tool"),
        (r#"{"rules":[{"tool":"x","profile":1}]}"#,          "rules[0].profile"),
        (r#"{"rules":[{"tool":"x","args":[]}]}"#,            "rules[0].args"),
        (r#"{"rules":[{"tool":"x","args":{"command":1}}]}"#, "rules[0].args.command"),
    ];
    for (text, field) in cases {
        let found = problems(text);
        let [problem] = found.as_slice() else { panic!("{text}: {found:?}") };
        assert_eq!(problem.code(), "wrong-type", "{text}");
        assert!(problem.message().contains(&format!("`{field}`")), "{text}: {}", problem.message());
        assert!(problem.place().is_some(), "{text}");
    }
    let both = problems(r#"{"enabled":1,"rules":7}"#);
    assert_eq!(both.len(), 2, "every problem is listed");
}

#[test]
fn what_cannot_be_understood_is_refused() {
    #[rustfmt::skip]
    let cases = [
        // text                                                           code               named
        (r#"{"workspace_root":""}"#,                                      "path-empty",      "empty"),
        (r#"{"workspace_root":"~root/x"}"#,                               "path-user",       "home"),
        (r#"{"workspace_root":"a\u0007b"}"#,                              "path-control",    "control"),
        (r#"{"enabled":true,"enabled":false}"#,                           "duplicate-key",   "enabled"),
        (r#"{"rules":[{"tool":"x","profile":"no"}]}"#,                    "unknown-profile", "`no`"),
        (r#"{"rules":[{"tool":"x","profile":"readonly","args":{"command":"("}}]}"#, "regex", "`(`"),
    ];
    for (text, code, named) in cases {
        let problem = &problems(text)[0];
        assert_eq!(problem.code(), code, "{text}");
        assert!(problem.message().contains(named), "{text}: {}", problem.message());
    }
}

#[test]
fn what_is_not_read_is_mentioned() {
    #[rustfmt::skip]
    let cases = [
        // text                                                               note
        (r#"{"enabled":true,"enable":true}"#,                                 "unknown-key"),
        (r#"{"rules":[{"tool":"x","profile":"readonly","action":"deny"}]}"#,  "unknown-key"),
        (r#"{"platform":"linux"}"#,                                           "platform"),
    ];
    for (text, note) in cases {
        assert_eq!(world(text, "").notes(), [note], "{text}");
    }
    let rules = r#"{"enabled":true,"rules":[{"tool":"x","profile":"readonly"}]}"#;
    assert_eq!(world(rules, rules).notes(), ["rules-replaced"]);
    assert_eq!(world(rules, "{}").notes(), [""; 0]);
}

#[test]
fn a059_an_unknown_profile_is_refused_with_the_names_there_are() {
    let text = r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"sttrict"}"#;
    let found = problems(text);
    let [problem] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(problem.code(), "unknown-profile");
    let message = problem.message();
    assert!(message.contains("`sttrict` not found"), "{message}");
    for name in ["strict", "readonly", "workspace-write", "workspace-write-no-network"] {
        assert!(message.contains(name), "{message}");
    }
    assert!(problem.advice().unwrap().contains("nothing runs"), "{problem}");
    assert_eq!(problem.place().unwrap().column, 61);
    #[rustfmt::skip]
    let others = [
        "../profiles/strict", "/home/dev/.agentao/profiles/strict.sb", "strict.sb.sb", ".", "..",
        "READONLY", "readonly ", "strict\\u0000", "profiles/strict", "strict-readonly",
    ];
    for name in others {
        let text =
            format!(r#"{{"enabled":true,"profiles_dir":"profiles","default_profile":"{name}"}}"#);
        assert_eq!(problems(&text)[0].code(), "unknown-profile", "{name}");
    }
    let found = r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"strict"}"#;
    assert!(world(found, "").readings().is_ok());
    // The folder that counts is the one that holds after merging.
    let moved = world(found, r#"{"profiles_dir":null}"#).readings().unwrap_err();
    assert_eq!((moved[0].code(), moved[0].file()), ("unknown-profile", PROJECT));
}

#[test]
fn a060_a_profile_with_a_syntax_error_is_refused_when_it_is_chosen() {
    let default = r#"{"enabled":true,"profiles_dir":"/boxes","default_profile":"bad"}"#;
    let in_rule = r#"{"profiles_dir":"/boxes","rules":[{"tool":"x","profile":"bad"}]}"#;
    for text in [default, in_rule] {
        let broken = world(text, "").with("/boxes/bad.sb", "(version 1)\n(allow file-read*");
        let problems = broken.readings().unwrap_err();
        assert_eq!(problems[0].file(), "/boxes/bad.sb", "{text}");
        assert!(problems[0].place().is_some(), "{text}");
        let sound = world(text, "").profile("/boxes/bad.sb");
        assert!(sound.readings().is_ok(), "{text}");
    }
}
