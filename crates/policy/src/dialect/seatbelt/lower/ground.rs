//! Everything that rules of one kind say of places, in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::super::filter::{Filter, Test};
use super::super::operation::{Breadth, Operation, Part};
use super::super::place::{Place, Reach, is_temporary, lies_in, overlap};
use super::super::rule::{Rule, Rules, Verdict, note};
use super::super::string::Known;
use super::inexpressible;
use super::terms::{Budget, FEWER, Kinds, MOST, Term, terms};
use crate::dialect::FileKind;
use crate::key::Reader;
use crate::name::PathPattern;
use crate::text::{Span, visible};

/// What is read or written where, as far as the rules taken in so far say.
pub(super) struct Ground<'a> {
    pub(super) entries: Vec<Entry>,
    access: Access,
    known: Known<'a>,
    /// How many places were taken in; past the limit nothing more is.
    taken: usize,
    /// How much work the rules may still ask for.
    budget: Budget,
    /// Every path the profile names: one that lies below another shows that to be a folder.
    named: BTreeSet<PathBuf>,
    /// What the profile denies, by its spelling.
    closed: BTreeMap<String, PathPattern>,
    /// Folders that must stay where they are.
    pub(super) pinned: Vec<Pin>,
}

/// A folder that must stay where it is, because something in it is denied.
#[derive(Clone, Debug)]
pub(super) struct Pin {
    pub(super) folder: PathPattern,
    pub(super) inside: Vec<PathPattern>,
    pub(super) span: Span,
}

/// A tree of paths and what the rules say of it, unless a later one says otherwise.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) pattern: PathPattern,
    pub(super) verdict: Verdict,
    pub(super) span: Span,
    breadth: Breadth,
}

/// Which of the two it is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Access {
    Read,
    Write,
}

impl<'a> Ground<'a> {
    /// Starts with what holds by default.
    pub(super) fn new(access: Access, rules: &Rules, known: Known<'a>) -> Self {
        let mut named = BTreeSet::new();
        for filter in rules.rules.iter().filter_map(|rule| rule.filter.as_ref()) {
            collect(filter, &mut named);
        }
        let mut closed = BTreeMap::new();
        let denied = |rule: &&Rule| {
            rule.verdict == Verdict::Deny && rule.operation != Operation::Write(Part::Place)
        };
        for filter in rules.rules.iter().filter(denied).filter_map(|rule| rule.filter.as_ref()) {
            spelt(filter, &mut closed);
        }
        let (entries, pinned, budget) = (Vec::new(), Vec::new(), Budget::new());
        let mut ground = Self { entries, access, known, taken: 0, budget, named, closed, pinned };
        if let Ok(Place { pattern, .. }) = Place::everything() {
            let (verdict, span) = (rules.default, rules.default_span);
            let breadth = Breadth::Several;
            ground.entries.push(Entry { pattern, verdict, span, breadth });
        }
        ground
    }

    /// Takes in one rule.
    pub(super) fn take(&mut self, rule: &Rule, cx: &mut Reader<'_>) {
        let Rule { verdict, filter, span, .. } = rule;
        if self.taken > MOST {
            return; // complained about already
        }
        let kinds = if *verdict == Verdict::Deny { Kinds::Ignored } else { Kinds::Refused };
        let found = match filter {
            Some(filter) => terms(filter, kinds, &mut self.budget),
            None => Ok(Place::everything()
                .map(|place| vec![Term { place, except: Vec::new() }])
                .unwrap_or_default()),
        };
        match found {
            Ok(found) => {
                for term in found {
                    let steps = (1 + term.except.len()) * self.entries.len();
                    let affordable = self.budget.spend(steps);
                    if affordable {
                        self.take_term(&term, rule, cx);
                    }
                    self.taken = self.entries.len().max(self.taken + 1);
                    if self.taken > MOST || !affordable {
                        self.taken = MOST + 1;
                        let message = "the profile names too many places".into();
                        inexpressible(cx, message, FEWER, *span);
                        self.entries.truncate(1);
                        return;
                    }
                }
            }
            Err(refusal) => inexpressible(cx, refusal.why, refusal.hint, refusal.span),
        }
    }

