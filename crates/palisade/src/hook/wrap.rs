//! A shell command that runs behind walls in place of the one that was asked for.

use std::path::Path;

use serde_json::{Map, Value as Json};

use super::agent::Agent;

/// The input of a tool in which the shell text runs through our program.
#[derive(Clone, Debug)]
pub(super) struct Wrapped {
    /// As the agent gets it.
    pub(super) input: Map<String, Json>,
    /// As it is judged: with the text that a shell would hand to our program, read back.
    pub(super) judged: Map<String, Json>,
}

/// Returns the input in which the shell text runs through `program`; none if the tool runs none.
/// The project stays the one that the call was judged in, wherever the agent's shell is.
pub(super) fn wrapped(
    agent: Agent,
    tool: &str,
    input: &Map<String, Json>,
    program: &Path,
    root: &str,
) -> Result<Option<Wrapped>, String> {
    let shells = agent.facts().shells;
    let Some((_, parameter)) = shells.iter().find(|(name, _)| *name == tool) else {
        return Ok(None);
    };
    let Some(Json::String(text)) = input.get(*parameter) else {
        return Err(format!("the shell text in `{parameter}` is missing"));
    };
    if text == "-" {
        return Err("`-` is no command".to_owned()); // our own word for standard input
    }
    let program = program.to_str().ok_or("the name of our own program is no text")?;
    let head = format!("{} run --root {} --shell ", quoted(program), quoted(root));
    let command = format!("{head}{}", quoted(text));
    let again =
        command.strip_prefix(&head).and_then(unquoted).ok_or("the command cannot be quoted")?;
    let with = |command: String| {
        let mut input = input.clone();
        input.insert((*parameter).to_owned(), command.into());
        input
    };
    Ok(Some(Wrapped { input: with(command), judged: with(again) }))
}

/// Quotes a word for a shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Reads a word back as a shell would; none if it is not exactly one.
fn unquoted(word: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Some(word.to_owned());
    }
    let pieces: Vec<&str> = word.strip_prefix('\'')?.strip_suffix('\'')?.split(r"'\''").collect();
    let is_whole = pieces.iter().all(|piece| !piece.contains('\''));
    is_whole.then(|| pieces.join("'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        for (word, text) in [
            ("ls", "ls"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(id)", "'$(id)'"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(quoted(word), text);
            assert_eq!(unquoted(text).as_deref(), Some(word));
        }
    }
}
