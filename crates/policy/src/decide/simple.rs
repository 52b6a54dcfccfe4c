//! One simple command: its variables, its redirections, its program, and what that does.

use std::borrow::Cow;
use std::rc::Rc;

use super::builtin::names_variables;
use super::bulk::Reach;
use super::child::{Ownership, is_flag};
use super::expand::{push_written, verbatim};
use super::flow::AfterFailure;
use super::git;
use super::host::connected;
use super::ordinary::is_ordinary;
use super::said::speaks_for;
use super::scope::{Origin, Value};
use super::strict::versionless;
use super::verdict::{Answer, Axis, Reason};
use super::walk::{Input, Walk};
use crate::command::tool::{self, Knowledge};
use crate::command::{Act, Arg, Certainty, Run, SHELLS};
use crate::shell::{Descriptor, List, Piece, Redirection, RedirectionOperator, Simple};
use crate::text::{Span, byte};

/// Builtins in front of which an assignment may outlast the command.
const MAY_KEEP: [&str; 17] = [
    ".", ":", "break", "continue", "declare", "eval", "exec", "exit", "export", "local",
    "readonly", "return", "set", "source", "trap", "typeset", "unset",
];

/// Whose state a command changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Effect {
    /// Its own: it is a program, or what it runs is.
    Own,
    /// The shell's working folder.
    Folder,
    /// The shell's.
    Here,
    /// The shell's, later.
    Trap,
}

