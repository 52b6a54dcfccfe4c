//! A policy as the section `sandboxing:`.

use super::SECTION;
use super::whole::{anchored, sought};
use crate::dialect::{Lost, Surroundings, Written, left_out};
use crate::key::Sourced;
use crate::layer::Layer;
use crate::policy::{Policy, ToolRegex};

/// Writes what a policy says of tools.
pub(super) fn write(policy: &Policy, _around: &Surroundings<'_>) -> Written {
    let tools = &policy.tools;
    let replaced = tools.patterns.replaced().is_some();
    let (ours, custom): (Vec<_>, Vec<_>) = tools
        .patterns
        .entries()
        .iter()
        .partition(|entry| replaced || entry.origin.layer <= Layer::Preset);
    let names = |entries: Vec<&Sourced<ToolRegex>>| {
        entries.into_iter().map(|entry| entry.value.to_string()).collect::<Vec<String>>()
    };

    let mut text = format!("{SECTION}:\n");
    let mut line = |line: String| text.push_str(&format!("  {line}\n"));
    line(format!("enabled: {}", tools.enabled.value().0));
    line(format!("strict_mode: {}", tools.strict.value().0));
    line(format!("allow_parent_access: {}", tools.allow_parent.value().0 > 0));
    // A list that is empty would take the built-in one away; leaving it out keeps that.
    if !ours.is_empty() {
        line(list("default_tool_patterns", names(ours)));
    }
    // Ours stand for whole names unless they say otherwise, and the proxy's do not.
    let custom = names(custom).into_iter();
    let custom = custom.map(|tool| sought(&tool).map_or_else(|| anchored(&tool), str::to_owned));
    line(list("custom_tool_patterns", custom.collect()));
    // The proxy would look for an exclusion anywhere in a name, and so exclude more.
    let excluded = tools.exclude.values().map(|tool| anchored(&tool.to_string())).collect();
    line(list("excluded_tools", excluded));
    let parameters: Vec<String> =
        tools.path_parameters.values().map(|name| name.0.to_string()).collect();
    if !parameters.is_empty() {
        line(list("path_parameter_names", parameters));
    }
    Written { text, lost: lost(policy) }.sorted()
}

fn list(key: &str, items: Vec<String>) -> String {
    if items.is_empty() {
        return format!("{key}: []");
    }
    let mut text = format!("{key}:");
    let mut written: Vec<String> = Vec::new();
    for item in items {
        if !written.contains(&item) {
            text.push_str(&format!("\n    - {}", quoted(&item)));
            written.push(item);
        }
    }
    text
}

/// Quotes a text for YAML, which no character of it can end or leave.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Lists what the section has no key for.
fn lost(policy: &Policy) -> Vec<Lost> {
    let mut lost = Vec::new();
    let levels = policy.tools.allow_parent.value().0;
    if levels > 0 {
        let why = "there it opens every folder above the root, not some levels of them";
        lost.push(Lost::new("tools.allow_parent", levels.to_string(), why).wider());
    }
    lost.extend(left_out(policy, |key, _| match key {
        "tools.roots" => Some("the section names no folders"),
        "tools.on_violation" => Some("the section does not say what becomes of a refused call"),
        key if key.starts_with("tools.") => None,
        _ => Some("the section is about tool calls alone"),
    }));
    lost
}
