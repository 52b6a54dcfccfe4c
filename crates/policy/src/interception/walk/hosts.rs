//! The addresses of a call: a tool reaches them from outside of the walls.

use super::super::arguments::{Arguments, Step, Value};
use super::super::parameter::{Parameters, Role};
use super::super::path::Count;
use super::super::spelling::{folded, last_word};
use super::super::tool;
use super::{DEEPEST, Walk, is_file_uri, reason};
use crate::decide::{Answer, Axis, Reason};
use crate::permission::{self, Nature, ToolCall};
use crate::text::visible;
use crate::url::is_public;

/// An address of a call.
struct Address {
    text: String,
    pointer: String,
}

impl Walk<'_> {
    /// Holds the addresses that stand in parameters for such against `network`.
    pub(in super::super) fn hosts(&mut self, text: &str) {
        let found = addresses(text);
        // One agent's tool is told in words what to fetch, and so may be others that have no
        // parameter for it.
        if tool::fetches(self.tool()) && (found.is_empty() || self.tool() == "web_fetch") {
            self.spoken(text);
        }
        for Address { text, pointer } in found {
            if !self.effort.spend(4 + text.len() / 16) {
                break;
            }
            self.host(&text, pointer);
        }
    }

    /// Holds the addresses against `network` that stand among words.
    fn spoken(&mut self, text: &str) {
        let arguments = Arguments::read(text);
        for (at, node) in arguments.nodes.iter().enumerate() {
            let (Step::Key(key), Value::Text(prose)) = (&node.step, &node.value) else { continue };
            if !matches!(&*folded(key), "prompt" | "query" | "instructions") {
                continue;
            }
            let ends = |c: char| c.is_whitespace() || "<>\"'`()[]{},".contains(c);
            for word in prose.split(ends).filter(|word| word.contains("://")) {
                if !self.effort.spend(4 + word.len() / 16) {
                    return;
                }
                self.host(word.trim_end_matches(['.', ';', '!', '?']), arguments.pointer(at));
            }
        }
    }

    /// Whether a rule of the policy allows just this address to the tool.
    fn is_ruled_open(&self, address: &str) -> bool {
        self.judge.has_rules()
            && self.names.iter().any(|name| {
                let call = ToolCall { tool: name, args: self.args, nature: Nature::of(name) };
                self.judge.allows_address(&call, address)
            })
    }

    /// Judges the files that a tool reads which takes addresses and nothing else.
    pub(in super::super) fn files_at_addresses(&mut self, text: &str) {
        for Address { text, pointer } in addresses(text) {
            if is_file_uri(&text) {
                self.path(&text, Role::Source, Count::One, &|| pointer.clone());
            }
        }
    }

    fn host(&mut self, text: &str, pointer: String) {
        let fetches = tool::fetches(self.tool());
        // To others a text without a scheme may be a path.
        let is_address =
            fetches || text.contains("://") || permission::of_web(text.trim()).is_some();
        if text.trim().is_empty() || is_file_uri(text) || !is_address {
            return;
        }
        let hosts = permission::hosts(text);
        let refused = hosts.iter().filter_map(|(host, port)| {
            let closed = || {
                let is_open = is_public(host)
                    || self.judge.lists_host(host, *port)
                    || self.is_ruled_open(text);
                let message = format!("`{host}` is this machine, or one of its network");
                (!is_open).then(|| asked("host-not-public", message))
            };
            self.judge.refused_reach(host, *port).or_else(closed)
        });
        let worst = refused.max_by_key(|reason| reason.answer);
        let unread = || {
            let message = format!("nobody can tell which host `{}` names", visible(text));
            (fetches && hosts.is_empty()).then(|| asked("url-unreadable", message))
        };
        if let Some(refused) = worst.or_else(unread) {
            self.refuse(refused, pointer, text, None);
        }
    }
}

/// Returns every text that stands under a name for addresses, however deep.
fn addresses(text: &str) -> Vec<Address> {
    let mut found = Vec::new();
    find(text, "", 0, &mut found);
    found
}

fn find(text: &str, prefix: &str, depth: usize, found: &mut Vec<Address>) {
    let arguments = Arguments::read(text);
    let mut named: Vec<bool> = Vec::with_capacity(arguments.nodes.len());
    for (at, node) in arguments.nodes.iter().enumerate() {
        let within = named.get(node.parent).copied().unwrap_or_default();
        let (own, nests) = match &node.step {
            Step::Key(key) => (names_address(key), Parameters::may_nest(key)),
            Step::Top => (false, true),
            Step::Item(_) => (false, false),
        };
        named.push(within || own);
        let Value::Text(value) = &node.value else { continue };
        let pointer = || format!("{prefix}{}", arguments.pointer(at));
        if within || own {
            found.push(Address { text: value.to_string(), pointer: pointer() });
        } else if nests && depth < DEEPEST && value.trim_start().starts_with(['{', '[']) {
            find(value, &pointer(), depth + 1, found);
        }
    }
}

fn names_address(key: &str) -> bool {
    matches!(last_word(&folded(key)), "url" | "urls" | "uri" | "uris" | "href" | "link" | "links")
}

fn asked(code: &'static str, message: String) -> Reason {
    let hint = Some("list the host in network.allow, if it is meant".to_owned());
    Reason { answer: Answer::Ask, hint, ..reason(code, Axis::Rule, message) }
}