impl Walk<'_> {
    pub(super) fn simple<'t>(
        &mut self,
        text: &'t str,
        simple: &Simple<'t>,
        span: Span,
        input: &Input,
    ) -> AfterFailure {
        let mut argv = Vec::with_capacity(simple.words.len());
        let mut are_written = true;
        let outer_words = std::mem::take(&mut self.defaults.words);
        // In plain ASCII no blank hides.
        let is_plain = text.get(span.start()..span.end()).is_some_and(str::is_ascii);
        for word in &simple.words {
            if !is_plain {
                self.blanks(word);
            }
            // Most words are what is written there, and come from nowhere else.
            if push_written(text, word, &mut argv) {
                continue;
            }
            are_written = false;
            let ((), met) = self.looking(|walk| walk.expand(text, word, &mut argv));
            self.pours_into(text, word);
            // The name of a variable, which may hold what runs, or be one that programs obey.
            if met == Origin::Elsewhere
                && argv.first().is_some_and(|name| names_variables(&name.text))
            {
                self.named_from_elsewhere(&argv, word.span);
            }
        }
        let words = std::mem::replace(&mut self.defaults.words, outer_words);
        self.call_otherwise(&argv, &words, span, input);
        let run_alone = argv.is_empty();
        self.carried = if are_written { Vec::new() } else { self.carried_by(&simple.words) };
        self.late = if are_written { Vec::new() } else { self.made_late(&simple.words) };
        // Redirections alone.
        if run_alone && simple.assignments.is_empty() {
            return None;
        }
        if simple.assignments.is_empty() {
            let given = std::mem::take(&mut self.given);
            let failure = self.call(&argv, span, input);
            self.given = given;
            return failure;
        }
        let mut given = Vec::new();
        for assignment in &simple.assignments {
            let (value, met) = self.looking(|walk| walk.assigned(text, assignment));
            self.variable(&assignment.name, &value, assignment.span);
            if run_alone {
                let origin = met.of(&value);
                let scope = Rc::make_mut(&mut self.scope);
                scope.note_origin(&assignment.name, origin);
                scope.assign(assignment.name.clone(), value);
                self.retrap(Some(&assignment.name));
                let carriage = self.carriage(&assignment.value);
                self.note_kept(&assignment.name, carriage);
            } else {
                given.push((assignment.name.to_string(), value));
            }
        }
        if run_alone {
            self.say_nothing();
            return None;
        }
        // In front of a builtin or a function a variable is set in the shell, and may stay so.
        let stays = argv.first().is_some_and(|program| {
            MAY_KEEP.contains(&&*program.text) || self.functions_named(&program.text)
        });
        let set: Vec<String> =
            given.iter().filter(|_| stays).map(|(name, _)| name.clone()).collect();
        for (name, value) in given.iter().filter(|_| stays) {
            Rc::make_mut(&mut self.scope).assign(name.into(), value.clone());
        }
        let outer = std::mem::replace(&mut self.given, given);
        let failure = self.call(&argv, span, input);
        self.given = outer;
        for name in &set {
            Rc::make_mut(&mut self.scope).forget(name);
        }
        failure.map(|mut failed| {
            set.iter().for_each(|name| Rc::make_mut(&mut failed).forget(name));
            failed
        })
    }

    /// Judges one program with its arguments.
    pub(super) fn call(&mut self, argv: &[Arg<'_>], span: Span, input: &Input) -> AfterFailure {
        self.step(span)?;
        self.output = None;
        let Some((program, args)) = argv.split_first() else {
            self.report(empty(span));
            return None;
        };
        let shown = self.place(span);
        self.trace.command(argv, shown);
        self.note_part(argv, span);
        self.heed_last(args);
        // `flock FILE -c TEXT`: the launcher's own flag, behind its operand.
        if let ("-c", [text, ..]) = (&*program.text, args) {
            self.nested(text, input);
            return None;
        }
        let (name, real) = self.program(program)?;
        if let Some(command) = git::command_of(name) {
            let at = program.span;
            let mut argv = vec![Arg::known("git", at), Arg::known(command.to_owned(), at)];
            argv.extend(args.iter().cloned());
            return self.call(&argv, span, input);
        }
        let before = Rc::clone(&self.scope);
        let mut acts = Vec::new();
        let knowledge = self.knowledge_of(name);
        let read = without_plus(name, args);
        tool::acts(name, program.span, &read, knowledge, &mut acts);
        let by_name = !is_ordinary(name);
        if by_name {
            self.settle(name, args, &mut acts);
        }
        let plain = versionless(name);
        self.strictly((name, plain), program, args, &acts);
        if let Some(real) = real {
            let written = acts.len();
            tool::acts(&real, program.span, args, knowledge, &mut acts);
            let names = (real.as_str(), versionless(&real));
            self.strictly(names, program, args, acts.get(written..).unwrap_or_default());
        }
        // Most texts write nothing.
        if !self.disk.is_empty() {
            self.implicit(name, args, span);
        }
        if by_name {
            self.unseen(plain, args, span);
            self.wholesale(plain, args, span);
        }
        self.overwritten(name, args, &acts);
        if by_name || self.holds_files() {
            self.carries((name, plain), args, &acts, input);
        }
        if by_name {
            self.whole_trees(plain, args, &acts);
        }
        self.strays(args, &acts);
        if name == "git" {
            self.git(args, span, input);
        }
        self.after_writing(name, span);
        self.note_taken(name, &acts, input);
        if by_name {
            self.note_fetched(name, args);
        }
        // Most commands feed nobody.
        let feeds = acts.iter().any(|act| matches!(act, Act::Run(Run::Fed(_))));
        let feed = feeds.then(|| Box::new(self.feed(name, args, &acts, input)));
        let outer_feed = std::mem::replace(&mut self.feed, feed);
        let pours = if feeds { self.pours(name, args, input) } else { self.poured_in };
        let outer_pours = std::mem::replace(&mut self.poured_in, pours);
        let manner = self.note_manner(name, args, &acts, input, span);
        let by_path = byte::has(&program.text, b'/');
        let effect = if by_path { Effect::Own } else { Effect::of(name) };
        let (environment, child_speech) = (self.environment, self.child_speech);
        let given = self.given.len();
        if acts.iter().any(|act| matches!(act, Act::Run(_))) {
            self.hand_on(name, args);
        }
        let ownership = std::mem::replace(&mut self.ownership, effect.ownership());
        let hard = matches!(name, "ln" | "link" | "cp")
            && !args.iter().any(|arg| is_flag(&arg.text, 's') || arg.text.starts_with("--sym"));
        for act in &acts {
            self.step(span)?;
            self.perform(act, input);
            // Another name of a file reads it, whatever hides its own.
            if let (true, Act::Link { target, .. }) = (hard, act) {
                self.perform(&Act::Read(target.clone()), input);
            }
        }
        self.note_put(name, args, &acts);
        self.ownership = ownership;
        (self.environment, self.child_speech) = (environment, child_speech);
        self.given.truncate(given);
        self.feed = outer_feed;
        self.poured_in = outer_pours;
        self.note_outer(manner);
        match effect {
            Effect::Folder => {
                let home = matches!(name, "cd" | "chdir")
                    .then(|| self.judge.home().unwrap_or("/").to_owned());
                let turns = |arg: &Arg<'_>| {
                    !matches!(name, "cd" | "chdir") && arg.text.starts_with(['+', '-'])
                };
                if acts.is_empty() || args.iter().any(turns) {
                    Rc::make_mut(&mut self.scope).enter(home.into_iter().collect());
                }
                self.retrap(None);
                return Some(before);
            }
            // What other programs do, they do to themselves.
            Effect::Own => self.scope = Rc::clone(&before),
            Effect::Here => {}
            Effect::Trap => self.trap(args, &before),
        }
        if !speaks_for(name, &acts) {
            self.output = None;
        }
        if !by_path {
            self.builtin(name, args, input);
            self.invoke(name, args, span, input);
        }
        if self.listened {
            self.escapes_unseen(name, args);
            self.speak(program, name, args, input);
            self.lists = self.lists_of(name, args);
            self.listed = self.listed_of(name, args);
        }
        (effect == Effect::Here && !Rc::ptr_eq(&before, &self.scope)).then_some(before)
    }

    /// Returns what may be used to understand a program: the table, but for the program that the
    /// text begins with where its row is to be left out.
    fn knowledge_of(&mut self, name: &str) -> Knowledge {
        match self.judge.knowledge {
            Knowledge::Table => Knowledge::Table,
            Knowledge::Shape if self.left_out.get_or_insert_with(|| name.to_owned()) == name => {
                Knowledge::Shape
            }
            Knowledge::Shape => Knowledge::Table,
        }
    }

    /// Judges where a command's streams go; returns where its input comes from, if they say so.
    pub(super) fn redirections<'t>(
        &mut self,
        text: &'t str,
        redirections: &[Redirection<'t>],
    ) -> Option<Input> {
        let mut input = None;
        for redirection in redirections {
            // `2>&1`, as nearly every one that duplicates.
            let copies = redirection.operator == RedirectionOperator::DuplicateOutput
                && redirection.target.settled().is_some_and(|text| text == "1" || text == "2");
            if copies {
                continue;
            }
            let value = self.value(text, &redirection.target);
            let span = redirection.target.span;
            let is_input = match &redirection.descriptor {
                None | Some(Descriptor::Number(0)) => true,
                Some(Descriptor::Number(_) | Descriptor::Variable(_)) => false,
            };
            let file = Arg {
                text: Cow::Owned(value.text.clone()),
                certainty: value.certainty,
                span,
                verbatim: None,
            };
            match redirection.operator {
                RedirectionOperator::Heredoc | RedirectionOperator::HereString => {
                    match redirection.operator == RedirectionOperator::HereString {
                        true if self.listened => self.names_secret(&value, span),
                        true | false => self.covers_secret(&value, span),
                    }
                    if is_input {
                        let verbatim = verbatim(text, &redirection.target);
                        let known = || Input::Text(value, self.written_at(span, verbatim));
                        let carriage = self.carriage(&redirection.target);
                        input = Some(carriage.map_or_else(known, |_| Input::Pipe));
                    }
                }
                RedirectionOperator::Read => {
                    let piped = redirection
                        .target
                        .pieces
                        .iter()
                        .any(|piece| matches!(piece, Piece::Process(_)));
                    let act = match connected(&file.text) {
                        Some(text) => Act::Connect(Arg { text: text.into(), ..file }),
                        None => Act::Read(file),
                    };
                    self.perform(&act, &Input::Inherited);
                    if is_input {
                        let from = || Input::File(value, self.written_at(span, None));
                        input = Some(if piped { Input::Pipe } else { from() });
                    }
                }
                RedirectionOperator::ReadWrite => {
                    self.perform(&Act::Write(file), &Input::Inherited);
                    if is_input {
                        input = Some(Input::File(value, self.written_at(span, None)));
                    }
                }
                RedirectionOperator::Append | RedirectionOperator::AppendBoth => {
                    self.overwrites(&file, Reach::File);
                    self.perform(&Act::Write(file), &Input::Inherited);
                }
                RedirectionOperator::Write
                | RedirectionOperator::Clobber
                | RedirectionOperator::WriteBoth => {
                    self.pours_into(text, &redirection.target);
                    self.emptied(&file);
                    self.overwrites(&file, Reach::File);
                    self.perform(&Act::Write(file), &Input::Inherited);
                }
                RedirectionOperator::DuplicateOutput if !is_descriptor(&value) => {
                    self.perform(&Act::Write(file), &Input::Inherited);
                }
                RedirectionOperator::DuplicateInput if !is_descriptor(&value) => {
                    self.perform(&Act::Read(file), &Input::Inherited);
                    input = Some(Input::Pipe);
                }
                RedirectionOperator::DuplicateInput => input = Some(Input::Pipe),
                RedirectionOperator::DuplicateOutput => {}
            }
        }
        input
    }

    /// Returns what a command substitution becomes, after judging what runs in it.
    pub(super) fn substitution<'t>(&mut self, text: &'t str, list: &List<'t>) -> Value {
        // `$()` is nothing at all.
        if list.items.is_empty() {
            return Value::known("");
        }
        let listened = std::mem::replace(&mut self.listened, true);
        self.output = None;
        self.aside(|walk| walk.list(text, list, &Input::Inherited));
        let output = self.output.take();
        self.listened = listened;
        if self.tainted {
            self.met = Origin::Elsewhere;
        }
        output.unwrap_or_else(Value::unknown)
    }
}

