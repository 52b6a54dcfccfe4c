//! A call's arguments, read so that nothing in them is overlooked.
//!
//! Programs disagree about broken JSON: of two equal keys one takes the first, another the last,
//! and a third repairs what was cut off. So this reader keeps every value, goes on as long as it
//! can, and remembers the first thing that was wrong. It does not recurse.

use std::borrow::Cow;

use crate::text::Span;

/// Longest arguments that are read, in bytes.
pub const MAX_TEXT: usize = 8 << 20;
/// Deepest nesting of lists and objects.
const MAX_DEPTH: usize = 64;
/// Most values.
const MAX_NODES: usize = 100_000;

/// Everything that stands in a JSON text, in its order.
#[derive(Debug, Default)]
pub(super) struct Arguments<'t> {
    pub(super) text: &'t str,
    pub(super) nodes: Vec<Node<'t>>,
    /// The first thing that was wrong; what stands behind it may be missing.
    pub(super) fault: Option<Fault>,
}

/// One value.
#[derive(Debug)]
pub(super) struct Node<'t> {
    /// The list or object that it stands in; its own number for the outermost.
    pub(super) parent: usize,
    pub(super) step: Step<'t>,
    pub(super) value: Value<'t>,
}

/// How one gets to a value from what it stands in.
#[derive(Debug)]
pub(super) enum Step<'t> {
    Top,
    Key(Cow<'t, str>),
    Item(usize),
}

#[derive(Debug)]
pub(super) enum Value<'t> {
    Text(Cow<'t, str>),
    /// A number, `true`, `false` or `null`, as it is written.
    Plain(&'t str),
    List,
    Map,
}

/// What is wrong with arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) message: &'static str,
    pub(super) kind: FaultKind,
    /// The byte at which it was noticed.
    pub(super) at: usize,
}

/// Who refuses them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FaultKind {
    /// Strict mode.
    Broken,
    /// Everybody: nobody can look at all of it.
    Excess,
}

impl Fault {
    /// Returns the place in the text that is at fault: one character, the last one if more was to
    /// come.
    pub(super) fn span(self, text: &str) -> Span {
        let last = text.trim_end().char_indices().next_back().map_or(0, |(at, _)| at);
        let start = (0..=self.at.min(last)).rev().find(|at| text.is_char_boundary(*at));
        let start = start.unwrap_or_default();
        let width =
            text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span::new(start, start + width)
    }

    /// Returns what to do about it.
    pub(super) fn hint(self) -> &'static str {
        match self.code {
            "arguments-duplicate-key" => "name each parameter once",
            "arguments-unreadable" => {
                "give an object as JSON writes it: {\"path\": \"src/main.rs\"}"
            }
            _ => "make several calls of it",
        }
    }
}

impl<'t> Arguments<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let found = Self { text, ..Self::default() };
        let mut reader = Reader { text, at: 0, found, open: Vec::new() };
        if text.len() > MAX_TEXT {
            reader.fault("arguments-too-long", "the arguments are too long", FaultKind::Excess);
        } else {
            // What stops the reader has been noted.
            _ = reader.values();
        }
        reader.found
    }

    /// Returns the JSON pointer of a value.
    pub(super) fn pointer(&self, mut at: usize) -> String {
        let mut steps = Vec::new();
        while let Some(node) = self.nodes.get(at) {
            match &node.step {
                Step::Top => break,
                Step::Key(key) => steps.push(key.replace('~', "~0").replace('/', "~1")),
                Step::Item(number) => steps.push(number.to_string()),
            }
            at = node.parent;
        }
        steps.iter().rev().fold(String::new(), |pointer, step| pointer + "/" + step)
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    found: Arguments<'t>,
    open: Vec<Frame>,
}

/// A list or an object that is not closed yet.
struct Frame {
    node: usize,
    /// The values in it so far, by number.
    inside: Vec<usize>,
}

/// The reader cannot go on. Why is in its fault.
struct Stuck;

impl<'t> Reader<'t> {
    fn values(&mut self) -> Result<(), Stuck> {
        let mut step = Step::Top;
        loop {
            self.blanks();
            let opened = self.value(step)?;
            let first = if opened { self.first()? } else { None };
            step = match first {
                Some(step) => step,
                None => match self.next()? {
                    Some(step) => step,
                    None => return Ok(()),
                },
            };
        }
    }

    /// Reads one value, or the bracket that opens it. Returns whether it was a bracket.
    fn value(&mut self, step: Step<'t>) -> Result<bool, Stuck> {
        let value = match self.peek() {
            Some(b'{') => Value::Map,
            Some(b'[') => Value::List,
            Some(b'"') => Value::Text(self.string()),
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => Value::Plain(self.plain()?),
            Some(_) | None => return Err(self.broken()),
        };
        let node = self.found.nodes.len();
        if node == MAX_NODES {
            let message = "the arguments hold too many values";
            return Err(self.fault("arguments-too-many", message, FaultKind::Excess));
        }
        let opens = matches!(value, Value::Map | Value::List);
        let parent = self.open.last_mut().map_or(node, |frame| {
            frame.inside.push(node);
            frame.node
        });
        self.found.nodes.push(Node { parent, step, value });
        if opens {
            if self.open.len() == MAX_DEPTH {
                let message = "the arguments nest too deep";
                return Err(self.fault("arguments-too-deep", message, FaultKind::Excess));
            }
            self.at += 1;
            self.open.push(Frame { node, inside: Vec::new() });
        }
        Ok(opens)
    }

