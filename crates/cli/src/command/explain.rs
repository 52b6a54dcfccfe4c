//! `palisade explain`: the same decision as `check`, told step by step. Runs nothing.

use palisade::Guard;
use palisade::policy::decide::{Step, Verdict};
use palisade::policy::text::visible;
use serde_json::{Value as Json, json};

use super::check;
use crate::args::Output;
use crate::asking::Asking;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Tell step by step how a command is decided
///
/// Runs nothing. Lists every program that the command would start, in order, with what was found
/// about each, and the verdict at the end: the same as `palisade check` gives.
///
/// Exit codes: as `palisade check`.
///
/// Example: palisade explain --shell 'cd src && python3 build.py | tee ../log.txt'
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    asking: Asking,

    #[command(flatten)]
    output: Output,
}

impl ExplainArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        if !self.asking.is_given() {
            return Ok(super::nothing_asked(ui));
        }
        let (session, cwd) = self.asking.open()?;
        let guard = Guard::new(session);
        let command = self.asking.command();
        let (verdict, steps) = command.asked(|asked| guard.explain(asked, &cwd));
        match self.format() {
            Format::Human => {
                super::warn(ui, session);
                ui.data(&human(&verdict, &steps, &command.text()))?;
            }
            Format::Json => ui.json(&programs(&verdict, &steps, &command.text()))?,
        }
        Ok(check::exit(verdict.answer()))
    }
}

fn human(verdict: &Verdict, steps: &[Step], text: &str) -> String {
    let mut out = String::new();
    for (at, step) in steps.iter().enumerate() {
        out.push_str(&format!("{}. {}  {}\n", at + 1, step.answer(), visible(&step.command)));
        for reason in &step.reasons {
            let told = check::carets(reason, text);
            for line in told.trim().lines() {
                out.push_str(&format!("     {line}\n"));
            }
        }
    }
    out.push_str(&format!("verdict: {}\n", verdict.answer()));
    out
}

fn programs(verdict: &Verdict, steps: &[Step], text: &str) -> Json {
    let steps: Vec<Json> = steps
        .iter()
        .map(|step| {
            let reasons: Vec<Json> =
                step.reasons.iter().map(|reason| check::one(reason, text)).collect();
            json!({
                "command": step.command,
                "answer": step.answer().word(),
                "span": { "start": step.span.start(), "end": step.span.end() },
                "reasons": reasons,
            })
        })
        .collect();
    let mut told = check::json(verdict, text);
    told["steps"] = Json::Array(steps);
    told
}
