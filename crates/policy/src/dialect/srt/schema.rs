//! What may stand behind a key, and what becomes of keys that mean nothing here.
//!
//! Claude Code uses the same sections under its own roof, so it checks with the same shapes.

use super::table;
use crate::key::Reader;
use crate::text::{Node, Value, visible};

/// What may stand behind a key.
#[derive(Debug)]
pub(in crate::dialect) enum Shape {
    /// `true` or `false`.
    Flag,
    /// A list of one shape.
    List(&'static Self),
    /// A map with the keys of some tables.
    Map(Tables),
    /// A whole number between two others.
    Number(u64, u64),
    /// Text, or `{ "path": TEXT, "literal": true }`.
    Path,
    /// A map with keys of the author's choice.
    Record(&'static Self),
    /// Text.
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
}

/// Tables of keys that may stand in one map.
pub(in crate::dialect) type Tables = &'static [&'static [Key]];

/// A key of a map.
#[derive(Debug)]
pub(in crate::dialect) struct Key {
    pub(in crate::dialect) name: &'static str,
    pub(in crate::dialect) shape: Shape,
    pub(in crate::dialect) fate: Fate,
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug)]
pub(in crate::dialect) enum Fate {
    /// It becomes part of the policy.
    Lowered,
    /// It opens something, or is about srt's own machinery: a sentence says why nothing comes of it.
    Noted(&'static str),
    /// It protects, and we cannot do the same: a sentence says so, and the file is refused.
    Refused(&'static str),
}

/// How a key that nobody knows is taken (Ruling 7).
#[derive(Clone, Copy, Debug)]
pub(in crate::dialect) enum Unknown {
    /// The file is refused.
    Error,
    /// The author is told.
    Warning,
}

use Fate::{Lowered, Noted, Refused};
use Shape::{Flag, List, Map, Number, Path, Record, Text, Word};

/// Checks a whole settings file.
pub(super) fn check(node: &Node, cx: &mut Reader<'_>) {
    if cx.map(node).is_some() {
        check_map(node, &[table::SETTINGS], "", Unknown::Error, cx);
    }
}

/// Checks a map against tables of keys; `above` is the way to it, for messages.
pub(in crate::dialect) fn check_map(
    node: &Node,
    tables: Tables,
    above: &str,
    unknown: Unknown,
    cx: &mut Reader<'_>,
) {
    let Value::Map(entries) = &node.value else {
        return cx.wrong_type(above, "a map", node).unwrap_or_default();
    };
    for entry in entries {
        let field = if above.is_empty() {
            visible(&entry.key)
        } else {
            format!("{above}.{}", visible(&entry.key))
        };
        let mut keys = tables.iter().copied().flatten();
        let Some(key) = keys.find(|key| key.name == &*entry.key) else {
            let names: Vec<&str> = tables.iter().copied().flatten().map(|key| key.name).collect();
            let problem = cx.unknown(above, entry, &names);
            cx.report(match unknown {
                Unknown::Error => problem,
                Unknown::Warning => problem.warning(),
            });
            continue;
        };
        check_shape(&entry.value, &key.shape, &field, unknown, cx);
        match key.fate {
            Lowered => {}
            Noted(_) | Refused(_) if !says_something(&entry.value) => {}
            Noted(why) => note(cx, "not-carried", format!("`{field}`: {why}"), &entry.value),
            Refused(why) => {
                let message = format!("`{field}`: {why}");
                let problem = cx.complaint("cannot-protect", message, entry.value.span);
                cx.report(problem.hint("remove it, if you can do without that protection"));
            }
        }
    }
}

/// Tells the author something that does not make the file unusable.
pub(in crate::dialect) fn note(
    cx: &mut Reader<'_>,
    code: &'static str,
    message: String,
    at: &Node,
) {
    cx.report(cx.complaint(code, message, at.span).warning());
}

fn check_shape(node: &Node, shape: &Shape, field: &str, unknown: Unknown, cx: &mut Reader<'_>) {
    let wanted = match (shape, &node.value) {
        (Flag, Value::Bool(_)) | (Text | Path, Value::Text(_)) => return,
        (Path, Value::Map(_)) => {
            if node.find("path").is_none() {
                // Without it the entry would close nothing, and nobody would notice.
                cx.missing_key::<()>("path", node);
            }
            return check_map(node, &[table::PATH_ENTRY], field, unknown, cx);
        }
        (List(inner), Value::List(items)) => {
            return items.iter().for_each(|item| check_shape(item, inner, field, unknown, cx));
        }
        (Record(inner), Value::Map(entries)) => {
            return entries
                .iter()
                .for_each(|entry| check_shape(&entry.value, inner, field, unknown, cx));
        }
        (Map(tables), _) => return check_map(node, tables, field, unknown, cx),
        (Word(words), Value::Text(text)) if words.contains(&&**text) => return,
        (Number(low, high), Value::Number(text))
            if text.parse().is_ok_and(|n: u64| (*low..=*high).contains(&n)) =>
        {
            return;
        }
        (Flag, _) => "true or false".into(),
        (List(_), _) => "a list".into(),
        (Number(low, high), _) => format!("a whole number from {low} to {high}"),
        (Path, _) => "a path".into(),
        (Record(_), _) => "a map".into(),
        (Text, _) => "text".into(),
        (Word(words), _) => format!("one of {}", words.join(", ")),
    };
    cx.wrong_type::<()>(field, &wanted, node);
}

/// Returns whether a value is more than the absence of one.
fn says_something(node: &Node) -> bool {
    match &node.value {
        Value::Bool(on) => *on,
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        Value::Null => false,
        Value::Number(_) | Value::Text(_) => true,
    }
}
