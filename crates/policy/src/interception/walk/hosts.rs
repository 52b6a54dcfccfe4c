//! The addresses of a call: a tool reaches them from outside of the walls.

use super::super::arguments::{Arguments, Node, Step, Value};
use super::super::spelling::{folded, last_word};
use super::Walk;
use crate::command::Arg;
use crate::text::Span;

impl Walk<'_> {
    /// Holds the addresses that stand in parameters for such against `network`.
    pub(in super::super) fn hosts(&mut self, text: &str) {
        if !text.contains("://") {
            return;
        }
        let arguments = Arguments::read(text);
        for (at, node) in arguments.nodes.iter().enumerate() {
            let Value::Text(value) = &node.value else { continue };
            if !names_address(&arguments.nodes, node) || !value.contains("://") {
                continue;
            }
            let target = Arg::known(value.trim(), Span::new(0, value.len()));
            if let Some(refused) = self.judge.refused_host(&target) {
                self.refuse(refused, arguments.pointer(at), value, None);
            }
        }
    }
}

/// Whether a value stands under a name for addresses, alone or in a list.
fn names_address(nodes: &[Node<'_>], node: &Node<'_>) -> bool {
    let step = match &node.step {
        Step::Item(_) => nodes.get(node.parent).map(|list| &list.step),
        Step::Key(_) | Step::Top => Some(&node.step),
    };
    let Some(Step::Key(key)) = step else { return false };
    matches!(last_word(&folded(key)), "url" | "urls" | "uri" | "uris" | "href" | "link" | "links")
}
