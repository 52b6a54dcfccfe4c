//! Through the arguments of one call.

mod commands;
mod hosts;
mod patches;
mod paths;

use std::cmp::Reverse;
use std::sync::OnceLock;

use serde_json::{Map, Value as Json};

use super::arguments::{Arguments, FaultKind, Node, Step, Value};
use super::command::Found;
use super::parameter::{Holds, Parameters, Role};
use super::path::{Count, looks_like_path};
use super::spelling::{folded, last_word};
use super::tool::{self, Sort};
use super::verdict::Finding;
use super::{Dangers, Seen, What};
use crate::decide::{Answer, Axis, Judge, Reason, Verdict};
use crate::effort::Effort;
use crate::jail::{Lookup, WindowsRoot};
use crate::patch::{self, Naming};
use crate::text::{Span, visible};

/// What is looked for in the arguments of one call, and what was found.
pub(super) struct Walk<'w> {
    pub(super) judge: &'w Judge,
    pub(super) lookup: &'w dyn Lookup,
    pub(super) parameters: &'w Parameters,
    /// Only the proxy has these rules.
    pub(super) dangers: Option<&'w OnceLock<Dangers>>,
    pub(super) strictness: Strictness,
    pub(super) aim: Aim,
    /// The tool's names: the whole one, and others under which rules may know it.
    pub(super) names: &'w [&'w str],
    /// Its arguments as rules see them; empty where there are no rules.
    pub(super) args: &'w Map<String, Json>,
    /// Where the call is made.
    pub(super) cwd: &'w str,
    /// The root, if the project lies on Windows. All other places are then those of its tree.
    pub(super) windows: Option<&'w WindowsRoot>,
    /// Other folders that relative paths may start in: the root, and what the call itself names.
    pub(super) folders: Vec<String>,
    /// How much all of this may still cost.
    pub(super) effort: &'w Effort,
    /// The strictest answer to what is being looked at; none if there is nothing against it.
    pub(super) found: Option<Answer>,
    pub(super) findings: Vec<Finding>,
    pub(super) passed: Vec<Finding>,
    /// How many paths, patches and commands were judged.
    pub(super) judged: usize,
    /// How many of them were commands.
    pub(super) commands: usize,
    /// How many of them were patches.
    pub(super) patches: usize,
    pub(super) seen: Option<Vec<Seen>>,
}

/// Whether what cannot be told is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Strictness {
    Strict,
    Lenient,
}

/// What the tool is after.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Aim {
    /// It changes something.
    Change(Sort),
    /// It reads files, which need not lie in the project.
    Read,
}

/// How deep JSON may stand in texts of JSON.
const DEEPEST: usize = 3;

impl<'w> Walk<'w> {
    /// Judges the arguments as they came.
    pub(super) fn text(&mut self, text: &str) {
        let is_json = text.trim_start().starts_with(['{', '[', '"']);
        match self.sort() {
            _ if text.trim().is_empty() => {}
            // The input of such tools may be plain text.
            Sort::Patch if !is_json => self.patch(text, String::new(), Naming::InPatch),
            Sort::Shell if !is_json => self.command(&Found::Shell(text.into()), "", &[]),
            Sort::Shell | Sort::Patch | Sort::Delete | Sort::Move | Sort::Copy | Sort::Write => {
                self.tree(&Arguments::read(text), "", 0, Holds::Nothing);
            }
        }
    }

