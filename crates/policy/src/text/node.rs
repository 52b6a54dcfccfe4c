//! The tree that YAML and JSON become.

use super::source::Span;

/// A value and where it stands in its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What stands there.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// What a text can say.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A list, in order.
    List(Vec<Node>),
    /// A map, in the order written, each key once.
    Map(Vec<Entry>),
    /// `null`, `~` or nothing.
    Null,
    /// A number, as it was written: who needs one decides how to read it.
    Number(Box<str>),
    /// Text.
    Text(Box<str>),
}

/// One key of a map with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Box<str>,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Names the kind of value for a message: "expected a list, found …".
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Bool(_) => "a boolean",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Null => "nothing",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
        }
    }

    /// Returns the value behind `key`, if this is a map that has it.
    pub fn find(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => {
                entries.iter().find(|entry| &*entry.key == key).map(|entry| &entry.value)
            }
            Value::Bool(_) | Value::List(_) | Value::Null | Value::Number(_) | Value::Text(_) => {
                None
            }
        }
    }

    /// Returns the text, if this is text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null | Value::Number(_) => {
                None
            }
        }
    }

    /// Returns how much the tree holds: its values, and long text as if it were several.
    pub(super) fn count(&self) -> usize {
        match &self.value {
            Value::Number(text) | Value::Text(text) => 1 + text.len() / 32,
            Value::List(items) => 1 + items.iter().map(Self::count).sum::<usize>(),
            Value::Map(entries) => 1 + entries.iter().map(|e| 1 + e.value.count()).sum::<usize>(),
            Value::Bool(_) | Value::Null => 1,
        }
    }

    /// Returns how deep lists and maps nest in the tree.
    pub(super) fn depth(&self) -> usize {
        match &self.value {
            Value::List(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Value::Map(entries) => 1 + entries.iter().map(|e| e.value.depth()).max().unwrap_or(0),
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::Text(_) => 0,
        }
    }
}
