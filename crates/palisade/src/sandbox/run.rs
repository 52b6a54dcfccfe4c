//! A command that was started, or refused.

use std::io::{self, Read as _};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

pub use palisade_apply::Stop;
use palisade_apply::cache::Held;
use palisade_apply::{CannotStart, End, Running, Streams, Survivors};
use palisade_plan::{CannotPlan, Kept, Kernel, Level, Note, Order, Plan, build};
use palisade_policy::decide::Permit;

use super::ask::Asking;
use super::doors::Doors;
use super::error::CannotRun;
use super::hint::Under;
use super::job::{Job, Output, Signals};
use super::missing;
use super::outcome::{Done, Outcome};
use super::published::Published;
use super::telemetry::{Telemetry, Watch};
use super::{Ready, Recorder, Sandbox};
use crate::workspaces::InUse;

/// A command that was started, or refused. Dropping this ends it, with all its descendants.
#[derive(Debug)]
pub struct Run {
    recorder: Arc<Recorder>,
    asking: Arc<Asking>,
    telemetry: Arc<Telemetry>,
    /// What a span tells of the session.
    agent: Option<String>,
    watch: Watch,
    name: String,
    state: State,
}

#[derive(Debug)]
enum State {
    Refused(Box<Outcome>),
    Running(Box<Started>),
}

#[derive(Debug)]
struct Started {
    running: Running,
    about: About,
    keep: Kept,
    readers: Vec<JoinHandle<()>>,
    caught: Option<palisade_apply::Signals>,
    start: Option<Start>,
    caches: Option<Held>,
    in_use: Option<InUse>,
    doors: Doors,
    published: Published,
}

/// What tells why a command could not be started, and is of no use once it runs.
#[derive(Debug)]
struct Start {
    sandbox: Sandbox,
    permit: Permit,
    order: Order,
}

/// When the end of a command is waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Awaited {
    /// As soon as it has started.
    AtOnce,
    /// When somebody does.
    Later,
}

/// What this process does when a command has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum After {
    GoesOn,
    /// It ends too. To free memory piece by piece before would only take time.
    Ends,
}

/// What an outcome tells of a call, whatever became of it.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) argv: Vec<String>,
    pub(super) shell: Option<&'static str>,
    pub(super) root: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) under: Option<Under>,
}

impl About {
    pub(super) fn outcome(self, result: Done, notes: Vec<Note>) -> Outcome {
        let Self { argv, shell, root, cwd, under } = self;
        Outcome { argv, shell, root, cwd, under, result, traffic: None, notes }
    }
}

impl Run {
    /// Returns something that ends it from another thread; none if it was refused.
    pub fn stop(&self) -> Option<Stop> {
        match &self.state {
            State::Running(started) => Some(started.running.stop()),
            State::Refused(_) => None,
        }
    }

    /// Sends a signal to the command.
    ///
    /// # Errors
    ///
    /// When there is none: it was refused, or has ended.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        match &self.state {
            State::Running(started) => started.running.signal(number),
            State::Refused(_) => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }

    /// Waits until the command and everything it started has ended.
    ///
    /// # Errors
    ///
    /// When the walls could not be put up: then it has not run.
    pub fn wait(self) -> Result<Outcome, CannotRun> {
        self.wait_freeing(&mut || (), After::GoesOn)
    }

    /// Waits as [`Run::wait`] does; when that takes long, `free` is told to free what it can.
    pub(super) fn wait_freeing(
        self,
        free: &mut dyn FnMut(),
        after: After,
    ) -> Result<Outcome, CannotRun> {
        let Self { recorder, asking, telemetry, agent, watch, name, state } = self;
        let ended = match state {
            State::Refused(outcome) => Ok(*outcome),
            State::Running(started) => unboxed(started).wait(free, after),
        };
        recorder.ended(&name, ended.as_ref(), &watch);
        telemetry.run(&watch, &name, ended.as_ref(), agent.as_deref());
        let mut outcome = ended?;
        outcome.notes.extend(recorder.trouble());
        outcome.notes.extend(asking.trouble());
        Ok(outcome)
    }

    pub(super) fn refused(sandbox: &Sandbox, name: &str, outcome: Outcome, watch: Watch) -> Self {
        Self::of(sandbox, name.to_owned(), State::Refused(Box::new(outcome)), watch)
    }

    fn of(sandbox: &Sandbox, name: String, state: State, watch: Watch) -> Self {
        Self {
            recorder: Arc::clone(&sandbox.0.recorder),
            asking: Arc::clone(&sandbox.0.asking),
            telemetry: Arc::clone(&sandbox.0.telemetry),
            agent: sandbox.0.session.agent().map(str::to_owned),
            watch,
            name,
            state,
        }
    }
}

/// Frees the box, too: what is in it may be there for long.
#[expect(clippy::boxed_local, reason = "the box is what is freed")]
fn unboxed<T>(boxed: Box<T>) -> T {
    *boxed
}

