//! A tool call, and what was decided about it.

use std::fmt;

use serde_json::{Map, Value as Json};

use super::rules::Ruled;
use crate::decide::{Answer, Verdict};
use crate::layer::Origin;
use crate::policy::Profile;

/// A tool call.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'c> {
    /// The tool's name.
    pub tool: &'c str,
    /// Its arguments.
    pub args: &'c Map<String, Json>,
    /// What the tool says of itself.
    pub nature: Nature,
}

/// What a tool says of itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Nature {
    /// It changes nothing.
    Reads(Confirmation),
    /// It may change something. A tool that nobody knows is one of these.
    Changes(Confirmation),
}

/// Whether a tool wants to be confirmed where no rule says anything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Confirmation {
    /// A person says yes first.
    Asked,
    /// It runs at once.
    NotAsked,
}

/// What was decided about a tool call, and by whom.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    /// Whether it may happen.
    pub answer: Answer,
    /// Who decided.
    pub source: Source,
    /// The source and what it is about, as `user-rule:write_file`.
    pub tag: String,
    /// Why, where somebody wrote that down.
    pub justification: Option<String>,
    /// The line of the policy that says so.
    pub origin: Option<Origin>,
    /// The profile that the rules pick for the call; none leaves the policy's own.
    pub profile: Option<Profile>,
}

/// Who decided.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Source {
    /// The floor: what cannot be undone.
    Hardline,
    /// The denials of one run.
    Injected,
    /// A line that somebody wrote into a policy.
    UserRule,
    /// The preset.
    ModePreset,
}

impl Nature {
    /// Returns what is known of a tool by its name. Only tools that are known to read count as
    /// such.
    pub fn of(tool: &str) -> Self {
        const READERS: [&str; 18] = [
            "Glob",
            "Grep",
            "LS",
            "NotebookRead",
            "Read",
            "codebase_search",
            "file_search",
            "glob",
            "grep",
            "grep_search",
            "list_dir",
            "list_directory",
            "list_files",
            "read_file",
            "read_many_files",
            "search_file_content",
            "search_files",
            "view_file",
        ];
        if READERS.contains(&tool) {
            Self::Reads(Confirmation::NotAsked)
        } else {
            Self::Changes(Confirmation::Asked)
        }
    }
}

impl Decision {
    pub(super) fn new(answer: Answer, source: Source, about: &str) -> Self {
        let tag = source.tag(about);
        Self { answer, source, tag, justification: None, origin: None, profile: None }
    }

    pub(super) fn ruled(ruled: &Ruled<'_>, about: &str) -> Self {
        let rule = &ruled.rule.value;
        Self {
            justification: rule.justification.as_ref().map(|line| line.0.to_string()),
            origin: Some(ruled.rule.origin.clone()),
            ..Self::new(ruled.answer, Source::UserRule, about)
        }
    }

    /// What deciding a shell text came to.
    pub(crate) fn of(verdict: &Verdict, tool: &str, profile: Option<Profile>) -> Self {
        let first = verdict.reasons().first();
        let source = verdict.source();
        let about = first.filter(|_| source == Source::Hardline).map(|reason| &*reason.message);
        Self {
            justification: first.map(|reason| reason.message.clone()),
            origin: first.and_then(|reason| reason.origin.clone()),
            profile,
            ..Self::new(verdict.answer(), source, about.unwrap_or(tool))
        }
    }

    /// What is decided where deciding itself failed: a denial, in the strictest profile.
    pub fn failed(tool: &str) -> Self {
        let decision = Self::new(Answer::Deny, Source::Hardline, tool);
        let why = "judging the call failed, so it is refused".to_owned();
        Self { justification: Some(why), profile: Some(Profile::Readonly), ..decision }
    }

    /// The same, and no less strict than this.
    pub(crate) fn at_least(mut self, answer: Answer) -> Self {
        self.answer = self.answer.max(answer);
        self
    }

    /// What the tool itself wants, where nobody else says anything.
    pub(super) fn own(call: &ToolCall<'_>) -> Self {
        let answer = match call.nature {
            Nature::Reads(Confirmation::NotAsked) | Nature::Changes(Confirmation::NotAsked) => {
                Answer::Allow
            }
            Nature::Reads(Confirmation::Asked) | Nature::Changes(Confirmation::Asked) => {
                Answer::Ask
            }
        };
        Self::new(answer, Source::ModePreset, call.tool)
    }
}

impl Source {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hardline => "hardline",
            Self::Injected => "injected",
            Self::UserRule => "user-rule",
            Self::ModePreset => "mode-preset",
        }
    }

    /// Returns the source with what it is about.
    pub fn tag(self, about: &str) -> String {
        match self {
            Self::Injected => format!("injected:run-spec:{about}"),
            Self::Hardline | Self::UserRule | Self::ModePreset => format!("{self}:{about}"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
