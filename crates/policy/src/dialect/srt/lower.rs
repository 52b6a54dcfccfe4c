//! From srt's settings to a policy.
//!
//! The tree was checked before, so a value of the wrong shape has been complained about and is
//! passed over here.

use super::schema::note;
use super::{domain, path};
use crate::builtin::BuiltIn;
use crate::dialect::Surroundings;
use crate::key::{
    Field as _, Grants, Guard, Opening, Reader, Refusals, Setting, Sourced, Variables,
};
use crate::layer::{Layer, Origin};
use crate::name::{Folder, Invalid, PathPattern};
use crate::policy::{Document, NetworkMode, Policy};
use crate::text::{Entry, Node, Value, visible};

/// Says in our words what a settings file says.
pub(super) fn lower(node: &Node, around: &Surroundings<'_>, cx: &mut Reader<'_>) -> Document {
    let mut policy = Policy::default();
    filesystem(node.find("filesystem"), around, &mut policy, cx);
    let network = node.find("network");
    let allowed = find(network, "allowedDomains");
    policy.network.mode = network_mode(allowed.unwrap_or(node), cx);
    hosts(network, &mut policy, cx);
    connections(network, &mut policy, cx);
    credentials(node.find("credentials"), &mut policy, cx);
    Document { policy, ..Document::default() }
}

/// Lowers `filesystem`. Without the section, or without its lists, nothing is writable.
fn filesystem(
    node: Option<&Node>,
    around: &Surroundings<'_>,
    policy: &mut Policy,
    cx: &mut Reader<'_>,
) {
    let mut write = folders(find(node, "allowWrite"), around, cx);
    if let Some(disabled) = find(node, "disabled").filter(|node| is_on(node)) {
        write.extend(disabled_walls(disabled, cx));
    }
    policy.files.write = Grants::new(write);
    policy.files.protect = Refusals::new(patterns(find(node, "denyWrite"), cx));
    policy.files.allow_read = Grants::new(patterns(find(node, "allowRead"), cx));
    let deny_read = find(node, "denyRead");
    let hidden = patterns(deny_read, cx);
    if let Some(list) = deny_read {
        policy.files.unhide = Grants::new(readable(&hidden, list, around, cx));
    }
    policy.files.hide = Refusals::new(hidden);
    if let Some(node) = find(node, "allowGitConfig").filter(|node| is_on(node)) {
        let message = "`filesystem.allowGitConfig`: `.git/config` can be changed, and it can name \
                       programs that run outside; `.git/hooks` stays protected in any case";
        note(cx, "git-config", message.into(), node);
        let config = "**/.git/config".parse::<PathPattern>();
        let config = config.and_then(|config| config.anchored(around.anchors));
        let origin = cx.origin(node.span);
        let lifted = config.into_iter().map(|value| Sourced { value, origin: origin.clone() });
        policy.files.protect = std::mem::take(&mut policy.files.protect).lifting(lifted.collect());
    }
}

/// srt would drop its own protections too; ours stay.
fn disabled_walls(node: &Node, cx: &mut Reader<'_>) -> Option<Sourced<Folder>> {
    let message = "`filesystem.disabled` makes everything writable but the protected paths";
    cx.report(
        cx.complaint("files-open", message.into(), node.span)
            .warning()
            .hint("list folders under `filesystem.allowWrite` instead"),
    );
    let everything = "/".parse().ok()?;
    Some(Sourced { value: everything, origin: cx.origin(node.span) })
}

/// Returns which of the paths that Palisade hides by itself become readable: an explicit `denyRead`
/// takes the place of that list (Ruling 10), and says so.
fn readable(
    hidden: &[Sourced<PathPattern>],
    list: &Node,
    around: &Surroundings<'_>,
    cx: &mut Reader<'_>,
) -> Vec<Sourced<PathPattern>> {
    let ours = BuiltIn::read(around.anchors);
    let ours = ours.map(|ours| ours.policy().files.hide.clone()).unwrap_or_default();
    let dropped: Vec<PathPattern> = ours
        .values()
        .filter(|path| !hidden.iter().any(|entry| entry.value.covers(path)))
        .cloned()
        .collect();
    if dropped.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = dropped.iter().map(|path| visible(&path.to_string())).collect();
    let names = names.join(", ");
    let message = format!("`filesystem.denyRead` leaves credentials readable: {names}");
    cx.report(
        cx.complaint("credentials-readable", message, list.span)
            .warning()
            .hint("add them to `filesystem.denyRead`"),
    );
    // Only our own list gives way. What a person hid in any other file stays hidden, so this speaks
    // with the voice just above the built-in one. A project's is named as such, so that it is left
    // out until it is trusted.
    let layer = if cx.layer() == Layer::Project { Layer::Project } else { Layer::Preset };
    let origin = Origin { layer, ..cx.origin(list.span) };
    dropped.into_iter().map(|value| Sourced { value, origin: origin.clone() }).collect()
}

/// An empty list is no network at all, not an empty list of hosts to ask about.
pub(in crate::dialect) fn network_mode(list: &Node, cx: &Reader<'_>) -> Setting<NetworkMode> {
    let value = match &list.value {
        Value::List(hosts) if !hosts.is_empty() => NetworkMode::AllowList,
        Value::List(_)
        | Value::Bool(_)
        | Value::Map(_)
        | Value::Null
        | Value::Number(_)
        | Value::Text(_) => NetworkMode::DenyAll,
    };
    Setting::new(Sourced { value, origin: cx.origin(list.span) })
}

