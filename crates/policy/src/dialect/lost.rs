//! What a policy loses when it is written in another dialect.

use std::path::Path;

use serde_json::Value as Json;

use crate::key::{Field as _, Row, Sourced, bare};
use crate::layer::{Layer, Origin};
use crate::policy::{Policy, Preset};

/// A policy written in a dialect.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// What of the policy the text does not say, and what it says that the policy does not: never
    /// empty if there is such a thing, but for what Palisade brings by itself.
    pub lost: Vec<Lost>,
}

/// Something that a dialect cannot say as it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lost {
    /// The key, with its sections.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Why it could not be carried over.
    pub why: &'static str,
    /// What that does to the text.
    pub effect: Effect,
}

/// What a loss does to a text.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Effect {
    /// It may let something happen that the policy does not.
    Wider,
    /// It lets less happen than the policy.
    Stricter,
}

/// Keys that open something: without them less can happen.
const OPENING: [&str; 15] = [
    "env.pass",
    "files.allow_read",
    "files.unhide",
    "files.write",
    "network.allow",
    "network.host_ports",
    "network.local_binding",
    "network.mode",
    "network.proxy_env",
    "network.publish",
    "network.unix",
    "nested",
    "tools.allow_parent",
    "tools.exclude",
    "tools.roots",
];

impl Lost {
    /// Names what is lost; without a key that closes something the text is wider.
    pub fn new(key: &str, value: String, why: &'static str) -> Self {
        let effect = if OPENING.contains(&key) { Effect::Stricter } else { Effect::Wider };
        Self { key: key.into(), value, why, effect }
    }

    /// Says that the text is wider, though the key opens something.
    #[must_use]
    pub fn wider(self) -> Self {
        Self { effect: Effect::Wider, ..self }
    }
}

impl Written {
    /// Lists first what makes the text wider.
    #[must_use]
    pub(crate) fn sorted(mut self) -> Self {
        self.lost.sort_by_key(|lost| lost.effect); // stable
        self
    }
}

/// Returns up to which layer values are no policy's loss: what Palisade itself brings, and what the
/// usual preset brings; what another one brings was asked for.
pub(crate) fn brought(policy: &Policy) -> Layer {
    match policy.preset.value() {
        Preset::Confined => Layer::Preset,
        Preset::AgentaoFullAccess
        | Preset::AgentaoPlan
        | Preset::AgentaoReadOnly
        | Preset::AgentaoWorkspaceWrite
        | Preset::Runner => Layer::BuiltIn,
    }
}

/// Returns whether a policy refuses hosts, or asks about some, where it opens all others. What
/// Palisade itself refuses is no policy's loss.
pub(crate) fn refuses(policy: &Policy) -> bool {
    let (network, brought) = (&policy.network, brought(policy));
    let own = |origin: &Origin| origin.layer > brought;
    network.deny.entries().iter().any(|entry| own(&entry.origin))
        || network.ask.entries().iter().any(|entry| own(&entry.origin))
}

/// Lists what a writer leaves out: each key with those of its values that `why` has a reason for.
pub(crate) fn left_out(
    policy: &Policy,
    why: impl Fn(&str, &Sourced<Json>) -> Option<&'static str>,
) -> Vec<Lost> {
    let mut rows = Vec::new();
    policy.rows("", &mut rows);
    let brought = brought(policy);
    let mut lost = Vec::new();
    for Row { key, values, .. } in rows {
        let (mut shown, mut reason) = (Vec::new(), None);
        for value in values.iter().filter(|value| value.origin.layer > brought) {
            if let Some(why) = why(&key, value) {
                shown.push(bare(&value.value));
                reason = Some(why);
            }
        }
        lost.extend(reason.map(|why| Lost::new(&key, shown.join(", "), why)));
    }
    lost
}

/// Lists the shared folders for temporary files among what may be written: others write them as
/// they are, and here they are private.
pub(crate) fn shared_temp(policy: &Policy) -> Vec<Lost> {
    let shared =
        |path: &Path| ["/tmp", "/var/tmp"].iter().any(|temp| Path::new(temp).starts_with(path));
    let folders = policy.files.write.values().filter(|folder| shared(&folder.path()));
    let mut lost: Vec<Lost> = Vec::new();
    for value in folders.map(ToString::to_string) {
        if !lost.iter().any(|known| known.value == value) {
            let why = "it is written, but all programs share it there; here it is private";
            lost.push(Lost::new("files.write", value, why).wider());
        }
    }
    lost
}
