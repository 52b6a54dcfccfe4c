//! A name and its value, as headers, forms, JSON, YAML, XML and programs write them.

use super::value::{Value, bracket, gone, split};
use super::{GONE, QUOTES, SCHEMES, Within, name};

/// Headers that hold a secret, by names that do not say so.
const HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sign {
    Equals,
    Colon,
    /// `<password>`
    Tag,
}

/// Returns a text without the values of such names.
pub(super) fn redact(text: &str, within: Within) -> String {
    let mut told = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(name::is_part)) {
        let begin = from + found;
        let rest = text.get(begin..).unwrap_or_default();
        let length = rest.find(|c: char| !name::is_part(c)).unwrap_or(rest.len());
        let end = begin + length;
        told.push_str(text.get(from..end).unwrap_or_default());
        from = end;
        let Some(pair) = Pair::at(text, begin, end) else { continue };
        let (shown, at) = pair.without(within);
        told.push_str(&shown);
        from = at;
    }
    told.push_str(text.get(from..).unwrap_or_default());
    told
}

struct Pair<'t> {
    text: &'t str,
    /// What stands in front of the name.
    before: &'t str,
    name: &'t str,
    /// Where the name ends.
    end: usize,
    sign: Sign,
    /// Where the value begins.
    value: usize,
    /// Whether the name stands in quotes of its own.
    quoted: bool,
}

impl<'t> Pair<'t> {
    fn at(text: &'t str, begin: usize, end: usize) -> Option<Self> {
        let before = text.get(..begin)?;
        // The letter of an option may stand right before it.
        let name = text.get(begin..end)?.trim_start_matches('-');
        let name = name.strip_prefix('H').filter(|_| before.is_empty()).unwrap_or(name);
        if !is_header(name) && !name::is_secret(name) {
            return None;
        }
        let opening = before.chars().next_back();
        let mut rest = text.get(end..)?;
        let quote = opening.filter(|it| QUOTES.contains(it));
        let mut quoted = false;
        if let Some(quote) = quote {
            let bare = rest.strip_prefix('\\').unwrap_or(rest);
            if let Some(after) = bare.strip_prefix(quote) {
                (rest, quoted) = (after, true);
            }
        }
        let blanks = rest.trim_start_matches([' ', '\t']);
        let apart = blanks.len() < rest.len();
        let (sign, after) = sign(blanks, opening == Some('<'))?;
        let value = after.trim_start_matches([' ', '\t']);
        match sign {
            // `NAME= command` runs the command.
            Sign::Equals if !apart && !quoted && value.len() < after.len() => return None,
            // A user of an address, what it begins with, and a path of a language.
            Sign::Colon if after.starts_with("//") || before.ends_with('/') => return None,
            Sign::Colon if apart && !quoted => return None,
            Sign::Equals | Sign::Colon | Sign::Tag => {}
        }
        Some(Self { text, before, name, end, sign, value: text.len() - value.len(), quoted })
    }

    /// Returns what stands between the name and the end of the value, without the value, and where that is.
    fn without(&self, within: Within) -> (String, usize) {
        let between = self.text.get(self.end..self.value).unwrap_or_default().to_owned();
        let rest = self.text.get(self.value..).unwrap_or_default();
        let at = |rest: &str| self.text.len() - rest.len();
        // A variable is no secret, and of a command it is told which.
        if rest.starts_with('$') {
            return (between, self.value);
        }
        if self.sign == Sign::Tag {
            let end = rest.find('<').unwrap_or(0);
            return (between + &gone(rest.get(..end).unwrap_or_default()), self.value + end);
        }
        if self.sign == Sign::Colon
            && let Some(end) = self.line(rest, within)
        {
            let (value, rest) = rest.split_at(end);
            return (between + &without_scheme(value), at(rest));
        }
        if self.quoted
            && rest.starts_with(['[', '{'])
            && let Some(end) = bracket(rest)
        {
            return (between + GONE, self.value + end);
        }
        let (scheme, rest) = scheme(rest);
        let Value { open, value, rest } = split(rest);
        let told = format!("{between}{scheme}{open}{}", gone(value));
        if self.name.eq_ignore_ascii_case("cookie") {
            return (told, at(cookies(rest)));
        }
        (told, at(rest))
    }

