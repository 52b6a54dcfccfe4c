//! What `${x#…}`, `${x/…}`, `${x:…}` and their kin make of a value.

use super::format::{escaped, shown};
use super::scope::Value;
use super::walk::Walk;
use crate::command::{Certainty, Holed as _};
use crate::shell::{Parameter, Piece, Quoting, Word};

/// Most comparisons that one change may take.
const MOST_WORK: usize = 1 << 20;

/// One character of a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    Char(char),
    One,
    Any,
}

/// What is cut off, and how much of it where there is a choice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cut {
    ShortStart,
    LongStart,
    ShortEnd,
    LongEnd,
}

impl Walk<'_> {
    /// Returns what a changed value is: exactly where the value is known, in shape where it is a
    /// pattern, and unknown otherwise.
    pub(super) fn changed<'t>(&mut self, text: &'t str, parameter: &Parameter<'t>) -> Value {
        let value = self.named(&parameter.name);
        let [word] = &*parameter.words else { return Value::unknown() };
        let colon = word.span.start().checked_sub(1).and_then(|at| text.as_bytes().get(at));
        if value.text.has_hole() {
            return Value::unknown();
        }
        let marks = self.marks(text, word, parameter.quoting);
        let changed = match (marks, colon) {
            (Some(marks), Some(b':')) => sliced(&value, &marks),
            (Some(marks), _) => apply(&value, &marks),
            (None, _) => None,
        };
        if let Some(changed) = changed.as_ref().filter(|changed| changed.text.has_hole()) {
            self.names_secret(&shown(changed), word.span);
        }
        changed.unwrap_or_else(Value::unknown)
    }

    /// Returns an operator and what stands behind it, mark by mark; `None` where it is more than
    /// plain characters and simple wildcards.
    fn marks<'t>(&mut self, text: &'t str, word: &Word<'t>, quoting: Quoting) -> Option<Vec<Mark>> {
        let mut marks = Vec::new();
        let wild = |c: char| match c {
            '*' => Some(Mark::Any),
            '?' => Some(Mark::One),
            '[' | '(' | '\\' | '\'' | '"' => None,
            c => Some(Mark::Char(c)),
        };
        for piece in &word.pieces {
            match piece {
                // Quotes around the whole make nothing literal in here.
                Piece::Quoted(part) if quoting == Quoting::Bare => {
                    marks.extend(part.chars().map(Mark::Char));
                }
                Piece::Literal(part) | Piece::Quoted(part) => {
                    for c in part.chars() {
                        marks.push(wild(c)?);
                    }
                }
                Piece::Glob { text: pattern, .. } => match &**pattern {
                    "*" => marks.push(Mark::Any),
                    "?" => marks.push(Mark::One),
                    _ => return None,
                },
                Piece::Parameter(_) => {
                    let alone = Word { pieces: piece.clone().into(), span: word.span };
                    let value = self.value(text, &alone);
                    let plain = value.certainty == Certainty::Known
                        && !value.text.contains(['*', '?', '[', '\\', '/']);
                    if !plain {
                        return None;
                    }
                    marks.extend(value.text.chars().map(Mark::Char));
                }
                Piece::Brace(_)
                | Piece::Tilde(_)
                | Piece::Command(..)
                | Piece::Arithmetic(..)
                | Piece::Process(_)
                | Piece::Array(_) => return None,
            }
        }
        Some(marks)
    }
}

fn apply(value: &Value, marks: &[Mark]) -> Option<Value> {
    use Mark::Char;
    match marks {
        [Char('#'), Char('#'), pattern @ ..] => cut(value, pattern, Cut::LongStart),
        [Char('#'), pattern @ ..] => cut(value, pattern, Cut::ShortStart),
        [Char('%'), Char('%'), pattern @ ..] => cut(value, pattern, Cut::LongEnd),
        [Char('%'), pattern @ ..] => cut(value, pattern, Cut::ShortEnd),
        [Char('/'), rest @ ..] => replaced(value, rest),
        [Char('^'), Char('^')] | [Char('@'), Char('U')] => cased(value, str::to_ascii_uppercase),
        [Char(','), Char(',')] | [Char('@'), Char('L')] => cased(value, str::to_ascii_lowercase),
        [Char('^')] | [Char('@'), Char('u')] => {
            cased(value, |text| first(text, char::to_ascii_uppercase))
        }
        [Char(',')] => cased(value, |text| first(text, char::to_ascii_lowercase)),
        [Char('@'), Char('E')] => escaped(value),
        [Char('@'), Char('Q')] => {
            let plain = !value.text.contains(['\'', '\\']) && value.certainty == Certainty::Known;
            plain.then(|| Value::known(format!("'{}'", value.text)))
        }
        _ => None,
    }
}

