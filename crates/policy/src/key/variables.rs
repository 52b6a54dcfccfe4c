//! Environment variables that a policy sets.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Field, Ignored, KeyDoc, Reader, Row, RowForm, Silence, Sourced};
use crate::name::{EnvName, looks_secret};
use crate::text::Node;

/// Names and values. The highest layer that sets a name wins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables {
    set: BTreeMap<EnvName, Sourced<String>>,
}

impl Variables {
    /// Returns every name with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&EnvName, &Sourced<String>)> {
        self.set.iter()
    }

    /// Keeps only the names that `keep` answers yes to.
    pub fn retain(&mut self, keep: impl Fn(&EnvName, &Sourced<String>) -> bool) {
        self.set.retain(|name, value| keep(name, value));
    }
}

impl Field for Variables {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let mut set = BTreeMap::new();
        for entry in cx.map(node)? {
            let key =
                Node { value: crate::text::Value::Text(entry.key.clone()), span: entry.key_span };
            let name = match entry.key.parse::<EnvName>() {
                Ok(name) => Some(name),
                Err(invalid) => cx.invalid(&key, &invalid),
            };
            let value = cx.text("text", &entry.value);
            if let (Some(name), Some(value)) = (name, value) {
                if value.contains('\0') {
                    cx.expected::<()>("text without a NUL", &entry.value);
                }
                set.insert(
                    name,
                    Sourced { value: value.to_owned(), origin: cx.origin(entry.value.span) },
                );
            }
        }
        Some(Self { set })
    }

    fn merge(&mut self, above: Self) {
        self.set.extend(above.set);
    }

    fn into_default(self) -> Self {
        self
    }

    fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<Ignored>) {
        // A variable can make a program inside do anything the walls permit, so an untrusted layer
        // sets none, whatever its name.
        for (name, value) in std::mem::replace(&mut self.set, base.set.clone()) {
            if base.set.get(&name) != Some(&value) {
                let shown = format!("{name}={}", shown(&name, &value.value));
                ignored.push(Ignored { key: key.into(), value: shown, origin: value.origin });
            }
        }
    }

    fn narrow(&mut self, other: &Self, _silence: Silence) {
        // Neither value is stricter, but an empty one hands nothing over, and it is the least.
        for (name, own) in &mut self.set {
            if let Some(wanted) = other.set.get(name).filter(|wanted| wanted.value < own.value) {
                *own = wanted.clone();
            }
        }
    }

    fn rows(&self, key: &str, out: &mut Vec<Row>) {
        let values = self.set.iter().map(|(name, sourced)| {
            let value = json!({ name.as_str(): shown(name, &sourced.value) });
            Sourced { value, origin: sourced.origin.clone() }
        });
        let values: Vec<_> = values.collect();
        out.push(Row {
            key: key.into(),
            form: RowForm::Map,
            stated: !values.is_empty(),
            said: None,
            values,
        });
    }

    fn schema() -> Json {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
            "additionalProperties": { "type": "string" },
        })
    }

    fn docs(key: &str, about: &str, out: &mut Vec<KeyDoc>) {
        let takes = "a map of names to text".into();
        out.push(KeyDoc {
            key: key.into(),
            takes,
            merges: "per name, the highest layer wins",
            about: about.into(),
        });
    }
}

/// Returns the value for a person, unless its name says that it is a secret.
fn shown<'v>(name: &EnvName, value: &'v str) -> &'v str {
    if looks_secret(name.as_str()) { "(not shown)" } else { value }
}
