//! Many path patterns, asked at once.

use std::borrow::Cow;

use super::fold::fold;
use crate::key::Sourced;
use crate::layer::Origin;
use crate::name::{PathPattern, Reach, Step};

/// An index over patterns that answers whether a path falls under one of them, whatever the case
/// and normal form of its letters.
///
/// Nearly every pattern has a component without wildcards. Patterns are kept sorted by such
/// components, and a path that has none of them is done with.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    patterns: Vec<(PathPattern, Origin)>,
    /// By the last plain component: what the pattern names has it somewhere.
    last: Vec<(Box<str>, usize)>,
    /// By the other plain components: a folder above what the pattern names ends in one.
    inner: Vec<(Box<str>, usize)>,
    /// Patterns that no plain component gives away.
    keyless: Vec<usize>,
    /// Which bytes the keys of `last` start with.
    first: [u64; 4],
}

/// What the patterns say of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits<'m> {
    /// The deepest folder or file along the path that a pattern names, counted from `/`.
    pub(super) named: Option<(usize, &'m Origin)>,
    /// A pattern that names something below the path.
    pub(super) above: Option<&'m Origin>,
}

/// Whether wildcards in a path are the shell's.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Spelling {
    /// Each character stands for itself.
    #[default]
    Plain,
    /// `*`, `?` and `[set]` stand for what matches.
    Pattern,
}

impl Marks {
    /// Builds the index. `moved` returns a pattern once more, for a tree with two paths.
    pub(super) fn new<'a>(
        entries: impl IntoIterator<Item = &'a Sourced<PathPattern>>,
        moved: impl Fn(&PathPattern) -> Option<PathPattern>,
    ) -> Self {
        let mut marks = Self::default();
        for entry in entries {
            marks.add(&entry.value, &entry.origin);
            if let Some(other) = moved(&entry.value) {
                marks.add(&other, &entry.origin);
            }
        }
        marks.last.sort();
        marks.inner.sort();
        marks
    }

    /// Returns what the patterns say of `path`, which is absolute and normal.
    pub(super) fn hits(&self, path: &str, spelling: Spelling) -> Hits<'_> {
        let mut hits = Hits::default();
        let candidates = self.candidates(path, spelling);
        if candidates.is_empty() {
            return hits;
        }
        let folded: Vec<Cow<'_, str>> = components(path).map(fold).collect();
        let names: Vec<Step<'_>> = folded
            .iter()
            .map(|name| match spelling {
                Spelling::Plain => Step::Name(name),
                Spelling::Pattern => Step::pattern(name),
            })
            .collect();
        for place in candidates {
            let Some((pattern, origin)) = self.patterns.get(place) else { continue };
            match pattern.reach(&names) {
                Reach::Named(depth) if hits.named.is_none_or(|(best, _)| depth > best) => {
                    hits.named = Some((depth, origin));
                }
                Reach::Above => hits.above = hits.above.or(Some(origin)),
                Reach::Named(_) | Reach::Apart => {}
            }
        }
        hits
    }

    fn add(&mut self, pattern: &PathPattern, origin: &Origin) {
        let place = self.patterns.len();
        // A text whose folded form is no pattern (`[Z-a]`) is kept as it is.
        let folded: PathPattern =
            fold(&pattern.to_string()).parse().unwrap_or_else(|_| pattern.clone());
        let names: Vec<&str> = folded.plain_names().collect();
        match names.split_last() {
            Some((last, inner)) if !folded.has_wild_folder() => {
                let (word, bit) = slot(last);
                if let Some(word) = self.first.get_mut(word) {
                    *word |= bit;
                }
                self.last.push(((*last).into(), place));
                self.inner.extend(inner.iter().map(|name| ((*name).into(), place)));
            }
            Some(_) | None => self.keyless.push(place),
        }
        self.patterns.push((folded, origin.clone()));
    }

    /// Returns the places of the patterns that may match; of nearly every path there are none.
    fn candidates(&self, path: &str, spelling: Spelling) -> Vec<usize> {
        if spelling == Spelling::Pattern && has_wildcard(path) {
            return (0..self.patterns.len()).collect();
        }
        let mut found = self.keyless.clone();
        let mut names = components(path).peekable();
        while let Some(name) = names.next() {
            let is_final = names.peek().is_none();
            if !is_final && !self.may_be_key(name) {
                continue;
            }
            let name = fold(name);
            found.extend(with_key(&self.last, &name));
            if is_final {
                found.extend(with_key(&self.inner, &name));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn may_be_key(&self, name: &str) -> bool {
        let (word, bit) = slot(name);
        !name.is_ascii() || self.first.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Returns whether a shell would take a character of `text` for a wildcard.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

fn with_key<'k>(keys: &'k [(Box<str>, usize)], name: &str) -> impl Iterator<Item = usize> + 'k {
    let start = keys.partition_point(|(key, _)| **key < *name);
    let rest = keys.get(start..).unwrap_or_default();
    let end = rest.partition_point(|(key, _)| **key == *name);
    rest.get(..end).unwrap_or_default().iter().map(|(_, place)| *place)
}

/// Returns where the first byte of a name is noted: a word, and a bit of it.
fn slot(name: &str) -> (usize, u64) {
    let first = name.bytes().next().unwrap_or_default().to_ascii_lowercase();
    (usize::from(first / 64), 1 << (first % 64))
}
