//! Rules that pick profiles, written for Agentao.
//!
//! Agentao reads of a rule a tool's name and a profile. Where a policy distinguishes more, a tool
//! gets the strictest profile that any call of it can get, and the rules behind that are listed.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::profiles::{SHELL_TOOL, in_folder};
use super::write::lose;
use crate::dialect::{Lost, Surroundings};
use crate::key::{Item as _, RuleList, Sourced, Standing, Strictness as _};
use crate::name::Found;
use crate::policy::{Policy, Profile, Rule};

/// The rules of a policy that pick profiles.
pub(super) struct Picks<'a> {
    pub(super) policy: &'a Policy,
    /// What holds for a call that no rule picks a profile for.
    pub(super) default: &'a Profile,
    pub(super) folder: Option<&'a Path>,
    pub(super) around: &'a Surroundings<'a>,
}

/// What a tool gets.
struct Picked {
    profile: Profile,
    how: How,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum How {
    /// Every call gets this profile.
    Exactly,
    /// Some call could get a wider one.
    Strictly,
    /// Files cannot be compared: this one opens least, but a file may hide what it shows.
    Unsurely,
}

impl Picks<'_> {
    /// Writes one rule for each tool, and lists the rules that say more.
    pub(super) fn write(&self, lost: &mut Vec<Lost>) -> Vec<Json> {
        let mut written = Vec::new();
        for tool in self.tools() {
            let Picked { profile, how } = self.picked(&tool);
            if how != How::Exactly && profile == *self.default {
                continue; // it has that without a rule
            }
            // The strictest there is, where the right one cannot be named.
            let name = self.name(&profile).unwrap_or_else(|| Profile::Readonly.to_string());
            written.push(json!({ "tool": tool, "profile": name }));
        }
        for list in self.policy.commands.rules.lists() {
            for Sourced { value: rule, .. } in &list.rules {
                if let Some(why) = self.why_not(rule, list) {
                    lose(lost, "commands.rules", rule.json().to_string(), why);
                }
            }
        }
        written
    }

    /// Returns the tools that rules name, and the one that Agentao confines if a rule means it.
    fn tools(&self) -> Vec<String> {
        let rules: Vec<&Rule> = self.lists().flat_map(picks).collect();
        let mut tools: Vec<String> = Vec::new();
        let shell = rules.iter().any(|rule| rule.tool.matches(SHELL_TOOL) != Found::No);
        let named = rules.iter().filter_map(|rule| literal(&rule.tool.to_string()));
        for tool in named.chain(shell.then(|| SHELL_TOOL.to_owned())) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        tools
    }

    /// Returns a profile that is no wider than what any call of a tool gets: the first match of each
    /// list, the strictest of those, and the default where no list is sure to match.
    fn picked(&self, tool: &str) -> Picked {
        let (mut found, mut settled): (Vec<&Profile>, _) = (Vec::new(), false);
        for list in self.lists() {
            for rule in picks(list) {
                let matches = rule.tool.matches(tool);
                let Some(profile) = rule.profile.as_ref().filter(|_| matches != Found::No) else {
                    continue;
                };
                found.push(profile);
                if matches == Found::Yes && rule.args.is_empty() && rule.domain.is_none() {
                    settled |= list.standing == Standing::Full;
                    break;
                }
            }
        }
        if !settled {
            found.push(self.default);
        }
        let least = found.iter().find(|one| found.iter().all(|other| one.within(other)));
        match least {
            Some(only) if found.len() == 1 => {
                Picked { profile: (*only).clone(), how: How::Exactly }
            }
            Some(least) => Picked { profile: (*least).clone(), how: How::Strictly },
            None => Picked { profile: Profile::Readonly, how: How::Unsurely },
        }
    }

    /// Says why a rule does not come back as it is; none if it does.
    fn why_not(&self, rule: &Rule, list: &RuleList<Rule>) -> Option<&'static str> {
        let Some(profile) = &rule.profile else {
            return Some("sandbox.json picks profiles; verdicts stand in permissions.json");
        };
        let tool = literal(&rule.tool.to_string());
        let shown = tool.as_deref().unwrap_or(SHELL_TOOL);
        let how = self.picked(shown).how;
        let plain = rule.action.is_none() && rule.domain.is_none() && rule.justification.is_none();
        if how == How::Unsurely {
            return Some(
                "`readonly` is written for the tool; a profile's file may hide more: wider",
            );
        }
        if self.name(profile).is_none() {
            return Some("its file cannot be named: `readonly` is written, the file may hide more");
        }
        if tool.is_none() {
            return Some(
                "a tool is named as it is; the strictest profile of all its calls is kept",
            );
        }
        if !rule.args.is_empty() {
            return Some("`args` is not read there; the strictest profile of all calls is kept");
        }
        if !plain {
            return Some("a rule there picks a profile by the tool's name, and says no more");
        }
        let one = self.lists().count() == 1 && list.standing == Standing::Full;
        (!one || how != How::Exactly)
            .then_some("other rules are about the same calls; the strictest profile is kept")
    }

    /// Returns the name by which Agentao finds a profile; none if it cannot be found.
    pub(super) fn name(&self, profile: &Profile) -> Option<String> {
        let Profile::File(file) = profile else { return Some(profile.to_string()) };
        let path = file.path();
        let folder = self.folder.filter(|folder| path.parent() == Some(folder))?;
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let found = |stem: &&str| in_folder(folder, stem, self.around).as_ref() == Some(&path);
        let name = path.file_name().and_then(|name| name.to_str());
        stem.filter(found).or(name).map(Into::into)
    }

    /// Returns the lists that pick profiles.
    fn lists(&self) -> impl Iterator<Item = &RuleList<Rule>> {
        let lists = self.policy.commands.rules.lists().iter();
        lists.filter(|list| picks(list).next().is_some())
    }
}

/// Returns the rules of a list that pick profiles.
fn picks(list: &RuleList<Rule>) -> impl Iterator<Item = &Rule> {
    list.rules.iter().map(|rule| &rule.value).filter(|rule| rule.profile.is_some())
}

/// Returns the name that an expression stands for, if it stands for one alone.
fn literal(expression: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = expression.chars();
    while let Some(c) = chars.next() {
        name.push(if c == '\\' { chars.next()? } else { c });
    }
    (fancy_regex::escape(&name) == expression).then_some(name)
}
