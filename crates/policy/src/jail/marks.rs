//! Many path patterns, asked at once.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::fold::fold;
use super::text::below;
use crate::key::Sourced;
use crate::layer::Origin;
use crate::name::{PathPattern, Reach, Step};
use crate::text::byte;

/// An index over the patterns of a policy that answers which of them a path falls under, whatever
/// the case and normal form of its letters.
///
/// Nearly every pattern has a component without wildcards. Patterns are kept sorted by such
/// components, and a path that has none of them is done with.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    /// By the last plain component: what the pattern names has it somewhere.
    last: Keys,
    /// By the other plain components: a folder above what the pattern names ends in one.
    inner: Keys,
    /// Patterns that no plain component gives away.
    keyless: Vec<usize>,
    /// A folder none of whose names is among the keys: in paths below it they need not be looked
    /// for.
    unmarked: Option<Box<str>>,
}

/// Places of patterns that may match: nearly always few.
type Candidates = SmallVec<[usize; 16]>;

/// What the letters of a name are known to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Letters {
    Ascii,
    Any,
}

/// What a pattern is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MarkKind {
    Protect,
    Hide,
    AllowRead,
}

#[derive(Clone, Debug)]
struct Mark {
    kind: MarkKind,
    pattern: PathPattern,
    origin: Origin,
}

/// Names, folded and sorted, each with the places of the patterns that have it.
#[derive(Clone, Debug, Default)]
struct Keys {
    names: Vec<(Box<str>, Vec<usize>)>,
    /// A bit for each, so that most names need not be looked for.
    noted: [u64; 16],
}

/// What the patterns say of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits<'m> {
    /// Who protects it.
    pub(super) protect: Option<&'m Origin>,
    /// Who protects something below it.
    pub(super) holds: Option<&'m Origin>,
    /// Who hides it, and how deep along the path.
    pub(super) hide: Option<(usize, &'m Origin)>,
    /// How deep along the path something stays readable.
    pub(super) open: Option<usize>,
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
    /// Adds patterns. `moved` returns a pattern once more, for a tree with two paths.
    pub(super) fn add<'a>(
        &mut self,
        kind: MarkKind,
        entries: impl IntoIterator<Item = &'a Sourced<PathPattern>>,
        moved: impl Fn(&PathPattern) -> Option<PathPattern>,
    ) {
        for Sourced { value, origin } in entries {
            self.add_one(kind, value, origin);
            if let Some(other) = moved(value) {
                self.add_one(kind, &other, origin);
            }
        }
    }

    /// Notes a folder in which most paths lie; it is absolute and normal. To be done when all
    /// patterns are added.
    pub(super) fn settle_in(&mut self, folder: &str) {
        let mut found = Candidates::new();
        components(folder).for_each(|name| self.last.look_up(name, &mut found));
        self.unmarked = found.is_empty().then(|| folder.into());
    }

    /// Returns what the patterns say of `path`, which is absolute and normal.
    pub(super) fn hits(&self, path: &str, spelling: Spelling) -> Hits<'_> {
        let mut hits = Hits::default();
        let mut candidates = Candidates::new();
        self.find(path, spelling, &mut candidates);
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
        for mark in candidates.into_iter().filter_map(|place| self.marks.get(place)) {
            let origin = &mark.origin;
            match (mark.pattern.reach(&names), mark.kind) {
                (Reach::Named(_), MarkKind::Protect) => hits.protect = Some(origin),
                (Reach::Above, MarkKind::Protect) => hits.holds = Some(origin),
                (Reach::Named(depth), MarkKind::Hide) => {
                    if hits.hide.is_none_or(|(best, _)| best < depth) {
                        hits.hide = Some((depth, origin));
                    }
                }
                (Reach::Named(depth), MarkKind::AllowRead) => {
                    hits.open = hits.open.max(Some(depth));
                }
                (Reach::Above, MarkKind::Hide | MarkKind::AllowRead) | (Reach::Apart, _) => {}
            }
        }
        hits
    }

    /// Returns who hides something below a folder, which is absolute and normal. Patterns that begin
    /// anywhere are none: they may match below every folder.
    pub(super) fn hidden_below(&self, folder: &str) -> Option<&Origin> {
        let folded: Vec<Cow<'_, str>> = components(folder).map(fold).collect();
        let names: Vec<Step<'_>> = folded.iter().map(|name| Step::Name(name)).collect();
        // Those that begin with another name lie elsewhere.
        let begins = |mark: &&Mark| {
            let first = mark.pattern.first_plain_name();
            first.is_some_and(|first| folded.first().is_none_or(|top| first == &**top))
        };
        let mut marks =
            self.marks.iter().filter(|mark| mark.kind == MarkKind::Hide && begins(mark));
        let found = marks.find(|mark| mark.pattern.reach(&names) == Reach::Above);
        found.map(|mark| &mark.origin)
    }

    fn add_one(&mut self, kind: MarkKind, pattern: &PathPattern, origin: &Origin) {
        let place = self.marks.len();
        let is_folded = |name: &str| matches!(fold(name), Cow::Borrowed(_));
        let folded = if pattern.is_plain() && pattern.plain_names().all(is_folded) {
            pattern.clone() // nearly every one
        } else {
            // A text whose folded form is no pattern (`[Z-a]`) is kept as it is.
            let whole = || fold(&pattern.to_string()).parse().unwrap_or_else(|_| pattern.clone());
            pattern.with_names(fold).unwrap_or_else(whole)
        };
        let names: Vec<&str> = folded.plain_names().collect();
        match names.split_last() {
            Some((last, inner)) if !folded.has_wild_folder() => {
                self.last.add(last, place);
                // Of the others nobody asks what lies below a path.
                if kind == MarkKind::Protect {
                    inner.iter().for_each(|name| self.inner.add(name, place));
                }
            }
            Some(_) | None => self.keyless.push(place),
        }
        self.marks.push(Mark { kind, pattern: folded, origin: origin.clone() });
    }

    /// Adds the places of the patterns that may match; of nearly every path there are none.
    fn find(&self, path: &str, spelling: Spelling, found: &mut Candidates) {
        found.extend_from_slice(&self.keyless);
        if spelling == Spelling::Plain || !has_wildcard(path) {
            let letters = if path.is_ascii() { Letters::Ascii } else { Letters::Any };
            let inside = self.unmarked.as_deref().and_then(|folder| below(path, folder));
            let mut last = "";
            for name in components(inside.unwrap_or(path)) {
                self.last.find(name, letters, found);
                last = name;
            }
            // The folder itself.
            if last.is_empty() {
                last = components(path).last().unwrap_or_default();
            }
            self.inner.find(last, letters, found);
        } else {
            // A name that says nothing at either end may be nearly any of them.
            let says_nothing = |name: &str| {
                let says = |byte: Option<u8>| byte.is_some_and(|byte| !is_special(byte));
                has_wildcard(name) && !says(name.bytes().next()) && !says(name.bytes().next_back())
            };
            if components(path).any(says_nothing) {
                // Of these, the ones that begin with another plain name are none.
                let top = components(path).next().filter(|name| !is_unsettled(name)).map(fold);
                let begins = |mark: &Mark| match (mark.pattern.first_plain_name(), &top) {
                    (Some(first), Some(top)) => first == &**top,
                    (None, _) | (_, None) => true,
                };
                let places = self.marks.iter().enumerate().filter(|(_, mark)| begins(mark));
                found.clear();
                found.extend(places.map(|(place, _)| place));
                return;
            }
            let mut last = "";
            for name in components(path) {
                self.last.find_either(name, found);
                last = name;
            }
            self.inner.find_either(last, found);
        }
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
    }
}

