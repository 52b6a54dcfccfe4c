//! One decision under way: what it knows, what it found, and how far it may go.

use std::cell::RefCell;
use std::rc::Rc;

use super::Judge;
use super::builtin::Habits;
use super::child::{Ownership, Speech};
use super::default::Defaults;
use super::disk::Disk;
use super::feed::{Fed, Feed, Lists, Spread};
use super::followed::Followed;
use super::function::{Frame, Function};
use super::kept::{Carriage, Contents};
use super::notes::Notes;
use super::place::{Mapping, Written};
use super::roster::MOST_NAMES;
use super::said::Line;
use super::scope::{Environment, Origin, Scope, Value};
use super::trace::{Trace, is_same};
use super::trap::Trap;
use super::verdict::{Answer, Axis, Reason};
use crate::jail::Lookup;
use crate::shell::MAX_DEPTH;
use crate::text::Span;

/// Most commands and acts that one call may amount to.
const MOST_STEPS: usize = 4_000;
/// Most findings that are told apart.
const MOST_REASONS: usize = 512;
/// Deepest nesting of commands that run commands.
const MOST_DEPTH: u32 = 24;
/// Deepest nesting of all the texts that are in one another.
const MOST_LEVELS: usize = MAX_DEPTH + MAX_DEPTH / 4;