/// Lowers the lists of hosts.
pub(in crate::dialect) fn hosts(node: Option<&Node>, policy: &mut Policy, cx: &mut Reader<'_>) {
    policy.network.allow = Grants::new(parsed(find(node, "allowedDomains"), domain::granted, cx));
    let mut deny = parsed(find(node, "deniedDomains"), domain::denied, cx);
    deny.extend(parsed(find(node, "deniedResolvedAddresses"), domain::address, cx));
    policy.network.deny = Refusals::new(deny);
}

/// Lowers what `network` says besides hosts.
pub(in crate::dialect) fn connections(
    node: Option<&Node>,
    policy: &mut Policy,
    cx: &mut Reader<'_>,
) {
    let mut sockets = patterns(find(node, "allowUnixSockets"), cx);
    if let Some(all) = find(node, "allowAllUnixSockets").filter(|node| is_on(node)) {
        let everywhere = "/".parse().ok();
        sockets.extend(everywhere.map(|value| Sourced { value, origin: cx.origin(all.span) }));
    }
    if !sockets.is_empty() {
        policy.network.unix = Grants::new(sockets);
    }
    if let Some(binding) = find(node, "allowLocalBinding") {
        let value = Opening(is_on(binding));
        policy.network.local_binding =
            Setting::new(Sourced { value, origin: cx.origin(binding.span) });
    }
    let strict = ["requireHostMatch", "refuseOpaqueTunnels"].map(|key| find(node, key));
    if let Some(strict) = strict.into_iter().flatten().find(|node| is_on(node)) {
        policy.network.strict =
            Setting::new(Sourced { value: Guard(true), origin: cx.origin(strict.span) });
    }
}

/// Lowers `credentials`. We have no stand-ins for secrets, so what srt would mask is kept away.
pub(in crate::dialect) fn credentials(
    node: Option<&Node>,
    policy: &mut Policy,
    cx: &mut Reader<'_>,
) {
    let mut hidden = policy.files.hide.entries().to_vec();
    for file in items(find(node, "files")) {
        let Some(path) = required(file, "path", cx) else { continue };
        if let Some(value) = path::pattern(path, cx) {
            hidden.push(Sourced { value, origin: cx.origin(path.span) });
        }
        masked(file, "the file is hidden", cx);
    }
    policy.files.hide = Refusals::new(hidden);
    let mut empty = Vec::new();
    for variable in items(find(node, "envVars")) {
        let Some(name) = required(variable, "name", cx) else { continue };
        let Some(key) = name.text() else { continue };
        let value = Node { value: Value::Text("".into()), span: name.span };
        empty.push(Entry { key: key.into(), key_span: name.span, value });
        masked(variable, "the variable is empty", cx);
    }
    if !empty.is_empty() {
        // Whatever else passes the name, its value does not come through.
        let map =
            Node { value: Value::Map(empty), span: node.map_or_else(Default::default, |n| n.span) };
        policy.env.set = Variables::read(&map, cx).unwrap_or_default();
    }
}

fn masked(entry: &Node, instead: &str, cx: &mut Reader<'_>) {
    if let Some(mode) = entry.find("mode").filter(|mode| mode.text() == Some("mask")) {
        let message = format!("secrets are not replaced by stand-ins here; {instead}");
        note(cx, "stricter", message, mode);
    }
}

/// Returns the value of a key without which an entry protects nothing.
fn required<'n>(entry: &'n Node, key: &str, cx: &mut Reader<'_>) -> Option<&'n Node> {
    let found = entry.find(key);
    if found.is_none() {
        cx.missing_key::<()>(key, entry);
    }
    found
}

/// Reads a list of paths or patterns.
pub(in crate::dialect) fn patterns(
    list: Option<&Node>,
    cx: &mut Reader<'_>,
) -> Vec<Sourced<PathPattern>> {
    sourced(list, cx, path::pattern)
}

/// Reads a list of folders that may be written.
pub(in crate::dialect) fn folders(
    list: Option<&Node>,
    around: &Surroundings<'_>,
    cx: &mut Reader<'_>,
) -> Vec<Sourced<Folder>> {
    sourced(list, cx, |item, cx| path::folder(item, |path| (around.kind)(path).is_some(), cx))
}

fn parsed<T>(
    list: Option<&Node>,
    parse: fn(&str) -> Result<T, Invalid>,
    cx: &mut Reader<'_>,
) -> Vec<Sourced<T>> {
    sourced(list, cx, |item, cx| {
        parse(item.text()?).map_or_else(|invalid| cx.invalid(item, &invalid), Some)
    })
}

fn sourced<T>(
    list: Option<&Node>,
    cx: &mut Reader<'_>,
    read: impl Fn(&Node, &mut Reader<'_>) -> Option<T>,
) -> Vec<Sourced<T>> {
    let mut entries = Vec::new();
    for item in items(list) {
        if let Some(value) = read(item, cx) {
            entries.push(Sourced { value, origin: cx.origin(item.span) });
        }
    }
    entries
}

/// Returns the value behind a key of a section that may be missing.
pub(in crate::dialect) fn find<'n>(section: Option<&'n Node>, key: &str) -> Option<&'n Node> {
    section.and_then(|section| section.find(key))
}

/// Returns the items of a list that may be missing.
pub(in crate::dialect) fn items(list: Option<&Node>) -> &[Node] {
    match list.map(|list| &list.value) {
        Some(Value::List(items)) => items,
        Some(Value::Bool(_) | Value::Map(_) | Value::Null | Value::Number(_) | Value::Text(_))
        | None => &[],
    }
}

/// Returns whether a switch is on.
pub(in crate::dialect) fn is_on(node: &Node) -> bool {
    node.value == Value::Bool(true)
}
