//! Builtins that change what is known from here on.

use std::rc::Rc;

use super::array::Shape;
use super::child::{Speech, is_flag};
use super::format::{Reader, formatted, shown};
use super::function::is_relied_on;
use super::kept::{Carriage, Contents};
use super::scope::{Origin, Value};
use super::speech::Manner;
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty, Concern, Holed as _};
use crate::text::Span;

/// Habits of the shell that a text turned on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits {
    /// `*` matches names that begin with a dot.
    pub(super) dots: bool,
    /// `echo` reads escapes without being told to.
    pub(super) echo: bool,
    /// The last part of a pipeline runs in the shell itself.
    pub(super) last_pipe: bool,
    /// How bash reads what follows.
    pub(super) manner: Manner,
    /// What becomes of the last word of a command.
    pub(super) last: LastWord,
}

/// What becomes of the last word of a command.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum LastWord {
    #[default]
    Dropped,
    /// A later command may take it up: `$_`.
    Kept,
}

impl Walk<'_> {
    /// Follows what a builtin changes in the shell at hand.
    #[inline(always)]
    pub(super) fn builtin(&mut self, name: &str, args: &[Arg<'_>], input: &Input) {
        // Nearly every command is none.
        let Some(builtin) = Builtin::of(name) else { return };
        self.follow_builtin(builtin, name, args, input);
    }

    #[inline(never)]
    fn follow_builtin(&mut self, builtin: Builtin, name: &str, args: &[Arg<'_>], input: &Input) {
        if builtin.names_variables() || builtin == Builtin::Set {
            for arg in args {
                self.hidden_subscript(&arg.text, arg.span);
            }
        }
        if matches!(builtin, Builtin::Nothing | Builtin::Getopts | Builtin::Printf | Builtin::Set)
            || builtin == Builtin::Says && self.listened
        {
            args.iter().for_each(|arg| self.names_secret(&Value::from(arg), arg.span));
        }
        match builtin {
            Builtin::Declares => self.declared(name, args),
            Builtin::Reads => self.taken_in(name, args, input),
            Builtin::Source => self.forget_all(),
            Builtin::Alias => {
                for arg in args {
                    let value = arg.text.find('=').and_then(|at| arg.tail(at + 1));
                    if let Some(value) = value {
                        self.nested(&value, &Input::Inherited);
                    }
                    // Some shells put it into the lines that follow.
                    if self.speech != Speech::Bash {
                        self.raise(Concern::Evaluates, arg.span);
                    }
                }
            }
            Builtin::Getopts => {
                let scope = Rc::make_mut(&mut self.scope);
                scope.forget("OPTARG");
                scope.forget("OPTIND");
                if let Some(arg) = args.get(1) {
                    self.named_at_run_time(arg);
                    self.overwrite(&arg.text, &Value::unknown(), arg);
                }
            }
            Builtin::Unset => {
                for arg in args {
                    if arg.text == "HISTFILE" {
                        self.raise(Concern::Obfuscates, arg.span);
                    }
                    if is_flag(&arg.text, 'f') || self.functions_named(&arg.text) {
                        let scope = Rc::make_mut(&mut self.scope);
                        args.iter().for_each(|arg| scope.undefine(&arg.text));
                    }
                    if arg.text.has_hole() {
                        self.forget_all();
                    } else if self.scope.variable(base(&arg.text)).is_some() || arg.text == "IFS" {
                        self.overwrite(base(&arg.text), &Value::unknown(), arg);
                    }
                }
            }
            Builtin::Let => {
                for arg in args {
                    self.named_at_run_time(arg);
                    let name = base(&arg.text);
                    if self.scope.variable(name).is_some() {
                        // Where there is no such builtin, it keeps what it has.
                        let bash = self.speech != Speech::Posix;
                        let value = if bash { Value::token() } else { Value::unknown() };
                        self.overwrite(name, &value, arg);
                    }
                }
            }
            Builtin::Printf | Builtin::Wait => {
                let option = if builtin == Builtin::Printf { "-v" } else { "-p" };
                let glued = args.first().and_then(|arg| {
                    arg.text.strip_prefix(option).filter(|name| !name.is_empty()).and(Some(arg))
                });
                let at = args.iter().position(|arg| arg.text == option);
                if let Some(arg) = glued.or_else(|| args.get(at? + 1)) {
                    self.named_at_run_time(arg);
                    let name = arg.text.strip_prefix(option).unwrap_or(&arg.text);
                    self.set_from_input(base(name), arg);
                    let value = self.filled_in(option, args);
                    self.names_secret(&shown(&value), arg.span);
                    self.overwrite(base(name), &value, arg);
                }
            }
            Builtin::Set => self.set(args),
            Builtin::Shift => {
                let by = args.first().map_or(Some(1), |arg| arg.as_known()?.parse().ok());
                let scope = Rc::make_mut(&mut self.scope);
                let rest = scope.parameters().zip(by);
                let rest = rest.map(|(rest, by)| rest.iter().skip(by).cloned().collect());
                scope.set_parameters(rest);
            }
            Builtin::Shopt => self.shopt(args),
            Builtin::Enable => {
                let off = args.iter().any(|arg| is_flag(&arg.text, 'n') || is_flag(&arg.text, 'd'));
                let relied = args.iter().find(|arg| is_relied_on(&arg.text) || arg.text.has_hole());
                if let (true, Some(arg)) = (off, relied) {
                    self.raise(Concern::Obfuscates, arg.span);
                }
            }
            Builtin::Return => self.leave(),
            Builtin::Exec if args.is_empty() => {}
            Builtin::Exit | Builtin::Exec => Rc::make_mut(&mut self.scope).ended = true,
            Builtin::Nothing | Builtin::Says | Builtin::Test => {}
        }
    }

    /// Returns what `printf -v name` puts into the variable.
    fn filled_in(&self, option: &str, args: &[Arg<'_>]) -> Value {
        let words = match args {
            [first, _, words @ ..] if first.text == option => words,
            [_, words @ ..] => words,
            [] => args,
        };
        let known = (option == "-v" && self.speech == Speech::Bash)
            .then(|| formatted(words, Reader::Bash))
            .flatten();
        known.unwrap_or_else(Value::unknown)
    }

    /// Gives a variable a value, and judges what depends on it.
    pub(super) fn overwrite(&mut self, name: &str, value: &Value, arg: &Arg<'_>) {
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            self.variable(name, value, arg.span);
        }
        Rc::make_mut(&mut self.scope).assign(name.into(), value.clone());
        self.retrap(Some(name));
    }

    /// Forgets every value, and judges what depends on them.
    fn forget_all(&mut self) {
        Rc::make_mut(&mut self.scope).forget_all();
        self.retrap(None);
    }

    /// A name that only running tells may be any, and may hold a subscript that runs.
    fn named_at_run_time(&mut self, arg: &Arg<'_>) {
        if arg.text.has_hole() {
            Rc::make_mut(&mut self.scope).forget_all();
            self.raise(Concern::Evaluates, arg.span);
        }
    }

    /// The same for a word that holds a value from elsewhere.
    pub(super) fn named_from_elsewhere(&mut self, argv: &[Arg<'_>], span: Span) {
        let (Some(name), Some(last)) = (argv.first(), argv.last()) else { return };
        let names = match &*name.text {
            "[" | "test" => argv.iter().rev().nth(1).is_some_and(|flag| flag.text == "-v"),
            // What is printed is text.
            "printf" => false,
            // `export x="$y"` names `x`; a number is computed.
            _ => {
                let number = argv.iter().any(|arg| is_flag(&arg.text, 'i'));
                let start = last.text.split('=').next().unwrap_or_default();
                last.text.has_hole() && (number || start.has_hole())
            }
        };
        if names {
            self.raise(Concern::Evaluates, span);
        }
    }

    /// A variable that is given a value without being written so: those that programs obey are
    /// asked about.
    fn set_from_input(&mut self, name: &str, arg: &Arg<'_>) {
        if self.is_obeyed(name) {
            self.raise(Concern::Environment, arg.span);
        }
    }

    /// `export`, `declare` and their kin.
    fn declared(&mut self, builtin: &str, args: &[Arg<'_>]) {
        let has = |flag: char| args.iter().any(|arg| is_flag(&arg.text, flag));
        // `-n`: the variable is another one under a new name.
        let renames = args.iter().find(|arg| is_flag(&arg.text, 'n') && builtin != "export");
        if let Some(arg) = renames {
            self.raise(Concern::Evaluates, arg.span);
        }
        let operands = args.iter().filter(|arg| !arg.text.starts_with(['-', '+']));
        if has('f') || has('F') {
            return operands.for_each(|arg| self.hand_out(&arg.text));
        }
        let in_function = !self.frames.is_empty();
        // Where there is no such builtin, or no function, nothing is set.
        let fails = builtin == "local" && !in_function
            || matches!(builtin, "declare" | "typeset") && self.speech == Speech::Posix;
        let own = in_function && !has('g') && !matches!(builtin, "export" | "readonly");
        let odd = ['i', 'l', 'u', 'c', 'a', 'A', 'n'].into_iter().any(has) && builtin != "export";
        let shape = if has('a') || has('A') { Shape::Array } else { Shape::Untold };
        let takes_back = |arg: &Arg<'_>| arg.text.starts_with('+') && arg.text.contains('x');
        let kept = args.iter().any(takes_back) || builtin == "export" && has('n');
        for arg in operands {
            let (name, value) = match arg.text.find('=') {
                Some(at) => {
                    let value = arg.tail(at + 1).map_or_else(Value::unknown, |tail| (&tail).into());
                    (arg.text.get(..at).unwrap_or_default(), Some(value))
                }
                None => (&*arg.text, None),
            };
            if name.has_hole() {
                self.forget_all();
                continue;
            }
            let plain = name == base(name) && !fails;
            let name = base(name);
            let scope = Rc::make_mut(&mut self.scope);
            if own {
                scope.localize(name);
            }
            if odd {
                scope.set_apart(name);
            }
            match value {
                Some(value) => {
                    self.compound(name, shape, arg, args);
                    if has('l') {
                        let text = value.text.to_lowercase();
                        self.names_secret(&Value { text, ..value.clone() }, arg.span);
                    }
                    self.variable(name, &value, arg.span);
                    let value = if plain { value } else { Value::unknown() };
                    Rc::make_mut(&mut self.scope).assign(name.into(), value);
                }
                None if own || odd || fails => scope.forget(name),
                None => {
                    let value = scope.variable(name).cloned();
                    if let Some(value) = value.filter(|_| !kept) {
                        self.variable(name, &value, arg.span);
                    }
                }
            }
            let scope = Rc::make_mut(&mut self.scope);
            if kept || fails {
                scope.keep(name);
            } else if builtin == "export" || has('x') {
                scope.export(name);
            }
            if builtin == "readonly" || has('r') {
                scope.set_apart(name);
            }
            self.retrap(Some(name));
        }
    }

    /// `read` and `mapfile`: variables become what comes in.
    fn taken_in(&mut self, builtin: &str, args: &[Arg<'_>], input: &Input) {
        // The lines of `find . |` are names below the folder, and nothing else.
        let value = match input {
            Input::Text(value, ..) if value.certainty == Certainty::Pattern => value.clone(),
            Input::Text(value, at) => {
                self.hidden_subscript(&value.text, at.span);
                self.defaults.read(args, value);
                for word in value.text.split([' ', '\t', '\n', ':', ',']) {
                    let certainty = value.certainty;
                    self.names_secret(&Value { text: word.to_owned(), certainty }, at.span);
                }
                // Several variables take a word each, and are put together again.
                let text = value.text.trim_end().replace([' ', '\t', '\n', ':', ','], "/");
                self.names_secret(&Value { text, certainty: value.certainty }, at.span);
                Value::unknown()
            }
            Input::File(..) | Input::Inherited | Input::Pipe => Value::unknown(),
        };
        let piped = matches!(input, Input::Pipe);
        let from_file =
            matches!(input, Input::File(..)) || piped && self.spilled == Contents::OfFile;
        let carriage = from_file.then_some(Carriage::Kept);
        let origin = if piped { self.poured.of(&value) } else { Origin::Here };
        let takes_value = if builtin == "read" { "diNnptu" } else { "dnOsucC" };
        let mut named = false;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg.text.starts_with('-') && arg.text.len() > 1 {
                // `mapfile -C eval`: a command for every line, with the line.
                if builtin != "read" && is_flag(&arg.text, 'C') {
                    self.raise(Concern::Evaluates, arg.span);
                }
                if arg.text.ends_with(|flag| takes_value.contains(flag)) {
                    args.next();
                }
                continue;
            }
            named = true;
            self.named_at_run_time(arg);
            self.set_from_input(base(&arg.text), arg);
            self.overwrite(base(&arg.text), &value, arg);
            Rc::make_mut(&mut self.scope).note_origin(base(&arg.text), origin);
            self.note_kept(base(&arg.text), carriage);
        }
        if !named {
            let name = if builtin == "read" { "REPLY" } else { "MAPFILE" };
            let scope = Rc::make_mut(&mut self.scope);
            scope.forget(name);
            scope.note_origin(name, origin);
            self.note_kept(name, carriage);
        }
    }

    fn set(&mut self, args: &[Arg<'_>]) {
        let mut words = args.iter();
        let mut after = None;
        while let Some(arg) = words.next() {
            match &*arg.text {
                "--" | "-" => {
                    after = Some(words.as_slice());
                    break;
                }
                // `-eo pipefail`
                text if is_flag(text, 'o') && !is_flag(text, 'k') => {
                    let Some(option) = words.next() else { break };
                    self.habit(option);
                }
                "+o" => {
                    let option = words.next().filter(|option| option.text == "history");
                    if let Some(span) = option.map(|option| option.span) {
                        self.raise(Concern::Obfuscates, span);
                    }
                }
                text if is_flag(text, 'k') => self.raise(Concern::Obfuscates, arg.span),
                text if text.starts_with(['-', '+']) => {}
                _ => {
                    let at = args.len() - words.as_slice().len();
                    after = args.get(at.saturating_sub(1)..);
                    break;
                }
            }
        }
        if let Some(after) = after {
            let settled = after.iter().all(|arg| arg.certainty != Certainty::Many);
            let parameters = settled.then(|| after.iter().map(Value::from).collect());
            Rc::make_mut(&mut self.scope).set_parameters(parameters);
            self.keep_parameters();
            self.retrap(None);
        }
    }

    fn shopt(&mut self, args: &[Arg<'_>]) {
        if !args.iter().any(|arg| is_flag(&arg.text, 's')) {
            return;
        }
        for arg in args {
            self.habit(arg);
        }
    }

    /// A habit that is turned on by its name.
    pub(super) fn habit(&mut self, name: &Arg<'_>) {
        match &*name.text {
            "dotglob" => self.habits.dots = true,
            "xpg_echo" => self.habits.echo = true,
            "lastpipe" => self.habits.last_pipe = true,
            "posix" => self.habits.manner = Manner::Standard,
            "cdable_vars" | "autocd" | "keyword" => self.raise(Concern::Obfuscates, name.span),
            text if text.has_hole() => self.raise(Concern::Obfuscates, name.span),
            _ => {}
        }
    }
}

/// The variable that a word with a subscript or an operator names.
fn base(word: &str) -> &str {
    word.split(['=', '[', '+', '-']).next().unwrap_or_default()
}

impl From<&Arg<'_>> for Value {
    fn from(arg: &Arg<'_>) -> Self {
        let certainty = arg.certainty.min(Certainty::Partial);
        Self { text: arg.text.clone().into_owned(), certainty }
    }
}

/// Builtins that take the names of variables, and evaluate what stands between their brackets.
pub(super) fn names_variables(name: &str) -> bool {
    Builtin::of(name).is_some_and(Builtin::names_variables)
}

/// A builtin that changes what is known, or whose words are looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Builtin {
    Alias,
    /// `export` and its like.
    Declares,
    Enable,
    Exec,
    Exit,
    Getopts,
    Let,
    /// `:`
    Nothing,
    Printf,
    /// `read`, `mapfile`
    Reads,
    Return,
    /// `echo`, and programs that print as it does.
    Says,
    Set,
    Shift,
    Shopt,
    /// `source` and `.`
    Source,
    /// `test` and `[`
    Test,
    Unset,
    Wait,
}

impl Builtin {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "." | "source" => Self::Source,
            ":" => Self::Nothing,
            "[" | "test" => Self::Test,
            "alias" => Self::Alias,
            "declare" | "export" | "local" | "readonly" | "typeset" => Self::Declares,
            "echo" | "expr" | "seq" => Self::Says,
            "enable" => Self::Enable,
            "exec" => Self::Exec,
            "exit" => Self::Exit,
            "getopts" => Self::Getopts,
            "let" => Self::Let,
            "mapfile" | "read" | "readarray" => Self::Reads,
            "printf" => Self::Printf,
            "return" => Self::Return,
            "set" => Self::Set,
            "shift" => Self::Shift,
            "shopt" => Self::Shopt,
            "unset" => Self::Unset,
            "wait" => Self::Wait,
            _ => return None,
        })
    }

    fn names_variables(self) -> bool {
        match self {
            Self::Declares
            | Self::Getopts
            | Self::Let
            | Self::Printf
            | Self::Reads
            | Self::Test
            | Self::Unset
            | Self::Wait => true,
            Self::Alias
            | Self::Enable
            | Self::Exec
            | Self::Exit
            | Self::Nothing
            | Self::Return
            | Self::Says
            | Self::Set
            | Self::Shift
            | Self::Shopt
            | Self::Source => false,
        }
    }
}
