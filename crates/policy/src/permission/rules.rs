//! Lists of rules, held against calls.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::call::ToolCall;
use super::{Names, fetch};
use crate::command::HOLE;
use crate::decide::Answer;
use crate::decide::notes::{Notes, Part, Rank, Reading};
use crate::key::{RuleList, Sourced, Standing};
use crate::layer::Origin;
use crate::name::{Found, Pattern};
use crate::policy::{Action, Policy, Profile, Rule};

/// The rules of a policy.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) lists: Vec<RuleList<Rule>>,
    /// The profile of calls that no rule picks one for.
    pub(super) profile: Profile,
    /// Where that one was chosen.
    pub(super) chosen_at: Option<Origin>,
}

/// What the lists amount to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruled<'p> {
    pub(super) answer: Answer,
    /// The rule that says so.
    pub(super) rule: &'p Sourced<Rule>,
    /// The command that it is about, if it is about one of several.
    pub(super) part: Option<&'p Part>,
}

/// What a rule is held against.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) tools: Names<'s>,
    pub(super) args: &'s Map<String, Json>,
    /// The readings of the command; empty where the call has none of its own.
    pub(super) commands: &'s [Cow<'s, str>],
}

impl Rules {
    pub(super) fn new(policy: &Policy) -> Self {
        let lists = policy.commands.rules.lists().iter();
        Self {
            lists: lists.filter(|list| !list.rules.is_empty()).cloned().collect(),
            profile: policy.profile.value().clone(),
            chosen_at: policy.profile.sourced().map(|profile| profile.origin.clone()),
        }
    }

    pub(super) fn are_silent(&self) -> bool {
        self.lists.is_empty()
    }

    /// Returns what the lists say about a tool call.
    pub(super) fn of_tool(&self, call: &ToolCall<'_>) -> Option<Ruled<'_>> {
        let tools = Names::Only(call.tool);
        let subject = Subject { tools, args: call.args, commands: &[] };
        strictest(self.lists.iter().filter_map(|list| first(list, subject)))
    }

    /// Returns whether a rule about hosts allows the address that a tool call names.
    pub(super) fn allow_address(&self, call: &ToolCall<'_>, address: &str) -> bool {
        self.of_tool(call).is_some_and(|ruled| {
            let named = ruled.rule.value.domain.as_ref().map(|domain| &*domain.url_arg);
            let named = named.and_then(|name| call.args.get(name)).and_then(Json::as_str);
            ruled.answer == Answer::Allow && named == Some(address)
        })
    }

    /// Returns what the lists say about a shell text: about the whole, about each command in it,
    /// and about what those start.
    pub(super) fn of_shell<'p>(
        &'p self,
        tools: Names<'_>,
        args: &Map<String, Json>,
        text: &str,
        notes: &'p Notes,
    ) -> Option<Ruled<'p>> {
        let lists = self.lists.iter();
        strictest(lists.filter_map(|list| of_list(list, tools, args, text, notes)))
    }
}

/// Returns what one list says about a shell text.
fn of_list<'p>(
    list: &'p RuleList<Rule>,
    tools: Names<'_>,
    args: &Map<String, Json>,
    text: &str,
    notes: &'p Notes,
) -> Option<Ruled<'p>> {
    let commands: &[Cow<'_, str>] = &[Cow::Borrowed(text)];
    let whole = first(list, Subject { tools, args, commands });
    let mut strict = whole.filter(|ruled| ruled.answer != Answer::Allow);
    let mut allowed = whole.filter(|ruled| ruled.answer == Answer::Allow);
    let mut is_covered = notes.reading == Reading::Whole;
    for part in &notes.parts {
        let commands = &*readings(part, text);
        let found = first(list, Subject { tools, args, commands });
        let found = found.map(|ruled| Ruled { part: Some(part), ..ruled });
        let found = match (part.rank, found) {
            // What a command starts is the business of rules that name it; one about every
            // command has spoken already.
            (Rank::Launched, Some(ruled)) if ruled.rule.value.args.is_empty() => None,
            (_, found) => found,
        };
        match found {
            Some(ruled) if ruled.answer == Answer::Allow => {
                allowed = allowed.or(Some(ruled));
            }
            Some(ruled) => strict = strictest(strict.into_iter().chain([ruled])),
            None => is_covered &= part.rank == Rank::Launched,
        }
    }
    strict.or_else(|| allowed.filter(|_| is_covered && list.standing == Standing::Full))
}

