//! What `palisade audit verify --json` prints.

use std::path::Path;

use palisade::audit::{Key, Problem, State, Verified};
use serde_json::{Value as Json, json};

pub(super) fn verified(log: &Path, seen: &Verified, key: Option<&Key>) -> Json {
    let problem = |it: &Problem| {
        json!({
            "code": it.code,
            "file": it.file.to_string_lossy(),
            "line": it.line,
            "message": it.message,
        })
    };
    json!({
        "file": log.to_string_lossy(),
        "state": seen.state(key).word(),
        // Null where nobody can say.
        "intact": match seen.state(key) {
            State::Intact => Some(true),
            State::Changed => Some(false),
            State::Unproven => None,
        },
        "unchecked": if key.is_some() { &[][..] } else { &["seals", "checkpoints", "head"][..] },
        "records": seen.records,
        "first": seen.first,
        "last": seen.last,
        "files": seen.files,
        "signatures": key.map(|_| seen.signatures),
        "problems": seen.problems.iter().map(problem).collect::<Vec<_>>(),
        "more_problems": seen.more,
        "notes": seen.notes,
    })
}
