//! How a verdict is told.

use palisade::policy::decide::{Answer, Axis, Reason, Verdict};
use palisade::policy::text::visible;
use serde_json::{Value as Json, json};

use crate::ui::cut;

/// Tells a person.
pub(super) fn human(verdict: &Verdict, text: &str) -> String {
    let mut out = format!("{}\n", verdict.answer());
    for reason in verdict.reasons() {
        out.push_str(&carets(reason, text));
    }
    out
}

/// Tells one reason: what, where in the text, by whose word, and what to do instead.
pub(in crate::command) fn carets(reason: &Reason, text: &str) -> String {
    let mut out = format!(
        "\n{}: {} [{}, {}]\n",
        reason.answer,
        cut(&visible(&reason.message), MESSAGE),
        reason.code,
        reason.axis
    );
    let start = reason.span.start().min(text.len());
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = reason.span.end().clamp(start, line_end);
    let end = (end..=line_end).find(|at| text.is_char_boundary(*at)).unwrap_or(line_end);
    let before = last(&visible(&text[line_start..start]), BESIDE);
    let marked = cut(&visible(&text[start..end]), MARKED);
    let after = cut(&visible(&text[end..line_end]), BESIDE);
    let width = marked.chars().count().max(1);
    out.push_str(&format!("  {before}{marked}{after}\n"));
    let indent = before.chars().count();
    out.push_str(&format!("  {}{}\n", " ".repeat(indent), "^".repeat(width)));
    if let Some(origin) = &reason.origin {
        out.push_str(&format!("  said by {origin}\n"));
    }
    if let Some(hint) = &reason.hint {
        out.push_str(&format!("  hint: {}\n", visible(hint)));
    }
    out
}

/// How much is shown of a message, of the marked part of a line, and of what stands beside it.
const MESSAGE: usize = 400;
const MARKED: usize = 120;
const BESIDE: usize = 80;

/// Returns the end of a long line, and says that there is more.
fn last(line: &str, most: usize) -> String {
    let length = line.chars().count();
    match length.checked_sub(most + 1) {
        None => line.to_owned(),
        Some(more) => format!("…{}", line.chars().skip(more + 1).collect::<String>()),
    }
}

/// Tells a program.
pub(in crate::command) fn json(verdict: &Verdict, text: &str) -> Json {
    let axes: Vec<&str> = verdict.axes().into_iter().map(Axis::word).collect();
    let reasons: Vec<Json> = verdict.reasons().iter().map(|reason| one(reason, text)).collect();
    json!({
        "verdict": verdict.answer().word(),
        "denied": if verdict.answer() == Answer::Deny { axes.clone() } else { Vec::new() },
        "axes": axes,
        "source": verdict.source().word(),
        "reason": reasons.first(),
        "reasons": reasons,
        "text": text,
        "executed": false,
    })
}

/// Tells a program one reason.
pub(in crate::command) fn one(reason: &Reason, text: &str) -> Json {
    let (start, end) = (reason.span.start().min(text.len()), reason.span.end().min(text.len()));
    let before = text.get(..start).unwrap_or_default();
    json!({
        "answer": reason.answer.word(),
        "code": reason.code,
        "axis": reason.axis.word(),
        "source": reason.source().word(),
        "message": reason.message,
        "span": { "start": start, "end": end },
        "line": before.matches('\n').count() + 1,
        "column": before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
        "excerpt": text.get(start..end),
        "origin": reason.origin.as_ref().map(ToString::to_string),
        "hint": reason.hint,
    })
}
