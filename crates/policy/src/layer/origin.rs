//! Where a value came from.

use std::fmt;
use std::sync::Arc;

use crate::text::{Place, visible};

/// Who speaks, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Layer {
    /// What Palisade itself brings.
    BuiltIn,
    /// What the chosen preset brings.
    Preset,
    /// The machine's administrator: `/etc/palisade/policy.yaml`.
    System,
    /// The user: `$XDG_CONFIG_HOME/palisade/policy.yaml`.
    User,
    /// The project: `.palisade/policy.yaml` in its root.
    Project,
    /// `PALISADE_…` variables and the file they name.
    Environment,
    /// Options and files named on the command line.
    CommandLine,
    /// The program that embeds the library.
    Library,
}

impl Layer {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Preset => "preset",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::CommandLine => "command line",
            Self::Library => "library",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// For whom a part of a file is said.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Scope {
    /// For everyone.
    Base,
    /// For one agent.
    Agent(Arc<str>),
    /// For one task.
    Task(Arc<str>),
}

/// Where a value came from: layer, section, file, line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin {
    /// Who said it.
    pub layer: Layer,
    /// For whom.
    pub scope: Scope,
    /// In which text; none for options and calls.
    pub file: Option<Arc<str>>,
    /// Where in it.
    pub place: Option<Place>,
}

impl Origin {
    /// Returns the origin of something that stands in no file.
    pub fn of(layer: Layer) -> Self {
        Self { layer, scope: Scope::Base, file: None, place: None }
    }

    /// Returns whether what was chosen here stands above what a rule there picks, so that the rule
    /// can only narrow it: the rule is of a lower layer (Ruling 2), or a person chose by an option,
    /// a variable or a call, and the rule stands in a file, whichever it is.
    pub fn bounds_rule(&self, rule: &Self) -> bool {
        let in_person = self.layer > Layer::Project && self.file.is_none();
        rule.layer < self.layer || (in_person && rule.file.is_some())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.layer, &self.file) {
            // Another system's file that replaces a built-in list speaks as low as that list.
            (Layer::Preset, Some(file)) if !file.starts_with("policies/") => {
                f.write_str("in place of a built-in list,")?;
            }
            (layer, _) => write!(f, "{layer}")?,
        }
        if let Some(file) = &self.file {
            write!(f, " {}", visible(file))?;
        }
        if let Some(place) = self.place {
            write!(f, ":{place}")?;
        }
        match &self.scope {
            Scope::Base => Ok(()),
            Scope::Agent(name) => write!(f, " (agent {})", visible(name)),
            Scope::Task(name) => write!(f, " (task {})", visible(name)),
        }
    }
}
