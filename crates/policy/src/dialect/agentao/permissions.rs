//! `permissions.json`: which tool calls may happen.

use std::collections::BTreeMap;

use super::domain::{self, Domain};
use super::{text_of, unknown_key, with_tree};
use crate::dialect::{Input, Surroundings};
use crate::key::{Reader, RuleLists, Sourced};
use crate::name::{Found, Invalid, Pattern, ToolPattern};
use crate::policy::{Action, Document, DomainRule, Rule};
use crate::text::{Diagnostic, Entry, Node, Value, visible};

/// Reads the user's rules; none if the file cannot be understood at all.
pub(super) fn read(
    input: &Input<'_>,
    around: &Surroundings<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Document> {
    with_tree(input, around, problems, |node, cx| {
        let mut document = Document::default();
        if let Some(rules) = read_rules(node, cx) {
            document.policy.commands.rules = RuleLists::new(rules);
        }
        document
    })
}

fn read_rules(node: &Node, cx: &mut Reader<'_>) -> Option<Vec<Sourced<Rule>>> {
    let Value::Map(entries) = &node.value else {
        return cx.wrong_type("permissions.json", "a map", node);
    };
    let mut rules = Vec::new();
    for entry in entries {
        if &*entry.key != "rules" {
            unknown_key(entry, &["rules"], cx);
            continue;
        }
        let Value::List(items) = &entry.value.value else {
            return cx.wrong_type("rules", "a list", &entry.value);
        };
        for (at, item) in items.iter().enumerate() {
            let found = read_rule(at, item, cx).unwrap_or_default();
            let origin = cx.origin(item.span);
            rules.extend(found.into_iter().map(|value| Sourced { value, origin: origin.clone() }));
        }
    }
    Some(rules)
}

const RULE_KEYS: [&str; 4] = ["tool", "args", "domain", "action"];

/// Reads one rule. It can become two: hosts that our patterns do not know are matched in the URL.
fn read_rule(at: usize, node: &Node, cx: &mut Reader<'_>) -> Option<Vec<Rule>> {
    let Value::Map(entries) = &node.value else {
        return cx.wrong_type(&format!("rules[{at}]"), "a map", node);
    };
    let action = read_action(at, node, cx)?;
    let (mut tool, mut args, mut domain) = (ToolPattern::every(), BTreeMap::new(), None);
    for entry in entries {
        let field = format!("rules[{at}].{}", entry.key);
        match &*entry.key {
            "tool" => tool = read_tool(&field, &entry.value, action, cx)?,
            "args" => args = read_args(&field, &entry.value, cx)?,
            "domain" => domain = Some(domain::read(&field, &entry.value, action, cx)?),
            "action" => {}
            _ => unknown_key(entry, &RULE_KEYS, cx),
        }
    }
    let rule = |args, domain| Rule {
        tool: tool.clone(),
        args,
        domain,
        action: Some(action),
        profile: None,
        justification: None,
    };
    let Some(Domain { url_arg, hosts, in_url }) = domain else {
        return Some(vec![rule(args, None)]);
    };
    if !args.is_empty() {
        let message = format!("`rules[{at}].args` is not looked at, because `domain` is there");
        cx.report(cx.complaint("args-beside-domain", message, node.span).warning());
    }
    if hosts.is_empty() && in_url.is_empty() {
        let message = format!("`rules[{at}]` names no host, so it never matches");
        cx.report(cx.complaint("no-host", message, node.span).warning());
    }
    let mut rules = Vec::new();
    if !hosts.is_empty() {
        rules.push(rule(BTreeMap::new(), Some(DomainRule { url_arg: url_arg.clone(), hosts })));
    }
    for pattern in in_url {
        rules.push(rule([(url_arg.to_string(), pattern)].into(), None));
    }
    Some(rules)
}

/// Reads the action. What is missing or unknown means `ask`, as in Agentao's code.
fn read_action(at: usize, rule: &Node, cx: &mut Reader<'_>) -> Option<Action> {
    let field = format!("rules[{at}].action");
    let Some(node) = rule.find("action") else {
        let message = format!("`{field}` is missing, so the rule asks");
        cx.report(cx.complaint("no-action", message, rule.span).warning());
        return Some(Action::Ask);
    };
    let text = text_of(&field, node, cx)?;
    let known = text.to_lowercase().parse();
    Some(known.unwrap_or_else(|_| {
        let message = format!("`{field}` is `{}`, so the rule asks", visible(text));
        let note = cx.complaint("unknown-word", message, node.span).warning();
        cx.report(note.hint("known actions: allow, ask, deny"));
        Action::Ask
    }))
}

/// Reads a tool's name: an expression that fills it, or where it is none, the name itself.
fn read_tool(field: &str, node: &Node, action: Action, cx: &mut Reader<'_>) -> Option<ToolPattern> {
    let text = text_of(field, node, cx)?;
    cx.count_regex(node)?;
    let parsed: Result<ToolPattern, Invalid> = match text.parse() {
        Err(invalid) if !text.is_empty() => {
            equality(field, node, &invalid, cx);
            fancy_regex::escape(text).parse()
        }
        Ok(tool) if is_glob(text, &tool) => {
            let message =
                format!("`{field}` is an expression: `*` repeats the character before it");
            let note = cx.complaint("glob", message, node.span).warning();
            cx.report(note.hint("write `.*` for any ending"));
            // Read both ways a rule that denies can only deny more; any other rule could hide a
            // stricter one behind it.
            let both = text.strip_suffix('*').map(|head| format!("(?:{text})|(?:{head}.*)"));
            both.filter(|_| action == Action::Deny).map_or(Ok(tool), |both| both.parse())
        }
        parsed => parsed,
    };
    match parsed {
        Ok(tool) => Some(tool),
        Err(invalid) => cx.invalid(node, &invalid),
    }
}

/// Tells `name_*`, which its author means as "everything that begins so".
fn is_glob(text: &str, tool: &ToolPattern) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let head = text.strip_suffix('*').filter(|head| !head.is_empty() && head.chars().all(word));
    head.is_some_and(|head| tool.matches(&format!("{head}x")) == Found::No)
}

fn read_args(field: &str, node: &Node, cx: &mut Reader<'_>) -> Option<BTreeMap<String, Pattern>> {
    let Value::Map(entries) = &node.value else { return cx.wrong_type(field, "a map", node) };
    let mut args = BTreeMap::new();
    for Entry { key, value, .. } in entries {
        let field = format!("{field}.{}", visible(key));
        let text = text_of(&field, value, cx)?;
        cx.count_regex(value)?;
        let pattern = text.parse().or_else(|invalid| {
            equality(&field, value, &invalid, cx);
            format!(r"\A{}\z", fancy_regex::escape(text)).parse()
        });
        match pattern {
            Ok(pattern) => drop(args.insert(key.to_string(), pattern)),
            Err(invalid) => return cx.invalid(value, &invalid),
        }
    }
    Some(args)
}

/// Says that a text is compared as it is, because it is no expression.
fn equality(field: &str, node: &Node, invalid: &Invalid, cx: &mut Reader<'_>) {
    let message = format!("`{field}` is compared as plain text: {}", invalid.problem());
    cx.report(cx.complaint("regex", message, node.span).warning());
}
