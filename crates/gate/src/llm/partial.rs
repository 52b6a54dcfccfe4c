//! Arguments that Gemini sends piece by piece: `{"jsonPath": "$.a[0].b", "stringValue": "…"}`.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde_json::{Map, Value};

/// Deepest path, and the largest number in one.
const DEEPEST: usize = 64;
const MOST: usize = 10_000;

/// Keys of a value in a piece. There is one.
const VALUES: [&str; 4] = ["stringValue", "numberValue", "boolValue", "nullValue"];

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Step {
    Key(String),
    At(usize),
}

/// Arguments that grow.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    arguments: Value,
    /// What has been told, and whether more of it is to come. A place that is told again is added to
    /// by some clients, and replaced by others.
    told: BTreeMap<Vec<Step>, bool>,
}

impl Pieces {
    /// Adds a piece. None if it cannot be told where it belongs or what it says.
    pub(super) fn add(&mut self, piece: &Value) -> Option<()> {
        let map = piece.as_object()?;
        let is_known = |key: &String| {
            VALUES.contains(&key.as_str()) || matches!(key.as_str(), "jsonPath" | "willContinue")
        };
        let values = VALUES.iter().filter(|key| map.contains_key(**key)).count();
        if values != 1 || !map.keys().all(is_known) {
            return None;
        }
        let steps = steps(map.get("jsonPath")?.as_str()?)?;
        let goes_on = map.get("willContinue") == Some(&Value::Bool(true));
        match self.told.get(&steps) {
            Some(true) if map.contains_key("stringValue") => {}
            Some(_) => return None,
            None if self.is_taken(&steps) => return None,
            None => {}
        }
        put(&mut self.arguments, &steps, map)?;
        self.told.insert(steps, goes_on);
        Some(())
    }

    /// Returns the arguments as far as they are there.
    pub(super) fn into_arguments(self) -> Value {
        if self.arguments.is_null() { Value::Object(Map::new()) } else { self.arguments }
    }

    /// Whether something above or below a place has been told.
    fn is_taken(&self, steps: &[Step]) -> bool {
        let above = (0..steps.len()).any(|end| self.told.contains_key(&steps[..end]));
        let mut below = self.told.range::<[Step], _>((Bound::Included(steps), Bound::Unbounded));
        above || below.next().is_some_and(|(known, _)| known.starts_with(steps))
    }
}

fn put(arguments: &mut Value, steps: &[Step], piece: &Map<String, Value>) -> Option<()> {
    let mut at = arguments;
    for step in steps {
        at = match step {
            Step::Key(key) => {
                if at.is_null() {
                    *at = Value::Object(Map::new());
                }
                at.as_object_mut()?.entry(key).or_insert(Value::Null)
            }
            Step::At(number) => {
                if at.is_null() {
                    *at = Value::Array(Vec::new());
                }
                let list = at.as_array_mut()?;
                if *number >= list.len() {
                    list.resize(number + 1, Value::Null);
                }
                list.get_mut(*number)?
            }
        };
    }
    if let Some(more) = piece.get("stringValue") {
        let text = match at {
            Value::Null => String::new(),
            Value::String(text) => std::mem::take(text),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        *at = (text + more.as_str()?).into();
    } else if let Some(number) = piece.get("numberValue").filter(|number| number.is_number()) {
        *at = number.clone();
    } else if let Some(flag) = piece.get("boolValue").filter(|flag| flag.is_boolean()) {
        *at = flag.clone();
    } else if piece.contains_key("nullValue") {
        *at = Value::Null;
    } else {
        return None;
    }
    Some(())
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == DEEPEST {
            return None;
        }
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (key, more) = after.split_at(end);
            if key.is_empty() {
                return None;
            }
            steps.push(Step::Key(key.to_owned()));
            rest = more;
            continue;
        }
        let (inner, more) = rest.strip_prefix('[')?.split_once(']')?;
        let quoted =
            |quote: char| inner.strip_prefix(quote).and_then(|key| key.strip_suffix(quote));
        steps.push(match quoted('\'').or_else(|| quoted('"')) {
            // What is escaped in a key might be read in two ways.
            Some(key) if !key.contains(['\\', '\'', '"']) => Step::Key(key.to_owned()),
            Some(_) => return None,
            None => Step::At(inner.parse().ok().filter(|number| *number < MOST)?),
        });
        rest = more;
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pieces(list: &[Value]) -> Option<Value> {
        let mut pieces = Pieces::default();
        list.iter().try_for_each(|piece| pieces.add(piece))?;
        Some(pieces.into_arguments())
    }

    fn text(path: &str, text: &str) -> Value {
        json!({"jsonPath": path, "stringValue": text})
    }

    fn more(path: &str, text: &str) -> Value {
        json!({"jsonPath": path, "stringValue": text, "willContinue": true})
    }

    #[test]
    fn pieces_become_arguments() {
        let all = [
            more("$.ops[0].path", "/etc"),
            text("$.ops[0].path", "/passwd"),
            json!({"jsonPath": "$.ops[1]['a key']", "numberValue": 0.5}),
            json!({"jsonPath": "$.force", "boolValue": true}),
            json!({"jsonPath": "$.none", "nullValue": "NULL_VALUE"}),
        ];
        assert_eq!(
            pieces(&all),
            Some(
                json!({"ops": [{"path": "/etc/passwd"}, {"a key": 0.5}], "force": true, "none": null})
            )
        );
        for piece in [
            json!({"jsonPath": "ops", "stringValue": ""}),
            json!({"jsonPath": "$..x", "stringValue": ""}),
            json!({"jsonPath": "$.ops.path", "stringValue": ""}),
            json!({"jsonPath": "$.ops[99999999]", "stringValue": ""}),
            json!({"jsonPath": "$.x"}),
            json!({"jsonPath": "$.force", "stringValue": "x"}),
            json!({"stringValue": "x"}),
        ] {
            assert_eq!(pieces(&[&all[..], std::slice::from_ref(&piece)].concat()), None, "{piece}");
        }
    }

    #[test]
    fn a_place_that_is_told_twice_makes_no_arguments() {
        let spelt = [more("$.path", "a"), text("$['path']", "b")];
        assert_eq!(pieces(&spelt), Some(json!({"path": "ab"})));
        assert_eq!(pieces(&[]), Some(json!({})));
        for twice in [
            [text("$.path", "src"), text("$.path", "/etc/x")],
            [text("$.path", "src"), text("$[\"path\"]", "/etc/x")],
            [
                json!({"jsonPath": "$.n", "numberValue": 1}),
                json!({"jsonPath": "$.n", "numberValue": 2}),
            ],
            [more("$.n", "1"), json!({"jsonPath": "$.n", "numberValue": 2})],
            [json!({"jsonPath": "$.o", "nullValue": null}), text("$.o.path", "/etc/x")],
            [text("$.o.path", "a"), json!({"jsonPath": "$.o", "nullValue": null})],
            [text("$.l[0]", "a"), json!({"jsonPath": "$.l", "boolValue": true})],
            [json!({"jsonPath": "$", "nullValue": null}), text("$.path", "/etc/x")],
        ] {
            assert_eq!(pieces(&twice), None, "{twice:?}");
        }
        for odd in [
            json!({"jsonPath": "$.a", "stringValue": "a", "numberValue": 1}),
            json!({"jsonPath": "$.a", "stringValue": "a", "string_value": "b"}),
            json!({"jsonPath": "$.a", "stringValue": "a", "json_path": "$.b"}),
        ] {
            assert_eq!(pieces(std::slice::from_ref(&odd)), None, "{odd}");
        }
    }
}
