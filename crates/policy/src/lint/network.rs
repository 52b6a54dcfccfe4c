//! Lints about hosts.

use std::fmt;
use std::path::Path;

use super::{Context, Finding};
use crate::key::Sourced;
use crate::name::HostPattern;
use crate::policy::{NetworkMode, Policy};

pub(super) fn open(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let mode = policy.network.mode.sourced();
    let Some(mode) = mode.filter(|mode| mode.value == NetworkMode::Disabled) else {
        return Vec::new();
    };
    vec![Finding {
        message: "the network is not confined at all".into(),
        fix: "write `network: { mode: deny-all }`, and give the network to single commands with \
              `palisade run --profile workspace-write`"
            .into(),
        origin: Some(mode.origin.clone()),
    }]
}

pub(super) fn hosts_unused(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let Some(first) = policy.network.allow.entries().first() else { return Vec::new() };
    let effect = match policy.network.mode.value() {
        NetworkMode::AllowList => return Vec::new(),
        NetworkMode::DenyAll => "nothing is reached",
        NetworkMode::Monitor | NetworkMode::Disabled => "every host is reached",
    };
    let mode = policy.network.mode.value();
    vec![Finding {
        message: format!("`network.allow` has no effect in mode `{mode}`: {effect}"),
        fix: "take the list out, or write `mode: allow-list`".into(),
        origin: Some(first.origin.clone()),
    }]
}

/// A list of hosts without any.
pub(super) fn nobody_listed(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let network = &policy.network;
    let Some(mode) = network.mode.sourced() else { return Vec::new() };
    let lists = !network.allow.entries().is_empty()
        || !network.ask.entries().is_empty()
        || !network.host_ports.entries().is_empty();
    if mode.value != NetworkMode::AllowList || lists {
        return Vec::new();
    }
    vec![Finding {
        message: "mode `allow-list` without a host: nothing is reached".into(),
        fix: "list hosts in `network.allow`, or write `network: { mode: deny-all }`".into(),
        origin: Some(mode.origin.clone()),
    }]
}

/// Sockets by which whoever reaches them can run anything outside.
const LEAD_OUT: [&str; 8] = [
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/user/1000/podman/podman.sock",
    "/run/user/1000/docker.sock",
    "/run/systemd/private",
    "/run/dbus/system_bus_socket",
];

/// Lists of sockets that hold one of those.
pub(super) fn leads_out(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for entry in policy.network.unix.entries() {
        let held = LEAD_OUT.iter().find(|path| entry.value.matches(Path::new(path)));
        found.extend(held.map(|held| Finding {
            message: format!("`network.unix` lists `{}`, and so `{held}`", entry.value),
            fix: "list the one socket that is needed, by its path".into(),
            origin: Some(entry.origin.clone()),
        }));
    }
    found
}

pub(super) fn wildcard_without_name(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let network = &policy.network;
    let asked = |name: &HostPattern| network.ask.values().any(|host| host.cancels(name));
    let allowed = |name: &HostPattern| network.allow.cover(name) || asked(name);
    let denied = |name: &HostPattern| network.deny.values().any(|host| host.cancels(name));
    let mut found = bare_wildcards("allow", network.allow.entries(), allowed);
    found.extend(bare_wildcards("deny", network.deny.entries(), denied));
    found
}

fn bare_wildcards<T: fmt::Display>(
    list: &str,
    entries: &[Sourced<T>],
    covered: impl Fn(&HostPattern) -> bool,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for entry in entries {
        let text = entry.value.to_string();
        let Some(name) = text.strip_prefix("*.") else { continue };
        // A name that cannot stand alone, such as a top-level domain, is nobody's omission.
        if name.parse().is_ok_and(|pattern| !covered(&pattern)) {
            found.push(Finding {
                message: format!("`network.{list}` lists `{text}` and not `{name}`"),
                fix: format!("write `.{name}` for both, or add `{name}`"),
                origin: Some(entry.origin.clone()),
            });
        }
    }
    found
}
