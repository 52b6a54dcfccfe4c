//! The little of YAML that the built-in texts are written in, read quickly.
//!
//! They are read at every start, and a reader of all YAML takes longer over them than everything
//! else that a start does. What this one does not know it does not read at all: the reader of YAML
//! does then, and a test holds the two to the same tree.

use super::yaml::scalar;
use super::{Entry, Node, Source, Span, Value, byte};

/// Reads block maps and lists of scalars on one line; none for anything else.
pub(crate) fn parse(source: &Source) -> Option<Node> {
    let mut lines = Lines { source, next: 0, ahead: None };
    lines.pass();
    let first = lines.ahead?;
    let node = block(&mut lines, first)?;
    lines.ahead.is_none().then_some(node)
}

/// A line with something on it: what stands behind the blanks, and where that begins.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    start: usize,
    indent: usize,
}

struct Lines<'t> {
    source: &'t Source,
    /// The line behind the one ahead.
    next: usize,
    /// The next line that says something.
    ahead: Option<Line<'t>>,
}

impl Lines<'_> {
    /// Returns how many lines from this one on are items of one list.
    fn alike(&self, first: Line<'_>) -> usize {
        let is_item = |line: &str| {
            line.as_bytes().get(first.indent..).is_some_and(|rest| rest.starts_with(b"- "))
        };
        if !first.text.starts_with("- ") {
            return 0;
        }
        let below = (self.next..).map_while(|at| self.source.line(at));
        1 + below
            .take_while(|(_, line)| is_item(line) || line.trim_start().starts_with('#'))
            .count()
    }

    /// Goes past the line ahead.
    fn pass(&mut self) {
        self.ahead = None;
        while let Some((start, line)) = self.source.line(self.next) {
            self.next += 1;
            let indent = line.bytes().take_while(|byte| *byte == b' ').count();
            let text = line.get(indent..).unwrap_or_default();
            match text.as_bytes() {
                [] | [b'#', ..] => {}
                [_, ..] => {
                    self.ahead = Some(Line { text, start: start + indent, indent });
                    return;
                }
            }
        }
    }
}

/// Reads the list or map that begins with a line.
fn block(lines: &mut Lines<'_>, first: Line<'_>) -> Option<Node> {
    let (mut items, mut entries) = (Vec::with_capacity(lines.alike(first)), Vec::new());
    let mut end = first.start;
    while let Some(line) = lines.ahead.filter(|line| line.indent >= first.indent) {
        if line.indent > first.indent {
            return None;
        }
        lines.pass();
        let value = match line.text.as_bytes() {
            [b'-', b' ', ..] => {
                items.push(inline(line.text.get(2..)?, line.start + 2)?);
                items.last()
            }
            _ => {
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
    let (key, rest) = byte::split_once(line.text, b':')?;
    let value = if rest.is_empty() {
        let below = lines.ahead.filter(|below| below.indent > line.indent)?;
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
    let inside = match text.as_bytes() {
        b"[]" => {
            return Some(Node { value: Value::List(Vec::new()), span: Span::new(at, at + 2) });
        }
        [b'{', ..] => text.get(1..)?.strip_suffix('}')?,
        _ => return one(text, at),
    };
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
    if let [quote @ (b'"' | b'\''), .., end] = text.as_bytes()
        && quote == end
    {
        let inside = text.get(1..text.len() - 1)?;
        let escaped = byte::has(inside, *quote) || *quote == b'"' && byte::has(inside, b'\\');
        return (!escaped).then(|| Node { value: Value::Text(inside.into()), span });
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let first = text.bytes().next().filter(u8::is_ascii_alphanumeric)?;
    // Numbers begin with a digit, and the words for nothing, yes and no are short.
    let value = match (first, text.len()) {
        (b'0'..=b'9', _) | (_, 4 | 5) => scalar(text),
        (_, _) => Value::Text(text.into()),
    };
    text.bytes().all(is_plain).then_some(Node { value, span })
}