    /// Takes in a place and gives back what its exceptions had before.
    fn take_term(&mut self, term: &Term, rule: &Rule, cx: &mut Reader<'_>) {
        let (verdict, span, breadth) = (rule.verdict, rule.span, rule.operation.breadth());
        let moving = verdict == Verdict::Deny && rule.operation == Operation::Write(Part::Place);
        if moving && term.place.reach == Reach::Exact {
            let (folder, inside) = (&term.place.pattern, self.closed_in(&term.place.pattern));
            if !inside.is_empty() {
                return self.pinned.push(Pin { folder: folder.clone(), inside, span });
            }
        }
        let Some(pattern) = self.settle(&term.place, verdict, span, cx) else { return };
        if verdict == Verdict::Allow && self.access == Access::Write {
            if self.is_given(&pattern, span, cx) {
                return;
            }
            if breadth == Breadth::Part {
                let message = "only all of `file-write*` can be allowed, not a part of it".into();
                let hint = "allow file-write* there, or leave the rule out";
                return inexpressible(cx, message, hint, span);
            }
        }
        if verdict == Verdict::Allow && self.is_missing(&term.place, span, cx) {
            return;
        }
        let mut again = Vec::new();
        for place in &term.except {
            let except = &place.pattern;
            if !overlap(except, &pattern) {
                continue;
            }
            let folder = except.literal().is_some_and(|path| self.is_folder(&path));
            if place.reach == Reach::Exact && (folder || except.has_wildcard()) {
                let message = "an exception for a folder without what it holds cannot be kept";
                let hint = "except what it holds too, with (subpath \"…\")";
                return inexpressible(cx, message.into(), hint, span);
            }
            if except.covers(&pattern) {
                return; // nothing is left of the place
            }
            let clear = self.entries.iter().all(|entry| {
                !overlap(&entry.pattern, except)
                    || entry.pattern.covers(except)
                    || except.covers(&entry.pattern)
            });
            if !clear || !pattern.covers(except) {
                let message = "this exception cannot be kept".into();
                let hint = "write it as a (deny …) of its own after this rule";
                return inexpressible(cx, message, hint, span);
            }
            let before = self.entries.iter().filter(|entry| overlap(&entry.pattern, except));
            again.extend(before.map(|entry| {
                let inside = except.covers(&entry.pattern);
                let pattern = if inside { entry.pattern.clone() } else { except.clone() };
                Entry { pattern, ..entry.clone() }
            }));
            if again.len() > MOST {
                break; // too many already: the profile is refused
            }
        }
        let unsure = |entry: &&Entry| {
            entry.verdict == Verdict::Deny
                && entry.breadth < breadth
                && overlap(&entry.pattern, &pattern)
        };
        if let Some(entry) = self.entries.iter().find(unsure).filter(|_| verdict == Verdict::Allow)
        {
            let line = cx.origin(entry.span).place.map_or(0, |place| place.line);
            let message = format!(
                "whether this takes back the narrower `deny` in line {line} is not certain"
            );
            let problem = cx.complaint("uncertain-order", message, span);
            cx.report(problem.hint("put the `deny` last, or name the same operation in both"));
        }
        self.entries.push(Entry { pattern, verdict, span, breadth });
        self.entries.extend(again);
    }

    /// Returns the tree that a place comes to; none if it comes to nothing.
    fn settle(
        &self,
        place: &Place,
        verdict: Verdict,
        span: Span,
        cx: &mut Reader<'_>,
    ) -> Option<PathPattern> {
        let pattern = &place.pattern;
        let shown = || visible(&pattern.to_string());
        match (place.reach, pattern.literal(), verdict) {
            (Reach::Exact, Some(path), _) if self.is_folder(&path) => {
                return self.settle_folder(pattern, verdict, span, cx);
            }
            (Reach::Exact, None, Verdict::Allow) => {
                let message = format!(
                    "`{}` could be a folder, and what that holds must stay closed",
                    shown()
                );
                let hint = "name each file with (literal \"…\") or a folder with (subpath \"…\")";
                inexpressible(cx, message, hint, span);
                return None;
            }
            (Reach::Exact, None, Verdict::Deny) => {
                let message = format!("what lies below `{}` is closed too", shown());
                note(cx, "stricter", message, span);
            }
            (Reach::Below, ..) => {
                let message = format!("`{}` itself counts as what lies below it", shown());
                note(cx, "folder-included", message, span);
            }
            (Reach::Exact, Some(_), _) | (Reach::Tree, ..) => {}
        }
        Some(pattern.clone())
    }

