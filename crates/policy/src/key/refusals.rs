//! A list that closes something: layers add up, and nobody can take an entry back.

use serde_json::Value as Json;

use super::grants::{list_row, list_schema, read_list};
use super::{Field, Ignored, Item, KeyDoc, Reader, Row, Sourced};
use crate::text::Node;

/// Things that are refused. Every layer may add, none may remove.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusals<T> {
    entries: Vec<Sourced<T>>,
}

impl<T> Refusals<T> {
    /// Makes a list, as a layer would say it.
    pub fn new(entries: Vec<Sourced<T>>) -> Self {
        Self { entries }
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
        Self { entries: Vec::new() }
    }
}

impl<T: Item> Field for Refusals<T> {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        read_list(node, cx).map(Self::new)
    }

    fn merge(&mut self, above: Self) {
        self.entries.extend(above.entries);
    }

    fn into_default(self) -> Self {
        self
    }

    fn clamp(&mut self, base: &Self, _key: &str, _ignored: &mut Vec<Ignored>) {
        for entry in &base.entries {
            if !self.entries.contains(entry) {
                self.entries.push(entry.clone());
            }
        }
    }

    fn rows(&self, key: &str, out: &mut Vec<Row>) {
        out.push(list_row(key, &self.entries));
    }

    fn schema() -> Json {
        list_schema::<T>()
    }

    fn docs(key: &str, about: &str, out: &mut Vec<KeyDoc>) {
        let takes = format!("a list: {}", T::takes());
        let merges = "layers add up; nothing is taken back";
        out.push(KeyDoc { key: key.into(), takes, merges, about: about.into() });
    }
}
