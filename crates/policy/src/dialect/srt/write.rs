//! From a policy to settings that srt accepts.
//!
//! All five required lists are always written, and nothing is written that is wider than the
//! policy: what srt has no words for is left out and listed as lost.

use serde_json::{Map, Value as Json, json};

use super::domain::{spell_address, spell_denied, spell_granted};
use super::path::{SettingsPath, spell};
use crate::dialect::{Lost, Surroundings, Written, brought, left_out, shared_temp};
use crate::key::Sourced;
use crate::name::{Folder, HostPattern, PathPattern, WideHost};
use crate::policy::{NetworkMode, Policy};

/// Writes the settings.
pub(super) fn write(policy: &Policy, around: &Surroundings<'_>) -> Written {
    let mut lost = Vec::new();
    let network = network(policy, &mut lost);
    let filesystem = filesystem(policy, around, &mut lost);
    lost.extend(shared_temp(policy));
    lost.extend(left_out(policy, |key, _| {
        (!SAID.contains(&key)).then_some("srt has no such setting")
    }));
    let settings = json!({ "network": network, "filesystem": filesystem });
    Written { text: format!("{settings:#}\n"), lost }.sorted()
}

fn network(policy: &Policy, lost: &mut Vec<Lost>) -> Map<String, Json> {
    let said = &policy.network;
    let (mut denied, mut addresses, mut by_address) = (Vec::new(), Vec::new(), Vec::new());
    let listed = said.mode.value() == NetworkMode::AllowList;
    // What `*` asks about is what no list knows, which srt refuses.
    let questions = || said.ask.values().filter(|asked| !asked.is_everything());
    let asks = |host: &HostPattern| questions().any(|asked| asked.cancels(host));
    let granted: Vec<&HostPattern> =
        said.allow.values().filter(|host| listed && !asks(host)).collect();
    // srt asks nobody, so what a wider pattern allows must not let through what is asked about.
    let asked = questions().filter(|_| !granted.is_empty());
    let asked = asked.map(|host| ("network.ask", host.clone()));
    let refused = said.deny.values().map(|host| ("network.deny", host.clone()));
    for (key, host) in refused.chain(asked) {
        match (spell_denied(&host), spell_address(&host)) {
            (Some(spellings), _) => add(&mut denied, spellings),
            (None, Some(network)) => {
                by_address.push(host);
                add(&mut addresses, vec![network]);
            }
            (None, None) => lost.push(Lost::new(
                key,
                host.to_string(),
                "srt cannot refuse this pattern: the settings are wider than the policy here",
            )),
        }
    }
    let mut allowed = Vec::new();
    for host in granted {
        // For srt an address that is allowed by name of itself is reached in spite of
        // `deniedResolvedAddresses`; for us the refusal wins.
        if by_address.iter().any(|network: &WideHost| network.cancels(host)) {
            continue;
        }
        match spell_granted(host) {
            Some(spellings) => add(&mut allowed, spellings),
            None => lost.push(Lost::new(
                "network.allow",
                host.to_string(),
                "srt cannot allow this pattern",
            )),
        }
    }
    if matches!(said.mode.value(), NetworkMode::Monitor | NetworkMode::Disabled) {
        lost.push(Lost::new(
            "network.mode",
            said.mode.value().to_string(),
            "srt has no open network; nothing connects",
        ));
    }
    let mut section = Map::new();
    section.insert("allowedDomains".into(), json!(allowed));
    section.insert("deniedDomains".into(), json!(denied));
    if !addresses.is_empty() {
        section.insert("deniedResolvedAddresses".into(), json!(addresses));
    }
    let everywhere =
        |path: &PathPattern| path.literal().is_some_and(|path| path.parent().is_none());
    if said.unix.values().any(everywhere) {
        section.insert("allowAllUnixSockets".into(), json!(true));
    }
    let mut sockets = Vec::new();
    for path in said.unix.values().filter(|path| !everywhere(path)) {
        match spell(path) {
            Some(SettingsPath::Text(text)) => add(&mut sockets, vec![text]),
            Some(SettingsPath::Literal(_)) | None => lost.push(Lost::new(
                "network.unix",
                path.to_string(),
                "srt cannot name this socket",
            )),
        }
    }
    if !sockets.is_empty() {
        section.insert("allowUnixSockets".into(), json!(sockets));
    }
    if let Some(binding) = said.local_binding.sourced() {
        section.insert("allowLocalBinding".into(), json!(binding.value.0));
    }
    if said.strict.sourced().is_some_and(|strict| strict.value.0) {
        section.insert("refuseOpaqueTunnels".into(), json!(true));
        section.insert("requireHostMatch".into(), json!(true));
    }
    section
}

