//! Whether a value is what a schema of ours says; as much of JSON Schema as those use.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

/// Stops unless `value` fits the schema of this name.
pub(crate) fn assert_fits(value: &Json, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(name);
    let schema: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    if let Err(why) = fits(value, &schema, &schema) {
        panic!("{name}: {why}\n{value:#}");
    }
}

fn fits(value: &Json, schema: &Json, whole: &Json) -> Result<(), String> {
    for (word, said) in schema.as_object().unwrap() {
        let holds = match word.as_str() {
            "$ref" => {
                let name = said.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                return fits(value, &whole["$defs"][name], whole);
            }
            "const" => value == said,
            "enum" => said.as_array().unwrap().contains(value),
            "type" => match said.as_array() {
                Some(kinds) => kinds.iter().any(|kind| is(value, kind)),
                None => is(value, said),
            },
            "oneOf" => {
                let each = said.as_array().unwrap().iter();
                let tried: Vec<_> = each.map(|one| fits(value, one, whole)).collect();
                if tried.iter().filter(|one| one.is_ok()).count() != 1 {
                    return Err(format!("not one of: {tried:?}"));
                }
                true
            }
            "required" => match value.as_object() {
                Some(fields) => {
                    let missing = said.as_array().unwrap().iter();
                    let mut missing =
                        missing.filter(|name| !fields.contains_key(name.as_str().unwrap()));
                    if let Some(missing) = missing.next() {
                        return Err(format!("no field {missing}"));
                    }
                    true
                }
                None => true,
            },
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    fits(item, said, whole)?;
                }
                true
            }
            "properties" => {
                for (name, part) in said.as_object().unwrap() {
                    if let Some(inner) = value.get(name) {
                        fits(inner, part, whole).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    if schema["properties"].get(name).is_some() {
                        continue;
                    }
                    if said == &Json::Bool(false) {
                        return Err(format!("unknown field {name}"));
                    }
                    fits(inner, said, whole)?;
                }
                true
            }
            "$schema" | "title" | "description" | "$defs" => true,
            other => panic!("the schema uses `{other}`, which this test does not know"),
        };
        if !holds {
            return Err(format!("{value} breaks {word}: {said}"));
        }
    }
    Ok(())
}

fn is(value: &Json, kind: &Json) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("no kind `{other}`"),
    }
}

#[test]
fn what_does_not_fit_is_seen() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": { "a": { "type": ["integer", "null"] }, "b": { "enum": [1, 2] } },
    });
    for (text, right) in [
        (r#"{"a":1}"#, true),
        (r#"{"a":null,"b":2}"#, true),
        (r#"{"b":2}"#, false),
        (r#"{"a":"x"}"#, false),
        (r#"{"a":1,"b":3}"#, false),
        (r#"{"a":1,"c":3}"#, false),
        ("[]", false),
    ] {
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(fits(&value, &schema, &schema).is_ok(), right, "{text}");
    }
}
