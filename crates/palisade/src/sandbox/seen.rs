//! What the walls saw of a command, for programs in other languages.

use palisade_apply::{Bound, Outcome, Touched, Violation, Violations};
use serde_json::{Value, json};

/// Returns the fields, by name; where nothing ran they are empty.
pub(super) fn fields(seen: Option<&Outcome>) -> [(&'static str, Value); 6] {
    let unknown = Violations::Unavailable;
    let seen_violations = seen.map_or(&unknown, |seen| &seen.violations);
    let reached = seen.map_or(&[][..], |seen| &seen.reached);
    let files = seen.map_or(&[][..], |seen| &seen.touched);
    let left = seen.and_then(|seen| seen.left_in_tmp.as_ref());
    let left = left.map(|left| left.iter().map(|path| path.to_string_lossy()).collect());
    [
        ("violations", violations(seen_violations)),
        ("limit", seen.and_then(|seen| seen.limit).map(Bound::word).into()),
        ("limits_reached", reached.iter().map(|bound| bound.word()).collect()),
        ("touched", files.iter().map(touched).collect()),
        ("left_in_tmp", left.unwrap_or(Value::Null)),
        ("survivors", seen.map(|seen| seen.survivors.word()).into()),
    ]
}

fn violations(violations: &Violations) -> Value {
    match violations {
        Violations::Unavailable => "unavailable".into(),
        Violations::Predicted(list) => list.iter().map(violation).collect(),
    }
}

fn violation(violation: &Violation) -> Value {
    json!({
        "predicted": true,
        "operation": violation.operation,
        "path": violation.path.to_string_lossy(),
        "rule": violation.rule,
        "remedy": violation.remedy,
        "times": violation.times,
    })
}

fn touched(touched: &Touched) -> Value {
    json!({ "path": touched.path.to_string_lossy(), "why": touched.why })
}