    /// Finds the end of a value that is all of a line; none where it is a word.
    fn line(&self, rest: &str, within: Within) -> Option<usize> {
        let line = rest.find('\n').unwrap_or(rest.len());
        // All of the word is a header.
        if within == Within::Header {
            return Some(line);
        }
        let opening = self.before.chars().next_back().filter(|it| QUOTES.contains(it));
        if let Some(quote) = opening.filter(|_| !self.quoted) {
            let end = rest.get(..line).and_then(|rest| rest.find(quote));
            // Code may hand it to a shell, which would run what stands behind it.
            return end.filter(|end| !rest.get(..*end).is_some_and(runs_on));
        }
        let above = self.before.rsplit('\n').next().unwrap_or_default();
        let begins = above.trim_start_matches([' ', '\t', '-']).is_empty();
        if !begins || self.quoted || rest.starts_with(QUOTES) || within == Within::Shell {
            return None;
        }
        if rest.get(..line).is_some_and(|first| matches!(first.trim(), "|" | ">" | "|-" | ">-")) {
            return Some(block(rest, above.len()));
        }
        // What a shell would run behind it is not a part of it.
        let end = rest.find(['\n', ';', '|', '&', '`']).into_iter().chain(rest.find("$("));
        Some(end.min().unwrap_or(rest.len()))
    }
}

/// Whether a shell would run something behind the first word of a text.
fn runs_on(text: &str) -> bool {
    text.contains([';', '|', '&', '`']) || text.contains("$(")
}

fn is_header(name: &str) -> bool {
    HEADERS.iter().any(|it| it.eq_ignore_ascii_case(name))
}

fn sign(text: &str, tag: bool) -> Option<(Sign, &str)> {
    for (word, sign) in [(":=", Sign::Equals), ("=>", Sign::Equals), ("+=", Sign::Equals)] {
        if let Some(rest) = text.strip_prefix(word) {
            return Some((sign, rest));
        }
    }
    if let Some(rest) = text.strip_prefix('=') {
        return (!rest.starts_with(['=', '~'])).then_some((Sign::Equals, rest));
    }
    if let Some(rest) = text.strip_prefix(':') {
        return (!rest.starts_with(':')).then_some((Sign::Colon, rest));
    }
    text.strip_prefix('>').filter(|_| tag).map(|rest| (Sign::Tag, rest))
}

/// Splits a way to prove who one is off the front of a value.
fn scheme(text: &str) -> (&str, &str) {
    let word = text.find(char::is_whitespace).unwrap_or(text.len());
    let (first, rest) = text.split_at(word);
    let blanks = rest.trim_start_matches([' ', '\t']);
    let is_scheme = SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(first));
    if is_scheme && !blanks.is_empty() && blanks.len() < rest.len() {
        return text.split_at(text.len() - blanks.len());
    }
    ("", text)
}

/// Returns a value that is all of a line, without its secret.
fn without_scheme(value: &str) -> String {
    let bare = value.trim();
    if bare.is_empty() {
        return value.to_owned();
    }
    let (scheme, rest) = scheme(bare);
    format!("{scheme}{}", gone(rest))
}

/// Passes over what else is in a cookie: names with values, and nothing that a shell would run.
fn cookies(mut rest: &str) -> &str {
    loop {
        let Some(after) = rest.strip_prefix(';') else { return rest };
        let next = after.trim_start_matches(' ');
        let end = next.find([';', ' ', '\n', '\'', '"']).unwrap_or(next.len());
        let (pair, behind) = next.split_at(end);
        let is_pair = pair.split_once('=').is_some_and(|(name, value)| {
            name.chars().all(name::is_part) && !value.contains(['$', '`', '|', '&', '<', '>'])
        });
        let ends = behind.is_empty() || behind.starts_with([';', '\'', '"', '\n']);
        if !is_pair || !ends {
            return rest;
        }
        rest = behind;
    }
}

/// Finds the end of a block of YAML: what is farther in than its name.
fn block(text: &str, indent: usize) -> usize {
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let inner = line.len() - line.trim_start_matches(' ').len();
        if number > 0 && inner <= indent && !line.trim().is_empty() {
            break;
        }
        end += line.len();
    }
    if text.get(..end).is_some_and(|block| block.ends_with('\n')) { end - 1 } else { end }
}
