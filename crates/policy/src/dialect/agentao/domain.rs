//! The hosts that a rule of `permissions.json` is about.

use std::net::Ipv6Addr;

use super::{text_of, unknown_key};
use crate::key::Reader;
use crate::name::{HostPattern, Invalid, Pattern, WideHost};
use crate::policy::Action;
use crate::text::{Node, Value, visible};

/// What a rule says of a call's URL.
pub(super) struct Domain {
    /// The argument that holds it.
    pub(super) url_arg: Box<str>,
    /// The hosts.
    pub(super) hosts: Vec<HostPattern>,
    /// Hosts that no pattern of ours can name, such as `.internal`, as expressions on the URL.
    pub(super) in_url: Vec<Pattern>,
}

const KEYS: [&str; 3] = ["url_arg", "allowlist", "blocklist"];

/// Reads the hosts. An entry of either list makes the rule match, and the rule's action decides;
/// only a rule that allows leaves its `blocklist` out, for nobody means to allow that.
pub(super) fn read(
    field: &str,
    node: &Node,
    action: Action,
    cx: &mut Reader<'_>,
) -> Option<Domain> {
    let Value::Map(entries) = &node.value else { return cx.wrong_type(field, "a map", node) };
    let mut domain = Domain { url_arg: "url".into(), hosts: Vec::new(), in_url: Vec::new() };
    for entry in entries {
        let field = format!("{field}.{}", entry.key);
        match &*entry.key {
            "url_arg" => domain.url_arg = text_of(&field, &entry.value, cx)?.into(),
            "allowlist" | "blocklist" => {
                let Value::List(items) = &entry.value.value else {
                    return cx.wrong_type(&field, "a list", &entry.value);
                };
                let left_out = action == Action::Allow && &*entry.key == "blocklist";
                if left_out && !items.is_empty() {
                    let message = format!("`{field}` is left out of a rule that allows");
                    let note = cx.complaint("blocklist-allows", message, entry.key_span).warning();
                    cx.report(note.hint("write a rule of its own, with the action `deny`"));
                }
                for item in items {
                    let text = text_of(&field, item, cx)?;
                    let found = read_host(&field, text, item, action, cx)?;
                    if !left_out {
                        domain.take(found);
                    }
                }
            }
            _ => unknown_key(entry, &KEYS, cx),
        }
    }
    Some(domain)
}

/// What an entry of a list becomes.
enum Entry {
    Host(HostPattern),
    InUrl(Pattern),
    Nothing,
}

impl Domain {
    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Host(host) => self.hosts.push(host),
            Entry::InUrl(pattern) => self.in_url.push(pattern),
            Entry::Nothing => {}
        }
    }
}

/// Reads one host: `x` exactly, `.x` with everything below it.
fn read_host(
    field: &str,
    text: &str,
    node: &Node,
    action: Action,
    cx: &mut Reader<'_>,
) -> Option<Entry> {
    let native = match text.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => text.to_owned(),
    };
    let host = match native.parse::<HostPattern>() {
        Ok(host) => host,
        Err(invalid) if invalid.code() == "host-top-level" => {
            return top_level(field, text, node, action, cx)
                .map_or_else(|invalid| cx.invalid(node, &invalid), Some);
        }
        Err(invalid) => return cx.invalid(node, &invalid),
    };
    // Agentao compares hosts without ports and knows no `*`: such an entry matches nothing there.
    let foreign = text.contains('*') || text.contains('/') || has_port(text);
    if foreign {
        let shown = visible(text);
        let (message, entry) = if action == Action::Deny {
            (
                format!("`{shown}` in `{field}` matches nothing in Agentao; here it denies"),
                Entry::Host(host),
            )
        } else {
            (
                format!("`{shown}` in `{field}` matches nothing in Agentao; it is left out"),
                Entry::Nothing,
            )
        };
        let note = cx.complaint("foreign-host", message, node.span).warning();
        cx.report(note.hint("write `x`, or `.x` for x and everything below it"));
        return Some(entry);
    }
    Some(Entry::Host(host))
}

fn has_port(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_err()
        && text.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'))
}

/// Reads `.internal` and the like, which our patterns refuse because a list that opens must not
/// hold a whole top-level domain. A rule that allows loses the entry; any other looks at the URL.
fn top_level(
    field: &str,
    text: &str,
    node: &Node,
    action: Action,
    cx: &mut Reader<'_>,
) -> Result<Entry, Invalid> {
    if action == Action::Allow {
        let message = format!("`{}` in `{field}` is too wide to be allowed", visible(text));
        cx.report(cx.complaint("host-top-level", message, node.span).warning());
        return Ok(Entry::Nothing);
    }
    let base = text.parse::<WideHost>()?.to_string();
    let base = base.trim_start_matches('*').trim_start_matches('.');
    let base = fancy_regex::escape(base);
    // Scheme, slashes and user may be absent; the host ends at a port, a path or the end.
    let pattern = format!(
        r"(?i)^\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]*(?:[^/\\?#]*@)?(?:[^/\\?#@:]*\.)?{base}\.?(?:[:/\\?#]|\s*$)"
    );
    Ok(Entry::InUrl(pattern.parse()?))
}
