//! Why no session could be opened, and what a person should know of one that was.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use palisade_policy::Origin;
use palisade_policy::dialect::DIALECTS;
use palisade_policy::key::Ignored;
use palisade_policy::layer::CannotResolve;
use palisade_policy::name::Invalid;
use palisade_policy::text::{Diagnostic, visible};

use super::Agreement;
use crate::places::shown;
use crate::read::ReadError;
use crate::root::{RootError, RootWarning};
use crate::trust::TrustError;
use crate::workspaces::Unknown;

/// Why a session could not be opened. When one of these is returned, nothing has run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A folder of others lies in the project, or the project in it.
    #[error("`{}` and `{}` overlap: neither can be kept from the other", shown(own), shown(other))]
    Apart {
        /// The project's root.
        own: PathBuf,
        /// The folder of others.
        other: PathBuf,
    },
    /// A dialect was named that this version does not read.
    #[error("there is no policy dialect `{}`", visible(name))]
    Dialect {
        /// The name before the colon.
        name: String,
    },
    /// Includes go in a circle, or too deep.
    #[error("`{}` is included {why}", shown(path))]
    Include {
        /// The file that is included once too often.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file has nearly the name of one that is looked for.
    #[error("`{}` is not read: the file must be called `policy.yaml`", shown(path))]
    Misnamed {
        /// The file.
        path: PathBuf,
    },
    /// Something that a text names cannot be used.
    #[error("{error}")]
    NamedIn {
        /// What is wrong with it.
        error: Box<Self>,
        /// Where it is named.
        origin: Origin,
    },
    /// None of the files that a system documents exists.
    #[error("there is no policy file of {dialect}")]
    NoDocumentedFile {
        /// The dialect that was named without a file.
        dialect: &'static str,
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// There is nowhere to keep what the user trusts.
    #[error("there is no home folder to keep trust in")]
    NoState,
    /// An option or a variable has a value that means nothing.
    #[error("{name}: {invalid}")]
    Option {
        /// The option or variable.
        name: String,
        /// What is wrong with its value.
        invalid: Invalid,
    },
    /// A file of the user names a profile that lies in the project, where anybody may change it.
    #[error("the profile `{}` lies in the project itself", visible(file))]
    ProfileInProject {
        /// The file.
        file: String,
    },
    /// A profile file of a kind that this version does not read.
    #[error("the profile `{}` is of a kind that cannot be read", visible(file))]
    ProfileKind {
        /// The file.
        file: String,
    },
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No policy could be worked out.
    #[error(transparent)]
    Resolve(#[from] CannotResolve),
    /// No project was found.
    #[error(transparent)]
    Root(#[from] RootError),
    /// A text cannot be used; every problem in it.
    #[error("the policy cannot be used")]
    Text(Vec<Diagnostic>),
    /// Trust could not be remembered or forgotten.
    #[error(transparent)]
    Trust(TrustError),
    /// It cannot be told where other agents work, so that it cannot be hidden.
    #[error("it is not known where other agents work: {0}")]
    Workspaces(#[from] Unknown),
}

impl OpenError {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Apart { .. } => "workspaces-overlap",
            Self::Dialect { .. } => "unknown-dialect",
            Self::Include { .. } => "include",
            Self::Misnamed { .. } => "misnamed",
            Self::NamedIn { error, .. } => error.code(),
            Self::NoDocumentedFile { .. } => "no-documented-file",
            Self::NoState => "no-state",
            Self::Option { invalid, .. } => invalid.code(),
            Self::ProfileInProject { .. } => "profile-in-project",
            Self::ProfileKind { .. } => "profile-kind",
            Self::Read(error) => error.code(),
            Self::Resolve(error) => error.code(),
            Self::Root(error) => error.code(),
            Self::Text(problems) => problems.first().map_or("text", Diagnostic::code),
            Self::Trust(error) => error.code(),
            Self::Workspaces(_) => "workspaces",
        }
    }

    /// Returns what to do about it, when we know.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Apart { .. } => Some("give each a folder beside the others".into()),
            Self::Dialect { .. } => {
                let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
                Some(format!("known: {}; a native file needs no name", names.join(", ")))
            }
            Self::Include { .. } => Some("remove one of the includes".into()),
            Self::Misnamed { .. } => Some("rename it; JSON is YAML too".into()),
            Self::NamedIn { error, origin } => {
                let missing = matches!(**error, Self::Read(ReadError::Missing { .. }));
                let hint = if missing { Some("check the spelling".into()) } else { error.hint() };
                let named = format!("it is named by {origin}");
                Some(hint.map_or(named.clone(), |hint: String| format!("{hint}; {named}")))
            }
            Self::NoDocumentedFile { looked, .. } if looked.is_empty() => {
                Some("it documents no place; name a file".into())
            }
            Self::NoDocumentedFile { looked, .. } => {
                let looked: Vec<String> = looked.iter().map(|path| shown(path)).collect();
                Some(format!("looked at {}", looked.join(", ")))
            }
            Self::NoState => Some("set HOME or XDG_STATE_HOME".into()),
            Self::Option { invalid, .. } => invalid.hint().map(str::to_owned),
            Self::ProfileInProject { .. } => {
                Some("name it in the project's own policy file, or with --profile".into())
            }
            Self::ProfileKind { .. } => {
                Some("a profile file is a `.yaml` with `files` and `network`".into())
            }
            Self::Read(error) => error.hint().map(str::to_owned),
            Self::Resolve(error) => Some(error.hint()),
            Self::Root(error) => error.hint().map(str::to_owned),
            Self::Text(_) => None,
            Self::Trust(error) => error.hint().map(str::to_owned),
            Self::Workspaces(unknown) => Some(unknown.hint()),
        }
    }

    /// Returns the file and line that it is about, where those are known.
    pub fn place(&self) -> Option<(String, Option<u64>)> {
        match self {
            Self::NamedIn { error, origin } if error.diagnostics().is_empty() => {
                let line = origin.place.map(|place| place.line.into());
                Some((origin.file.as_deref()?.to_owned(), line))
            }
            Self::Read(error) => {
                let line = error.line().and_then(|line| u64::try_from(line).ok());
                Some((error.path().to_string_lossy().into(), line))
            }
            Self::Include { path, .. } | Self::Misnamed { path } => {
                Some((path.to_string_lossy().into(), None))
            }
            Self::ProfileInProject { file } | Self::ProfileKind { file } => {
                Some((file.clone(), None))
            }
            Self::Workspaces(unknown) => Some((unknown.path().to_string_lossy().into(), None)),
            Self::Apart { .. }
            | Self::Dialect { .. }
            | Self::NamedIn { .. }
            | Self::NoDocumentedFile { .. }
            | Self::NoState
            | Self::Option { .. }
            | Self::Resolve(_)
            | Self::Root(_)
            | Self::Text(_)
            | Self::Trust(_) => {
                let first = self.diagnostics().first()?;
                Some((first.file().to_owned(), first.place().map(|place| place.line.into())))
            }
        }
    }

    /// Says where the thing is named that cannot be used.
    pub(super) fn named_in(self, origin: &Origin) -> Self {
        if matches!(self, Self::NamedIn { .. } | Self::Text(_)) {
            return self; // it says where already
        }
        Self::NamedIn { error: Box::new(self), origin: origin.clone() }
    }

    /// Returns the complaints about a text, if that is what it is.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Text(problems) => problems,
            Self::NamedIn { error, .. } => error.diagnostics(),
            Self::Apart { .. }
            | Self::Dialect { .. }
            | Self::Include { .. }
            | Self::Misnamed { .. }
            | Self::NoDocumentedFile { .. }
            | Self::NoState
            | Self::Option { .. }
            | Self::ProfileInProject { .. }
            | Self::ProfileKind { .. }
            | Self::Read(_)
            | Self::Resolve(_)
            | Self::Root(_)
            | Self::Trust(_)
            | Self::Workspaces(_) => &[],
        }
    }
}

