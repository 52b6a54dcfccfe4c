//! A command that was started, until its end.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use palisade_plan::{Bounds, Plan};
use rustix::process::{Pid, Signal, kill_process_group};

use super::error::CannotStart;
use super::outcome::{Bound, End, Outcome, Survivors, Usage, Used, Violations};
use super::pump::Pump;
use super::start::Tmp;
use crate::sys::macos::Caught;

/// How often a command is looked at.
const EVERY: Duration = Duration::from_millis(5);

/// How long output is waited for once the command and its group are gone: somebody who left the group
/// may hold the other end for ever.
const PATIENCE: Duration = Duration::from_millis(500);

/// A command that was started. Dropping this ends it, with its whole process group.
#[derive(Debug)]
pub struct Running {
    started: Option<Started>,
    /// Kept until the end for a command that was not found, too.
    tmp: Option<Tmp>,
    group: Group,
    bounds: Bounds,
    plan: Plan,
}

/// What was started.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) begun: Instant,
    pub(super) pumps: [Option<Pump>; 2],
    pub(super) tmp: Tmp,
}

/// Ends a command from another thread.
#[derive(Clone, Debug)]
pub struct Stop {
    group: Group,
}

/// The process group of a command: its first process has made it, and has its number.
#[derive(Clone, Debug)]
struct Group {
    /// 0 once it is gone: the number may be somebody else's then.
    number: Arc<AtomicI32>,
    stopped: Arc<AtomicBool>,
}

/// Signals that reach this process, held for a command that is about to start.
#[derive(Debug)]
pub struct Signals(Caught);

impl Signals {
    /// Catches signals, if nobody else does.
    pub fn catch() -> Option<Self> {
        Caught::new(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT]).map(Self)
    }

    /// The same: each of them asks this process to end.
    pub fn catch_ending() -> Option<Self> {
        Self::catch()
    }

    /// Waits for at most `time`, and returns the first signal that came, if one did.
    pub fn next_within(&self, time: Duration) -> Option<i32> {
        let end = Instant::now() + time;
        loop {
            let came = self.0.taken();
            if !came.is_empty() || Instant::now() >= end {
                return came.first().copied();
            }
            thread::sleep(EVERY.min(end.saturating_duration_since(Instant::now())));
        }
    }
}

impl Group {
    fn new(number: i32) -> Self {
        Self { number: Arc::new(AtomicI32::new(number)), stopped: Arc::default() }
    }

    fn send(&self, signal: Signal) -> io::Result<()> {
        let number = self.number.load(Ordering::SeqCst);
        let Some(group) = Pid::from_raw(number) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        Ok(kill_process_group(group, signal)?)
    }
}

impl Stop {
    /// Ends it now.
    pub fn now(&self) {
        self.group.stopped.store(true, Ordering::SeqCst);
        self.group.send(Signal::KILL).ok();
    }
}

impl Running {
    pub(super) fn started(plan: &Plan, started: Started) -> Self {
        let group = Group::new(i32::try_from(started.child.id()).unwrap_or(0));
        let (bounds, plan) = (plan.bounds(), plan.clone());
        Self { started: Some(started), tmp: None, group, bounds, plan }
    }

    pub(super) fn not_found(plan: &Plan, tmp: Tmp) -> Self {
        let (bounds, plan) = (plan.bounds(), plan.clone());
        Self { started: None, tmp: Some(tmp), group: Group::new(0), bounds, plan }
    }

    /// Returns something that ends it from another thread.
    pub fn stop(&self) -> Stop {
        Stop { group: self.group.clone() }
    }

    /// What was touched is never looked for here.
    #[must_use]
    pub fn brief(self) -> Self {
        self
    }

