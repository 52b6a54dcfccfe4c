//! Interception of tool calls by the LLM proxy.

use std::fmt;
use std::str::FromStr;

use super::choice::OnViolation;
use crate::key::{Covers, Grants, Guard, Levels, Line, Refusals, Setting, section, text_item};
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
        patterns: Refusals<ToolRegex>,
        /// Tools that are never intercepted.
        exclude: Grants<ToolRegex>,
        /// Parameters that hold paths.
        path_parameters: Refusals<Line>,
        /// Folders that a client may choose as its project.
        roots: Grants<Folder>,
        /// What happens to a refused call.
        on_violation: Setting<OnViolation>,
    }
}

/// A tool's name as a regular expression, matched in full and without regard to case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolRegex(Pattern);

impl ToolRegex {
    /// Returns whether the whole name matches.
    pub fn matches(&self, name: &str) -> Found {
        self.0.full_match(name)
    }
}

impl fmt::Display for ToolRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ToolRegex {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        Pattern::ignoring_case(text).map(Self)
    }
}

text_item!(ToolRegex, "a tool's name as a regular expression");

impl Covers for ToolRegex {
    fn covers(&self, other: &Self) -> bool {
        self == other
    }
}