    fn tool(&self) -> &'w str {
        self.names.first().copied().unwrap_or_default()
    }

    fn sort(&self) -> Sort {
        match self.aim {
            Aim::Change(sort) => sort,
            Aim::Read => Sort::Write,
        }
    }

    fn tree(&mut self, arguments: &Arguments<'_>, prefix: &str, depth: usize, top: Holds) {
        if let Some(fault) = arguments.fault {
            let span = fault.span(arguments.text);
            let hint = Some(fault.hint().to_owned());
            let reason = reason(fault.code, Axis::Structure, fault.message.to_owned());
            let reason = Reason { span, hint, ..reason };
            match fault.kind {
                FaultKind::Excess => self.refuse(reason, prefix.to_owned(), arguments.text, None),
                FaultKind::Broken => self.doubt(reason, prefix.to_owned(), arguments.text),
            }
        }
        match arguments.nodes.first().map(|node| &node.value) {
            // Some clients send the arguments as a text of JSON.
            Some(Value::Text(text)) if depth == 0 => {
                return self.nested(text, prefix, depth, Holds::Nothing);
            }
            Some(Value::Map) | None => {}
            Some(Value::List) if depth > 0 => {}
            Some(Value::Text(_) | Value::Plain(_) | Value::List) => {
                let message = "the arguments are no object".to_owned();
                let reason = reason("arguments-not-object", Axis::Structure, message);
                let hint = Some("name each value: {\"path\": \"src/main.rs\"}".to_owned());
                self.doubt(Reason { hint, ..reason }, prefix.to_owned(), arguments.text);
            }
        }
        let holds = self.holds(arguments, top);
        let honoured = self.find_folders(arguments, &holds, prefix);
        let beside = holds.iter().any(|holds| matches!(holds, Holds::Path(_)));
        let naming = if beside { Naming::Beside } else { Naming::InPatch };
        let plain = self.operations(arguments, prefix);
        for (at, (node, holds_)) in arguments.nodes.iter().zip(&holds).enumerate() {
            let pointer = || format!("{prefix}{}", arguments.pointer(at));
            let within = holds.get(node.parent).copied().unwrap_or(Holds::Nothing);
            if let Step::Key(key) = &node.step
                && let Some(role) = self.key_role(arguments, node, within)
            {
                self.path(key, role, Count::One, &pointer); // `files: {"a/b": …}`
            }
            let Value::Text(text) = &node.value else { continue };
            let is_json = text.trim_start().starts_with(['{', '[']);
            match *holds_ {
                Holds::Path(role) => {
                    self.path(text, role, count(arguments, at), &pointer);
                    if is_json {
                        self.nested(text, &pointer(), depth, *holds_);
                    }
                }
                Holds::Perhaps(role) if looks_like_path(text) => {
                    self.path(text, role, count(arguments, at), &pointer);
                }
                Holds::Uri(role) if is_file_uri(text) => {
                    self.path(text, role, Count::One, &pointer);
                }
                Holds::Patch if plain.contains(&at) => {}
                Holds::Patch => self.patch_or_path(text, &pointer, naming),
                Holds::Perhaps(_) | Holds::Uri(_) | Holds::Command(_) => {}
                Holds::Nothing => {
                    let may_nest =
                        matches!(&node.step, Step::Key(key) if Parameters::may_nest(key));
                    if is_json && may_nest {
                        self.nested(text, &pointer(), depth, *holds_);
                    } else if self.takes_any(arguments, node) && is_far(text) {
                        self.path(text, Role::Target, Count::One, &pointer);
                    }
                }
            }
        }
        if self.aim != Aim::Read {
            self.find_commands(arguments, &holds, prefix, &honoured);
        }
    }

    fn nested(&mut self, text: &str, prefix: &str, depth: usize, top: Holds) {
        let arguments = Arguments::read(text);
        if depth == DEEPEST {
            let message = "the arguments nest too deep".to_owned();
            let reason = reason("arguments-too-deep", Axis::Structure, message);
            return self.refuse(reason, prefix.to_owned(), "", None);
        }
        // What only starts like JSON is a text like any other, but for the arguments themselves.
        if arguments.fault.is_none() || depth == 0 && prefix.is_empty() {
            self.tree(&arguments, prefix, depth + 1, top);
        }
    }

    /// Returns what each value holds: by its own name, or that of the list it stands in.
    fn holds(&self, arguments: &Arguments<'_>, top: Holds) -> Vec<Holds> {
        let mut holds: Vec<Holds> = Vec::with_capacity(arguments.nodes.len());
        for node in &arguments.nodes {
            let within = holds.get(node.parent).copied().unwrap_or(Holds::Nothing);
            holds.push(match &node.step {
                Step::Top => top,
                Step::Key(key) if self.finds() && is_pattern(key) => Holds::Path(Role::Source),
                Step::Key(key) => self.parameters.holds(key, within, self.sort()),
                Step::Item(_) => within,
            });
        }
        holds
    }

    /// Whether the tool only looks for files, by patterns of their names.
    fn finds(&self) -> bool {
        self.aim == Aim::Read && tool::finds(self.tool())
    }

    /// Whether a parameter that nobody documented may hold a path: `{"a": "/b"}`.
    fn takes_any(&self, arguments: &Arguments<'_>, node: &Node<'_>) -> bool {
        match self.aim {
            Aim::Read => {
                // One of a list goes by the list's name.
                let mut step = &node.step;
                let mut parent = node.parent;
                while let (Step::Item(_), Some(list)) = (step, arguments.nodes.get(parent)) {
                    (step, parent) = (&list.step, list.parent);
                }
                matches!(step, Step::Key(key) if !Parameters::is_sought(key))
            }
            Aim::Change(sort) => matches!(sort, Sort::Move | Sort::Copy),
        }
    }

    /// Returns what happens at the path that a key is; none if it is none.
    fn key_role(&self, arguments: &Arguments<'_>, node: &Node<'_>, within: Holds) -> Option<Role> {
        let Step::Key(key) = &node.step else { return None };
        let parent = arguments.nodes.get(node.parent).map(|parent| &parent.step);
        let is_prose = matches!(parent, Some(Step::Key(key)) if Parameters::is_prose(key));
        match within {
            Holds::Path(role) | Holds::Perhaps(role) => {
                let is_path = key.contains(['/', '\\', '~']) || key.starts_with('.');
                is_path.then_some(role)
            }
            Holds::Uri(_) | Holds::Patch | Holds::Command(_) | Holds::Nothing => {
                // No parameter has such a name.
                let is_path = key.contains(['/', '\\']) || key.starts_with(['~', '.']);
                (is_path && !is_prose).then_some(Role::Target)
            }
        }
    }

    /// Takes over what somebody else found in a parameter, if it is more than what is known.
    fn take(&mut self, verdict: &Verdict, pointer: &str, text: &str) {
        let known = self.found;
        for reason in verdict.reasons().iter().filter(|reason| Some(reason.answer) > known) {
            let excerpt = text.get(reason.span.start()..reason.span.end());
            let path = excerpt.filter(|_| is_outside(reason.code)).map(str::to_owned);
            if reason.code == patch::LIES && self.strictness == Strictness::Lenient {
                self.pass(reason, pointer, text);
                continue;
            }
            self.refuse(reason.clone(), pointer.to_owned(), text, path);
        }
    }

    /// Refuses in any mode.
    pub(super) fn refuse(
        &mut self,
        mut reason: Reason,
        pointer: String,
        text: &str,
        path: Option<String>,
    ) {
        /// Nobody reads more; a hostile call must not be able to ask for it.
        const MOST: usize = 1_000;
        self.found = self.found.max(Some(reason.answer));
        let weaker = if self.findings.len() < MOST {
            None
        } else {
            // What denies is told in place of what asks.
            let is_weaker = |known: &Finding| known.reason.answer < reason.answer;
            match self.findings.iter().rposition(is_weaker) {
                Some(weaker) => Some(weaker),
                None => return,
            }
        };
        let text = excerpt(&mut reason.span, text);
        let finding = Finding { reason, pointer, text, path };
        match weaker.and_then(|at| self.findings.get_mut(at)) {
            Some(weaker) => *weaker = finding,
            None => self.findings.push(finding),
        }
    }

    /// Refuses in strict mode, and remembers what passes otherwise.
    pub(super) fn doubt(&mut self, mut reason: Reason, pointer: String, text: &str) {
        match self.strictness {
            Strictness::Strict => self.refuse(reason, pointer, text, None),
            Strictness::Lenient => {
                let text = excerpt(&mut reason.span, text);
                self.passed.push(Finding { reason, pointer, text, path: None });
            }
        }
    }

    /// Remembers what passes, once for all folders in which it is judged.
    fn pass(&mut self, reason: &Reason, pointer: &str, text: &str) {
        let is_known =
            |known: &Finding| known.pointer == pointer && known.reason.code == reason.code;
        if !self.passed.iter().any(is_known) {
            self.doubt(reason.clone(), pointer.to_owned(), text);
        }
    }

    /// Returns whether a reason was found.
    pub(super) fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.reason.code == code)
    }

    /// Sorts what was found: what denies first, and of that dangerous commands.
    pub(super) fn sorted(&mut self) {
        let rank = |finding: &Finding| finding.reason.code != "dangerous-command";
        self.findings.sort_by_key(|finding| (Reverse(finding.reason.answer), rank(finding)));
    }

    fn note(&mut self, what: What, pointer: &str, text: &str) {
        let answer = self.found;
        if let Some(seen) = &mut self.seen {
            seen.push(Seen {
                what,
                pointer: pointer.to_owned(),
                text: text.to_owned(),
                answer: answer.unwrap_or(Answer::Allow),
            });
        }
    }
}

