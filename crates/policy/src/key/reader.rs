//! Reading nodes into fields: where we are, and what went wrong on the way.

use crate::layer::{Layer, Origin, Scope};
use crate::name::{Anchorage, Anchors, Invalid};
use crate::text::{Diagnostic, Entry, Node, Source, Span, Value, visible};

/// What a field needs to know while it reads, and where it leaves its complaints.
#[derive(Debug)]
pub struct Reader<'a> {
    source: &'a Source,
    anchorage: Anchorage<'a>,
    layer: Layer,
    scope: Scope,
    problems: Vec<Diagnostic>,
    regexes: usize,
}

/// Most problems that are told of one text.
const MAX_PROBLEMS: usize = 50;
/// Most regular expressions and examples in one text.
const MAX_REGEXES: usize = 256;

impl<'a> Reader<'a> {
    /// Starts reading a text that belongs to `layer`.
    pub fn new(source: &'a Source, anchors: &'a Anchors, layer: Layer) -> Self {
        let anchorage = Anchorage::new(anchors);
        Self { source, anchorage, layer, scope: Scope::Base, problems: Vec::new(), regexes: 0 }
    }

    /// Returns the folders that relative paths and `~` start from.
    pub fn anchors(&self) -> &'a Anchors {
        self.anchorage.anchors()
    }

    /// Returns the same for values of which a text has many.
    pub(crate) fn anchorage(&self) -> &Anchorage<'a> {
        &self.anchorage
    }

    /// Returns the layer that is being read.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// Returns every problem found, in the order of the text.
    pub fn into_problems(self) -> Vec<Diagnostic> {
        let mut problems = self.problems;
        problems.sort_by_key(Diagnostic::place);
        problems
    }

    /// Reads a part of the text for another scope, such as one agent's section.
    pub fn scoped<T>(&mut self, scope: Scope, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = read(self);
        self.scope = outer;
        result
    }

    /// Returns the origin of a value that stands at `span`.
    pub fn origin(&self, span: Span) -> Origin {
        Origin {
            layer: self.layer,
            scope: self.scope.clone(),
            file: Some(self.source.shared_name()),
            place: Some(self.source.place(span.start())),
        }
    }

    /// Makes a complaint about a stretch of the text.
    pub fn complaint(&self, code: &'static str, message: String, span: Span) -> Diagnostic {
        Diagnostic::new(self.source, code, message).at(span)
    }

    /// Files a complaint. Beyond a screenful or two nobody reads on.
    pub fn report(&mut self, problem: Diagnostic) {
        // Counted apart: a heap of warnings must not push an error out.
        let alike = self.problems.iter().filter(|known| known.severity() == problem.severity());
        if alike.count() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Counts a regular expression, or an example that is tried on one: both take time, and a text
    /// may come from a stranger.
    pub fn count_regex(&mut self, node: &Node) -> Option<()> {
        self.regexes += 1;
        if self.regexes <= MAX_REGEXES {
            return Some(());
        }
        if self.regexes == MAX_REGEXES + 1 {
            let message = format!("more than {MAX_REGEXES} regular expressions and examples");
            self.report(self.complaint("too-many-regexes", message, node.span));
        }
        None
    }

    /// Complains that something of another kind was expected.
    pub fn expected<T>(&mut self, what: &str, found: &Node) -> Option<T> {
        let message = format!("expected {what}, found {}", found.kind());
        self.report(
            self.complaint("wrong-type", message, found.span).expected(format!("expected {what}")),
        );
        None
    }

    /// Complains that a field has the wrong type, and names the field.
    pub fn wrong_type<T>(&mut self, field: &str, wanted: &str, found: &Node) -> Option<T> {
        let kind = match &found.value {
            Value::Text(text) => format!("the text `{}`", visible(text)),
            Value::Number(text) => format!("the number {text}"),
            Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null => found.kind().into(),
        };
        let message = format!("`{field}` must be {wanted}, not {kind}");
        let problem = self.complaint("wrong-type", message, found.span);
        self.report(problem.expected(format!("expected {wanted}")));
        None
    }

    /// Complains about a value that does not parse.
    pub fn invalid<T>(&mut self, found: &Node, invalid: &Invalid) -> Option<T> {
        let mut problem = self.complaint(invalid.code(), invalid.problem().to_owned(), found.span);
        if let Some(hint) = invalid.hint() {
            problem = problem.hint(hint);
        }
        self.report(problem);
        None
    }

    /// Complains about a key that does not exist here, and names the nearest that does.
    pub fn unknown_key(&mut self, entry: &Entry, known: &[&str]) {
        self.report(self.unknown("", entry, known));
    }

    /// Makes that complaint, with the way to the key from the top of the text.
    pub fn unknown(&self, above: &str, entry: &Entry, known: &[&str]) -> Diagnostic {
        let field = super::below(above, &visible(&entry.key));
        let message = format!("unknown key `{field}`");
        let problem = self.complaint("unknown-key", message, entry.key_span);
        match nearest(&entry.key, known) {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem.hint(format!("known here: {}", known.join(", "))),
        }
    }

    /// Complains about a key that stands outside the section it belongs to.
    pub fn misplaced_key(&mut self, entry: &Entry, section: &str) {
        let key = visible(&entry.key);
        let problem = self.complaint("unknown-key", format!("unknown key `{key}`"), entry.key_span);
        self.report(problem.hint(format!("`{key}` belongs to `{section}`: indent it below that")));
    }

    /// Complains that a map lacks a key it needs.
    pub fn missing_key<T>(&mut self, key: &str, map: &Node) -> Option<T> {
        let message = format!("the key `{key}` is missing");
        self.report(self.complaint("missing-key", message, map.span));
        None
    }

    /// Returns the text that is being read.
    pub fn source(&self) -> &'a Source {
        self.source
    }

    /// Returns the entries of a map, or complains.
    pub fn map<'n>(&mut self, node: &'n Node) -> Option<&'n [Entry]> {
        match &node.value {
            Value::Map(entries) => Some(entries),
            Value::Bool(_) | Value::List(_) | Value::Null | Value::Number(_) | Value::Text(_) => {
                self.expected("a map", node)
            }
        }
    }

    /// Returns the items of a list, or complains.
    pub fn list<'n>(&mut self, node: &'n Node) -> Option<&'n [Node]> {
        match &node.value {
            Value::List(items) => Some(items),
            Value::Bool(_) | Value::Map(_) | Value::Null | Value::Number(_) | Value::Text(_) => {
                let problem = format!("expected a list, found {}", node.kind());
                let problem =
                    self.complaint("wrong-type", problem, node.span).expected("expected a list");
                self.report(problem.hint("put it in square brackets, even a single one: [value]"));
                None
            }
        }
    }

    /// Returns the text, or complains.
    pub fn text<'n>(&mut self, what: &str, node: &'n Node) -> Option<&'n str> {
        match &node.value {
            Value::Text(text) => Some(text),
            Value::Bool(_) | Value::Number(_) => {
                let message = format!("expected {what}, found {}", node.kind());
                let problem = self.complaint("wrong-type", message, node.span);
                self.report(
                    problem
                        .expected(format!("expected {what}"))
                        .hint("put it in quotes if it is meant as text"),
                );
                None
            }
            Value::List(_) | Value::Map(_) | Value::Null => self.expected(what, node),
        }
    }
}

/// Returns the known word that is at most two edits away, or begins the same.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let word = word.to_lowercase();
    let near = known.iter().map(|known| (edits(&word, &known.to_lowercase()), *known)).min()?;
    let limit = if word.chars().count() < 5 { 1 } else { 2 };
    (near.0 <= limit).then_some(near.1)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

/// Complains about a word that is none of the known ones.
pub(crate) fn unknown_word(word: &str, known: &[&str]) -> Invalid {
    let invalid = Invalid::new(
        "unknown-word",
        format!("`{}` is none of {}", visible(word), known.join(", ")),
    );
    match nearest(word, known) {
        Some(near) => invalid.with_hint(format!("did you mean `{near}`?")),
        None => invalid,
    }
}
