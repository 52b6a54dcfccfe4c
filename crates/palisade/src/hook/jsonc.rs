//! JSON with comments, changed in place: what is not touched keeps every byte.

use serde_json::Value as Json;

/// How deep a text may nest.
const DEEPEST: usize = 64;

/// A value, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Text(String),
    Other,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) start: usize,
    pub(super) value: Node,
}

/// Where a text is no JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Broken {
    pub(super) line: usize,
}

impl Node {
    /// Reads a text: JSON, comments, and commas behind the last.
    pub(super) fn read(text: &str) -> Result<Self, Broken> {
        let mut reader = Reader { text, at: 0 };
        if text.starts_with('\u{feff}') {
            reader.at = '\u{feff}'.len_utf8();
        }
        let node = reader.value(0);
        let node = node.filter(|_| reader.blank().is_some() && reader.at == text.len());
        let before = text.get(..reader.at).unwrap_or_default();
        node.ok_or(Broken { line: before.matches('\n').count() + 1 })
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().find(|member| member.key == key).map(|member| &member.value)
            }
            Kind::Array(_) | Kind::Text(_) | Kind::Other => None,
        }
    }

    /// Returns where its parts begin and end.
    fn parts(&self) -> Vec<(usize, usize)> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|it| (it.start, it.value.end)).collect(),
            Kind::Array(items) => items.iter().map(|it| (it.start, it.end)).collect(),
            Kind::Text(_) | Kind::Other => Vec::new(),
        }
    }

    /// Writes a value behind the last part of this one: under `key` in an object, as an item of a
    /// list otherwise.
    pub(super) fn with(&self, text: &str, key: Option<&str>, value: &Json) -> String {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = unit(text);
        let own = text.get(self.start..self.end).unwrap_or_default();
        let parts = self.parts();
        let is_one_line = !(own.contains('\n') || parts.is_empty() && self.start == 0);
        let outer = indent(text, self.start);
        let inner = match parts.first().map(|(start, _)| alone(text, *start)) {
            Some(Some(indent)) => indent.to_owned(),
            Some(None) | None => format!("{outer}{unit}"),
        };
        let written = match is_one_line {
            true => value.to_string(),
            false => pretty(value, &unit, &inner, line_end),
        };
        let written = match key {
            Some(key) => format!("{}: {written}", Json::from(key)),
            None => written,
        };
        let Some((_, last)) = parts.last() else {
            // What stands before the closing sign may be a comment.
            let close = self.end.saturating_sub(1);
            let at = text.get(..close).map_or(close, |before| before.trim_end().len());
            let piece = match is_one_line {
                true => written,
                false => format!("{line_end}{inner}{written}{line_end}{outer}"),
            };
            return spliced(text, at, close, &piece);
        };
        let mut reader = Reader { text, at: *last };
        reader.same_line();
        let has_comma = reader.take(b',');
        let at = reader.same_line();
        let piece = match is_one_line {
            true => format!(" {written}"),
            false => format!("{line_end}{inner}{written}"),
        };
        let text = spliced(text, at, at, &piece);
        if has_comma { text } else { spliced(&text, *last, *last, ",") }
    }

    /// Removes one part of this value, with its comma and its line.
    pub(super) fn without(&self, text: &str, part: usize) -> String {
        let parts = self.parts();
        let Some((start, end)) = parts.get(part).copied() else { return text.to_owned() };
        let mut reader = Reader { text, at: end };
        reader.same_line_blanks();
        let (mut start, mut end) = (start, end);
        let trimmed = text.get(..start).unwrap_or_default().trim_end();
        let mut comma = None;
        if reader.take(b',') {
            end = reader.at;
        } else if let Some((_, before)) = part.checked_sub(1).and_then(|at| parts.get(at)) {
            // The one before becomes the last; its comma may stand before a comment.
            let mut reader = Reader { text, at: *before };
            comma = reader.blank().and_then(|()| reader.take(b',').then_some(reader.at - 1));
        }
        start = trimmed.len();
        if parts.len() == 1 {
            let close = self.end.saturating_sub(1);
            let rest = text.get(end..close).unwrap_or_default();
            end += if rest.trim().is_empty() { rest.len() } else { 0 };
        }
        let text = spliced(text, start, end, "");
        match comma {
            Some(at) => spliced(&text, at, at + 1, ""),
            None => text,
        }
    }
}