fn cut(value: &Value, pattern: &[Mark], cut: Cut) -> Option<Value> {
    match value.certainty {
        Certainty::Known => cut_known(&value.text, pattern, cut).map(Value::known),
        Certainty::Pattern => {
            let text = cut_shape(&value.text, pattern, cut)?;
            Some(Value { text, certainty: Certainty::Pattern })
        }
        Certainty::Partial | Certainty::Many => None,
    }
}

fn cut_known(text: &str, pattern: &[Mark], cut: Cut) -> Option<String> {
    let length = text.chars().count() + 1;
    if length.saturating_mul(length).saturating_mul(pattern.len() + 1) > MOST_WORK {
        return None;
    }
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if matches!(cut, Cut::LongStart | Cut::ShortEnd) {
        ends.reverse();
    }
    for at in ends {
        let (start, end) = text.split_at_checked(at)?;
        match cut {
            Cut::ShortStart | Cut::LongStart if matches(start, pattern) => {
                return Some(end.to_owned());
            }
            Cut::ShortEnd | Cut::LongEnd if matches(end, pattern) => return Some(start.to_owned()),
            Cut::ShortStart | Cut::LongStart | Cut::ShortEnd | Cut::LongEnd => {}
        }
    }
    Some(text.to_owned())
}

/// Cuts a pattern of file names, such as `src/*.js`, so that every name that it may match and that
/// is cut then matches the result. An empty rest is possible and is heeded where a `/` follows.
fn cut_shape(shape: &str, pattern: &[Mark], cut: Cut) -> Option<String> {
    let wild = shape.find(['*', '?', '[']);
    // One word without `/`: any part of it is such a word.
    if wild.is_none() && !shape.contains('/') {
        return Some(shape.to_owned());
    }
    let wild = wild.unwrap_or(shape.len());
    let (known, rest) = shape.split_at_checked(wild)?;
    match (cut, pattern) {
        // The last name, and the folder.
        (Cut::LongStart, [Mark::Any, Mark::Char('/')]) => {
            return shape.rsplit('/').next().map(str::to_owned);
        }
        (Cut::ShortEnd, [Mark::Any]) => return Some(shape.to_owned()),
        (Cut::ShortEnd, [Mark::Char('/'), Mark::Any]) if known.contains('/') => {
            let single = !rest.contains('/') && !known.starts_with('.');
            let folder = shape.rsplit_once('/').map(|(folder, _)| folder.to_owned());
            return if single { folder } else { Some(shape.to_owned()) };
        }
        // `%.*`: up to the last dot, which lies in the name if it is written there.
        (Cut::ShortEnd, [Mark::Char('.'), Mark::Any]) => {
            let plain =
                |at: &usize| rest.get(*at..).is_some_and(|end| !end.contains(['/', '*', '?', '[']));
            return match rest.rfind('.').filter(plain) {
                Some(at) => shape.get(..wild + at).map(str::to_owned),
                None if !known.contains('.') || known == "./" => Some(shape.to_owned()),
                None => None,
            };
        }
        (Cut::LongStart, [Mark::Any, Mark::Char('.')]) => {
            let end = shape.rsplit('.').next().filter(|end| end.len() < rest.len());
            return end.filter(|end| !end.contains(['*', '?', '[', '/'])).map(str::to_owned);
        }
        _ => {}
    }
    let text = plain(pattern)?;
    match cut {
        Cut::ShortStart | Cut::LongStart => match known.strip_prefix(text.as_str()) {
            Some(known) => Some(format!("{known}{rest}")),
            // It does not begin so.
            None if !text.starts_with(known) => Some(shape.to_owned()),
            None if !shape.contains('/') && !text.contains('/') => Some(shape.to_owned()),
            None => None,
        },
        Cut::ShortEnd | Cut::LongEnd => match shape.strip_suffix(text.as_str()) {
            Some(start) if !text.is_empty() && start.len() >= wild => Some(start.to_owned()),
            _ if text.is_empty() => Some(shape.to_owned()),
            _ => (text.starts_with('.') && !text.contains('/')).then(|| shape.to_owned()),
        },
    }
}

