//! What `palisade audit verify --json` prints.

use std::path::Path;

use palisade::audit::{Problem, Verified};
use serde_json::{Value as Json, json};

pub(super) fn verified(log: &Path, seen: &Verified, key: bool) -> Json {
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
        "intact": seen.is_intact(),
        "records": seen.records,
        "first": seen.first,
        "last": seen.last,
        "files": seen.files,
        "signatures": key.then_some(seen.signatures),
        "problems": seen.problems.iter().map(problem).collect::<Vec<_>>(),
        "more_problems": seen.more,
        "notes": seen.notes,
    })
}
