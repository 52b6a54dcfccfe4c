//! One definition per key.
//!
//! A policy is made of sections, a section of fields. What a field is, is said once, as a type:
//! [`Setting`] (one value, the highest layer wins), [`Grants`] (a list that opens), [`Refusals`] (a
//! list that closes), [`Replaceable`] (one whose built-in part can give way), [`RuleLists`],
//! [`Variables`]. From that one line follow reading and its errors, merging of layers, clamping of
//! layers that may only narrow, what `policy show` prints, the JSON Schema and the manual. A key
//! cannot be forgotten in one of them.

mod grants;
mod item;
mod reader;
mod refusals;
mod replaceable;
mod rules;
pub(crate) mod section;
mod setting;
mod variables;

use serde_json::Value as Json;

use crate::layer::Origin;
use crate::text::Node;

pub use grants::{Covers, Grants};
pub use item::{Count, Guard, Item, Levels, Limit, Line, Opening, Smallest, Strictest, Strictness};
pub(crate) use item::{choice, text_item};
pub use reader::Reader;
pub(crate) use reader::{nearest, unknown_word};
pub use refusals::Refusals;
pub use replaceable::Replaceable;
pub use rules::{RuleItem, RuleList, RuleLists, Standing};
pub(crate) use section::section;
pub use setting::Setting;
pub(crate) use setting::bare;
pub use variables::Variables;

/// A value and where it was said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sourced<T> {
    /// What was said.
    pub value: T,
    /// By whom, in which file, on which line.
    pub origin: Origin,
}

/// A part of an untrusted layer that was left out because it would have widened the policy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ignored {
    /// The key, with its sections: `network.allow`.
    pub key: String,
    /// The value, as text.
    pub value: String,
    /// Where it stands.
    pub origin: Origin,
}

/// One key of a policy, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key, with its sections: `network.allow`.
    pub key: String,
    /// Whether the value is one or a list.
    pub form: RowForm,
    /// Whether anybody said anything; an empty list is a statement.
    pub stated: bool,
    /// Who wrote the list, which tells even of an empty one whence it comes.
    pub said: Option<Origin>,
    /// Each value with its origin.
    pub values: Vec<Sourced<Json>>,
}

/// How the values of a [`Row`] belong together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowForm {
    /// A list, in order.
    List,
    /// Named values; each is an object with one key.
    Map,
    /// One value, or none.
    One,
}

/// What the manual says of one key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyDoc {
    /// The key, with its sections.
    pub key: String,
    /// What it takes.
    pub takes: String,
    /// How layers combine.
    pub merges: &'static str,
    /// What it is for.
    pub about: String,
}

/// What every key can do. Sections are fields too, so a policy is a tree of these.
pub trait Field: Clone + Default {
    /// Reads the key's value; problems go to the reader.
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self>;
    /// Takes in what a higher layer says.
    fn merge(&mut self, above: Self);
    /// Turns what is said here into defaults, which any later explicit value replaces.
    fn into_default(self) -> Self;
    /// Takes back whatever is wider than `base`, and says what that was.
    fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<Ignored>);
    /// Takes back what is wider than what `other` says: another system speaks with the same voice,
    /// and the stricter of the two holds (Ruling 2).
    fn narrow(&mut self, other: &Self, silence: Silence);
    /// Lists the values in force.
    fn rows(&self, key: &str, out: &mut Vec<Row>);
    /// Describes the values for the JSON Schema.
    fn schema() -> Json;
    /// Describes the keys for the manual.
    fn docs(key: &str, about: &str, out: &mut Vec<KeyDoc>);
}

/// What it means that a system says nothing of something that could be opened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Silence {
    /// It stays closed: the system says all that it opens.
    Closes,
    /// Nothing: others may open it.
    SaysNothing,
}

/// Joins a section's key and a field's.
pub(crate) fn below(section: &str, key: &str) -> String {
    if section.is_empty() { key.into() } else { format!("{section}.{key}") }
}

/// Turns the first sentence of a doc comment into part of a sentence.
pub(crate) fn phrase(doc: &str) -> String {
    let sentence = doc.trim().split(". ").next().unwrap_or_default().trim_end_matches('.');
    let mut letters = sentence.chars();
    let Some(first) = letters.next() else { return String::new() };
    // A name keeps its capital.
    if letters.as_str().starts_with(char::is_lowercase) && !sentence.starts_with("Agentao") {
        first.to_lowercase().chain(letters).collect()
    } else {
        sentence.into()
    }
}