impl From<Invalid> for OpenError {
    fn from(invalid: Invalid) -> Self {
        Self::Option { name: "the project root".into(), invalid }
    }
}

/// Something a person should know of an open session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Warning {
    /// What is known of an agent holds, and it has no network.
    AgentOffline {
        /// The agent.
        agent: &'static str,
    },
    /// Other agents work in this project's root too, or in a folder around it.
    SharedWorkspace {
        /// The other agents.
        agents: Vec<String>,
        /// Where they work.
        root: PathBuf,
    },
    /// The project lies in a folder in which another agent keeps its state.
    OthersState {
        /// The other agent.
        agent: &'static str,
        /// The folder.
        folder: PathBuf,
    },
    /// What is to be written lies in a folder in which another agent keeps its state.
    InOthersState {
        /// The other agent.
        agent: &'static str,
        /// What is to be written.
        folder: PathBuf,
    },
    /// The project's files say things that were left out.
    Ignored {
        /// Whether the user agreed to another content before.
        agreement: Agreement,
        /// What was left out.
        parts: Vec<Ignored>,
    },
    /// Nothing is known of the agent, and no file speaks of it.
    NoSuchAgent {
        /// The agent that was asked for.
        agent: String,
        /// The agents that some file names.
        known: Vec<String>,
        /// The agent that may have been meant.
        meant: Option<String>,
    },
    /// A profile that was chosen by an option does not hold for a key, because a file that speaks
    /// with the same voice says otherwise.
    ProfileReplaced {
        /// The profile.
        profile: String,
        /// The key.
        key: &'static str,
        /// Who says otherwise.
        origin: Origin,
    },
    /// A profile that was chosen by an option is wider than a file of another system that stands
    /// beside it, and does not hold.
    ProfileWider {
        /// The profile.
        profile: String,
        /// What is stricter, if that is said in a file.
        origin: Option<Origin>,
    },
    /// About the folder that became the project.
    Root(RootWarning),
    /// About a text that can be used.
    Text(Diagnostic),
    /// The memory of what is trusted is not to be believed.
    TrustStore(String),
    /// A file says that nothing is confined, and no other file says otherwise.
    Unconfined {
        /// The file.
        origin: Origin,
    },
}

