//! Functions: what their calls do, and which of them are traps.

use std::rc::Rc;

use super::flow::join;
use super::place::Mapping;
use super::roster::MOST_NAMES;
use super::scope::{Scope, Value};
use super::trace::Trace;
use super::verdict::Reason;
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty, Concern};
use crate::shell::{self, Command, CommandKind, Piece, Word};
use crate::text::Span;

/// Most calls of functions that are followed into them.
const MOST_CALLS: u32 = 256;
/// Longest function that calls are followed into.
const LONGEST: usize = 16 << 10;

/// A function of the text.
#[derive(Debug)]
pub(super) struct Function {
    name: String,
    /// Its definition, and where that lies in the text that a person wrote.
    source: Rc<str>,
    mapping: Mapping,
    /// What was found in it with arguments that nobody knows; counts if no call is seen.
    found: Vec<Reason>,
    steps: Trace,
    called: bool,
}

/// A call of a function under way.
#[derive(Debug, Default)]
pub(super) struct Frame {
    name: String,
    /// The state at its `return`s.
    left: Option<Rc<Scope>>,
    /// How often it was called again from inside.
    again: u32,
}

impl Walk<'_> {
    /// Judges a definition as if it ran here, with arguments that nobody knows, and keeps it for
    /// its calls.
    pub(super) fn define<'t>(
        &mut self,
        text: &'t str,
        (name, body): (&Word<'t>, &Command<'t>),
        span: Span,
    ) {
        self.shadowing(name);
        if is_bomb(name, body) {
            self.raise(Concern::Exhausts, span);
        }
        let before = self.reasons.len();
        let fresh = self.trace.fresh();
        let trace = std::mem::replace(&mut self.trace, fresh);
        self.frames.push(Frame::default());
        self.aside(|walk| {
            Rc::make_mut(&mut walk.scope).begin_function(None);
            walk.command(text, body, &Input::Inherited);
        });
        self.frames.pop();
        let steps = std::mem::replace(&mut self.trace, trace);
        let found = self.reasons.split_off(before.min(self.reasons.len()));
        let source = text.get(span.start()..span.end()).unwrap_or_default();
        let settled = name.settled().filter(|_| source.len() <= LONGEST);
        let Some(name) = settled else {
            self.reasons.extend(found);
            self.trace.append(steps);
            // Nobody can tell when it runs.
            let scope = Rc::make_mut(&mut self.scope);
            scope.forget_all();
            scope.enter(Vec::new());
            return;
        };
        Rc::make_mut(&mut self.scope).define(name);
        let mapping = self.mapping_at(span.start());
        let known = |function: &&mut Function| function.name == name && *function.source == *source;
        if self.functions.iter_mut().find(known).is_some() {
            return;
        }
        if self.functions.len() >= MOST_NAMES {
            self.reasons.extend(found);
            return self.crowd(span);
        }
        self.functions.push(Function {
            name: name.to_owned(),
            source: source.into(),
            mapping,
            found,
            steps,
            called: false,
        });
    }

    /// Follows a call into every function that goes by this name. The program of that name is
    /// judged as well: the definition may never have run.
    pub(super) fn invoke(&mut self, name: &str, args: &[Arg<'_>], span: Span, input: &Input) {
        if !self.functions_named(name) {
            return;
        }
        if let Some(frame) = self.frames.iter_mut().find(|frame| frame.name == name) {
            frame.again += 1;
            if frame.again > 1 {
                self.raise(Concern::Exhausts, span);
            }
            return self.unfollowed(name);
        }
        for arg in args {
            self.hidden_subscript(&arg.text, arg.span);
        }
        self.keep_parameters();
        self.output = None;
        let before = Rc::clone(&self.scope);
        let mut after: Option<Rc<Scope>> = None;
        let mut bodies = 0;
        for at in 0..self.functions.len() {
            let Some(function) = self.functions.get_mut(at) else { break };
            if function.name != name {
                continue;
            }
            self.calls += 1;
            if self.calls > MOST_CALLS {
                self.raise(Concern::Unclear, span);
                return self.unfollowed(name);
            }
            bodies += 1;
            function.called = true;
            let (source, mapping) = (Rc::clone(&function.source), function.mapping);
            self.scope = Rc::clone(&before);
            self.follow(name, &source, mapping, args, span, input);
            match &mut after {
                Some(after) => join(after, &self.scope),
                None => after = Some(Rc::clone(&self.scope)),
            }
        }
        let Some(mut after) = after else { return };
        if bodies > 1 || !before.defines(name) {
            self.output = None;
            // It may be the program of that name that ran.
            if after.ended {
                after = before;
            } else {
                join(&mut after, &before);
            }
        }
        self.scope = after;
    }

    /// Returns how often each function under way was called again from inside.
    pub(super) fn calls_again(&self) -> Vec<u32> {
        self.frames.iter().map(|frame| frame.again).collect()
    }

    /// Goes back to so many calls: another look at the same ones makes no more of them.
    pub(super) fn call_again(&mut self, calls: &[u32]) {
        for (frame, again) in self.frames.iter_mut().zip(calls) {
            frame.again = *again;
        }
    }

    /// Whether some function goes by this name.
    pub(super) fn functions_named(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name)
    }

    /// Puts back what was found in functions that nobody was seen to call.
    pub(super) fn uncalled(&mut self) {
        for function in std::mem::take(&mut self.functions) {
            if !function.called {
                self.reasons.extend(function.found);
                self.trace.append(function.steps);
            }
        }
    }

    /// A function that leaves this shell is called by others.
    pub(super) fn hand_out(&mut self, name: &str) {
        let mut again: Vec<Reason> = Vec::new();
        for function in self.functions.iter_mut().filter(|function| function.name == name) {
            let found = std::mem::take(&mut function.found);
            again.extend(found);
            let fresh = function.steps.fresh();
            self.trace.append(std::mem::replace(&mut function.steps, fresh));
        }
        again.into_iter().for_each(|reason| self.record(reason));
    }

    /// Whether a text calls a function that holds `word`.
    pub(super) fn calls_holder(&self, text: &str, word: &str) -> bool {
        self.functions.iter().any(|function| text.contains(&function.name))
            && self.functions.iter().any(|function| function.source.contains(word))
    }

    /// Notes the state at a `return`.
    pub(super) fn leave(&mut self) {
        let scope = Rc::clone(&self.scope);
        if let Some(frame) = self.frames.last_mut() {
            match &mut frame.left {
                Some(left) => join(left, &scope),
                None => frame.left = Some(scope),
            }
        }
        Rc::make_mut(&mut self.scope).ended = true;
    }

    fn follow(
        &mut self,
        name: &str,
        source: &str,
        mapping: Mapping,
        args: &[Arg<'_>],
        span: Span,
        input: &Input,
    ) {
        let Ok(script) = shell::parse(source) else {
            return self.unfollowed(name);
        };
        let only = script.body.items.first().and_then(|item| item.first.stages.first());
        let Some(Command { kind: CommandKind::Function { body, .. }, redirections, .. }) = only
        else {
            return self.unfollowed(name);
        };
        let settled = args.iter().all(|arg| arg.certainty != Certainty::Many);
        let parameters = settled.then(|| args.iter().map(Value::from).collect());
        let outer = Rc::make_mut(&mut self.scope).begin_function(parameters);
        self.frames.push(Frame { name: name.to_owned(), ..Frame::default() });
        self.deeper(span, |walk| {
            walk.nesting(script.depth, span, |walk| {
                walk.mapped(mapping, |walk| {
                    let redirected = walk.redirections(source, redirections);
                    let input = redirected.as_ref().unwrap_or(input);
                    if let Some(failed) = walk.command(source, body, input) {
                        join(&mut walk.scope, &failed);
                    }
                    if !redirections.is_empty() {
                        walk.output = None;
                    }
                });
            });
        });
        let left = self.frames.pop().and_then(|frame| frame.left);
        if let Some(left) = left {
            join(&mut self.scope, &left);
        }
        Rc::make_mut(&mut self.scope).end_function(outer);
    }

    /// A call that is not followed does what the function does with any arguments.
    fn unfollowed(&mut self, name: &str) {
        self.hand_out(name);
        let moves = |function: &Function| {
            ["cd", "pushd", "popd", "eval", "source", ". "]
                .iter()
                .any(|word| function.source.contains(word))
        };
        let moves = self.functions.iter().any(moves);
        let scope = Rc::make_mut(&mut self.scope);
        scope.forget_all();
        if moves {
            scope.enter(Vec::new());
        }
    }

    /// A function that takes the name of what this walk relies on makes the rest unreadable.
    fn shadowing(&mut self, name: &Word<'_>) {
        let shadows = match &*name.pieces {
            [Piece::Literal(name) | Piece::Quoted(name)] => is_relied_on(name),
            _ => true,
        };
        if shadows {
            self.raise(Concern::Obfuscates, name.span);
        }
    }
}

/// Builtins whose effect on the shell is followed.
pub(super) fn is_relied_on(name: &str) -> bool {
    matches!(
        name,
        "." | "builtin"
            | "cd"
            | "command"
            | "command_not_found_handle"
            | "declare"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "local"
            | "popd"
            | "pushd"
            | "read"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "shopt"
            | "source"
            | "trap"
            | "typeset"
            | "unset"
    )
}

/// Whether a function starts itself more than once, or beside itself: a fork bomb.
fn is_bomb<'t>(name: &Word<'t>, body: &Command<'t>) -> bool {
    let mut calls = 0;
    body.every_simple(&mut |simple| {
        calls += u32::from(simple.words.first().is_some_and(|word| word.pieces == name.pieces));
    });
    calls > 1
}
