//! Walking through a shell text in the order in which it runs.

use std::borrow::Cow;
use std::rc::Rc;

use super::Judge;
use super::builtin::Habits;
use super::child::{Ownership, Speech};
use super::disk::Disk;
use super::feed::Feed;
use super::function::{Frame, Function};
use super::notes::Notes;
use super::scope::{Environment, Scope, Value};
use super::trace::Trace;
use super::trap::Trap;
use super::verdict::{Answer, Axis, Reason};
use crate::command::{Arg, HOLE};
use crate::jail::Lookup;
use crate::shell::{
    Command, CommandKind, Connector, Item, List, Pipeline, Redirection, RedirectionOperator,
    Waiting, Word,
};
use crate::text::Span;

/// Most commands and acts that one call may amount to.
const MOST_STEPS: u32 = 20_000;
/// Deepest nesting of commands that run commands.
const MOST_DEPTH: u32 = 24;
/// Most rounds of a loop over known values that are looked at one by one.
const MOST_ROUNDS: usize = 8;

/// Longest part of a text that is shown in a message as it is written.
const LONGEST_SHOWN: usize = 60;

/// One decision under way.
pub(super) struct Walk<'j> {
    pub(super) judge: &'j Judge,
    pub(super) lookup: &'j dyn Lookup,
    /// The text that a person wrote, if it is one.
    written: &'j str,
    pub(super) scope: Rc<Scope>,
    pub(super) disk: Disk,
    pub(super) reasons: Vec<Reason>,
    pub(super) trace: Trace,
    /// What the last command prints, if that can be told: `echo text`.
    pub(super) output: Option<Value>,
    /// Whether anybody asks what a command prints.
    pub(super) listened: bool,
    /// Whether the pipeline at hand holds what comes from elsewhere.
    pub(super) tainted: bool,
    /// What the commands at hand are fed, and whether they are.
    pub(super) feed: Option<Feed>,
    pub(super) feeding: u32,
    /// The program whose row of the table is left out, once it is known.
    pub(super) left_out: Option<String>,
    pub(super) functions: Vec<Function>,
    /// The calls of functions under way, outermost first, and how many were followed so far.
    pub(super) frames: Vec<Frame>,
    pub(super) calls: u32,
    pub(super) traps: Vec<Trap>,
    pub(super) habits: Habits,
    /// Variables in front of the command at hand.
    pub(super) given: Vec<(String, Value)>,
    /// What the shells that are started from here are given, and which shells they are.
    pub(super) environment: Environment,
    pub(super) child_speech: Speech,
    /// The shell that reads the text at hand, and whose state the next text changes.
    pub(super) speech: Speech,
    pub(super) ownership: Ownership,
    /// What is noted for rules and modes, if there are any, and the text that was asked about.
    pub(super) notes: Option<Box<Notes>>,
    pub(super) asked: String,
    /// Where places of the text at hand lie in the text that a person wrote.
    mapping: Mapping,
    depth: u32,
    steps: u32,
}

/// Where a nested text lies in the outermost one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mapping {
    /// It stands there byte for byte, from this byte on.
    Shift(usize),
    /// It was quoted or computed: the whole argument is its place.
    Whole(Span),
}

/// Where a command's standard input comes from.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// From wherever the whole call's comes.
    Inherited,
    /// From a file.
    File(Value, Written),
    /// It is this text: a heredoc, a here-string, a known `echo`.
    Text(Value, Written),
    /// From a program whose output only running tells.
    Pipe,
}

/// Where an input is written. It may be read in a text inside that one, whose places are others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) span: Span,
    /// Where it begins, if it stands there byte for byte.
    pub(super) verbatim: Option<usize>,
    mapping: Mapping,
}

/// The state after a command that failed, where that differs from its success.
pub(super) type AfterFailure = Option<Rc<Scope>>;

