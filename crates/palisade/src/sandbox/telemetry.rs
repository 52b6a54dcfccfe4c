//! Spans of runs and tool calls: made here, sent by a thread of their own.

use std::io::{self, Read as _};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use palisade_audit::redact_text;
use palisade_audit::span::{self, Attribute, Context, Kind, Span, Status};
use palisade_plan::Note;
use palisade_policy::policy::{Audit, Endpoint, OtlpFormat, SpanNames};

use super::{CannotRun, Job, Outcome};
use crate::http;

/// How long a collector may take for one request.
const TIME: Duration = Duration::from_millis(500);

/// Spans that wait to be sent; more are counted as lost.
const WAITING: usize = 1024;

/// The name of whatever runs commands, where nobody named a tool.
const SHELL: &str = "run_shell_command";

/// A function that is told of each span.
pub type EachSpan = Arc<dyn Fn(&Span) + Send + Sync>;

/// When a call began, and who made it.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) at: SystemTime,
    pub(super) clock: Instant,
    pub(super) started: Duration,
    pub(super) tool: Option<String>,
    pub(super) call_id: Option<String>,
}

impl Watch {
    pub(super) fn begin(job: &Job) -> Self {
        Self {
            at: SystemTime::now(),
            clock: Instant::now(),
            started: Duration::ZERO,
            tool: job.tool.clone(),
            call_id: job.call_id.clone(),
        }
    }

    /// Notes that the command was started.
    pub(super) fn started(mut self) -> Self {
        self.started = self.clock.elapsed();
        self
    }
}

/// Where spans go.
#[derive(Default)]
pub(super) struct Telemetry {
    endpoint: Option<Endpoint>,
    format: Option<OtlpFormat>,
    names: Option<SpanNames>,
    /// The caller's own span.
    parent: Option<Context>,
    pub(super) each: Option<EachSpan>,
    sender: OnceLock<SyncSender<Message>>,
    trouble: Arc<Mutex<Option<String>>>,
}

enum Message {
    Span(Box<Span>),
    /// Everything before this was sent, or was not.
    Flush(std::sync::mpsc::Sender<()>),
}

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telemetry").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl Telemetry {
    pub(super) fn new(audit: &Audit, traceparent: Option<&str>) -> Self {
        let endpoint = audit.otlp.sourced().map(|endpoint| endpoint.value.clone());
        Self {
            endpoint,
            format: Some(audit.otlp_format.value()),
            names: Some(audit.span_names.value()),
            parent: traceparent.and_then(Context::read),
            ..Self::default()
        }
    }

    fn is_off(&self) -> bool {
        self.endpoint.is_none() && self.each.is_none()
    }

    /// Tells of a run.
    pub(super) fn run(
        &self,
        watch: &Watch,
        run: &str,
        ended: Result<&Outcome, &CannotRun>,
        agent: Option<&str>,
    ) {
        if self.is_off() {
            return;
        }
        let Some(mut span) = self.begun(watch) else { return };
        let text = |text: &str| Attribute::Text(text.to_owned());
        span.attributes.push(("palisade.run", text(run)));
        if let Some(agent) = agent {
            span.attributes.push(("gen_ai.agent.name", text(agent)));
        }
        match ended {
            Ok(outcome) => {
                let decision = if outcome.denied() { "deny" } else { "allow" };
                span.attributes.push(("palisade.decision", text(decision)));
                span.attributes.push(("agent.harness.gate.decision", text(decision)));
                span.attributes
                    .push(("palisade.exit_code", Attribute::Number(outcome.exit_code().into())));
                if let Some(level) = outcome.level() {
                    span.attributes.push(("palisade.level", text(level.word())));
                }
                if outcome.denied() {
                    refuse(&mut span, outcome.code(), &outcome.reason().unwrap_or_default());
                    if let Some(axis) = outcome.axes().first() {
                        span.attributes.push(("palisade.axis", text(axis.word())));
                    }
                } else if let Some(code) = outcome.code() {
                    span.attributes.push(("error.type", text(code)));
                    let reason = redact_text(&outcome.reason().unwrap_or_default());
                    span.status = Status::Error(reason);
                }
            }
            Err(error) => {
                span.attributes.push(("error.type", text(error.code())));
                let told = redact_text(&error.to_string());
                span.status = Status::Error(format!("{}: {told}", error.code()));
                span.exception = Some((error.code().to_owned(), told));
            }
        }
        self.tell(span);
    }

    /// Tells of a tool call that was judged: `denied` is the code and the text of the first reason.
    pub(super) fn tool_call(&self, watch: &Watch, denied: Option<(&str, &str)>) {
        if self.is_off() {
            return;
        }
        let Some(mut span) = self.begun(watch) else { return };
        let decision = if denied.is_some() { "deny" } else { "allow" };
        span.attributes.push(("palisade.decision", Attribute::Text(decision.into())));
        span.attributes.push(("agent.harness.gate.decision", Attribute::Text(decision.into())));
        if let Some((code, reason)) = denied {
            refuse(&mut span, Some(code), reason);
        }
        self.tell(span);
    }

    fn begun(&self, watch: &Watch) -> Option<Span> {
        let (trace, span) = ids().ok()?;
        let tool = &redact_text(watch.tool.as_deref().unwrap_or(SHELL));
        let context = Context { trace: self.parent.map_or(trace, |parent| parent.trace), span };
        let mut attributes = vec![
            ("gen_ai.operation.name", Attribute::Text("execute_tool".into())),
            ("gen_ai.tool.name", Attribute::Text(tool.clone())),
        ];
        let call = watch.call_id.iter();
        attributes.extend(call.map(|id| ("gen_ai.tool.call.id", Attribute::Text(redact_text(id)))));
        let name = match self.names {
            Some(SpanNames::Convention) => format!("execute_tool {tool}"),
            Some(SpanNames::Source) | None => "gen_ai.tool.execution".to_owned(),
        };
        Some(Span {
            context,
            parent: self.parent.map(|parent| parent.span),
            name,
            kind: Kind::Internal,
            start: watch.at,
            duration: watch.clock.elapsed(),
            attributes,
            exception: None,
            status: Status::Ok,
        })
    }

    fn tell(&self, span: Span) {
        if let Some(each) = &self.each {
            each(&span);
        }
        let (Some(endpoint), Some(format)) = (&self.endpoint, self.format) else { return };
        let sender = self.sender.get_or_init(|| sending(endpoint, format, &self.trouble));
        match sender.try_send(Message::Span(Box::new(span))) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                failed(&self.trouble, "spans were lost: the collector is too slow");
            }
        }
    }

    /// Waits until everything was sent, for a moment at most. Nobody waits for a collector that hangs.
    pub(super) fn flush(&self) {
        self.flush_within(TIME);
    }

    /// The same, for another moment.
    pub(super) fn flush_within(&self, time: Duration) {
        let Some(sender) = self.sender.get() else { return };
        let (done, waits) = channel();
        let sent = sender.try_send(Message::Flush(done)).is_ok();
        if !sent || waits.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            failed(&self.trouble, "there was no answer in time");
        }
    }

    /// Returns what went wrong, once.
    pub(super) fn trouble(&self) -> Option<Note> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let url = self.endpoint.as_ref().map(ToString::to_string).unwrap_or_default();
        let message = format!("cannot send spans to `{url}`: {trouble}");
        Some(Note { code: "telemetry", message })
    }
}

