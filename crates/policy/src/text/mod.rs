//! From policy text to a tree of values that remember where they stood.
//!
//! YAML and JSON become the same [`Node`]s; everything after this module works on nodes, so an
//! error can always point at a file, a line and a column, and a resolved value can always name its
//! origin. Text is bounded before it is parsed and while it is parsed: length, nesting, and the
//! number of values after aliases are expanded.

pub(crate) mod byte;
mod diagnostic;
pub mod json;
mod node;
pub(crate) mod plain;
mod source;
pub mod yaml;

pub(crate) use diagnostic::hides;
pub use diagnostic::{Diagnostic, Severity, visible};
pub use node::{Entry, Node, Value};
pub use source::{Place, Source, Span};

/// Longest text that is read at all, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// Deepest nesting of lists and maps.
pub const MAX_DEPTH: usize = 64;
/// Most values one text may stand for, after aliases are expanded.
pub const MAX_NODES: usize = 100_000;

/// The two notations of a policy text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// JSON, as RFC 8259 has it.
    Json,
    /// YAML 1.2, core schema, one document.
    Yaml,
}

impl Format {
    /// Tells the notation from a file's name: `.json` is JSON, everything else YAML.
    pub fn of_name(name: &str) -> Self {
        let json = name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("json"));
        if json { Self::Json } else { Self::Yaml }
    }
}

/// Reads a text in the notation its name announces.
///
/// # Errors
///
/// One [`Diagnostic`] that names the first place at which the text cannot be understood.
pub fn parse(source: &Source) -> Result<Node, Diagnostic> {
    match Format::of_name(source.name()) {
        Format::Json => json::parse(source),
        Format::Yaml => yaml::parse(source),
    }
}

/// Refuses, before any parser sees it, what no policy text may contain.
fn check_text(source: &Source) -> Result<(), Diagnostic> {
    let text = source.text();
    if text.len() > MAX_TEXT {
        let message = format!("the text is {} bytes long, the limit is {MAX_TEXT}", text.len());
        return Err(Diagnostic::new(source, "too-long", message));
    }
    if text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return Err(Diagnostic::new(source, "empty", "the text is empty".into())
            .hint("an empty policy is never read as \"no restrictions\"; write `version: 1`"));
    }
    if let Some((at, found)) = text.char_indices().find(|&(at, c)| unwelcome(text, at, c)) {
        let kind = if found.is_control() { "control" } else { "invisible" };
        let message = format!("{kind} character U+{:04X} in the text", u32::from(found));
        return Err(Diagnostic::new(source, "control-character", message)
            .at(Span::new(at, at + found.len_utf8()))
            .hint("remove it; write an escape such as \\u0007 inside quotes if it is meant"));
    }
    Ok(())
}

/// Tells characters that make a text look different from what it says: controls, a carriage return
/// that ends no line, and what reorders or hides text. Joiners and variation selectors are part of
/// ordinary words and pictures.
fn unwelcome(text: &str, at: usize, c: char) -> bool {
    match c {
        '\t' | '\n' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => false,
        '\r' => !text[at + 1..].starts_with('\n'),
        '\u{feff}' => at > 0,
        c => hides(c),
    }
}

/// Refuses a map in which a key stands twice, and says where it stood first.
fn check_keys(source: &Source, entries: &[Entry]) -> Result<(), Diagnostic> {
    let mut order: Vec<&Entry> = entries.iter().collect();
    order.sort_by(|a, b| a.key.cmp(&b.key)); // stable: equal keys stay in the order written
    let twice = order.windows(2).filter(|pair| pair[0].key == pair[1].key);
    let Some(pair) = twice.min_by_key(|pair| pair[1].key_span.start()) else { return Ok(()) };
    let line = source.place(pair[0].key_span.start()).line;
    let message = format!("the key `{}` stands here again", visible(&pair[1].key));
    Err(Diagnostic::new(source, "duplicate-key", message)
        .at(pair[1].key_span)
        .expected(format!("it is already set in line {line}"))
        .hint("keep one of the two; the text never decides by order"))
}

fn too_deep(source: &Source, span: Span) -> Diagnostic {
    Diagnostic::new(
        source,
        "too-deep",
        format!("lists and maps nest deeper than {MAX_DEPTH} levels"),
    )
    .at(span)
}

fn too_many(source: &Source, span: Span) -> Diagnostic {
    Diagnostic::new(
        source,
        "too-many-values",
        format!("the text stands for more than {MAX_NODES} values"),
    )
    .at(span)
    .hint("aliases count as often as they are used")
}

#[cfg(test)]
mod tests;
