//! The place of a record in the chain: what each line begins with.

use crate::hash::Hash;

/// The place of a record: its number, and the hash of the record before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    /// Its number; the first has 1.
    pub sequence: u64,
    /// The hash of the line before it, without its line end.
    pub previous: Hash,
}

/// What each line of this version begins with.
const START: &str = "{\"version\":1";
const NUMBER: &[u8] = b",\"sequence\":";
const BEFORE: &[u8] = b",\"previous\":\"";

impl Stamp {
    /// Puts the line of an event behind a text, with the stamp in it.
    pub(crate) fn put(self, line: &str, text: &mut String) {
        let rest = line.strip_prefix(START).unwrap_or(line);
        text.push_str(START);
        text.push_str(",\"sequence\":");
        text.push_str(&self.sequence.to_string());
        text.push_str(",\"previous\":\"");
        self.previous.push(text);
        text.push('"');
        text.push_str(rest);
    }

    /// Reads the stamp of a line; none if it is no record. There is one way to write a stamp, and no
    /// other is read.
    pub fn read(line: &[u8]) -> Option<Self> {
        Self::split(line).map(|(stamp, _)| stamp)
    }

    /// Reads the stamp of a line, and returns what stands behind it.
    pub(crate) fn split(line: &[u8]) -> Option<(Self, &[u8])> {
        let rest = line.strip_prefix(START.as_bytes())?.strip_prefix(NUMBER)?;
        let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        if number.first() == Some(&b'0') {
            return None;
        }
        let sequence = std::str::from_utf8(number).ok()?.parse().ok()?;
        let (previous, rest) = rest.strip_prefix(BEFORE)?.split_at_checked(64)?;
        let ends = rest.starts_with(b"\",\"") && rest.ends_with(b"}");
        let stamp = Self { sequence, previous: Hash::read(previous)? };
        ends.then_some((stamp, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_with_its_version() {
        assert_eq!(START, format!("{{\"version\":{}", crate::event::VERSION));
    }

    #[test]
    fn a_stamp_is_read_as_it_is_written_and_in_no_other_way() {
        let stamp = Stamp { sequence: 12, previous: Hash::of(b"x") };
        let mut line = String::new();
        stamp.put(r#"{"version":1,"time":"t"}"#, &mut line);
        assert_eq!(Stamp::read(line.as_bytes()), Some(stamp));
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&value["sequence"], &value["time"]), (&12.into(), &"t".into()));
        for (from, to) in [
            (":12,", ":012,"),
            (":12,", ":,"),
            (":12,", ":99999999999999999999,"),
            (":1,", ":2,"),
            ("\"sequence\"", "\"Sequence\""),
            (",\"time", " ,\"time"),
            ("}", "} "),
        ] {
            let other = line.replacen(from, to, 1);
            assert_eq!(Stamp::read(other.as_bytes()), None, "{other}");
        }
        for end in 0..line.len() {
            assert_eq!(Stamp::read(&line.as_bytes()[..end]), None, "{end}");
        }
    }
}
