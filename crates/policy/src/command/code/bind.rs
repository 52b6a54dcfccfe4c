//! Which names are given a value once, and which value.

use std::collections::BTreeMap;

use super::names::{Bound, Names, Tail};
use super::stream::{Commas, Stream};
use super::token::Token;
use super::value::Sort;

impl<'t> Names<'t> {
    /// Takes in assignments: `f = os.system`, `path = "a/b"`.
    pub(super) fn bind(&mut self, streams: &[Stream<'t>]) {
        // Short code gives nothing a name, nearly always. Of long code it also counts how much there
        // is to look at.
        let mut tokens = streams.iter().flat_map(|stream| &stream.tokens);
        let is_short = streams.iter().map(|stream| stream.tokens.len()).sum::<usize>() <= SHORT;
        if is_short && !tokens.any(|token| token.is("=")) {
            return;
        }
        let changes = changes(streams);
        for stream in streams {
            for at in 0..stream.tokens.len() {
                let Some(name) = stream.name(at) else { continue };
                if let Some((first, equals)) = list_of(stream, at) {
                    let end = stream.expression_end(equals + 1, Commas::Stay);
                    let parts = stream.split((equals + 1, end));
                    let same = parts.len() == (equals - first).div_ceil(2);
                    let part = parts.get((at - first) / 2).filter(|_| same);
                    if let Some((from, _)) = part {
                        self.assign(stream, name, *from, changes.get(name) == Some(&1));
                    }
                    continue;
                }
                if !stream.is(at + 1, "=") {
                    continue;
                }
                if stream.before(at).is_some_and(Token::is_dot) {
                    continue;
                }
                let once = changes.get(name) == Some(&1);
                self.assign(stream, name, at + 2, once);
            }
        }
    }

    fn assign(&mut self, stream: &Stream<'t>, name: &str, from: usize, once: bool) {
        let end = stream.expression_end(from, Commas::End);
        if ["function", "fn", "lambda", "sub", "proc", "async"]
            .iter()
            .any(|word| stream.is(from, word))
        {
            if once {
                self.bounds.insert(name.to_owned(), Bound::Function);
            }
            return;
        }
        if stream.name(from).is_some_and(|head| head != name) {
            let chain = self.chain(stream, from, 0);
            if chain.tail == Tail::None && chain.end == end && chain.path != name {
                let text = matches!(self.bounds.get(&chain.path), Some(Bound::Text(_)));
                if !text {
                    return self.alias(name, &chain.path);
                }
            }
        }
        let value = self.value(stream, (from, end), 0);
        if matches!(self.bounds.get(name), Some(Bound::Path(_))) {
            return;
        }
        let bound =
            if once && value.sort == Sort::Text { Bound::Text(value) } else { Bound::Various };
        self.bounds.insert(name.to_owned(), bound);
    }
}

/// Counts for each name how often it may be given a value.
pub(super) fn changes<'s>(streams: &'s [Stream<'_>]) -> BTreeMap<&'s str, usize> {
    let mut counts = BTreeMap::new();
    for stream in streams {
        let mut parameters = 0;
        for (at, token) in stream.tokens.iter().enumerate() {
            let next = stream.token(at + 1);
            if token.is("def") || token.is("function") || token.is("fn") || token.is("sub") {
                let open = if stream.is(at + 1, "(") { at + 1 } else { at + 2 };
                parameters = parameters.max(stream.after(open));
            } else if let Some(inside) = token.is("for").then(|| word_in(stream, at)).flatten() {
                parameters = parameters.max(inside);
            } else if token.is("lambda") || token.is("for") || token.is("foreach") || token.is("|")
            {
                parameters = parameters.max(stream.expression_end(at + 1, Commas::Stay));
            } else if token.is("(") && stream.is(stream.after(at), "=>") {
                parameters = parameters.max(stream.after(at));
            }
            let Some(name) = token.name() else { continue };
            let count = counts.entry(name).or_insert(0_usize);
            let before = stream.before(at);
            let set = next.is_some_and(|next| next.is_sign(&SETS));
            let statement =
                before.is_none_or(Token::is_break) && next.is_some_and(|next| next.is(","));
            let word = before.and_then(Token::name).is_some_and(|word| GIVES.contains(&word));
            let arrow = next.is_some_and(|next| next.is("=>") || next.is("in") || next.is("of"));
            // A list of names on the left, or parameters: `[a, b] = …`, `(a) => …`.
            let listed = before
                .is_some_and(|before| before.is_sign(&["[", "{", ",", "*", "\\", "&"]))
                && next.is_some_and(|next| next.is_sign(&["]", "}"]));
            // `x[name]` is a place in `x`.
            let subscript = before.is_some_and(|before| before.is("["))
                && at
                    .checked_sub(1)
                    .and_then(|open| stream.before(open))
                    .is_some_and(Token::ends_value);
            let listed = listed && !subscript;
            if list_of(stream, at).is_some() {
                *count += 1;
                continue;
            }
            *count += usize::from(set);
            if !set && (statement || word || arrow || listed || at < parameters) {
                *count += 2;
            }
        }
    }
    counts
}

/// Returns the first of several names and the sign behind them, if the name at `at` is one of a
/// list that is given values: `a, b = …`.
fn list_of(stream: &Stream<'_>, at: usize) -> Option<(usize, usize)> {
    let (mut first, mut last) = (at, at);
    for _ in 0..MOST_LISTED {
        let name = first.checked_sub(2).filter(|name| stream.name(*name).is_some());
        if let Some(name) = name.filter(|name| stream.is(name + 1, ",")) {
            first = name;
        }
        if stream.is(last + 1, ",") && stream.name(last + 2).is_some() {
            last += 2;
        }
    }
    let starts = stream.before(first).is_none_or(Token::is_break);
    (starts && first < last && stream.is(last + 1, "=")).then_some((first, last + 1))
}

/// Tokens of short code: however often each is looked at, that can be paid for.
const SHORT: usize = 64;

/// Most names that are given values at once.
const MOST_LISTED: usize = 8;

/// Returns where `in` stands behind `for names`.
pub(super) fn word_in(stream: &Stream<'_>, at: usize) -> Option<usize> {
    let names = |at: &usize| {
        stream.name(*at).is_some_and(|name| name != "in")
            || stream.token(*at).is_some_and(|token| token.is_sign(&[",", "(", ")"]))
    };
    let inside = (at + 1..at + 10).find(|at| !names(at))?;
    (inside > at + 1 && stream.is(inside, "in")).then_some(inside)
}

const SETS: [&str; 13] =
    ["=", ":=", "+=", "-=", ".=", "*=", "/=", "|=", "||=", "&&=", "++", "--", "=~"];

const GIVES: [&str; 6] = ["as", "global", "nonlocal", "import", "read", "chomp"];