/// Of a long list of things that were left out, this many are told.
const MAX_SHOWN: usize = 40;

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored { agreement, parts } => {
                let why = match agreement {
                    Agreement::Changed => "changed since you trusted them",
                    Agreement::Never => "are not trusted",
                    Agreement::Trusted => "may not say everything",
                };
                write!(f, "the project's policy files {why}; left out of them:")?;
                for Ignored { key, value, origin } in parts.iter().take(MAX_SHOWN) {
                    let place = origin
                        .place
                        .map_or_else(String::new, |place| format!(", line {}", place.line));
                    let file = origin.file.as_deref().map(visible).unwrap_or_default();
                    write!(f, "\n  {key}: {} ({file}{place})", visible(value))?;
                }
                match parts.len().checked_sub(MAX_SHOWN) {
                    Some(more) if more > 0 => write!(f, "\n  and {more} more"),
                    Some(_) | None => Ok(()),
                }
            }
            Self::AgentOffline { agent } => {
                write!(f, "there is no network: `{agent}` does not reach its model")
            }
            Self::SharedWorkspace { agents, root } => {
                let names: Vec<_> = agents.iter().map(|it| format!("`{}`", visible(it))).collect();
                let works = if agents.len() == 1 { "works" } else { "work" };
                let (names, root) = (names.join(", "), shown(root));
                write!(f, "{names} {works} in `{root}` too: that is not hidden")
            }
            Self::OthersState { agent, folder } => {
                write!(f, "`{agent}` keeps its state in `{}`: that is not hidden", shown(folder))
            }
            Self::InOthersState { agent, folder } => write!(
                f,
                "`{}` lies in the state of `{agent}`: it can be read, and not be written",
                shown(folder)
            ),
            Self::NoSuchAgent { agent, known, meant } => {
                let (agent, known) = (visible(agent), visible(&known.join(", ")));
                write!(f, "no file says anything for the agent `{agent}`")?;
                match (meant, &*known) {
                    (Some(meant), _) => write!(f, "; did you mean `{}`?", visible(meant)),
                    (None, "") => write!(f, ", and nothing is known of it: the base policy holds"),
                    (None, known) => write!(f, "; known: {known}"),
                }
            }
            Self::ProfileReplaced { profile, key: "profile", origin } => {
                write!(f, "not the profile `{}` holds, but what {origin} says", visible(profile))
            }
            Self::ProfileReplaced { profile, key, origin } => {
                let profile = visible(profile);
                write!(
                    f,
                    "`{key}` is not what the profile `{profile}` says, but what {origin} says"
                )
            }
            Self::ProfileWider { profile, origin } => {
                write!(f, "the profile `{}` does not hold: ", visible(profile))?;
                match origin {
                    Some(origin) => write!(f, "{origin} is stricter"),
                    None => write!(f, "a file of another system is stricter"),
                }
            }
            Self::Root(warning) => warning.fmt(f),
            Self::Text(problem) => problem.fmt(f),
            Self::TrustStore(doubt) => write!(f, "{doubt}; nothing counts as trusted"),
            Self::Unconfined { origin } if origin.file.is_none() => {
                write!(f, "NOTHING IS CONFINED: it was switched off for this session ({origin})")
            }
            Self::Unconfined { origin } => write!(f, "NOTHING IS CONFINED: so says {origin}"),
        }
    }
}

