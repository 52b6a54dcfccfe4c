//! `palisade explain`: the same decision as `check`, told step by step. Runs nothing.

use palisade::Guard;
use palisade::policy::decide::{Step, Verdict};
use palisade::policy::interception::{Call, Seen, ToolVerdict};
use palisade::policy::text::visible;
use serde_json::{Value as Json, json};

use super::check;
use crate::args::Output;
use crate::asking::{Asking, GivenTool};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui, cut};

/// How much of a line is shown.
const WIDE: usize = 160;

/// Tell step by step how a command or a tool call is decided
///
/// Runs nothing. Lists every program that the command would start, in order, with what was found
/// about each, and the verdict at the end: the same as `palisade check` gives. Of a tool call it
/// lists every path, patch and command in the arguments.
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
        if let Some(tool) = self.asking.tool()? {
            return self.run_tool(&tool, ui);
        }
        if !self.asking.is_given() {
            return Ok(super::nothing_asked(ui));
        }
        let (session, cwd) = self.asking.open()?;
        let guard = Guard::new(session);
        let command = self.asking.command()?;
        let (verdict, steps) = command.asked(|asked| guard.explain(asked, &cwd));
        match self.format() {
            Format::Human => {
                super::warn(ui, session);
                ui.data(&human(&verdict, &steps, &command.text()))?;
                super::doubt(ui, &command);
            }
            Format::Json => {
                let mut told = programs(&verdict, &steps, &command.text());
                told["warnings"] = super::warnings_with(session, &command);
                ui.json(&told)?;
            }
        }
        Ok(check::exit(verdict.answer()))
    }

    fn run_tool(&self, tool: &GivenTool<'_>, ui: &Ui) -> Result<Exit, Failure> {
        let (session, cwd) = self.asking.open()?;
        let call = Call { tool: tool.name, arguments: &tool.arguments, cwd: &cwd };
        let (verdict, seen) = Guard::new(session).explain_tool_call(tool.door, &call);
        match self.format() {
            Format::Human => {
                super::warn(ui, session);
                ui.data(&human_tool(&verdict, &seen))?;
            }
            Format::Json => {
                let mut told = check::told_tool(&verdict);
                let seen = seen.iter().map(|seen| {
                    json!({
                        "what": seen.what.word(),
                        "pointer": seen.pointer,
                        "text": seen.text,
                        "answer": seen.answer.word(),
                    })
                });
                told["steps"] = seen.collect();
                told["warnings"] = super::warnings(session);
                ui.json(&told)?;
            }
        }
        Ok(check::exit(verdict.answer))
    }
}

/// Lists every path, patch and command that was found, and what was found about the call.
fn human_tool(verdict: &ToolVerdict, seen: &[Seen]) -> String {
    let mut out = String::new();
    for (at, seen) in seen.iter().enumerate() {
        let Seen { what, pointer, text, answer } = seen;
        let line = text.lines().next().unwrap_or_default();
        let (what, pointer, line) = (what.word(), visible(pointer), cut(&visible(line), WIDE));
        out.push_str(&format!("{}. {answer}  {what} in {pointer}: {line}\n", at + 1));
    }
    let told = verdict.findings.iter().map(|finding| (finding.reason.answer.word(), finding));
    let passed = verdict.passed.iter().map(|finding| ("passed", finding));
    for (word, finding) in told.chain(passed) {
        let message = visible(&finding.reason.message);
        out.push_str(&format!("   {word}: {message} [{}]\n", finding.reason.code));
    }
    let outcome = check::note(verdict).unwrap_or("the arguments were judged");
    out.push_str(&format!("outcome: {outcome} [{}]\n", verdict.outcome));
    out.push_str(&format!("verdict: {}\n", verdict.answer));
    out
}

fn human(verdict: &Verdict, steps: &[Step], text: &str) -> String {
    let (mut out, mut said) = (String::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        let shown = cut(&visible(&step.command), WIDE);
        out.push_str(&format!("{}. {}  {shown}\n", at + 1, step.answer()));
        for reason in &step.reasons {
            let told = check::carets(reason, text);
            // What a command does is often done by one that it starts, and found there as well.
            if said.contains(&told) {
                continue;
            }
            for line in told.trim().lines() {
                out.push_str(&format!("     {line}\n"));
            }
            said.push(told);
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