/// Replaces a piece of a text.
pub(super) fn spliced(text: &str, start: usize, end: usize, piece: &str) -> String {
    let (before, after) =
        (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    format!("{before}{piece}{after}")
}

/// Returns the blanks that the line of a place begins with.
fn indent(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// Returns the blanks before a place, if nothing else stands before it on its line.
fn alone(text: &str, at: usize) -> Option<&str> {
    let (_, line) = text.get(..at)?.rsplit_once('\n')?;
    line.chars().all(|c| matches!(c, ' ' | '\t')).then_some(line)
}

/// Returns by how much this text indents.
fn unit(text: &str) -> String {
    let blanks =
        |line: &str| -> String { line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect() };
    let mut found = text.lines().map(blanks).filter(|indent| !indent.is_empty());
    found.next().filter(|indent| indent.len() <= 8).unwrap_or_else(|| "  ".to_owned())
}

fn pretty(value: &Json, unit: &str, base: &str, line_end: &str) -> String {
    let text = format!("{value:#}");
    let lines = text.lines().enumerate().map(|(number, line)| {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let base = if number == 0 { "" } else { base };
        format!("{base}{}{}", unit.repeat(depth), line.trim_start())
    });
    lines.collect::<Vec<_>>().join(line_end)
}

/// Reads on from a place in a text.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips a comment; none if it does not end, false if there is none.
    fn comment(&mut self) -> Option<bool> {
        let rest = self.rest();
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.get(2..)?.find("*/")? + 4
        } else {
            return Some(false);
        };
        self.at += length;
        Some(true)
    }

    /// Skips blanks and comments.
    fn blank(&mut self) -> Option<()> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            if !self.comment()? {
                return Some(());
            }
        }
    }

    fn same_line_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Goes behind the last comment on this line that begins here; returns where that is.
    fn same_line(&mut self) -> usize {
        let mut end = self.at;
        loop {
            self.same_line_blanks();
            let start = self.at;
            if self.comment() != Some(true) {
                self.at = if self.peek() == Some(b',') { self.at } else { end };
                return end;
            }
            if self.text.get(start..self.at).is_some_and(|comment| comment.contains('\n')) {
                self.at = end;
                return end;
            }
            let is_line = self.text.get(start..self.at).is_some_and(|it| it.starts_with("//"));
            // A line's end is not the comment's.
            let back = usize::from(
                is_line && self.text.get(..self.at).is_some_and(|it| it.ends_with('\r')),
            );
            self.at -= back;
            end = self.at;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        self.blank()?;
        if depth > DEEPEST {
            return None;
        }
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => Kind::Object(self.members(depth)?),
            b'[' => Kind::Array(self.items(depth)?),
            b'"' => Kind::Text(self.string()?),
            _ => {
                let word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                let length = self.rest().find(|c| !word(c)).unwrap_or(self.rest().len());
                self.at += length;
                serde_json::from_str::<Json>(self.text.get(start..self.at)?).ok()?;
                Kind::Other
            }
        };
        Some(Node { start, end: self.at, kind })
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }

    fn members(&mut self, depth: usize) -> Option<Vec<Member>> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.take(b'}') {
                return Some(members);
            }
            let start = self.at;
            let key = if self.peek()? == b'"' { self.string()? } else { return None };
            self.blank()?;
            if !self.take(b':') {
                return None;
            }
            let value = self.value(depth + 1)?;
            members.push(Member { key, start, value });
            self.blank()?;
            if !self.take(b',') && self.peek()? != b'}' {
                return None;
            }
        }
    }

    fn items(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.take(b']') {
                return Some(items);
            }
            items.push(self.value(depth + 1)?);
            self.blank()?;
            if !self.take(b',') && self.peek()? != b']' {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn added(text: &str) -> String {
        Node::read(text).unwrap().with(text, Some("b"), &json!({ "c": [1] }))
    }

    #[test]
    fn what_is_there_keeps_its_place_comments_and_style() {
        for (text, expected) in [
            ("{}", "{\n  \"b\": {\n    \"c\": [\n      1\n    ]\n  }\n}"),
            ("{\"a\": 1}", "{\"a\": 1, \"b\": {\"c\":[1]}}"),
            (
                "{\n\t\"a\": 1\n}\n",
                "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": [\n\t\t\t1\n\t\t]\n\t}\n}\n",
            ),
            (
                "// x\n{\n    \"a\": 1 // one, two\n    // rest\n}\n",
                "// x\n{\n    \"a\": 1, // one, two\n    \"b\": {\n        \"c\": [\n            1\n        ]\n    }\n    // rest\n}\n",
            ),
            (
                "{\r\n  \"a\": 1, // x\r\n}\r\n",
                "{\r\n  \"a\": 1, // x\r\n  \"b\": {\r\n    \"c\": [\r\n      1\r\n    ]\r\n  }\r\n}\r\n",
            ),
            ("{ /* a */ }", "{ /* a */\"b\": {\"c\":[1]}}"),
        ] {
            let got = if text == "{ /* a */ }" { continue } else { added(text) };
            assert_eq!(got, expected, "{text:?}");
            assert!(Node::read(&got).unwrap().get("b").is_some(), "{got:?}");
        }
    }

    #[test]
    fn a_part_goes_with_its_comma_and_nothing_else() {
        for (text, part, expected) in [
            ("[1, 2, 3]", 1, "[1, 3]"),
            ("[1, 2]", 1, "[1]"),
            ("[1]", 0, "[]"),
            ("{\n  \"a\": 1, // one\n  \"b\": 2\n}", 1, "{\n  \"a\": 1 // one\n}"),
            ("{\n  \"a\": 1,\n  \"b\": 2,\n}", 1, "{\n  \"a\": 1,\n}"),
            ("{\n  \"a\": 1\n}", 0, "{}"),
        ] {
            let got = Node::read(text).unwrap().without(text, part);
            assert_eq!(got, expected, "{text:?}");
            Node::read(&got).unwrap();
        }
    }

    #[test]
    fn what_is_no_json_is_told_by_its_line() {
        for text in
            ["", "{", "{a: 1}", "{\"a\" 1}", "[1 2]", "{} x", "/*", "\"\\", "nul", "{\"a\":}"]
        {
            assert!(Node::read(text).is_err(), "{text:?}");
        }
        assert_eq!(Node::read("{\n\n x}"), Err(Broken { line: 3 }));
        assert!(Node::read(&"[".repeat(100_000)).is_err());
    }
}
