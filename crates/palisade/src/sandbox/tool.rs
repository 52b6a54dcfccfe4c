//! Tool calls of models: judged, recorded, told.

use std::time::{Duration, Instant, SystemTime};

use palisade_audit::{Answered, Because, Event, Judged, What};
use palisade_policy::decide::{Answer, Axis};
use palisade_policy::interception::{Finding, ToolVerdict};

use super::telemetry::{Telemetry, Watch};
use super::{Inner, Sandbox};
use crate::session::{Request, Session};

impl Sandbox {
    /// Judges a tool call as [`Guard::tool_call`](crate::Guard::tool_call) does, in the folder that the
    /// session was opened in, and remembers it: an event `tool-call`, and a span. `call_id` is the
    /// call's own name, as the model or the client has it; `arguments` is JSON.
    pub fn judge_tool(&self, tool: &str, call_id: Option<&str>, arguments: &str) -> ToolVerdict {
        let cwd = self.0.cwd.to_string_lossy();
        self.judge_tool_in(tool, call_id, arguments, &cwd)
    }

    /// Judges a tool call as [`Sandbox::judge_tool`] does, in a folder.
    pub fn judge_tool_in(
        &self,
        tool: &str,
        call_id: Option<&str>,
        arguments: &str,
        cwd: &str,
    ) -> ToolVerdict {
        let Inner { guard, recorder, session, telemetry, .. } = &*self.0;
        let watch = Watch::of_tool(tool, call_id);
        let verdict = guard.tool_call(tool, arguments, cwd);
        let first = verdict.findings.first().map(|first| &first.reason);
        let first = first.map(|first| (first.code, first.message.as_str()));
        telemetry.tool_call(&watch, first.filter(|_| verdict.answer != Answer::Allow));
        if recorder.records() {
            let judged = judged(tool, call_id, &verdict, session.agent());
            recorder.append(&[event(judged)]);
        }
        verdict
    }

    /// Remembers a tool call that the caller judged itself, with what was found.
    pub fn record_tool(
        &self,
        tool: &str,
        call_id: Option<&str>,
        answer: Answer,
        findings: &[Finding],
    ) {
        let Inner { recorder, session, telemetry, .. } = &*self.0;
        let first = findings.first().map(|first| (first.reason.code, &*first.reason.message));
        let first = first.filter(|_| answer != Answer::Allow);
        telemetry.tool_call(&Watch::of_tool(tool, call_id), first);
        if recorder.records() {
            let reasons = because(findings);
            let (verdict, agent) = (answer.word(), session.agent());
            recorder.append(&[event(Judged { tool, call_id, verdict, reasons, agent })]);
        }
    }

    /// Remembers a tool call that the caller refused itself, for a reason that no policy knows.
    pub fn refuse_tool(&self, tool: &str, call_id: Option<&str>, code: &str, message: &str) {
        let Inner { recorder, session, telemetry, .. } = &*self.0;
        telemetry.tool_call(&Watch::of_tool(tool, call_id), Some((code, message)));
        if recorder.records() {
            let (verdict, axis) = (Answer::Deny.word(), Axis::Name.word());
            let reasons = vec![Because { answer: verdict, code, axis, message }];
            let agent = session.agent();
            recorder.append(&[event(Judged { tool, call_id, verdict, reasons, agent })]);
        }
    }

    /// Remembers what a person said of a tool call, whom the caller asked itself. `call` is a hash of
    /// what was shown, `by` who asked.
    pub fn answered_tool(&self, answer: Answered, by: &str, call: &str) {
        let what = What::Confirmation { answer, by, call };
        self.0.recorder.append(&[Event { at: SystemTime::now(), run: "", what }]);
    }

    /// Waits until spans were sent, for a moment at most: for whoever ends after this.
    pub fn flush(&self) {
        self.0.telemetry.flush();
    }

    /// Returns what went wrong with recording, the first time it is asked for.
    pub fn not_recorded(&self) -> Option<String> {
        self.0.recorder.trouble().map(|note| note.message)
    }
}

/// How long a hook waits for a collector: an agent waits for the hook, before each of its tools.
const MOMENT: Duration = Duration::from_millis(250);

/// Tells of a tool call that was judged where nothing else is done in this process. Returns what went
/// wrong. Nothing is done where the policy names no collector.
pub(crate) fn tell_hook(
    session: &Session,
    request: &Request,
    began: (SystemTime, Instant),
    (tool, call_id): (&str, Option<&str>),
    verdict: &ToolVerdict,
) -> Option<String> {
    let telemetry = Telemetry::new(&session.policy().audit, super::traceparent(request));
    let (at, clock) = began;
    let watch = Watch { at, clock, ..Watch::of_tool(tool, call_id) };
    let first = verdict.findings.first().map(|first| &first.reason);
    let first = first.map(|first| (first.code, first.message.as_str()));
    telemetry.tool_call(&watch, first.filter(|_| verdict.answer != Answer::Allow));
    telemetry.flush_within(MOMENT);
    telemetry.trouble().map(|note| note.message)
}

/// Tells of a tool call that was judged.
pub(crate) fn judged<'a>(
    tool: &'a str,
    call_id: Option<&'a str>,
    verdict: &'a ToolVerdict,
    agent: Option<&'a str>,
) -> Judged<'a> {
    let reasons = because(&verdict.findings);
    Judged { tool, call_id, verdict: verdict.answer.word(), reasons, agent }
}

fn because(findings: &[Finding]) -> Vec<Because<'_>> {
    let told = findings.iter().map(|finding| Because {
        answer: finding.reason.answer.word(),
        code: finding.reason.code,
        axis: finding.reason.axis.word(),
        message: &finding.reason.message,
    });
    told.collect()
}

fn event(judged: Judged<'_>) -> Event<'_> {
    Event { at: SystemTime::now(), run: "", what: What::Tool(judged) }
}

impl Watch {
    fn of_tool(tool: &str, call_id: Option<&str>) -> Self {
        Self {
            at: SystemTime::now(),
            clock: Instant::now(),
            started: Duration::ZERO,
            tool: Some(tool.to_owned()),
            call_id: call_id.map(str::to_owned),
        }
    }
}
