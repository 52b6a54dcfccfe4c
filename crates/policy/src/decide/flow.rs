//! The order in which a shell text runs: lists, pipelines, branches and loops.

use std::borrow::Cow;
use std::rc::Rc;

use super::kept::{Contents, prints_file};
use super::said::{Line, Runs, speaks};
use super::scope::{Origin, Scope, Value};
use super::walk::{Input, Walk};
use crate::command::{Certainty, Concern, Holed as _};
use crate::shell::{
    Command, CommandKind, Connector, Item, List, Pipeline, Redirection, RedirectionOperator,
    Waiting, Word,
};
use crate::text::Span;

/// Most rounds of a loop over known values that are looked at one by one.
const MOST_ROUNDS: usize = 8;

/// The state after a command that failed, where that differs from its success.
pub(super) type AfterFailure = Option<Rc<Scope>>;

impl Walk<'_> {
    pub(super) fn list<'t>(&mut self, text: &'t str, list: &List<'t>, input: &Input) {
        let mut said = self.hearing(list.items.len() > 1);
        for item in &list.items {
            self.output = None;
            match item.waiting {
                Waiting::Foreground => self.item(text, item, input),
                Waiting::Background => self.aside(|walk| walk.item(text, item, input)),
            }
            // What runs beside the others may come before them or after.
            let surely = item.waiting == Waiting::Foreground;
            self.hear(&mut said, if surely { Runs::Surely } else { Runs::Perhaps });
        }
        self.say(said, starting(list.items.first()));
    }

    fn item<'t>(&mut self, text: &'t str, item: &Item<'t>, input: &Input) {
        let mut failure = self.pipeline(text, &item.first, input);
        let mut said = self.hearing(!item.rest.is_empty());
        let mut succeeds = said.is_some() && self.always_succeeds(text, &item.first);
        self.hear(&mut said, Runs::Surely);
        for (connector, pipeline) in &item.rest {
            if self.is_spent() {
                return;
            }
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
            match (connector, succeeds) {
                // What stands behind a success never runs.
                (Connector::Or, true) => continue,
                (Connector::And, true) => self.hear(&mut said, Runs::Surely),
                (Connector::And | Connector::Or, false) => self.hear(&mut said, Runs::Perhaps),
            }
            succeeds = succeeds && self.always_succeeds(text, pipeline);
        }
        self.say(said, starting(Some(item)));
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
        let (poured, spilled) = (self.poured, self.spilled);
        let mut last = None;
        for (at, stage) in pipeline.stages.iter().enumerate() {
            let outer = Rc::clone(&self.scope);
            self.output = None;
            self.listened = listened || at + 1 < pipeline.stages.len();
            self.command(text, stage, piped.as_ref().unwrap_or(input));
            if self.tainted {
                self.poured = Origin::Elsewhere;
            }
            let inner = std::mem::replace(&mut self.scope, outer);
            if self.habits.last_pipe && at + 1 == pipeline.stages.len() {
                join(&mut self.scope, &inner);
            }
            // Behind the last one nobody reads.
            let is_last = at + 1 == pipeline.stages.len();
            if !is_last && self.spilled == Contents::Any && prints_file(stage) {
                self.spilled = Contents::OfFile;
            }
            let known = self.output.take();
            // What counts its input hands on none of it.
            let hands_on = known.as_ref().is_none_or(|value| value.text.has_hole());
            self.tainted &= hands_on;
            if !hands_on {
                self.spilled = Contents::Any;
            }
            if is_last {
                last = known.filter(|_| listened);
                break;
            }
            let whole = known.filter(|_| self.line != Line::Torn);
            piped = Some(whole.map_or(Input::Pipe, |value| {
                Input::Text(value, self.written_at(stage.span, None))
            }));
        }
        self.listened = listened;
        (self.poured, self.spilled) = (poured, spilled);
        self.output = last;
        None
    }

    pub(super) fn command<'t>(
        &mut self,
        text: &'t str,
        command: &Command<'t>,
        input: &Input,
    ) -> AfterFailure {
        self.step(command.span)?;
        let failure = self.one(text, command, input);
        if self.scope.is_crowded() {
            self.crowd(command.span);
        }
        failure
    }

    fn one<'t>(&mut self, text: &'t str, command: &Command<'t>, input: &Input) -> AfterFailure {
        let redirected = match &*command.redirections {
            [] => None,
            redirections => self.redirections(text, redirections),
        };
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
            CommandKind::While { condition, body } => {
                if is_endless(condition) {
                    self.started_without_end(body, command.span);
                }
                self.rounds(command.span, |walk| {
                    walk.list(text, condition, input);
                    walk.list(text, body, input);
                });
            }
            CommandKind::For { name, words, body } => {
                self.each(text, (name, command.span), words.as_deref(), body, input);
            }
            CommandKind::ForArithmetic { head, body } => {
                self.arithmetic(text, head);
                let head = text.get(command.span.start()..command.span.end()).unwrap_or_default();
                if head.split("))").next().is_some_and(|head| head.ends_with("((;;")) {
                    self.started_without_end(body, command.span);
                }
                self.rounds(command.span, |walk| walk.list(text, body, input));
            }
            CommandKind::Case { subject, arms } => {
                drop(self.value(text, subject));
                let before = Rc::clone(&self.scope);
                let mut after = Rc::clone(&before);
                for arm in arms {
                    if self.is_spent() {
                        break;
                    }
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
                self.say_nothing();
                return None;
            }
            CommandKind::Coprocess { body } => self.aside(|walk| {
                walk.command(text, body, &Input::Pipe);
            }),
        }
        if !speaks(command) {
            self.output = None;
        }
        // Where a file cannot be opened nothing of it runs.
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
            if self.is_spent() {
                return;
            }
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
            && !values.iter().any(|value| value.text.has_hole());
        if !known {
            let carriage = words.unwrap_or_default().iter().find_map(|word| self.carriage(word));
            self.rounds(span, |walk| {
                Rc::make_mut(&mut walk.scope).forget(name);
                walk.note_kept(name, carriage);
                walk.list(text, body, input);
            });
            self.output = None;
            return;
        }
        let before = Rc::clone(&self.scope);
        let mut said = self.hearing(true);
        for arg in values {
            let value = Value::from(&arg);
            self.hidden_subscript(&value.text, arg.span);
            self.overwrite(name, &value, &arg);
            match arg.certainty {
                // `{1..9}`, `*`: who knows how many.
                Certainty::Pattern => {
                    let calls = self.calls_again();
                    self.rounds(span, |walk| {
                        walk.call_again(&calls);
                        walk.list(text, body, input);
                        walk.overwrite(name, &value, &arg);
                    });
                }
                Certainty::Known | Certainty::Partial | Certainty::Many => {
                    self.list(text, body, input);
                }
            }
            self.hear(&mut said, Runs::Surely);
        }
        self.say(said, span);
        // A `break` may have ended it early.
        join(&mut self.scope, &before);
    }

    /// A loop that never waits for what it starts.
    fn started_without_end(&mut self, body: &List<'_>, span: Span) {
        if body.items.iter().all(|item| item.waiting == Waiting::Background) {
            self.raise(Concern::Exhausts, span);
        }
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

/// Where the first command of an item stands.
fn starting(item: Option<&Item<'_>>) -> Span {
    item.and_then(|item| item.first.stages.first()).map_or_else(Span::default, |stage| stage.span)
}

/// `:` or `true`, which never fail.
fn is_endless(condition: &List<'_>) -> bool {
    let [item] = &*condition.items else { return false };
    let ([stage], true) = (&*item.first.stages, item.rest.is_empty()) else { return false };
    let CommandKind::Simple(simple) = &stage.kind else { return false };
    matches!(&*simple.words, [word] if matches!(word.settled(), Some(":" | "true")))
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
