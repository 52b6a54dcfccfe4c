//! Disagreements that are meant. In each of them we refuse what bash reads.

use palisade_policy::shell::{Found, Script, Unparsed};

/// Returns why we refuse a text that bash reads.
pub fn explain(_text: &str, ours: &Result<Script<'_>, Unparsed>) -> Option<&'static str> {
    let Err(error) = ours else { return None };
    match error.code {
        "too-long" | "too-deep" | "too-many-commands" => Some("our limits"),
        "control-character" | "invisible-character" => Some("characters that no command may hold"),
        "unsupported" => Some("what nobody can tell, by name"),
        _ if error.found == Found::Running => Some("what bash refuses only when it gets there"),
        _ => None,
    }
}

/// Tells names that brush finds and bash does not have.
pub fn brush_differs(text: &str, name: &str) -> bool {
    // Bash takes blanks in a subscript where a command begins.
    let cut_subscript = name.contains('[') && !name.contains(']');
    // `! time a` runs `a`; brush takes `time` for the command.
    let timed = name == "time" && text.contains("! time");
    cut_subscript || timed
}