/// `${x/pattern/text}`, `${x//…}`, `${x/#…}`, `${x/%…}`, behind the first slash.
fn replaced(value: &Value, rest: &[Mark]) -> Option<Value> {
    let (all, rest) = match rest {
        [Mark::Char('/'), rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let text = plain(rest)?;
    let (from, to) = text.split_once('/').unwrap_or((&text, ""));
    if to.contains(['&', '\\']) || from.contains('\\') {
        return None;
    }
    let text = match (from.chars().next(), value.certainty) {
        _ if value.certainty != Certainty::Known && (to.contains('/') || to.contains("..")) => None,
        (None, _) => Some(value.text.clone()),
        (Some('#'), Certainty::Known) if !all => {
            let tail = value.text.strip_prefix(from.get(1..)?);
            Some(tail.map_or_else(|| value.text.clone(), |tail| format!("{to}{tail}")))
        }
        (Some('%'), Certainty::Known) if !all => {
            let head = value.text.strip_suffix(from.get(1..)?);
            Some(head.map_or_else(|| value.text.clone(), |head| format!("{head}{to}")))
        }
        (Some('#' | '%'), _) if !all => None,
        (Some(_), _) if all => Some(value.text.replace(from, to)),
        (Some(_), _) => Some(value.text.replacen(from, to, 1)),
    }?;
    Some(Value { text, certainty: value.certainty })
}

/// `${x:from}`, `${x:from:length}`, behind the first colon.
fn sliced(value: &Value, marks: &[Mark]) -> Option<Value> {
    let text = plain(marks)?;
    if value.certainty != Certainty::Known {
        // A part of one word without `/` is such a word.
        let word = !value.text.contains(['/', '*', '?', '[']);
        return word.then(|| value.clone());
    }
    let (from, length) = match text.split_once(':') {
        Some((from, length)) => (from, Some(length)),
        None => (&*text, None),
    };
    if !value.text.is_ascii() {
        return None;
    }
    let total = i64::try_from(value.text.len()).ok()?;
    let from: i64 = from.trim().parse().ok()?;
    let start = if from < 0 { total + from } else { from.min(total) };
    let end = match length {
        None => total,
        Some(length) => {
            let length: i64 = length.trim().parse().ok()?;
            if length < 0 { total + length } else { start.saturating_add(length).min(total) }
        }
    };
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    value.text.get(start..end).map(Value::known)
}

fn cased(value: &Value, change: impl Fn(&str) -> String) -> Option<Value> {
    let text = value.text.is_ascii().then(|| change(&value.text))?;
    Some(Value { text, certainty: value.certainty })
}

fn first(text: &str, change: impl Fn(&char) -> char) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| change(&c)).into_iter().chain(chars).collect()
}

/// Returns a pattern's text if it has no wildcards.
fn plain(pattern: &[Mark]) -> Option<String> {
    pattern
        .iter()
        .map(|mark| match mark {
            Mark::Char('[' | '\\') | Mark::One | Mark::Any => None,
            Mark::Char(c) => Some(*c),
        })
        .collect()
}

/// Whether all of a text matches a pattern.
fn matches(text: &str, pattern: &[Mark]) -> bool {
    let (mut rest, mut marks) = (text, pattern);
    // Where the last `*` stood, and what it may swallow one character more of.
    let mut retry: Option<(&str, &[Mark])> = None;
    loop {
        let mut chars = rest.chars();
        let next = chars.next();
        match (marks, next) {
            ([Mark::Any, after @ ..], _) => {
                marks = after;
                retry = Some((rest, after));
                continue;
            }
            ([Mark::Char(mark), after @ ..], Some(c)) if *mark == c => {
                (marks, rest) = (after, chars.as_str());
                continue;
            }
            ([Mark::One, after @ ..], Some(_)) => {
                (marks, rest) = (after, chars.as_str());
                continue;
            }
            ([], None) => return true,
            _ => {}
        }
        let Some((from, after)) = retry else { return false };
        let mut swallowed = from.chars();
        if swallowed.next().is_none() {
            return false;
        }
        (rest, marks) = (swallowed.as_str(), after);
        retry = Some((swallowed.as_str(), after));
    }
}
