//! A list that closes something: layers add up, and nobody can take an entry back.

use serde_json::Value as Json;

use super::grants::{append, closing_list, list_doc, list_row, list_schema, read_list};
use super::setting::bare;
use super::{Field, Ignored, Item, KeyDoc, Reader, Row, Silence, Sourced};
use crate::layer::Layer;
use crate::text::Node;

/// Things that are refused. Every layer may add, none may remove.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusals<T> {
    entries: Vec<Sourced<T>>,
    /// Built-in entries that a file of another system takes off, as that system documents. Native
    /// files have no words for it.
    lifted: Vec<Sourced<T>>,
}

impl<T> Refusals<T> {
    /// Makes a list, as a layer would say it.
    pub fn new(entries: Vec<Sourced<T>>) -> Self {
        Self { entries, lifted: Vec::new() }
    }

    /// Takes entries off the built-in list, and off no other.
    #[must_use]
    pub fn lifting(mut self, built_in: Vec<Sourced<T>>) -> Self {
        self.lifted.extend(built_in);
        self
    }

    /// Returns the entries in force, each with its origin.
    pub fn entries(&self) -> &[Sourced<T>] {
        &self.entries
    }

    /// Returns the values in force.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// Keeps the entries of which `keep` is true. Only [`Policy`](crate::Policy) may: `unhide` is
    /// the one way to take something off such a list.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Sourced<T>) -> bool) {
        self.entries.retain(keep);
    }
}

impl<T> Default for Refusals<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), lifted: Vec::new() }
    }
}

impl<T: PartialEq> Refusals<T> {
    /// Leaves out the built-in entries that were taken off.
    pub(crate) fn apply_lifts(&mut self) {
        let lifted = &self.lifted;
        self.entries.retain(|entry| {
            entry.origin.layer != Layer::BuiltIn
                || !lifted.iter().any(|lift| lift.value == entry.value)
        });
    }
}

impl<T: Item> Field for Refusals<T> {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        read_list(node, cx).map(Self::new)
    }

    fn merge(&mut self, above: Self) {
        append(&mut self.entries, above.entries);
        append(&mut self.lifted, above.lifted);
    }

    fn into_default(self) -> Self {
        self
    }

    fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<Ignored>) {
        for Sourced { value, origin } in
            self.lifted.iter().filter(|lift| !base.lifted.contains(lift))
        {
            let value = format!("{} (lifted)", bare(&value.json()));
            ignored.push(Ignored { key: key.into(), value, origin: origin.clone() });
        }
        self.lifted.clone_from(&base.lifted);
        for entry in &base.entries {
            if !self.entries.contains(entry) {
                self.entries.push(entry.clone());
            }
        }
    }

    /// Refusals of two systems add up; what one of them lifts may not be the other's to lose.
    fn narrow(&mut self, other: &Self, silence: Silence) {
        if silence == Silence::Closes {
            self.lifted.retain(|lift| other.lifted.iter().any(|also| also.value == lift.value));
        }
    }

    closing_list!();
}
