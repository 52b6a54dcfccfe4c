//! Path patterns with wildcards, spelt as regular expressions.

use crate::name::PathPattern;

/// Writes a pattern that has wildcards as a regular expression; [`regex::places`](super::regex::places) reads it back.
pub(super) fn regex_of(pattern: &PathPattern) -> String {
    let mut out = String::from("^");
    let text = pattern.to_string();
    let mut boundary = false;
    for component in text.split('/').skip(1) {
        if !boundary {
            out.push('/');
        }
        boundary = component == "**";
        if boundary {
            out.push_str("(.*/)?");
        } else {
            write_component(&mut out, component);
        }
    }
    out.push_str("(/|$)");
    out
}

/// Writes one component of a pattern's text.
fn write_component(out: &mut String, component: &str) {
    let mut chars = component.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '\\' => chars.next().into_iter().for_each(|c| write_char(out, c)),
            '[' => {
                let negated = chars.as_str().starts_with(['!', '^']);
                out.push_str(if negated { "[^/" } else { "[" });
                chars.by_ref().take(usize::from(negated)).for_each(drop);
                while let Some(c) = chars.next().filter(|c| *c != ']') {
                    match c {
                        '\\' => {
                            out.push('\\');
                            out.extend(chars.next());
                        }
                        c => out.push(c),
                    }
                }
                out.push(']');
            }
            c => write_char(out, c),
        }
    }
}

fn write_char(out: &mut String, c: char) {
    if c.is_ascii_punctuation() && !matches!(c, '/' | '-' | '_') {
        out.push('\\');
    }
    out.push(c);
}
