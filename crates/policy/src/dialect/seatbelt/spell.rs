//! Path patterns with wildcards, spelt as regular expressions.

use crate::dialect::glob;
use crate::name::PathPattern;

/// Writes a pattern that has wildcards as a regular expression; [`regex::places`](super::regex::places) reads it back.
pub(super) fn regex_of(pattern: &PathPattern) -> String {
    format!("{}(/|$)", beginning(pattern))
}

/// Writes a pattern that has wildcards as a regular expression for what it matches alone, without
/// what lies below.
pub(super) fn exact_regex_of(pattern: &PathPattern) -> String {
    format!("{}$", beginning(pattern))
}

fn beginning(pattern: &PathPattern) -> String {
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
            out.push_str(&glob::component(component));
        }
    }
    out
}
