//! JSON that every reader reads alike.
//!
//! A key that stands twice is read as the first by some programs and as the last by others, and
//! what was judged would not be what a client acts on. So a text with such a key is no JSON here.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one JSON text. None if it is none, nests too deep, or names a key twice.
pub(super) fn read(text: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Once>(text).ok().map(|once| once.0)
}

/// Whether a text is one JSON object, as every reader would say.
pub(super) fn is_object(text: &str) -> bool {
    // Which of two keys counts is for whoever judges the arguments.
    matches!(serde_json::from_str(text), Ok(Value::Object(_)))
}

/// Adds the numbers of one object to those of another, at every depth.
pub(super) fn add(sum: &mut Value, more: &Value) {
    match (sum, more) {
        (Value::Object(sum), Value::Object(more)) => {
            for (key, value) in more {
                match sum.get_mut(key) {
                    Some(there) if !there.is_null() => add(there, value),
                    Some(_) | None => {
                        sum.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Number(sum), Value::Number(more)) => {
            if let (Some(a), Some(b)) = (sum.as_u64(), more.as_u64()) {
                *sum = Number::from(a.saturating_add(b));
            }
        }
        _ => {}
    }
}

/// A value in which no key stands twice.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, Once(value))) = entries.next_entry::<String, Once>()? {
            if map.insert(key, value).is_some() {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_that_stands_twice_makes_no_json() {
        assert_eq!(
            read(br#"{"a":[1,-2,0.5,null,true,"x"]}"#),
            Some(json!({"a":[1,-2,0.5,null,true,"x"]}))
        );
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#, "NaN", "{", "{} {}", ""] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(read(&b"[".repeat(100_000)), None);
        assert_eq!(read(b"\"\xff\""), None);
    }

    #[test]
    fn numbers_are_added_at_every_depth() {
        let mut sum = json!({"a": 1, "b": {"c": 2}, "d": null, "e": "x"});
        add(&mut sum, &json!({"a": 2, "b": {"c": 3, "f": 4}, "d": 5, "e": "y"}));
        assert_eq!(sum, json!({"a": 3, "b": {"c": 5, "f": 4}, "d": 5, "e": "x"}));
    }
}
