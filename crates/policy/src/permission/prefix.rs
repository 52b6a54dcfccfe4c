//! Rules that are the first words of commands, as `check --jsonl` gets them.

use serde_json::Value as Json;

use crate::decide::notes::{Effect, Notes, Part, Rank, Reading};
use crate::decide::{Answer, Reason};

/// Words that commands begin with, and what holds for those that do.
#[derive(Clone, Debug)]
pub struct PrefixRules {
    allow: Vec<Vec<String>>,
    deny: Vec<Vec<String>>,
    ask: Vec<Vec<String>>,
    /// What holds for a command that no rule is about; none if nobody says.
    default: Option<Answer>,
    floor: Floor,
}

/// Whether what cannot be undone is denied, too.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Floor {
    Holds,
    Absent,
}

impl PrefixRules {
    /// Reads `{"allow": […], "deny": […], "default": …}`, whose entries are commands, or
    /// `{"prefix_rule": […], "decision": …, "default": …}`, whose entries are words. `None` if it is
    /// neither.
    pub fn read(policy: &Json) -> Option<Self> {
        let policy = policy.as_object()?;
        let default = match policy.get("default") {
            None => None,
            Some(default) => match default.as_str()? {
                "no_match" => None,
                word => Some(answer(word)?),
            },
        };
        let floor = match policy.get("upstream_defaults") {
            Some(Json::Bool(true)) => Floor::Holds,
            Some(_) | None => Floor::Absent,
        };
        let mut rules =
            Self { allow: Vec::new(), deny: Vec::new(), ask: Vec::new(), default, floor };
        if let Some(words) = policy.get("prefix_rule") {
            let words = texts(words)?.into_iter().map(str::to_owned).collect();
            match answer(policy.get("decision")?.as_str()?)? {
                Answer::Allow => rules.allow.push(words),
                Answer::Ask => rules.ask.push(words),
                Answer::Deny => rules.deny.push(words),
            }
            return Some(rules);
        }
        let lists = [("allow", &mut rules.allow), ("deny", &mut rules.deny)];
        for (key, list) in lists {
            for command in policy.get(key).map_or(Some(Vec::new()), texts)? {
                list.push(command.split_whitespace().map(str::to_owned).collect());
            }
        }
        Some(rules)
    }

    /// Returns what the rules say about a text; none if they say nothing.
    pub(crate) fn judge(&self, notes: &Notes, reasons: &[Reason]) -> Option<Answer> {
        let denies = |part: &Part| matches(&self.deny, part) > matches(&self.allow, part);
        let on_floor = self.floor == Floor::Holds
            && reasons.iter().any(|reason| {
                matches!(reason.code, "device" | "kernel" | "power" | "exhausts" | "backdoor")
            });
        if on_floor || notes.parts.iter().any(denies) {
            return Some(Answer::Deny);
        }
        if notes.reading == Reading::Broken {
            return Some(self.default.map_or(Answer::Ask, |default| default.max(Answer::Ask)));
        }
        if notes.parts.iter().any(|part| matches(&self.ask, part) > 0) {
            return Some(Answer::Ask);
        }
        let mut written = notes.parts.iter().filter(|part| part.rank == Rank::Written).peekable();
        let named = written.peek().is_some() && written.all(|part| matches(&self.allow, part) > 0);
        // Where others are asked about, a rule for `git log` says nothing about `git log > x`.
        let unnamed = named && notes.effect == Effect::Does && self.default != Some(Answer::Allow);
        match self.default {
            _ if named && !unnamed => Some(Answer::Allow),
            default => default,
        }
    }
}

/// Returns how many words the longest of the rules has that a command begins with.
fn matches(rules: &[Vec<String>], part: &Part) -> usize {
    let begins = |rule: &&Vec<String>| {
        !rule.is_empty()
            && rule.len() <= part.argv.len()
            && rule.iter().zip(&part.argv).enumerate().all(|(at, (word, written))| {
                // A program is the same in whatever folder it lies.
                let bare = written.rsplit('/').next().filter(|_| at == 0);
                word == written || bare.is_some_and(|bare| bare == word)
            })
    };
    rules.iter().filter(begins).map(Vec::len).max().unwrap_or(0)
}

fn texts(list: &Json) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Json::as_str).collect()
}

fn answer(word: &str) -> Option<Answer> {
    match word {
        "allow" => Some(Answer::Allow),
        "ask" | "prompt" => Some(Answer::Ask),
        "deny" | "forbidden" => Some(Answer::Deny),
        _ => None,
    }
}