impl<'j> Walk<'j> {
    pub(super) fn new(
        judge: &'j Judge,
        lookup: &'j dyn Lookup,
        (cwd, written): (&str, &'j str),
        trace: Trace,
    ) -> Self {
        Self {
            judge,
            lookup,
            written,
            scope: Rc::new(Scope::new(cwd)),
            disk: Disk::default(),
            reasons: Vec::new(),
            trace,
            output: None,
            listened: false,
            tainted: false,
            feed: None,
            feeding: 0,
            left_out: None,
            functions: Vec::new(),
            frames: Vec::new(),
            calls: 0,
            traps: Vec::new(),
            habits: Habits::default(),
            given: Vec::new(),
            environment: Environment::Passed,
            child_speech: Speech::Posix,
            speech: Speech::Bash,
            ownership: Ownership::Child,
            notes: None,
            asked: String::new(),
            mapping: Mapping::Shift(0),
            depth: 0,
            steps: 0,
        }
    }

    /// Adds a reason; its place is translated to the text that a person wrote.
    pub(super) fn report(&mut self, mut reason: Reason) {
        reason.span = self.place(reason.span);
        self.trace.found(&reason);
        // The same finding in every round of a loop is one finding.
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Whether another command runs the one at hand.
    pub(super) fn is_nested(&self) -> bool {
        self.depth > 0
    }

    /// Translates a place of the text at hand.
    pub(super) fn place(&self, span: Span) -> Span {
        match self.mapping {
            Mapping::Shift(by) => Span::new(span.start() + by, span.end() + by),
            Mapping::Whole(whole) => whole,
        }
    }

    /// Returns a part of the text at hand as a person wrote it.
    pub(super) fn as_written(&self, span: Span) -> Option<&'j str> {
        let Mapping::Shift(_) = self.mapping else { return None };
        let span = self.place(span);
        let text = self.written.get(span.start()..span.end())?;
        (!text.is_empty() && text.len() <= LONGEST_SHOWN && !text.contains('\n')).then_some(text)
    }

    /// Counts one step. `None` when the call amounts to more than can be looked at, which denies.
    pub(super) fn step(&mut self, span: Span) -> Option<()> {
        self.steps += 1;
        if self.steps <= MOST_STEPS {
            return Some(());
        }
        if self.steps == MOST_STEPS + 1 {
            self.report(Reason {
                answer: Answer::Deny,
                code: "too-much",
                axis: Axis::Structure,
                message: format!("it amounts to more than {MOST_STEPS} steps"),
                span,
                origin: None,
                hint: Some("run it in smaller parts, or put it into a script".into()),
            });
        }
        None
    }

    /// Goes one level down into what a command runs; denies when that is too deep.
    pub(super) fn deeper(&mut self, span: Span, inner: impl FnOnce(&mut Self)) {
        if self.depth >= MOST_DEPTH {
            self.report(Reason {
                answer: Answer::Deny,
                code: "too-deep",
                axis: Axis::Structure,
                message: format!("commands run commands more than {MOST_DEPTH} levels deep"),
                span,
                origin: None,
                hint: None,
            });
            return;
        }
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }

    /// Looks at a text that stands in an argument, so that places in it are reported truly.
    pub(super) fn within(&mut self, arg: &Arg<'_>, inner: impl FnOnce(&mut Self)) {
        let outer = self.mapping;
        self.mapping = match (outer, arg.verbatim) {
            (Mapping::Shift(by), Some(at)) => Mapping::Shift(by + at),
            (Mapping::Shift(_), None) => Mapping::Whole(self.place(arg.span)),
            (Mapping::Whole(whole), _) => Mapping::Whole(whole),
        };
        inner(self);
        self.mapping = outer;
    }

    /// Returns the place of an input that stands in the text at hand.
    pub(super) fn written_at(&self, span: Span, verbatim: Option<usize>) -> Written {
        Written { span, verbatim, mapping: self.mapping }
    }

    /// Looks at an input where it is written.
    pub(super) fn where_written(&mut self, at: Written, inner: impl FnOnce(&mut Self)) {
        self.mapped(at.mapping, inner);
    }

    /// Returns where a part of the text at hand lies in the outermost one.
    pub(super) fn mapping_at(&self, start: usize) -> Mapping {
        match self.mapping {
            Mapping::Shift(by) => Mapping::Shift(by + start),
            whole @ Mapping::Whole(_) => whole,
        }
    }

    /// Looks at a text whose place in the outermost one is all of `span`.
    pub(super) fn whole(&mut self, span: Span, inner: impl FnOnce(&mut Self)) {
        self.mapped(Mapping::Whole(span), inner);
    }

    /// Looks at a text that lies elsewhere in the outermost one.
    pub(super) fn mapped(&mut self, mapping: Mapping, inner: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.mapping, mapping);
        inner(self);
        self.mapping = outer;
    }

