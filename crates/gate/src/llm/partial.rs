//! Arguments that Gemini sends piece by piece: `{"jsonPath": "$.a[0].b", "stringValue": "…"}`.

use serde_json::{Map, Value};

/// Deepest path, and the largest number in one.
const DEEPEST: usize = 64;
const MOST: usize = 10_000;

enum Step<'p> {
    Key(&'p str),
    At(usize),
}

/// Adds a piece to arguments. None if it cannot be told where it belongs or what it says.
pub(super) fn add(arguments: &mut Value, piece: &Value) -> Option<()> {
    let steps = steps(piece["jsonPath"].as_str()?)?;
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
                if number >= list.len() {
                    list.resize(number + 1, Value::Null);
                }
                list.get_mut(number)?
            }
        };
    }
    let map = piece.as_object()?;
    if let Some(more) = map.get("stringValue") {
        let text = match at {
            Value::Null => String::new(),
            Value::String(text) => std::mem::take(text),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        *at = (text + more.as_str()?).into();
    } else if let Some(number) = map.get("numberValue").filter(|number| number.is_number()) {
        *at = number.clone();
    } else if let Some(flag) = map.get("boolValue").filter(|flag| flag.is_boolean()) {
        *at = flag.clone();
    } else if map.contains_key("nullValue") {
        *at = Value::Null;
    } else {
        return None;
    }
    Some(())
}

fn steps(path: &str) -> Option<Vec<Step<'_>>> {
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
            steps.push(Step::Key(key));
            rest = more;
            continue;
        }
        let (inner, more) = rest.strip_prefix('[')?.split_once(']')?;
        let quoted =
            |quote: char| inner.strip_prefix(quote).and_then(|key| key.strip_suffix(quote));
        steps.push(match quoted('\'').or_else(|| quoted('"')) {
            // What is escaped in a key might be read in two ways.
            Some(key) if !key.contains(['\\', '\'', '"']) => Step::Key(key),
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

    #[test]
    fn pieces_become_arguments() {
        let mut arguments = Value::Null;
        for piece in [
            json!({"jsonPath": "$.ops[0].path", "stringValue": "/etc", "willContinue": true}),
            json!({"jsonPath": "$.ops[0].path", "stringValue": "/passwd"}),
            json!({"jsonPath": "$.ops[1]['a key']", "numberValue": 0.5}),
            json!({"jsonPath": "$.force", "boolValue": true}),
            json!({"jsonPath": "$.none", "nullValue": "NULL_VALUE"}),
        ] {
            add(&mut arguments, &piece).unwrap();
        }
        assert_eq!(
            arguments,
            json!({"ops": [{"path": "/etc/passwd"}, {"a key": 0.5}], "force": true, "none": null})
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
            assert_eq!(add(&mut arguments.clone(), &piece), None, "{piece}");
        }
    }
}
