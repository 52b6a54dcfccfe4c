//! Rules that are the first words of commands, as `check --jsonl` gets them.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::Source;
use crate::decide::notes::{Effect, Notes, Part, Rank, Reading};
use crate::decide::{Answer, Reason};

/// Words that commands begin with, and what holds for those that do. Each list is in order.
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
            list.sort_unstable();
        }
        Some(rules)
    }

    /// Returns what the rules say about a text; none if they say nothing.
    pub(crate) fn judge(&self, notes: &Notes, reasons: &[Reason]) -> Option<Answer> {
        let denies = |part: &Part| matches(&self.deny, part) > matches(&self.allow, part);
        let on_floor = self.floor == Floor::Holds
            && reasons.iter().any(|reason| reason.source() == Source::Hardline);
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

/// Returns how many words the longest of the rules has that a command begins with. They are in
/// order, so that many rules and many commands take no time.
fn matches(rules: &[Vec<String>], part: &Part) -> usize {
    let Some((program, args)) = part.argv.split_first() else { return 0 };
    // A program is the same in whatever folder it lies.
    let bare = program.rsplit('/').next().unwrap_or(program);
    longest(rules, program, args).max(longest(rules, bare, args))
}

fn longest(rules: &[Vec<String>], program: &str, args: &[String]) -> usize {
    let (mut near, mut longest) = (rules, 0);
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    for (at, word) in words.enumerate() {
        let of = |rule: &Vec<String>| rule.get(at).map(|own| own.as_str().cmp(word));
        let start = near.partition_point(|rule| of(rule).is_none_or(Ordering::is_lt));
        near = near.get(start..).unwrap_or_default();
        let end = near.partition_point(|rule| of(rule) == Some(Ordering::Equal));
        near = near.get(..end).unwrap_or_default();
        // Of rules that begin alike the shortest comes first.
        match near.first() {
            Some(rule) if rule.len() == at + 1 => longest = at + 1,
            Some(_) => {}
            None => break,
        }
    }
    longest
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    fn length(rules: &[&str], command: &str) -> usize {
        let words = |text: &&str| text.split(' ').map(str::to_owned).collect();
        let mut rules: Vec<Vec<String>> = rules.iter().map(words).collect();
        rules.sort_unstable();
        let argv = words(&command);
        matches(&rules, &Part { span: Span::new(0, 0), rank: Rank::Written, argv })
    }

    #[test]
    fn the_longest_rule_that_a_command_begins_with_counts() {
        let rules = ["git", "git log", "git log --oneline -5", "ls", "git push"];
        assert_eq!(length(&rules, "git status"), 1);
        assert_eq!(length(&rules, "git log -p"), 2);
        assert_eq!(length(&rules, "git log --oneline"), 2);
        assert_eq!(length(&rules, "git log --oneline -5 x"), 4);
        assert_eq!(length(&rules, "/usr/bin/git push"), 2);
        assert_eq!(length(&["/bin/ls -l", "ls"], "/bin/ls -l"), 2);
        assert_eq!(length(&rules, "gitk"), 0);
        assert_eq!(length(&[], "ls"), 0);
    }
}
