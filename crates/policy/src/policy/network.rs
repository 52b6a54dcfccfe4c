//! What leaves the sandbox, and what enters it.

use serde_json::{Value as Json, json};

use super::choice::NetworkMode;
use super::commands::Action;
use crate::key::{
    Covers, Grants, Guard, Item, Limit, Opening, Reader, Refusals, RuleItem, RuleLists, Setting,
    section, text_item,
};
use crate::name::{ByteSize, HostPattern, PathPattern, Pattern, Port, WideHost};
use crate::text::{Node, Value};

section! {
    /// What leaves the sandbox, and what enters it.
    pub struct Network {
        /// Which connections are possible at all; replaces the profile's default.
        mode: Setting<NetworkMode>,
        /// Hosts that may be reached in mode `allow-list`. An address or a network in it also opens
        /// what names may lead to: without, names that lead to private addresses are refused.
        allow: Grants<HostPattern>,
        /// Hosts that may never be reached; wins over everything. Commands that name them are denied;
        /// in mode `disabled` nothing else holds it.
        deny: Refusals<WideHost>,
        /// Hosts for which a person is asked when a program wants to reach them, which waits, even if
        /// `allow` lists them. `*` means what no list knows: names and, in mode `monitor`, addresses. The
        /// answer holds for the run.
        ask: Grants<WideHost>,
        /// Also refuse TLS connections that hide the name they ask for.
        strict: Setting<Guard>,
        /// Ports of the host's loopback that `host.palisade.internal` reaches, in the modes
        /// `allow-list` and `monitor`.
        host_ports: Grants<Port>,
        /// Ports of servers inside that are reached from the host, at the same port of its loopback
        /// (`127.0.0.1`), as long as a run lasts; not below 1024, where nothing inside may listen.
        publish: Grants<Port>,
        /// Unix sockets of the host that stay open: those at these paths, or below them, when a run
        /// starts; `/` means all. Hidden ones stay closed, as do those that have no path.
        unix: Grants<PathPattern>,
        /// Whether servers may bind to addresses other than loopback, where a network is shared with
        /// the host. Here it changes nothing: a run has a network of its own, in which they always may,
        /// and nobody outside reaches them but by `publish`.
        local_binding: Setting<Opening>,
        /// How many bytes may pass.
        budget: Budget,
        /// Rules for plain HTTP requests, by host, method and path, in the modes `allow-list` and
        /// `monitor`. They open no host. Where one speaks of a host and port, only plain HTTP goes
        /// there; where a list allows something there, nothing else is allowed.
        http_rules: RuleLists<HttpRule>,
        /// Whether proxy variables such as `HTTP_PROXY` are set for programs that want them, in the
        /// modes `allow-list` and `monitor`.
        proxy_env: Setting<Opening>,
    }
}

section! {
    /// How many bytes may pass in one run.
    pub struct Budget {
        /// Bytes sent, all hosts together; more cuts the connection.
        upload: Setting<Limit<ByteSize>>,
        /// Bytes received, all hosts together; more cuts the connection.
        download: Setting<Limit<ByteSize>>,
        /// Bytes sent to any one host; more cuts the connection.
        per_host: Setting<Limit<ByteSize>>,
    }
}

text_item!(
    HostPattern,
    "a host: `name`, `*.name`, `.name`, an address or a CIDR, with an optional `:port`"
);
text_item!(WideHost, "a host as in `network.allow`, or `*`");

impl Item for Port {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let text = match &node.value {
            Value::Number(text) | Value::Text(text) => text,
            Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null => {
                return cx.expected("a port from 1 to 65535", node);
            }
        };
        text.parse().map_or_else(|invalid| cx.invalid(node, &invalid), Some)
    }
    fn json(&self) -> Json {
        json!(self.number())
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 1, "maximum": 65535 })
    }
    fn takes() -> String {
        "a port from 1 to 65535".into()
    }
}

impl Covers for HostPattern {
    fn covers(&self, other: &Self) -> bool {
        Self::covers(self, other)
    }
}

impl Covers for WideHost {
    fn covers(&self, other: &Self) -> bool {
        Self::covers(self, other)
    }
}

impl Covers for Port {
    fn covers(&self, other: &Self) -> bool {
        self == other
    }
}

/// A rule for plain HTTP requests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpRule {
    /// Hosts it is about.
    pub host: HostPattern,
    /// Methods it is about; empty means every method.
    pub methods: Vec<String>,
    /// What the path must match, from its start; none means every path.
    pub path: Option<Pattern>,
    /// What happens.
    pub action: Action,
}

impl Item for HttpRule {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let (mut host, mut methods, mut path, mut action) = (None, Vec::new(), None, None);
        for entry in cx.map(node)? {
            match &*entry.key {
                "host" => host = HostPattern::read(&entry.value, cx),
                "methods" => {
                    for item in cx.list(&entry.value).unwrap_or_default() {
                        let Some(text) = cx.text("a method such as GET", item) else { continue };
                        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_uppercase()) {
                            cx.expected::<()>("a method in capital letters, such as GET", item);
                        }
                        methods.push(text.to_owned());
                    }
                }
                "path" => path = Pattern::read(&entry.value, cx),
                "action" => action = Action::read(&entry.value, cx),
                _ => cx.unknown_key(entry, &["host", "methods", "path", "action"]),
            }
        }
        for (missing, key) in [(host.is_none(), "host"), (action.is_none(), "action")] {
            if missing && node.find(key).is_none() {
                cx.missing_key::<()>(key, node);
            }
        }
        Some(Self { host: host?, methods, path, action: action? })
    }

    fn json(&self) -> Json {
        let mut json = json!({ "host": self.host.to_string(), "action": self.action.word() });
        if !self.methods.is_empty() {
            json["methods"] = json!(self.methods);
        }
        if let Some(path) = &self.path {
            json["path"] = json!(path.to_string());
        }
        json
    }

    fn schema() -> Json {
        json!({
            "type": "object",
            "properties": {
                "host": HostPattern::schema(),
                "methods": { "type": "array", "items": { "type": "string", "pattern": "^[A-Z]+$" } },
                "path": Pattern::schema(),
                "action": Action::schema(),
            },
            "required": ["host", "action"],
            "additionalProperties": false,
        })
    }

    fn takes() -> String {
        "`{ host, methods, path, action }`".into()
    }
}

impl RuleItem for HttpRule {
    fn rank(&self) -> u8 {
        match self.action {
            Action::Deny => 0,
            Action::Ask => 1,
            Action::Allow => 3,
        }
    }

    fn widens(&self) -> bool {
        self.action == Action::Allow
    }
}
