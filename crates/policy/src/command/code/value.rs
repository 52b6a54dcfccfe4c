//! What an expression is worth, as far as it is made of strings.

use std::borrow::Cow;

use super::VALUE_DEPTH;
use super::fill::{Form, filled};
use super::names::{Bound, Names, Tail};
use super::stream::{Range, Stream};
use super::token::{Kind, Token};
use crate::command::HOLE;
use crate::shell::MAX_TEXT;

/// Stands in a text for the name of a file that was found: no `..`, no slash.
pub(super) const FOUND: char = '\u{FDD1}';

/// A folder that the code itself makes among the temporary ones.
pub(super) const MADE: &str = "/tmp/mktemp.made";

/// A text with [`HOLE`]s.
#[derive(Clone, Debug)]
pub(super) struct Value<'t> {
    pub(super) text: Cow<'t, str>,
    /// Where the text stands in the code byte for byte.
    pub(super) at: Option<usize>,
    /// Whether it is made of strings at all, or is a number.
    pub(super) sort: Sort,
}

/// What a value is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sort {
    /// Something else: a number, `None`, standard input.
    Other,
    Text,
    Unknown,
}

impl<'t> Value<'t> {
    const UNKNOWN: Self = Self { text: Cow::Borrowed("\u{FDD0}"), at: None, sort: Sort::Unknown };

    /// Returns the text if all of it is known.
    pub(super) fn known(&self) -> Option<&str> {
        (self.sort == Sort::Text && !self.text.contains([HOLE, FOUND])).then_some(&*self.text)
    }

    /// A value that is a text.
    pub(super) fn text(text: impl Into<Cow<'t, str>>) -> Self {
        Self { text: text.into(), at: None, sort: Sort::Text }
    }

    fn join(self, other: &Self, by: &str) -> Self {
        if other.text.starts_with('/') && by == "/" {
            return Self::text(other.text.clone().into_owned());
        }
        // Names that double a text again and again are not a reason to hold it.
        if self.text.len() + other.text.len() > MAX_TEXT {
            return Self::UNKNOWN;
        }
        let mut text = self.text.into_owned();
        if by != "/" || !text.ends_with('/') {
            text.push_str(by);
        }
        text.push_str(&other.text);
        Self::text(text)
    }
}

