//! JSON, as RFC 8259 has it: no comments, no trailing commas, no bare words.

use super::source::{Source, Span};
use super::{Diagnostic, Entry, MAX_DEPTH, MAX_NODES, Node, Value};
use super::{check_keys, check_text, too_deep, too_many};

/// Reads one JSON value and nothing after it.
///
/// # Errors
///
/// Names the first place at which the text is not JSON.
pub fn parse(source: &Source) -> Result<Node, Diagnostic> {
    check_text(source)?;
    let mut parser = Parser { source, text: source.text(), at: 0, depth: 0, nodes: 0 };
    if parser.text.starts_with('\u{feff}') {
        parser.at = '\u{feff}'.len_utf8();
    }
    let node = parser.value()?;
    parser.blanks();
    if parser.at < parser.text.len() {
        return Err(parser.wrong("expected nothing after the value"));
    }
    Ok(node)
}

struct Parser<'a> {
    source: &'a Source,
    text: &'a str,
    at: usize,
    depth: usize,
    nodes: usize,
}

impl Parser<'_> {
    fn value(&mut self) -> Result<Node, Diagnostic> {
        self.blanks();
        let start = self.at;
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(too_many(self.source, Span::new(start, start + 1)));
        }
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::map)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z') => self.word()?,
            _ => return Err(self.wrong("expected a value")),
        };
        Ok(Node { value, span: Span::new(start, self.at) })
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Value, Diagnostic>,
    ) -> Result<Value, Diagnostic> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep(self.source, Span::new(self.at, self.at + 1)));
        }
        self.depth += 1;
        self.at += 1; // the opening bracket
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self) -> Result<Value, Diagnostic> {
        let mut items = Vec::new();
        if self.takes(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.takes(b']') {
                return Ok(Value::List(items));
            }
            if !self.takes(b',') {
                return Err(self.wrong("expected `,` or `]`"));
            }
        }
    }

    fn map(&mut self) -> Result<Value, Diagnostic> {
        let mut entries: Vec<Entry> = Vec::new();
        if self.takes(b'}') {
            return Ok(Value::Map(entries));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("expected a key in double quotes"));
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = Span::new(start, self.at);
            if !self.takes(b':') {
                return Err(self.wrong("expected `:`"));
            }
            let value = self.value()?;
            self.nodes += 1;
            entries.push(Entry { key, key_span, value });
            if self.takes(b'}') {
                check_keys(self.source, &entries)?;
                return Ok(Value::Map(entries));
            }
            if !self.takes(b',') {
                return Err(self.wrong("expected `,` or `}`"));
            }
        }
    }

    fn string(&mut self) -> Result<Box<str>, Diagnostic> {
        let open = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = rest.find(['"', '\\', '\n', '\r', '\t']) else {
                self.at = open;
                return Err(self.wrong("expected a closing `\"` for this text"));
            };
            out.push_str(&rest[..stop]);
            self.at += stop;
            match rest.as_bytes()[stop] {
                b'"' => {
                    self.at += 1;
                    return Ok(out.into());
                }
                b'\\' => out.push(self.escape()?),
                _ => return Err(self.wrong("expected no raw tab or line break inside quotes")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Diagnostic> {
        let wrong = |parser: &Self| {
            parser.wrong("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
        };
        let Some(&letter) = self.text.as_bytes().get(self.at + 1) else { return Err(wrong(self)) };
        let plain = match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(wrong(self)),
        };
        self.at += 2;
        Ok(plain)
    }

    /// Reads `\uXXXX`, and the pair of them that stands for one character above U+FFFF.
    fn unicode(&mut self) -> Result<char, Diagnostic> {
        let lone = "expected a whole character: this is half of a surrogate pair";
        let high = self.hex4(self.at)?;
        if !(0xd800..0xe000).contains(&high) {
            self.at += 6;
            return char::from_u32(high).ok_or_else(|| self.wrong(lone));
        }
        if high >= 0xdc00 || !self.text[self.at + 6..].starts_with("\\u") {
            return Err(self.wrong(lone));
        }
        let low = self.hex4(self.at + 6)?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(self.wrong(lone));
        }
        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        self.at += 12;
        char::from_u32(code).ok_or_else(|| self.wrong(lone))
    }

    fn hex4(&self, backslash: usize) -> Result<u32, Diagnostic> {
        let digits = self.text.as_bytes().get(backslash + 2..backslash + 6);
        digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.wrong("expected four hexadecimal digits after \\u"))
    }

    fn number(&mut self) -> Result<Value, Diagnostic> {
        let start = self.at;
        let stop = |b: &u8| !matches!(b, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.' | b'_');
        let rest = &self.text[start..];
        let text = &rest[..rest.as_bytes().iter().position(stop).unwrap_or(rest.len())];
        if !is_number(text) {
            return Err(self.wrong("expected a number, such as 10 or 0.5"));
        }
        self.at += text.len();
        Ok(Value::Number(text.into()))
    }

    fn word(&mut self) -> Result<Value, Diagnostic> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if let Some(rest) = self.text[self.at..].strip_prefix(word)
                && !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
            {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("expected a value; text stands in double quotes"))
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Complains about the character at hand.
    fn wrong(&self, expected: &str) -> Diagnostic {
        let Some(found) = self.text[self.at..].chars().next() else {
            let end = self.text.trim_end().len();
            return Diagnostic::new(self.source, "json", "the text ends too early".into())
                .at(Span::new(end.saturating_sub(1), end))
                .expected(expected);
        };
        let wrong = Diagnostic::new(self.source, "json", "this is not JSON".into())
            .at(Span::new(self.at, self.at + found.len_utf8()))
            .expected(expected);
        match found {
            '/' | '#' => wrong.hint("JSON has no comments; a `.yaml` file may have them"),
            ']' | '}' => wrong.hint("JSON has no comma after the last item"),
            '\'' => wrong.hint("JSON text stands in double quotes"),
            _ => wrong,
        }
    }
}

/// Tells the grammar of RFC 8259 section 6.
pub(super) fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}
