//! The words a policy is made of, each parsed once and never checked again.
//!
//! Every type here has one door in: `FromStr`. Policy files, JSON and the command line all use it,
//! and `Display` prints a text that parses back to an equal value. What cannot be enforced is
//! refused at this door, with the reason and, where we know it, what to write instead.
//!
//! | Module | Types |
//! | --- | --- |
//! | `host`, `host_pattern`, `host_set` | who may be talked to |
//! | `path`, `glob` | which files and folders |
//! | `env`, `command`, `tool`, `regex`, `regex_plain` | which variables, programs and tool calls |
//! | `size`, `period`, `port` | how much, how long, where |

mod command;
mod env;
mod glob;
mod host;
mod host_pattern;
mod host_set;
mod path;
mod period;
mod port;
mod regex;
mod regex_cost;
mod regex_plain;
mod size;
mod tool;

#[cfg(test)]
mod tests;

use std::fmt;

pub use command::CommandName;
pub use env::{EnvName, EnvPattern, looks_secret};
pub use host::{Host, HostName};
pub use host_pattern::{HostPattern, WideHost};
pub use host_set::HostSet;
pub(crate) use path::{Anchorage, NameIn, Reach, Step};
pub use path::{Anchors, Folder, PathPattern};
pub use period::Period;
pub use port::Port;
pub use regex::{Found, Pattern};
pub use size::ByteSize;
pub use tool::ToolPattern;

/// Why a text is not the name, pattern or amount it was meant to be.
///
/// [`Display`](std::fmt::Display) prints the problem alone; the hint is printed apart, by the command
/// line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct Invalid {
    code: &'static str,
    problem: String,
    hint: Option<String>,
}

impl Invalid {
    /// Returns a refusal with its code and what is wrong, in lower case and without a full stop.
    pub fn new(code: &'static str, problem: impl Into<String>) -> Self {
        Self { code, problem: problem.into(), hint: None }
    }

    /// Adds what to write instead.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns what is wrong, naming the offending text.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns what to write instead, when we know.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Puts `text` in backticks for a message, when somebody writes that message.
fn quote(text: &str) -> Quoted<'_> {
    Quoted(text)
}

#[derive(Clone, Copy)]
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", escape(self.0))
    }
}

/// Escapes what a terminal could act on and cuts a long text, so that a hostile file can neither
/// forge a screen nor flood it.
fn escape(text: &str) -> String {
    const SHOWN: usize = 120;
    let mut escaped = String::new();
    for (place, c) in text.chars().enumerate() {
        if place == SHOWN {
            escaped.push('…');
            break;
        }
        match c {
            // Harmless, and a regex with each backslash doubled is hard to recognise.
            '\\' | '\'' | '"' => escaped.push(c),
            c => escaped.extend(c.escape_debug()),
        }
    }
    escaped
}

/// Makes serde use the one door: `FromStr` in, `Display` out.
macro_rules! serde_as_text {
    ($($name:ident),+ $(,)?) => { $(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+ };
}

serde_as_text!(
    ByteSize,
    CommandName,
    WideHost,
    EnvName,
    EnvPattern,
    Folder,
    Host,
    HostName,
    HostPattern,
    PathPattern,
    Pattern,
    Period,
    Port,
    ToolPattern,
);
