//! A list that opens something: layers add up.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::setting::bare;
use super::{Field, Ignored, Item, KeyDoc, Reader, Row, RowForm, Silence, Sourced};
use crate::layer::{Layer, Origin};
use crate::text::Node;

/// Whether one entry of a list stands for everything another stands for.
pub trait Covers {
    /// Returns true only when it is certain that `self` includes `other`.
    fn covers(&self, other: &Self) -> bool;
}

/// Things that are allowed. Layers add to the list; a profile's default holds until one does.
#[derive(Clone, Debug, PartialEq)]
pub struct Grants<T> {
    /// What layers said; an empty list is a statement too.
    explicit: Option<Vec<Sourced<T>>>,
    /// What a profile supplies until a layer says otherwise.
    default: Option<Vec<Sourced<T>>>,
    /// Who wrote the list last: an empty one has no entry to tell.
    said: Option<Origin>,
}

impl<T> Grants<T> {
    /// Makes a list, as a layer would say it.
    pub fn new(entries: Vec<Sourced<T>>) -> Self {
        Self { explicit: Some(entries), default: None, said: None }
    }

    /// Returns the entries in force, each with its origin.
    pub fn entries(&self) -> &[Sourced<T>] {
        self.explicit.as_deref().or(self.default.as_deref()).unwrap_or_default()
    }

    /// Returns the values in force.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries().iter().map(|entry| &entry.value)
    }

    /// Returns whether anybody said something; an empty list is a statement.
    pub(crate) fn is_stated(&self) -> bool {
        self.explicit.is_some() || self.default.is_some()
    }

    /// Returns whether a layer said something, rather than a profile or nobody.
    pub fn is_explicit(&self) -> bool {
        self.explicit.is_some()
    }
}

impl<T> Grants<T> {
    /// Puts the entries into the mouth of another layer.
    pub(crate) fn said_by(&mut self, layer: Layer) {
        let entries = self.explicit.iter_mut().chain(&mut self.default).flatten();
        entries.for_each(|entry| entry.origin.layer = layer);
        if let Some(said) = &mut self.said {
            said.layer = layer;
        }
    }
}

impl<T: Covers> Grants<T> {
    /// Returns whether some entry includes `value`.
    pub fn cover(&self, value: &T) -> bool {
        self.values().any(|entry| entry.covers(value))
    }
}

impl<T: Clone + Covers> Grants<T> {
    /// Returns what both lists open.
    pub(crate) fn common(&self, other: &Self) -> Vec<Sourced<T>> {
        let covered = self.entries().iter().filter(|entry| other.cover(&entry.value));
        let inside = other.entries().iter().filter(|entry| {
            self.cover(&entry.value)
                && !self.values().any(|own| other.cover(own) && own.covers(&entry.value))
        });
        covered.chain(inside).cloned().collect()
    }

    /// Puts other entries in the place of these, which stay a default if they were one.
    pub(crate) fn replace(&mut self, entries: Vec<Sourced<T>>) {
        if self.default.is_some() {
            *self = Self { explicit: None, default: Some(entries), said: self.said.take() };
        } else {
            self.explicit = Some(entries);
        }
    }
}

impl<T> Default for Grants<T> {
    fn default() -> Self {
        Self { explicit: None, default: None, said: None }
    }
}

impl<T: Item + Covers> Field for Grants<T> {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let entries = read_list(node, cx)?;
        Some(Self { said: Some(cx.origin(node.span)), ..Self::new(entries) })
    }

    fn merge(&mut self, above: Self) {
        if above.default.is_some() {
            *self = above;
        } else if let Some(more) = above.explicit {
            append(self.explicit.get_or_insert_default(), more);
            self.said = above.said.or(self.said.take());
        }
    }

    fn into_default(self) -> Self {
        Self { default: self.explicit.or(self.default), explicit: None, said: self.said }
    }

    fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<Ignored>) {
        let (kept, wider): (Vec<_>, Vec<_>) =
            self.entries().iter().cloned().partition(|entry| base.cover(&entry.value));
        // An entry that is left out counts as if it had not been written; so does a list of which
        // nothing is left. A list that was written empty stays a statement.
        if kept.is_empty() && !wider.is_empty() || self.entries() == base.entries() {
            *self = base.clone();
        } else {
            *self = Self { said: self.said.take(), ..Self::new(kept) };
        }
        ignored.extend(wider.into_iter().map(|Sourced { value, origin }| Ignored {
            key: key.into(),
            value: bare(&value.json()),
            origin,
        }));
    }

    fn narrow(&mut self, other: &Self, silence: Silence) {
        if self.is_stated() && (other.is_stated() || silence == Silence::Closes) {
            let common = self.common(other);
            // A list that stands in place of what is said below also stands in for the other.
            if other.default.is_some() {
                self.default.get_or_insert_default();
            }
            self.replace(common);
        }
    }

    fn rows(&self, key: &str, out: &mut Vec<Row>) {
        let said = self.said.clone();
        out.push(Row { stated: self.is_stated(), said, ..list_row(key, self.entries()) });
    }

    fn schema() -> Json {
        list_schema::<T>()
    }

    fn docs(key: &str, about: &str, out: &mut Vec<KeyDoc>) {
        out.push(list_doc::<T>(key, "layers add up", about));
    }
}

pub(super) fn read_list<T: Item>(node: &Node, cx: &mut Reader<'_>) -> Option<Vec<Sourced<T>>> {
    let items = cx.list(node)?;
    let mut entries = Vec::with_capacity(items.len());
    for item in items {
        if let Some(value) = T::read(item, cx) {
            entries.push(Sourced { value, origin: cx.origin(item.span) });
        }
    }
    Some(entries)
}

/// Adds entries to others; mostly there are none on one side, and then nothing is copied.
pub(super) fn append<T>(entries: &mut Vec<Sourced<T>>, more: Vec<Sourced<T>>) {
    if entries.is_empty() {
        *entries = more;
    } else {
        entries.extend(more);
    }
}

pub(super) fn list_row<T: Item>(key: &str, entries: &[Sourced<T>]) -> Row {
    let mut seen = BTreeSet::new();
    let mut values: Vec<Sourced<Json>> = Vec::new();
    for entry in entries {
        let value = entry.value.json();
        if seen.insert(value.to_string()) {
            values.push(Sourced { value, origin: entry.origin.clone() });
        }
    }
    Row { key: key.into(), form: RowForm::List, stated: !values.is_empty(), said: None, values }
}

pub(super) fn list_schema<T: Item>() -> Json {
    json!({ "type": "array", "items": T::schema() })
}

pub(super) fn list_doc<T: Item>(key: &str, merges: &'static str, about: &str) -> KeyDoc {
    let takes = format!("a list: {}", T::takes());
    KeyDoc { key: key.into(), takes, merges, about: about.into() }
}

/// What a list that closes tells of itself.
macro_rules! closing_list {
    () => {
        fn rows(&self, key: &str, out: &mut Vec<Row>) {
            out.push(list_row(key, &self.entries));
        }

        fn schema() -> Json {
            list_schema::<T>()
        }

        fn docs(key: &str, about: &str, out: &mut Vec<KeyDoc>) {
            out.push(list_doc::<T>(key, "layers add up; nothing is taken back", about));
        }
    };
}
pub(super) use closing_list;
