//! One request of a stream.

use std::collections::BTreeMap;
use std::ops::Index;

use serde_json::{Deserializer, Value as Json};

/// A JSON object whose members are also known as they are written. Of two equal keys one program
/// takes the first and another the last: a request has none, and what stands in its arguments is
/// for the judge to see.
#[derive(Debug)]
pub(super) struct Request<'l> {
    members: BTreeMap<String, (Json, &'l str)>,
}

impl<'l> Request<'l> {
    /// Reads one line; none if it is no such object.
    pub(super) fn read(line: &'l [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.trim_ascii();
        let mut rest = line.strip_prefix('{')?.strip_suffix('}')?.trim_ascii();
        let mut members = BTreeMap::new();
        while !rest.is_empty() {
            let (Json::String(key), _, after) = value(rest)? else { return None };
            let (value, written, after) = value(after.strip_prefix(':')?)?;
            if members.insert(key, (value, written)).is_some() {
                return None;
            }
            rest = match after.strip_prefix(',') {
                Some(more) if more.trim_ascii().is_empty() => return None,
                Some(more) => more,
                None if after.is_empty() => after,
                None => return None,
            };
        }
        Some(Self { members })
    }

    /// Returns the names of all members.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Returns a member as it is written.
    pub(super) fn written(&self, key: &str) -> &'l str {
        self.members.get(key).map_or("", |(_, written)| written)
    }
}

impl Index<&str> for Request<'_> {
    type Output = Json;

    fn index(&self, key: &str) -> &Json {
        self.members.get(key).map_or(&Json::Null, |(value, _)| value)
    }
}

/// Reads a value at the start of a text. Returns it, as it is written, and what follows.
fn value(text: &str) -> Option<(Json, &str, &str)> {
    let mut values = Deserializer::from_str(text).into_iter();
    let value = values.next()?.ok()?;
    let (written, after) = text.split_at_checked(values.byte_offset())?;
    Some((value, written.trim_ascii(), after.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_kept_as_they_are_written() {
        let line = br#" { "id":1 ,"arguments" : {"a":1, "a":2},"\u006bind":"x","n":null} "#;
        let request = Request::read(line).unwrap();
        assert_eq!(request["id"], 1);
        assert_eq!(request.written("arguments"), r#"{"a":1, "a":2}"#);
        assert_eq!(request["kind"], "x");
        assert_eq!((&request["n"], &request["none"]), (&Json::Null, &Json::Null));
        assert!(Request::read(b"{}").unwrap().members.is_empty());
        for line in [
            &br#"{"a":1,"a":1}"#[..],
            br#"{"a":1,"\u0061":2}"#,
            br#"{"a":1,}"#,
            br#"{,"a":1}"#,
            br#"{"a":1 "b":2}"#,
            br#"{"a" 1}"#,
            br#"{"a":}"#,
            br#"{"a":1}}"#,
            br#"{a:1}"#,
            br#"{1:1}"#,
            b"{",
            b"}",
            b"[]",
            b"{} {}",
            b"{\"a\":\"\xff\"}",
        ] {
            assert!(Request::read(line).is_none(), "{}", String::from_utf8_lossy(line));
        }
    }
}