    /// Returns the way to the first value of what was just opened; none if it is empty.
    fn first(&mut self) -> Result<Option<Step<'t>>, Stuck> {
        self.blanks();
        if self.peek() == Some(self.closing()) {
            return Ok(None);
        }
        self.step().map(Some)
    }

    /// Closes what ends here, and returns the way to the next value; none at the end.
    fn next(&mut self) -> Result<Option<Step<'t>>, Stuck> {
        loop {
            self.blanks();
            if self.open.is_empty() {
                return if self.at < self.text.len() { Err(self.broken()) } else { Ok(None) };
            }
            let closing = self.closing();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    return self.step().map(Some);
                }
                Some(byte) if byte == closing => {
                    self.at += 1;
                    self.close();
                }
                Some(_) | None => return Err(self.broken()),
            }
        }
    }

    fn step(&mut self) -> Result<Step<'t>, Stuck> {
        if self.closing() == b']' {
            return Ok(Step::Item(self.open.last().map_or(0, |frame| frame.inside.len())));
        }
        self.blanks();
        if self.peek() != Some(b'"') {
            return Err(self.broken());
        }
        let key = self.string();
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(self.broken());
        }
        self.at += 1;
        Ok(Step::Key(key))
    }

    /// Returns the bracket that closes the innermost list or object.
    fn closing(&self) -> u8 {
        let node = self.open.last().and_then(|frame| self.found.nodes.get(frame.node));
        let is_list = node.is_some_and(|node| matches!(node.value, Value::List));
        if is_list { b']' } else { b'}' }
    }

    fn close(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        let nodes = &self.found.nodes;
        let mut keys: Vec<&str> = frame
            .inside
            .iter()
            .filter_map(|at| match &nodes.get(*at)?.step {
                Step::Key(key) => Some(&**key),
                Step::Top | Step::Item(_) => None,
            })
            .collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair.first() == pair.get(1)) {
            let message = "the same key stands twice in one object";
            self.fault("arguments-duplicate-key", message, FaultKind::Broken);
        }
    }

    /// Reads a text. What is wrong in it is noted, and reading goes on.
    fn string(&mut self) -> Cow<'t, str> {
        self.at += 1;
        let start = self.at;
        let mut out: Option<String> = None;
        let mut from = start;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(stop) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=31))
            else {
                self.at = self.text.len();
                self.broken();
                return self.taken(out, from);
            };
            self.at += stop;
            match self.peek() {
                Some(b'"') => {
                    let text = self.taken(out, from);
                    self.at += 1;
                    return text;
                }
                Some(b'\\') => {
                    let mut text = self.taken(out, from).into_owned();
                    text.push(self.escape());
                    out = Some(text);
                    from = self.at;
                }
                Some(_) | None => {
                    self.broken();
                    self.at += 1;
                }
            }
        }
    }

    /// Returns what was unescaped so far with what stands behind it as it is.
    fn taken(&self, out: Option<String>, from: usize) -> Cow<'t, str> {
        let plain = self.text.get(from..self.at).unwrap_or_default();
        match out {
            None => Cow::Borrowed(plain),
            Some(text) => Cow::Owned(text + plain),
        }
    }

    fn escape(&mut self) -> char {
        let letter = self.text.get(self.at + 1..).and_then(|rest| rest.chars().next());
        self.at += 1 + letter.map_or(0, char::len_utf8);
        match letter {
            Some(plain @ ('"' | '\\' | '/')) => plain,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => self.unicode(),
            other => {
                self.broken();
                other.unwrap_or(char::REPLACEMENT_CHARACTER)
            }
        }
    }

    /// Reads what follows `\u`, and the second half of a pair.
    fn unicode(&mut self) -> char {
        let Some(high) = self.hex() else {
            self.broken();
            return char::REPLACEMENT_CHARACTER;
        };
        let pair = (0xd800..0xdc00).contains(&high)
            && self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u"));
        if pair {
            let back = self.at;
            self.at += 2;
            match self.hex() {
                Some(low @ 0xdc00..0xe000) => {
                    let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                }
                Some(_) | None => self.at = back,
            }
        }
        char::from_u32(high).unwrap_or_else(|| {
            self.broken();
            char::REPLACEMENT_CHARACTER
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
        self.at += 4;
        Some(code)
    }

    fn plain(&mut self) -> Result<&'t str, Stuck> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let ends = |byte: u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'-' | b'.');
        let word = rest.get(..rest.bytes().position(ends).unwrap_or(rest.len()));
        let word = word.unwrap_or_default();
        let known = matches!(word, "true" | "false" | "null");
        if !known && !word.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return Err(self.broken());
        }
        self.at += word.len();
        Ok(word)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn broken(&mut self) -> Stuck {
        let message = "the arguments are no JSON, or were cut off";
        self.fault("arguments-unreadable", message, FaultKind::Broken)
    }

    fn fault(&mut self, code: &'static str, message: &'static str, kind: FaultKind) -> Stuck {
        let fault = Fault { code, message, kind, at: self.at };
        // The worst is kept, and of equals the first.
        let known = self.found.fault;
        if known.is_none_or(|known| known.kind == FaultKind::Broken && kind == FaultKind::Excess) {
            self.found.fault = Some(fault);
        }
        Stuck
    }
}
