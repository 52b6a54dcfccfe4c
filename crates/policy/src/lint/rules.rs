//! Lints about rules: those that never speak.

use super::{Context, Finding};
use crate::key::{RuleList, Sourced, Standing};
use crate::name::{Found, Pattern, ToolPattern};
use crate::policy::{Action, DomainRule, Policy, Preset, Rule, ShellUse};

/// Rules that nothing can make match, or that the mode never asks.
pub(super) fn never_fires(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in policy.commands.rules.lists().iter().flat_map(|list| &list.rules) {
        if let Some((why, fix)) = why_never(policy, &rule.value) {
            found.push(Finding {
                message: format!("the rule for `{}` never fires: {why}", rule.value.tool),
                fix: fix.into(),
                origin: Some(rule.origin.clone()),
            });
        }
    }
    found
}

/// Rules behind one that matches whatever they match.
pub(super) fn shadowed(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    policy.commands.rules.lists().iter().flat_map(shadowed_in).collect()
}

fn why_never(policy: &Policy, rule: &Rule) -> Option<(&'static str, &'static str)> {
    if rule.domain.as_ref().is_some_and(|domain| domain.hosts.is_empty()) {
        return Some(("it names no host", "list hosts, or leave `domain` out"));
    }
    let shell = rule.tool.matches("run_shell_command") == Found::Yes;
    let only_shell = shell && rule.tool != ToolPattern::every();
    let widens = rule.action == Some(Action::Allow);
    let denies = rule.action == Some(Action::Deny);
    match policy.preset.value() {
        Preset::AgentaoFullAccess if !denies && rule.action.is_some() => Some((
            "`agentao:full-access` allows first",
            "choose `agentao:workspace-write`, where rules are asked first",
        )),
        Preset::AgentaoPlan if only_shell && !denies && rule.action.is_some() => Some((
            "`agentao:plan` decides about shell text first",
            "choose `agentao:workspace-write`, where rules are asked first",
        )),
        Preset::AgentaoReadOnly if only_shell && widens => {
            Some(("`agentao:read-only` runs no shell text", "choose another mode"))
        }
        Preset::Confined
        | Preset::Runner
        | Preset::AgentaoReadOnly
        | Preset::AgentaoPlan
        | Preset::AgentaoFullAccess
        | Preset::AgentaoWorkspaceWrite => {
            (only_shell && widens && policy.commands.shell.value() == ShellUse::Never)
                .then_some(("`commands.shell` is `never`", "take one of the two out"))
        }
    }
}

fn shadowed_in(list: &RuleList<Rule>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, later) in list.rules.iter().enumerate() {
        let before = list.rules.get(..at).unwrap_or_default();
        let Some(earlier) = before.iter().find(|earlier| shadows(&earlier.value, &later.value))
        else {
            continue;
        };
        found.push(Finding {
            message: format!(
                "the rule for `{}` is shadowed: {} matches all that it matches",
                later.value.tool,
                told(earlier, list.standing),
            ),
            fix: "move it up, or take it out".into(),
            origin: Some(later.origin.clone()),
        });
    }
    found
}

fn told(rule: &Sourced<Rule>, standing: Standing) -> String {
    let word = rule.value.action.map_or("a rule", |action| action.word());
    let voice = if standing == Standing::Full { "" } else { " of a file that is not trusted" };
    format!("`{word}` at {}{voice}", rule.origin)
}

/// Whether a rule matches everything that a later one matches, and speaks about the same.
fn shadows(earlier: &Rule, later: &Rule) -> bool {
    let same = earlier.action.is_some() && (later.action.is_some() && later.profile.is_none())
        || earlier.profile.is_some() && later.profile.is_some() && later.action.is_none();
    same && covers_tool(&earlier.tool, &later.tool)
        && match (&earlier.domain, &later.domain) {
            (Some(wide), Some(narrow)) => covers_domain(wide, narrow),
            (Some(_), None) => false,
            // Where there is a domain, arguments are not looked at.
            (None, Some(_)) => earlier.args.is_empty(),
            (None, None) => earlier.args.iter().all(|(name, wide)| {
                fits_all(wide)
                    || later.args.get(name).is_some_and(|narrow| covers_pattern(wide, narrow))
            }),
        }
}

fn covers_tool(wide: &ToolPattern, narrow: &ToolPattern) -> bool {
    if *wide == ToolPattern::every() || wide == narrow {
        return true;
    }
    let names = narrow.to_string();
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    names.split('|').all(|name| plain(name) && wide.matches(name) == Found::Yes)
}

fn covers_domain(wide: &DomainRule, narrow: &DomainRule) -> bool {
    wide.url_arg == narrow.url_arg
        && narrow.hosts.iter().all(|host| wide.hosts.iter().any(|other| other.covers(host)))
}

/// Whether every text that `narrow` is found in holds `wide` too, as far as their spelling tells.
fn covers_pattern(wide: &Pattern, narrow: &Pattern) -> bool {
    if wide == narrow {
        return true;
    }
    let (Some((wide, "")), Some((narrow, _))) = (start(wide.as_str()), start(narrow.as_str()))
    else {
        return false;
    };
    narrow.starts_with(wide)
}

fn fits_all(pattern: &Pattern) -> bool {
    matches!(pattern.as_str(), "" | ".*" | "^" | "^.*" | "(?s).*")
}

/// Splits `^text…` into the plain text that every match begins with, and the rest.
fn start(pattern: &str) -> Option<(&str, &str)> {
    let rest = pattern.strip_prefix('^').filter(|rest| !rest.contains('|'))?;
    let end = rest.find(|c: char| r"\.+*?()[]{}^$|".contains(c)).unwrap_or(rest.len());
    let (plain, rest) = rest.split_at(end);
    // What may be repeated need not be there.
    let loose = rest.starts_with(['*', '?', '{', '+']);
    let last = plain.char_indices().next_back().map_or(0, |(at, _)| at);
    let plain = if loose { plain.get(..last)? } else { plain };
    Some((plain, rest))
}
