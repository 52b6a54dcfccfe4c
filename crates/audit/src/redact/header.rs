//! Headers of requests that prove who asks.

use super::{GONE, QUOTES, SCHEMES, names_a_secret};

/// Headers that hold a secret, by names that do not say so.
const SECRET: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Returns a text without the values of such headers. How they are sent stays.
pub(super) fn redact(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(colon) = rest.find(':') {
        let (before, after) = rest.split_at(colon);
        let value = after.strip_prefix(':').unwrap_or_default();
        let name = name(before);
        told.push_str(before);
        told.push(':');
        rest = value;
        let opens = before.strip_suffix(name).unwrap_or_default();
        // A user of an address, or what it begins with, is no header.
        if !is_secret(name) || value.starts_with("//") || opens.ends_with('/') {
            continue;
        }
        // A name at the very beginning is that of a word for itself.
        let whole = told.len() == before.len() + 1 && is_option(opens);
        let (value, after) = value.split_at(end(opens, value, whole));
        told.push_str(&without(value));
        rest = after;
    }
    told.push_str(rest);
    told
}

/// Returns the name that a text ends with. A letter of an option may stand right before it.
fn name(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let from = text.rfind(|c: char| !is_part(c)).map_or(0, |at| at + 1);
    let name = text.get(from..).unwrap_or_default();
    name.strip_prefix("-H").unwrap_or(name)
}

fn is_secret(name: &str) -> bool {
    SECRET.iter().any(|it| it.eq_ignore_ascii_case(name)) || names_a_secret(name)
}

/// Whether what stands before a header is nothing, or an option in the same word.
fn is_option(text: &str) -> bool {
    text.is_empty() || text.starts_with('-') && !text.contains(char::is_whitespace)
}

/// Finds the end of a value: that of the quote it stands in, of the word, or of the line.
fn end(opens: &str, value: &str, whole: bool) -> usize {
    let quote = opens.chars().next_back().filter(|last| QUOTES.contains(last));
    let found = match quote {
        Some(quote) => value.find([quote, '\n']),
        None if whole => value.find('\n'),
        None if value.starts_with(char::is_whitespace) => {
            value.find(|c: char| QUOTES.contains(&c) || c == '\n')
        }
        None => value.find(|c: char| QUOTES.contains(&c) || c.is_whitespace()),
    };
    found.unwrap_or(value.len())
}

/// Returns a value without its secret.
fn without(value: &str) -> String {
    let bare = value.trim_start();
    let blank = value.get(..value.len() - bare.len()).unwrap_or_default();
    if bare.is_empty() {
        return value.to_owned();
    }
    let scheme = bare.split_whitespace().next().unwrap_or_default();
    let is_scheme = SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(scheme));
    match is_scheme && scheme.len() < bare.len() {
        true => format!("{blank}{scheme} {GONE}"),
        false => format!("{blank}{GONE}"),
    }
}
