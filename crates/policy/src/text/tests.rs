//! What the two parsers take, what they refuse, and how they say so.

use proptest::prelude::*;

use super::*;

fn yaml(text: &str) -> Result<Node, Diagnostic> {
    yaml::parse(&Source::new("policy.yaml", text))
}

fn json(text: &str) -> Result<Node, Diagnostic> {
    json::parse(&Source::new("policy.json", text))
}

/// Prints a tree without its places, to compare the two notations.
fn plain(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(text) => text.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::List(items) => {
            format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(","))
        }
        Value::Map(entries) => {
            let entries = entries.iter().map(|e| format!("{:?}:{}", e.key, plain(&e.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
    }
}

#[test]
fn both_notations_give_the_same_tree() {
    let yaml = yaml("a: [1, -2.5, true, ~]\nb: {c: text, d: 'no'}\ne:\n  - x\n").unwrap();
    let json =
        json(r#"{"a": [1, -2.5, true, null], "b": {"c": "text", "d": "no"}, "e": ["x"]}"#).unwrap();
    assert_eq!(plain(&yaml), plain(&json));
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    #[rustfmt::skip]
    let cases = [
        // text      value        because
        ("true",     "true",      "a boolean"),
        ("no",       "\"no\"",    "YAML 1.1 booleans are text"),
        ("on",       "\"on\"",    "YAML 1.1 booleans are text"),
        ("~",        "null",      "null"),
        ("10",       "10",        "a number"),
        ("010",      "\"010\"",   "not a number: nobody guesses octal"),
        ("0x10",     "\"0x10\"",  "not a number: nobody guesses hexadecimal"),
        ("1.2.3.4",  "\"1.2.3.4\"", "an address is text"),
        ("'10'",     "\"10\"",    "quotes make text"),
        ("!!str 10", "\"10\"",    "so does the tag"),
        ("30s",      "\"30s\"",   "a time is text"),
    ];
    for (text, expected, because) in cases {
        assert_eq!(plain(&yaml(text).unwrap()), expected, "{text}: {because}");
    }
}

#[test]
fn what_is_no_policy_text_is_refused_with_its_place() {
    let deep = "[".repeat(10_000);
    let many = format!("[{}]", "1,".repeat(MAX_NODES + 1));
    let bomb = (0..30).fold(String::from("a0: &a0 [x, x]\n"), |text, n| {
        format!("{text}a{}: &a{} [*a{n}, *a{n}]\n", n + 1, n + 1)
    });
    let long = format!("a: &x {}\nb: [{}]\n", "y".repeat(500_000), "*x,".repeat(2_000));
    #[rustfmt::skip]
    let cases: &[(&str, &str, u32)] = &[
        // text                          code                 line
        ("a: 1\na: 2\n",                 "duplicate-key",     2),
        ("{a: 1, b: 2, a: 3}",           "duplicate-key",     1),
        ("a: 1\n---\nb: 2\n",            "several-documents", 2),
        ("a: !include other\n",          "tag",               1),
        ("a: !!binary aGk=\n",           "tag",               1),
        ("<<: {a: 1}\n",                 "merge-key",         1),
        ("? [a]\n: b\n",                 "key",               1),
        ("? {a: b}\n: b\n",              "key",               1),
        ("~: b\n",                       "key",               1),
        ("a:\n\t- b\n",                  "yaml",              2),
        ("a: [1, 2\n",                   "yaml",              1),
        ("a: *nothing\n",                "yaml",              1),
        ("a: &x [*x]\n",                 "alias",             1),
        ("a: 'open\n",                   "yaml",              0),
        ("",                             "empty",             0),
        (" \n\t\n",                      "empty",             0),
        ("# only a comment\n",           "empty",             0),
        ("a: b\u{0}c",                   "control-character", 1),
        ("a: \u{1b}[31m",                "control-character", 1),
        ("a: \u{85}b",                   "control-character", 1),
        (&deep,                          "too-deep",          1),
        (&many,                          "too-many-values",   1),
        (&bomb,                          "too-many-values",   0),
        (&long,                          "too-many-values",   0),
        ("a: b # \u{202e}evil",           "control-character", 1),
        ("a: \u{200b}b",                 "control-character", 1),
        ("# ok\rroot: /",                "control-character", 1),
    ];
    for (text, code, line) in cases {
        let problem = yaml(text).expect_err(text.get(..40).unwrap_or(text));
        assert_eq!(problem.code(), *code, "{problem}");
        if *line > 0 {
            assert_eq!(problem.place().map(|place| place.line), Some(*line), "{problem}");
        }
    }
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let deep = "[".repeat(10_000);
    #[rustfmt::skip]
    let cases: &[(&str, &str, (u32, u32))] = &[
        // text                    code             line, column
        ("{\"a\": 1, \"a\": 2}",   "duplicate-key", (1, 10)),
        ("{\"a\": 1,}",            "json",          (1, 9)),
        ("[1, 2",                  "json",          (1, 5)),
        ("{\"a\" 1}",              "json",          (1, 6)),
        ("{a: 1}",                 "json",          (1, 2)),
        ("{'a': 1}",               "json",          (1, 2)),
        ("[1] // why",             "json",          (1, 5)),
        ("[01]",                   "json",          (1, 2)),
        ("[1.]",                   "json",          (1, 2)),
        ("[.5]",                   "json",          (1, 2)),
        ("[+1]",                   "json",          (1, 2)),
        ("[1e]",                   "json",          (1, 2)),
        ("[truely]",               "json",          (1, 2)),
        ("[nan]",                  "json",          (1, 2)),
        ("\"a\nb\"",               "json",          (1, 3)),
        ("\"open",                 "json",          (1, 1)),
        ("\"\\x\"",                "json",          (1, 2)),
        ("\"\\u12\"",              "json",          (1, 2)),
        ("\"\\ud800\"",            "json",          (1, 2)),
        ("\"\\udc00\\ud800\"",     "json",          (1, 2)),
        ("[1] [2]",                "json",          (1, 5)),
        ("\n\n  oops",             "json",          (3, 3)),
        (&deep,                    "too-deep",      (1, 65)),
    ];
    for (text, code, (line, column)) in cases {
        let problem = json(text).expect_err(text.get(..40).unwrap_or(text));
        assert_eq!(problem.code(), *code, "{problem}");
        assert_eq!(problem.place(), Some(Place { line: *line, column: *column }), "{problem}");
    }
}

#[test]
fn a_text_that_is_too_long_is_not_parsed() {
    let problem = json(&"a".repeat(MAX_TEXT + 1)).unwrap_err();
    assert_eq!(problem.code(), "too-long");
}

#[test]
fn a_map_of_many_keys_is_checked_quickly() {
    let keys: Vec<String> = (0..40_000).map(|n| format!("\"k{n}\":1")).collect();
    let mut text = format!("{{{}}}", keys.join(","));
    assert!(json(&text).is_ok());
    text.replace_range(text.len() - 1.., ",\"k0\":2}");
    assert_eq!(json(&text).unwrap_err().code(), "duplicate-key");
}

#[test]
fn an_alias_repeats_a_value_and_points_at_itself() {
    let node = yaml("a: &x [1, 2]\nb: *x\n").unwrap();
    assert_eq!(plain(&node), r#"{"a":[1,2],"b":[1,2]}"#);
    let Value::Map(entries) = &node.value else { panic!("a map") };
    assert_eq!(entries[1].value.span.start(), 16, "the alias, not the anchor");
}

#[test]
fn a_diagnostic_reads_like_a_compilers() {
    let problem = yaml("version: 1\nnetwork:\n  mode: deny-all\n  mode: monitor\n").unwrap_err();
    insta::assert_snapshot!(problem, @r"
    error[duplicate-key]: the key `mode` stands here again
      --> policy.yaml:4:3
       |
     4 |   mode: monitor
       |   ^^^^ it is already set in line 3

    hint: keep one of the two; the text never decides by order
    ");
}

#[test]
fn a_text_cannot_repaint_the_terminal_it_is_complained_about_on() {
    let source = Source::new("a\u{202e}b.yaml", "key: \u{202e}evil\u{200b} and more");
    let problem = Diagnostic::new(&source, "test", "x".into()).at(Span::new(5, 8)).to_string();
    assert!(problem.contains("\\u{202e}evil\\u{200b} and more"), "{problem}");
    assert!(!problem.chars().any(|c| c == '\u{202e}' || c == '\u{200b}'), "{problem}");
}

#[test]
fn what_a_text_says_is_made_visible_in_every_part_of_a_complaint() {
    let source = Source::new("x.yaml", "a: b");
    let problem = Diagnostic::new(&source, "test", "\u{1b}[2J".into())
        .at(Span::new(0, 1))
        .expected("\u{7}")
        .hint("\u{202e}x\ny");
    let text = problem.to_string();
    assert!(!text.chars().any(|c| c != '\n' && hides(c)), "{text:?}");
    assert!(text.ends_with("hint: \\u{202e}x\ny"), "{text}");
}

#[test]
fn places_on_one_long_line_are_found_quickly() {
    let text = format!("[{}]", "\"abcdefgh\",".repeat(60_000) + "1");
    let source = Source::new("x.json", &text);
    let Value::List(items) = json::parse(&source).unwrap().value else { panic!("a list") };
    let last = items.iter().map(|item| source.place(item.span.start()).column).max();
    assert_eq!(last, u32::try_from(text.len() - 1).ok());
}

#[test]
fn a_long_line_is_cut_around_the_caret() {
    let text = format!("{}WRONG{}", "a".repeat(5_000), "b".repeat(5_000));
    let source = Source::new("x.yaml", &text);
    let problem =
        Diagnostic::new(&source, "test", "x".into()).at(Span::new(5_000, 5_005)).to_string();
    assert!(problem.contains("aWRONGb"), "{problem}");
    assert!(problem.lines().all(|line| line.chars().count() < 130), "{problem}");
    let caret = problem.lines().find(|line| line.contains('^')).unwrap();
    let shown = problem.lines().find(|line| line.contains("WRONG")).unwrap();
    let at = |line: &str, what: &str| {
        line.chars().count() - line[line.find(what).unwrap()..].chars().count()
    };
    assert_eq!(at(caret, "^^^^^"), at(shown, "WRONG"), "the caret stands under the word");
}

proptest! {
    /// Ours takes what serde_json takes and refuses what it refuses, but for duplicates and depth.
    #[test]
    fn json_agrees_with_serde_json(text in "[\\[\\]{}:,\" 0-9a-u\\\\.eE+-]{0,24}") {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match json(&text) {
            Ok(_) => prop_assert!(theirs.is_ok() || text.contains(['e', 'E']), "{text}"),
            Err(problem) => prop_assert!(
                theirs.is_err() || problem.code() == "duplicate-key", "{text}: {problem}"
            ),
        }
    }

    /// A tree written as JSON reads back the same in both notations.
    #[test]
    fn trees_survive_both_notations(tree in any_tree()) {
        let text = tree.to_string();
        let (json, yaml) = (json(&text).unwrap(), yaml(&text).unwrap());
        prop_assert_eq!(plain(&json), plain(&yaml));
    }

    /// No text makes a parser or its complaint panic.
    #[test]
    fn no_text_is_fatal(text in "\\PC{0,40}|[a-c:\\[\\]{}&*!|>'\"#%@\\-? \n\t,]{0,40}") {
        for result in [yaml(&text), json(&text)] {
            if let Err(problem) = result {
                prop_assert!(!problem.to_string().is_empty());
            }
        }
    }
}

fn any_tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[ -~é😀]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}
