//! Tokens of a language that looks like C, and the lexer that the languages share.
//!
//! A language brings one function, [`Special`], for what is its own: strings, comments, regular
//! expressions. Code inside a string (`"#{…}"`) becomes a stream of its own.

use std::borrow::Cow;

use super::DEPTH;
use crate::command::HOLE;

/// One token of some code.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a token is.
#[derive(Clone, Debug)]
pub(super) enum Kind<'t> {
    /// The end of a line or of a statement.
    Break,
    /// A name, a word of the language or a variable with its sigil.
    Name(Cow<'t, str>),
    Number,
    /// A regular expression.
    Pattern,
    /// Shell text that is run where it stands.
    Shell(Cow<'t, str>),
    Sign(&'t str),
    /// A string, and where its text begins if it stands there byte for byte.
    Text(Cow<'t, str>, Option<usize>),
}

/// The sign that joins strings where a dot does, so that it is not taken for a member's dot.
pub(super) const JOIN: &str = " . ";

/// The code cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Unread;

/// Reads one token that is special to a language, or `false` if there is none.
pub(super) type Special = for<'t> fn(&mut Lexer<'t>, &mut Vec<Token<'t>>) -> Result<bool, Unread>;

/// Tells what a backslash means in a string.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Escapes {
    /// All the usual escapes.
    Full,
    /// Stays, and protects the next character from being the closing quote.
    Kept,
    /// Escapes only itself and the quote.
    Plain,
}

/// Tells which code a string may hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Holes {
    None,
    /// `{…}`, doubled to stand for itself.
    Brace,
    /// `${…}`.
    Dollar,
    /// `#{…}`.
    Hash,
    /// `$x`, `@x`, `@{[…]}`, `${\ …}`.
    Perl,
    /// `$x`, `{$…}`, `${…}`.
    Php,
}

/// How a string ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote<'q> {
    /// What opens it again inside, for brackets.
    pub(super) open: Option<char>,
    /// What closes it; empty for the end of the text.
    pub(super) close: &'q str,
    pub(super) escapes: Escapes,
    pub(super) holes: Holes,
}

/// Where code stands in a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Its tokens, if it is more than a variable.
    pub(super) stream: Option<usize>,
}

/// Turns text into streams of tokens.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) pos: usize,
    pub(super) streams: Vec<Vec<Token<'t>>>,
    /// Code that stands in strings.
    pub(super) fills: Vec<Fill>,
    /// Where reading goes on after the line, behind the bodies of its here-documents.
    pub(super) resume: Option<usize>,
    /// The token before the bracket that was closed last.
    pub(super) before_closed: Option<usize>,
    /// Whether something inside a pattern or a string is evaluated as code that is not read.
    pub(super) evaluates: bool,
    pub(super) documents: usize,
    /// Bytes that were read a second time, as code.
    pub(super) reread: usize,
    special: Special,
    depth: usize,
}

impl<'t> Lexer<'t> {
    /// Reads all of `text`.
    pub(super) fn read(text: &'t str, special: Special) -> Result<Self, Unread> {
        let mut lexer = Self {
            text,
            pos: 0,
            streams: Vec::new(),
            fills: Vec::new(),
            resume: None,
            before_closed: None,
            evaluates: false,
            documents: 0,
            reread: 0,
            special,
            depth: 0,
        };
        lexer.stream(None)?;
        lexer.fills.sort_by_key(|fill| fill.start);
        Ok(lexer)
    }

