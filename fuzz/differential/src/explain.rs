//! Disagreements that are meant. In each of them we refuse what bash reads.

use palisade_policy::shell::{Found, Script, Unparsed};

/// Returns why we refuse a text that bash reads.
pub fn explain(ours: &Result<Script<'_>, Unparsed>) -> Option<String> {
    let Err(error) = ours else { return None };
    match error.code {
        "too-long" | "too-deep" | "too-many-commands" => Some("our limits".to_owned()),
        "control-character" | "invisible-character" => Some("invisible characters".to_owned()),
        "unsupported" => Some(format!("by name: {error}")),
        _ if error.found == Found::Running => Some("bash refuses it when it gets there".to_owned()),
        _ => None,
    }
}

/// Tells texts with constructs that brush reads otherwise than bash.
pub fn brush_differs(text: &str) -> bool {
    // Bash takes blanks in a subscript where a command begins; brush ends `$[…]` at its first bracket.
    let subscript = text.contains('[') && text.contains(']');
    // Bash knows no `time` right behind `$(`, and several in a row; brush the other way round.
    let timed = text.contains("time");
    // Brush ends a word at `<(`.
    let process = text.contains("<(") || text.contains(">(");
    // Brush takes `!(…)` and its kin for patterns, and `((a);)` for arithmetic.
    let parenthesis = ["!(", "*(", "?(", "+(", "@(", "(("].iter().any(|part| text.contains(part));
    // Brush ends lines in backticks and heredocs elsewhere.
    let lines = text.contains("\\\n") || text.contains("<<");
    let escaped = text.contains('`') && text.contains('\\');
    // Brush ends a word behind an array, reads `>&-x` as one, and `{fd}>` not always.
    let glued = text.contains("=(") || text.contains("&-") || text.contains("}>");
    // Brush knows no comment in `${ …; }`.
    let comment = text.contains("${ ") && text.contains('#');
    subscript || timed || process || parenthesis || lines || escaped || glued || comment
}

/// Tells names that brush does not take apart: it joins lines and drops comments in them.
pub fn is_opaque(name: &str) -> bool {
    ["$(", "${", "`"].iter().any(|part| name.contains(part))
}
