//! YAML 1.2, core schema, one document.
//!
//! `granit-parser` reads the grammar; this module builds the tree, resolves plain scalars, and
//! refuses what a policy has no use for: several documents, tags, merge keys, maps as keys.
//! Aliases are expanded under the same budget as everything else.

use std::collections::BTreeMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Tag};

use super::source::{Source, Span};
use super::{Diagnostic, Entry, MAX_DEPTH, MAX_NODES, Node, Value};
use super::{check_keys, check_text, json, too_deep, too_many};

/// Reads one YAML document and nothing after it.
///
/// # Errors
///
/// Names the first place at which the text is not YAML, or not the YAML that a policy may use.
pub fn parse(source: &Source) -> Result<Node, Diagnostic> {
    check_text(source)?;
    let mut options = Options::default();
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    let mut builder =
        Builder { source, open: Vec::new(), root: None, anchors: BTreeMap::new(), nodes: 0 };
    for event in Parser::new_from_str_with_options(source.text(), options) {
        let (event, span) = event.map_err(|error| broken(source, &error))?;
        let span =
            span.byte_range().map_or_else(Span::default, |range| Span::new(range.start, range.end));
        builder.take(event, span)?;
    }
    builder.root.ok_or_else(|| {
        Diagnostic::new(source, "empty", "the text holds no value".into())
            .hint("an empty policy is never read as \"no restrictions\"; write `version: 1`")
    })
}

/// A list or map that is not closed yet.
struct Open {
    start: Span,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<(Box<str>, Span)> },
}

struct Builder<'a> {
    source: &'a Source,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: BTreeMap<usize, (Node, usize)>,
    nodes: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Diagnostic> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = self.scalar(&text, style, tag.as_deref(), span)?;
                self.add(Node { value, span }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.begin(span, anchor, tag.as_deref(), Content::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                let content = Content::Map { entries: Vec::new(), key: None };
                self.begin(span, anchor, tag.as_deref(), content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::DocumentStart(..) if self.root.is_some() => Err(self.refuse(
                "several-documents",
                "a second document begins here",
                span,
                "a policy is one document; remove the `---`",
            )),
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd => Ok(()),
            // Behind options that stay off; the enum is open, so a later version may have more.
            Event::Anchor(..) | Event::UnresolvedAlias(_) | _ => {
                let hint = "this is a bug of ours; please report it";
                Err(self.refuse("yaml", "the YAML parser reported something unknown", span, hint))
            }
        }
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<Value, Diagnostic> {
        match tag {
            Some(tag) if tag.is_yaml_core_schema_tag("str") => return Ok(Value::Text(text.into())),
            Some(_) => return Err(self.tagged(span)),
            None => {}
        }
        Ok(match style {
            ScalarStyle::Plain => scalar(text),
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => Value::Text(text.into()),
        })
    }

    fn begin(
        &mut self,
        start: Span,
        anchor: usize,
        tag: Option<&Tag>,
        content: Content,
    ) -> Result<(), Diagnostic> {
        if tag.is_some() {
            return Err(self.tagged(start));
        }
        if let Some(Open { content: Content::Map { key: None, .. }, .. }) = self.open.last() {
            return Err(self.odd_key(start));
        }
        if self.open.len() == MAX_DEPTH {
            return Err(too_deep(self.source, start));
        }
        self.open.push(Open { start, anchor, content });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Diagnostic> {
        let Some(Open { start, anchor, content }) = self.open.pop() else { return Ok(()) };
        let value = match content {
            Content::List(items) => Value::List(items),
            Content::Map { entries, .. } => {
                check_keys(self.source, &entries)?;
                Value::Map(entries)
            }
        };
        self.add(Node { value, span: Span::new(start.start(), span.end()) }, anchor)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Diagnostic> {
        let Some((node, count)) = self.anchors.get(&anchor) else {
            let hint = "an alias may only repeat what stands complete before it";
            return Err(self.refuse("alias", "this alias names nothing", span, hint));
        };
        // Counted before it is copied: a bomb must not go off while we measure it.
        self.nodes += count;
        if self.nodes > MAX_NODES {
            return Err(too_many(self.source, span));
        }
        let node = Node { value: node.value.clone(), span };
        if self.open.len() + node.depth() > MAX_DEPTH {
            return Err(too_deep(self.source, span));
        }
        self.add(node, 0)
    }

    /// Puts a finished value where it belongs: the open map's key or value, the open list, the root.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(too_many(self.source, node.span));
        }
        if anchor != 0 {
            let count = node.count();
            self.nodes += count; // the copy kept for aliases is memory too
            self.anchors.insert(anchor, (node.clone(), count));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.content {
            Content::List(items) => items.push(node),
            Content::Map { entries, key } => match key.take() {
                Some((name, key_span)) => entries.push(Entry { key: name, key_span, value: node }),
                None => {
                    let name = match node.value {
                        Value::Text(text) | Value::Number(text) => text,
                        Value::Bool(value) => value.to_string().into(),
                        Value::Null | Value::List(_) | Value::Map(_) => {
                            return Err(self.odd_key(node.span));
                        }
                    };
                    if &*name == "<<" {
                        let hint = "write the keys out, or repeat a whole value with an alias";
                        return Err(self.refuse(
                            "merge-key",
                            "merge keys are not YAML 1.2",
                            node.span,
                            hint,
                        ));
                    }
                    *key = Some((name, node.span));
                }
            },
        }
        Ok(())
    }

    fn tagged(&self, span: Span) -> Diagnostic {
        self.refuse(
            "tag",
            "a policy has no use for this tag",
            span,
            "only `!!str` is understood; quotes do the same",
        )
    }

    fn odd_key(&self, span: Span) -> Diagnostic {
        self.refuse("key", "this cannot be a key", span, "keys are text; put quotes around it")
    }

    fn refuse(&self, code: &'static str, message: &str, span: Span, hint: &str) -> Diagnostic {
        Diagnostic::new(self.source, code, message.into()).at(span).hint(hint)
    }
}

/// Resolves a plain scalar by the core schema of YAML 1.2: `no` and `on` are text.
pub(super) fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if json::is_number(text) => Value::Number(text.into()),
        _ => Value::Text(text.into()),
    }
}

fn broken(source: &Source, error: &ScanError) -> Diagnostic {
    let at = error.marker().byte_offset().unwrap_or(0);
    let width =
        source.text().get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let message = error.to_string();
    // The parser repeats the place in its own words; ours stands in the heading already.
    let fact = message.split(" at char ").next().unwrap_or(&message).to_lowercase();
    let diagnostic = Diagnostic::new(source, "yaml", format!("this is not YAML: {fact}"))
        .at(Span::new(at, at + width));
    if fact.contains("tab") {
        return diagnostic.hint("indent with blanks, not tabs");
    }
    if fact.contains("nesting") || fact.contains("recursion") {
        return too_deep(source, Span::new(at, at + width));
    }
    diagnostic
}