/// Returns the strictest; of equals the first.
fn strictest<'p>(found: impl Iterator<Item = Ruled<'p>>) -> Option<Ruled<'p>> {
    found.reduce(|known, next| if next.answer > known.answer { next } else { known })
}

/// Returns what a list's first matching rule says. A list that may only narrow ends with a rule
/// that allows, without a word.
fn first<'p>(list: &'p RuleList<Rule>, subject: Subject<'_>) -> Option<Ruled<'p>> {
    for rule in &list.rules {
        let Some(action) = rule.value.action else { continue };
        if !applies(&rule.value, action, subject) {
            continue;
        }
        let answer = match action {
            Action::Deny => Answer::Deny,
            Action::Ask => Answer::Ask,
            Action::Allow => Answer::Allow,
        };
        let speaks = list.standing == Standing::Full || answer != Answer::Allow;
        return speaks.then_some(Ruled { answer, rule, part: None });
    }
    None
}

/// Whether a rule matches; where the engine gives up, the stricter answer is taken (Ruling 18).
pub(super) fn applies(rule: &Rule, action: Action, subject: Subject<'_>) -> bool {
    let takes = |found: Found| match found {
        Found::Yes => true,
        Found::No => false,
        Found::Undecided => action != Action::Allow,
    };
    let matches = |tool: &str| match action {
        Action::Allow => rule.tool.matches(tool),
        Action::Ask | Action::Deny => rule.tool.matches_in_any_case(tool),
    };
    if !subject.tools.of(action).any(|tool| takes(matches(tool))) {
        return false;
    }
    if let Some(domain) = &rule.domain {
        return fetch::names(domain, action, subject.args);
    }
    rule.args.iter().all(|(name, pattern)| match &**name {
        "command" if !subject.commands.is_empty() => {
            of_command(pattern, action, subject.commands, takes)
        }
        name => takes(pattern.search(&text_of(subject.args.get(name)))),
    })
}

/// A rule that allows means the command as it is written; any other means it however it is spelled.
fn of_command(
    pattern: &Pattern,
    action: Action,
    commands: &[Cow<'_, str>],
    takes: impl Fn(Found) -> bool,
) -> bool {
    let readings = match action {
        Action::Allow => commands.get(..1).unwrap_or_default(),
        Action::Ask | Action::Deny => commands,
    };
    readings.iter().any(|command| takes(pattern.search(command)))
}

/// Returns how a command may be read: as it is written, without quotes, and without the program's
/// folder.
pub(super) fn readings<'s>(part: &Part, text: &'s str) -> Vec<Cow<'s, str>> {
    let joined = part.argv.join(" ").replace(HOLE, "");
    let mut readings = Vec::with_capacity(3);
    if part.rank == Rank::Written {
        readings.extend(text.get(part.span.start()..part.span.end()).map(Cow::Borrowed));
    }
    let program = joined.split(' ').next().unwrap_or_default();
    let folder = program.rfind('/').map_or(0, |slash| slash + 1);
    if let Some(bare) = joined.get(folder..).filter(|_| folder > 0) {
        readings.push(Cow::Owned(bare.to_owned()));
    }
    readings.push(Cow::Owned(joined));
    readings
}

/// Returns an argument as text: nothing for one that is absent.
pub(super) fn text_of(value: Option<&Json>) -> Cow<'_, str> {
    match value {
        None | Some(Json::Null) => Cow::Borrowed(""),
        Some(Json::String(text)) => Cow::Borrowed(text),
        Some(value @ (Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_))) => {
            Cow::Owned(value.to_string())
        }
    }
}
