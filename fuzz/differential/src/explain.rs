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
pub fn brush_differs(text: &str, name: &str) -> bool {
    // Bash takes blanks in a subscript where a command begins.
    let cut_subscript = name.contains('[') || name.contains(']');
    let subscript = text.contains('[') && text.contains(']');
    // Bash knows no `time` right behind `$(`, and several in a row; brush the other way round.
    let timed = text.contains("time");
    // Brush ends a word at `<(`, and `$[…]` at its first bracket.
    let process = text.contains("<(") || text.contains(">(");
    let old_arithmetic = text.contains("$[");
    // Brush takes `!(…)` for a pattern, and `((a);)` for arithmetic.
    let parenthesis = name.starts_with("!(") || text.contains("((");
    // Brush joins lines and drops comments in a name that it does not understand.
    let opaque = ["$(", "${", "`"].iter().any(|part| name.contains(part));
    // Brush ends lines in backticks and heredocs elsewhere, and descriptors behind an operator.
    let escaped = text.contains('`') && text.contains('\\');
    let lines = text.contains("\\\n") || text.contains("<<") || name.starts_with('{');
    // Brush ends a word behind an array, and reads `>&-x` as one.
    let glued = text.contains("=(") || text.contains("&-");
    let structure = cut_subscript || subscript || timed || process || old_arithmetic;
    structure || parenthesis || opaque || escaped || lines || glued
}
