//! Writes rows down as Rust constants.

use crate::row::{Grammar, Row, Slot};

/// Returns the text of `tools.rs`.
pub(crate) fn rust(rows: &[Row]) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut tools = Vec::new();
    for row in rows {
        let name = grammar(&row.grammar, &mut count, &mut out);
        tools.extend(row.names.iter().map(|tool| (tool.as_str(), name.clone())));
    }
    tools.sort_unstable();
    out.push_str("static TOOLS: &[(&str, &Grammar)] = &[\n");
    for (tool, name) in tools {
        out.push_str(&format!("    ({tool:?}, &{name}),\n"));
    }
    out.push_str("];\n");
    out
}

/// Returns a slot as Rust.
pub(crate) fn slot(slot: &Slot) -> String {
    let concern = match &slot.concern {
        Some(concern) => format!("Some(Concern::{concern})"),
        None => "None".into(),
    };
    format!("Slot {{ role: {}, concern: {concern} }}", slot.role)
}

/// Writes a grammar and the ones inside it, and returns the name of its constant.
fn grammar(grammar: &Grammar, count: &mut usize, out: &mut String) -> String {
    let mut subs = Vec::new();
    for (names, sub) in &grammar.subs {
        let constant = self::grammar(sub, count, out);
        subs.extend(names.iter().map(|name| (name.as_str(), constant.clone())));
    }
    subs.sort_unstable();
    let other = match &grammar.other {
        Some(other) => format!("Some(&{})", self::grammar(other, count, out)),
        None => "None".into(),
    };
    let name = format!("G{count}");
    *count += 1;
    let mut habits: Vec<&str> =
        grammar.habits.iter().copied().filter(|habit| *habit != "unwary").collect();
    if grammar.is_wary() {
        habits.push("WARY");
    }
    let habits: Vec<String> =
        habits.iter().map(|habit| format!("super::grammar::Habit::{habit}")).collect();
    let habits = if habits.is_empty() { "0".into() } else { habits.join(" | ") };
    let mut names: Vec<(&str, usize)> = grammar
        .options
        .iter()
        .enumerate()
        .flat_map(|(at, option)| option.names.iter().map(move |name| (name.as_str(), at)))
        .collect();
    // Of two lines for one name the first counts.
    names.sort_unstable();
    names.dedup_by_key(|(name, _)| *name);
    out.push_str(&format!("static {name}: Grammar = Grammar {{\n    habits: {habits},\n"));
    out.push_str("    names: &[");
    out.extend(names.iter().map(|(name, at)| format!("({name:?}, {at}), ")));
    out.push_str("],\n    options: &[");
    for option in &grammar.options {
        let bit = option.bit.map_or(0, |bit| 1_u64 << bit);
        let slot = slot(&option.slot);
        out.push_str(&format!(
            "Opt {{ value: Value::{}, slot: {slot}, bit: {bit} }}, ",
            option.value
        ));
    }
    out.push_str("],\n    slots: &[");
    out.extend(grammar.slots.iter().map(|operand| format!("{}, ", slot(operand))));
    let rest = match &grammar.rest {
        Some(rest) => slot(rest),
        None => "Slot { role: Role::Guess, concern: None }".into(),
    };
    out.push_str(&format!("],\n    rest: {rest},\n"));
    for (field, operand) in [("last", &grammar.last), ("after", &grammar.after)] {
        let text = match operand {
            Some(operand) => format!("Some({})", slot(operand)),
            None => "None".into(),
        };
        out.push_str(&format!("    {field}: {text},\n"));
    }
    out.push_str("    rules: &[");
    for rule in &grammar.rules {
        let terms = rule.terms.join(", ");
        out.push_str(&format!("Rule {{ terms: &[{terms}], effect: {} }}, ", rule.effect));
    }
    out.push_str("],\n    subs: &[");
    out.extend(subs.iter().map(|(name, constant)| format!("({name:?}, &{constant}), ")));
    out.push_str(&format!("],\n    other: {other},\n}};\n"));
    name
}
