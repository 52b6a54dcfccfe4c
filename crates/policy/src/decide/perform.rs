//! Judging what a command does.

use std::borrow::Cow;
use std::rc::Rc;

use super::Style;
use super::concern;
use super::disk::Source;
use super::feed::{Feed, below};
use super::host::is_connection;
use super::launched::input_within;
use super::path::Deed;
use super::program::is_installed;
use super::scope::Value;
use super::verdict::{Answer, Axis, Reason};
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Concern, Extent, HOLE, Holed as _, Language, Run, code};
use crate::jail::{Last, Standing};
use crate::text::Span;

/// A text of which nothing is known.
const UNKNOWN: &str = "\u{FDD0}";

impl Walk<'_> {
    /// Judges one act.
    pub(super) fn perform(&mut self, act: &Act<'_>, input: &Input) {
        self.note_act(act);
        self.trace.act(act);
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
            Act::Mention(path) => self.mentioned(path),
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
            // `uv run -`: no program has this name.
            Run::Argv(argv) if argv.first().is_some_and(|first| first.text == "-") => {
                self.code_from_input(Language::Python, covering(argv), input);
            }
            Run::Argv(argv) => {
                let span = covering(argv);
                self.deeper(span, |walk| {
                    walk.launched(argv, span, input);
                });
            }
            Run::Fed(argv) => {
                let span = covering(argv);
                let feed = self.feed.take().unwrap_or_default();
                self.fed_with(&feed, argv, span);
                self.beside(&feed, argv, span);
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
            Run::ElsewhereInput(span) => match input {
                // A person types, or nobody does.
                Input::Inherited => {}
                Input::File(nothing, _) if nothing.text == "/dev/null" => {}
                Input::Text(..) | Input::File(..) | Input::Pipe => {
                    self.ask("elsewhere", "runs its input on another machine", *span);
                }
            },
        }
    }

    /// Judges a command with what it is fed.
    pub(super) fn fed_with(&mut self, feed: &Feed, argv: &[Arg<'_>], span: Span) {
        let fed = std::mem::replace(&mut self.fed, feed.fed());
        self.feeding += 1;
        for filled in feed.fills(argv, span) {
            self.deeper(span, |walk| {
                walk.call(&filled, span, &Input::Pipe);
            });
        }
        self.feeding -= 1;
        self.fed = fed;
    }

    pub(super) fn code(&mut self, language: Language, code: &Arg<'_>, input: &Input) {
        if language == Language::Shell {
            return self.nested(code, input);
        }
        // In the two small languages a value is put into a pattern or a line number; in the others
        // it may be anything.
        let small = (language == Language::Sed && code.text.trim() != UNKNOWN)
            || (language == Language::Awk && !code.text.starts_with(HOLE))
            || language == Language::Source;
        let is_torn = code.text.has_hole();
        let is_open = || self.is_made_late(code.span) && code::has_open_hole(language, &code.text);
        if is_torn && (!small || is_open()) {
            self.ask("dynamic-code", "runs code that is only known at run time", code.span);
            return;
        }
        self.imports(language, code);
        self.deeper(code.span, |walk| {
            let mut acts = Vec::new();
            let text = match is_torn {
                true => Cow::Owned(code.text.replace(HOLE, "0")),
                false => Cow::Borrowed(&*code.text),
            };
            code::acts(language, &text, code.span, code.verbatim, &mut acts);
            for act in &acts {
                walk.perform(act, &input_within(language));
                if let Act::Read(file) = act
                    && file.text.has_hole()
                {
                    walk.mentioned(file);
                }
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
            self.at(file, cwd, Last::Follow, |place| match place.standing {
                Standing::Root | Standing::Inside | Standing::Granted => false,
                // What the text put there itself was followed above.
                Standing::Temp => !self.disk.fills(&place.path),
                Standing::Outside(_) => !is_installed(&place.path, self.judge.home()),
                Standing::Device => true,
                Standing::Unknowable(_) => matches!(language, Language::Shell | Language::Other),
            })
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
            // What is compiled does not run.
            Input::Pipe | Input::Inherited if language == Language::Source => {}
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