impl Effect {
    fn of(builtin: &str) -> Self {
        match builtin {
            "cd" | "chdir" | "pushd" | "popd" => Self::Folder,
            "command" | "builtin" | "eval" | "source" | "." => Self::Here,
            "trap" => Self::Trap,
            _ => Self::Own,
        }
    }

    fn ownership(self) -> Ownership {
        match self {
            Self::Own | Self::Folder => Ownership::Child,
            Self::Here | Self::Trap => Ownership::Here,
        }
    }
}

/// Leaves out a shell's options that turn something off, `+x` and `+o NAME`: what they say changes
/// nothing about what runs, and options may follow them.
fn without_plus<'a, 't>(name: &str, args: &'a [Arg<'t>]) -> Cow<'a, [Arg<'t>]> {
    let plus = |arg: &Arg<'_>| arg.text.as_bytes().first() == Some(&b'+');
    if !args.iter().any(plus) || !SHELLS.contains(&versionless(name)) {
        return Cow::Borrowed(args);
    }
    let mut kept = Vec::with_capacity(args.len());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match (plus(arg), &*arg.text) {
            (true, "+o" | "+O") => drop(rest.next()),
            (true, _) => {}
            (false, _) => kept.push(arg.clone()),
        }
    }
    Cow::Owned(kept)
}

fn empty(span: Span) -> Reason {
    Reason {
        answer: Answer::Deny,
        code: "empty-argv",
        axis: Axis::Name,
        message: "there is no command: empty argv".into(),
        span,
        origin: None,
        hint: None,
    }
}

/// `2`, `-`, `1-`: a descriptor and not a file.
fn is_descriptor(value: &Value) -> bool {
    let number = value.text.strip_suffix('-').unwrap_or(&value.text);
    value.certainty != Certainty::Partial
        && !value.text.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}
