//! The answers that an agent offers, and the one that says what was decided.

use serde_json::{Value as Json, json};

/// Returns the answer that allows this call and no other, if there is one.
pub(super) fn allowing(options: &[Json]) -> Option<Json> {
    of_kind(options, "allow_once").map(selected)
}

/// Returns the answer that refuses this call.
pub(super) fn refusing(options: &[Json]) -> Json {
    let refuses = of_kind(options, "reject_once").or_else(|| of_kind(options, "reject_always"));
    refuses.map_or_else(cancelled, selected)
}

/// Returns the answer of somebody who wants nothing to happen.
pub(super) fn cancelled() -> Json {
    json!({ "outcome": { "outcome": "cancelled" } })
}

/// Leaves out what would have the agent ask no more, and what is not known; returns the rest, and the
/// names of those.
pub(super) fn offered(options: Vec<Json>) -> (Vec<Json>, Vec<String>) {
    let is_known = |option: &Json| {
        let kind = option.get("kind").and_then(Json::as_str);
        matches!(kind, Some("allow_once" | "reject_once" | "reject_always"))
            && name(option).is_some()
    };
    let options: Vec<Json> = options.into_iter().filter(is_known).collect();
    let names = options.iter().filter_map(name).map(str::to_owned).collect();
    (options, names)
}

/// Whether an answer is one of these, or that nothing is to happen.
pub(super) fn is_one_of(answer: &Json, names: &[String]) -> bool {
    let Some(outcome) = answer.get("outcome") else { return false };
    match outcome.get("outcome").and_then(Json::as_str) {
        Some("cancelled") => true,
        Some("selected") => selects(answer, names),
        _ => false,
    }
}

/// Returns the names of the answers of one kind.
pub(super) fn names(options: &[Json], kind: &str) -> Vec<String> {
    let is_so = |option: &&Json| option.get("kind").and_then(Json::as_str) == Some(kind);
    options.iter().filter(is_so).filter_map(name).map(str::to_owned).collect()
}

/// Whether an answer selects one of these.
pub(super) fn selects(answer: &Json, names: &[String]) -> bool {
    let outcome = answer.get("outcome");
    let id = outcome.filter(|it| it.get("outcome") == Some(&json!("selected"))).and_then(name);
    id.is_some_and(|id| names.iter().any(|known| known == id))
}

fn of_kind<'o>(options: &'o [Json], kind: &str) -> Option<&'o str> {
    let is_so = |option: &&Json| option.get("kind").and_then(Json::as_str) == Some(kind);
    options.iter().filter(is_so).find_map(name)
}

fn name(option: &Json) -> Option<&str> {
    option.get("optionId").and_then(Json::as_str)
}

fn selected(name: &str) -> Json {
    json!({ "outcome": { "outcome": "selected", "optionId": name } })
}
