//! One client, and what it asks for.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use palisade::Request;
use palisade::policy::decide::{Asked, Call};
use palisade::policy::interception::MAX_TEXT;
use palisade::rpc::{self, Fault, Line, Message};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::base64;
use super::project::{self, Projects};
use super::running::{self, Running, Slot, Slots};
use crate::command::{check, policy, trust};
use crate::failure::Failure;

/// What all clients share.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) slots: Slots,
    /// Where the server was started, and its environment.
    pub(super) request: Request,
    /// The folder that all projects must lie in, if there is one.
    pub(super) below: Option<PathBuf>,
}

/// One client.
pub(super) struct Connection {
    server: Arc<Server>,
    out: Mutex<Box<dyn Write + Send>>,
    /// What tells that nobody listens any more.
    gone: OwnedFd,
    is_gone: AtomicBool,
    projects: Mutex<Projects>,
    runs: Mutex<BTreeMap<String, Arc<Running>>>,
}

/// Most runs of one client that go on or wait.
const RUNS: usize = 4096;

/// The number of an error of ours that has a code of its own.
const FAILED: i64 = -32000;

/// What becomes of a request.
enum Done {
    /// It was carried out.
    Now(Json),
    /// It goes on, and is answered when it has ended.
    Later,
}

/// Why a request was not carried out.
enum Trouble {
    Fault(Fault),
    Failure(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Check {
    argv: Option<Vec<String>>,
    shell: Option<String>,
    tool: Option<String>,
    arguments: Json,
    cwd: Option<String>,
}

impl Connection {
    pub(super) fn new(server: Arc<Server>, out: Box<dyn Write + Send>, gone: OwnedFd) -> Arc<Self> {
        Arc::new(Self {
            server,
            out: Mutex::new(out),
            gone,
            is_gone: AtomicBool::new(false),
            projects: Mutex::default(),
            runs: Mutex::default(),
        })
    }

    /// Serves the client until it has nothing more to say and all its runs have ended.
    pub(super) fn serve(self: &Arc<Self>, from: &mut impl BufRead) {
        while !self.is_gone.load(Ordering::Relaxed) {
            match rpc::next_line(from, rpc::MAX_MESSAGE) {
                Ok(Some(Line::Whole(line))) => self.hear(&line),
                Ok(Some(Line::TooLong)) => {
                    let message = "the message is too long, and was skipped";
                    self.say(&rpc::error(&Json::Null, rpc::INVALID_REQUEST, message, Json::Null));
                }
                Ok(None) | Err(_) => break,
            }
        }
        while !self.runs().is_empty() {
            if self.nobody_listens() {
                self.runs().values().for_each(|run| run.cancel());
            }
        }
    }

    /// Waits a moment, and returns whether the other side is closed.
    fn nobody_listens(&self) -> bool {
        let moment = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let mut fds = [PollFd::new(&self.gone, PollFlags::empty())];
        let closed = poll(&mut fds, Some(&moment)).is_ok_and(|ready| ready > 0);
        if closed || self.is_gone.load(Ordering::Relaxed) {
            thread::sleep(std::time::Duration::from_millis(5));
            return true;
        }
        false
    }

    fn hear(self: &Arc<Self>, line: &[u8]) {
        let (id, method, params) = match Message::read(line) {
            Ok(Message::Request { id, method, params }) => (Some(id), method, params),
            Ok(Message::Notification { method, params }) => (None, method, params),
            Ok(Message::Response { .. }) => return,
            Err(fault) => return self.say(&fault.answer()),
        };
        let asked = AssertUnwindSafe(|| self.carry_out(id.as_ref(), &method, params));
        let done = catch_unwind(asked).unwrap_or_else(|_| Err(bug().into()));
        let Some(id) = id else { return };
        match done {
            Ok(Done::Now(result)) => self.say(&rpc::result(&id, result)),
            Ok(Done::Later) => {}
            Err(trouble) => self.say(&trouble.answer(&id)),
        }
    }

    fn carry_out(
        self: &Arc<Self>,
        id: Option<&Json>,
        method: &str,
        mut params: Map<String, Json>,
    ) -> Result<Done, Trouble> {
        let server = &*self.server;
        Ok(Done::Now(match method {
            "version" => json!({ "version": env!("CARGO_PKG_VERSION"), "protocol": 1 }),
            "check" => self.check(params)?,
            "run" => return self.run(id, params),
            "cancel" => {
                json!({ "cancelled": self.told_run(&mut params)?.inspect(|run| run.cancel()).is_some() })
            }
            "stdin" => self.feed(params)?,
            "policy" => {
                let wanted = project::Wanted::read(&mut params)?;
                let project = self.projects().get(server, wanted)?;
                policy::told(project.sandbox.session())
            }
            "trust" => {
                let wanted = project::Wanted::read(&mut params)?;
                let project = self.projects().get(server, wanted)?;
                trust::told(project.sandbox.session())?
            }
            "reload" => {
                self.projects().reload();
                json!({})
            }
            "set_enabled" => {
                let wanted = project::Wanted::read(&mut params)?;
                let enabled = match params.remove("enabled") {
                    None | Some(Json::Null) => None,
                    Some(Json::Bool(enabled)) => Some(enabled),
                    Some(_) => return Err(Fault::params("`enabled` is true, false or null").into()),
                };
                let set = |it: &mut palisade::agentao::SandboxSession| {
                    it.set_enabled(enabled);
                    it.status().state.word()
                };
                json!({ "state": self.projects().switch(server, wanted, set)? })
            }
            "set_default_profile" => {
                let wanted = project::Wanted::read(&mut params)?;
                let profile = text(&mut params, "profile")?;
                let chosen = self
                    .projects()
                    .switch(server, wanted, |it| it.set_default_profile(&profile))?
                    .map_err(|error| Failure::new("profile", error.to_string()))?;
                json!({ "shadowed_by": chosen.map(|rule| rule.profile) })
            }
            "profile_health_error" => {
                let wanted = project::Wanted::read(&mut params)?;
                let profile = text(&mut params, "profile")?;
                let error = self
                    .projects()
                    .switch(server, wanted, |it| it.profile_health_error(&profile))?;
                json!({ "error": error })
            }
            _ => {
                let message = format!("nobody knows the method `{method}`");
                return Err(Fault { id: Json::Null, code: rpc::METHOD_NOT_FOUND, message }.into());
            }
        }))
    }

    fn check(&self, mut params: Map<String, Json>) -> Result<Json, Trouble> {
        let wanted = project::Wanted::read(&mut params)?;
        let asked: Check = read(params)?;
        let project = self.projects().get(&self.server, wanted)?;
        let cwd = asked.cwd.as_deref().unwrap_or(&project.cwd);
        if !cwd.starts_with('/') {
            return Err(Fault::params("`cwd` is no absolute path").into());
        }
        let command = match (&asked.argv, &asked.shell, &asked.tool) {
            (Some(argv), None, None) => Asked::Argv(argv),
            (None, Some(text), None) => Asked::Shell(text),
            (None, None, Some(tool)) => {
                let text = asked.arguments.as_str().map(str::to_owned);
                let arguments = text.unwrap_or_else(|| asked.arguments.to_string());
                if arguments.len() > MAX_TEXT {
                    return Err(Fault::params("`arguments` is too long to be judged").into());
                }
                return Ok(check::told_tool(&project.guard.tool_call(tool, &arguments, cwd)));
            }
            _ => return Err(Fault::params("give one of `argv`, `shell` and `tool`").into()),
        };
        let verdict = project.guard.decide(command, cwd);
        Ok(check::json(&verdict, &Call { command, cwd }.text()))
    }

    fn run(
        self: &Arc<Self>,
        id: Option<&Json>,
        mut params: Map<String, Json>,
    ) -> Result<Done, Trouble> {
        let Some(id) = id.cloned() else {
            return Err(Fault::params("a run wants an `id`").into());
        };
        let wanted = project::Wanted::read(&mut params)?;
        let asked: running::Wanted = read(params)?;
        let project = self.projects().get(&self.server, wanted)?;
        let running = Arc::new(Running::default());
        let stream = asked.stream;
        let mut job = asked.job(&running)?;
        if stream {
            let tell = |connection: &Arc<Self>| {
                let connection = Arc::clone(connection);
                move |event| connection.say(&rpc::notification("output", event))
            };
            job = job.stdout(running::told(tell(self), id.clone(), "stdout"));
            job = job.stderr(running::told(tell(self), id.clone(), "stderr"));
        }
        let key = id.to_string();
        {
            let mut runs = self.runs();
            if runs.contains_key(&key) {
                return Err(Fault::params("a run of this `id` goes on").into());
            }
            if runs.len() >= RUNS {
                return Err(Failure::new("busy", "too many runs go on")
                    .hint("wait for some")
                    .into());
            }
            runs.insert(key.clone(), Arc::clone(&running));
        }
        let connection = Arc::clone(self);
        let ran = thread::Builder::new().spawn(move || {
            let slot = Slot::take(&connection.server);
            let run = AssertUnwindSafe(|| finished(&project.sandbox, job, &running));
            let ended = catch_unwind(run).unwrap_or_else(|_| Err(bug().into()));
            drop(slot);
            // Before the answer: who has it may use the name again.
            connection.runs().remove(&key);
            connection.say(&match ended {
                Ok(outcome) => rpc::result(&id, outcome),
                Err(trouble) => trouble.answer(&id),
            });
        });
        if let Err(error) = ran {
            return Err(Failure::io("thread", "no thread can be had", &error).into());
        }
        Ok(Done::Later)
    }

    fn feed(&self, mut params: Map<String, Json>) -> Result<Json, Trouble> {
        let run = self.told_run(&mut params)?;
        let run = run.ok_or_else(|| Fault::params("no such run goes on"))?;
        let piece = match (params.remove("text"), params.remove("base64")) {
            (Some(Json::String(text)), None) => Some(text.into_bytes()),
            (None, Some(Json::String(text))) => {
                Some(base64::decode(&text).ok_or_else(|| Fault::params("`base64` is no base64"))?)
            }
            (None, None) => None,
            _ => return Err(Fault::params("give `text` or `base64`").into()),
        };
        let close = params.remove("close").is_some_and(|close| close == Json::Bool(true));
        if let Some(piece) = piece {
            run.feed(Some(piece)).map_err(|why| Failure::new("stdin", why))?;
        }
        if close {
            run.feed(None).map_err(|why| Failure::new("stdin", why))?;
        }
        Ok(json!({}))
    }

    /// Returns the run of this client that a request names.
    fn told_run(&self, params: &mut Map<String, Json>) -> Result<Option<Arc<Running>>, Fault> {
        let run = params.remove("run").ok_or_else(|| Fault::params("`run` is missing"))?;
        Ok(self.runs().get(&run.to_string()).cloned())
    }

    fn say(&self, message: &Json) {
        let mut line = message.to_string();
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let said = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        drop(out);
        if said.is_err() && !self.is_gone.swap(true, Ordering::Relaxed) {
            self.runs().values().for_each(|run| run.cancel());
        }
    }

    fn projects(&self) -> MutexGuard<'_, Projects> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Running>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn finished(
    sandbox: &palisade::Sandbox,
    job: palisade::Job,
    running: &Running,
) -> Result<Json, Trouble> {
    if running.is_cancelled() {
        return Err(Failure::new("cancelled", "the run was cancelled before it began").into());
    }
    let run = sandbox.start(job).map_err(Failure::from)?;
    running.began(run.stop());
    let outcome = run.wait().map_err(Failure::from)?;
    running.began(None);
    let mut told = outcome.json();
    told["warnings"] = crate::command::warnings_running(sandbox.session());
    Ok(told)
}

impl Trouble {
    fn answer(&self, id: &Json) -> Json {
        match self {
            Self::Fault(fault) => Fault { id: id.clone(), ..fault.clone() }.answer(),
            Self::Failure(failure) => {
                let mut told = failure.json();
                let error = told["error"].take();
                let message = error["message"].as_str().unwrap_or("it failed").to_owned();
                rpc::error(id, FAILED, &message, error)
            }
        }
    }
}

fn bug() -> Fault {
    let message = "an error of ours; nothing was run".to_owned();
    Fault { id: Json::Null, code: rpc::INTERNAL_ERROR, message }
}

fn read<T: for<'de> Deserialize<'de>>(params: Map<String, Json>) -> Result<T, Fault> {
    serde_json::from_value(Json::Object(params)).map_err(|error| Fault::params(error.to_string()))
}

fn text(params: &mut Map<String, Json>, name: &str) -> Result<String, Fault> {
    match params.remove(name) {
        Some(Json::String(text)) => Ok(text),
        _ => Err(Fault::params(format!("`{name}` is missing, or no text"))),
    }
}
