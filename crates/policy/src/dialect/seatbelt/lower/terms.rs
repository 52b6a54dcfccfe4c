//! Filters on files, as places and exceptions from them.

use super::super::filter::{Filter, Test};
use super::super::place::{Place, Reach};
use crate::text::Span;

/// A place without some others.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) place: Place,
    pub(super) except: Vec<Place>,
}

/// What the kind of a file in a filter comes to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kinds {
    /// The rule denies: it may as well deny every kind.
    Ignored,
    /// The rule allows: it must not allow other kinds.
    Refused,
}

/// Why a filter cannot be said as places.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) why: String,
    pub(super) hint: &'static str,
    pub(super) span: Span,
}

/// More places than this in one profile are not followed.
pub(super) const MOST: usize = 1000;

/// More places and exceptions than this in one filter are not followed: exceptions multiply with
/// the places they are taken from.
const HEAVIEST: usize = 10_000;

/// What to do about too many places.
pub(super) const FEWER: &str = "name the folders above them instead, or split the profile";

/// How much work a profile may still ask for. It bounds time and memory whatever the rules say.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    /// Returns what one profile may ask for.
    pub(super) fn new() -> Self {
        Self(500_000)
    }

    /// Takes some of it; false once there is no more.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(steps);
        self.0 > 0
    }
}

/// Takes a filter apart.
pub(super) fn terms(
    filter: &Filter,
    kinds: Kinds,
    budget: &mut Budget,
) -> Result<Vec<Term>, Refusal> {
    let span = filter.span;
    let refuse = |why: &str, hint| Err(Refusal { why: why.into(), hint, span });
    let mut found = Vec::new();
    match &filter.test {
        Test::Path(places) => found.extend(places.iter().cloned().map(plain)),
        Test::Any(parts) => {
            let mut weight = 0;
            for part in parts {
                let more = terms(part, kinds, budget)?;
                weight += more.iter().map(Term::weight).sum::<usize>();
                check(weight, budget, span)?;
                found.extend(more);
            }
        }
        Test::Not(inner) => found.push(without(terms(inner, Kinds::Refused, budget)?, span)?),
        Test::All(parts) => {
            found.push(plain(everything(span)?));
            for part in parts {
                let more = terms(part, kinds, budget)?;
                found = common(&found, &more, budget, span)?;
            }
        }
        Test::Vnode if kinds == Kinds::Ignored => found.push(plain(everything(span)?)),
        Test::Vnode => {
            let hint = "leave `vnode-type` out, or deny instead of allowing";
            return refuse("the kind of a file cannot be enforced here", hint);
        }
        Test::Foreign | Test::Network(_) => {
            let hint = "rules about files take filters such as (subpath \"…\")";
            return refuse("this filter is not about files", hint);
        }
    }
    if found.len() > MOST { Err(too_many(span)) } else { Ok(found) }
}

impl Term {
    /// Returns how many places it holds.
    fn weight(&self) -> usize {
        1 + self.except.len()
    }
}

/// Returns what lies in a term of both lists.
fn common(
    some: &[Term],
    others: &[Term],
    budget: &mut Budget,
    span: Span,
) -> Result<Vec<Term>, Refusal> {
    let (mut both, mut weight) = (Vec::new(), 0);
    for (a, b) in some.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
        check(weight, budget, span)?;
        if let Some(term) = intersect(a, b, span)? {
            weight += term.weight();
            check(weight, budget, span)?;
            both.push(term);
        }
    }
    Ok(both)
}

/// Counts one step, and refuses what grew too large.
fn check(weight: usize, budget: &mut Budget, span: Span) -> Result<(), Refusal> {
    if weight <= HEAVIEST && budget.spend(1) { Ok(()) } else { Err(too_many(span)) }
}

fn too_many(span: Span) -> Refusal {
    Refusal { why: "it names too many places".into(), hint: FEWER, span }
}

fn plain(place: Place) -> Term {
    Term { place, except: Vec::new() }
}

fn everything(span: Span) -> Result<Place, Refusal> {
    Place::everything().map_err(|invalid| Refusal {
        why: invalid.to_string(),
        hint: "name folders by absolute paths",
        span,
    })
}

/// Returns everything but some places.
fn without(terms: Vec<Term>, span: Span) -> Result<Term, Refusal> {
    if terms.iter().any(|term| !term.except.is_empty()) {
        let why = "`require-not` of an exception is not followed".into();
        return Err(Refusal { why, hint: "say it without the double negation", span });
    }
    let except = terms.into_iter().map(|term| term.place).collect();
    Ok(Term { place: everything(span)?, except })
}

/// Returns what lies in both; none if nothing does.
fn intersect(a: &Term, b: &Term, span: Span) -> Result<Option<Term>, Refusal> {
    let tree = |place: &Place| place.reach != Reach::Exact;
    let place = if tree(&a.place) && a.place.pattern.covers(&b.place.pattern) {
        narrower(&b.place, &a.place)
    } else if tree(&b.place) && b.place.pattern.covers(&a.place.pattern) {
        narrower(&a.place, &b.place)
    } else if super::super::place::overlap(&a.place.pattern, &b.place.pattern) {
        let why = "what these filters have in common cannot be said".into();
        return Err(Refusal { why, hint: "name what they share with one (subpath \"…\")", span });
    } else {
        return Ok(None);
    };
    let Some(place) = place else { return Ok(None) };
    let except = a.except.iter().chain(&b.except).cloned().collect();
    Ok(Some(Term { place, except }))
}

/// Returns what two places have in common of which the outer covers the inner.
fn narrower(inner: &Place, outer: &Place) -> Option<Place> {
    match (inner.pattern == outer.pattern, inner.reach, outer.reach) {
        (true, Reach::Exact, Reach::Below) => None,
        (true, Reach::Tree, _) => Some(outer.clone()),
        (true | false, ..) => Some(inner.clone()),
    }
}
