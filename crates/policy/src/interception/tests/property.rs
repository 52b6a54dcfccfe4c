//! What holds for any arguments.

use proptest::prelude::*;

use super::*;

fn any_json() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        "[a-c./~]{0,6}",
        Just("x".to_owned()),
        Just("a,b\n\\c".to_owned()),
        Just("{\"path\":\"a\"}".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        text.prop_map(Json::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            Just("path"),
            Just("files"),
            Just("command"),
            Just("args"),
            Just("patch"),
            Just("content"),
            Just("target"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((key, inner), 0..4).prop_map(|entries| {
                let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), value));
                Json::Object(entries.collect())
            }),
        ]
    })
}

proptest! {
    /// One path outside is enough, wherever it stands and whatever stands around it.
    #[test]
    fn one_path_outside_is_enough(around in any_json(), strict: bool) {
        let world = World::proxy(strict);
        let arguments = json!({ "x": around, "deep": [{ "path": "/etc/evil" }] });
        prop_assert_eq!(world.proxied("write_file", arguments).answer, Answer::Deny);
    }

    /// Strict mode refuses whatever the other refuses, and arguments that were cut off anywhere
    /// are never better off than whole ones in strict mode.
    #[test]
    fn strict_is_stricter(arguments in any_json(), tool in 0..4_usize, cut in 0..60_usize) {
        let tool = ["write_file", "bash", "apply_patch", "frobnicate"][tool];
        let text = arguments.to_string();
        let text: String = text.chars().take(cut).collect();
        let strict = World::proxy(true).text(Door::Proxy, tool, &text);
        let lenient = World::proxy(false).text(Door::Proxy, tool, &text);
        prop_assert!(strict.answer >= lenient.answer);
        prop_assert!(!lenient.passed.is_empty() || strict.answer == lenient.answer);
        prop_assert!(strict.passed.is_empty());
    }

    /// What serde reads is what we read, and what it does not read we do not either.
    #[test]
    fn our_reader_agrees_with_another(text in "[\\[\\]{},:\"a\\\\u0d8 n-]{0,12}") {
        let theirs = serde_json::from_str::<Json>(&text);
        let ours = Arguments::read(&text);
        if theirs.is_ok() {
            let fault = ours.fault.map(|fault| fault.code);
            prop_assert!(fault.is_none() || fault == Some("arguments-duplicate-key"), "{}", text);
        }
        let number = text.contains(['0', '8', '-']);
        prop_assert!(theirs.is_ok() || ours.fault.is_some() || number, "{}", text);
    }
}