fn filesystem(
    policy: &Policy,
    around: &Surroundings<'_>,
    lost: &mut Vec<Lost>,
) -> Map<String, Json> {
    let said = &policy.files;
    let mut write: Vec<&PathPattern> = said.write.values().map(Folder::as_pattern).collect();
    // The workspace comes first, as Bloom documents; a stable sort leaves the rest in order.
    write.sort_by_key(|path| path.literal().as_deref() != Some(&around.anchors.root));
    let wider = "srt cannot say this pattern: the settings are wider than the policy here";
    let mut section = Map::new();
    let hide = paths(said.hide.values(), "files.hide", wider, lost);
    section.insert("denyRead".into(), json!(hide));
    let allow_read = paths(said.allow_read.values(), "files.allow_read", "srt cannot say it", lost);
    if !allow_read.is_empty() {
        section.insert("allowRead".into(), json!(allow_read));
    }
    let write = paths(write.into_iter(), "files.write", "srt cannot say this path", lost);
    section.insert("allowWrite".into(), json!(write));
    let protect = paths(said.protect.values(), "files.protect", wider, lost);
    section.insert("denyWrite".into(), json!(protect));
    let hidden = said.hide.entries().iter().map(|entry| ("files.hide", entry));
    let protected = said.protect.entries().iter().map(|entry| ("files.protect", entry));
    let brought = brought(policy);
    // What srt cannot spell is on the list already, and what Palisade brings is nobody's loss.
    let inexact = |entry: &Sourced<PathPattern>| {
        let path = &entry.value;
        entry.origin.layer > brought && path.has_wildcard() && spell(path).is_some()
    };
    for (key, entry) in hidden.chain(protected).filter(|(_, entry)| inexact(entry)) {
        let why = match key {
            "files.hide" => "it is written, but srt looks once, at its start, for what matches",
            _ if is_mandatory(&entry.value) => {
                "it is written, but srt looks once, at its start, and three folders deep"
            }
            _ => "it is written, but srt on Linux passes over wildcards in `denyWrite`",
        };
        lost.push(Lost::new(key, entry.value.to_string(), why));
    }
    section
}

/// Spells paths, each once.
fn paths<'p>(
    patterns: impl Iterator<Item = &'p PathPattern>,
    key: &str,
    why: &'static str,
    lost: &mut Vec<Lost>,
) -> Vec<Json> {
    let mut spelled = Vec::new();
    for pattern in patterns {
        match spell(pattern) {
            Some(SettingsPath::Text(text)) => add(&mut spelled, vec![json!(text)]),
            Some(SettingsPath::Literal(text)) => {
                add(&mut spelled, vec![json!({ "path": text, "literal": true })]);
            }
            None => lost.push(Lost::new(key, pattern.to_string(), why)),
        }
    }
    spelled
}

fn add<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// Names that srt protects by itself, wherever they lie.
const MANDATORY: [&str; 15] = [
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".zshrc",
    ".zprofile",
    ".profile",
    ".ripgreprc",
    ".mcp.json",
    ".vscode",
    ".idea",
    ".claude/commands",
    ".claude/agents",
    ".git/hooks",
    ".git/config",
];

fn is_mandatory(pattern: &PathPattern) -> bool {
    let text = pattern.to_string();
    text.rsplit_once("/**/").is_some_and(|(_, name)| MANDATORY.contains(&name))
}

/// Keys that become part of the settings, or whose effect is part of those that do.
const SAID: [&str; 13] = [
    "profile",
    "root",
    "files.write",
    "files.protect",
    "files.hide",
    "files.unhide",
    "files.allow_read",
    "network.mode",
    "network.allow",
    "network.deny",
    "network.strict",
    "network.unix",
    "network.local_binding",
];
