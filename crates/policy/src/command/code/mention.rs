//! Names of files that stand in code, whatever they are for.
//!
//! Which functions read a file nobody can list, and names are put together in more ways than are
//! followed. A text that names a file is said to be there; whether that matters, deciding tells.

use std::collections::BTreeMap;

use super::file::local;
use super::names::{Bound, Names};
use super::sink::Sink;
use super::stream::{Commas, Stream};
use super::token::{Kind, Token};
use crate::command::cover::uncovered;
use crate::command::{Act, HOLE};

/// The longest text that is taken for a name.
const LONGEST: usize = 512;

/// Says which files the texts of some code name.
pub(super) fn mentions<'t>(streams: &[Stream<'t>], names: &Names<'t>, out: &mut Sink<'t, '_>) {
    let tokens = || streams.iter().flat_map(|stream| &stream.tokens);
    let mut home = None;
    for token in tokens() {
        let Kind::Text(text, _) = &token.kind else { continue };
        let text = names.filled.get(&token.start).map_or(&**text, String::as_str);
        for path in uncovered(text) {
            let arg = out.arg(path, token.start, token.end);
            out.act(Act::Mention(arg));
        }
        let named = match look(text) {
            Look::Other => continue,
            Look::Relative if !*home.get_or_insert_with(|| tokens().any(goes_home)) => continue,
            Look::Relative => format!("{HOLE}/{text}"),
            Look::Absolute => text.to_owned(),
            Look::Behind(at) => format!("{HOLE}{}", text.get(at..).unwrap_or_default()),
        };
        let arg = out.arg(named, token.start, token.end);
        out.act(Act::Mention(local(&arg).unwrap_or(arg)));
    }
    for bound in names.bounds.values() {
        // What stands in the code as it is was seen above.
        let Bound::Text(value) = bound else { continue };
        if value.at.is_none() && look(&value.text) == Look::Absolute {
            let arg = out.arg(value.text.clone().into_owned(), 0, 0);
            out.act(Act::Mention(arg));
        }
    }
    if tokens().any(|token| token.is("+=") || token.is(".=")) {
        sums(streams, names, out);
    }
}

/// Says which files are named by texts that are put together bit by bit: `p += "/x"`.
fn sums<'t>(streams: &[Stream<'t>], names: &Names<'t>, out: &mut Sink<'t, '_>) {
    let adds = |stream: &Stream<'t>, at: usize| stream.is(at, "+=") || stream.is(at, ".=");
    let mut sums: BTreeMap<&str, String> = BTreeMap::new();
    for stream in streams {
        for (at, token) in stream.tokens.iter().enumerate() {
            let Some(name) = token.name() else { continue };
            let grows = adds(stream, at + 1);
            if !grows && !stream.is(at + 1, "=") {
                continue;
            }
            let end = stream.expression_end(at + 2, Commas::End);
            let value = names.value(stream, (at + 2, end), 0);
            let known = sums.remove(name).filter(|_| grows);
            let mut sum = known.unwrap_or_else(|| if grows { HOLE.into() } else { String::new() });
            if sum.len() + value.text.len() > LONGEST {
                continue;
            }
            sum.push_str(&value.text);
            if grows && matches!(look(&sum), Look::Absolute | Look::Behind(_)) {
                let (start, end) = stream.bytes((at, end));
                out.act(Act::Mention(out.arg(sum.clone(), start, end)));
            }
            sums.insert(name, sum);
        }
    }
}

/// What a text looks like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Look {
    /// A path from the top, or from the home folder.
    Absolute,
    /// From here on a path below a folder that is told elsewhere: `{home}/.x`, `%s/.x`, `/.x`.
    Behind(usize),
    /// A path that may be meant to lie in the home folder.
    Relative,
    Other,
}

fn look(text: &str) -> Look {
    if text.len() > LONGEST || text.len() < 2 {
        return Look::Other;
    }
    let starts =
        text.starts_with(['/', '~', '.', HOLE, '%', '{', '$']) || text.starts_with("file:");
    if !starts || text.contains(['\n', '\t', ' ']) {
        return Look::Other;
    }
    let behind = text.match_indices("/.").map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        before.is_empty() || before.ends_with([HOLE, '}']) || before.ends_with("%s")
    });
    match behind {
        Some(at) => Look::Behind(at),
        None if text.starts_with(['/', '~', 'f']) => Look::Absolute,
        None if text.starts_with('.') && !text.starts_with("./") && !text.starts_with("..") => {
            Look::Relative
        }
        None => Look::Other,
    }
}

/// Whether a token tells that the code looks into a home folder, or works elsewhere.
fn goes_home(token: &Token<'_>) -> bool {
    match &token.kind {
        Kind::Name(name) => {
            let is_home = |part: &str| part.eq_ignore_ascii_case("home");
            name.contains("home") || is_home(name) || matches!(&**name, "chdir" | "expanduser")
        }
        Kind::Text(text, _) => {
            matches!(&**text, "HOME" | "~" | "~/")
                || text.starts_with("/root")
                || text.starts_with("/home")
                || text.starts_with("/Users")
        }
        Kind::Break | Kind::Number | Kind::Pattern | Kind::Shell(_) | Kind::Sign(_) => false,
    }
}