    /// Reads code up to the closing bracket `until`, which is consumed, as a stream of its own.
    pub(super) fn stream(&mut self, until: Option<char>) -> Result<(), Unread> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Unread);
        }
        let mut out = Vec::with_capacity(16);
        let mut opens: Vec<usize> = Vec::new();
        loop {
            let Some(next) = self.peek() else {
                if until.is_some() {
                    return Err(Unread);
                }
                break;
            };
            if next == '\n' {
                let start = self.pos;
                self.pos = self.resume.take().unwrap_or(self.pos + 1);
                let inside = opens.last().and_then(|open| out.get(*open));
                if !inside.is_some_and(|open: &Token<'_>| open.is("(") || open.is("[")) {
                    out.push(Token { kind: Kind::Break, start, end: start + 1 });
                }
                continue;
            }
            if next.is_whitespace() {
                self.pos += next.len_utf8();
                continue;
            }
            if opens.is_empty() && until == Some(next) {
                self.pos += next.len_utf8();
                break;
            }
            if (self.special)(self, &mut out)? {
                continue;
            }
            self.plain(next, &mut out);
            match next {
                '(' | '[' | '{' => opens.push(out.len() - 1),
                ')' | ']' | '}' => self.before_closed = opens.pop().and_then(|i| i.checked_sub(1)),
                _ => {}
            }
        }
        self.depth -= 1;
        self.streams.push(out);
        Ok(())
    }

    /// Reads a string whose opening quote was consumed.
    pub(super) fn quoted(&mut self, quote: &Quote<'_>) -> Result<Kind<'t>, Unread> {
        let start = self.pos;
        let mut owned: Option<String> = None;
        let mut nested = 0_usize;
        loop {
            let rest = self.rest();
            let ends = match quote.close {
                "" => rest.is_empty(),
                close => rest.starts_with(close),
            };
            if nested == 0 && ends {
                let verbatim = self.text.get(start..self.pos).unwrap_or_default();
                self.pos += quote.close.len();
                return Ok(match owned {
                    Some(text) => Kind::Text(Cow::Owned(text), None),
                    None => Kind::Text(Cow::Borrowed(verbatim), Some(start)),
                });
            }
            let Some(next) = rest.chars().next() else { return Err(Unread) };
            // A here-document waits behind this line: which text is whose, nobody should guess.
            if next == '\n' && self.resume.is_some() {
                return Err(Unread);
            }
            let at = self.pos;
            let piece = self.piece(next, quote)?;
            if let Some(piece) = piece {
                let sofar = self.text.get(start..at).unwrap_or_default();
                owned.get_or_insert_with(|| sofar.to_owned()).push_str(&piece);
                continue;
            }
            if Some(next) == quote.open {
                nested += 1;
            } else if nested > 0 && quote.close.starts_with(next) {
                nested -= 1;
            }
            self.pos += next.len_utf8();
            if let Some(text) = &mut owned {
                text.push(next);
            }
        }
    }

    /// Returns what `next` stands for if that is not itself, and consumes it.
    fn piece(&mut self, next: char, quote: &Quote<'_>) -> Result<Option<Cow<'t, str>>, Unread> {
        let rest = self.rest();
        if next == '\\' {
            let Some(escaped) = rest.chars().nth(1) else { return Err(Unread) };
            let is_quote = quote.close.starts_with(escaped) || Some(escaped) == quote.open;
            // `f"\{x}"` keeps its backslash and evaluates `x` all the same.
            if quote.holes == Holes::Brace && escaped == '{' {
                self.pos += 1;
                return Ok(Some("\\".into()));
            }
            match quote.escapes {
                Escapes::Full => return self.escape().map(Some),
                Escapes::Plain if is_quote || escaped == '\\' => {
                    self.pos += 1 + escaped.len_utf8();
                    return Ok(Some(escaped.to_string().into()));
                }
                Escapes::Kept => {
                    let piece = rest.get(..1 + escaped.len_utf8()).unwrap_or_default();
                    self.pos += piece.len();
                    return Ok(Some(piece.into()));
                }
                Escapes::Plain => {}
            }
            return Ok(None);
        }
        let after = rest.get(1..).and_then(|rest| rest.chars().next());
        let names = |c: char| c.is_alphabetic() || c == '_';
        let code = match (quote.holes, next, after) {
            (Holes::Brace, '{', Some('{')) | (Holes::Brace, '}', Some('}')) => {
                self.pos += 2;
                return Ok(Some(next.to_string().into()));
            }
            (Holes::Brace, '{', _) => 1,
            (Holes::Dollar | Holes::Php | Holes::Perl, '$', Some('{'))
            | (Holes::Hash, '#', Some('{'))
            | (Holes::Perl, '@', Some('{')) => 2,
            (Holes::Php, '{', Some('$')) => 1,
            (Holes::Hash, '#', Some('@' | '$')) => {
                self.pos += 2;
                self.skip_name();
                return Ok(Some(HOLE.to_string().into()));
            }
            (Holes::Php, '$', Some(c)) if names(c) => {
                let start = self.pos;
                self.pos += 1;
                self.skip_name();
                self.fills.push(Fill { start, end: self.pos, stream: None });
                return Ok(Some(HOLE.to_string().into()));
            }
            (Holes::Perl, '$' | '@', Some(c))
                if names(c)
                    || c == ':'
                    || (next == '$' && (c.is_ascii_digit() || c == '$' || c == '&')) =>
            {
                let start = self.pos;
                self.pos += 1 + c.len_utf8();
                self.skip_name();
                self.subscripts()?;
                self.fills.push(Fill { start, end: self.pos, stream: None });
                return Ok(Some(HOLE.to_string().into()));
            }
            _ => return Ok(None),
        };
        let start = self.pos;
        self.pos += code;
        self.stream(Some('}'))?;
        let stream = self.streams.len().checked_sub(1);
        self.fills.push(Fill { start, end: self.pos, stream });
        Ok(Some(HOLE.to_string().into()))
    }

    /// Reads the subscripts behind a variable in a Perl string: they hold code.
    fn subscripts(&mut self) -> Result<(), Unread> {
        loop {
            let arrow = self.rest().starts_with("->");
            let open = self.rest().chars().nth(if arrow { 2 } else { 0 });
            let close = match open {
                Some('{') => '}',
                Some('[') => ']',
                _ => return Ok(()),
            };
            // `[` may begin a character class of a pattern; only an index counts.
            let index = self.rest().get(if arrow { 3 } else { 1 }..).unwrap_or_default();
            if close == ']'
                && !index.starts_with(|c: char| c == '$' || c == '-' || c.is_ascii_digit())
            {
                return Ok(());
            }
            self.pos += if arrow { 3 } else { 1 };
            self.stream(Some(close))?;
        }
    }

    fn plain(&mut self, next: char, out: &mut Vec<Token<'t>>) {
        let start = self.pos;
        let kind = if next.is_ascii_digit() {
            let more = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let rest = self.rest();
            let mut chars = rest.char_indices().peekable();
            let mut len = rest.len();
            while let Some((at, c)) = chars.next() {
                // `1..2` is two numbers.
                let range = c == '.' && chars.peek().is_some_and(|(_, next)| *next == '.');
                if range || !more(c) {
                    len = at;
                    break;
                }
            }
            self.pos += len;
            Kind::Number
        } else if next.is_alphanumeric() || next == '_' {
            self.skip_name();
            Kind::Name(self.text.get(start..self.pos).unwrap_or_default().into())
        } else {
            let rest = self.rest();
            // Most signs are one character, and a bracket or a blank behind them tells so.
            let longer = rest.as_bytes().get(1).is_some_and(|next| b"=*>.<&|:+-~?".contains(next));
            let sign = SIGNS.iter().find(|sign| longer && rest.starts_with(**sign));
            self.pos += sign.map_or(next.len_utf8(), |sign| sign.len());
            if next == ';' {
                Kind::Break
            } else {
                Kind::Sign(self.text.get(start..self.pos).unwrap_or_default())
            }
        };
        // A name of no letters cannot be: `is_alphanumeric` was asked.
        self.pos = self.pos.max(start + 1);
        out.push(Token { kind, start, end: self.pos });
    }

    pub(super) fn skip_name(&mut self) {
        let rest = self.rest();
        self.pos += rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    }

    pub(super) fn skip_line(&mut self) {
        let rest = self.rest();
        self.pos += rest.find('\n').unwrap_or(rest.len());
    }

    /// Goes behind the next `end`, or fails.
    pub(super) fn skip_past(&mut self, end: &str) -> Result<(), Unread> {
        let found = self.rest().find(end).ok_or(Unread)?;
        self.pos += found + end.len();
        Ok(())
    }

    /// Reads a dot that joins strings.
    pub(super) fn join(&mut self, out: &mut Vec<Token<'t>>) -> bool {
        let rest = self.rest();
        if !rest.starts_with('.') || rest.starts_with("..") || rest.starts_with(".=") {
            return false;
        }
        out.push(Token { kind: Kind::Sign(JOIN), start: self.pos, end: self.pos + 1 });
        self.pos += 1;
        true
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads a here-document that ends with the line `label`, from the line after this one on.
    pub(super) fn document(
        &mut self,
        label: &str,
        indented: bool,
        quote: &Quote<'_>,
    ) -> Result<Kind<'t>, Unread> {
        self.documents += 1;
        if self.documents > DEPTH {
            return Err(Unread);
        }
        let line_end = self.rest().find('\n').map(|at| self.pos + at + 1);
        let from = self.resume.or(line_end).ok_or(Unread)?;
        let mut at = from;
        loop {
            let rest = self.text.get(at..).filter(|rest| !rest.is_empty()).ok_or(Unread)?;
            let line = rest.lines().next().unwrap_or_default();
            let shown = if indented { line.trim_start() } else { line };
            if shown
                .strip_prefix(label)
                .is_some_and(|tail| !tail.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            {
                let after = at + line.len() - shown.len() + label.len();
                let whole = (self.text, self.pos);
                (self.text, self.pos) = (self.text.get(..at).unwrap_or_default(), from);
                self.resume = None;
                let body = self.quoted(quote);
                (self.text, self.pos) = whole;
                // What follows the label on its line is code again (PHP), or nothing.
                self.resume = Some(after);
                return body;
            }
            at += rest.find('\n').map_or(rest.len(), |end| end + 1);
        }
    }
}

impl<'t> Token<'t> {
    pub(super) fn is(&self, wanted: &str) -> bool {
        match &self.kind {
            Kind::Name(text) => text == wanted,
            Kind::Sign(text) => *text == wanted,
            Kind::Break | Kind::Number | Kind::Pattern | Kind::Shell(_) | Kind::Text(..) => false,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        if let Kind::Name(text) = &self.kind { Some(text) } else { None }
    }

    pub(super) fn is_sign(&self, wanted: &[&str]) -> bool {
        matches!(self.kind, Kind::Sign(sign) if wanted.contains(&sign))
    }

    /// Returns whether a member's name follows.
    pub(super) fn is_dot(&self) -> bool {
        self.is_sign(&[".", "?.", "->", "::"])
    }

    pub(super) fn opens(&self) -> bool {
        self.is_sign(&["(", "[", "{"])
    }

    pub(super) fn closes(&self) -> bool {
        self.is_sign(&[")", "]", "}"])
    }

    pub(super) fn is_break(&self) -> bool {
        matches!(self.kind, Kind::Break)
    }

    /// Returns whether a value ends here, so that a slash behind it divides.
    pub(super) fn ends_value(&self) -> bool {
        match &self.kind {
            Kind::Name(_) | Kind::Number | Kind::Pattern | Kind::Shell(_) | Kind::Text(..) => true,
            Kind::Sign(sign) => matches!(*sign, ")" | "]" | "}"),
            Kind::Break => false,
        }
    }
}

const SIGNS: [&str; 34] = [
    "===", "!==", "**=", "<=>", "...", "<<=", ">>=", "&&=", "||=", "==", "!=", "<=", ">=", "=>",
    "->", "::", "?.", ":=", "&&", "||", "+=", "-=", ".=", "*=", "/=", "|=", "%=", "??", "++", "--",
    "=~", "!~", "..", "|&",
];
