//! What bad input gets: one clear error each, with its place.

use super::*;

fn problems(text: &str) -> Vec<Diagnostic> {
    match read_all(&[(Layer::User, text)], &[]) {
        Ok(readings) => panic!("{text} was read: {readings:?}"),
        Err(problems) => problems,
    }
}

#[test]
fn a137_broken_patterns_and_missing_parameters_are_errors_that_name_the_key() {
    #[rustfmt::skip]
    let cases = [
        // section                                          code            named
        ("custom_tool_patterns: [ok, '(']",                 "regex",        "`sandboxing.custom_tool_patterns`"),
        ("excluded_tools: ['[a-']",                         "regex",        "`sandboxing.excluded_tools`"),
        ("default_tool_patterns: ['*x']",                   "regex",        "`sandboxing.default_tool_patterns`"),
        ("enabled: true, default_tool_patterns: ['(']",     "regex",        "`sandboxing.default_tool_patterns`"),
        ("excluded_tools: ['']",                            "tool-empty",   "`sandboxing.excluded_tools`"),
        ("path_parameter_names: []",                        "empty-list",   "`sandboxing.path_parameter_names`"),
        ("path_parameter_names: [path, '']",                "wrong-type",   "`sandboxing.path_parameter_names`"),
        ("path_parameter_names: [' ']",                     "wrong-type",   "`sandboxing.path_parameter_names`"),
        ("enabled: true, default_tool_patterns: []",        "no-patterns",  "no tool would be intercepted"),
    ];
    for (section, code, named) in cases {
        let found = problems(&format!("sandboxing: {{ {section} }}"));
        assert_eq!(codes(&found), [code], "{section}");
        assert!(found[0].message().contains(named), "{section}: {}", found[0].message());
        assert!(found[0].place().is_some(), "{section}");
    }
    let found = problems("sandboxing: { custom_tool_patterns: ['(x'] }");
    assert!(found[0].message().contains("(x"), "the pattern is named: {}", found[0].message());
    for good in
        ["custom_tool_patterns: ['a.*']", "path_parameter_names: [path]", "excluded_tools: []"]
    {
        assert!(!readings(&format!("sandboxing: {{ {good} }}"), &[]).is_empty());
    }
}

#[test]
fn a137_an_empty_list_of_patterns_never_watches_nothing() {
    let text = "sandboxing: { default_tool_patterns: [] }";
    let found = read_all(&[(Layer::User, text)], &[("ENABLE_SANDBOXING", "true")]).unwrap_err();
    assert_eq!(codes(&found), ["no-patterns"], "the variable switches it on");
    let found = readings(text, &[]);
    assert_eq!(codes(&found[0].notes), ["no-patterns"]);
    let flag = from_flag(None).unwrap();
    let tools = settled(found, Some(flag), Trust::NotTrusted).policy.tools;
    assert!(tools.enabled.value().0 && tools.intercepts("write_file"), "the built-in list stays");
}

#[test]
fn wrong_types_and_unknown_keys_are_errors_that_name_the_key() {
    #[rustfmt::skip]
    let cases = [
        // text                                             code            named
        ("sandboxing: { enabled: 'true' }",                 "wrong-type",   "sandboxing.enabled"),
        ("sandboxing: { enabled: 1 }",                      "wrong-type",   "sandboxing.enabled"),
        ("sandboxing: { enabled: }",                        "wrong-type",   "sandboxing.enabled"),
        ("sandboxing: { strict_mode: [] }",                 "wrong-type",   "sandboxing.strict_mode"),
        ("sandboxing: { allow_parent_access: 2 }",          "wrong-type",   "sandboxing.allow_parent_access"),
        ("sandboxing: { custom_tool_patterns: x }",         "wrong-type",   "sandboxing.custom_tool_patterns"),
        ("sandboxing: { custom_tool_patterns: [1] }",       "wrong-type",   "sandboxing.custom_tool_patterns"),
        ("sandboxing: { excluded_tools: { a: b } }",        "wrong-type",   "sandboxing.excluded_tools"),
        ("sandboxing: { excluded_tools: [[a]] }",           "wrong-type",   "sandboxing.excluded_tools"),
        ("sandboxing: { default_tool_patterns: null }",     "wrong-type",   "sandboxing.default_tool_patterns"),
        ("sandboxing: { path_parameter_names: path }",      "wrong-type",   "sandboxing.path_parameter_names"),
        ("sandboxing: { path_parameter_names: [true] }",    "wrong-type",   "sandboxing.path_parameter_names"),
        ("sandboxing: true",                                "wrong-type",   "a map"),
        ("sandboxing:",                                     "wrong-type",   "a map"),
        ("[sandboxing]",                                    "wrong-type",   "a map"),
        ("sandboxing: { enable: true }",                    "unknown-key",  "enable"),
        ("sandboxing: { root: / }",                         "unknown-key",  "root"),
        ("sandboxing: { enabled: true, enabled: false }",   "duplicate-key", "enabled"),
        ("sandboxing: { enabled: true",                     "",             ""),
        ("",                                                "empty",        "empty"),
    ];
    for (text, code, named) in cases {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(code.is_empty() || found[0].code() == code, "{text}: {}", found[0]);
        assert!(found[0].message().contains(named), "{text}: {}", found[0].message());
    }
}

#[test]
fn every_problem_of_every_text_is_told_at_once() {
    let text = "sandboxing: { enabled: 1, nope: 2, excluded_tools: ['('] }";
    let found = read_all(
        &[(Layer::User, text), (Layer::CommandLine, "sandboxing: 3")],
        &[("ENABLE_SANDBOXING", "perhaps")],
    );
    let found = found.unwrap_err();
    assert_eq!(codes(&found), ["switch", "wrong-type", "unknown-key", "regex", "wrong-type"]);
}