    /// Returns whether nothing must be opened at a single path because nothing lies there yet: a
    /// folder made there later would open all it holds. What is only read needs no more than a
    /// note, as nobody inside can make a folder where nothing is writable.
    fn is_missing(&self, place: &Place, span: Span, cx: &mut Reader<'_>) -> bool {
        let pattern = &place.pattern;
        let Some(path) = pattern.literal().filter(|_| place.reach == Reach::Exact) else {
            return false;
        };
        if lies_in(pattern, "/dev") || (self.known.around.kind)(&path).is_some() {
            return false;
        }
        let before = self.entries.iter().rfind(|entry| entry.pattern.covers(pattern));
        if before.is_some_and(|entry| entry.verdict == Verdict::Allow) {
            return self.access == Access::Write; // open already
        }
        let shown = visible(&pattern.to_string());
        let message = match self.access {
            Access::Read => format!("nothing lies at `{shown}` yet; a folder there is read whole"),
            Access::Write => format!("nothing lies at `{shown}` yet, and so it stays closed"),
        };
        note(cx, "missing", message, span);
        self.access == Access::Write
    }

    /// A folder alone, without what it holds: never widened to that.
    fn settle_folder(
        &self,
        pattern: &PathPattern,
        verdict: Verdict,
        span: Span,
        cx: &mut Reader<'_>,
    ) -> Option<PathPattern> {
        let shown = visible(&pattern.to_string());
        let before = self.entries.iter().rfind(|entry| entry.pattern.covers(pattern));
        let open = before.is_some_and(|entry| entry.verdict == Verdict::Allow);
        match (verdict, self.access) {
            (Verdict::Allow, _) if !open => {
                let message = format!("`{shown}` is a folder; what it holds stays closed");
                note(cx, "folder-only", message, span);
                None
            }
            (Verdict::Deny, Access::Read) if open => {
                let message = format!("`{shown}` is a folder; what it holds is closed too");
                note(cx, "stricter", message, span);
                Some(pattern.clone())
            }
            (Verdict::Deny, Access::Write) if open => {
                let message = format!("`{shown}` is a folder, and it alone cannot be protected");
                let problem = cx.complaint("not-expressible", message, span);
                cx.report(problem.hint("(subpath \"…\") protects what it holds too"));
                None
            }
            (Verdict::Allow | Verdict::Deny, _) => None,
        }
    }

    /// Returns whether every run may write there anyway, or can never.
    fn is_given(&self, pattern: &PathPattern, span: Span, cx: &mut Reader<'_>) -> bool {
        const DEVICES: [&str; 6] =
            ["/dev/full", "/dev/null", "/dev/ptmx", "/dev/random", "/dev/tty", "/dev/urandom"];
        let shown = || visible(&pattern.to_string());
        if is_temporary(pattern, &self.known.around.anchors.root) {
            let message =
                format!("`{}` stays closed: every run has a temporary folder of its own", shown());
            note(cx, "private-temp", message, span);
            return true;
        }
        if lies_in(pattern, "/dev") {
            if !DEVICES.contains(&&*pattern.to_string()) && !lies_in(pattern, "/dev/fd") {
                let message =
                    format!("`{}` is not the host's: every run has devices of its own", shown());
                note(cx, "private-dev", message, span);
            }
            return true;
        }
        false
    }

    /// Returns what is denied by name below a folder.
    fn closed_in(&self, folder: &PathPattern) -> Vec<PathPattern> {
        let above = format!("{}/", folder.to_string().trim_end_matches('/'));
        let inside = self.closed.range(above.clone()..);
        let inside = inside.take_while(|(closed, _)| closed.starts_with(&above));
        inside.map(|(_, pattern)| pattern.clone()).collect()
    }

    fn is_folder(&self, path: &Path) -> bool {
        let below = self.named.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded)).next();
        path == Path::new("/")
            || below.is_some_and(|below| below.starts_with(path))
            || (self.known.around.kind)(path) == Some(FileKind::Folder)
    }
}

/// Collects the spelling of every place that a filter names.
fn spelt(filter: &Filter, places: &mut BTreeMap<String, PathPattern>) {
    match &filter.test {
        Test::All(parts) | Test::Any(parts) => parts.iter().for_each(|part| spelt(part, places)),
        Test::Path(found) => {
            let patterns = found.iter().map(|place| &place.pattern);
            places.extend(patterns.map(|pattern| (pattern.to_string(), pattern.clone())));
        }
        Test::Foreign | Test::Network(_) | Test::Not(_) | Test::Vnode => {}
    }
}

/// Collects every path that a filter names.
fn collect(filter: &Filter, named: &mut BTreeSet<PathBuf>) {
    match &filter.test {
        Test::All(parts) | Test::Any(parts) => parts.iter().for_each(|part| collect(part, named)),
        Test::Not(inner) => collect(inner, named),
        Test::Path(places) => {
            named.extend(places.iter().map(|place| place.pattern.fixed_prefix()));
        }
        Test::Foreign | Test::Network(_) | Test::Vnode => {}
    }
}
