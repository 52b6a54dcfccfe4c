//! Reading JSON that somebody else reads as well.
//!
//! Of a key that stands in an object twice, one reader takes the first and another the last: what is
//! judged would not be what is done. So such a text is refused, whatever its keys are and however deep
//! they stand. Every door that judges what it is told reads it here.

use std::cell::RefCell;
use std::fmt;

use palisade_policy::text::visible;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};

/// Why a text is not taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Unread {
    /// It is no JSON; in this line it ends to be.
    Broken(usize),
    /// This key stands twice in one object.
    Twice(String),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(line) => write!(f, "it is no JSON (line {line})"),
            Self::Twice(key) => write!(f, "the key `{}` stands there twice", visible(key)),
        }
    }
}

/// Reads one value.
pub(crate) fn read(text: &[u8]) -> Result<Json, Unread> {
    let twice = RefCell::default();
    let mut from = serde_json::Deserializer::from_slice(text);
    let told = Once(&twice).deserialize(&mut from);
    let told = told.and_then(|told| from.end().map(|()| told));
    told.map_err(|error| match twice.into_inner() {
        Some(key) => Unread::Twice(key),
        None => Unread::Broken(error.line()),
    })
}

/// Reads a value in which each key stands once; the one that does not is left where this points.
#[derive(Clone, Copy)]
struct Once<'t>(&'t RefCell<Option<String>>);

impl<'de> DeserializeSeed<'de> for Once<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, told: bool) -> Result<Json, E> {
        Ok(told.into())
    }

    fn visit_u64<E>(self, told: u64) -> Result<Json, E> {
        Ok(told.into())
    }

    fn visit_i64<E>(self, told: i64) -> Result<Json, E> {
        Ok(told.into())
    }

    fn visit_f64<E>(self, told: f64) -> Result<Json, E> {
        Ok(Number::from_f64(told).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, told: &str) -> Result<Json, E> {
        Ok(told.into())
    }

    fn visit_string<E>(self, told: String) -> Result<Json, E> {
        Ok(told.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut told = Vec::new();
        while let Some(next) = from.next_element_seed(self)? {
            told.push(next);
        }
        Ok(Json::Array(told))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut told = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            if told.contains_key(&key) {
                self.0.replace(Some(key));
                return Err(A::Error::custom("a key stands twice"));
            }
            let value = from.next_value_seed(self)?;
            told.insert(key, value);
        }
        Ok(Json::Object(told))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_everybody_reads() {
        for text in [
            "null",
            r#"{"a":[1,-2,1.5,1e3,18446744073709551615,true,false,null,"é\n"],"b":{"a":{}}}"#,
            r#"{"a":1,"A":2,"a ":3}"#,
            "[{\"a\":1},{\"a\":1}] \n",
        ] {
            assert_eq!(read(text.as_bytes()), Ok(serde_json::from_str(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_told() {
        for (text, key) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":1,"\u0061":2}"#, "a"),
            (r#"[{"b":{"c":[{"":0,"":0}]}}]"#, ""),
            (r#"{"a":{"x":1},"b":{"x":1,"y":2,"x":3}}"#, "x"),
        ] {
            assert_eq!(read(text.as_bytes()), Err(Unread::Twice(key.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_told_by_its_line() {
        let deep = "[".repeat(1000);
        for (text, line) in [
            ("", 1),
            ("{\n", 2),
            ("{} {}", 1),
            ("\n\n1e999", 3),
            (deep.as_str(), 1),
            ("\u{feff}{}", 1),
        ] {
            assert_eq!(read(text.as_bytes()), Err(Unread::Broken(line)), "{text}");
        }
        assert!(read(b"{\"\xff\":1}").is_err());
    }
}
