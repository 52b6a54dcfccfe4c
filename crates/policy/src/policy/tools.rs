//! Interception of tool calls by the LLM proxy.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use super::choice::OnViolation;
use crate::key::{Covers, Grants, Guard, Levels, Line, Replaceable, Setting, section, text_item};
use crate::name::{Folder, Found, Invalid, Pattern};

/// A longer name is no name, and is looked at as every expression is.
const LONGEST_DOTTED: usize = 128;

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
        /// What the LLM proxy does with a refused call.
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
///
/// Two are equal when their texts are.
#[derive(Clone, Debug)]
pub struct ToolRegex {
    text: Box<str>,
    form: Form,
}

/// Most patterns are just a name, and a name needs no engine: policies are read at every start.
#[derive(Clone, Debug)]
enum Form {
    /// A name with dots that are escaped. That it is an expression is known before it is read as
    /// one, which few starts need; none where that fails.
    Dotted(OnceLock<Option<Box<Pattern>>>),
    Regex(Box<Pattern>),
    Word,
}

impl ToolRegex {
    /// Returns whether the whole name matches.
    pub fn matches(&self, name: &str) -> Found {
        match &self.form {
            Form::Dotted(pattern) => {
                let read = || Pattern::ignoring_case(&self.text).ok().map(Box::new);
                let pattern = pattern.get_or_init(read).as_ref();
                pattern.map_or(Found::Undecided, |pattern| pattern.full_match(name))
            }
            Form::Regex(pattern) => pattern.full_match(name),
            Form::Word if name.eq_ignore_ascii_case(&self.text) => Found::Yes,
            Form::Word => Found::No,
        }
    }
}

impl Eq for ToolRegex {}

impl PartialEq for ToolRegex {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for ToolRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for ToolRegex {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() {
            return Err(Invalid::new("tool-empty", "an empty pattern matches no tool"));
        }
        let is_word = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let form = if is_word(text) {
            Form::Word
        } else if text.len() <= LONGEST_DOTTED && text.split("\\.").all(is_word) {
            Form::Dotted(OnceLock::new())
        } else {
            Form::Regex(Box::new(Pattern::ignoring_case(text)?))
        };
        Ok(Self { text: text.into(), form })
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
            (r"a\.b\.c",         "A.b.C",           Found::Yes,  "in any case"),
            (r"a\.b\.c",         "a.b",             Found::No,   "not the beginning of it"),
            (r"tas\.k",          "TA\u{17f}.\u{212a}", Found::Yes, "as an expression has it"),
            ("mcp_.*",           "mcp_github_push", Found::Yes,  "an expression"),
            ("mcp_.*",           "xmcp_",           Found::No,   "from the start"),
        ];
        for (pattern, tool, expected, because) in cases {
            let regex: ToolRegex = pattern.parse().unwrap();
            assert_eq!(regex.matches(tool), expected, "{pattern} on {tool}: {because}");
            assert_eq!(regex.to_string(), pattern);
        }
        for text in [r"\.", r"a\.", r"0\._", &r"a\.".repeat(42), &"a\\.".repeat(43)] {
            let regex: ToolRegex = text.parse().unwrap();
            assert_eq!(regex.matches(&text.replace('\\', "")), Found::Yes, "{text}");
            assert_eq!(regex, text.parse().unwrap(), "also after it was used");
        }
        assert!("(".parse::<ToolRegex>().is_err());
        assert!("".parse::<ToolRegex>().is_err(), "an empty pattern would match nothing, silently");
    }
}
