//! Shell text, held against the floor, the rules and the mode.

use serde_json::{Map, Value as Json};

use super::mode::{Order, Said};
use super::rules::Ruled;
use super::{Floor, Names, Permissions, Source};
use crate::decide::notes::{Effect, Notes, Reading, Removal};
use crate::decide::{Answer, Asked, Axis, Reason, Verdict};
use crate::layer::Layer;
use crate::policy::Profile;
use crate::text::Span;

/// Shell text as a tool call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShellCall<'c> {
    pub(crate) tools: Names<'c>,
    pub(crate) args: &'c Map<String, Json>,
    /// The text.
    pub(crate) text: &'c str,
}

/// What the arguments of a shell tool ask for.
#[derive(Debug)]
pub(crate) enum Spoken {
    Text(String),
    Argv(Vec<String>),
}

impl Spoken {
    /// Finds the command: a text, or a list of words. One argument alone may hold it.
    pub(crate) fn of(args: &Map<String, Json>) -> Option<Self> {
        let mut commands = COMMANDS.iter().filter_map(|name| args.get(*name));
        let (command, None) = (commands.next()?, commands.next()) else { return None };
        if let Json::String(text) = command {
            return Some(Self::Text(text.clone()));
        }
        let words = command.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
        words.collect::<Option<Vec<String>>>().map(Self::Argv)
    }

    pub(crate) fn asked(&self) -> Asked<'_> {
        match self {
            Self::Text(text) => Asked::Shell(text),
            Self::Argv(argv) => Asked::Argv(argv),
        }
    }
}

/// Names under which shell tools take their command.
const COMMANDS: [&str; 5] = ["argv", "cmd", "code", "command", "script"];

impl Permissions {
    /// Turns what was found about a shell text into a verdict.
    pub(crate) fn settle(
        &self,
        call: &ShellCall<'_>,
        mut reasons: Vec<Reason>,
        notes: &Notes,
    ) -> Verdict {
        let ruled = self.rules.of_shell(call.tools, call.args, call.text, notes);
        // A rule that allows speaks of commands: `LD_PRELOAD=x; git log` does more than they do.
        let beside = reasons.iter().any(|reason| !notes.is_about_a_command(reason.span));
        let ruled = ruled.filter(|ruled| ruled.answer != Answer::Allow || !beside);
        let whole = Span::new(0, call.text.len());
        // Reading what is hidden is more than reading.
        let effect = if reasons.is_empty() { notes.effect } else { Effect::Does };
        if self.mode.is_some() {
            reasons.retain(is_explicit);
            if self.floor == Floor::Holds {
                reasons.extend(notes.floor.iter().map(|(harm, span)| {
                    reason(Answer::Deny, "hardline", harm.message().to_owned(), *span)
                }));
            }
        }
        if self.injects(call.tools) {
            let about = call.tools.shown();
            let message = format!("`{about}` is denied for this run");
            reasons.push(reason(Answer::Deny, "injected", message, whole));
        }
        let denied = reasons.iter().any(|reason| reason.answer == Answer::Deny);
        let said = self.mode.map(|mode| (mode.order(), mode.of_shell(call.text, notes, effect)));
        match (said, &ruled) {
            (_, Some(ruled)) if ruled.answer == Answer::Deny => reasons.push(by(ruled, whole)),
            (Some((_, said)), _) if denied && said.answer != Answer::Deny => {}
            (None, Some(ruled)) | (Some((Order::RulesFirst, _)), Some(ruled))
                if !self.is_read_only() =>
            {
                match ruled.answer {
                    Answer::Allow => {
                        reasons.retain(|reason| reason.answer == Answer::Deny);
                        return Verdict::by(reasons, Source::UserRule);
                    }
                    Answer::Ask | Answer::Deny => reasons.push(by(ruled, whole)),
                }
            }
            (Some((_, Said { answer: Answer::Allow, .. })), _) | (None, _) => {}
            (Some((_, Said { answer, code, message })), _) => {
                reasons.push(reason(answer, code, message.to_owned(), whole));
            }
        }
        Verdict::by(reasons, Source::ModePreset)
    }

    /// Returns the profile that the rules pick for a shell text, if one does.
    pub(crate) fn profile(&self, call: &ShellCall<'_>, notes: &Notes) -> Option<Profile> {
        self.rules.profile_of_shell(call.tools, call.args, call.text, notes)
    }

    fn is_read_only(&self) -> bool {
        self.mode == Some(super::Mode::ReadOnly)
    }
}

/// Whether a text is one command that reads and does nothing else.
///
/// The characters are those of the documented expression; what stands between them is parsed, so
/// that neither `env` nor `git diff --output` passes.
pub(super) fn only_reads(text: &str, notes: &Notes) -> bool {
    const READERS: [&str; 14] = [
        "cat", "df", "diff", "du", "echo", "file", "grep", "head", "ls", "ps", "pwd", "tail", "wc",
        "which",
    ];
    const OF_GIT: [&str; 10] = [
        "blame",
        "describe",
        "diff",
        "log",
        "ls-files",
        "ls-tree",
        "rev-parse",
        "shortlog",
        "show",
        "status",
    ];
    let plain = !text.contains([';', '&', '|', '`', '$', '<', '>', '\n', '\r']);
    let mut parts = notes.parts.iter();
    let (Some(only), None) = (parts.next(), parts.next()) else { return false };
    let words: Vec<&str> = only.argv.iter().map(String::as_str).collect();
    let reads = match *words.as_slice() {
        ["git", "stash", "list", ..] | ["git", "config", "--get", ..] => true,
        ["git", sub, ..] => OF_GIT.contains(&sub),
        [program, ..] => READERS.contains(&program),
        [] => false,
    };
    plain && reads && notes.reading == Reading::Whole
}

/// Whether a text holds what the modes refuse by name, wherever in it.
pub(super) fn is_destructive(notes: &Notes) -> bool {
    notes.parts.iter().any(|part| {
        let Some((program, args)) = part.argv.split_first() else { return false };
        let name = program.rsplit('/').next().unwrap_or_default();
        let removes = Removal::of(name, args.iter().map(String::as_str))
            .is_some_and(|removal| removal.tree && removal.force);
        let stem = name.split('.').next().unwrap_or_default();
        removes
            || matches!(stem, "sudo" | "mkfs")
            || stem == "dd" && args.iter().any(|arg| arg.starts_with("if="))
    })
}

/// Whether a reason comes from a line that somebody wrote, or from what no mode can set aside.
fn is_explicit(reason: &Reason) -> bool {
    let written = reason.origin.as_ref().is_some_and(|origin| origin.layer > Layer::Preset);
    let beyond = matches!(
        reason.code,
        "shell-never"
            | "empty-argv"
            | "cwd-outside"
            | "too-much"
            | "too-deep"
            | "too-long"
            | "too-many-commands"
            | "control-character"
            | "not-text"
            | "invisible-character"
            | "host-denied"
            | "guard"
    );
    written || beyond
}

/// The reason that a rule is.
fn by(ruled: &Ruled<'_>, whole: Span) -> Reason {
    let rule = &ruled.rule.value;
    let message = match &rule.justification {
        Some(line) => format!("a rule says so: {}", line.0),
        None => "a rule of the policy says so".to_owned(),
    };
    let span = ruled.part.map_or(whole, |part| part.span);
    Reason {
        origin: Some(ruled.rule.origin.clone()),
        ..reason(ruled.answer, "rule", message, span)
    }
}

fn reason(answer: Answer, code: &'static str, message: String, span: Span) -> Reason {
    Reason { answer, code, axis: Axis::Rule, message, span, origin: None, hint: None }
}
