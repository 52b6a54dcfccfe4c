//! Which profile the rules pick for a call.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::call::ToolCall;
use super::names::Names;
use super::rules::{Rules, Subject, applies, readings};
use crate::decide::notes::{Notes, Rank};
use crate::key::{RuleList, Sourced, Standing, Strictness as _};
use crate::policy::{Action, Profile, Rule};

impl Rules {
    /// Returns the profile that the rules pick for a tool call, if one does.
    pub(super) fn profile_of_tool(&self, call: &ToolCall<'_>) -> Option<Profile> {
        self.pick(Subject { tools: Names::Only(call.tool), args: call.args, commands: &[] })
    }

    /// Returns the profile for a shell text: one holds for all of it, so the strictest of what its
    /// commands get.
    pub(super) fn profile_of_shell(
        &self,
        tools: Names<'_>,
        args: &Map<String, Json>,
        text: &str,
        notes: &Notes,
    ) -> Option<Profile> {
        if !self.lists.iter().any(|list| picks(list).next().is_some()) {
            return None;
        }
        let written = notes.parts.iter().filter(|part| part.rank == Rank::Written);
        let mut commands: Vec<Vec<Cow<'_, str>>> =
            written.map(|part| readings(part, text)).collect();
        if commands.is_empty() {
            commands.push(vec![text.into()]);
        }
        let picked = commands.iter().map(|commands| self.pick(Subject { tools, args, commands }));
        let picked: Vec<Option<Profile>> = picked.collect();
        if picked.iter().all(Option::is_none) {
            return None;
        }
        picked
            .into_iter()
            .map(|picked| picked.unwrap_or_else(|| self.profile.clone()))
            .reduce(stricter)
    }

    /// The first match of each list, and the strictest of those.
    fn pick(&self, subject: Subject<'_>) -> Option<Profile> {
        let first = |list: &RuleList<Rule>| {
            // A profile may open as well as close: an undecided pattern picks nothing.
            let mut rules = picks(list);
            let rule = rules.find(|rule| applies(&rule.value, Action::Allow, subject))?;
            let profile = rule.value.profile.clone()?;
            let bounded = self.chosen_at.as_ref().is_some_and(|at| at.bounds_rule(&rule.origin));
            Some(match list.standing {
                Standing::Full if !bounded => profile,
                Standing::Full | Standing::NarrowOnly => stricter(profile, self.profile.clone()),
            })
        };
        self.lists.iter().filter_map(first).reduce(stricter)
    }
}

fn picks(list: &RuleList<Rule>) -> impl Iterator<Item = &Sourced<Rule>> {
    list.rules.iter().filter(|rule| rule.value.profile.is_some())
}

/// Two files cannot be compared: then nothing is writable.
fn stricter(one: Profile, other: Profile) -> Profile {
    if one.within(&other) {
        one
    } else if other.within(&one) {
        other
    } else {
        Profile::Readonly
    }
}
