//! What to tell whoever ran into a wall: which profile, which rule, and what to do.
//!
//! It is made from what the walls refused, as far as that was watched
//! ([`Job::trace_writes`](crate::Job::trace_writes)). What a command prints has no part in it: words
//! in an output can be anybody's.

use std::path::PathBuf;

use palisade_policy::policy::{Policy, Profile};

use super::outcome::Outcome;
use crate::agentao::name_of;

/// What lets a command write in the project that a profile closes.
const IN_PROJECT: &str = "the profile `workspace-write-no-network` opens the project";

/// The profile that a command ran under.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Under {
    /// Its name.
    pub profile: String,
    /// Who chose it, for people: a layer, and where there is one a file with a line.
    pub chosen_by: String,
    /// The project, where the policy names it.
    pub root: Option<PathBuf>,
}

impl Under {
    /// Returns the profile of a policy, or the one that its rules pick.
    pub(super) fn of(policy: &Policy, picked: Option<&Profile>) -> Self {
        let rules = policy.commands.rules.lists().iter().flat_map(|list| &list.rules);
        let mut rules = rules.filter(|rule| rule.value.profile.as_ref() == picked);
        let rule = picked.and_then(|_| rules.next()).map(|rule| &rule.origin);
        let chosen = policy.profile.sourced();
        let origin = rule.or(chosen.map(|chosen| &chosen.origin));
        Self {
            profile: name_of(&policy.profile.value()),
            chosen_by: origin.map_or_else(|| "built-in".into(), ToString::to_string),
            root: policy.root.sourced().map(|root| root.value.path()),
        }
    }
}

impl Outcome {
    /// Returns one hint for each thing that was refused, if
    /// [`Job::trace_writes`](crate::Job::trace_writes) had that watched.
    pub fn hints(&self) -> Vec<String> {
        let Some(Under { profile, chosen_by, root }) = &self.under else { return Vec::new() };
        let hint = |refused: &palisade_apply::Violation| {
            let (operation, path) = (refused.operation, refused.path.display());
            let inside = root.as_ref().is_some_and(|root| refused.path.starts_with(root));
            let by_profile = inside && refused.rule == "files.write";
            let remedy = if by_profile && *profile == Profile::Readonly.to_string() {
                IN_PROJECT
            } else {
                &refused.remedy
            };
            let rule = refused.rule;
            format!(
                "the profile `{profile}` ({chosen_by}) refused {operation} of `{path}` by `{rule}`: \
                 {remedy}"
            )
        };
        self.violations().iter().map(hint).collect()
    }
}
