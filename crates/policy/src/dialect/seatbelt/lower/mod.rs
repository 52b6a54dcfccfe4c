//! From rules to policy keys. The last rule that matches counts, as in the language itself.

mod files;
mod ground;
mod loader;
mod network;
mod start;
mod terms;

use super::rule::Rules;
use super::string::Known;
use crate::key::{Reader, Sourced};
use crate::policy::Policy;
use crate::text::Span;

/// Works out the policy; problems and notes go to the reader.
pub(super) fn policy(rules: &Rules, known: Known<'_>, cx: &mut Reader<'_>) -> Policy {
    let mut policy = Policy::default();
    start::check(rules, cx);
    files::reading(rules, known, &mut policy, cx);
    files::writing(rules, known, &mut policy, cx);
    network::lower(rules, &mut policy, cx);
    policy
}

fn sourced<T>(value: T, span: Span, cx: &Reader<'_>) -> Sourced<T> {
    Sourced { value, origin: cx.origin(span) }
}

/// Files an error about what cannot be enforced as written, and what can be written instead.
fn inexpressible(cx: &mut Reader<'_>, message: String, hint: &'static str, span: Span) {
    cx.report(cx.complaint("not-expressible", message, span).hint(hint));
}
