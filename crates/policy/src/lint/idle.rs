//! Keys that say something, and change nothing for a command that runs.

use std::fmt;
use std::time::Duration;

use super::{Context, Finding};
use crate::key::{Limit, Setting, Sourced};
use crate::layer::{Layer, Origin};
use crate::name::ByteSize;
use crate::policy::{Backend, NetworkMode, Policy};

/// A key that was set and has no effect on a command that runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WithoutEffect {
    /// The key, with its sections.
    pub key: &'static str,
    /// Why it has none, and what holds instead.
    pub why: &'static str,
    /// Who set it.
    pub origin: Origin,
}

impl fmt::Display for WithoutEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` does not do what it says: {} ({})", self.key, self.why, self.origin)
    }
}

/// Returns the keys of a resolved policy that change nothing for a command that runs. Palisade's own
/// defaults are not among them.
pub fn without_effect(policy: &Policy) -> Vec<WithoutEffect> {
    let network = &policy.network;
    let mut found = Found(Vec::new());
    // With no network at all, these hold by themselves.
    if network.mode.value() == NetworkMode::Disabled {
        let open = "in mode `disabled` the network is the host's, and nobody watches it";
        found.list("network.deny", network.deny.entries(), open);
        found.list("network.ask", network.ask.entries(), open);
        let strict = network.strict.sourced().filter(|strict| strict.value.0);
        found.list("network.strict", strict, open);
        found.bytes("network.budget.upload", &network.budget.upload, open);
        found.bytes("network.budget.download", &network.budget.download, open);
        found.bytes("network.budget.per_host", &network.budget.per_host, open);
        let rules = network.http_rules.lists().iter().find_map(|list| list.rules.first());
        found.list("network.http_rules", rules, open);
        let own = "in mode `disabled` servers have the host's ports themselves";
        found.list("network.publish", network.publish.entries(), own);
        let closed = network.local_binding.sourced().filter(|binding| !binding.value.0);
        found.list("network.local_binding", closed, open);
    }
    if matches!(network.mode.value(), NetworkMode::DenyAll | NetworkMode::Disabled) {
        let closed = "only the modes `allow-list` and `monitor` have that name";
        found.list("network.host_ports", network.host_ports.entries(), closed);
    }
    if network.mode.value() == NetworkMode::DenyAll {
        let closed = "in mode `deny-all` nothing is reached, whoever agrees";
        found.list("network.ask", network.ask.entries(), closed);
    }
    let backend = policy.confirm.backend.sourced().filter(|it| match it.value {
        Backend::Web => true,
        Backend::Webhook(ref url) => url.is_encrypted(),
        Backend::Program(_) | Backend::Deny | Backend::Terminal => false,
    });
    let later = "nobody can be asked that way, so every question is answered with no";
    found.list("confirm.backend", backend, later);
    let plain = "TLS is not spoken; name a collector beside you, by http";
    let encrypted = policy.audit.otlp.sourced().filter(|url| url.value.is_encrypted());
    found.list("audit.otlp", encrypted, plain);
    let audit = &policy.audit;
    let small = "a file of the record is never smaller than 64 KiB";
    let size = audit.rotate_size.sourced();
    let size = size.filter(|it| it.value.0.is_some_and(|size| size.bytes() < SMALLEST_FILE));
    found.list("audit.rotate_size", size, small);
    let short = "a file of the record is never put away before a minute has gone by";
    let age = audit.rotate_age.sourced();
    let age = age.filter(|it| it.value.0.is_some_and(|age| age.duration() < SHORTEST_FILE));
    found.list("audit.rotate_age", age, short);
    found.0
}

/// Files of the record are not begun more often than this, whatever a policy says.
pub const SMALLEST_FILE: u64 = 64 << 10;
/// The same for its age.
pub const SHORTEST_FILE: Duration = Duration::from_secs(60);

pub(super) fn idle(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let finding = |idle: WithoutEffect| Finding {
        message: format!("`{}` does not do what it says: {}", idle.key, idle.why),
        fix: format!("take `{}` out, and do not rely on it", idle.key),
        origin: Some(idle.origin),
    };
    without_effect(policy).into_iter().map(finding).collect()
}

struct Found(Vec<WithoutEffect>);

impl Found {
    /// Notes a key by the first of its values that somebody has written.
    fn list<'v, T: 'v>(
        &mut self,
        key: &'static str,
        values: impl IntoIterator<Item = &'v Sourced<T>>,
        why: &'static str,
    ) {
        let mut written = values.into_iter().map(|value| &value.origin);
        if let Some(origin) = written.find(|origin| origin.layer > Layer::Preset) {
            self.0.push(WithoutEffect { key, why, origin: origin.clone() });
        }
    }

    fn bytes(&mut self, key: &'static str, value: &Setting<Limit<ByteSize>>, why: &'static str) {
        self.list(key, value.sourced().filter(|limit| limit.value.0.is_some()), why);
    }
}
