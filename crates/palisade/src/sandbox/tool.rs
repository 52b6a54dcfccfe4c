//! Tool calls of models: judged, recorded, told.

use std::time::{Duration, Instant, SystemTime};

use palisade_audit::{Because, Event, Judged, What};
use palisade_policy::decide::Answer;
use palisade_policy::interception::ToolVerdict;

use super::telemetry::Watch;
use super::{Inner, Sandbox};

impl Sandbox {
    /// Judges a tool call as [`Guard::tool_call`](crate::Guard::tool_call) does, in the folder that the
    /// session was opened in, and remembers it: an event `tool-call`, and a span. `call_id` is the
    /// call's own name, as the model or the client has it; `arguments` is JSON.
    pub fn judge_tool(&self, tool: &str, call_id: Option<&str>, arguments: &str) -> ToolVerdict {
        let Inner { guard, recorder, session, telemetry, cwd, .. } = &*self.0;
        let watch = Watch::of_tool(tool, call_id);
        let verdict = guard.tool_call(tool, arguments, &cwd.to_string_lossy());
        let reasons: Vec<Because<'_>> = verdict
            .findings
            .iter()
            .map(|finding| Because {
                answer: finding.reason.answer.word(),
                code: finding.reason.code,
                axis: finding.reason.axis.word(),
                message: &finding.reason.message,
            })
            .collect();
        let first = reasons.first().map(|first| (first.code, first.message));
        telemetry.tool_call(&watch, first.filter(|_| verdict.answer != Answer::Allow));
        if recorder.records() {
            let answer = verdict.answer.word();
            let agent = session.agent();
            let what = What::Tool(Judged { tool, call_id, verdict: answer, reasons, agent });
            recorder.append(&[Event { at: SystemTime::now(), run: "", what }]);
        }
        verdict
    }
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
