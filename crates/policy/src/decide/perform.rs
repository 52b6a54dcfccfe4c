//! Judging what a command does.

use std::borrow::Cow;
use std::rc::Rc;

use super::Style;
use super::concern;
use super::disk::Source;
use super::feed::below;
use super::host::is_connection;
use super::launched::input_within;
use super::printed::is_made;
use super::program::is_installed;
use super::scope::Value;
use super::verdict::{Answer, Axis, Reason};
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Concern, Extent, HOLE, Holed as _, Language, Run, code};
use crate::jail::{self, How, Last, Need, Spelling, Standing, of_repository};
use crate::text::Span;

/// A text of which nothing is known.
const UNKNOWN: &str = "\u{FDD0}";

/// What a command does with a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Deed {
    Read,
    Write,
    Delete(Extent),
}

impl Walk<'_> {
    /// Judges one act.
    pub(super) fn perform(&mut self, act: &Act<'_>, input: &Input) {
        self.note_act(act);
        match act {
            Act::Read(path) => self.path(path, Deed::Read),
            Act::Write(path) => self.path(path, Deed::Write),
            Act::Delete(path, Extent::Below) => {
                let Value { text, certainty } = below(&path.text);
                let below = Arg { text: text.into(), certainty, ..path.clone() };
                self.path(&below, Deed::Delete(Extent::Below));
            }
            Act::Delete(path, extent) => self.path(path, Deed::Delete(*extent)),
            Act::Link { target, name } => self.link(target, name),
            Act::Enter(folder) => self.enter(folder),
            Act::Connect(target) => self.connect(target),
            Act::Send(span) => match input {
                // What stands in the text is no secret of the disk.
                Input::Text(..) | Input::Inherited => {}
                Input::File(file, _) if file.text == "/dev/null" => {}
                Input::File(..) | Input::Pipe => self.raise(Concern::Exfiltrates, *span),
            },
            Act::Run(run) => self.run(run, input),
            Act::Raise(concern, span) => self.raise(*concern, *span),
        }
    }

    /// Reports a concern with the weight it has under this preset.
    pub(super) fn raise(&mut self, concern: Concern, span: Span) {
        self.note_concern(concern, span);
        let weight = concern::weigh(concern);
        let answer = weight.answer.max(self.asking());
        self.report(Reason {
            answer,
            code: weight.code,
            axis: weight.axis,
            message: weight.message.to_owned(),
            span,
            origin: None,
            hint: weight.hint.map(str::to_owned),
        });
    }

    fn run(&mut self, run: &Run<'_>, input: &Input) {
        match run {
            Run::Argv(argv) => {
                let span = covering(argv);
                self.deeper(span, |walk| {
                    walk.launched(argv, span, input);
                });
            }
            Run::Fed(argv) => {
                let span = covering(argv);
                let feed = self.feed.take().unwrap_or_default();
                let fed = std::mem::replace(&mut self.fed, feed.fed());
                self.feeding += 1;
                for filled in feed.fills(argv, span) {
                    self.deeper(span, |walk| {
                        walk.call(&filled, span, &Input::Pipe);
                    });
                }
                self.feeding -= 1;
                self.fed = fed;
                self.feed = Some(feed);
            }
            Run::Shell(text) | Run::Program(text) => self.nested(text, input),
            Run::ShellWords(words) => {
                if let [only] = &**words {
                    return self.nested(only, input);
                }
                let span = covering(words);
                let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
                let known = words.iter().all(|word| word.certainty == Certainty::Known);
                let certainty = if known { Certainty::Known } else { Certainty::Partial };
                let text = texts.join(" ").into();
                self.nested(&Arg { text, certainty, span, verbatim: None }, input);
            }
            Run::Code(language, code) => self.code(*language, code, input),
            Run::Script(language, file) => self.script(*language, file, input),
            Run::Input(language, span) => self.code_from_input(*language, *span, input),
            Run::Load(file) => {
                self.path(file, Deed::Read);
                self.ask("loads-code", "loads a library or a plug-in", file.span);
            }
            Run::Elsewhere(span) => {
                self.ask("elsewhere", "runs something on another machine", *span);
            }
        }
    }

    pub(super) fn code(&mut self, language: Language, code: &Arg<'_>, input: &Input) {
        if language == Language::Shell {
            return self.nested(code, input);
        }
        // In the two small languages a value is put into a pattern or a line number; in the others
        // it may be anything.
        let small = match language {
            Language::Sed => code.text.trim() != UNKNOWN,
            Language::Awk => !code.text.starts_with(HOLE),
            Language::Shell
            | Language::Python
            | Language::Node
            | Language::Perl
            | Language::Ruby
            | Language::Php
            | Language::Sql
            | Language::Editor
            | Language::Patch
            | Language::Other => false,
        };
        if code.text.has_hole() && !small {
            self.ask("dynamic-code", "runs code that is only known at run time", code.span);
            return;
        }
        self.imports(language, code);
        self.deeper(code.span, |walk| {
            let mut acts = Vec::new();
            let text = match code.text.has_hole() {
                true => Cow::Owned(code.text.replace(HOLE, "0")),
                false => Cow::Borrowed(&*code.text),
            };
            code::acts(language, &text, code.span, code.verbatim, &mut acts);
            for act in &acts {
                walk.perform(act, &input_within(language));
                if let Act::Write(file) = act {
                    walk.take(file, Source::Running);
                }
            }
        });
    }

    /// A file with code: fine in the project, where a person can read it.
    fn script(&mut self, language: Language, file: &Arg<'_>, input: &Input) {
        if self.is_input(file) {
            return self.code_from_input(language, file.span, input);
        }
        match &*file.text {
            text if is_connection(text) => {
                return self.raise(Concern::Backdoor, file.span);
            }
            text if text.starts_with("/dev/fd/") => {
                self.note_run_stream(file.span);
                self.ask("piped-code", "runs code that another program prints", file.span);
                return;
            }
            _ => self.path(file, Deed::Read),
        }
        self.rerun(Some(language), file);
        self.run_taken(file);
        if self.judge.style == Style::Runner {
            return;
        }
        let is_found = self.feeding > 0 && file.certainty != Certainty::Known;
        if is_found && language == Language::Shell {
            self.ask("foreign-code", "runs every file that it finds", file.span);
        }
        let foreign = self.scope.cwds().iter().any(|cwd| {
            let ground = self.judge.ground();
            let place = ground.place_with(&file.text, cwd, &self.sight(), how(file, Last::Follow));
            match place.standing {
                Standing::Root | Standing::Inside | Standing::Granted => false,
                // What the text put there itself was followed above.
                Standing::Temp => !self.disk.fills(&place.path),
                Standing::Outside(_) => !is_installed(&place.path, self.judge.home()),
                Standing::Device => true,
                Standing::Unknowable(_) => matches!(language, Language::Shell | Language::Other),
            }
        });
        if foreign {
            self.ask("foreign-code", "runs code from a place that cannot be told", file.span);
        }
    }

    /// Whether a file is standard input, however it is spelled.
    pub(super) fn is_input(&self, file: &Arg<'_>) -> bool {
        if &*file.text == "-" || &*file.text == "php://stdin" {
            return true;
        }
        let ends =
            ["stdin", "fd/0"].iter().any(|end| file.text.trim_end_matches('/').ends_with(end));
        ends && self.scope.cwds().iter().any(|cwd| {
            let place = self.judge.ground().place(&file.text, cwd, &self.sight());
            place.standing == Standing::Device
                || ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&&*place.path)
        })
    }

    fn code_from_input(&mut self, language: Language, span: Span, input: &Input) {
        match input {
            Input::Text(value, at) => {
                let code = Arg {
                    text: value.text.clone().into(),
                    certainty: value.certainty,
                    span: at.span,
                    verbatim: at.verbatim,
                };
                self.where_written(*at, |walk| walk.code(language, &code, &Input::Pipe));
            }
            Input::File(value, at) => {
                let file = Arg {
                    text: value.text.clone().into(),
                    certainty: value.certainty,
                    span: at.span,
                    verbatim: None,
                };
                self.where_written(*at, |walk| walk.path(&file, Deed::Read));
                // A terminal is a person, or whoever types there.
                if file.text.starts_with("/dev/") && &*file.text != "/dev/null" {
                    self.ask("code-on-input", "runs whatever code it is given on its input", span);
                }
                self.where_written(*at, |walk| {
                    walk.rerun(Some(language), &file);
                    walk.run_taken(&file);
                });
            }
            // Patches lead below the working folder, and no farther.
            Input::Pipe if language == Language::Patch => {}
            Input::Inherited if language.is_prompt() => {}
            Input::Pipe => self.ask("piped-code", "runs code that another program prints", span),
            Input::Inherited => {
                self.ask("code-on-input", "runs whatever code it is given on its input", span);
            }
        }
    }

    /// Asks, or denies where nobody can be asked.
    pub(super) fn ask(&mut self, code: &'static str, message: &str, span: Span) {
        self.report(Reason {
            answer: self.asking(),
            code,
            axis: Axis::Argv,
            message: message.to_owned(),
            span,
            origin: None,
            hint: None,
        });
    }

    /// What a question amounts to: source 1 knows none.
    pub(super) fn asking(&self) -> Answer {
        match self.judge.style {
            Style::Confined => Answer::Ask,
            Style::Runner => Answer::Deny,
        }
    }

    /// Whether a pattern is refused only for names that it may match, and not for the folder that
    /// all of them lie in.
    fn only_perhaps(&self, path: &Arg<'_>, why: jail::Refusal, cwd: &str) -> bool {
        let depends = matches!(
            why,
            jail::Refusal::Hidden
                | jail::Refusal::Protected
                | jail::Refusal::Whole
                | jail::Refusal::HoldsProtected
        );
        let Some(wild) = path.text.find(['*', '?', '[']) else { return false };
        if path.certainty != Certainty::Pattern || !depends {
            return false;
        }
        let known = path.text.get(..wild).and_then(|start| start.rsplit_once('/'));
        let folder = match known {
            Some(("", _)) => "/",
            Some((folder, _)) => folder,
            None => ".",
        };
        let place = self.judge.ground().place(folder, cwd, &self.sight());
        place.hidden().is_none() && place.protected().is_none()
    }

    /// Writes a path for a message; what is not known stands there as it is written.
    fn shown<'p>(&self, path: &'p Arg<'_>) -> Cow<'p, str> {
        if !path.text.has_hole() {
            return Cow::Borrowed(&path.text);
        }
        match self.as_written(path.span) {
            Some(text) => Cow::Owned(text.trim_matches('"').to_owned()),
            None => Cow::Owned(path.text.replace(HOLE, "…")),
        }
    }

    /// Whether a pattern may match a link that the text itself made, or names that begin with a dot
    /// where the text says that it does.
    fn may_be_other(&self, path: &Arg<'_>, deed: Deed) -> bool {
        if deed != Deed::Read && self.disk.is_full() {
            return true;
        }
        let wild = path.text.find(['*', '?', '[']).filter(|_| path.certainty == Certainty::Pattern);
        let Some(wild) = wild.filter(|_| deed != Deed::Read) else { return false };
        let follows = path.text.get(wild..).is_some_and(|rest| rest.contains('/'));
        self.habits.dots || !self.disk.links().is_empty() && (follows || deed == Deed::Write)
    }

    /// A new name: from here on it is what it leads to.
    fn link(&mut self, target: &Arg<'_>, name: &Arg<'_>) {
        self.path(name, Deed::Write);
        // What cannot be told may be anything: all of the disk is the strictest guess.
        let to = self.places(&target.text).pop().unwrap_or_else(|| "/".to_owned());
        for at in self.kept(name) {
            self.disk.link(at, to.clone());
        }
    }

    /// The working folder of what comes next.
    fn enter(&mut self, folder: &Arg<'_>) {
        let settled = match folder.certainty {
            Certainty::Known => &*folder.text != "-",
            // What `mktemp` prints: one folder, whatever its name.
            Certainty::Pattern => !folder.text.contains(['*', '?', '[']),
            Certainty::Partial | Certainty::Many => false,
        };
        let cwds = if settled {
            let ground = self.judge.ground();
            let here = |cwd: &String| ground.place(&folder.text, cwd, &self.sight()).path;
            self.scope.cwds().iter().map(here).collect()
        } else {
            Vec::new()
        };
        self.path(folder, Deed::Read);
        Rc::make_mut(&mut self.scope).enter(cwds);
    }

    /// Judges a path under every working folder that is possible here; the strictest holds.
    fn path(&mut self, path: &Arg<'_>, deed: Deed) {
        let mut worst: Option<Reason> = None;
        for cwd in self.scope.cwds() {
            let reason = self.path_from(path, deed, cwd);
            let Some(reason) = reason.or_else(|| self.otherwise(path, deed, cwd)) else { continue };
            if worst.as_ref().is_none_or(|known| known.answer < reason.answer) {
                worst = Some(reason);
            }
        }
        if let Some(reason) = worst {
            self.report(reason);
        }
    }

    pub(super) fn path_from(&self, path: &Arg<'_>, deed: Deed, cwd: &str) -> Option<Reason> {
        // No program opens an empty name.
        if path.text.is_empty() {
            return None;
        }
        let ground = self.judge.ground();
        let last = if matches!(deed, Deed::Delete(_)) { Last::Keep } else { Last::Follow };
        let place = ground.place_with(&path.text, cwd, &self.sight(), how(path, last));
        let jailed = self.judge.style == Style::Runner && place.standing != Standing::Device;
        let need = match deed {
            Deed::Read => Need::Read,
            Deed::Write => Need::Write,
            Deed::Delete(_) => Need::Delete,
        };
        let answer = match if jailed { place.inside() } else { jail::Answer::Yes } {
            jail::Answer::Yes => place.may(need),
            refused @ (jail::Answer::No(_) | jail::Answer::Unclear(_) | jail::Answer::Shared) => {
                refused
            }
        };
        let shown = || self.shown(path);
        let reason = |answer, code, message, origin, hint: Option<&str>| Reason {
            answer,
            code,
            axis: Axis::Path,
            message,
            span: path.span,
            origin,
            hint: hint.map(str::to_owned),
        };
        match answer {
            // `lnk*/` deletes what the links lead to.
            jail::Answer::Yes
                if deed == Deed::Delete(Extent::Tree)
                    && path.certainty == Certainty::Pattern
                    && path.text.ends_with('/') =>
            {
                let message =
                    format!("`{}` may be links, and what they lead to is deleted", shown());
                Some(reason(self.asking(), "pattern-may-climb", message, None, None))
            }
            jail::Answer::Yes if self.may_be_other(path, deed) => {
                let message = format!("`{}` may name what it does not say", shown());
                Some(reason(self.asking(), "pattern-may-climb", message, None, None))
            }
            jail::Answer::Yes if matches!(deed, Deed::Delete(_)) && of_repository(&place.path) => {
                let message = format!("`{}` is a part of the repository itself", shown());
                let hint = Some("use git's own commands");
                Some(reason(self.asking(), "loses-work", message, None, hint))
            }
            jail::Answer::Yes
                if matches!(deed, Deed::Delete(Extent::Forced | Extent::Tree))
                    && path.certainty == Certainty::Pattern
                    && !self.is_part(path)
                    && self.empties(&place.path) =>
            {
                let message = format!("`{}` is all that lies in the project", shown());
                let hint = Some("name what is to go");
                Some(reason(self.asking(), "bulk-delete", message, None, hint))
            }
            jail::Answer::Yes
                if self.feeding > 0 && matches!(deed, Deed::Delete(_)) && !self.is_part(path) =>
            {
                let message = "deletes or moves files that only running finds".to_owned();
                Some(reason(self.asking(), "bulk-delete", message, None, None))
            }
            jail::Answer::Yes => {
                // Others use the same temporary folder by name.
                let bold = matches!(deed, Deed::Delete(Extent::Forced | Extent::Tree));
                (bold && place.standing == Standing::Temp && !is_made(&place.path)).then(|| {
                    let message =
                        format!("`{}` lies in a temporary folder, and is removed", shown());
                    reason(self.asking(), "deletes-temp", message, None, None)
                })
            }
            jail::Answer::No(refused) if is_connection(&path.text) => {
                let message = format!("`{}` is a connection to another machine", shown());
                let hint = Some("use a program for that, whose host network.allow can list");
                Some(reason(Answer::Deny, refused.why.code(), message, None, hint))
            }
            jail::Answer::No(refused) if self.only_perhaps(path, refused.why, cwd) => {
                let message = format!("`{}` may name what {}", shown(), refused.why);
                let origin = refused.origin.cloned();
                Some(reason(self.asking(), refused.why.code(), message, origin, refused.why.hint()))
            }
            jail::Answer::No(refused) => {
                let message = format!("`{}` {}", shown(), refused.why);
                let origin = refused.origin.cloned();
                Some(reason(Answer::Deny, refused.why.code(), message, origin, refused.why.hint()))
            }
            // What cannot be told may be read: hidden paths do not exist behind the walls.
            jail::Answer::Unclear(doubt)
                if deed == Deed::Read
                    && doubt != jail::Doubt::Secret
                    && self.judge.style == Style::Confined =>
            {
                None
            }
            jail::Answer::Unclear(doubt) => {
                let message = format!("`{}` {doubt}", shown());
                Some(reason(self.asking(), doubt.code(), message, None, None))
            }
            jail::Answer::Shared => {
                let message = format!("`{}` has other names, perhaps outside the project", shown());
                Some(reason(self.asking(), "shared-file", message, None, None))
            }
        }
    }
}

fn how(arg: &Arg<'_>, last: Last) -> How {
    let spelling = match arg.certainty {
        Certainty::Known => Spelling::Plain,
        Certainty::Pattern | Certainty::Partial | Certainty::Many => Spelling::Pattern,
    };
    How { last, spelling }
}

pub(super) fn covering(args: &[Arg<'_>]) -> Span {
    match (args.first(), args.last()) {
        (Some(first), Some(last)) => Span::new(
            first.span.start().min(last.span.start()),
            last.span.end().max(first.span.end()),
        ),
        _ => Span::default(),
    }
}
