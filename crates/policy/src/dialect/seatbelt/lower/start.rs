//! Whether programs can start at all.

use super::super::filter::{Filter, Test};
use super::super::operation::Operation;
use super::super::place::Reach;
use super::super::rule::{Rule, Rules, Verdict};
use super::inexpressible;
use crate::key::Reader;
use crate::text::Span;

/// Complains unless every program may start: which ones may is not for the walls to say.
pub(super) fn check(rules: &Rules, cx: &mut Reader<'_>) {
    let exec = |operation| matches!(operation, Operation::Exec | Operation::Process);
    let fork = |operation| matches!(operation, Operation::Fork | Operation::Process);
    for (name, about) in
        [("process-exec", &exec as &dyn Fn(Operation) -> bool), ("process-fork", &fork)]
    {
        match last(rules, about) {
            State::Open => {}
            State::Closed(span) => {
                let message = format!("nothing could run: the profile does not allow `{name}`");
                let problem = cx.complaint("nothing-runs", message, span);
                cx.report(problem.hint(format!("add (allow {name})")));
            }
            State::Some(span) => {
                let message = format!("`{name}` for some programs only cannot be enforced here");
                let hint =
                    "allow it without a filter, and list programs under `commands` of a policy";
                inexpressible(cx, message, hint, span);
            }
        }
    }
}

enum State {
    Closed(Span),
    Open,
    Some(Span),
}

fn last(rules: &Rules, about: &dyn Fn(Operation) -> bool) -> State {
    let mut state = match rules.default {
        Verdict::Allow => State::Open,
        Verdict::Deny => State::Closed(rules.default_span),
    };
    for Rule { verdict, operation, filter, span } in &rules.rules {
        if !about(*operation) {
            continue;
        }
        let whole = filter.as_ref().is_none_or(is_everything);
        state = match (verdict, whole, state) {
            // Whether more takes back less is not certain.
            (Verdict::Allow, true, State::Some(span)) if *operation == Operation::Process => {
                State::Some(span)
            }
            (Verdict::Allow, true, _) => State::Open,
            (Verdict::Deny, true, _) => State::Closed(*span),
            (Verdict::Allow, false, State::Open) => State::Open,
            (Verdict::Deny, false, State::Closed(closed)) => State::Closed(closed),
            (_, false, _) => State::Some(*span),
        };
    }
    state
}

fn is_everything(filter: &Filter) -> bool {
    match &filter.test {
        Test::Any(parts) => parts.iter().any(is_everything),
        Test::Path(places) => places
            .iter()
            .any(|place| place.reach == Reach::Tree && place.pattern.to_string() == "/"),
        Test::All(_) | Test::Foreign | Test::Network(_) | Test::Not(_) | Test::Vnode => false,
    }
}
