//! Names in headers, and the paths they may stand for.

use std::borrow::Cow;

use super::line::Line;
use super::{Form, Unreadable};
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
/// A tab ends it. Where there is none it may end at the first blank, before a date, or not at all:
/// programs differ.
pub(super) fn names(line: Line<'_>) -> Result<Vec<Name<'_>>, Unreadable> {
    let line = line.trimmed();
    if line.text.is_empty() {
        return Ok(Vec::new());
    }
    if let Some((name, _)) = quoted(line)? {
        return Ok(vec![name]);
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
    } else {
        add(line.text.len());
        let blanks = line.text.match_indices(char::is_whitespace).map(|(at, _)| at);
        let dates = blanks.clone().filter(|&at| line.text.get(at..).is_some_and(starts_with_date));
        blanks.take(1).for_each(&mut add);
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

/// Returns every path that a name may be taken for.
pub(super) fn readings(path: &str, form: Form) -> Vec<String> {
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
        if form == Form::Prefixed {
            stripped(path).for_each(&mut add);
        }
    }
    // `C:\x` lies in no project, and `C:x` is a folder of its own only here.
    if let [letter, b':', ..] = slashed.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        add(&format!("/{slashed}"));
    }
    // An empty name is judged too: it is refused.
    if found.is_empty() {
        found.push(String::new());
    }
    found
}

/// Leaves out the first folder, the first two, all of them, and all before the first `..`.
fn stripped(path: &str) -> impl Iterator<Item = &str> {
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
    [one, one_run, two, two_run, last, climbing].into_iter().flatten()
}

/// Whether a text starts, behind blanks, with something like `2026-01-31` or `Sat Jan 31`.
fn starts_with_date(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let is_numeric = digits >= 2 && word.as_bytes().get(digits).is_some_and(|b| b"-/:".contains(b));
    let is_day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        .iter()
        .any(|day| word.starts_with(day) && word.len() <= 4);
    is_numeric || is_day
}
