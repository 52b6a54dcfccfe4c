//! Names in headers, and the paths they may stand for.

use std::borrow::Cow;

use super::Unreadable;
use super::line::Line;
use crate::jail::behind_drive;
use crate::text::Span;

/// A name in a header, free of quotes.
#[derive(Clone, Debug)]
pub(super) struct Name<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) span: Span,
}

impl<'t> Name<'t> {
    pub(super) fn plain(line: Line<'t>) -> Self {
        Self { text: line.text.into(), span: line.span() }
    }

    /// Whether it says that there is no file.
    pub(super) fn is_nothing(&self) -> bool {
        self.text == "/dev/null"
    }
}

/// Returns every name that may be meant by what comes behind `--- `.
///
/// A tab ends it, unless somebody means to fool those who know no tabs. Where there is none it may end at the first blank, before a date, or not at all:
/// programs differ.
pub(super) fn names(line: Line<'_>) -> Result<Vec<Name<'_>>, Unreadable> {
    let line = line.trimmed();
    if line.text.is_empty() {
        return Ok(Vec::new());
    }
    if let Some((name, behind)) = quoted(line)? {
        // Not everybody knows quotes; for them the name goes on behind.
        let whole = Some(Name::plain(line)).filter(|_| behind.text.contains(".."));
        return Ok(std::iter::once(name).chain(whole).collect());
    }
    let mut found = Vec::new();
    let mut add = |end: usize| {
        let text = line.text.get(..end).unwrap_or_default().trim_end();
        let is_new = |known: &Name<'_>| known.text != text;
        if !text.is_empty() && found.iter().all(is_new) {
            found.push(Name::plain(Line { text, ..line }));
        }
    };
    if let Some(tab) = line.text.find('\t') {
        add(tab);
        let (_, behind) = line.text.split_at(tab);
        if behind.contains("..") {
            add(line.text.len());
        }
    } else {
        add(line.text.len());
        let blank = |(at, _): (usize, &str)| at;
        line.text.match_indices(char::is_whitespace).take(1).map(blank).for_each(&mut add);
        let dates = words(line.text).filter(|(_, word)| is_date(word)).map(|(at, _)| at);
        dates.clone().take(1).for_each(&mut add);
        dates.last().into_iter().for_each(&mut add);
    }
    // A quote that never ends is part of the name for some, and nothing for others.
    if let Some(rest) = line.after("\"") {
        let text = rest.text.trim_end_matches('"');
        found.push(Name::plain(Line { text, ..rest }));
    }
    Ok(found)
}

/// Reads a name in quotes, as git writes names with odd characters, and returns what comes behind.
/// Nothing where there is no quote, or it does not end.
pub(super) fn quoted(line: Line<'_>) -> Result<Option<(Name<'_>, Line<'_>)>, Unreadable> {
    let Some(body) = line.after("\"") else { return Ok(None) };
    let mut bytes = Vec::new();
    let mut rest = body.text.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => {
                let span = Span::new(line.start, body.start + at + 1);
                let Ok(text) = String::from_utf8(bytes) else {
                    let message = "a file name in the patch is not text";
                    return Err(Unreadable::new("patch-name", message, span));
                };
                let behind = body.text.get(at + 1..).unwrap_or_default();
                let behind = Line { text: behind, start: span.end() };
                return Ok(Some((Name { text: text.into(), span }, behind)));
            }
            b'\\' => {
                let Some((_, escaped)) = rest.next() else { return Ok(None) };
                let byte = match escaped {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'\\' | b'"' => escaped,
                    b'0'..=b'3' => {
                        let mut value = escaped - b'0';
                        for _ in 0..2 {
                            let Some((_, digit @ b'0'..=b'7')) = rest.next() else {
                                return Ok(None);
                            };
                            value = value * 8 + (digit - b'0');
                        }
                        value
                    }
                    _ => return Ok(None),
                };
                bytes.push(byte);
            }
            byte => bytes.push(byte),
        }
    }
    Ok(None)
}

/// How many folders in front of a name may be left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Strips {
    /// None.
    None,
    /// Only those in front of a `..`, which is never meant well.
    Climbing,
    /// One.
    One,
    /// One, two or all.
    Any,
}

/// Returns every path that a name may be taken for.
pub(super) fn readings(path: &str, strips: Strips) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |reading: &str| {
        if !reading.is_empty() && found.iter().all(|known| known != reading) {
            found.push(reading.to_owned());
        }
    };
    let slashed = path.replace('\\', "/");
    for path in [path, &slashed] {
        add(path);
        // On its own a quote is a strange name; around a name it is left out by some.
        let inner = ['"', '\'', '`']
            .iter()
            .find_map(|quote| path.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote)));
        inner.into_iter().for_each(&mut add);
        stripped(path, strips).for_each(&mut add);
    }
    // `C:\x` lies in no project, and `C:x` is a folder of its own only here.
    if behind_drive(&slashed).is_some() {
        add(&format!("/{slashed}"));
    }
    // An empty name is judged too: it is refused.
    if found.is_empty() {
        found.push(String::new());
    }
    found
}

/// Leaves out the first folder, the first two, all of them, and all before the first `..`.
fn stripped(path: &str, strips: Strips) -> impl Iterator<Item = &str> {
    // `a//x` without its first folder is `x` for some and `/x` for others.
    let one = path.split_once('/').map(|(_, rest)| rest);
    let one_run = one.map(|rest| rest.trim_start_matches('/'));
    let two = one_run.and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
    let two_run = two.map(|rest| rest.trim_start_matches('/'));
    let last = path.rsplit_once('/').map(|(_, name)| name);
    let climbs = path.match_indices("..").map(|(at, _)| at).find(|&at| {
        let before = path.get(..at).unwrap_or_default();
        let after = path.get(at + 2..).unwrap_or_default();
        before.ends_with('/') && (after.is_empty() || after.starts_with('/'))
    });
    let climbing = climbs.and_then(|at| path.get(at..));
    let found = match strips {
        Strips::None => [None; 6],
        Strips::Climbing => [climbing, None, None, None, None, None],
        Strips::One => [one, one_run, climbing, None, None, None],
        Strips::Any => [one, one_run, climbing, two, two_run, last],
    };
    found.into_iter().flatten()
}

/// Returns the words of a text, and where they start.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let pieces = text.split_inclusive(char::is_whitespace).scan(0, |at, piece| {
        let start = *at;
        *at += piece.len();
        Some((start, piece.trim_end()))
    });
    pieces.filter(|(_, word)| !word.is_empty())
}

/// Whether a word is like `2026-01-31`, `12:00:00` or `Sat`.
fn is_date(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let is_numeric = digits >= 2 && word.as_bytes().get(digits).is_some_and(|b| b"-/:".contains(b));
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    is_numeric || days.iter().any(|day| word.trim_end_matches(',') == *day)
}
