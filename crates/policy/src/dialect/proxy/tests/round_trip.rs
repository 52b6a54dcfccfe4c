//! Saving and loading the section.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::dialect::Written;

fn written(policy: &Policy) -> Written {
    among(&[], |around| (PROXY.write.unwrap())(policy, around))
}

/// What is in force, without order and origin.
fn in_force(policy: &Policy) -> (bool, bool, u8, [BTreeSet<String>; 3]) {
    let tools = &policy.tools;
    let lists = [
        tools.patterns.values().map(ToString::to_string).collect(),
        tools.exclude.values().map(ToString::to_string).collect(),
        tools.path_parameters.values().map(|name| name.0.to_string()).collect(),
    ];
    (tools.enabled.value().0, tools.strict.value().0, tools.allow_parent.value().0, lists)
}

#[test]
fn a140_saving_and_loading_preserves_the_section() {
    for text in [FULL, DEFAULTS, REPLACED] {
        let first = policy(text);
        let saved = written(&first).text;
        let loaded = readings(&saved, &[]);
        let codes = codes(&loaded[0].notes).join(" ");
        assert!(!codes.contains("no-section") && !codes.contains("switch"), "{saved}\n{codes}");
        let second = settled(loaded, None, Trust::NotTrusted).policy;
        assert_eq!(in_force(&second), in_force(&first), "{saved}");
        assert_eq!(written(&second).text, saved, "saving again changes nothing");
    }
    let saved = written(&policy(FULL)).text;
    assert!(saved.contains("custom_tool_patterns:\n    - \"deploy_.*\"\n"), "{saved}");
    assert!(saved.contains("excluded_tools:\n    - \"^generate_image$\"\n"), "{saved}");
}

#[test]
fn an_exclusion_is_never_written_wider_than_it_is() {
    let mut policy = policy(DEFAULTS);
    let origin = Origin::of(Layer::User);
    let names = ["file", "a|b", r"container\.exec", "^x|y$", "(?i)z", "(?x)a # b"];
    let entry = |text: &&str| Sourced { value: text.parse().unwrap(), origin: origin.clone() };
    policy.tools.exclude = crate::key::Grants::new(names.iter().map(entry).collect());
    let saved = written(&policy).text;
    for expected in ["^file$", "^(?:a|b)$", r"^(?:container\\.exec)$", "^(?:^x|y$)$"] {
        assert!(saved.contains(&format!("- \"{expected}\"\n")), "{expected}: {saved}");
    }
    let loaded = settled(readings(&saved, &[]), None, Trust::NotTrusted).policy;
    assert_eq!(in_force(&loaded), in_force(&policy));
}

#[test]
fn what_the_section_cannot_say_is_listed() {
    let mut policy = policy(FULL);
    let origin = Origin::of(Layer::User);
    policy.tools.allow_parent =
        Setting::new(Sourced { value: crate::key::Levels(3), origin: origin.clone() });
    let roots = vec![Sourced { value: "/srv".parse().unwrap(), origin }];
    policy.tools.roots = crate::key::Grants::new(roots);
    let Written { text, lost } = written(&policy);
    assert!(text.contains("allow_parent_access: true"));
    let keys: Vec<&str> = lost.iter().map(|lost| &*lost.key).collect();
    assert_eq!(keys, ["tools.allow_parent", "tools.roots"], "what makes it wider comes first");
    for key in ["tools.enabled", "tools.patterns", "tools.exclude", "network.allow", "require"] {
        assert!(!keys.contains(&key), "{key}: {keys:?}");
    }
}

/// A section's text from a small alphabet, with expressions that are hard to quote.
fn any_section() -> impl Strategy<Value = String> {
    let tool = prop::sample::select(vec![
        "write_file",
        "bash",
        "Execute",
        "deploy",
        ".*file.*",
        "^x$",
        "^(?:a|b)$",
        "^(?:a)|(?:b)$",
        r"container\.exec",
        r"a\x22b",
        "x: #y",
        "[é'\"]+",
        "\u{2028}|\u{feff}",
        "(?i)q",
        "(?x)a # b",
    ]);
    let name =
        prop::sample::select(vec!["path", "where", "cwd", "a b", "\"'\\", "\u{2028}é", "- x"]);
    let flag = prop::option::of(any::<bool>());
    let tools = |range| prop::option::of(prop::collection::vec(tool.clone(), range));
    let names = prop::option::of(prop::collection::vec(name, 1..4));
    (flag.clone(), flag.clone(), flag, tools(0..4), tools(0..4), tools(1..4), names).prop_map(
        |(enabled, strict, parent, custom, excluded, defaults, names)| {
            let switches =
                [("enabled", enabled), ("strict_mode", strict), ("allow_parent_access", parent)];
            let lists = [
                ("custom_tool_patterns", custom),
                ("excluded_tools", excluded),
                ("default_tool_patterns", defaults),
                ("path_parameter_names", names),
            ];
            let mut section = serde_json::Map::new();
            for (key, on) in switches {
                section.extend(on.map(|on| (key.into(), serde_json::json!(on))));
            }
            for (key, items) in lists {
                section.extend(items.map(|items| (key.into(), serde_json::json!(items))));
            }
            // What hides in a text is only read where it is spelled out.
            let text = serde_json::json!({ "sandboxing": section }).to_string();
            text.replace('\u{2028}', "\\u2028").replace('\u{feff}', "\\ufeff")
        },
    )
}

proptest! {
    #[test]
    fn a140_any_section_survives_saving_and_loading(text in any_section()) {
        let first = policy(&text);
        let saved = written(&first).text;
        let second = policy(&saved);
        prop_assert_eq!(in_force(&second), in_force(&first), "{}", saved);
        prop_assert_eq!(written(&second).text, saved);
    }
}
