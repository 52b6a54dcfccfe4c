//! Reading shell text: bash and POSIX sh, the whole text or an error.
//!
//! [`parse`] is a recursive descent over bytes. It takes words apart where bash does: bash finds
//! the end of `${…}`, `((…))` and subscripts by counting brackets before it looks inside, and so
//! does [`pair`]; only then the inside is read. Whatever bash would refuse is an error, and so is
//! some of what bash would only refuse when it gets there, such as nonsense in backticks.

mod arithmetic;
mod array;
mod ast;
mod backtick;
mod brace;
mod characters;
mod command;
mod compound;
mod cursor;
mod dollar;
mod escape;
mod heredoc;
mod keyword;
mod list;
mod pair;
mod pieces;
mod quote;
mod redirection;
mod test;
mod walk;
mod word;

#[cfg(test)]
mod tests;

pub use ast::*;
pub use characters::{UNDECODED, check_characters};
use cursor::Parser;
pub use pieces::Pieces;
pub use walk::Part;

use crate::text::Span;

/// Longest shell text that is read, in bytes.
pub const MAX_TEXT: usize = 64 << 10;
/// Longest list of arguments that is judged, in bytes, each with one for its end. Lists of files
/// are longer than what people write.
pub const MAX_ARGV: usize = 128 << 10;
/// Deepest nesting of any kind: parentheses, substitutions, compound commands, backticks.
pub const MAX_DEPTH: usize = 64;
/// Most simple commands in one text.
pub const MAX_COMMANDS: usize = 10_000;

/// Why a text is not read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Unparsed {
    /// A name that never changes: `too-long`, `too-deep`, `too-many-commands`,
    /// `control-character`, `invisible-character`, `unterminated-quote`, `unterminated-expansion`,
    /// `unexpected-end`, `unexpected-token`, `unsupported`.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Whether bash itself would refuse the text.
    pub found: Found,
}

/// When bash would find what is wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// Before it runs anything on that line.
    Reading,
    /// When it gets there, if ever: in backticks, heredocs, arithmetic and patterns.
    Running,
}

/// Whose rules a text is read by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grammar {
    /// Bash's.
    Bash,
    /// Bash's where it keeps to the standard: in `"${x:-…}"` a single quote stands for itself.
    Standard,
    /// Those of a shell that has nothing of bash's own: `((` opens two subshells, `[[` and `time`
    /// are programs, `$'` is a dollar in front of a quote, `&>` is a `&` and a `>`.
    Posix,
}

/// Reads a text as `bash -c` would.
///
/// # Errors
///
/// Says what cannot be read, and where. A text is read as a whole or not at all.
pub fn parse(text: &str) -> Result<Script<'_>, Unparsed> {
    parse_as(text, Grammar::Bash)
}

/// Reads a text by the rules of one kind of shell.
///
/// # Errors
///
/// As [`parse`] does.
pub fn parse_as(text: &str, grammar: Grammar) -> Result<Script<'_>, Unparsed> {
    if text.len() > MAX_TEXT {
        return Err(Unparsed {
            code: "too-long",
            message: format!("the command is {} bytes long, the limit is {MAX_TEXT}", text.len()),
            span: Span::new(MAX_TEXT, text.len()),
            found: Found::Reading,
        });
    }
    check_characters(text)?;
    let mut parser = Parser::new(text, grammar);
    let body = parser.script()?;
    Ok(Script { text, body, depth: parser.deepest })
}
