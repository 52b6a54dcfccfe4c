//! The `sandbox` section: srt's settings under another roof.
//!
//! It only adds: what the file is silent about stays as other files have it, and switching the
//! sandbox off there switches nothing off here, since the rules of the same file must still hold.

use super::super::Surroundings;
use super::super::srt::lower::{
    connections, credentials, find, folders, hosts, is_on, items, network_mode, patterns,
};
use super::super::srt::schema::note;
use super::{Managed, Writes};
use crate::key::{Grants, Reader, Refusals, Setting, Sourced};
use crate::name::{Anchors, Folder};
use crate::policy::{Policy, Require};
use crate::text::Node;

pub(super) fn lower(
    node: &Node,
    managed: &Managed,
    around: &Surroundings<'_>,
    policy: &mut Policy,
    cx: &mut Reader<'_>,
) {
    if let Some(enabled) = node.find("enabled").filter(|enabled| !is_on(enabled)) {
        let message = "`sandbox.enabled`: the walls stay; this file's lists hold inside them";
        note(cx, "stricter", message.into(), enabled);
    }
    if let Some(fail) = node.find("failIfUnavailable").filter(|fail| is_on(fail)) {
        let origin = cx.origin(fail.span);
        policy.require = Setting::new(Sourced { value: Require::Full, origin });
    }
    files(node.find("filesystem"), managed, around, policy, cx);
    let network = node.find("network");
    let allowed = find(network, "allowedDomains");
    hosts(network, policy, cx);
    if managed.domains.leaves_out(allowed, cx) {
        policy.network.allow = Grants::default();
    } else if let Some(allowed) = allowed {
        policy.network.mode = network_mode(allowed, cx);
    } else {
        policy.network.allow = Grants::default();
    }
    connections(network, policy, cx);
    credentials(node.find("credentials"), policy, cx);
}

fn files(
    node: Option<&Node>,
    managed: &Managed,
    around: &Surroundings<'_>,
    policy: &mut Policy,
    cx: &mut Reader<'_>,
) {
    if let Some(write) = find(node, "allowWrite") {
        let more = folders(Some(write), around, cx);
        add_writable(more, write, managed, around, policy, cx);
    }
    policy.files.protect = Refusals::new(patterns(find(node, "denyWrite"), cx));
    policy.files.hide = Refusals::new(patterns(find(node, "denyRead"), cx));
    let allow_read = find(node, "allowRead");
    let readable = patterns(allow_read, cx);
    if !readable.is_empty() && !managed.reads.leaves_out(allow_read, cx) {
        policy.files.allow_read = Grants::new(readable);
    }
    for key in ["disabled", "allowGitConfig"] {
        if let Some(open) = find(node, key).filter(|open| is_on(open)) {
            let message = format!("`sandbox.filesystem.{key}`: protected paths stay protected");
            note(cx, "stricter", message, open);
        }
    }
}

/// Adds folders to the working folder, which Claude Code can always write but in the mode `plan`.
pub(super) fn add_writable(
    more: Vec<Sourced<Folder>>,
    said: &Node,
    managed: &Managed,
    around: &Surroundings<'_>,
    policy: &mut Policy,
    cx: &mut Reader<'_>,
) {
    if managed.writes == Writes::Never {
        let message = "a file starts in the mode `plan`: this makes nothing writable";
        return note(cx, "stricter", message.into(), said);
    }
    let mut write = policy.files.write.entries().to_vec();
    if !policy.files.write.is_explicit() {
        let root = Folder::literal(&around.anchors.root).ok();
        write.extend(root.map(|value| Sourced { value, origin: cx.origin(said.span) }));
    }
    write.extend(more);
    policy.files.write = Grants::new(write);
}

/// Reads folders that are worked in besides the current one; they are relative to that.
pub(super) fn directories(
    list: &Node,
    around: &Surroundings<'_>,
    cx: &mut Reader<'_>,
) -> Vec<Sourced<Folder>> {
    let here = Anchors { root: around.cwd.into(), home: around.anchors.home.clone() };
    let mut folders = Vec::new();
    for item in items(Some(list)) {
        let Some(text) = item.text() else { continue };
        match text.parse::<Folder>().and_then(|folder| folder.anchored(&here)) {
            Ok(value) => folders.push(Sourced { value, origin: cx.origin(item.span) }),
            Err(invalid) => {
                cx.invalid::<()>(item, &invalid);
            }
        }
    }
    folders
}
