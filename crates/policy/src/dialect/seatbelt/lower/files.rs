//! `files`: what is hidden and readable, writable and protected.
//!
//! Profiles decide by order, policies by place: the more specific of `hide` and `allow_read` wins,
//! and `protect` wins over `write`. An entry that a later one covers is dropped; of the rest, every
//! two that overlap and disagree must come out the same both ways, or the profile is refused.

use super::super::filter::{Filter, Test};
use super::super::operation::{Operation, Part};
use super::super::place::{depth, overlap};
use super::super::rule::{Rules, Verdict, note};
use super::super::string::Known;
use super::ground::{Access, Entry, Ground, Pin};
use super::{inexpressible, loader, sourced};
use crate::key::{Grants, Reader, Refusals};
use crate::name::{Folder, PathPattern};
use crate::policy::Policy;
use crate::text::visible;

/// Works out `files.hide` and `files.allow_read`.
pub(super) fn reading(rules: &Rules, known: Known<'_>, policy: &mut Policy, cx: &mut Reader<'_>) {
    let entries = take(Access::Read, rules, known, cx).entries;
    loader::check(&entries, known, cx);
    let entries = survivors(entries);
    let (mut hide, mut open) = (Vec::new(), Vec::new());
    for (at, entry) in entries.iter().enumerate() {
        let (before, found) = (&entries[..at], sourced(entry.pattern.clone(), entry.span, cx));
        if let Some(other) = before.iter().find(|other| !keeps_order(other, entry)) {
            return disagree(other, entry, cx);
        }
        match entry.verdict {
            Verdict::Deny => hide.push(found),
            Verdict::Allow if !is_open(before, entry) => open.push(found),
            Verdict::Allow => {}
        }
    }
    // Where nothing is hidden, lists of lower layers hold as they are.
    if !hide.is_empty() {
        policy.files.allow_read = Grants::new(open);
    }
    policy.files.hide = Refusals::new(hide);
}

/// Works out `files.write` and `files.protect`.
pub(super) fn writing(rules: &Rules, known: Known<'_>, policy: &mut Policy, cx: &mut Reader<'_>) {
    let Ground { entries, pinned, .. } = take(Access::Write, rules, known, cx);
    let entries = survivors(entries);
    let (mut write, mut protect) = (Vec::new(), Vec::new());
    for (at, entry) in entries.iter().enumerate() {
        let (before, after) = (&entries[..at], &entries[at + 1..]);
        let meets = |others: &[Entry], verdict: Verdict| {
            let mut others = others.iter().filter(|other| other.verdict == verdict);
            others.find(|other| overlap(&other.pattern, &entry.pattern)).cloned()
        };
        match entry.verdict {
            Verdict::Allow => {
                let covered = before.iter().any(|other| {
                    other.verdict == Verdict::Allow && other.pattern.covers(&entry.pattern)
                });
                if !covered {
                    write.extend(folder(entry, cx).map(|found| sourced(found, entry.span, cx)));
                }
            }
            Verdict::Deny => match (meets(before, Verdict::Allow), meets(after, Verdict::Allow)) {
                (Some(_), Some(later)) => return disagree(entry, &later, cx),
                // It closes nothing that was open, and something in it is opened.
                (None, Some(_)) => {}
                (None, None) if entry.pattern.to_string() == "/" => {}
                (_, None) => protect.push(sourced(entry.pattern.clone(), entry.span, cx)),
            },
        }
    }
    policy.files.write = Grants::new(write);
    policy.files.protect = Refusals::new(protect);
    check_pinned(&pinned, policy, cx);
}

/// Complains about folders that must not be moved, unless that holds here: folders above something
/// that is hidden or protected stay where they are.
fn check_pinned(pinned: &[Pin], policy: &Policy, cx: &mut Reader<'_>) {
    let files = &policy.files;
    let closed: Vec<&PathPattern> = files.protect.values().chain(files.hide.values()).collect();
    let shut = |path: &PathPattern| closed.iter().any(|closed| closed.covers(path));
    for Pin { folder, inside, span } in pinned {
        let open = files.write.values().any(|write| overlap(write.as_pattern(), folder));
        if open && !shut(folder) && !inside.iter().any(shut) {
            let shown = visible(&folder.to_string());
            let message = format!("`{shown}` alone cannot be kept from being moved");
            let hint = "(subpath \"…\") protects what it holds too";
            inexpressible(cx, message, hint, *span);
        }
    }
}

