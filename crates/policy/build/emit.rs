//! Writes rows down as Rust arrays that hold no addresses.

use std::collections::BTreeMap;

use crate::hash;
use crate::row::{Grammar, Row, Slot};

/// Returns the text of `tools.rs`.
pub(crate) fn rust(rows: &[Row]) -> Result<String, String> {
    let mut table = Table::default();
    let mut tools = Vec::new();
    for row in rows {
        let at = table.grammar(&row.grammar)?;
        tools.extend(row.names.iter().map(|name| (name.as_str(), at)));
    }
    let tools = table.named(tools)?;
    let mut names: Vec<&str> =
        rows.iter().flat_map(|row| row.names.iter().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    Ok(table.rust(&tools) + &places(&names)?)
}

/// Returns a table in which the place of each of these names is found by hashing it. No tool lies
/// at the place behind the last, which stands for none.
fn places(names: &[&str]) -> Result<String, String> {
    let size = (names.len() * 2).next_power_of_two();
    let mut places = vec![u16::MAX; size];
    for (place, name) in names.iter().enumerate() {
        let mut at = hash::place(hash::start(name), name.len(), size);
        while places[at] != u16::MAX {
            at = (at + 1) % size;
        }
        places[at] = u16::try_from(place).map_err(|error| error.to_string())?;
    }
    Ok(format!("static TOOL_PLACES: [u16; {size}] = {places:?};\n"))
}

/// Returns a slot as Rust.
pub(crate) fn slot(slot: &Slot) -> String {
    let concern = match &slot.concern {
        Some(concern) => format!("Some(Concern::{concern})"),
        None => "None".into(),
    };
    format!("Slot {{ role: {}, concern: {concern} }}", slot.role)
}

/// The arrays while they are made, each element as Rust.
#[derive(Default)]
struct Table {
    text: String,
    /// Where each name stands in `text`.
    places: BTreeMap<String, usize>,
    grammars: Vec<String>,
    names: Vec<String>,
    options: Vec<String>,
    slots: Vec<String>,
    rules: Vec<String>,
    terms: Vec<String>,
    subs: Vec<String>,
}

impl Table {
    /// Adds a grammar and the ones inside it, and returns its place.
    fn grammar(&mut self, grammar: &Grammar) -> Result<usize, String> {
        let mut subs = Vec::new();
        for (names, sub) in &grammar.subs {
            let at = self.grammar(sub)?;
            subs.extend(names.iter().map(|name| (name.as_str(), at)));
        }
        let other = match &grammar.other {
            Some(other) => format!("Some({})", self.grammar(other)?),
            None => "None".into(),
        };
        let names = grammar
            .options
            .iter()
            .enumerate()
            .flat_map(|(at, option)| option.names.iter().map(move |name| (name.as_str(), at)));
        let names = self.named(names.collect())?;
        let names = run(&mut self.names, names)?;
        let subs = self.named(subs)?;
        let subs = run(&mut self.subs, subs)?;
        let options = grammar.options.iter().map(|option| {
            let bit = option.bit.map_or(0, |bit| 1_u64 << bit);
            let slot = slot(&option.slot);
            format!("Opt {{ value: Value::{}, slot: {slot}, bit: {bit} }}", option.value)
        });
        let options = run(&mut self.options, options.collect())?;
        let slots = run(&mut self.slots, grammar.slots.iter().map(slot).collect())?;
        let mut rules = Vec::new();
        for rule in &grammar.rules {
            let terms = run(&mut self.terms, rule.terms.clone())?;
            rules.push(format!("Rule {{ terms: {terms}, effect: {} }}", rule.effect));
        }
        let rules = run(&mut self.rules, rules)?;
        let habits = habits(grammar);
        let wide = grammar.options.iter().flat_map(|option| &option.names).any(|name| {
            name.starts_with('-') && !name.starts_with("--") && name.len() > "-x".len()
        });
        let rest = match &grammar.rest {
            Some(rest) => slot(rest),
            None => "Slot { role: Role::Guess, concern: None }".into(),
        };
        let optional = |operand: &Option<Slot>| match operand {
            Some(operand) => format!("Some({})", slot(operand)),
            None => "None".into(),
        };
        let (last, after) = (optional(&grammar.last), optional(&grammar.after));
        self.grammars.push(format!(
            "Grammar {{ habits: {habits}, names: {names}, options: {options}, slots: {slots}, \
             rest: {rest}, last: {last}, after: {after}, rules: {rules}, subs: {subs}, \
             other: {other}, wide: {wide} }}"
        ));
        Ok(self.grammars.len() - 1)
    }

    /// Sorts names with the places of what they name; of two lines for one name the first counts.
    fn named(&mut self, mut names: Vec<(&str, usize)>) -> Result<Vec<String>, String> {
        names.sort_unstable();
        names.dedup_by_key(|(name, _)| *name);
        let mut named = Vec::new();
        for (name, at) in names {
            let len = u8::try_from(name.len()).map_err(|_| format!("{name} is too long"))?;
            let at = u16::try_from(at).map_err(|_| format!("{name}: the table is too large"))?;
            let from = match self.places.get(name) {
                Some(from) => *from,
                None => {
                    let from = self.text.len();
                    self.text.push_str(name);
                    self.places.insert(name.into(), from);
                    from
                }
            };
            let start = hash::start(name);
            named.push(format!("Named {{ start: {start}, from: {from}, len: {len}, at: {at} }}"));
        }
        Ok(named)
    }

    fn rust(&self, tools: &[String]) -> String {
        let mut out = format!("static TEXT: &str = {:?};\n", self.text);
        for (name, kind, elements) in [
            ("TOOLS", "Named", tools),
            ("GRAMMARS", "Grammar", &self.grammars),
            ("NAMES", "Named", &self.names),
            ("OPTIONS", "Opt", &self.options),
            ("SLOTS", "Slot", &self.slots),
            ("RULES", "Rule", &self.rules),
            ("TERMS", "Term", &self.terms),
            ("SUBS", "Named", &self.subs),
        ] {
            out.push_str(&format!("static {name}: [{kind}; {}] = [\n", elements.len()));
            out.extend(elements.iter().map(|element| format!("    {element},\n")));
            out.push_str("];\n");
        }
        out
    }
}

/// Adds elements to an array, and returns where they are.
fn run(array: &mut Vec<String>, elements: Vec<String>) -> Result<String, String> {
    let (from, len) = (array.len(), elements.len());
    u16::try_from(len).map_err(|_| format!("{len} elements are too many for one tool"))?;
    array.extend(elements);
    Ok(format!("Run {{ from: {from}, len: {len} }}"))
}

fn habits(grammar: &Grammar) -> String {
    let mut habits: Vec<&str> =
        grammar.habits.iter().copied().filter(|habit| *habit != "unwary").collect();
    if grammar.is_wary() {
        habits.push("WARY");
    }
    let habits: Vec<String> =
        habits.iter().map(|habit| format!("super::grammar::Habit::{habit}")).collect();
    if habits.is_empty() { "0".into() } else { habits.join(" | ") }
}
