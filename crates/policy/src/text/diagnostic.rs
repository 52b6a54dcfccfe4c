//! A problem with a text: what, where, what was expected, what to do.

use std::fmt;

use super::source::{Place, Source, Span};

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Severity {
    /// The text cannot be used.
    Error,
    /// The text can be used, but perhaps not as its author meant.
    Warning,
}

/// What is wrong with a policy text, told the way a compiler does.
///
/// `Display` renders the whole screen: heading, place, line, caret, hint. Everything that comes
/// from the text is made [`visible`] first, so a policy cannot repaint the terminal it is
/// complained about on.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    parts: Box<Parts>,
}

#[derive(Clone, Debug, PartialEq)]
struct Parts {
    severity: Severity,
    code: &'static str,
    message: String,
    source: Source,
    span: Option<Span>,
    expected: Option<String>,
    hint: Option<String>,
}

impl Diagnostic {
    /// Reports an error somewhere in `source`.
    pub fn new(source: &Source, code: &'static str, message: String) -> Self {
        let parts = Parts {
            severity: Severity::Error,
            code,
            message,
            source: source.clone(),
            span: None,
            expected: None,
            hint: None,
        };
        Self { parts: Box::new(parts) }
    }

    /// Adds where it is.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.parts.span = Some(span);
        self
    }

    /// Adds what was expected there; it stands behind the caret.
    #[must_use]
    pub fn expected(mut self, what: impl Into<String>) -> Self {
        self.parts.expected = Some(what.into());
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.parts.hint = Some(hint.into());
        self
    }

    /// Lowers the weight: the text remains usable.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.parts.severity = Severity::Warning;
        self
    }

    /// Returns how much it weighs.
    pub fn severity(&self) -> Severity {
        self.parts.severity
    }

    /// Returns a name that never changes, for tests, programs and the manual.
    pub fn code(&self) -> &'static str {
        self.parts.code
    }

    /// Returns the fact, in one line.
    pub fn message(&self) -> &str {
        &self.parts.message
    }

    /// Returns the name of the text.
    pub fn file(&self) -> &str {
        self.parts.source.shown()
    }

    /// Returns the line and column, if the problem has a place.
    pub fn place(&self) -> Option<Place> {
        self.parts.span.map(|span| self.parts.source.place(span.start()))
    }

    /// Returns what was expected there.
    pub fn expectation(&self) -> Option<&str> {
        self.parts.expected.as_deref()
    }

    /// Returns what to do about it, when we know.
    pub fn advice(&self) -> Option<&str> {
        self.parts.hint.as_deref()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = match self.parts.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(f, "{heading}[{}]: {}", self.parts.code, visible_lines(&self.parts.message))?;
        let file = visible(self.parts.source.shown());
        let Some(span) = self.parts.span else {
            write!(f, "  --> {file}")?;
            if let Some(expected) = &self.parts.expected {
                write!(f, "\n   = {}", visible_lines(expected))?;
            }
            return self.write_hint(f);
        };
        let place = self.parts.source.place(span.start());
        writeln!(f, "  --> {file}:{place}")?;
        let (text, blanks, carets) = self.excerpt(span);
        let gutter = place.line.to_string().len().max(2);
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{:>gutter$} | {text}", place.line)?;
        write!(f, "{:gutter$} | {:blanks$}{}", "", "", "^".repeat(carets))?;
        if let Some(expected) = &self.parts.expected {
            write!(f, " {}", visible_lines(expected))?;
        }
        self.write_hint(f)
    }
}

/// How many characters of a line are shown around the caret.
const EXCERPT: usize = 96;

impl Diagnostic {
    /// Returns the line made visible, and the caret's offset and width in it. Long lines are cut to
    /// the part around the caret.
    fn excerpt(&self, span: Span) -> (String, usize, usize) {
        let (line_start, line) = self.parts.source.line_at(span.start());
        let from = (span.start() - line_start).min(line.len());
        let to = (span.end().saturating_sub(line_start)).clamp(from, line.len());
        // Cut before anything is made visible: a line may be the whole text.
        let before = visible(tail(line.get(..from).unwrap_or_default()));
        let marked = visible(head(line.get(from..to).unwrap_or_default()));
        let after = visible(head(line.get(to..).unwrap_or_default()));

        let mut text = String::new();
        let skip = before.chars().count().saturating_sub(EXCERPT / 2);
        if skip > 0 {
            text.push('…');
        }
        text.extend(before.chars().skip(skip));
        let blanks = text.chars().count();
        let carets = marked.chars().count().clamp(1, EXCERPT);
        let rest = marked.chars().chain(after.chars());
        let room = EXCERPT.saturating_sub(blanks).max(16);
        let mut shown: String = rest.clone().take(room).collect();
        if rest.count() > room {
            shown.push('…');
        }
        text.push_str(&shown);
        (text, blanks, carets.min(room))
    }

    fn write_hint(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parts.hint {
            Some(hint) => write!(f, "\n\nhint: {}", visible_lines(hint)),
            None => Ok(()),
        }
    }
}

fn head(text: &str) -> &str {
    text.char_indices().nth(2 * EXCERPT).map_or(text, |(end, _)| &text[..end])
}

fn tail(text: &str) -> &str {
    text.char_indices().rev().nth(2 * EXCERPT).map_or(text, |(start, _)| &text[start..])
}

/// Makes every line visible, and keeps the lines.
fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Makes control, bidirectional and invisible characters visible, so that untrusted text cannot
/// move the cursor, reorder a line or hide in it.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' {
            out.push(' ');
        } else if hides(c) {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// Tells characters that a terminal acts on, or does not show.
pub(crate) fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{2800}'
            | '\u{e0000}'..='\u{e0fff}')
}
