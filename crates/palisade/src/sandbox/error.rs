//! Why nothing was run.

use std::io;
use std::path::{Path, PathBuf};

use palisade_apply::CannotStart;
use palisade_plan::CannotPlan;
use palisade_policy::name::PathPattern;
use palisade_policy::policy::Policy;
use palisade_policy::text::visible;
use palisade_policy::{Origin, key::Sourced};

use crate::places::shown;
use crate::workspaces::Unknown;

/// Why a call that was permitted did not run. A refusal is not one of these: it is an outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotRun {
    /// The folder to run in is not there.
    #[error("`{}` is no folder to run in", shown(folder))]
    Folder {
        /// The folder.
        folder: PathBuf,
    },
    /// Its name is no text.
    #[error("the name of `{}` is no text", shown(folder))]
    NoText {
        /// The folder.
        folder: PathBuf,
    },
    /// Another agent works in the folder, which is hidden from this one.
    #[error("`{}` is a workspace of `{}`, and hidden from this agent", shown(root), visible(agent))]
    Others {
        /// The folder to run in.
        folder: PathBuf,
        /// The other agent.
        agent: String,
        /// Where that works.
        root: PathBuf,
    },
    /// No way to confine it.
    #[error(transparent)]
    Plan(#[from] CannotPlan),
    /// The same, and who said what stands against it.
    #[error("{error}, as {origin} says")]
    Said {
        /// Why.
        error: CannotPlan,
        /// Where it stands in the policy.
        origin: Box<Origin>,
    },
    /// The plan cannot be carried to this machine.
    #[error("{0}")]
    Carried(String),
    /// The walls could not be put up.
    #[error(transparent)]
    Start(#[from] CannotStart),
    /// The streams could not be opened.
    #[error("cannot make a pipe")]
    Pipe(#[source] io::Error),
    /// A trial failed, which is no run of anybody's.
    #[error("{0}")]
    Trial(String),
    /// Our own state cannot be looked at, so that it cannot be hidden.
    #[error("cannot read `{}`, which is to be hidden: {error}", shown(folder))]
    OwnState {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// It cannot be told where other agents work, so that it cannot be hidden.
    #[error("it is not known where other agents work: {0}")]
    Workspaces(#[from] Unknown),
    /// A port of the host that is to lead inside cannot be had.
    #[error("port {port} of the host cannot be published: {error}{}", said(origin.as_deref()))]
    Port {
        /// The port.
        port: u16,
        /// Why not.
        #[source]
        error: io::Error,
        /// Who lists it.
        origin: Option<Box<Origin>>,
    },
    /// An error of ours.
    #[error("an internal error: {0}")]
    Internal(String),
}

impl CannotRun {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Folder { .. } | Self::NoText { .. } => "cwd",
            Self::Others { .. } => "other-workspace",
            Self::Plan(error) | Self::Said { error, .. } => error.code(),
            Self::Start(error) => error.code(),
            Self::Carried(_) => "carried",
            Self::Pipe(_) => "pipe",
            Self::Trial(_) => "trial",
            Self::OwnState { .. } => "own-state",
            Self::Workspaces(_) => "workspaces",
            Self::Port { .. } => "port-taken",
            Self::Internal(_) => "internal-error",
        }
    }

    /// Returns what the caller can do about it, when we know.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Folder { .. } | Self::NoText { .. } => "name another with --cwd",
            Self::Others { root, .. } => {
                let root = shown(root);
                return Some(format!("work elsewhere, or `palisade agents forget {root}`"));
            }
            Self::Plan(error) | Self::Said { error, .. } => return hint(error).map(str::to_owned),
            Self::Port { .. } => "end what listens there (`ss -ltnp`), or publish another port",
            Self::OwnState { .. } => "make it readable for you",
            Self::Workspaces(unknown) => return Some(unknown.hint()),
            Self::Start(CannotStart::Descriptor { .. }) => "hand over a pipe, a file or a terminal",
            Self::Carried(_)
            | Self::Start(_)
            | Self::Pipe(_)
            | Self::Trial(_)
            | Self::Internal(_) => return None,
        };
        Some(hint.to_owned())
    }
}

impl CannotRun {
    /// Names whoever said in a policy what cannot be planned.
    pub(super) fn said_in(policy: &Policy, error: CannotPlan) -> Self {
        let origin = if let CannotPlan::Loader { hidden, .. } = &error {
            let entries = policy.files.hide.entries().iter();
            let literal = |entry: &&Sourced<_>| entry_is(&entry.value, hidden);
            entries.rev().find(literal).map(|entry| &entry.origin)
        } else if let CannotPlan::NotWritable(path) = &error {
            let entries = policy.files.write.entries().iter();
            entries.rev().find(|entry| entry.value.path() == *path).map(|entry| &entry.origin)
        } else if let CannotPlan::Network(_) = &error {
            policy.network.mode.sourced().map(|mode| &mode.origin)
        } else {
            None
        };
        match origin.cloned() {
            Some(origin) => Self::Said { error, origin: Box::new(origin) },
            None => error.into(),
        }
    }
}

/// Names who said something, if anybody did.
fn said(origin: Option<&Origin>) -> String {
    origin.map(|origin| format!(", as {origin} says")).unwrap_or_default()
}

fn entry_is(pattern: &PathPattern, path: &Path) -> bool {
    pattern.literal().is_some_and(|named| named == path)
}

fn hint(error: &CannotPlan) -> Option<&str> {
    if let CannotPlan::Missing { remedy, .. } = error {
        Some(remedy)
    } else if let CannotPlan::Short { .. } = error {
        Some(
            "try again, start fewer at once, or raise the limits of this user or container, and of \
             what is around it",
        )
    } else if let CannotPlan::Cwd { .. } = error {
        Some("name a folder of the project with --cwd")
    } else if let CannotPlan::Network(_) = error {
        Some("set network.mode to `deny-all`, or to `disabled` for the host's own network")
    } else if let CannotPlan::Loader { .. } = error {
        Some("let the loader be read, or hide less")
    } else if let CannotPlan::NotWritable(_) = error {
        Some("take it out of files.write")
    } else {
        None
    }
}