/// Returns how many paths a text may hold, by the name of its parameter.
fn count(arguments: &Arguments<'_>, at: usize) -> Count {
    match arguments.nodes.get(at).map(|node| &node.step) {
        Some(Step::Key(key)) if key.ends_with(['s', 'S']) || key.ends_with("ist") => Count::Several,
        Some(Step::Key(_) | Step::Item(_) | Step::Top) | None => Count::One,
    }
}

/// Whether a text can only be a path, and one that is written out.
fn is_far(text: &str) -> bool {
    let text = text.trim();
    let climbs = text.split(['/', '\\']).any(|name| name == "..");
    (text.starts_with(['/', '~', '\\']) || climbs || is_file_uri(text)) && looks_like_path(text)
}

/// Whether a parameter holds patterns of what is looked for.
fn is_pattern(key: &str) -> bool {
    matches!(last_word(&folded(key)), "pattern" | "patterns")
}

fn is_file_uri(text: &str) -> bool {
    text.trim().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Whether a reason says that a path is outside.
fn is_outside(code: &str) -> bool {
    matches!(code, "outside-root" | "link-leads-outside" | "cwd-outside" | "path-foreign")
}

/// Returns the text that a place points into: of a long one only that place.
fn excerpt(span: &mut Span, text: &str) -> String {
    const LONG: usize = 4096;
    if span.start() == span.end() {
        *span = Span::new(0, text.len());
    }
    if text.len() <= LONG {
        return text.to_owned();
    }
    let part = text.get(span.start()..span.end()).unwrap_or_default();
    let end = (0..=part.len().min(LONG)).rev().find(|at| part.is_char_boundary(*at));
    let part = part.get(..end.unwrap_or_default()).unwrap_or_default();
    *span = Span::new(0, part.len());
    part.to_owned()
}

fn about(code: &'static str, path: &str, what: &str) -> Reason {
    reason(code, Axis::Path, format!("`{}` {what}", visible(path)))
}

pub(super) fn reason(code: &'static str, axis: Axis, message: String) -> Reason {
    let (span, origin, hint) = (Span::new(0, 0), None, None);
    Reason { answer: Answer::Deny, code, axis, message, span, origin, hint }
}
