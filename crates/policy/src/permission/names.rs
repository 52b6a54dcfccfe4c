//! The names that a tool goes by.

use super::{SHELL_TOOL, SHELL_TOOLS};
use crate::policy::Action;

/// The names under which rules know the tool of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names<'n> {
    /// A command that is only asked about goes by the names of every shell.
    AnyShell,
    /// This one alone.
    Only(&'n str),
    /// The tool's own, the whole one first. As it runs commands, a rule that narrows any shell
    /// narrows it too; one that allows means the tool that it names.
    Runs(&'n [&'n str]),
}

impl<'n> Names<'n> {
    /// Returns the names that a rule with this action is held against.
    pub(super) fn of(self, action: Action) -> impl Iterator<Item = &'n str> {
        let (own, only, others): (&[&str], _, &[&str]) = match (self, action) {
            (Self::AnyShell, _) => (&[], None, &SHELL_TOOLS),
            (Self::Only(tool), _) => (&[], Some(tool), &[]),
            (Self::Runs(own), Action::Allow) => (own, None, &[]),
            (Self::Runs(own), Action::Ask | Action::Deny) => (own, None, &SHELL_TOOLS),
        };
        only.into_iter().chain(own.iter().copied()).chain(others.iter().copied())
    }

    /// Returns the name to tell a person.
    pub(super) fn shown(self) -> &'n str {
        match self {
            Self::AnyShell => SHELL_TOOL,
            Self::Only(tool) => tool,
            Self::Runs(own) => own.first().copied().unwrap_or(SHELL_TOOL),
        }
    }
}
