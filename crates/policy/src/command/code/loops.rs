//! What a loop's name stands for: files that were found below a folder, or the words of a list.

use super::names::{Bound, Names, Tail};
use super::stream::{Range, Stream};
use super::token::Token;
use super::value::{FOUND, MADE, Sort, Value};
use super::{VALUE_DEPTH, bind};
use crate::command::Language;

/// How many words of a list are tried.
const TURNS: usize = 16;

/// A loop over words that are written out.
#[derive(Debug)]
pub(super) struct Choice<'t> {
    pub(super) name: String,
    pub(super) values: Vec<Value<'t>>,
}

impl<'t> Names<'t> {
    /// Takes in `for name in …:` and `with … as name:` of Python.
    ///
    /// A name that is given a value elsewhere too may be anything, and so may one of two lists.
    pub(super) fn loops(&mut self, streams: &[Stream<'t>]) -> Option<Choice<'t>> {
        if self.dialect.language != Language::Python {
            return None;
        }
        let changes = bind::changes(streams);
        let once = |name: &str| changes.get(name) == Some(&2);
        let mut choices: Vec<Choice<'t>> = Vec::new();
        for stream in streams {
            for at in 0..stream.tokens.len() {
                if stream.is(at, "as") {
                    let name = stream.name(at + 1).filter(|name| once(name));
                    if let Some(name) = name.filter(|_| self.is_made(stream, at)) {
                        self.bounds.insert(name.to_owned(), Bound::Text(Value::text(MADE)));
                    }
                }
                let Some(inside) =
                    stream.is(at, "for").then(|| bind::word_in(stream, at)).flatten()
                else {
                    continue;
                };
                let tokens = stream.tokens.get(at + 1..inside).unwrap_or_default();
                let names: Vec<&str> = tokens.iter().filter_map(Token::name).collect();
                if !names.iter().all(|name| once(name)) {
                    continue;
                }
                let range = self.unwrapped(stream, (inside + 1, header_end(stream, inside + 1)));
                let Some((last, before)) = names.split_last() else { continue };
                if let (Some(folder), [root, _]) = (self.walked(stream, range), before) {
                    self.bounds.insert((*root).to_owned(), Bound::Text(folder));
                    self.bounds.insert((*last).to_owned(), Bound::Listing);
                    continue;
                }
                // `for number, name in enumerate(…)`
                if before.len() > 1 {
                    continue;
                }
                if let Some(found) = self.found(stream, range) {
                    self.bounds.insert((*last).to_owned(), Bound::Text(found));
                } else if let (Some(values), []) = (self.words(stream, range), before) {
                    choices.push(Choice { name: (*last).to_owned(), values });
                }
            }
        }
        let only = choices.pop();
        only.filter(|_| choices.is_empty())
    }

    /// Tells `tempfile.TemporaryDirectory()` in front of `at`.
    fn is_made(&self, stream: &Stream<'t>, at: usize) -> bool {
        let Some(close) = at.checked_sub(1).filter(|close| stream.is(*close, ")")) else {
            return false;
        };
        let open = stream.mate(close);
        let start = stream.receiver(open);
        open + 1 == close && self.chain(stream, start, 1).path == "tempfile.TemporaryDirectory"
    }

    /// Leaves `sorted(…)` and the like, which change no name.
    fn unwrapped(&self, stream: &Stream<'t>, (mut from, mut to): Range) -> Range {
        for _ in 0..VALUE_DEPTH {
            let wraps = stream.name(from).is_some_and(|name| {
                matches!(name, "sorted" | "list" | "set" | "tuple" | "reversed" | "enumerate")
                    && !self.bounds.contains_key(name)
            });
            let close = stream.mate(from + 1);
            if !wraps || !stream.is(from + 1, "(") || close + 1 != to {
                break;
            }
            let Some(first) = stream.split((from + 2, close)).first().copied() else { break };
            (from, to) = first;
        }
        (from, to)
    }

    /// Returns what a folder of `os.walk("folder")` is.
    fn walked(&self, stream: &Stream<'t>, (from, to): Range) -> Option<Value<'t>> {
        let chain = stream.name(from).map(|_| self.chain(stream, from, 1))?;
        let Tail::Call(args) = chain.tail else { return None };
        if chain.path != "os.walk" || args.1 + 1 != to {
            return None;
        }
        let folder = self.value(stream, *stream.split(args).first()?, 1);
        below(folder.known()?, None)
    }

    /// Returns what files are that a call finds.
    fn found(&self, stream: &Stream<'t>, (from, to): Range) -> Option<Value<'t>> {
        if to == from + 1 {
            let name = stream.name(from)?;
            let lists = matches!(self.bounds.get(name), Some(Bound::Listing));
            return lists.then(|| Value::text(FOUND.to_string()));
        }
        let close = to.checked_sub(1).filter(|close| stream.is(*close, ")"))?;
        let open = stream.mate(close);
        let args = stream.split((open + 1, close));
        let first = |at: usize| args.get(at).map(|part| self.value(stream, *part, 1));
        let method = stream.name(open.checked_sub(1)?)?;
        let chain = stream.name(from).map(|_| self.chain(stream, from, 1))?;
        match chain.path.as_str() {
            "glob.glob" | "glob.iglob" if chain.end == open => {
                let is_plain =
                    |part: &Range| !stream.is(part.0 + 1, "=") || stream.is(part.0, "recursive");
                let pattern = first(0)?;
                let pattern = pattern.known()?;
                if !args.iter().all(is_plain) || !pattern.contains(['*', '?', '[']) {
                    return None;
                }
                let (above, _) = pattern.rsplit_once('/').unwrap_or(("", pattern));
                let hidden = pattern.split('/').any(|part| part.starts_with('.') && part.len() > 2);
                if !pattern.contains("**") && (hidden || above.contains(['*', '?', '['])) {
                    return Some(Value::text(wildcards(pattern)));
                }
                let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
                let fixed: Vec<&str> =
                    folder.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect();
                below(&fixed.join("/"), Some(name))
            }
            "os.listdir" if chain.end == open => {
                first(0)?.known()?;
                Some(Value::text(FOUND.to_string()))
            }
            _ if matches!(method, "rglob" | "glob" | "iterdir") => {
                let dot = open.checked_sub(2).filter(|dot| stream.is(*dot, "."))?;
                let folder = self.value(stream, (from, dot), 1);
                let pattern = first(0);
                let pattern = match &pattern {
                    Some(pattern) => Some(pattern.known()?),
                    None => None,
                };
                if pattern.is_some_and(|pattern| pattern.contains("..")) {
                    return None;
                }
                let name = pattern.and_then(|pattern| pattern.rsplit('/').next());
                below(folder.known()?, name)
            }
            _ => None,
        }
    }

    /// Returns the words of a list that is written out.
    fn words(&self, stream: &Stream<'t>, range: Range) -> Option<Vec<Value<'t>>> {
        let parts = self.elements(stream, range)?;
        let values: Vec<_> = parts.iter().map(|part| self.value(stream, *part, 1)).collect();
        let fits = !values.is_empty() && values.len() <= TURNS;
        let known = |value: &Value<'_>| value.sort == Sort::Text && value.known().is_some();
        (fits && values.iter().all(known)).then_some(values)
    }
}

/// Returns what a file below a folder is called.
///
/// In the project's own folder lies what is protected too: there only an ending tells files apart.
fn below<'t>(folder: &str, pattern: Option<&str>) -> Option<Value<'t>> {
    let ending = pattern.and_then(|pattern| pattern.strip_prefix("*.")).filter(|ending| {
        !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_here = folder.split('/').all(|part| matches!(part, "" | "."));
    let folder = match folder {
        "" => ".",
        "/" => return None,
        folder => folder.trim_end_matches('/'),
    };
    match ending {
        Some(ending) => Some(Value::text(format!("{folder}/{FOUND}.{ending}"))),
        None if is_here => None,
        None => Some(Value::text(format!("{folder}/{FOUND}"))),
    }
}

/// Writes a pattern's wildcards as what they find.
fn wildcards(pattern: &str) -> String {
    let mut text = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '[' => {
                chars.by_ref().find(|c| *c == ']');
                text.push(FOUND);
            }
            '*' | '?' => text.push(FOUND),
            c => text.push(c),
        }
    }
    text
}

/// Returns where a loop's header ends: at its colon, or at the end of what it stands in.
fn header_end(stream: &Stream<'_>, mut at: usize) -> usize {
    while let Some(token) = stream.token(at) {
        if token.is(":") || token.is_break() || token.closes() || token.is("if") {
            break;
        }
        at = stream.after(at).max(at + 1);
    }
    at
}
