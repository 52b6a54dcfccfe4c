//! Tool calls: what was found in their arguments.

use palisade::Guard;
use palisade::policy::interception::{Call, Finding, Outcome, ToolVerdict};
use palisade::policy::text::visible;
use serde_json::{Value as Json, json};

use super::{carets, exit};
use crate::asking::{Asking, GivenTool};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

pub(super) fn run(
    asking: &Asking,
    tool: &GivenTool<'_>,
    format: Format,
    ui: &Ui,
) -> Result<Exit, Failure> {
    let (session, cwd) = asking.open()?;
    let call = Call { tool: tool.name, arguments: &tool.arguments, cwd: &cwd };
    let verdict = Guard::new(session).tool_call_at(tool.door, &call);
    match format {
        Format::Human => {
            crate::command::warn(ui, session);
            ui.data(&format!("{}\n{}", verdict.answer, human(&verdict)))?;
        }
        Format::Json => {
            let mut told = told(&verdict);
            told["warnings"] = crate::command::warnings(session);
            ui.json(&told)?;
        }
    }
    Ok(exit(verdict.answer))
}

/// Tells a person.
fn human(verdict: &ToolVerdict) -> String {
    let mut out = String::new();
    if let Some(note) = note(verdict) {
        out.push_str(&format!("note: {note}\n"));
    }
    for finding in &verdict.findings {
        out.push_str(&one(finding));
    }
    for finding in &verdict.passed {
        let Finding { reason, .. } = finding;
        let message = visible(&reason.message);
        out.push_str(&format!("\npassed: {message} [{}, {}]\n", reason.code, reason.axis));
        out.push_str(&parameter(finding));
        out.push_str("  hint: `tools.strict` refuses such calls\n");
    }
    out
}

/// Returns what a person should know of a call that was not judged, or not in full.
pub(in crate::command) fn note(verdict: &ToolVerdict) -> Option<&'static str> {
    let mut told = verdict.findings.iter().chain(&verdict.passed);
    let is_unknown = told.any(|finding| finding.reason.code == "tool-unknown");
    match verdict.outcome {
        Outcome::Disabled => Some("the proxy judges no call: `tools.enabled` is false"),
        Outcome::Excluded => Some("the policy leaves this tool alone: `tools.exclude`"),
        Outcome::NotIntercepted if is_unknown => Some("the arguments were not judged"),
        Outcome::NotIntercepted => {
            Some("this tool is not known to change anything: only what it may not see is judged")
        }
        Outcome::NothingFound => Some("nothing to judge was found in the arguments"),
        Outcome::Judged => None,
    }
}

fn one(finding: &Finding) -> String {
    if finding.text.is_empty() {
        let message = visible(&finding.reason.message);
        let hint = finding.reason.hint.as_ref();
        let hint = hint.map(|hint| format!("  hint: {}\n", visible(hint))).unwrap_or_default();
        let (answer, code, axis) =
            (finding.reason.answer, finding.reason.code, finding.reason.axis);
        return format!("\n{answer}: {message} [{code}, {axis}]\n{}{hint}", parameter(finding));
    }
    format!("{}{}", carets(&finding.reason, &finding.text), parameter(finding))
}

fn parameter(finding: &Finding) -> String {
    if finding.pointer.is_empty() {
        return String::new();
    }
    format!("  in the parameter {}\n", visible(&finding.pointer))
}

/// Tells a program.
pub(in crate::command) fn told(verdict: &ToolVerdict) -> Json {
    let list = |findings: &[Finding]| findings.iter().map(Finding::to_json).collect::<Vec<_>>();
    json!({
        "verdict": verdict.answer.word(),
        "outcome": verdict.outcome.word(),
        "findings": list(&verdict.findings),
        "passed": list(&verdict.passed),
        "violation": verdict.violation().map(|violation| violation.to_json()),
        "executed": false,
    })
}
