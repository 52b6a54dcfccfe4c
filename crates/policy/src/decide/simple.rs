//! One simple command: its variables, its redirections, its program, and what that does.

use std::borrow::Cow;
use std::rc::Rc;

use super::scope::Value;
use super::strict::{SHELLS, versionless};
use super::verdict::{Answer, Axis, Reason};
use super::walk::{AfterFailure, Input, Walk};
use crate::command::tool::{self, Knowledge};
use crate::command::{Act, Arg, Certainty, Concern, HOLE, Run};
use crate::shell::{Descriptor, List, Piece, Redirection, RedirectionOperator, Simple};
use crate::text::Span;

/// Builtins in front of which an assignment may outlast the command.
const MAY_KEEP: [&str; 17] = [
    ".", ":", "break", "continue", "declare", "eval", "exec", "exit", "export", "local",
    "readonly", "return", "set", "source", "trap", "typeset", "unset",
];

/// Builtins that take the names of variables, and evaluate what stands between their brackets.
const NAME_VARIABLES: [&str; 15] = [
    "[",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

impl Walk<'_> {
    pub(super) fn simple<'t>(
        &mut self,
        text: &'t str,
        simple: &Simple<'t>,
        span: Span,
        input: &Input,
    ) -> AfterFailure {
        let mut argv = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            self.expand(text, word, &mut argv);
        }
        let run_alone = argv.is_empty();
        // In front of a builtin a variable may stay set.
        let stays = !simple.assignments.is_empty()
            && argv.first().is_some_and(|program| MAY_KEEP.contains(&&*program.text));
        for assignment in &simple.assignments {
            let value = self.assigned(text, assignment);
            self.variable(&assignment.name, &value, assignment.span);
            if run_alone {
                Rc::make_mut(&mut self.scope).assign(assignment.name.clone(), value);
            } else if stays {
                Rc::make_mut(&mut self.scope).forget(&assignment.name);
            }
        }
        if run_alone { None } else { self.call(&argv, span, input) }
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
        // `flock FILE -c TEXT`: the launcher's own flag, behind its operand.
        if let ("-c", [text, ..]) = (&*program.text, args) {
            self.nested(text, input);
            return None;
        }
        let (name, real) = self.program(program)?;
        let before = Rc::clone(&self.scope);
        let mut acts = Vec::new();
        let knowledge = self.knowledge_of(name);
        let read = without_plus(name, args);
        tool::acts(name, program.span, &read, knowledge, &mut acts);
        self.strictly(name, program, args, &acts);
        if let Some(real) = real {
            let written = acts.len();
            tool::acts(&real, program.span, args, knowledge, &mut acts);
            self.strictly(&real, program, args, acts.get(written..).unwrap_or_default());
        }
        self.after_writing(name, span);
        self.note_taken(name, &acts, input);
        // Most commands feed nobody.
        let feeds = acts.iter().any(|act| matches!(act, Act::Run(Run::Fed(_))));
        let feed = feeds.then(|| self.feed(name, args, &acts, input));
        let outer_feed = std::mem::replace(&mut self.feed, feed);
        let manner = self.note_manner(name, args, &acts, input, span);
        let changes_folder = matches!(name, "cd" | "pushd" | "popd");
        for act in &acts {
            self.step(span)?;
            self.perform(act, input);
        }
        self.feed = outer_feed;
        self.note_outer(manner);
        if changes_folder {
            if acts.is_empty() && name != "popd" {
                let home = self.judge.home().unwrap_or("/").to_owned();
                Rc::make_mut(&mut self.scope).enter(vec![home]);
            } else if acts.is_empty() {
                Rc::make_mut(&mut self.scope).enter(Vec::new());
            }
            return Some(before);
        }
        // What other programs enter, they enter for themselves.
        if before.cwds() != self.scope.cwds() {
            let cwds = before.cwds().to_vec();
            Rc::make_mut(&mut self.scope).enter(cwds);
        }
        self.builtin(name, args, input);
        if self.listened {
            self.output = self.printed(name, args, input);
        }
        None
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

    /// Builtins that change what is known from here on.
    fn builtin(&mut self, name: &str, args: &[Arg<'_>], input: &Input) {
        if NAME_VARIABLES.contains(&name) {
            for arg in args {
                self.hidden_subscript(&arg.text, arg.span);
            }
        }
        if self.movers.iter().any(|known| known == name) {
            Rc::make_mut(&mut self.scope).enter(Vec::new());
        }
        match name {
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                // `-n`: the variable is another one under a new name.
                let renames = |arg: &&Arg<'_>| arg.text.starts_with('-') && arg.text.contains('n');
                if let Some(arg) = args.iter().find(renames).filter(|_| name != "export") {
                    self.raise(Concern::Evaluates, arg.span);
                }
                for arg in args.iter().filter(|arg| !arg.text.starts_with(['-', '+'])) {
                    match arg.text.split_once('=') {
                        Some((name, value)) => {
                            let value = Value {
                                text: value.to_owned(),
                                certainty: if value.contains(HOLE) {
                                    Certainty::Partial
                                } else {
                                    Certainty::Known
                                },
                            };
                            self.variable(name, &value, arg.span);
                            Rc::make_mut(&mut self.scope).assign(Cow::Borrowed(name), value);
                        }
                        None if name == "local" => Rc::make_mut(&mut self.scope).forget(&arg.text),
                        None => {}
                    }
                }
            }
            "read" if args.iter().all(|arg| !arg.text.contains(HOLE)) => {
                // The lines of `find . |` are names below the folder, and nothing else.
                let value = match input {
                    Input::Text(value, _) if value.certainty == Certainty::Pattern => value.clone(),
                    Input::Text(..) | Input::File(..) | Input::Inherited | Input::Pipe => {
                        Value::unknown()
                    }
                };
                for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
                    Rc::make_mut(&mut self.scope).assign(arg.text.clone(), value.clone());
                }
                Rc::make_mut(&mut self.scope).forget("REPLY");
            }
            "source" | "." => Rc::make_mut(&mut self.scope).forget_all(),
            "eval" => {
                let scope = Rc::make_mut(&mut self.scope);
                scope.forget_all();
                if args.iter().any(|arg| arg.text.contains("cd") || arg.text.contains("pushd")) {
                    scope.enter(Vec::new());
                }
            }
            "alias" => {
                for arg in args {
                    let value = arg.text.find('=').and_then(|at| arg.tail(at + 1));
                    if let Some(value) = value {
                        self.nested(&value, &Input::Inherited);
                    }
                }
            }
            "getopts" => {
                let scope = Rc::make_mut(&mut self.scope);
                for name in ["OPTARG", "OPTIND"] {
                    scope.forget(name);
                }
                if let Some(arg) = args.get(1) {
                    scope.forget(&arg.text);
                }
            }
            "mapfile" | "readarray" if args.is_empty() => {
                Rc::make_mut(&mut self.scope).forget("MAPFILE");
            }
            "read" | "mapfile" | "readarray" | "unset" | "let" | "printf" | "wait" => {
                for arg in args {
                    let name = arg.text.split(['=', '[', '+', '-']).next().unwrap_or_default();
                    if self.scope.variable(name).is_some() || name == "IFS" {
                        Rc::make_mut(&mut self.scope).forget(name);
                    }
                }
            }
            "exec" if args.is_empty() => {}
            "exit" | "return" | "exec" => Rc::make_mut(&mut self.scope).ended = true,
            _ => {}
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
                    if is_input {
                        input = Some(Input::Text(value, span));
                    }
                }
                RedirectionOperator::Read => {
                    let piped = redirection
                        .target
                        .pieces
                        .iter()
                        .any(|piece| matches!(piece, Piece::Process(_)));
                    self.perform(&Act::Read(file), &Input::Inherited);
                    if is_input {
                        let from = || Input::File(value, span);
                        input = Some(if piped { Input::Pipe } else { from() });
                    }
                }
                RedirectionOperator::ReadWrite => {
                    self.perform(&Act::Write(file), &Input::Inherited);
                    if is_input {
                        input = Some(Input::File(value, span));
                    }
                }
                RedirectionOperator::Write
                | RedirectionOperator::Clobber
                | RedirectionOperator::Append
                | RedirectionOperator::WriteBoth
                | RedirectionOperator::AppendBoth => {
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
        let outer = Rc::clone(&self.scope);
        let listened = std::mem::replace(&mut self.listened, true);
        self.output = None;
        self.list(text, list, &Input::Inherited);
        let output = self.output.take();
        self.listened = listened;
        self.scope = outer;
        let alone = matches!(&*list.items, [item] if item.rest.is_empty());
        match output {
            Some(value) if alone => value,
            Some(_) | None => Value::unknown(),
        }
    }
}

/// Leaves out a shell's options that turn something off, `+x` and `+o NAME`: what they say changes
/// nothing about what runs, and options may follow them.
fn without_plus<'a, 't>(name: &str, args: &'a [Arg<'t>]) -> Cow<'a, [Arg<'t>]> {
    let plus = |arg: &Arg<'_>| arg.text.starts_with('+');
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