impl<'t> Names<'t> {
    /// Returns what some tokens are worth.
    pub(super) fn value(&self, stream: &Stream<'t>, (from, to): Range, depth: usize) -> Value<'t> {
        if depth > VALUE_DEPTH {
            return Value::UNKNOWN;
        }
        let mut at = from;
        let mut sum: Option<Value<'t>> = None;
        let mut by = "";
        while at < to && stream.pays(OPERAND) {
            let (operand, next) = self.operand(stream, (at, to), depth);
            sum = Some(match sum {
                Some(sum) => sum.join(&operand, by),
                None => operand,
            });
            at = next;
            let Some(token) = stream.token(at).filter(|_| at < to) else { break };
            if token.is(self.dialect.joins) {
                (by, at) = ("", at + 1);
            } else if token.is("/") && self.dialect.joins == "+" {
                (by, at) = ("/", at + 1);
            } else if matches!(token.kind, Kind::Text(..)) {
                by = "";
            } else if token.is("%") {
                let range = (at + 1, to);
                let parts = self.elements(stream, range).unwrap_or_else(|| vec![range]);
                let values = self.texts(stream, &parts, depth);
                let form = sum.as_ref().map_or("", |sum| &sum.text);
                return filled(form, Form::Percent, &values).map_or(Value::UNKNOWN, Value::text);
            } else {
                return Value::UNKNOWN;
            }
        }
        sum.unwrap_or(Value::UNKNOWN)
    }

    /// Returns the elements of a list that is written out, or the one value.
    pub(super) fn elements(&self, stream: &Stream<'t>, (from, to): Range) -> Option<Vec<Range>> {
        let close = stream.mate(from);
        let lists = stream.is(from, "[") || stream.is(from, "(");
        (lists && close + 1 == to).then(|| stream.split((from + 1, close)))
    }

    /// Returns what each of some expressions is worth as a text.
    fn texts(&self, stream: &Stream<'t>, parts: &[Range], depth: usize) -> Vec<String> {
        let value = |part: &Range| self.value(stream, *part, depth + 1);
        parts.iter().map(|part| value(part).text.into_owned()).collect()
    }

    fn operand(&self, stream: &Stream<'t>, (at, to): Range, depth: usize) -> (Value<'t>, usize) {
        let Some(token) = stream.token(at) else { return (Value::UNKNOWN, to) };
        match &token.kind {
            Kind::Text(text, place) => {
                let filled = self.filled.get(&token.start);
                let filled = filled.filter(|text| stream.pays(text.len() / BYTES));
                let text = match filled {
                    Some(text) => Value::text(text.clone()),
                    None => Value { text: text.clone(), at: *place, sort: Sort::Text },
                };
                self.postfix(stream, text, (at + 1, to), depth)
            }
            Kind::Number => (Value { sort: Sort::Other, ..Value::UNKNOWN }, at + 1),
            Kind::Sign("(")
                if self
                    .elements(stream, (at, stream.after(at)))
                    .is_some_and(|list| list.len() == 1) =>
            {
                let close = stream.mate(at);
                let inner = self.value(stream, (at + 1, close), depth + 1);
                self.postfix(stream, inner, (close + 1, to), depth)
            }
            Kind::Sign("[") => match self.joined(stream, at, depth) {
                Some(joined) => {
                    self.postfix(stream, joined, (stream.after(stream.mate(at) + 3), to), depth)
                }
                None => (Value::UNKNOWN, to),
            },
            Kind::Name(name) => match self.bounds.get(&**name) {
                Some(Bound::Text(value)) if stream.pays(value.text.len() / BYTES) => {
                    self.postfix(stream, value.clone(), (at + 1, to), depth)
                }
                Some(
                    Bound::Function
                    | Bound::Listing
                    | Bound::Path(_)
                    | Bound::Text(_)
                    | Bound::Various,
                )
                | None => self.named(stream, (at, to), depth),
            },
            Kind::Break | Kind::Pattern | Kind::Shell(_) | Kind::Sign(_) => (Value::UNKNOWN, to),
        }
    }

    /// Returns what `["a", "b"].join("/")` is worth.
    fn joined(&self, stream: &Stream<'t>, at: usize, depth: usize) -> Option<Value<'t>> {
        let close = stream.mate(at);
        let joins = stream.token(close + 1).is_some_and(Token::is_dot)
            && stream.name(close + 2) == Some("join")
            && stream.is(close + 3, "(");
        let parts = self.elements(stream, (at, close + 1)).filter(|_| joins)?;
        let by = stream.split((close + 4, stream.mate(close + 3)));
        let by = self.value(stream, *by.first()?, depth + 1);
        let by = by.known()?;
        let parts = parts.iter().map(|part| self.value(stream, *part, depth + 1));
        parts.reduce(|sum, next| sum.join(&next, by))
    }

    /// Returns what a name or a call is worth.
    fn named(&self, stream: &Stream<'t>, (at, to): Range, depth: usize) -> (Value<'t>, usize) {
        let other = Value { sort: Sort::Other, ..Value::UNKNOWN };
        let chain = self.chain(stream, at, depth + 1);
        let end = match chain.tail {
            Tail::Call((_, close)) => close + 1,
            Tail::Dynamic => stream.after(chain.end),
            Tail::None => chain.end,
        };
        let list = match chain.tail {
            Tail::Call(args) => stream.split(args),
            Tail::Dynamic | Tail::None => Vec::new(),
        };
        let values = || list.iter().map(|part| self.value(stream, *part, depth + 1));
        let path = match chain.path.rsplit_once('.') {
            Some(("process.env", "HOME")) => "HOME",
            Some((_, name)) => name,
            None => &chain.path,
        };
        let called = matches!(chain.tail, Tail::Call(_));
        let value = match path {
            "HOME" | "homedir" => Value::text("~"),
            "home" if called && chain.path.contains("Path") => Value::text("~"),
            "home" if chain.path == "Dir.home" => Value::text("~"),
            "getpwuid" | "getpwnam" if called => Value::text("~"),
            "None" | "null" | "nil" | "stdin" | "stdout" | "stderr" | "STDIN" | "STDOUT"
            | "STDERR" => other,
            "environ" | "ENV" | "getenv" | "env" => {
                // Not by evaluating: a subscript of a subscript would cost twice as much each time.
                let first = stream.token(chain.end + 1);
                let home = matches!(first.map(|token| &token.kind), Some(Kind::Text(text, _)) if text == "HOME");
                if home { Value::text("~") } else { Value::UNKNOWN }
            }
            "Path" | "PurePath" | "PosixPath" | "Pathname" | "join" | "resolve" | "normpath"
            | "URI" | "URL"
                if called && !list.is_empty() =>
            {
                values().reduce(|sum, next| sum.join(&next, "/")).unwrap_or(Value::UNKNOWN)
            }
            "mkdtemp" if called && list.is_empty() && chain.path == "tempfile.mkdtemp" => {
                Value::text(MADE)
            }
            "expandvars" if called && !list.is_empty() => {
                let value = values().next().unwrap_or(Value::UNKNOWN);
                match value.sort {
                    Sort::Text => Value::text(of_variables(&value.text)),
                    Sort::Other | Sort::Unknown => value,
                }
            }
            "expanduser" | "expand_path" | "abspath" | "realpath" | "str" | "fspath" | "String"
            | "b"
                if called && !list.is_empty() =>
            {
                values().next().unwrap_or(Value::UNKNOWN)
            }
            _ => Value::UNKNOWN,
        };
        if value.sort == Sort::Text {
            return self.postfix(stream, value, (end, to), depth);
        }
        (value, end)
    }

    /// Follows what is done to a text.
    fn postfix(
        &self,
        stream: &Stream<'t>,
        value: Value<'t>,
        (at, to): Range,
        depth: usize,
    ) -> (Value<'t>, usize) {
        if at >= to {
            return (value, at);
        }
        let Some(token) = stream.token(at) else { return (value, at) };
        if stream.is(at, "[") {
            return (Value::UNKNOWN, stream.after(at));
        }
        let member = stream.name(at + 1).filter(|_| token.is_dot());
        let Some(member) = member else { return (value, at) };
        let call = stream.is(at + 2, "(");
        let args = (at + 3, stream.mate(at + 2));
        let end = if call { stream.after(at + 2) } else { at + 2 };
        let value = match member {
            "decode" | "encode" | "strip" | "trim" | "freeze" | "to_s" | "toString"
            | "absolute" | "resolve" | "expanduser" | "to_path" | "chomp" | "pw_dir"
                if !call || args.0 >= args.1 || member.ends_with("code") =>
            {
                value
            }
            "format" => {
                let values = self.texts(stream, &stream.split(args), depth);
                match filled(&value.text, Form::Braces, &values) {
                    Some(text) => Value::text(text),
                    None => return (Value::UNKNOWN, end),
                }
            }
            "join" | "joinpath" if call => {
                let list = stream.split(args);
                let inner = list.first().and_then(|first| self.elements(stream, *first));
                match inner.filter(|_| member == "join") {
                    Some(inner) => {
                        let parts = inner.iter().map(|part| self.value(stream, *part, depth + 1));
                        let by = value.text.clone();
                        parts.reduce(|sum, next| sum.join(&next, &by)).unwrap_or(Value::text(""))
                    }
                    None if member == "joinpath" => list
                        .iter()
                        .map(|part| self.value(stream, *part, depth + 1))
                        .fold(value, |sum, next| sum.join(&next, "/")),
                    None => Value::UNKNOWN,
                }
            }
            "parent" => Value::UNKNOWN,
            _ => return (Value::UNKNOWN, end),
        };
        if depth > VALUE_DEPTH {
            return (Value::UNKNOWN, to);
        }
        self.postfix(stream, value, (end, to), depth + 1)
    }
}

/// Puts the home folder for `$HOME` in front, and what nobody knows for other variables.
fn of_variables(text: &str) -> String {
    let home = ["$HOME", "${HOME}"].iter().find_map(|home| text.strip_prefix(home));
    let home = home.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut out = home.map_or("", |_| "~").to_owned();
    let mut parts = home.unwrap_or(text).split('$');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        out.push(HOLE);
        let end = match part.starts_with('{') {
            true => part.find('}').map(|close| close + 1),
            false => part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_'),
        };
        out.push_str(end.and_then(|end| part.get(end..)).unwrap_or_default());
    }
    out
}

/// What looking at an operand costs, in tokens.
const OPERAND: usize = 4;

/// How many bytes are copied for the price of a token.
const BYTES: usize = 16;

/// Returns whether a name belongs to what makes text from other text that nobody can read.
pub(super) fn decodes(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let whole = [
        "chr",
        "pack",
        "ord",
        "atob",
        "rot13",
        "str_rot13",
        "hex2bin",
        "bytes",
        "bytearray",
        "reversed",
        "strrev",
        "codecs",
        "buffer",
    ];
    let parts = [
        "b64",
        "base64",
        "fromhex",
        "unhexlify",
        "decompress",
        "inflate",
        "fromcharcode",
        "unpack",
        "gunzip",
    ];
    whole.contains(&&*name) || parts.iter().any(|part| name.contains(part))
}

impl Token<'_> {
    /// Returns whether the token is a string.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text(..))
    }
}
