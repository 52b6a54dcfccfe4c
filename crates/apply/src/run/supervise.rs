//! Outside a running sandbox: its streams, its time, its end.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palisade_plan::{Bounds, Plan, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use super::after;
use super::error::CannotStart;
use super::guard::Guard;
use super::kept::Buffer;
use super::leftover::Leftover;
use super::message::{Message, receive, send};
use super::outcome::{End, Outcome, Usage};
use super::reserve::Reserved;
use super::streams::{Drain, Feed};
use crate::sys::process::{Ended, Made, await_end, signal};

/// Bytes kept of a captured stream when nobody says (Ruling 13).
const OUTPUT: u64 = 64 << 10;

/// A command that was started. Dropping this ends it, with all its descendants.
#[derive(Debug)]
pub struct Running {
    // In this order: names are given back once nobody is left to take them.
    pub(super) sandbox: Sandbox,
    pub(super) guard: Option<Guard>,
    pub(super) reserved: Option<Reserved>,
    pub(super) mounts: Option<Leftover>,
    pub(super) control: OwnedFd,
    pub(super) feed: Feed,
    pub(super) drains: [Drain; 2],
    pub(super) plan: Plan,
    pub(super) started: Instant,
    pub(super) stop: Arc<AtomicBool>,
}

/// The first process of a sandbox. Dropping it ends the sandbox.
#[derive(Debug)]
pub(super) struct Sandbox {
    pid: Pid,
    pidfd: Arc<OwnedFd>,
    ended: Option<Ended>,
}

/// Stops a running command from anywhere.
#[derive(Clone, Debug)]
pub struct Stop {
    pidfd: Arc<OwnedFd>,
    stop: Arc<AtomicBool>,
}

impl Stop {
    /// Ends the command and all its descendants. Ending one that has ended does nothing.
    pub fn now(&self) {
        self.stop.store(true, Ordering::SeqCst);
        signal(self.pidfd.as_fd(), libc::SIGKILL).ok();
    }
}

impl Sandbox {
    pub(super) fn new(made: Made) -> Self {
        Self { pid: made.pid, pidfd: Arc::new(made.pidfd), ended: None }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    pub(super) fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    fn kill(&self) {
        signal(self.pidfd.as_fd(), libc::SIGKILL).ok();
    }

    /// Waits until the last process in it is gone.
    pub(super) fn end(&mut self) -> Option<Ended> {
        if self.ended.is_none() {
            self.ended = await_end(self.pid).ok();
        }
        self.ended
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
            self.end();
        }
    }
}

impl Running {
    /// Returns something that stops it from another thread.
    pub fn stop(&self) -> Stop {
        Stop { pidfd: Arc::clone(&self.sandbox.pidfd), stop: Arc::clone(&self.stop) }
    }

    /// Sends a signal to the command.
    ///
    /// # Errors
    ///
    /// When the sandbox is gone.
    pub fn signal(&self, number: i32) -> std::io::Result<()> {
        Ok(send(self.control.as_fd(), Message::Signal(number))?)
    }

    /// Waits until the command and everything it started has ended.
    ///
    /// # Errors
    ///
    /// When a step of the plan failed: then the command has not run.
    pub fn wait(mut self) -> Result<Outcome, CannotStart> {
        let bounds = self.plan.bounds();
        let cap = bounds.output.unwrap_or(OUTPUT);
        let mut buffers = [Buffer::new(cap, bounds.keep), Buffer::new(cap, bounds.keep)];
        let mut said = Said::default();
        let mut last_output = self.started;
        let mut chunk = vec![0; 64 << 10];
        loop {
            let now = Instant::now();
            let due = due(&bounds, self.started, last_output);
            if due.is_some_and(|(due, _)| due <= now) && said.over.is_none() {
                said.over = due.map(|(_, end)| end);
                self.sandbox.kill();
            }
            let timeout = if said.over.is_some() { None } else { due.map(|(due, _)| due - now) };
            let ready = self.watch(timeout, said.closed);
            if ready.control {
                said.hear(receive(self.control.as_fd()));
            }
            if ready.input {
                self.feed = std::mem::replace(&mut self.feed, Feed::None).pump();
            }
            for ((drain, buffer), ready) in
                self.drains.iter_mut().zip(&mut buffers).zip(ready.output)
            {
                if ready && drain.pump(&mut chunk, buffer) {
                    last_output = Instant::now();
                }
            }
            let done = self.drains.iter().all(|drain| matches!(drain, Drain::None));
            if said.closed && done {
                break;
            }
        }
        let ended = self.sandbox.end();
        let duration = self.started.elapsed();
        if let Some(mounts) = self.mounts.take() {
            mounts.release();
        }
        let seen = self.guard.take().map(Guard::finish).unwrap_or_default();
        drop(self.reserved.take());
        let set_aside = self.plan.after().map(after::look_over).unwrap_or_default();
        let mut outcome = self.outcome(&said, ended, buffers, duration)?;
        outcome.notes.extend(seen);
        outcome.notes.extend(set_aside);
        Ok(outcome)
    }

