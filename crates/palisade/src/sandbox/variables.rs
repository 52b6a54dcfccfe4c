//! Variables that a caller adds to a call: some make programs load or run something else.

use palisade_policy::command::tool::assignment;
use palisade_policy::decide::{Asked, Verdict};
use palisade_policy::text::Span;

use crate::decision::Guard;

/// Decides about the variables of a call that may run without them. A rule, and so one that a person
/// saved for good, speaks of the text of a call alone.
pub(super) fn judged(
    guard: &Guard,
    verdict: Verdict,
    variables: &[(String, String)],
    cwd: &str,
) -> Verdict {
    let loads = |(name, value): &&(String, String)| assignment(name, Some(value)).is_some();
    let loading: Vec<&(String, String)> = variables.iter().filter(loads).collect();
    if loading.is_empty() || !matches!(verdict, Verdict::Allow(_)) {
        return verdict;
    }
    // The policy's own word on such variables, as if `env` set them.
    let set = loading.iter().map(|(name, value)| format!("{name}={value}"));
    let argv: Vec<String> =
        ["env".to_owned()].into_iter().chain(set).chain(["true".to_owned()]).collect();
    let mut judged = guard.decide_as(None, Asked::Argv(&argv), cwd);
    if let Verdict::Ask(reasons) | Verdict::Deny(reasons) = &mut judged {
        // They stand in no text that anybody sees.
        for reason in &mut *reasons {
            reason.span = Span::new(0, 0);
        }
        return judged;
    }
    verdict
}
