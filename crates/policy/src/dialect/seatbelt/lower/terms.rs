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
    pub(super) span: Span,
}

/// More places than this in one profile are not followed.
pub(super) const MOST: usize = 1000;

/// Takes a filter apart.
pub(super) fn terms(filter: &Filter, kinds: Kinds) -> Result<Vec<Term>, Refusal> {
    let refuse = |why: &str| Err(Refusal { why: why.into(), span: filter.span });
    let found = match &filter.test {
        Test::Path(places) => places.iter().cloned().map(plain).collect(),
        Test::Any(parts) => {
            let mut found = Vec::new();
            for part in parts {
                found.extend(terms(part, kinds)?);
            }
            found
        }
        Test::Not(inner) => vec![without(terms(inner, Kinds::Refused)?, filter.span)?],
        Test::All(parts) => {
            let mut found = vec![plain(everything(filter.span)?)];
            for part in parts {
                let more = terms(part, kinds)?;
                let mut both = Vec::new();
                for (a, b) in found.iter().flat_map(|a| more.iter().map(move |b| (a, b))) {
                    both.extend(intersect(a, b, filter.span)?);
                    if both.len() > MOST {
                        return refuse("it names too many places");
                    }
                }
                found = both;
            }
            found
        }
        Test::Vnode if kinds == Kinds::Ignored => vec![plain(everything(filter.span)?)],
        Test::Vnode => return refuse("the kind of a file cannot be enforced here"),
        Test::Foreign | Test::Network(_) => return refuse("this filter is not about files"),
    };
    if found.len() > MOST { refuse("it names too many places") } else { Ok(found) }
}

fn plain(place: Place) -> Term {
    Term { place, except: Vec::new() }
}

fn everything(span: Span) -> Result<Place, Refusal> {
    Place::everything().map_err(|invalid| Refusal { why: invalid.to_string(), span })
}

/// Returns everything but some places.
fn without(terms: Vec<Term>, span: Span) -> Result<Term, Refusal> {
    if terms.iter().any(|term| !term.except.is_empty()) {
        return Err(Refusal { why: "`require-not` of an exception is not followed".into(), span });
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
        return Err(Refusal { why, span });
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
