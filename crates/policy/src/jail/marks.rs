//! Many path patterns, asked at once.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::fold::fold;
use super::keys::{Candidates, Keys, Letters};
use super::text::below;
use crate::key::Sourced;
use crate::layer::Origin;
use crate::name::{NameIn, PathPattern, Reach, Step};
use crate::text::byte;

/// An index over the patterns of a policy that answers which of them a path falls under, whatever
/// the case and normal form of its letters.
///
/// Nearly every pattern has a component without wildcards. Patterns are kept sorted by such
/// components, and a path that has none of them is done with.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    /// Patterns that may begin in any folder of `/`.
    anywhere: Vec<usize>,
    /// A bit for the letter that the name in `/` begins with of each of the others.
    letters: u128,
    /// The folder that most paths lie in.
    folder: Box<str>,
    /// Made when a path is asked about that lies where some of them are: many programs lie elsewhere.
    index: OnceLock<Index>,
}

/// Patterns by what gives them away.
#[derive(Clone, Debug, Default)]
struct Index {
    /// By the last plain component: what the pattern names has it somewhere.
    last: Keys,
    /// By the other plain components: a folder above what the pattern names ends in one.
    inner: Keys,
    /// Patterns that no plain component gives away.
    keyless: Vec<usize>,
    /// A folder none of whose names is among the keys: in paths below it they need not be looked
    /// for.
    unmarked: Option<Box<str>>,
    /// Patterns that begin with a plain name, sorted by that.
    rooted: Vec<usize>,
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

/// Names, each with the place of a pattern that has it.
type Names = Vec<(NameIn, usize)>;

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
    /// Sorts the patterns of some lists. `moved` returns a pattern once more, for a tree with two
    /// paths; in `folder`, which is absolute and normal, most paths lie.
    pub(super) fn new(
        lists: &[(MarkKind, &[Sourced<PathPattern>])],
        moved: impl Fn(&PathPattern) -> Option<PathPattern>,
        folder: &str,
    ) -> Self {
        let most = lists.iter().map(|(_, entries)| entries.len()).sum();
        let mut all = Vec::with_capacity(most);
        for (kind, entries) in lists {
            for Sourced { value, origin } in *entries {
                all.push(Mark::new(*kind, value, origin));
                all.extend(moved(value).map(|other| Mark::new(*kind, &other, origin)));
            }
        }
        let mut marks = Self { marks: all, folder: folder.into(), ..Self::default() };
        let (mut anywhere, mut letters) = (Vec::new(), 0);
        for place in 0..marks.marks.len() {
            match marks.top_of(place) {
                None => anywhere.push(place),
                Some(name) => {
                    let first = name.bytes().next().filter(u8::is_ascii);
                    letters |= first.map_or(u128::MAX, letter);
                }
            }
        }
        (marks.anywhere, marks.letters) = (anywhere, letters);
        marks
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    /// Returns what the patterns say of `path`, which is absolute and normal.
    pub(super) fn hits(&self, path: &str, spelling: Spelling) -> Hits<'_> {
        let mut hits = Hits::default();
        if self.is_apart(path, spelling) {
            return hits;
        }
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

    /// Returns whether no pattern begins as a path does, whatever follows.
    fn is_elsewhere(&self, path: &str) -> bool {
        // What is no ASCII may be one letter with the one before it.
        let first = match path.as_bytes() {
            [b'/', first, second, ..] if second.is_ascii() => *first,
            _ => return false,
        };
        self.anywhere.is_empty()
            && first.is_ascii_alphanumeric()
            && self.letters & letter(first) == 0
    }

    /// Returns whether no name of a path begins as a key does, as of nearly every one.
    fn is_apart(&self, path: &str, spelling: Spelling) -> bool {
        if self.is_elsewhere(path) {
            return true;
        }
        let Index { last, inner, keyless, unmarked, .. } = self.index();
        let inside = unmarked.as_deref().and_then(|folder| below(path, folder));
        let names = inside.unwrap_or(path);
        keyless.is_empty()
            && inner.is_empty()
            && names.is_ascii()
            && (spelling == Spelling::Plain || !has_wildcard(names))
            && !last.may_begin(names)
    }

    /// Adds the places of the patterns that may match; of nearly every path there are none.
    fn find(&self, path: &str, spelling: Spelling, found: &mut Candidates) {
        let Index { last: lasts, inner, keyless, unmarked, .. } = self.index();
        found.extend_from_slice(keyless);
        let inside = unmarked.as_deref().and_then(|folder| below(path, folder));
        let names = inside.unwrap_or(path);
        if spelling == Spelling::Plain || !has_wildcard(names) {
            let letters = if path.is_ascii() { Letters::Ascii } else { Letters::Any };
            let mut last = "";
            for name in components(names) {
                lasts.find(name, letters, found);
                last = name;
            }
            if !inner.is_empty() {
                // The folder itself.
                if last.is_empty() {
                    last = components(path).last().unwrap_or_default();
                }
                inner.find(last, letters, found);
            }
        } else {
            // A name that says nothing at either end may be nearly any of them.
            let says_nothing = |name: &str| {
                let says = |byte: Option<u8>| byte.is_some_and(|byte| !is_special(byte));
                !says(name.bytes().next()) && !says(name.bytes().next_back()) && has_wildcard(name)
            };
            if components(names).any(says_nothing) {
                found.clear();
                let top = components(path).next().filter(|name| !is_unsettled(name)).map(fold);
                self.find_below(top.as_deref(), found);
                return;
            }
            let mut last = "";
            for name in components(names) {
                lasts.find_either(name, found);
                last = name;
            }
            if !inner.is_empty() {
                inner.find_either(last, found);
            }
        }
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
    }

    /// Adds the places of the patterns that may match in a folder of `/`, if it is known in which:
    /// those that begin with another plain name are none.
    fn find_below(&self, top: Option<&str>, found: &mut Candidates) {
        found.extend_from_slice(&self.anywhere);
        let rooted = &self.index().rooted;
        let from = rooted.partition_point(|place| top.is_some() && self.top_of(*place) < top);
        let rooted = rooted.get(from..).unwrap_or_default().iter().copied();
        found.extend(rooted.take_while(|place| top.is_none() || self.top_of(*place) == top));
        found.sort_unstable();
    }

    /// Returns the plain name that a pattern begins with.
    fn top_of(&self, place: usize) -> Option<&str> {
        self.marks.get(place).and_then(|mark| mark.pattern.first_plain_name())
    }
}

impl Index {
    fn of(marks: &Marks) -> Self {
        let (mut last, mut inner): (Names, Names) =
            (Vec::with_capacity(marks.marks.len()), Vec::new());
        let (mut keyless, mut rooted) = (Vec::new(), Vec::new());
        for (place, mark) in marks.marks.iter().enumerate() {
            let mut names = mark.pattern.plain_names();
            match names.pop() {
                Some(name) if !mark.pattern.has_wild_folder() => {
                    last.push((name, place));
                    // Of the others nobody asks what lies below a path.
                    if mark.kind == MarkKind::Protect {
                        inner.extend(names.into_iter().map(|name| (name, place)));
                    }
                }
                Some(_) | None => keyless.push(place),
            }
            rooted.extend(marks.top_of(place).map(|_| place));
        }
        rooted.sort_by_key(|place| marks.top_of(*place));
        let (last, inner) = (Keys::new(last), Keys::new(inner));
        let mut found = Candidates::new();
        components(&marks.folder).for_each(|name| last.look_up(name, &mut found));
        let is_plain = !marks.folder.is_empty() && !is_unsettled(&marks.folder);
        let unmarked = (is_plain && found.is_empty()).then(|| marks.folder.clone());
        Self { last, inner, keyless, unmarked, rooted }
    }
}

impl Mark {
    fn new(kind: MarkKind, pattern: &PathPattern, origin: &Origin) -> Self {
        let pattern = if pattern.is_lower_ascii() {
            pattern.clone() // nearly every one
        } else {
            // A text whose folded form is no pattern (`[Z-a]`) is kept as it is.
            let whole = || fold(&pattern.to_string()).parse().unwrap_or_else(|_| pattern.clone());
            pattern.with_names(fold).unwrap_or_else(whole)
        };
        Self { kind, pattern, origin: origin.clone() }
    }
}

/// Returns the bit of an ASCII letter, whatever its case.
fn letter(byte: u8) -> u128 {
    1 << (byte.to_ascii_lowercase() & 0x7f)
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
pub(super) fn is_special(byte: u8) -> bool {
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
