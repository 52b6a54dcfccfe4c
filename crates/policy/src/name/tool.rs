//! Which tools a rule speaks about.

use std::fmt;
use std::str::FromStr;

use super::{Found, Invalid, Pattern};

/// A tool's name in a rule: `*` for every tool, otherwise a regex that the whole name must match.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ToolPattern(Reach);

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Reach {
    Every,
    Named(Pattern),
}

impl ToolPattern {
    /// Returns the pattern that matches every tool.
    pub const fn every() -> Self {
        Self(Reach::Every)
    }

    /// Returns whether the tool `name` falls under this pattern.
    pub fn matches(&self, name: &str) -> Found {
        match &self.0 {
            Reach::Every => Found::Yes,
            Reach::Named(pattern) => pattern.full_match(name),
        }
    }

    /// Returns whether the tool falls under this pattern, whatever the case of its letters: who
    /// refuses `bash` means `BASH` too.
    pub fn matches_in_any_case(&self, name: &str) -> Found {
        let Reach::Named(pattern) = &self.0 else { return Found::Yes };
        match pattern.full_match(name) {
            Found::No if pattern.to_string().eq_ignore_ascii_case(name) => Found::Yes,
            Found::No if name.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                pattern.full_match(&name.to_ascii_lowercase())
            }
            found @ (Found::Yes | Found::No | Found::Undecided) => found,
        }
    }
}

impl FromStr for ToolPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "*" => Ok(Self::every()),
            "" => Err(Invalid::new("tool-empty", "the tool's name is empty")
                .with_hint("write `*` for every tool")),
            text => Ok(Self(Reach::Named(text.parse()?))),
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reach::Every => f.write_str("*"),
            Reach::Named(pattern) => pattern.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_matched_by_its_whole_name() {
        #[rustfmt::skip]
        let cases = [
            // pattern              tool            found       because
            ("*",                   "anything",     Found::Yes, "`*` is every tool"),
            ("write_.*",            "write_file",   Found::Yes, "a regex"),
            ("a|ab",                "ab",           Found::Yes, "any alternative may fill the name"),
            ("read",                "read_file",    Found::No,  "not a prefix"),
            ("read",                "unread",       Found::No,  "not a suffix"),
            ("read|write",          "write\n",      Found::No,  "a newline is part of the name"),
            ("read$",               "read\n",       Found::No,  "`$` is the end of the name"),
            ("a|b",                 "ac",           Found::No,  "alternatives are anchored too"),
        ];
        for (pattern, tool, expected, because) in cases {
            let parsed: ToolPattern = pattern.parse().unwrap();
            assert_eq!(parsed.matches(tool), expected, "{pattern} {tool:?}: {because}");
        }
        for (pattern, tool, expected) in [
            ("bash", "BASH", Found::Yes),
            ("Bash", "bash", Found::Yes),
            ("write_.*", "Write_File", Found::Yes),
            ("read", "READ_FILE", Found::No),
        ] {
            let parsed: ToolPattern = pattern.parse().unwrap();
            assert_eq!(parsed.matches(tool), Found::No, "{pattern} {tool}");
            assert_eq!(parsed.matches_in_any_case(tool), expected, "{pattern} {tool}");
        }
        assert_eq!("".parse::<ToolPattern>().unwrap_err().code(), "tool-empty");
        assert_eq!("**".parse::<ToolPattern>().unwrap_err().code(), "regex");
    }
}
