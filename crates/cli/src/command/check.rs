//! `palisade check`: may this call happen? Runs nothing.

mod jsonl;
mod kind;
mod report;
mod request;
mod tool;

use std::mem::ManuallyDrop;

use palisade::Guard;
use palisade::policy::decide::Answer;

use crate::args::Output;
use crate::asking::Asking;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

pub(super) use report::{carets, json, one};
pub(super) use tool::{note, told as told_tool};

/// Decide whether a command or a tool call may run, and say why not
///
/// Runs nothing. The command is read as the shell would read it; every program in it, every file
/// it names and everything it runs in turn is held against the policy, and the strictest finding
/// is the verdict. Of a tool call every path, patch and command in its arguments is.
///
/// Exit codes: 0 allow, 3 ask, 126 deny, 2 wrong usage, 125 nothing was decided: a policy file, the
/// project or the folder cannot be used.
///
/// Example: palisade check --shell 'git status && rm -rf /'
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) asking: Asking,

    /// Read requests from standard input, one JSON object a line, and answer each with one
    ///
    /// A request is {"id","kind":"command","cmd" or "argv","shell","root","cwd"}, {"id","kind":
    /// "path","path","root"}, {"id","kind":"patch","patch","root"}, {"id","kind":"url","url" or
    /// "host","allow"}, {"id","kind":"policy","policy","cmd"} or {"id","kind":"toolcall","name",
    /// "arguments","root"}; an answer {"id","verdict","code","message"}. Without "shell", or where
    /// it is true, "cmd" is shell text; where it is false, "cmd" is split into words. The root need
    /// not exist, and without "cwd" the command runs there. Keys that mean nothing here are told as
    /// "ignored".
    #[arg(long, conflicts_with_all = ["shell", "argv", "tool", "json"])]
    pub(crate) jsonl: bool,

    /// With --jsonl, decide as if the first program were not known by name
    #[arg(long, hide = true, requires = "jsonl")]
    pub(crate) without_tools: bool,

    #[command(flatten)]
    pub(crate) output: Output,
}

impl CheckArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        if self.jsonl {
            return jsonl::run(&self.asking, self.without_tools);
        }
        if let Some(tool) = self.asking.tool()? {
            return tool::run(&self.asking, &tool, self.format(), ui);
        }
        if !self.asking.is_given() {
            return Ok(super::nothing_asked(ui));
        }
        let (session, cwd) = self.asking.open()?;
        let guard = ManuallyDrop::new(Guard::new(session));
        let command = self.asking.command()?;
        let verdict = command.asked(|asked| guard.decide(asked, &cwd));
        match self.format() {
            Format::Human => {
                super::warn(ui, session);
                ui.data(&report::human(&verdict, &command.text()))?;
                super::doubt(ui, &command);
            }
            Format::Json => {
                let mut told = json(&verdict, &command.text());
                told["warnings"] = super::warnings_with(session, &command);
                ui.json(&told)?;
            }
        }
        Ok(exit(verdict.answer()))
    }
}

/// The number that a verdict ends with.
pub(super) fn exit(answer: Answer) -> Exit {
    match answer {
        Answer::Allow => Exit::Success,
        Answer::Ask => Exit::Undecided,
        Answer::Deny => Exit::Denied,
    }
}
