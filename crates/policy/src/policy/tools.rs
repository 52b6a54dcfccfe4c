//! Interception of tool calls by the LLM proxy.

use std::fmt;
use std::str::FromStr;

use super::choice::OnViolation;
use crate::key::{Covers, Grants, Guard, Levels, Line, Replaceable, Setting, section, text_item};
use crate::name::{Folder, Found, Invalid, Pattern};

section! {
    /// Interception of tool calls by the LLM proxy.
    pub struct Tools {
        /// Whether tool calls are intercepted at all.
        enabled: Setting<Guard>,
        /// Also refuse calls that name no path, or one that cannot be read.
        strict: Setting<Guard>,
        /// How many levels above the root count as inside; never `/` or the home folder.
        allow_parent: Setting<Levels>,
        /// Tools that are intercepted, besides the built-in list.
        patterns: Replaceable<ToolRegex>,
        /// Tools that are never intercepted.
        exclude: Grants<ToolRegex>,
        /// Parameters that hold paths.
        path_parameters: Replaceable<Line>,
        /// Folders that a client may choose as its project.
        roots: Grants<Folder>,
        /// What happens to a refused call.
        on_violation: Setting<OnViolation>,
    }
}

impl Tools {
    /// Returns whether calls of the tool `name` are intercepted, if any are: an exclusion wins, but
    /// only if it certainly matches.
    pub fn intercepts(&self, name: &str) -> bool {
        let excluded = self.exclude.values().any(|tool| tool.matches(name) == Found::Yes);
        !excluded && self.patterns.values().any(|tool| tool.matches(name) != Found::No)
    }
}

/// A tool's name as a regular expression, matched in full and without regard to case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolRegex(Form);

/// Most patterns are just a name, and a name needs no engine: policies are read at every start.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Form {
    Regex { text: Box<str>, pattern: Box<Pattern> },
    Word(Box<str>),
}

impl ToolRegex {
    /// Returns whether the whole name matches.
    pub fn matches(&self, name: &str) -> Found {
        match &self.0 {
            Form::Regex { pattern, .. } => pattern.full_match(name),
            Form::Word(word) if name.eq_ignore_ascii_case(word) => Found::Yes,
            Form::Word(_) => Found::No,
        }
    }
}

impl fmt::Display for ToolRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Regex { text, .. } | Form::Word(text) => f.write_str(text),
        }
    }
}

impl FromStr for ToolRegex {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() {
            return Err(Invalid::new("tool-empty", "an empty pattern matches no tool"));
        }
        let word = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if word {
            return Ok(Self(Form::Word(text.into())));
        }
        let pattern = Box::new(Pattern::ignoring_case(text)?);
        Ok(Self(Form::Regex { text: text.into(), pattern }))
    }
}

text_item!(ToolRegex, "a tool's name as a regular expression", regex);

impl Covers for ToolRegex {
    fn covers(&self, other: &Self) -> bool {
        self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_matched_in_full_and_in_any_case() {
        #[rustfmt::skip]
        let cases = [
            // pattern           tool               found        because
            ("write_file",       "write_file",      Found::Yes,  "itself"),
            ("write_file",       "Write_FILE",      Found::Yes,  "in any case"),
            ("write_file",       "my_write_file",   Found::No,   "not a part of another"),
            ("write_file",       "write_file2",     Found::No,   "not the beginning of another"),
            (r"container\.exec", "container.exec",  Found::Yes,  "an expression"),
            (r"container\.exec", "containerXexec",  Found::No,   "a dot is a dot"),
            ("mcp_.*",           "mcp_github_push", Found::Yes,  "an expression"),
            ("mcp_.*",           "xmcp_",           Found::No,   "from the start"),
        ];
        for (pattern, tool, expected, because) in cases {
            let regex: ToolRegex = pattern.parse().unwrap();
            assert_eq!(regex.matches(tool), expected, "{pattern} on {tool}: {because}");
            assert_eq!(regex.to_string(), pattern);
        }
        assert!("(".parse::<ToolRegex>().is_err());
        assert!("".parse::<ToolRegex>().is_err(), "an empty pattern would match nothing, silently");
    }
}
