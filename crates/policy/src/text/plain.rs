//! The little of YAML that the built-in texts are written in, read quickly.
//!
//! They are read at every start, and a reader of all YAML takes longer over them than everything
//! else that a start does. What this one does not know it does not read at all: the reader of YAML
//! does then, and a test holds the two to the same tree.

use super::yaml::scalar;
use super::{Entry, Node, Source, Span, Value};

/// Reads block maps and lists of scalars on one line; none for anything else.
pub(crate) fn parse(source: &Source) -> Option<Node> {
    let mut lines = Lines { text: source.text(), at: 0 };
    let first = lines.peek()?;
    let node = block(&mut lines, first)?;
    lines.peek().is_none().then_some(node)
}

/// A line with something on it: what stands behind the blanks, and where that begins.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    start: usize,
    indent: usize,
}

struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lines<'t> {
    /// Returns the next line that says something, without going past it.
    fn peek(&mut self) -> Option<Line<'t>> {
        loop {
            let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
            let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
            let text = line.trim_start_matches(' ');
            if !text.is_empty() && !text.starts_with('#') {
                let indent = line.len() - text.len();
                return Some(Line { text, start: self.at + indent, indent });
            }
            self.at += line.len() + 1;
        }
    }

    fn pass(&mut self, line: Line<'_>) {
        self.at = line.start + line.text.len() + 1;
    }
}

/// Reads the list or map that begins with a line.
fn block(lines: &mut Lines<'_>, first: Line<'_>) -> Option<Node> {
    let (mut items, mut entries) = (Vec::new(), Vec::new());
    let mut end = first.start;
    while let Some(line) = lines.peek().filter(|line| line.indent >= first.indent) {
        if line.indent > first.indent {
            return None;
        }
        lines.pass(line);
        let value = match line.text.strip_prefix("- ") {
            Some(item) => {
                items.push(inline(item, line.start + 2)?);
                items.last()
            }
            None => {
                entries.push(entry(lines, line)?);
                entries.last().map(|entry| &entry.value)
            }
        };
        end = value?.span.end();
    }
    let span = Span::new(first.start, end);
    match (items.is_empty(), entries.is_empty()) {
        (false, true) => Some(Node { value: Value::List(items), span }),
        (true, false) => Some(Node { value: Value::Map(entries), span }),
        (true, true) | (false, false) => None,
    }
}

/// Reads a key with its value, which may be a block on the lines below.
fn entry(lines: &mut Lines<'_>, line: Line<'_>) -> Option<Entry> {
    let (key, rest) = line.text.split_once(':')?;
    let value = if rest.is_empty() {
        let below = lines.peek().filter(|below| below.indent > line.indent)?;
        block(lines, below)?
    } else {
        inline(rest.strip_prefix(' ')?, line.start + key.len() + 2)?
    };
    keyed(key, line.start, value)
}

fn keyed(key: &str, at: usize, value: Node) -> Option<Entry> {
    let is_name = key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let key_span = Span::new(at, at + key.len());
    (is_name && !key.is_empty()).then(|| Entry { key: key.into(), key_span, value })
}

/// Reads a value that stands on its line: a scalar, an empty list, or a map of scalars in braces.
fn inline(text: &str, at: usize) -> Option<Node> {
    if text == "[]" {
        return Some(Node { value: Value::List(Vec::new()), span: Span::new(at, at + 2) });
    }
    let Some(inside) = text.strip_prefix('{') else { return one(text, at) };
    let inside = inside.strip_suffix('}')?;
    let mut entries = Vec::new();
    let mut from = at + 1;
    for part in inside.split(',') {
        let start = from + part.len() - part.trim_start().len();
        let (key, value) = part.trim().split_once(": ")?;
        entries.push(keyed(key, start, one(value, start + key.len() + 2)?)?);
        from += part.len() + 1;
    }
    Some(Node { value: Value::Map(entries), span: Span::new(at, at + text.len()) })
}

/// Reads a scalar: plain words of harmless characters, or anything in quotes but escapes.
fn one(text: &str, at: usize) -> Option<Node> {
    let span = Span::new(at, at + text.len());
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) {
            let escaped = inside.contains(quote) || quote == '"' && inside.contains('\\');
            return (!escaped).then(|| Node { value: Value::Text(inside.into()), span });
        }
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let harmless = text.bytes().all(is_plain) && text.starts_with(|c: char| c.is_alphanumeric());
    harmless.then(|| Node { value: scalar(text), span })
}