/// Takes in every rule about one kind of access.
fn take<'k>(access: Access, rules: &Rules, known: Known<'k>, cx: &mut Reader<'_>) -> Ground<'k> {
    let mut ground = Ground::new(access, rules, known);
    for rule in &rules.rules {
        let part = match (access, rule.operation) {
            (Access::Read | Access::Write, Operation::Files) => Part::Whole,
            (Access::Read, Operation::Read(part)) | (Access::Write, Operation::Write(part)) => part,
            (
                Access::Read | Access::Write,
                Operation::Always
                | Operation::Default
                | Operation::Exec
                | Operation::Foreign
                | Operation::Walled(_)
                | Operation::Fork
                | Operation::Network(_)
                | Operation::Process
                | Operation::Read(_)
                | Operation::Write(_),
            ) => continue,
        };
        let content = part == Part::Content && access == Access::Read;
        let vague = rule.filter.as_ref().is_some_and(names_kinds);
        let pins = ground.pinned.len();
        let before = ground.entries.len();
        ground.take(rule, cx);
        let only_pins = ground.pinned.len() > pins && ground.entries.len() == before;
        if rule.verdict == Verdict::Deny && !only_pins && (part != Part::Whole && !content || vague)
        {
            let what = if access == Access::Read { "file-read*" } else { "file-write*" };
            note(cx, "stricter", format!("this denies all of `{what}` there"), rule.span);
        }
    }
    ground
}

fn names_kinds(filter: &Filter) -> bool {
    match &filter.test {
        Test::Vnode => true,
        Test::All(parts) | Test::Any(parts) => parts.iter().any(names_kinds),
        Test::Not(inner) => names_kinds(inner),
        Test::Foreign | Test::Network(_) | Test::Path(_) => false,
    }
}

/// Drops every entry that a later one covers.
fn survivors(entries: Vec<Entry>) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        kept.retain(|earlier| !entry.pattern.covers(&earlier.pattern));
        kept.push(entry);
    }
    kept
}

/// Returns whether the later of two entries wins by place as it does by order.
fn keeps_order(earlier: &Entry, later: &Entry) -> bool {
    if earlier.verdict == later.verdict || !overlap(&earlier.pattern, &later.pattern) {
        return true;
    }
    match (earlier.pattern.has_wildcard(), later.pattern.has_wildcard()) {
        // The later one lies inside, or matches only deeper.
        (false, _) => true,
        (true, true) => false,
        (true, false) => {
            let matched = later.pattern.literal();
            let inside = matched.is_some_and(|path| earlier.pattern.matches(&path));
            let deeper = depth(&earlier.pattern).zip(depth(&later.pattern));
            inside
                && deeper.is_some_and(|(outer, inner)| match later.verdict {
                    Verdict::Allow => inner >= outer, // of two equals `allow_read` wins
                    Verdict::Deny => inner > outer,
                })
        }
    }
}

/// Returns whether an allowed entry is open already, so that it need not be listed.
fn is_open(before: &[Entry], entry: &Entry) -> bool {
    let around = before.iter().rposition(|other| other.pattern.covers(&entry.pattern));
    around.is_none_or(|at| {
        before[at..].iter().all(|other| {
            other.verdict == Verdict::Allow || !overlap(&other.pattern, &entry.pattern)
        })
    })
}

fn folder(entry: &Entry, cx: &mut Reader<'_>) -> Option<Folder> {
    let shown = entry.pattern.to_string();
    if let Ok(folder) = shown.parse::<Folder>() {
        return Some(folder);
    }
    let message = format!("`{}` names no single folder to write to", visible(&shown));
    let hint = "name one folder with (subpath \"…\")";
    inexpressible(cx, message, hint, entry.span);
    None
}

fn disagree(earlier: &Entry, later: &Entry, cx: &mut Reader<'_>) {
    let shown = |pattern: &PathPattern| visible(&pattern.to_string());
    let (word, other) = match later.verdict {
        Verdict::Allow => ("allowed", "denied"),
        Verdict::Deny => ("denied", "allowed"),
    };
    let message = format!(
        "`{}` cannot be {word} where `{}` is {other}",
        shown(&later.pattern),
        shown(&earlier.pattern)
    );
    let line = cx.origin(earlier.span).place.map_or(0, |place| place.line);
    let problem = cx.complaint("not-expressible", message, later.span);
    let hint = "let the two name different folders, or leave one of them out";
    cx.report(problem.expected(format!("line {line} says otherwise")).hint(hint));
}
