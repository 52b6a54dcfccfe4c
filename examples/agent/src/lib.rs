//! A coding agent without a model: what it does next is written down, what holds it is real.
//!
//! It goes through six states, SURVEY, RUN_TESTS, INSPECT, FIX, VERIFY and HALT, with at most twelve
//! steps. Each step is one tool call, and passes everything that a real agent's would: the chain of
//! gates, the policy, a confirmation where the policy asks, the walls. Each leaves one span, a child of
//! the agent's own.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `agent` | What is done next? |
//! | `tools` | How is a tool called? |
//! | `mends` | What would a model say? |
#![forbid(unsafe_code)]

mod agent;
mod mends;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use palisade::audit::span::{Attribute, Context, Kind, Span, Status};
use palisade::eval::{Attempt, Candidate, Sample};
use palisade::policy::decide::Asked;
use palisade::{Answered, Confirm, Jail, Question, Request, Sandbox};

use agent::Agent;
pub use agent::{BUDGET, Done, Halt, STEPS, State, Step};
use tools::Tools;

/// What the agent would print as its model.
const MODEL: &str = "scripted";

/// Spans, in the order in which they ended.
pub type Spans = Arc<Mutex<Vec<Span>>>;

/// The agent, as whoever evaluates agents sees it.
#[derive(Debug)]
pub struct Scripted {
    request: Request,
}

impl Scripted {
    /// Makes an agent under the policies that `request` asks for, and its own.
    pub fn new(mut request: Request) -> Self {
        request.policies.push(own_policy().to_string_lossy().into_owned());
        Self { request }
    }

    /// Solves a task in a project, or says why not.
    ///
    /// # Errors
    ///
    /// When there is no sandbox to work in, or no randomness for the names of spans.
    pub fn solve(&self, goal: &str, request: Request) -> Result<(Done, Vec<Span>), String> {
        let mut request = request;
        request.policies.clone_from(&self.request.policies);
        let context = context().map_err(|error| format!("no randomness: {error}"))?;
        // Spans of what is called belong to our own.
        request.env.insert("TRACEPARENT".into(), context.traceparent().into());
        let spans = Spans::default();
        let told = Arc::clone(&spans);
        let each = Arc::new(move |span: &Span| push(&told, span.clone()));
        let sandbox = Sandbox::new(&request).map_err(|error| error.to_string())?;
        let sandbox = sandbox.confirmer(Colleague).each_span(each);
        let jail = Jail::open_root(&request.cwd).map_err(|error| error.to_string())?;
        let (at, clock) = (SystemTime::now(), Instant::now());
        let tools = Tools::new(sandbox, jail.without_links(), Arc::clone(&spans), context);
        let done = Agent::new(tools, goal).run();
        let text = |text: &str| Attribute::Text(text.to_owned());
        let status = match &done.halt {
            Halt::Solved => Status::Ok,
            Halt::Refused(why) | Halt::Stuck(why) => Status::Error(why.clone()),
        };
        push(
            &spans,
            Span {
                context,
                parent: None,
                name: "gen_ai.chat".to_owned(),
                kind: Kind::Client,
                start: at,
                duration: clock.elapsed(),
                attributes: vec![
                    ("gen_ai.operation.name", text("chat")),
                    ("gen_ai.request.model", text(MODEL)),
                ],
                exception: None,
                status,
            },
        );
        let spans = std::mem::take(&mut *spans.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((done, spans))
    }
}

impl Candidate for Scripted {
    fn attempt(&self, sample: &Sample<'_>) -> Attempt {
        match self.solve(&sample.task.goal, sample.request(&self.request)) {
            Err(why) => Attempt { failed: Some(why), ..Attempt::default() },
            Ok((done, _)) => Attempt {
                // It pays for what it reads.
                cost: Some(f64::from(u32::try_from(done.tokens).unwrap_or(u32::MAX))),
                notes: match done.halt {
                    Halt::Solved => Vec::new(),
                    Halt::Refused(why) | Halt::Stuck(why) => vec![why],
                },
                ..Attempt::default()
            },
        }
    }
}

/// Somebody who was told what the agent is about to do, and agrees to its tests alone.
#[derive(Clone, Copy, Debug)]
struct Colleague;

impl Confirm for Colleague {
    fn name(&self) -> &'static str {
        "colleague"
    }

    fn ask(&self, question: &Question<'_>) -> Answered {
        let tests = tools::TESTS.map(str::to_owned);
        match question.asked {
            Asked::Argv(argv) if *argv == tests => Answered::Yes,
            Asked::Argv(_) | Asked::Shell(_) | Asked::Words(_) => Answered::No,
        }
    }

    fn is_person(&self) -> bool {
        false
    }
}

/// Returns the policy of the example.
fn own_policy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("policy.yaml")
}

fn push(spans: &Mutex<Vec<Span>>, span: Span) {
    spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
}

/// Returns a trace of its own.
fn context() -> std::io::Result<Context> {
    use std::io::Read as _;
    let mut random = std::fs::File::open("/dev/urandom")?;
    let mut context = Context { trace: [0; 16], span: [0; 8] };
    random.read_exact(&mut context.trace)?;
    random.read_exact(&mut context.span)?;
    Ok(context)
}
