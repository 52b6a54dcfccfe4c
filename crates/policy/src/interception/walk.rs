//! Through the arguments of one call.

mod commands;
mod hosts;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::OnceLock;

use serde_json::{Map, Value as Json};

use super::arguments::{Arguments, FaultKind, Step, Value};
use super::command::Found;
use super::parameter::{Holds, Parameters, Role};
use super::path::{Count, Flaw, looks_like_path, readings};
use super::tool::Sort;
use super::verdict::Finding;
use super::{Dangers, Seen, What};
use crate::decide::{Answer, Axis, Judge, Reason, Verdict};
use crate::effort::Effort;
use crate::jail::{self, How, Last, Lookup, Refusal, Spelling, WindowsRoot, is_kept_by_git};
use crate::patch::{self, Naming, Touched};
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
            let reason = reason(fault.code, Axis::Structure, fault.message.to_owned());
            match fault.kind {
                FaultKind::Excess => self.refuse(reason, prefix.to_owned(), "", None),
                FaultKind::Broken => self.doubt(reason, prefix.to_owned(), ""),
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
                self.doubt(reason, prefix.to_owned(), "");
            }
        }
        let holds = self.holds(arguments, top);
        let honoured = self.find_folders(arguments, &holds, prefix);
        let beside = holds.iter().any(|holds| matches!(holds, Holds::Path(_)));
        let naming = if beside { Naming::Beside } else { Naming::InPatch };
        for (at, (node, holds_)) in arguments.nodes.iter().zip(&holds).enumerate() {
            let pointer = || format!("{prefix}{}", arguments.pointer(at));
            let within = holds.get(node.parent).copied().unwrap_or(Holds::Nothing);
            if let (Step::Key(key), Holds::Path(role) | Holds::Perhaps(role)) = (&node.step, within)
                && *holds_ == Holds::Nothing
                && key.contains(['/', '\\', '~'])
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
                Holds::Patch => self.patch_or_path(text, &pointer, naming),
                Holds::Perhaps(_) | Holds::Uri(_) | Holds::Command(_) => {}
                Holds::Nothing => {
                    let may_nest =
                        matches!(&node.step, Step::Key(key) if Parameters::may_nest(key));
                    if is_json && may_nest {
                        self.nested(text, &pointer(), depth, *holds_);
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
                Step::Key(key) => self.parameters.holds(key, within, self.sort()),
                Step::Item(_) => within,
            });
        }
        holds
    }

    fn patch_or_path(&mut self, text: &str, pointer: &dyn Fn() -> String, naming: Naming) {
        let first = text.trim_start();
        let starts = ["---", "***", "diff ", "Index:", "@@"].iter().any(|it| first.starts_with(it));
        if starts || first.contains('\n') {
            self.patch(text, pointer(), naming);
        } else {
            self.path(text, Role::Source, Count::One, pointer);
        }
    }

    fn patch(&mut self, text: &str, pointer: String, naming: Naming) {
        let outer = self.found.take();
        for cwd in self.all_folders() {
            // One folder in which it is denied is enough; one in which it is asked is not.
            if self.found == Some(Answer::Deny) || !self.effort.spend(16 + text.len() / 64) {
                break;
            }
            let ground = self.judge.ground();
            let verdict = patch::judge_within(self.effort, text, naming, ground, &cwd, self.lookup);
            // Blocks to search and replace name no file; another parameter does, and is judged.
            let is_other = verdict.reasons().iter().all(|reason| reason.code == "patch-unknown");
            if naming == Naming::InPatch || !is_other {
                self.take(&verdict, &pointer, text);
                self.judged += 1;
            }
        }
        if self.windows.is_some() {
            self.patched_on_windows(text, &pointer);
        }
        self.note(What::Patch, &pointer, text);
        self.found = self.found.max(outer);
    }

    /// Judges the names in a patch as Windows reads them, too.
    fn patched_on_windows(&mut self, text: &str, pointer: &str) {
        let touched = patch::read(text).map(|patch| patch.touched).unwrap_or_default();
        for path in touched.iter().flat_map(Touched::readings) {
            self.path(&path, Role::Target, Count::One, &|| pointer.to_owned());
        }
    }

    fn path(&mut self, text: &str, role: Role, count: Count, pointer: &dyn Fn() -> String) {
        self.judged += 1;
        if self.effort.is_spent() {
            return;
        }
        let outer = self.found.take();
        let (paths, flaw) = readings(text, count, self.windows);
        self.effort.spend(4 * paths.len() + text.len() / 16);
        let (whatever, unusable) = self.worst(&paths, role);
        if let Some((reason, path)) = whatever {
            let path = if is_outside(reason.code) { Some(shown(text, path)) } else { None };
            self.refuse(reason, pointer(), text, path);
        }
        // Whatever denies is enough; a question is not, if there is more to be said.
        let flaw = flaw.filter(|_| self.found != Some(Answer::Deny));
        let about_flaw = |flaw: Flaw| about(flaw.code(), text, flaw.message());
        match flaw {
            // Reading elsewhere is no matter of the project.
            Some(Flaw::Foreign | Flaw::Variable) if self.aim == Aim::Read => {}
            Some(flaw @ (Flaw::Foreign | Flaw::Variable | Flaw::Excess)) => {
                self.refuse(about_flaw(flaw), pointer(), text, Some(text.to_owned()));
            }
            Some(Flaw::Alias) => self.refuse(about_flaw(Flaw::Alias), pointer(), text, None),
            Some(flaw @ (Flaw::Blank | Flaw::Nul)) => {
                self.doubt(about_flaw(flaw), pointer(), text);
            }
            None => {}
        }
        if let Some(reason) = unusable.filter(|_| flaw.is_none())
            && self.found != Some(Answer::Deny)
        {
            self.doubt(reason, pointer(), text);
        }
        if self.seen.is_some() {
            self.note(What::Path, &pointer(), text);
        }
        self.found = self.found.max(outer);
    }

    /// Returns what is worst about all readings of a path in all folders: with its reading what any
    /// mode refuses, and what only strict mode does.
    fn worst<'p>(
        &self,
        paths: &'p [Cow<'_, str>],
        role: Role,
    ) -> (Option<(Reason, &'p str)>, Option<Reason>) {
        let mut whatever: Option<(Reason, &str)> = None;
        let mut unusable = None;
        for path in paths {
            let is_fixed = path.starts_with(['/', '~']);
            let others = if is_fixed { &[] } else { &*self.folders };
            for cwd in [self.cwd].into_iter().chain(others.iter().map(|cwd| &**cwd)) {
                if !self.effort.spend(1 + path.len() / 64) {
                    return (whatever, unusable);
                }
                match self.refused(path, role, cwd) {
                    Some(Refused::Whatever(reason)) if reason.answer == Answer::Deny => {
                        return (Some((reason, path)), unusable);
                    }
                    Some(Refused::Whatever(reason)) => {
                        whatever = whatever.or(Some((reason, path)));
                    }
                    Some(Refused::Unusable(reason)) => unusable = unusable.or(Some(reason)),
                    None => {}
                }
            }
        }
        (whatever, unusable)
    }

    fn refused(&self, path: &str, role: Role, cwd: &str) -> Option<Refused> {
        let (last, need) = match (self.aim, role) {
            (Aim::Read, _) => (Last::Follow, Need::Seen),
            (Aim::Change(Sort::Delete), Role::Target | Role::Source)
            | (Aim::Change(Sort::Move), Role::Source) => (Last::Keep, Need::Delete),
            (Aim::Change(_), Role::Folder | Role::Source) => (Last::Follow, Need::Read),
            (Aim::Change(_), Role::Target) => (Last::Follow, Need::Write),
        };
        let how = How { last, spelling: Spelling::Plain };
        let place = self.judge.ground().place_with(path, cwd, self.lookup, how);
        let inside = match need {
            Need::Seen => jail::Answer::Yes,
            Need::Read | Need::Write | Need::Delete => place.granted(),
        };
        let answer = match inside {
            jail::Answer::Yes => match need {
                Need::Seen | Need::Read => place.may_read(),
                Need::Write => place.may_write(),
                Need::Delete => place.may_delete(),
            },
            outside @ (jail::Answer::No(_) | jail::Answer::Unclear(_) | jail::Answer::Shared) => {
                outside
            }
        };
        match answer {
            jail::Answer::Yes
                if matches!(need, Need::Write | Need::Delete) && is_kept_by_git(&place.path) =>
            {
                Some(Refused::Whatever(about("loses-work", path, "is for git alone to write")))
            }
            jail::Answer::Yes => None,
            jail::Answer::No(refused) => {
                let reason = Reason {
                    origin: refused.origin.cloned(),
                    hint: refused.why.hint().map(str::to_owned),
                    ..about(refused.why.code(), path, &refused.why.to_string())
                };
                let is_unusable = refused.why == Refusal::Impossible;
                Some(if is_unusable {
                    Refused::Unusable(reason)
                } else {
                    Refused::Whatever(reason)
                })
            }
            jail::Answer::Unclear(doubt) => {
                let reason = about(doubt.code(), path, &doubt.to_string());
                let is_secret = doubt == jail::Doubt::Secret;
                let answer = if is_secret { Answer::Ask } else { Answer::Deny };
                Some(Refused::Whatever(Reason { answer, ..reason }))
            }
            jail::Answer::Shared => {
                let what = "has other names, perhaps outside the project";
                let reason = about("shared-file", path, what);
                Some(Refused::Whatever(Reason { answer: Answer::Ask, ..reason }))
            }
        }
    }

    /// Takes over what somebody else found in a parameter, if it is more than what is known.
    fn take(&mut self, verdict: &Verdict, pointer: &str, text: &str) {
        let known = self.found;
        for reason in verdict.reasons().iter().filter(|reason| Some(reason.answer) > known) {
            let excerpt = text.get(reason.span.start()..reason.span.end());
            let path = excerpt.filter(|_| is_outside(reason.code)).map(str::to_owned);
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

/// What must be allowed at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Need {
    /// Reading, wherever it lies.
    Seen,
    Read,
    Write,
    Delete,
}

/// A path that is refused.
enum Refused {
    /// In any mode.
    Whatever(Reason),
    /// In strict mode: no program could use it.
    Unusable(Reason),
}

/// Returns how many paths a text may hold, by the name of its parameter.
fn count(arguments: &Arguments<'_>, at: usize) -> Count {
    match arguments.nodes.get(at).map(|node| &node.step) {
        Some(Step::Key(key)) if key.ends_with(['s', 'S']) || key.ends_with("ist") => Count::Several,
        Some(Step::Key(_) | Step::Item(_) | Step::Top) | None => Count::One,
    }
}

fn is_file_uri(text: &str) -> bool {
    text.trim().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Whether a reason says that a path is outside.
fn is_outside(code: &str) -> bool {
    matches!(code, "outside-root" | "link-leads-outside" | "cwd-outside" | "path-foreign")
}

/// The path to show: as it was written, unless it is one of several in a text.
fn shown(text: &str, path: &str) -> String {
    if text.contains(['\n', ',']) { path.to_owned() } else { text.to_owned() }
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