impl Keys {
    fn add(&mut self, name: &str, place: usize) {
        let (word, bit) = slot(name);
        if let Some(word) = self.noted.get_mut(word) {
            *word |= bit;
        }
        match self.names.binary_search_by(|(key, _)| (**key).cmp(name)) {
            Ok(at) => self.names.get_mut(at).into_iter().for_each(|(_, known)| known.push(place)),
            Err(at) => self.names.insert(at, (name.into(), vec![place])),
        }
    }

    /// Finds a name, or those that a shell's pattern may match.
    fn find_either(&self, name: &str, found: &mut Candidates) {
        match has_wildcard(name) {
            true => self.find_like(name, found),
            false => self.find(name, Letters::Any, found),
        }
    }

    #[inline]
    fn find(&self, name: &str, letters: Letters, found: &mut Candidates) {
        let (word, bit) = slot(name);
        // Folding changes neither the length of an ASCII name nor, but for case, its letters.
        if letters == Letters::Any || self.noted.get(word).is_some_and(|word| word & bit != 0) {
            self.look_up(name, found);
        }
    }

    fn look_up(&self, name: &str, found: &mut Candidates) {
        let name = fold(name);
        let known = self.names.binary_search_by(|(key, _)| (**key).cmp(&name)).ok();
        if let Some((_, places)) = known.and_then(|at| self.names.get(at)) {
            found.extend_from_slice(places);
        }
    }

    /// Finds the names that a shell's pattern may match.
    fn find_like(&self, pattern: &str, found: &mut Candidates) {
        let pattern = fold(pattern);
        // Most are told by what the pattern begins and ends with, without reading all of it.
        let (start, end) = (
            pattern.bytes().position(is_special).and_then(|at| pattern.as_bytes().get(..at)),
            pattern.bytes().rposition(is_special).and_then(|at| pattern.as_bytes().get(at + 1..)),
        );
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        let from = self.names.partition_point(|(key, _)| key.as_bytes() < start);
        let mut step = None;
        for (key, places) in self.names.get(from..).unwrap_or_default() {
            if !key.as_bytes().starts_with(start) {
                break;
            }
            let ends = key.bytes().next_back() == end.last().copied() || end.is_empty();
            if ends
                && key.as_bytes().ends_with(end)
                && step.get_or_insert_with(|| Step::pattern(&pattern)).may_be(key)
            {
                found.extend_from_slice(places);
            }
        }
    }
}

/// Returns whether a shell would take a character of `text` for a wildcard.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Returns whether a name is more than what it says, for a shell.
pub(super) fn is_unsettled(name: &str) -> bool {
    name.bytes().any(is_special)
}

/// Returns whether a byte means something in a shell's pattern.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\')
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (name, after) = byte::split_once(rest, b'/').unwrap_or((rest, ""));
            rest = after;
            if !name.is_empty() {
                return Some(name);
            }
        }
        None
    })
}

/// Returns where a name is noted, by its ends, its middle and its length: a word, and a bit of it.
fn slot(name: &str) -> (usize, u64) {
    let bytes = name.as_bytes();
    let at = |byte: Option<&u8>| usize::from(byte.map_or(0, u8::to_ascii_lowercase));
    let middle = at(bytes.get(bytes.len() / 2));
    let place = at(bytes.first()) * 31 + at(bytes.last()) * 7 + middle * 131 + bytes.len();
    (place / 64 % 16, 1 << (place % 64))
}
