//! Any text as YAML: it parses or is refused, every span lies inside the text, the tree stays
//! within its limits, and a refusal cannot repaint the terminal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::text::{MAX_DEPTH, MAX_NODES, Node, Source, Value, yaml};

fuzz_target!(|text: &str| {
    let source = Source::new("fuzz.yaml", text);
    match yaml::parse(&source) {
        Ok(node) => {
            let count = check(&node, text, 0);
            assert!(count <= MAX_NODES, "{count} values");
        }
        Err(diagnostic) => {
            let shown = diagnostic.to_string();
            assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        }
    }
});

/// Returns how many values the tree holds.
fn check(node: &Node, text: &str, depth: usize) -> usize {
    assert!(depth <= MAX_DEPTH, "nested {depth} deep");
    assert!(node.span.start() <= node.span.end(), "a span ends before it starts");
    assert!(text.get(node.span.start()..node.span.end()).is_some(), "a span outside the text");
    match &node.value {
        Value::List(items) => {
            1 + items.iter().map(|item| check(item, text, depth + 1)).sum::<usize>()
        }
        Value::Map(entries) => {
            for (at, entry) in entries.iter().enumerate() {
                let before = entries.iter().take(at);
                assert!(before.into_iter().all(|other| other.key != entry.key), "a key twice");
            }
            1 + entries.iter().map(|entry| check(&entry.value, text, depth + 1)).sum::<usize>()
        }
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::Text(_) => 1,
    }
}