/// One decision under way.
pub(super) struct Walk<'j> {
    pub(super) judge: &'j Judge,
    pub(super) lookup: &'j dyn Lookup,
    /// The text that a person wrote, if it is one.
    pub(super) written: &'j str,
    pub(super) scope: Rc<Scope>,
    pub(super) disk: Disk,
    pub(super) defaults: Defaults,
    pub(super) followed: RefCell<Followed<'j>>,
    pub(super) reasons: Vec<Reason>,
    pub(super) trace: Trace,
    /// What the last command prints, if that can be told: `echo text`.
    pub(super) output: Option<Value>,
    pub(super) line: Line,
    /// Whether anybody asks what a command prints.
    pub(super) listened: bool,
    /// Whether the pipeline at hand holds what comes from elsewhere.
    pub(super) tainted: bool,
    /// Where what feeds the commands at hand comes from, and the values that were just looked at.
    pub(super) poured: Origin,
    pub(super) met: Origin,
    /// What the commands at hand are fed, and whether they are.
    pub(super) feed: Option<Box<Feed>>,
    pub(super) feeding: u32,
    /// What is known of the names that the command at hand is fed, and whether the last command
    /// printed the names of plain files alone.
    pub(super) fed: Option<Fed>,
    pub(super) lists: Lists,
    /// How much of the project the names are that the last command printed.
    pub(super) listed: Spread,
    /// Words of the command at hand that hold what a file holds.
    pub(super) carried: Vec<(Span, Carriage)>,
    /// Words of the command at hand that hold what the text has others say as it runs.
    pub(super) late: Vec<Span>,
    /// Whether the pipeline at hand holds what a file holds, and whether that is what the commands
    /// at hand are fed.
    pub(super) spilled: Contents,
    pub(super) poured_in: Contents,
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
    pub(super) mapping: Mapping,
    depth: u32,
    /// How deep the texts nest that are being walked, one in the other.
    levels: usize,
    /// Files whose recipes are being judged.
    pub(super) reading: Vec<String>,
    steps: usize,
    /// Where there was too much, of what, and how much would have been too much.
    exhausted: Option<(Span, &'static str, usize)>,
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

impl<'j> Walk<'j> {
    #[inline(always)]
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
            defaults: Defaults::default(),
            followed: RefCell::default(),
            reasons: Vec::new(),
            trace,
            output: None,
            line: Line::Ended,
            listened: false,
            tainted: false,
            poured: Origin::Here,
            met: Origin::Here,
            feed: None,
            feeding: 0,
            fed: None,
            lists: Lists::Anything,
            listed: Spread::Whole,
            carried: Vec::new(),
            late: Vec::new(),
            spilled: Contents::Any,
            poured_in: Contents::Any,
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
            levels: 0,
            reading: Vec::new(),
            steps: 0,
            exhausted: None,
        }
    }

    /// Adds a reason; its place is translated to the text that a person wrote.
    pub(super) fn report(&mut self, mut reason: Reason) {
        reason.span = self.place(reason.span);
        self.trace.found(&reason);
        self.record(reason);
    }

    /// Adds a reason whose place is translated. The same finding in every round of a loop is one.
    pub(super) fn record(&mut self, reason: Reason) {
        if self.reasons.iter().any(|known| is_same(known, &reason)) {
            return;
        }
        // What a rule or a mode makes of one more nobody could tell without it: it is all too much.
        if self.reasons.len() >= MOST_REASONS {
            self.exhausted.get_or_insert((reason.span, "findings", MOST_REASONS));
            self.steps = self.steps.max(MOST_STEPS + 1);
            return;
        }
        self.reasons.push(reason);
    }

    /// Whether another command runs the one at hand.
    pub(super) fn is_nested(&self) -> bool {
        self.depth > 0
    }

    /// Counts one step. `None` when the call amounts to more than can be looked at, which denies.
    pub(super) fn step(&mut self, span: Span) -> Option<()> {
        self.steps = self.steps.saturating_add(1);
        if self.steps <= MOST_STEPS {
            return Some(());
        }
        self.exhaust(span, "steps", MOST_STEPS);
        None
    }

    /// Spends steps on what costs more than one. `None` as for one step.
    pub(super) fn spend(&mut self, steps: usize, span: Span) -> Option<()> {
        self.steps = self.steps.saturating_add(steps);
        self.step(span)
    }

    /// Notes that there are more names than are followed, and goes no further.
    pub(super) fn crowd(&mut self, span: Span) {
        self.exhaust(span, "names", MOST_NAMES);
        self.steps = self.steps.max(MOST_STEPS + 1);
    }

    /// Whether no step is left: whatever is still to come, the call is denied.
    pub(super) fn is_spent(&self) -> bool {
        self.steps > MOST_STEPS
    }

    /// Notes that there was more of something than could be looked at.
    pub(super) fn exhaust(&mut self, span: Span, of: &'static str, most: usize) {
        let place = self.place(span);
        self.exhausted.get_or_insert((place, of, most));
    }

    /// Denies what was more than could be looked at. Said once and at the end: reasons that are
    /// found on the way may be put aside, as those of a function are.
    pub(super) fn conclude(&mut self) {
        let Some((span, of, most)) = self.exhausted else { return };
        let reason = Reason {
            answer: Answer::Deny,
            code: "too-much",
            axis: Axis::Structure,
            message: format!("it amounts to more than {most} {of}"),
            span,
            origin: None,
            hint: Some("run it in smaller parts, or put it into a script".into()),
        };
        self.trace.found(&reason);
        self.reasons.push(reason);
    }

    /// Goes one level down into what a command runs; denies when that is too deep.
    pub(super) fn deeper(&mut self, span: Span, inner: impl FnOnce(&mut Self)) {
        if self.depth >= MOST_DEPTH {
            let message = format!("commands run commands more than {MOST_DEPTH} levels deep");
            return self.refuse("too-deep", Axis::Structure, message, span);
        }
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }

    /// Goes into a text that nests so many levels deep itself; denies when that makes too many:
    /// each text has its own limit, but texts that run texts use up one stack.
    pub(super) fn nesting(&mut self, levels: usize, span: Span, inner: impl FnOnce(&mut Self)) {
        if self.levels + levels > MOST_LEVELS {
            let message = format!("texts that run texts nest more than {MOST_LEVELS} levels deep");
            return self.refuse("too-deep", Axis::Structure, message, span);
        }
        self.levels += levels;
        inner(self);
        self.levels -= levels;
    }

    /// Runs a part whose changes to the state stay inside: a subshell, a substitution.
    pub(super) fn aside(&mut self, inner: impl FnOnce(&mut Self)) {
        let outer = Rc::clone(&self.scope);
        let traps = self.traps.len();
        inner(self);
        self.traps.truncate(traps);
        self.scope = outer;
    }
}