impl Started {
    fn wait(self, free: &mut dyn FnMut(), after: After) -> Result<Outcome, CannotRun> {
        let Self { running, mut about, keep, readers, caught, start, .. } = self;
        let mut start = ManuallyDrop::new(start);
        let Self { caches, mut in_use, doors, published, .. } = self;
        let ended = running.wait_with(caught, &mut || {
            *start = None;
            free();
            // Where what stays lies together.
            about = about.clone();
        });
        let ran = |seen: &palisade_apply::Outcome| {
            !matches!(seen.end, End::NotFound | End::NotStarted(_))
        };
        if !ended.as_ref().is_ok_and(ran) {
            in_use.iter_mut().for_each(InUse::nothing_ran);
        }
        drop((caches, in_use));
        published.close();
        let traffic = doors.close();
        let ended = ended.map_err(|error| match &*start {
            Some(start) => start.explained(error),
            None => error.into(),
        });
        let is_missing = ended.as_ref().is_ok_and(|seen| seen.end == End::NotFound);
        let known = start.as_ref().filter(|_| is_missing);
        let missing = known.and_then(|start| missing::explained(&start.order));
        if after == After::GoesOn {
            drop(ManuallyDrop::into_inner(start));
        }
        let mut seen = ended?;
        // They end when the last process that could write has, if it has.
        if seen.survivors == Survivors::None {
            readers.into_iter().for_each(|reader| drop(reader.join()));
        }
        let mut notes = std::mem::take(&mut seen.notes);
        notes.extend(missing);
        let trouble = traffic.iter().flat_map(|traffic| &traffic.report.trouble);
        notes.extend(trouble.map(|it| Note { code: "network", message: it.clone() }));
        let outcome = about.outcome(Done::Ran { seen: Box::new(seen), keep }, notes);
        Ok(Outcome { traffic, ..outcome })
    }
}

/// Puts a permitted call behind its walls.
pub(super) fn start(
    sandbox: &Sandbox,
    mut ready: Ready,
    job: Job,
    awaited: Awaited,
    watch: Watch,
) -> Result<Run, CannotRun> {
    let (name, mut in_use) = (std::mem::take(&mut ready.name), ready.in_use.take());
    match started(sandbox, ready, &name, job, awaited) {
        Ok(started) => {
            let state = State::Running(Box::new(Started { in_use, ..started }));
            Ok(Run::of(sandbox, name, state, watch.started()))
        }
        Err(error) => {
            in_use.iter_mut().for_each(InUse::nothing_ran);
            Err(error)
        }
    }
}

fn started(
    sandbox: &Sandbox,
    ready: Ready,
    name: &str,
    job: Job,
    awaited: Awaited,
) -> Result<Started, CannotRun> {
    let Ready { permit, ordered, mut about, caches, in_use, .. } = ready;
    let host = &sandbox.0.host;
    let plan = sandbox.planned(&permit, &ordered, host)?;
    if matches!(plan.level(), Level::External | Level::None) {
        (about.argv, about.shell) = job.words.argv();
    }
    let (order, network) = (ordered.order, ordered.network);
    let mut readers = Vec::new();
    let streams = Streams {
        stdin: job.stdin,
        stdout: opened(job.stdout, &mut readers)?,
        stderr: opened(job.stderr, &mut readers)?,
    };
    let mut published = Published::take(&plan, &network)?;
    let start = Start { sandbox: sandbox.clone(), permit, order };
    // Before the start: what comes once the command runs is the command's.
    let caught = match job.signals {
        Signals::Ours => None,
        Signals::PassOn => palisade_apply::Signals::catch(),
    };
    let other = |kernel: &Kernel| start.plan_for(kernel).ok();
    let awaited = awaited == Awaited::AtOnce;
    let running = host.start_or(&plan, streams, awaited, &other);
    let running = running.map_err(|error| start.explained(error))?;
    let running = if job.brief { running.brief() } else { running };
    let (running, doors) = Doors::attend(running, &plan, &network, (sandbox, name));
    let running = published.attend(running);
    let keep = plan.bounds().keep;
    let start = Some(start);
    Ok(Started { running, about, keep, readers, caught, start, caches, in_use, doors, published })
}

/// Opens where output goes; what a function gets is read by a thread.
fn opened(
    output: Output,
    readers: &mut Vec<JoinHandle<()>>,
) -> Result<palisade_apply::Output, CannotRun> {
    Ok(match output {
        Output::Capture => palisade_apply::Output::Capture,
        Output::Null => palisade_apply::Output::Null,
        Output::To(fd) => palisade_apply::Output::To(fd),
        Output::Each(mut each) => {
            let (mut reader, writer) = io::pipe().map_err(CannotRun::Pipe)?;
            readers.push(thread::spawn(move || {
                let mut piece = vec![0; 64 << 10];
                while let Ok(length @ 1..) = reader.read(&mut piece) {
                    each(piece.get(..length).unwrap_or_default());
                }
            }));
            palisade_apply::Output::Pipe(writer)
        }
    })
}

impl Start {
    /// Tells what the host lacks, where that is why a sandbox could not be started: that namespaces
    /// can be made was taken for granted.
    fn explained(&self, error: CannotStart) -> CannotRun {
        match self.plan_for(&self.sandbox.0.host.probed()) {
            Err(missing) => missing.into(),
            Ok(_) => error.into(),
        }
    }

    /// Plans the same for a kernel that was looked at.
    fn plan_for(&self, kernel: &Kernel) -> Result<Plan, CannotPlan> {
        let Self { sandbox, permit, order } = self;
        build(permit, order, &sandbox.0.host.facts_of(kernel, &order.questions()))
    }
}
