//! The notation of profiles: lists in parentheses, symbols, strings, `;` comments.

use crate::text::{Diagnostic, MAX_DEPTH, MAX_NODES, MAX_TEXT, Source, Span, visible};

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expr {
    pub(super) form: Form,
    pub(super) span: Span,
}

/// What can stand in a profile.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// `#t` or `#f`.
    Bool,
    List(Vec<Expr>),
    Number(Box<str>),
    Symbol(Box<str>),
    Text(Box<str>),
}

impl Expr {
    /// Returns what it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match &self.form {
            Form::Bool => "a truth value",
            Form::List(_) => "a list",
            Form::Number(_) => "a number",
            Form::Symbol(_) => "a word",
            Form::Text(_) => "a string",
        }
    }

    /// Returns the word, if this is one.
    pub(super) fn symbol(&self) -> Option<&str> {
        match &self.form {
            Form::Symbol(word) => Some(word),
            Form::Bool | Form::List(_) | Form::Number(_) | Form::Text(_) => None,
        }
    }

    /// Returns the string, if this is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.form {
            Form::Text(text) => Some(text),
            Form::Bool | Form::List(_) | Form::Number(_) | Form::Symbol(_) => None,
        }
    }

    /// Returns the word a list starts with, and the rest of it.
    pub(super) fn call(&self) -> Option<(&str, &[Self])> {
        match &self.form {
            Form::List(items) => {
                let (head, rest) = items.split_first()?;
                Some((head.symbol()?, rest))
            }
            Form::Bool | Form::Number(_) | Form::Symbol(_) | Form::Text(_) => None,
        }
    }
}

/// Reads a whole profile into its expressions.
pub(super) fn parse(source: &Source) -> Result<Vec<Expr>, Diagnostic> {
    check_text(source)?;
    let mut parser = Parser { source, at: 0, count: 0 };
    let mut found = Vec::new();
    while let Some(expr) = parser.next(0)? {
        found.push(expr);
    }
    if let Some(')') = parser.peek() {
        let message = "this `)` closes nothing".into();
        return Err(parser.problem("stray-parenthesis", message, parser.at, parser.at + 1));
    }
    if found.is_empty() {
        let problem = Diagnostic::new(source, "empty", "the profile says nothing".into());
        return Err(problem.hint("a profile starts with (version 1)"));
    }
    Ok(found)
}

/// Refuses what no profile may contain.
fn check_text(source: &Source) -> Result<(), Diagnostic> {
    let text = source.text();
    if text.len() > MAX_TEXT {
        let message = format!("the text is {} bytes long, the limit is {MAX_TEXT}", text.len());
        return Err(Diagnostic::new(source, "too-long", message));
    }
    let unwelcome = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    match text.char_indices().find(|&(_, c)| unwelcome(c)) {
        Some((at, found)) => {
            let message = format!("control character U+{:04X} in the text", u32::from(found));
            let span = Span::new(at, at + found.len_utf8());
            Err(Diagnostic::new(source, "control-character", message).at(span))
        }
        None => Ok(()),
    }
}

struct Parser<'a> {
    source: &'a Source,
    at: usize,
    count: usize,
}

impl Parser<'_> {
    /// Reads the next expression; none at the end and before a `)`.
    fn next(&mut self, depth: usize) -> Result<Option<Expr>, Diagnostic> {
        self.skip_blanks();
        let start = self.at;
        let Some(c) = self.peek().filter(|&c| c != ')') else { return Ok(None) };
        self.count += 1;
        if self.count > MAX_NODES {
            let message = format!("the profile has more than {MAX_NODES} parts");
            return Err(self.problem("too-many-values", message, start, start + 1));
        }
        let form = match c {
            '(' if depth == MAX_DEPTH => {
                let message = format!("lists nest deeper than {MAX_DEPTH} levels");
                return Err(self.problem("too-deep", message, start, start + 1));
            }
            '(' => self.list(depth)?,
            '"' => {
                self.bump();
                self.string(start)?
            }
            '#' if self.rest().starts_with("#\"") => self.raw(start)?,
            _ => self.word(start)?,
        };
        Ok(Some(Expr { form, span: Span::new(start, self.at) }))
    }

    fn list(&mut self, depth: usize) -> Result<Form, Diagnostic> {
        let start = self.at;
        self.bump();
        let mut items = Vec::new();
        while let Some(item) = self.next(depth + 1)? {
            items.push(item);
        }
        if self.bump() == Some(')') {
            return Ok(Form::List(items));
        }
        let message = "this `(` is never closed".into();
        let problem = self.problem("unclosed-list", message, start, start + 1);
        Err(problem.expected("expected a `)` before the end"))
    }

    /// Reads a string whose first quote has been read.
    fn string(&mut self, start: usize) -> Result<Form, Diagnostic> {
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.bump() {
                Some('"') => return Ok(Form::Text(text.into())),
                Some('\\') => match self.bump() {
                    Some(c @ ('"' | '\\')) => text.push(c),
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some(c) => {
                        let message = format!(
                            "there is no escape `\\{}`",
                            visible(c.encode_utf8(&mut [0; 4]))
                        );
                        let problem = self.problem("escape", message, at, self.at);
                        return Err(problem
                            .hint("known: \\\" \\\\ \\n \\r \\t; in #\"…\" a backslash is one"));
                    }
                    None => return Err(self.unclosed(start)),
                },
                Some(c) => text.push(c),
                None => return Err(self.unclosed(start)),
            }
        }
    }

    /// Reads `#"…"`, in which a backslash is a backslash.
    fn raw(&mut self, start: usize) -> Result<Form, Diagnostic> {
        self.at += 2;
        let body = self.at;
        let Some(length) = self.rest().find('"') else { return Err(self.unclosed(start)) };
        self.at += length + 1;
        let text = &self.source.text()[body..body + length];
        if text.ends_with('\\') {
            let message = "whether `\\\"` ends a #\"…\" string is not certain".into();
            let problem = self.problem("escape", message, self.at - 2, self.at);
            return Err(problem.hint("write it as a plain string, with \\\\ and \\\""));
        }
        Ok(Form::Text(text.into()))
    }

    fn word(&mut self, start: usize) -> Result<Form, Diagnostic> {
        let end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | ';');
        let length = self.rest().find(end).unwrap_or(self.rest().len());
        self.at += length;
        let word = &self.source.text()[start..self.at];
        let plain = |c: char| c.is_ascii_alphanumeric() || "*-_+./:<>=?!$%&^~@".contains(c);
        match word {
            "#t" | "#f" => Ok(Form::Bool),
            _ if word.parse::<f64>().is_ok()
                && word.starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
            {
                Ok(Form::Number(word.into()))
            }
            _ if !word.is_empty() && word.chars().all(plain) => Ok(Form::Symbol(word.into())),
            _ => {
                let message = format!("`{}` is not part of the profile language", visible(word));
                Err(self.problem("notation", message, start, self.at.max(start + 1)))
            }
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            if !self.rest().starts_with(';') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn rest(&self) -> &str {
        &self.source.text()[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn unclosed(&self, start: usize) -> Diagnostic {
        let message = "this string is never closed".into();
        self.problem("unclosed-string", message, start, start + 1)
    }

    fn problem(&self, code: &'static str, message: String, from: usize, to: usize) -> Diagnostic {
        Diagnostic::new(self.source, code, message).at(Span::new(from, to))
    }
}
