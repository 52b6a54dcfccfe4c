//! Any text as JSON: what we accept, another parser accepts with the same value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::text::{Node, Source, Value, json};
use serde::de::IgnoredAny;

fuzz_target!(|text: &str| {
    let source = Source::new("fuzz.json", text);
    match json::parse(&source) {
        Ok(node) => {
            let plain = text.trim_start_matches('\u{feff}');
            assert!(serde_json::from_str::<IgnoredAny>(plain).is_ok(), "accepted by us alone");
            // A number too large for a float is an error there; here it stays text.
            if let Ok(other) = serde_json::from_str::<serde_json::Value>(plain) {
                assert!(same(&node, &other), "{node:?} is not {other}");
            }
        }
        Err(diagnostic) => {
            let shown = diagnostic.to_string();
            assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        }
    }
});

fn same(node: &Node, other: &serde_json::Value) -> bool {
    use serde_json::Value as Other;
    match (&node.value, other) {
        (Value::Null, Other::Null) => true,
        (Value::Bool(ours), Other::Bool(theirs)) => ours == theirs,
        (Value::Number(ours), Other::Number(theirs)) => ours.parse::<f64>().ok() == theirs.as_f64(),
        (Value::Text(ours), Other::String(theirs)) => **ours == **theirs,
        (Value::List(ours), Other::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Value::Map(ours), Other::Object(theirs)) => {
            let mut entries = ours.iter();
            ours.len() == theirs.len()
                && entries
                    .all(|entry| theirs.get(&*entry.key).is_some_and(|b| same(&entry.value, b)))
        }
        _ => false,
    }
}
