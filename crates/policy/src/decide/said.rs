//! What commands print one after the other.

use super::format::shown;
use super::scope::Value;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, HOLE, Holed as _};
use crate::shell::{Command, CommandKind, MAX_TEXT, Pipeline};
use crate::text::Span;

/// How what was printed last ends, and whether all of it is there.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Line {
    /// With the end of a line, which is left out.
    #[default]
    Ended,
    /// In the middle of a line: `echo -n`, `printf`.
    Open,
    /// Some of it only running tells, and may come from anywhere.
    Torn,
}

/// Whether a command runs, where those before it did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Runs {
    Surely,
    /// Or it does not, or nobody knows when.
    Perhaps,
}

/// What several commands print, one after the other.
#[derive(Debug, Default)]
pub(super) struct Said {
    text: String,
    /// What it is if every command runs and those that nobody knows print nothing.
    guess: String,
    line: Line,
    /// Whether a part of it is not known, and whether one is.
    torn: bool,
    known: bool,
    begun: bool,
}

impl Said {
    /// Adds what the next command prints.
    fn add(&mut self, printed: Option<Value>, line: Line, runs: Runs) {
        let printed = printed.filter(|value| value.certainty != Certainty::Pattern);
        if line == Line::Open && printed.as_ref().is_some_and(|value| value.text.is_empty()) {
            return;
        }
        if self.begun && self.line == Line::Ended {
            self.text.push('\n');
            self.guess.push('\n');
        }
        self.begun = true;
        self.torn |= line == Line::Torn;
        self.line = Line::Open;
        let printed = printed.filter(|value| self.guess.len() + value.text.len() <= MAX_TEXT);
        let text = printed.as_ref().map_or("", |value| &value.text);
        self.guess.push_str(text);
        if printed.is_some() && runs == Runs::Surely {
            self.known = true;
            self.line = line;
            self.text.push_str(text);
        } else {
            self.torn = true;
            self.text.push(HOLE);
        }
    }
}

impl Walk<'_> {
    /// Listens to several commands, if anybody asks what they print.
    pub(super) fn hearing(&self, several: bool) -> Option<Box<Said>> {
        (several && self.listened).then(Box::default)
    }

    /// Hears what the last command printed.
    pub(super) fn hear(&mut self, said: &mut Option<Box<Said>>, runs: Runs) {
        if let Some(said) = said {
            said.add(self.output.take(), self.line, runs);
        }
    }

    /// Makes all that was heard what is printed here. What it is if nothing fails is looked at too:
    /// the name of something hidden is there to be read.
    pub(super) fn say(&mut self, said: Option<Box<Said>>, span: Span) {
        let Some(said) = said else { return };
        // Lines are put together again where each becomes a variable.
        if said.guess.contains('\n') {
            self.names_secret(&Value::known(said.guess.replace('\n', "/")), span);
        }
        self.names_secret(&Value::known(said.guess), span);
        let certainty = if said.text.has_hole() { Certainty::Partial } else { Certainty::Known };
        self.line = if said.torn { Line::Torn } else { said.line };
        self.output = said.known.then_some(Value { text: said.text, certainty });
    }

    /// Says nothing, for sure.
    pub(super) fn say_nothing(&mut self) {
        if self.listened {
            self.line = Line::Open;
            self.output = Some(Value::known(""));
        }
    }

    /// Makes what a command prints what is printed here, unless it is what another one did that it
    /// ran: the body of a function, a command behind `env`.
    pub(super) fn speak(&mut self, program: &Arg<'_>, name: &str, args: &[Arg<'_>], input: &Input) {
        let follows = !program.text.contains('/') && self.functions_named(name);
        if self.output.is_none() && !follows {
            self.line = line_of(name, args);
            self.output = self.printed(program, name, args, input);
            // What escapes became is there to be read, whoever takes it.
            let uncovered = self.output.as_ref().filter(|value| value.text.ends_with(HOLE));
            if let Some(value) = uncovered.map(shown) {
                self.names_secret(&value, program.span);
            }
        }
    }

    /// Whether a pipeline is one command that never fails.
    pub(super) fn always_succeeds(&self, text: &str, pipeline: &Pipeline<'_>) -> bool {
        let [stage] = &*pipeline.stages else { return false };
        let CommandKind::Simple(simple) = &stage.kind else { return false };
        let name = simple.words.first().and_then(|word| word.settled());
        let denied = text.get(..stage.span.start()).is_some_and(|it| it.trim_end().ends_with('!'));
        let succeeds = |name| matches!(name, ":" | "echo" | "printf" | "true");
        !denied
            && stage.redirections.is_empty()
            && name.is_some_and(|name| succeeds(name) && !self.functions_named(name))
    }
}

/// Whether what is known of a command's output is all of it.
pub(super) fn speaks(command: &Command<'_>) -> bool {
    match &command.kind {
        CommandKind::Group(_) | CommandKind::Subshell(_) | CommandKind::For { .. } => {
            command.redirections.is_empty()
        }
        CommandKind::Simple(_)
        | CommandKind::If { .. }
        | CommandKind::While { .. }
        | CommandKind::ForArithmetic { .. }
        | CommandKind::Case { .. }
        | CommandKind::Test(_)
        | CommandKind::Arithmetic(_)
        | CommandKind::Function { .. }
        | CommandKind::Coprocess { .. } => false,
    }
}

/// Whether a command prints what the one command prints that it runs, and nothing else.
pub(super) fn speaks_for(name: &str, acts: &[Act<'_>]) -> bool {
    let runs = || acts.iter().filter(|act| matches!(act, Act::Run(_))).count();
    let launches = matches!(
        name,
        "bash"
            | "builtin"
            | "command"
            | "dash"
            | "env"
            | "eval"
            | "exec"
            | "nice"
            | "nohup"
            | "sh"
            | "stdbuf"
            | "timeout"
            | "zsh"
    );
    launches && runs() == 1
}

/// Returns how what a command prints ends.
fn line_of(name: &str, args: &[Arg<'_>]) -> Line {
    match name {
        "echo" => {
            let is_option = |text: &str| {
                let flags = text.strip_prefix('-').filter(|flags| !flags.is_empty());
                flags.is_some_and(|flags| !flags.contains(|c| !"neE".contains(c)))
            };
            let mut options = args.iter().take_while(|arg| is_option(&arg.text));
            if options.any(|arg| arg.text.contains('n')) { Line::Open } else { Line::Ended }
        }
        "printf" => {
            let ends = |arg: &Arg<'_>| arg.text.ends_with(['\n']) || arg.text.ends_with("\\n");
            let format = args.first();
            // Behind the last word there is no more of the format.
            let open = format.is_some_and(|format| format.text.ends_with(['s', 'b']));
            let last = if open { args.last() } else { format };
            if last.is_some_and(ends) { Line::Ended } else { Line::Open }
        }
        ":" | "cd" | "export" | "false" | "local" | "test" | "true" | "unset" | "[" => Line::Open,
        _ => Line::Ended,
    }
}