    /// Sends a signal to the command and its group.
    ///
    /// # Errors
    ///
    /// When it has ended, or there is no such signal.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        let signal = Signal::from_named_raw(number);
        self.group.send(signal.ok_or(io::ErrorKind::InvalidInput)?)
    }

    /// Waits until the command has ended, and ends what is left of its group.
    ///
    /// # Errors
    ///
    /// When nobody can tell how it ended.
    pub fn wait(self) -> Result<Outcome, CannotStart> {
        self.wait_with(None, &mut || ())
    }

    /// Waits as [`Running::wait`] does; signals that were caught are passed on.
    ///
    /// # Errors
    ///
    /// As [`Running::wait`].
    pub fn wait_with(
        mut self,
        signals: Option<Signals>,
        _: &mut dyn FnMut(),
    ) -> Result<Outcome, CannotStart> {
        let Some(Started { mut child, begun, pumps, tmp }) = self.started.take() else {
            drop(self.tmp.take());
            return Ok(self.outcome(End::NotFound, Duration::ZERO));
        };
        let mut watch = Watch::new(begun, self.bounds);
        let ended = loop {
            if let Some(status) = child.try_wait().map_err(waiting)? {
                break watch.end(status, self.group.stopped.load(Ordering::SeqCst));
            }
            for signal in signals.iter().flat_map(|signals| signals.0.taken()) {
                self.signal(signal).ok();
            }
            if watch.is_over(pumps.iter().flatten()) {
                self.group.send(Signal::KILL).ok();
            }
            thread::sleep(EVERY);
        };
        // Who stayed in the group goes with it; then the number is not ours any more.
        self.group.send(Signal::KILL).ok();
        self.group.number.store(0, Ordering::SeqCst);
        let duration = begun.elapsed();
        let mut outcome = self.outcome(ended, duration);
        outcome.limit = watch.limit();
        let [out, err] = pumps.map(|pump| pump.filter(settled).map(Pump::finish));
        outcome.stdout = out.unwrap_or_default();
        outcome.stderr = err.unwrap_or_default();
        outcome.left_in_tmp = fs::read_dir(tmp.path())
            .ok()
            .map(|names| names.flatten().map(|entry| entry.path()).collect::<Vec<PathBuf>>());
        drop(tmp);
        Ok(outcome)
    }

    fn outcome(&self, end: End, duration: Duration) -> Outcome {
        Outcome {
            level: self.plan.level(),
            end,
            stdout: Default::default(),
            stderr: Default::default(),
            duration,
            enforced: self.plan.enforced().to_vec(),
            notes: self.plan.notes().to_vec(),
            usage: Usage::default(),
            limit: None,
            reached: Vec::new(),
            violations: Violations::Unavailable,
            used: Used::default(),
            touched: Vec::new(),
            left_in_tmp: None,
            // A process that made a group of its own may live on.
            survivors: if end == End::NotFound { Survivors::None } else { Survivors::Unproved },
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(started) = &mut self.started {
            self.group.send(Signal::KILL).ok();
            started.child.wait().ok();
        }
    }
}

/// Waits for the rest of an output, and not for ever.
fn settled(pump: &Pump) -> bool {
    let until = Instant::now() + PATIENCE;
    while !pump.is_done() && Instant::now() < until {
        thread::sleep(EVERY);
    }
    pump.is_done()
}

/// Time and silence.
struct Watch {
    begun: Instant,
    bounds: Bounds,
    heard: (u64, Instant),
    over: Option<Bound>,
}

impl Watch {
    fn new(begun: Instant, bounds: Bounds) -> Self {
        Self { begun, bounds, heard: (0, begun), over: None }
    }

    /// Returns whether the command has had its time.
    fn is_over<'p>(&mut self, pumps: impl Iterator<Item = &'p Pump>) -> bool {
        let taken: u64 = pumps.map(Pump::taken).sum();
        if taken != self.heard.0 {
            self.heard = (taken, Instant::now());
        }
        if self.bounds.time.is_some_and(|time| self.begun.elapsed() >= time) {
            self.over = self.over.or(Some(Bound::Time));
        } else if self.bounds.idle.is_some_and(|idle| self.heard.1.elapsed() >= idle) {
            self.over = self.over.or(Some(Bound::Idle));
        }
        self.over.is_some()
    }

    fn end(&self, status: ExitStatus, stopped: bool) -> End {
        match (self.over, status.code(), status.signal()) {
            (Some(Bound::Idle), ..) => End::Idle,
            (Some(_), ..) => End::TimedOut,
            (None, _, Some(9)) if stopped => End::Stopped,
            (None, _, Some(signal)) => End::Signalled(signal),
            (None, code, None) => End::Exited(code.unwrap_or(255)),
        }
    }

    fn limit(&self) -> Option<Bound> {
        self.over
    }
}

fn waiting(errno: io::Error) -> CannotStart {
    CannotStart::Before { doing: "wait for the command", errno }
}
