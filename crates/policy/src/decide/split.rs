//! Text that is to run without a shell: words, and nothing that only a shell understands.

use super::verdict::{Answer, Axis, Reason};
use super::walk::{Input, Walk};
use crate::command::Arg;
use crate::shell::{self, CommandKind, Piece, Script, Simple};
use crate::text::Span;

impl Walk<'_> {
    /// Splits a text at its blanks, quotes heeded, and judges the one command it then is. Anything
    /// that a shell would act on denies.
    pub(super) fn words(&mut self, text: &str) {
        let script = match shell::parse(text) {
            Ok(script) => script,
            Err(unparsed) => {
                self.refuse(unparsed.code, Axis::Structure, unparsed.message, unparsed.span);
                return;
            }
        };
        match only_words(&script) {
            Ok(args) => {
                let span = Span::new(0, text.len());
                self.call(&args, span, &Input::Inherited);
            }
            Err(span) => self.report(Reason {
                answer: Answer::Deny,
                code: "shell-syntax",
                axis: Axis::Structure,
                message: "only a shell understands this, and none is used here".into(),
                span,
                origin: None,
                hint: Some("quote it, or ask for it as shell text".into()),
            }),
        }
    }
}

/// Returns the words of a text that is one simple command and nothing else, or the place of what
/// else there is.
fn only_words<'t>(script: &Script<'t>) -> Result<Vec<Arg<'t>>, Span> {
    let whole = Span::new(0, script.text.len());
    let [item] = &*script.body.items else { return Err(whole) };
    let [command] = &*item.first.stages else { return Err(whole) };
    let CommandKind::Simple(Simple { assignments, words }) = &command.kind else {
        return Err(command.span);
    };
    let plain = item.rest.is_empty() && assignments.is_empty() && command.redirections.is_empty();
    if !plain {
        return Err(command.span);
    }
    let mut args = Vec::with_capacity(words.len());
    let mut end = 0;
    for word in words {
        let mut text = String::new();
        for piece in &word.pieces {
            match piece {
                Piece::Literal(part) | Piece::Quoted(part) => text.push_str(part),
                Piece::Glob { .. }
                | Piece::Brace(_)
                | Piece::Tilde(_)
                | Piece::Parameter(_)
                | Piece::Command(..)
                | Piece::Arithmetic(..)
                | Piece::Process(_)
                | Piece::Array(_) => return Err(word.span),
            }
        }
        let source = script.text.get(word.span.start()..word.span.end()).unwrap_or_default();
        if is_for_a_shell(source) {
            return Err(word.span);
        }
        end = word.span.end();
        args.push(Arg::known(text, word.span));
    }
    // What is left after the last word and before the first: `&`, `;`, `!`, a comment.
    let first = words.first().map_or(0, |word| word.span.start());
    let around = [script.text.get(..first), script.text.get(end..)];
    // A backslash that nothing follows: a shell would read on.
    if script.text.trim_end_matches([' ', '\t']).ends_with('\\') {
        return Err(whole);
    }
    let blank = around
        .iter()
        .all(|part| part.is_some_and(|part| part.trim_matches([' ', '\t']).is_empty()));
    if blank { Ok(args) } else { Err(whole) }
}

/// Whether a word holds an unquoted mark that means something to a shell alone: `$'…'`, `[`.
fn is_for_a_shell(word: &str) -> bool {
    let mut quote = None;
    let mut escaped = false;
    for mark in word.chars() {
        match (quote, mark) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(mark),
            (None, '$' | '[' | '*' | '?' | '~') => return true,
            (Some(open), _) if open == mark => quote = None,
            (None | Some(_), _) => {}
        }
    }
    false
}
