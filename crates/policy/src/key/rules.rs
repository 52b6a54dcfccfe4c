//! Lists of rules: first match within a list, the strictest between lists.

use serde_json::Value as Json;

use super::grants::{list_doc, list_row, list_schema, read_list};
use super::setting::bare;
use super::{Field, Ignored, Item, KeyDoc, Reader, Row, Silence, Sourced};
use crate::text::Node;

/// A rule that may stand in a list of rules.
pub trait RuleItem: Item {
    /// Returns how strict its verdict is; 0 refuses.
    fn rank(&self) -> u8;
    /// Returns whether the rule can make a verdict wider than it would be without it.
    fn widens(&self) -> bool;
}

/// What a list of rules may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// The list decides like any other.
    Full,
    /// The list comes from a layer that was not trusted: a verdict of its rules counts only where
    /// it is stricter than the verdict without the list, and a rule that allows ends the search in
    /// this list without a verdict.
    NarrowOnly,
}

/// The rules one layer wrote, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleList<R> {
    /// What the list may do.
    pub standing: Standing,
    /// The rules; the first that matches speaks for the list.
    pub rules: Vec<Sourced<R>>,
    /// The system whose documents say that a list of a higher layer replaces this one.
    pub system: Option<&'static str>,
}

/// The lists of all layers, lowest first. They are never joined: between lists the strictest wins.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleLists<R> {
    lists: Vec<RuleList<R>>,
}

impl<R> RuleLists<R> {
    /// Makes one list, as a layer would say it.
    pub fn new(rules: Vec<Sourced<R>>) -> Self {
        Self { lists: vec![RuleList { standing: Standing::Full, rules, system: None }] }
    }

    /// Makes one list that replaces those of the same system in lower layers.
    pub fn replacing(rules: Vec<Sourced<R>>, system: &'static str) -> Self {
        let system = Some(system);
        Self { lists: vec![RuleList { standing: Standing::Full, rules, system }] }
    }

    /// Returns the lists, lowest layer first.
    pub fn lists(&self) -> &[RuleList<R>] {
        &self.lists
    }
}

impl<R> Default for RuleLists<R> {
    fn default() -> Self {
        Self { lists: Vec::new() }
    }
}

impl<R: RuleItem> Field for RuleLists<R> {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let rules = read_list(node, cx)?;
        Some(Self::new(rules))
    }

    fn merge(&mut self, above: Self) {
        let replaced = |list: &RuleList<R>| {
            list.system.is_some() && above.lists.iter().any(|other| other.system == list.system)
        };
        self.lists.retain(|list| !replaced(list));
        self.lists.extend(above.lists);
    }

    fn into_default(self) -> Self {
        self
    }

    fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<Ignored>) {
        for list in self.lists.iter_mut().filter(|list| !base.lists.contains(list)) {
            list.standing = Standing::NarrowOnly;
            for rule in list.rules.iter().filter(|rule| rule.value.widens()) {
                ignored.push(Ignored {
                    key: key.into(),
                    value: bare(&rule.value.json()),
                    origin: rule.origin.clone(),
                });
            }
        }
        for (at, list) in base.lists.iter().enumerate() {
            if !self.lists.contains(list) {
                self.lists.insert(at.min(self.lists.len()), list.clone());
            }
        }
    }

    /// Lists are never joined: between them the strictest wins already.
    fn narrow(&mut self, _other: &Self, _silence: Silence) {}

    fn rows(&self, key: &str, out: &mut Vec<Row>) {
        // What an untrusted list may not do is not shown as if it could: whoever reads the rows
        // back would bring it to life.
        let dead = |list: &RuleList<R>, rule: &Sourced<R>| {
            list.standing == Standing::NarrowOnly && rule.value.widens()
        };
        let rules = self
            .lists
            .iter()
            .flat_map(|list| list.rules.iter().filter(move |rule| !dead(list, rule)).cloned());
        let mut rules: Vec<_> = rules.collect();
        // Between lists the strictest wins, within one the first: as one list, what refuses comes
        // first. That is at least as strict, whatever is written behind it.
        if self.lists.iter().filter(|list| !list.rules.is_empty()).count() > 1 {
            rules.sort_by_key(|rule| rule.value.rank());
        }
        out.push(Row { stated: !self.lists.is_empty(), ..list_row(key, &rules) });
    }

    fn schema() -> Json {
        list_schema::<R>()
    }

    fn docs(key: &str, about: &str, out: &mut Vec<KeyDoc>) {
        let merges = "first match within a layer's list, the strictest between layers";
        out.push(list_doc::<R>(key, merges, about));
    }
}
