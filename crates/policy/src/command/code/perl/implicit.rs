//! Functions that take `$_` where they are given nothing.

use crate::command::code::scan::Scan;
use crate::command::code::stream::Stream;
use crate::command::code::token::Token;
use crate::command::{Act, Extent, Language, Run};

/// Whether nothing is given to a function whose arguments would begin at `at`.
pub(super) fn is_bare(stream: &Stream<'_>, at: usize) -> bool {
    let words = ["and", "for", "foreach", "if", "or", "unless", "until", "while", "xor"];
    stream.token(at).is_none_or(|next| {
        next.is_break()
            || next.is_sign(&[")", "}", "&&", "||", ",", ":", "?"])
            || next.name().is_some_and(|name| words.contains(&name))
    })
}

/// Judges a function that is given `$_`: that may be any of the texts in the code, and is told for
/// those that lead elsewhere.
pub(super) fn implicit<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, name: &str) {
    if !stream.pays(stream.tokens.len()) {
        return;
    }
    for at in 0..stream.tokens.len() {
        if !stream.token(at).is_some_and(Token::is_text) {
            continue;
        }
        let (arg, _) = scan.arg(stream, (at, at + 1));
        if !arg.text.starts_with(['/', '~']) && !arg.text.contains("..") {
            continue;
        }
        scan.out.act(match name {
            "mkdir" => Act::Write(arg),
            "require" => Act::Run(Run::Script(Language::Perl, arg)),
            _ => Act::Delete(arg, Extent::Single),
        });
    }
}