impl Warning {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AgentOffline { .. } => "agent-offline",
            Self::SharedWorkspace { .. } => "shared-workspace",
            Self::OthersState { .. } => "others-state",
            Self::InOthersState { .. } => "in-others-state",
            Self::Ignored { .. } => "not-trusted",
            Self::NoSuchAgent { .. } => "no-such-agent",
            Self::ProfileReplaced { .. } | Self::ProfileWider { .. } => "profile-replaced",
            Self::Root(_) => "root",
            Self::Text(problem) => problem.code(),
            Self::TrustStore(_) => "trust-store",
            Self::Unconfined { .. } => "unconfined",
        }
    }

    /// Returns what to do about it, when we know.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        let hint = match self {
            Self::Ignored { parts, .. } if parts.iter().all(is_reserved) => {
                Some("no project may say that, trusted or not: say it in a policy of your own")
            }
            Self::Ignored { agreement: Agreement::Changed | Agreement::Never, .. } => {
                Some("`palisade trust` shows what the files open, and remembers that you agree")
            }
            Self::AgentOffline { .. } => Some(
                "`network: { mode: allow-list }` in a policy of yours opens the hosts that it is known \
                 to need",
            ),
            Self::SharedWorkspace { root, .. } => {
                let root = shown(root);
                return Some(Cow::Owned(format!(
                    "give each agent a folder beside the others', or `palisade agents forget {root}`"
                )));
            }
            Self::InOthersState { .. } => {
                Some("who names the agent's whole folder in `files.write` opens all of it")
            }
            Self::ProfileReplaced { key: "profile", .. } => Some(
                "in files that you name, what is said for one agent or task stands above options \
                 and variables: take the key out of the file",
            ),
            Self::ProfileReplaced { .. } => Some(
                "a profile only supplies defaults: take the key out of the file to have the \
                 profile's",
            ),
            Self::ProfileWider { .. } => Some(
                "beside a file of another system the stricter of the two holds: leave one of them out",
            ),
            Self::NoSuchAgent { agent, .. } => {
                let plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
                let name = if agent.chars().all(plain) { agent } else { "NAME" };
                return Some(Cow::Owned(format!(
                    "a run remembers that it works here: if it is a slip, `palisade agents forget \
                     --agent {name}`"
                )));
            }
            Self::Ignored { .. }
            | Self::OthersState { .. }
            | Self::Root(_)
            | Self::Text(_)
            | Self::TrustStore(_)
            | Self::Unconfined { .. } => None,
        };
        hint.map(Cow::Borrowed)
    }
}

/// Whether it is one of the things that no project may say: trust would not let it in.
fn is_reserved(part: &Ignored) -> bool {
    matches!((&*part.key, &*part.value), ("require", "none" | "external") | ("nested", _))
}