    /// Runs a part whose changes to the state stay inside: a subshell, a substitution.
    pub(super) fn aside(&mut self, inner: impl FnOnce(&mut Self)) {
        let outer = Rc::clone(&self.scope);
        let traps = self.traps.len();
        inner(self);
        self.traps.truncate(traps);
        self.scope = outer;
    }

    pub(super) fn list<'t>(&mut self, text: &'t str, list: &List<'t>, input: &Input) {
        for item in &list.items {
            match item.waiting {
                Waiting::Foreground => self.item(text, item, input),
                Waiting::Background => self.aside(|walk| walk.item(text, item, input)),
            }
        }
    }

    fn item<'t>(&mut self, text: &'t str, item: &Item<'t>, input: &Input) {
        let mut failure = self.pipeline(text, &item.first, input);
        for (connector, pipeline) in &item.rest {
            let failed = failure.unwrap_or_else(|| Rc::clone(&self.scope));
            let succeeded = Rc::clone(&self.scope);
            match connector {
                Connector::And => {
                    let again = self.pipeline(text, pipeline, input);
                    let mut either = again.unwrap_or_else(|| Rc::clone(&self.scope));
                    join(&mut either, &failed);
                    failure = Some(either);
                }
                Connector::Or => {
                    self.scope = failed;
                    let again = self.pipeline(text, pipeline, input);
                    failure = Some(again.unwrap_or_else(|| Rc::clone(&self.scope)));
                    join(&mut self.scope, &succeeded);
                }
            }
        }
        if let Some(failed) = failure {
            join(&mut self.scope, &failed);
        }
    }

    fn pipeline<'t>(
        &mut self,
        text: &'t str,
        pipeline: &Pipeline<'t>,
        input: &Input,
    ) -> AfterFailure {
        self.tainted = false;
        self.note_pipeline();
        if let [only] = &*pipeline.stages {
            return self.command(text, only, input);
        }
        let mut piped = None;
        let listened = self.listened;
        for (at, stage) in pipeline.stages.iter().enumerate() {
            let outer = Rc::clone(&self.scope);
            self.output = None;
            self.listened = listened || at + 1 < pipeline.stages.len();
            self.command(text, stage, piped.as_ref().unwrap_or(input));
            let inner = std::mem::replace(&mut self.scope, outer);
            if self.habits.last_pipe && at + 1 == pipeline.stages.len() {
                join(&mut self.scope, &inner);
            }
            let known = self.output.take();
            piped = Some(known.map_or(Input::Pipe, |value| {
                Input::Text(value, self.written_at(stage.span, None))
            }));
        }
        self.listened = listened;
        None
    }

    pub(super) fn command<'t>(
        &mut self,
        text: &'t str,
        command: &Command<'t>,
        input: &Input,
    ) -> AfterFailure {
        self.step(command.span)?;
        let redirected = self.redirections(text, &command.redirections);
        let input = redirected.as_ref().unwrap_or(input);
        let before = Rc::clone(&self.scope);
        match &command.kind {
            CommandKind::Simple(simple) => {
                let listened = self.listened;
                self.listened |= !command.redirections.is_empty();
                let failure = self.simple(text, simple, command.span, input);
                self.listened = listened;
                self.note_written(text, &command.redirections);
                self.note_taken_by(text, &command.redirections);
                let may_fail = || command.redirections.iter().any(opens_file);
                let unsure = failure.is_none() && !Rc::ptr_eq(&before, &self.scope) && may_fail();
                return if unsure { Some(before) } else { failure };
            }
            CommandKind::Group(list) => self.list(text, list, input),
            CommandKind::Subshell(list) => self.aside(|walk| walk.list(text, list, input)),
            CommandKind::If { branches, otherwise } => {
                self.branches(text, branches, otherwise.as_ref(), input);
            }
            CommandKind::While { condition, body } => self.rounds(command.span, |walk| {
                walk.list(text, condition, input);
                walk.list(text, body, input);
            }),
            CommandKind::For { name, words, body } => {
                self.each(text, (name, command.span), words.as_deref(), body, input);
            }
            CommandKind::ForArithmetic { head, body } => {
                self.arithmetic(text, head);
                self.rounds(command.span, |walk| walk.list(text, body, input));
            }
            CommandKind::Case { subject, arms } => {
                drop(self.value(text, subject));
                let before = Rc::clone(&self.scope);
                let mut after = Rc::clone(&before);
                for arm in arms {
                    for pattern in &arm.patterns {
                        self.inside_word(text, pattern);
                    }
                    // An arm may be fallen into from the one before.
                    join(&mut self.scope, &before);
                    self.list(text, &arm.body, input);
                    join(&mut after, &self.scope);
                }
                self.scope = after;
            }
            CommandKind::Test(words) => self.test(text, words),
            CommandKind::Arithmetic(arithmetic) => self.arithmetic(text, arithmetic),
            CommandKind::Function { name, body } => {
                self.define(text, (name, body), command.span);
                return None;
            }
            CommandKind::Coprocess { body } => self.aside(|walk| {
                walk.command(text, body, &Input::Pipe);
            }),
        }
        // Where a file cannot be opened nothing of it runs.
        self.output = None;
        self.note_written(text, &command.redirections);
        let changed = !Rc::ptr_eq(&before, &self.scope);
        (changed && command.redirections.iter().any(opens_file)).then_some(before)
    }

    fn branches<'t>(
        &mut self,
        text: &'t str,
        branches: &[(List<'t>, List<'t>)],
        otherwise: Option<&List<'t>>,
        input: &Input,
    ) {
        let mut after: Option<Rc<Scope>> = None;
        let mut meet = |scope: &Rc<Scope>| match &mut after {
            Some(after) => join(after, scope),
            None => after = Some(Rc::clone(scope)),
        };
        for (condition, body) in branches {
            self.list(text, condition, input);
            let asked = Rc::clone(&self.scope);
            self.list(text, body, input);
            meet(&self.scope);
            self.scope = asked;
        }
        if let Some(list) = otherwise {
            self.list(text, list, input);
        }
        meet(&self.scope);
        if let Some(after) = after {
            self.scope = after;
        }
    }

    /// A loop over words: once for each value that is known, else rounds with an unknown one.
    fn each<'t>(
        &mut self,
        text: &'t str,
        (name, span): (&Cow<'t, str>, Span),
        words: Option<&[Word<'t>]>,
        body: &List<'t>,
        input: &Input,
    ) {
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            self.expand(text, word, &mut values);
        }
        let known = (1..=MOST_ROUNDS).contains(&values.len())
            && !values.iter().any(|value| value.text.contains(HOLE));
        if !known {
            self.rounds(span, |walk| {
                Rc::make_mut(&mut walk.scope).forget(name);
                walk.list(text, body, input);
            });
            return;
        }
        let before = Rc::clone(&self.scope);
        for arg in values {
            let value = Value::from(&arg);
            self.overwrite(name, &value, &arg);
            self.list(text, body, input);
        }
        // A `break` may have ended it early.
        join(&mut self.scope, &before);
    }

    /// Any number of rounds: the body is looked at until what it leaves is what it began with.
    fn rounds(&mut self, span: Span, mut body: impl FnMut(&mut Self)) {
        loop {
            let before = Rc::clone(&self.scope);
            body(self);
            join(&mut self.scope, &before);
            // Each round more is unknown, so that this ends; the count of steps bounds it too.
            if self.scope == before || self.step(span).is_none() {
                return;
            }
        }
    }
}

/// Whether a redirection fails where its file cannot be opened.
fn opens_file(redirection: &Redirection<'_>) -> bool {
    match redirection.operator {
        RedirectionOperator::Read
        | RedirectionOperator::Write
        | RedirectionOperator::Clobber
        | RedirectionOperator::Append
        | RedirectionOperator::ReadWrite
        | RedirectionOperator::WriteBoth
        | RedirectionOperator::AppendBoth => {
            redirection.target.settled().is_none_or(|file| file != "/dev/null")
        }
        RedirectionOperator::DuplicateInput
        | RedirectionOperator::DuplicateOutput
        | RedirectionOperator::Heredoc
        | RedirectionOperator::HereString => false,
    }
}

/// Joins two states; does nothing where they are one.
pub(super) fn join(into: &mut Rc<Scope>, other: &Rc<Scope>) {
    if !Rc::ptr_eq(into, other) {
        Rc::make_mut(into).join(other);
    }
}
