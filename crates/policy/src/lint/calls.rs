//! Lints about commands, tools, variables and how much confinement is asked for.

use super::{Context, Finding};
use crate::layer::Layer;
use crate::name::{Found, looks_secret};
use crate::policy::{Policy, Require, ToolRegex};

pub(super) fn no_rules(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let commands = &policy.commands;
    let silent = commands.rules.lists().iter().all(|list| list.rules.is_empty())
        && commands.deny.entries().is_empty()
        && commands.interpreters.entries().is_empty();
    // Where nobody chose a profile, nobody meant to have written a whole policy.
    let chosen = policy.profile.sourced().filter(|profile| profile.origin.layer > Layer::Preset);
    match chosen {
        Some(profile) if silent && policy.require.value() != Require::None => vec![Finding {
            message: format!(
                "`{}` confines every command alike: there are no rules",
                profile.value
            ),
            fix: "add `commands: { rules: […] }` for what should be asked about or refused".into(),
            origin: Some(profile.origin.clone()),
        }],
        Some(_) | None => Vec::new(),
    }
}

pub(super) fn broad_tool_pattern(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let tools = &policy.tools;
    let mut found = Vec::new();
    for entry in tools.exclude.entries() {
        let freed = tools
            .patterns
            .values()
            .filter(|tool| entry.value.matches(&plain_name(tool)) == Found::Yes)
            .count();
        // One name is a decision, several are an accident.
        if freed > 1 || fits_anything(&entry.value) {
            found.push(Finding {
                message: format!(
                    "`{}` in `tools.exclude` frees {freed} watched tools",
                    entry.value
                ),
                fix: "name each tool that is to be free".into(),
                origin: Some(entry.origin.clone()),
            });
        }
    }
    for entry in tools.patterns.entries().iter().filter(|entry| fits_anything(&entry.value)) {
        found.push(Finding {
            message: format!("`{}` in `tools.patterns` fits every tool", entry.value),
            fix: "name the tools that write, such as `write_.*`".into(),
            origin: Some(entry.origin.clone()),
        });
    }
    found
}

pub(super) fn secret_passed(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let passed = policy.env.pass.entries().iter().filter_map(|entry| {
        let name = entry.value.to_string();
        // The beginning of a name never hands over a secret: that has to be named in full.
        (looks_secret(&name) && !name.ends_with('*')).then(|| Finding {
            message: format!("`env.pass` hands `{name}` to every command"),
            fix: "take it out, or keep it in the section of the one agent or task that needs it"
                .into(),
            origin: Some(entry.origin.clone()),
        })
    });
    let set = policy.env.set.iter().filter(|(name, _)| looks_secret(name.as_str()));
    let written = set.map(|(name, value)| Finding {
        message: format!("`env.set` writes the value of `{name}` into a policy"),
        fix: format!("keep the secret out of the file, and name `{name}` in `env.pass`"),
        origin: Some(value.origin.clone()),
    });
    passed.chain(written).collect()
}

pub(super) fn weak_require(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let Some(require) = policy.require.sourced() else { return Vec::new() };
    let message = match require.value {
        Require::Full => return Vec::new(),
        Require::Landlock => "Landlock and seccomp alone are accepted",
        Require::External => "whatever stands around us is accepted",
        Require::None => "nothing needs to be confined",
    };
    vec![Finding {
        message: format!("`require: {}`: {message}", require.value),
        fix: "set `require: full` in a policy of your own".into(),
        origin: Some(require.origin.clone()),
    }]
}

/// Returns the name that a pattern spells, if it spells one.
fn plain_name(tool: &ToolRegex) -> String {
    tool.to_string().replace('\\', "")
}

/// Returns whether a pattern fits names that have nothing in common.
fn fits_anything(tool: &ToolRegex) -> bool {
    ["q", "zebra_7", "Xylophone-quiz"].iter().all(|name| tool.matches(name) == Found::Yes)
}
