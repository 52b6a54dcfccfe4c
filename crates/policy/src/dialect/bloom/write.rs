//! A policy in Bloom's words: a bare `sandbox` section.

use serde_json::json;

use super::credentials;
use crate::dialect::{Lost, Surroundings, Written, brought, left_out, refuses, shared_temp};
use crate::key::{Count, Limit};
use crate::name::{Anchors, Folder, HostPattern, PathPattern};
use crate::policy::{NetworkMode, Policy};

/// Writes what Bloom can say. The rest is lost, and listed.
pub(super) fn write(policy: &Policy, around: &Surroundings<'_>) -> Written {
    let mut writer = Writer { text: "sandbox:\n  enabled: true\n".into(), lost: Vec::new() };
    writer.network(policy);
    writer.written_paths(policy, around.anchors);
    writer.hidden_paths(policy, around.anchors);
    writer.processes(policy);
    writer.everything_else(policy);
    Written { text: writer.text, lost: writer.lost }.sorted()
}

/// Keys that have a place in the section.
const CARRIED: [&str; 6] = [
    "files.write",
    "files.hide",
    "files.unhide",
    "network.mode",
    "network.allow",
    "limits.processes",
];

struct Writer {
    text: String,
    lost: Vec<Lost>,
}

impl Writer {
    fn network(&mut self, policy: &Policy) {
        let mut mode = policy.network.mode.value();
        if matches!(mode, NetworkMode::Monitor | NetworkMode::Disabled) && refuses(policy) {
            let why = "with every host open Bloom refuses none; nothing connects";
            self.lose("network.mode", mode.to_string(), why);
            mode = NetworkMode::DenyAll;
        }
        self.line("networkPolicy", mode.word());
        let mut domains = Vec::new();
        for host in policy.network.allow.values() {
            let text = host.to_string();
            if mode != NetworkMode::AllowList {
                self.lose("network.allow", text, "Bloom reads domains with an allow-list only");
            } else if !is_open(policy, host) {
                // Refused, or only after asking: Bloom can say neither, and must not allow it.
                self.lose("network.allow", text, "another key takes it back, which Bloom cannot");
            } else if text.contains('/') {
                self.lose("network.allow", text, "Bloom names hosts, not networks");
            } else if let Some(apex) = text.strip_prefix('.') {
                domains.extend([apex.to_owned(), format!("*.{apex}")]);
            } else {
                domains.push(text);
            }
        }
        self.list("allowedDomains", &domains);
    }

    fn written_paths(&mut self, policy: &Policy, anchors: &Anchors) {
        let root = ".".parse::<Folder>().and_then(|root| root.anchored(anchors)).ok();
        let is_root = |folder: &Folder| root.as_ref() == Some(folder);
        let mut paths = Vec::new();
        for folder in policy.files.write.values().filter(|folder| !is_root(folder)) {
            let text = folder.to_string();
            if text.contains('\\') {
                self.lose("files.write", text, NO_ESCAPES);
            } else {
                paths.push(text);
            }
        }
        self.list("writablePaths", &paths);
        if !root.is_some_and(|root| policy.files.write.cover(&root)) {
            self.line("workspaceWritable", "false");
            let why = "only Palisade reads `workspaceWritable`; to Bloom it is always writable";
            self.lost
                .push(Lost::new("files.write", "the workspace, read-only".into(), why).wider());
        }
    }

    /// Writes the whole list: the one that is written replaces Bloom's default.
    fn hidden_paths(&mut self, policy: &Policy, anchors: &Anchors) {
        let (hide, unhide) = (&policy.files.hide, &policy.files.unhide);
        let covered = |path: &PathPattern| hide.values().any(|hidden| hidden.covers(path));
        let defaults: Vec<PathPattern> =
            credentials(anchors).into_iter().map(|(_, path)| path).collect();
        let kept = defaults.iter().filter(|path| !covered(path) && !unhide.cover(path));
        let mut paths = Vec::new();
        let brought = brought(policy);
        let own = hide.entries().iter().filter(|entry| entry.origin.layer > brought);
        let own: Vec<&PathPattern> = own.map(|entry| &entry.value).collect();
        for path in hide.values().chain(kept) {
            let text = path.to_string();
            if text.contains('\\') {
                self.lose("files.hide", text, NO_ESCAPES);
                continue;
            }
            if path.has_wildcard() && own.contains(&path) {
                let why = "written, but Bloom looks for matches only once, before the start";
                self.lose("files.hide", text.clone(), why);
            }
            if !paths.contains(&text) {
                paths.push(text);
            }
        }
        self.list("denyReadPaths", &paths);
        for open in unhide.values().filter(|open| !defaults.contains(open)) {
            self.lose("files.unhide", open.to_string(), "Bloom has one list of hidden paths");
        }
    }

    fn processes(&mut self, policy: &Policy) {
        let Some(limit) = policy.limits.processes.sourced() else { return };
        match limit.value {
            Limit(None) => self.line("processLimit", "0"),
            Limit(Some(Count(0))) => {
                self.line("processLimit", "1");
                self.lose("limits.processes", "0".into(), "0 means any number; 1 is written");
            }
            Limit(Some(Count(count))) => self.line("processLimit", &count.to_string()),
        }
    }

    fn everything_else(&mut self, policy: &Policy) {
        // In a policy that was resolved, the profile has already become `files` and `network`.
        let resolved = policy.network.mode.sourced().is_some();
        self.lost.extend(shared_temp(policy));
        self.lost.extend(left_out(policy, |key, _| {
            let carried = CARRIED.contains(&key) || key == "profile" && resolved;
            (!carried).then(|| reason(key))
        }));
    }

    fn line(&mut self, key: &str, value: &str) {
        self.text.push_str(&format!("  {key}: {value}\n"));
    }

    fn list(&mut self, key: &str, values: &[String]) {
        if values.is_empty() {
            return self.line(key, "[]");
        }
        self.text.push_str(&format!("  {key}:\n"));
        for value in values {
            self.text.push_str(&format!("    - {}\n", json!(value))); // a JSON text is a YAML one
        }
    }

    fn lose(&mut self, key: &str, value: String, why: &'static str) {
        self.lost.push(Lost::new(key, value, why));
    }
}

const NO_ESCAPES: &str = "Bloom has no way to write this name";

/// Tells whether all of a pattern is reached without anybody being asked: Bloom has no way to take
/// a part of it back.
fn is_open(policy: &Policy, host: &HostPattern) -> bool {
    !policy.network.deny.values().any(|denied| denied.meets(host))
        && !policy.network.ask.values().any(|asked| !asked.is_everything() && asked.meets(host))
}

fn reason(key: &str) -> &'static str {
    match key.split('.').next() {
        Some("require") => "Bloom runs the agent unconfined where it cannot confine it",
        Some("network") => "Bloom knows a network policy and a list of domains, no more",
        Some("files") => "Bloom knows paths to write and paths not to read, no more",
        Some(_) | None => "Bloom has no such setting",
    }
}