    fn outcome(
        self,
        said: &Said,
        ended: Option<Ended>,
        buffers: [Buffer; 2],
        duration: Duration,
    ) -> Result<Outcome, CannotStart> {
        let end = if let Some((step, errno)) = said.failed {
            let number = usize::try_from(step).unwrap_or(usize::MAX);
            match self.plan.steps().get(number) {
                Some(Step::Exec { .. }) if errno == libc::ENOENT => End::NotFound,
                Some(Step::Exec { .. }) => End::NotStarted(errno),
                step => {
                    let step = step.map_or("the reaper".into(), ToString::to_string);
                    let errno = std::io::Error::from_raw_os_error(errno);
                    return Err(CannotStart::Step { number, step, errno });
                }
            }
        } else if let Some(end) = said.over {
            end
        } else if let Some(status) = said.ended {
            match status & 0x7f {
                0 => End::Exited((status >> 8) & 0xff),
                signal => End::Signalled(signal),
            }
        } else if self.stop.load(Ordering::SeqCst) {
            End::Stopped
        } else {
            // The first process went without a word: somebody outside has killed it.
            return Err(CannotStart::Lost);
        };
        let [stdout, stderr] = buffers.map(Buffer::finish);
        let usage = ended.map_or(Usage::default(), |ended| Usage {
            user: Duration::from_micros(ended.user),
            system: Duration::from_micros(ended.system),
            peak_memory: ended.peak.saturating_mul(1024),
        });
        let enforced = self.plan.enforced().to_vec();
        let notes = self.plan.notes().to_vec();
        Ok(Outcome { end, stdout, stderr, duration, enforced, notes, usage })
    }

    /// Waits until something can be done, or the time is up.
    fn watch(&self, timeout: Option<Duration>, closed: bool) -> Ready {
        let mut wanted: Vec<(usize, BorrowedFd<'_>, PollFlags)> = Vec::with_capacity(4);
        if !closed {
            wanted.push((0, self.control.as_fd(), PollFlags::IN));
            wanted.extend(self.feed.wants().map(|(fd, flags)| (1, fd, flags)));
        }
        for (number, drain) in self.drains.iter().enumerate() {
            wanted.extend(drain.wants().map(|fd| (2 + number, fd, PollFlags::IN)));
        }
        let mut watched: Vec<PollFd<'_>> =
            wanted.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        let timeout = timeout.map(|time| Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        });
        let mut ready = Ready { control: false, input: false, output: [false; 2] };
        if poll(&mut watched, timeout.as_ref()).is_err() {
            return ready;
        }
        for (one, (what, ..)) in watched.iter().zip(&wanted) {
            let is = !one.revents().is_empty();
            match what {
                0 => ready.control = is,
                1 => ready.input = is,
                2 => ready.output[0] = is,
                _ => ready.output[1] = is,
            }
        }
        ready
    }
}

/// What can be done now.
struct Ready {
    control: bool,
    input: bool,
    output: [bool; 2],
}

/// What the sandbox has said, and what was done about it.
#[derive(Default)]
struct Said {
    failed: Option<(u32, i32)>,
    ended: Option<i32>,
    over: Option<End>,
    closed: bool,
}

impl Said {
    fn hear(&mut self, heard: rustix::io::Result<Option<Message>>) {
        match heard {
            Ok(Some(Message::Failed { step, errno })) => {
                // The first failure is the cause of the others.
                self.failed.get_or_insert((step, errno));
            }
            Ok(Some(Message::Ended(status))) => self.ended = Some(status),
            Ok(Some(Message::Go | Message::Signal(_))) | Err(Errno::AGAIN) => {}
            Ok(None) | Err(_) => self.closed = true,
        }
    }
}

fn due(bounds: &Bounds, started: Instant, last: Instant) -> Option<(Instant, End)> {
    let time =
        bounds.time.and_then(|time| started.checked_add(time)).map(|due| (due, End::TimedOut));
    let idle = bounds.idle.and_then(|idle| last.checked_add(idle)).map(|due| (due, End::Idle));
    [time, idle].into_iter().flatten().min_by_key(|(due, _)| *due)
}
