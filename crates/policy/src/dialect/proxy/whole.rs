//! Patterns that stand for a whole name.
//!
//! The proxy looks for a pattern anywhere in a tool's name, so only an anchored one means there what
//! every pattern means here.

use crate::policy::ToolRegex;

/// Anchors a pattern at both ends.
pub(super) fn anchored(pattern: &str) -> String {
    if is_word(pattern) {
        return format!("^{pattern}$");
    }
    let group = format!("^(?:{pattern})$");
    // Under `(?x)` a comment at the end swallows the closing bracket; a newline ends the comment.
    if parses(&group) { group } else { format!("^(?:{pattern}\n)$") }
}

/// Returns the pattern of which `text` is the anchored form.
pub(super) fn unanchored(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('^')?.strip_suffix('$')?;
    let group = inner.strip_prefix("(?:").and_then(|inner| inner.strip_suffix(')'));
    let ended = group.and_then(|inner| inner.strip_suffix('\n'));
    let mut found = [Some(inner), ended, group].into_iter().flatten();
    // If the group closed before the end, what is left would not parse by itself.
    found.find(|pattern| parses(pattern) && anchored(pattern) == text)
}

/// Returns a pattern for every name in which another is found.
pub(super) fn anywhere(pattern: &str) -> String {
    let found = format!(".*(?:{pattern}).*");
    if parses(&found) { found } else { format!(".*(?:{pattern}\n).*") }
}

/// Returns the pattern of which `text` finds every name.
pub(super) fn sought(text: &str) -> Option<&str> {
    let inner = text.strip_prefix(".*(?:")?.strip_suffix(").*")?;
    let ended = inner.strip_suffix('\n');
    let mut found = [ended, Some(inner)].into_iter().flatten();
    // One that would be taken for an anchored pattern is not written as it is.
    found.find(|pattern| {
        parses(pattern) && anywhere(pattern) == text && unanchored(pattern).is_none()
    })
}

fn parses(pattern: &str) -> bool {
    pattern.parse::<ToolRegex>().is_ok()
}

fn is_word(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Found;

    #[test]
    fn a_pattern_is_anchored_and_found_again() {
        #[rustfmt::skip]
        let cases = [
            ("write_file",  "^write_file$"),
            ("a|b",         "^(?:a|b)$"),
            ("^x|y$",       "^(?:^x|y$)$"),
            ("(?x)a # b",   "^(?:(?x)a # b\n)$"),
            ("[)]",         "^(?:[)])$"),
        ];
        for (pattern, whole) in cases {
            assert_eq!(anchored(pattern), whole);
            assert_eq!(unanchored(whole), Some(pattern));
        }
        for pattern in ["write", "^mcp_", "a|b", "(?x)a # b", "x$"] {
            assert_eq!(sought(&anywhere(pattern)), Some(pattern), "{pattern}");
            let tool: ToolRegex = anywhere(pattern).parse().unwrap();
            assert_eq!(tool.matches("q"), Found::No, "{pattern}");
        }
        let tool: ToolRegex = anywhere("^mcp_").parse().unwrap();
        assert_eq!((tool.matches("mcp_x"), tool.matches("a_mcp_x")), (Found::Yes, Found::No));
        for text in
            ["^a|b$", "^(?:a)|(?:b)$", "^(?:a)(?:b)$", "^mcp_", "x$", "^$", "^(?:)$", "^", ""]
        {
            assert_eq!(unanchored(text), None, "{text}");
        }
    }
}
