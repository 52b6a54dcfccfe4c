//! The tools, and everything that stands before each of them.

use std::path::Path;
use std::time::{Duration, SystemTime};

use palisade::audit::span::{Attribute, Context, Kind, Span, Status};
use palisade::policy::decide::Answer;
use palisade::policy::gates::{Ending, Gates, Ledger, ToolUse};
use palisade::{Jail, Job, Sandbox};
use serde_json::json;

use crate::agent::BUDGET;
use crate::{Spans, push};

/// How tests are run.
pub(crate) const TESTS: [&str; 2] = ["sh", "test.sh"];

/// The largest file that is read.
const LARGEST: u64 = 64 << 10;

/// A tool call.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Read { path: String },
    Write { path: String, content: String },
    Tests,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub(crate) enum Answered {
    /// The text of a file, or that it was written.
    Text(String),
    /// Whether the tests pass, and what they said.
    Tests { pass: bool },
    /// Somebody said no, or it failed.
    Refused(String),
}

/// The tools of one session.
pub(crate) struct Tools {
    sandbox: Sandbox,
    jail: Jail,
    gates: Gates,
    ledger: Ledger,
    spans: Spans,
    context: Context,
    calls: u64,
}

impl Call {
    pub(crate) fn tool(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read_file",
            Self::Write { .. } => "write_file",
            Self::Tests => "run_tests",
        }
    }

    fn argv(&self) -> Vec<String> {
        match self {
            Self::Read { path } | Self::Write { path, .. } => vec![path.clone()],
            Self::Tests => TESTS.map(str::to_owned).into(),
        }
    }

    fn payload(&self) -> &str {
        match self {
            Self::Write { content, .. } => content,
            Self::Read { .. } | Self::Tests => "",
        }
    }
}

impl Tools {
    pub(crate) fn new(sandbox: Sandbox, jail: Jail, spans: Spans, context: Context) -> Self {
        let gates = Gates::new(["read_file", "write_file", "run_tests"]).budget(BUDGET);
        Self { sandbox, jail, gates, ledger: Ledger::default(), spans, context, calls: 0 }
    }

    /// Returns how many tokens were read.
    pub(crate) fn tokens(&self) -> u64 {
        self.ledger.total()
    }

    /// Makes a call, if every gate lets it pass and nobody behind them says no.
    pub(crate) fn call(&mut self, call: &Call) -> Answered {
        let id = format!("call_{:03}", self.calls);
        let (turn, argv) = (self.calls, call.argv());
        self.calls += 1;
        let asked = ToolUse { turn, tool: call.tool(), argv: &argv, payload: call.payload() };
        if let Some(denial) = self.gates.ask(&asked, &self.ledger).denial() {
            self.tell_refused(call, &id, &denial);
            return Answered::Refused(denial);
        }
        let (sandbox, jail, mut answered) = (&self.sandbox, &self.jail, None);
        let ending = self.gates.run(&asked, &mut self.ledger, |_| {
            let (answer, text) = match made(sandbox, jail, call, &id) {
                Ok(made) => made,
                Err(why) => (Answered::Refused(why), String::new()),
            };
            answered = Some(answer);
            Some(text)
        });
        match (ending, answered) {
            (Ending::Ran(_), Some(answer)) => answer,
            (Ending::Ran(_), None) => Answered::Refused("nothing was done".to_owned()),
            (Ending::Refused(why), _) => Answered::Refused(why),
        }
    }

    /// A refusal by a gate is a span as well: nobody behind the gates knows of the call.
    fn tell_refused(&self, call: &Call, id: &str, denial: &str) {
        let text = |text: &str| Attribute::Text(text.to_owned());
        let mut span = [0; 8];
        // Not random, and unlike the others of this trace.
        let number = self.calls.to_be_bytes();
        span.iter_mut().zip(number).for_each(|(byte, number)| *byte = !number);
        push(
            &self.spans,
            Span {
                context: Context { span, ..self.context },
                parent: Some(self.context.span),
                name: "gen_ai.tool.execution".to_owned(),
                kind: Kind::Internal,
                start: SystemTime::now(),
                duration: Duration::ZERO,
                attributes: vec![
                    ("gen_ai.tool.name", text(call.tool())),
                    ("gen_ai.tool.call.id", text(id)),
                    ("agent.harness.gate.decision", text("deny")),
                    ("agent.harness.gate.reason", text(denial)),
                ],
                exception: None,
                status: Status::Error(denial.to_owned()),
            },
        );
    }
}

/// Makes a call behind the gates: judged, confirmed, confined; or says who refused it.
fn made(
    sandbox: &Sandbox,
    jail: &Jail,
    call: &Call,
    id: &str,
) -> Result<(Answered, String), String> {
    let judged = |arguments: serde_json::Value| {
        let verdict = sandbox.judge_tool(call.tool(), Some(id), &arguments.to_string());
        let why = verdict.findings.first().map(|finding| finding.reason.message.clone());
        match verdict.answer {
            Answer::Allow => Ok(()),
            Answer::Ask | Answer::Deny => Err(why.unwrap_or_else(|| "denied".to_owned())),
        }
    };
    match call {
        Call::Read { path } => {
            judged(json!({ "path": path }))?;
            let content = jail.read(Path::new(path), LARGEST).map_err(|it| it.to_string())?;
            let text = String::from_utf8_lossy(&content).into_owned();
            Ok((Answered::Text(text.clone()), text))
        }
        Call::Write { path, content } => {
            judged(json!({ "path": path, "content": content }))?;
            let written = jail.write(Path::new(path), content.as_bytes());
            written.map_err(|it| it.to_string())?;
            Ok((Answered::Text(String::new()), "written".to_owned()))
        }
        Call::Tests => {
            let job = Job::from(TESTS).tool(call.tool()).call_id(id);
            let outcome = sandbox.run(job).map_err(|error| error.to_string())?;
            if !outcome.executed() {
                return Err(outcome.reason().unwrap_or_default());
            }
            let text = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
            Ok((Answered::Tests { pass: outcome.ok() }, text))
        }
    }
}
