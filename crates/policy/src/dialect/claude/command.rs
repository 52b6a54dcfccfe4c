//! Specifiers of `Bash`, as regular expressions over the text of a command.
//!
//! The two directions err on opposite sides. A rule that allows must match the whole text, and a
//! `*` in it stands for anything but what could start another command, redirect or expand: so
//! `npm run test:*` allows `npm run test --watch` and never `npm run test; rm -rf .`. A rule that
//! denies or asks matches wherever a command can start in the text, behind assignments, launchers,
//! quotes and folders.

use crate::dialect::glob;

/// What `*` stands for in a rule that allows: no operator, no redirection, no expansion, no escape,
/// no control character.
const INERT: &str = r"[^;&|<>()$`\\\x00-\x1f\x7f]*";

/// What `*` stands for where the program acts on its own arguments: nor may a quote, a brace or a
/// wildcard spell an argument that the guard would have seen.
const PLAIN: &str = r#"[^;&|<>()$`\\"'{}\[\]*?\x00-\x1f\x7f]*"#;

/// Where a command can start in a text. Blanks are those of a shell: others are part of a word, and
/// classes of Unicode would make every rule slow to compile.
const START: &str = r#"(?:^|[;&|(){}`\n\r!]|(?:^|[ \t;\n\r&|(){}])(?:then|do|else|elif|if|while|until|coproc|time)[ \t\n\r]|[ \t]-(?:exec|execdir|ok|okdir)[ \t]|[ \t]-[A-Za-z]*c[ \t]+["']?)"#;

/// A word of a shell, with its quotes.
const WORD: &str =
    r#"(?:"(?:[^"\\]|\\(?s:.))*"|\$'(?:[^'\\]|\\(?s:.))*'|'[^']*'|\\(?s:.)|[^ \t\r\n])"#;

/// What can stand between that place and the command, behind assignments and redirections:
/// launchers with their words.
const LAUNCHER: &str = r"(?:(?:[^ \t\r\n;&|()]*/)?(?:timeout|time|nice|nohup|stdbuf|command|builtin|noglob|xargs|sudo|doas|env|exec|eval|setsid|ionice|watch|flock)[ \t]+(?:[^ \t\r\n;&|()]+[ \t]+)*)?";

/// What can stand right before a command's name: an escape, a quote, folders.
const NAME: &str = r#"[\\"']?(?:[^ \t\r\n;&|()"']*/)?"#;

/// What ends a command.
const END: &str = r#"(?:[;&|()<>`}\n\r"']|$)"#;

/// Launchers that run whatever follows them: no prefix of theirs is allowed without asking.
const LAUNCHERS: [&str; 4] = ["watch", "setsid", "ionice", "flock"];

/// A specifier taken apart.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Specifier {
    /// Every command.
    Every,
    /// A text with `*` in it, or none.
    Text {
        /// The pieces between the `*`.
        pieces: Vec<String>,
        /// How it ends.
        end: End,
    },
}

/// How a specifier ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// With its last piece.
    Exact,
    /// With a word's end: `ls *` is `ls` and `ls -l`, not `lsof`.
    Words,
}

impl Specifier {
    /// Takes a specifier apart; `x:*` is another spelling of `x *`.
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        let (body, end) = match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
            Some(body) => (body.trim_end(), End::Words),
            None => (text, End::Exact),
        };
        if body.chars().all(|c| c == '*') {
            return Self::Every;
        }
        Self::Text { pieces: body.split('*').map(str::to_owned).collect(), end }
    }

    /// Returns the expression of a rule that allows; none if the specifier must not allow anything.
    pub(super) fn allowing(&self) -> Option<String> {
        let Self::Text { pieces, end } = self else { return None };
        let program = program(pieces);
        let has_wildcard = pieces.len() > 1 || *end == End::Words;
        if has_wildcard && LAUNCHERS.contains(&&*program) {
            return None;
        }
        // `find` runs and deletes by its own arguments.
        let (guard, any) = match &*program {
            "find" if has_wildcard => {
                (r#"(?!.*[ "']-(?:exec|execdir|ok|okdir|delete|fls|fprint))"#, PLAIN)
            }
            _ => ("", INERT),
        };
        let body: Vec<String> = pieces.iter().map(|piece| literal(piece, " +")).collect();
        let rest = match end {
            End::Exact => String::new(),
            End::Words => format!("(?: {any})?"),
        };
        Some(format!("^{guard}{}{rest}$", body.join(any)))
    }

    /// Returns the expression of a rule that denies or asks; none if it is about every command.
    pub(super) fn refusing(&self) -> Option<String> {
        let Self::Text { pieces, end } = self else { return None };
        let body: Vec<String> =
            pieces.iter().map(|piece| literal(piece, r"(?:[ \t]|\\\r?\n)+")).collect();
        let rest = match end {
            End::Exact if pieces.last().is_some_and(String::is_empty) => String::new(),
            End::Exact => format!(r"[ \t]*{END}"),
            End::Words => format!(r"(?:[ \t]|{END})"),
        };
        Some(format!("{START}{}{NAME}{}{rest}", lead(), body.join("(?s:.)*")))
    }
}

/// Returns what can stand between the place where a command can start and its name.
fn lead() -> String {
    let assignment = format!(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\] \t]*\])?\+?={WORD}*");
    let redirection = format!(r"[0-9]*[<>]+[&|]?[ \t]*{WORD}+");
    format!(r"(?:[ \t\r\n]|\\\r?\n)*(?:(?:{assignment}|{redirection})[ \t]+)*{LAUNCHER}")
}

/// Returns the name of the program that a specifier begins with, without folders and quotes.
fn program(pieces: &[String]) -> String {
    let first = pieces.first().and_then(|piece| piece.split_whitespace().next());
    let name = first.and_then(|first| first.rsplit('/').next()).unwrap_or_default();
    name.replace(['"', '\'', '\\'], "")
}

/// Takes a text literally, but for its blanks.
fn literal(text: &str, blanks: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            while chars.next_if(|next| next.is_whitespace()).is_some() {}
            out.push_str(blanks);
        } else {
            out.push_str(&glob::literal(c));
        }
    }
    out
}