fn refuse(span: &mut Span, code: Option<&str>, reason: &str) {
    let code = code.unwrap_or("denied");
    let reason = &redact_text(reason);
    span.attributes.push(("error.type", Attribute::Text(code.into())));
    span.attributes.push(("palisade.rule", Attribute::Text(code.into())));
    span.attributes.push(("agent.harness.gate.reason", Attribute::Text(reason.clone())));
    span.status = Status::Error(reason.to_owned());
}

fn failed(trouble: &Mutex<Option<String>>, message: &str) {
    let mut trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner);
    trouble.get_or_insert_with(|| message.to_owned());
}

fn ids() -> io::Result<([u8; 16], [u8; 8])> {
    let mut random = std::fs::File::open("/dev/urandom")?;
    let (mut trace, mut span) = ([0; 16], [0; 8]);
    random.read_exact(&mut trace)?;
    random.read_exact(&mut span)?;
    Ok((trace, span))
}

/// Starts the thread that sends.
fn sending(
    endpoint: &Endpoint,
    format: OtlpFormat,
    trouble: &Arc<Mutex<Option<String>>>,
) -> SyncSender<Message> {
    let (sender, receiver) = sync_channel(WAITING);
    let (url, trouble) = (traces(&endpoint.to_string()), Arc::clone(trouble));
    let thread = std::thread::Builder::new().name("pal-spans".into());
    // Where no thread can be had, the sender finds nobody, and says so.
    thread.spawn(move || send(&receiver, &url, format, &trouble)).ok();
    sender
}

/// Names the place for spans, where only the collector is named.
fn traces(url: &str) -> String {
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    match place.trim_end_matches('/').contains('/') {
        true => url.to_owned(),
        false => format!("{}/v1/traces", url.trim_end_matches('/')),
    }
}

fn send(
    messages: &Receiver<Message>,
    url: &str,
    format: OtlpFormat,
    trouble: &Mutex<Option<String>>,
) {
    while let Ok(first) = messages.recv() {
        let (mut spans, mut waiting) = (Vec::new(), Vec::new());
        for message in std::iter::once(first).chain(messages.try_iter()) {
            match message {
                Message::Span(span) => spans.push(*span),
                Message::Flush(done) => waiting.push(done),
            }
        }
        if !spans.is_empty() {
            let (kind, body) = match format {
                OtlpFormat::Protobuf => ("application/x-protobuf", span::protobuf(&spans)),
                OtlpFormat::Json => {
                    ("application/json", span::json(&spans).to_string().into_bytes())
                }
            };
            let headers = [("Content-Type", kind.to_owned())];
            match http::post(url, &headers, &body, TIME) {
                Ok(answer) if (200..300).contains(&answer.status) => {}
                Ok(answer) => failed(trouble, &format!("it answered with {}", answer.status)),
                Err(error) => failed(trouble, &error.to_string()),
            }
        }
        for done in waiting {
            // Who waited may have gone.
            done.send(()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_named_with_or_without_the_place_for_spans() {
        for (url, place) in [
            ("http://a.test:4318", "http://a.test:4318/v1/traces"),
            ("http://a.test:4318/", "http://a.test:4318/v1/traces"),
            ("http://a.test/own/place", "http://a.test/own/place"),
        ] {
            assert_eq!(traces(url), place);
        }
    }
}
