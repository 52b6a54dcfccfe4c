//! Outside a running sandbox: its streams, its time, its end.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palisade_plan::{Plan, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::accounts::Announced;
use super::after;
use super::attend::{Signals, Told, sleep_job};
use super::bounds::{due, ended_by, met_memory};
use super::error::CannotStart;
use super::family::Family;
use super::full;
use super::group::Group;
use super::guard::Guard;
use super::inlet::Inlets;
use super::kept::Buffer;
use super::leftover::Leftover;
use super::maker::Maker;
use super::message::{Message, receive_with, send};
use super::outcome::{Bound, End, Outcome, Usage, Used, Violations};
use super::quiet::Quiet;
use super::reserve::Reserved;
use super::said::Said;
use super::sample::{Counts, Sampler};
use super::sandbox::Sandbox;
use super::scratch::Scratch;
use super::streams::{Drain, Feed};
use super::terminal::{Asked, Patience, Terminal};
use super::touched;
use super::trace::Tracer;
use crate::sys::idle;
use crate::sys::process::Ended;

/// Bytes kept of a captured stream when nobody says (Ruling 13).
const OUTPUT: u64 = 64 << 10;

/// A command that was started. Dropping this ends it, with all its descendants.
#[derive(Debug)]
pub struct Running {
    // In this order: names are given back once nobody is left to take them.
    pub(super) sandbox: Sandbox,
    pub(super) group: Option<Group>,
    pub(super) guard: Option<Guard>,
    pub(super) reserved: Option<Reserved>,
    pub(super) mounts: Option<Leftover>,
    #[expect(dead_code, reason = "removed when dropped, once nobody is left to use it")]
    pub(super) scratch: Option<Scratch>,
    pub(super) announced: Option<Announced>,
    pub(super) control: OwnedFd,
    pub(super) feed: Feed,
    pub(super) drains: [Drain; 2],
    pub(super) terminal: Option<Terminal>,
    pub(super) plan: Plan,
    pub(super) started: Instant,
    pub(super) clock: Timespec,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) brief: bool,
    pub(super) inlets: Option<Keeper<Inlets>>,
    pub(super) maker: Option<Keeper<Maker>>,
}

/// Who gets something that a sandbox hands over.
pub(super) struct Keeper<T>(Box<dyn FnOnce(T) + Send>);

impl<T> fmt::Debug for Keeper<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keeper")
    }
}

/// Stops a running command from anywhere.
#[derive(Clone, Debug)]
pub struct Stop {
    pidfd: Arc<OwnedFd>,
    family: Family,
    stop: Arc<AtomicBool>,
}

impl Stop {
    /// Ends the command and all its descendants. Ending one that has ended does nothing.
    pub fn now(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.family.kill(self.pidfd.as_fd());
    }
}

impl Running {
    /// Returns something that stops it from another thread.
    pub fn stop(&self) -> Stop {
        let Sandbox { pidfd, family, .. } = &self.sandbox;
        Stop { pidfd: Arc::clone(pidfd), family: *family, stop: Arc::clone(&self.stop) }
    }

    /// Looks neither for what the command touched nor for what it left in `/tmp`, in the end.
    #[must_use]
    pub fn brief(self) -> Self {
        Self { brief: true, ..self }
    }

    /// Hands the sockets of a filtered network to `keeper`, once there are some: it must come back at
    /// once, and what it does with them ends when the sandbox does. Without one they are closed, and
    /// nothing is reached.
    #[must_use]
    pub fn with_inlets(self, keeper: impl FnOnce(Inlets) + Send + 'static) -> Self {
        Self { inlets: Some(Keeper(Box::new(keeper))), ..self }
    }

    /// Hands whoever makes sockets inside to `keeper`, if the plan publishes ports: it must come back
    /// at once. Without one nothing inside is reached.
    #[must_use]
    pub fn with_maker(self, keeper: impl FnOnce(Maker) + Send + 'static) -> Self {
        Self { maker: Some(Keeper(Box::new(keeper))), ..self }
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
    pub fn wait(self) -> Result<Outcome, CannotStart> {
        self.wait_with(None, &mut || ())
    }

    /// Waits as [`Running::wait`] does, and stands in for the command towards whoever runs this
    /// process, until it ends: an interrupt, hangup or termination is passed on, and a second
    /// interrupt within two seconds, or anything else once more, ends the command; the size of the terminal follows; being put to sleep
    /// and woken concerns both. Signals that this process ignores stay ignored.
    ///
    /// It takes the process's handlers of these signals, so it is for programs that do nothing
    /// else meanwhile; of two that wait at once, only the first is attended.
    ///
    /// # Errors
    ///
    /// As [`Running::wait`].
    pub fn wait_attended(self) -> Result<Outcome, CannotStart> {
        self.wait_with(Signals::catch(), &mut || ())
    }

    /// Waits as [`Running::wait_attended`] does, with signals that were caught before the start: so
    /// none is lost between the two. Without any it waits as [`Running::wait`] does. A program that
    /// gives memory back while it waits for long is asked first to `free` what only the start needed.
    ///
    /// # Errors
    ///
    /// As [`Running::wait`].
    pub fn wait_with(
        mut self,
        signals: Option<Signals>,
        free: &mut dyn FnMut(),
    ) -> Result<Outcome, CannotStart> {
        let bounds = self.plan.bounds();
        let cap = bounds.output.unwrap_or(OUTPUT);
        let mut buffers = [Buffer::new(cap, bounds.keep), Buffer::new(cap, bounds.keep)];
        let mut said = Said::default();
        let mut patience = Patience::default();
        let mut sampler = Sampler::new(self.sandbox.pid(), &bounds, Counts::of(&self.plan));
        let mut last_output = self.started;
        let mut is_late = false;
        let mut quiet = Quiet::new(Instant::now());
        // Room for output, if any is ours to read.
        let is_read = self.drains.iter().any(|drain| !matches!(drain, Drain::None));
        let mut chunk = vec![0; if is_read { 64 << 10 } else { 0 }];
        loop {
            let now = Instant::now();
            let due = due(&bounds, self.started, last_output);
            if due.is_some_and(|(due, _)| due <= now) && !is_late {
                is_late = true;
                // Only who reads what it wrote is waited for, once it has ended by itself.
                if said.ended.is_none() && !said.closed {
                    said.over = due.map(|(_, end)| end);
                    self.sandbox.kill();
                }
                self.drains.iter_mut().for_each(Drain::hurry);
            }
            if let Some(bound) = sampler.as_mut().and_then(|sampler| sampler.look(now)) {
                said.limit.get_or_insert(bound);
                self.stop().now();
            }
            let timeout = due.filter(|_| !is_late).map(|(due, _)| due - now);
            let sample =
                sampler.as_ref().map(|sampler| sampler.next().saturating_duration_since(now));
            let look = self.guard.as_mut().and_then(|guard| {
                guard.look(now);
                guard.due().map(|due| due.saturating_duration_since(now))
            });
            if quiet.as_mut().is_some_and(|quiet| quiet.is_long(now)) {
                idle::gather();
                free();
                said.free(&mut self.plan);
                idle::give_back();
            }
            let calm = quiet.as_ref().and_then(Quiet::due).map(|due| due - now);
            let keys = self.terminal.as_ref().and_then(Terminal::due);
            let timeout = timeout.into_iter().chain(sample).chain(look).chain(calm).chain(keys);
            let ready = self.watch(timeout.min(), said.closed, signals.as_ref());
            if let Some(quiet) = quiet.as_mut().filter(|_| !ready.is_empty()) {
                quiet.stir(Instant::now());
            }
            let is = |what| ready.contains(&what);
            if is(Watched::Control) {
                let (heard, along) = receive_with(self.control.as_fd());
                if let Ok(Some(message)) = &heard {
                    self.take(*message, along, &mut said);
                }
                said.hear(heard);
            }
            if is(Watched::Input) {
                self.feed = std::mem::replace(&mut self.feed, Feed::None).pump();
            }
            let drains = self.drains.iter_mut().zip(&mut buffers);
            for (number, (drain, buffer)) in drains.enumerate() {
                if is(Watched::Output(number)) {
                    if drain.pump(&mut chunk, buffer) {
                        last_output = Instant::now();
                    }
                } else if is(Watched::End) {
                    drain.is_all(buffer);
                }
            }
            if let Some(terminal) = &mut self.terminal {
                if (is(Watched::Inner) || is(Watched::Screen)) && terminal.show() {
                    last_output = Instant::now();
                }
                if is(Watched::End) && !is(Watched::Inner) {
                    terminal.is_all();
                }
                terminal.hand_over();
                let asked = match is(Watched::Keys) {
                    true => terminal.type_in(&mut patience),
                    false => Asked::Nothing,
                };
                match asked {
                    Asked::Nothing => {}
                    Asked::Kill => self.stop().now(),
                    // To all of our job, as the terminal would.
                    Asked::Suspend => sleep_job(signals.is_some()),
                }
            }
            for told in signals.iter().filter(|_| is(Watched::Signals)) {
                told.told(&mut patience).into_iter().for_each(|told| self.obey(told));
            }
            // Where nobody is left, what remains is done while the kernel takes the sandbox down.
            if (said.closed || said.is_last) && self.has_passed_all() {
                break;
            }
        }
        std::mem::replace(&mut self.feed, Feed::None).give_back();
        if !said.is_last {
            self.sandbox.end();
        }
        if self.group.take().is_some_and(|group| group.ran_out_of_memory()) {
            said.limit.get_or_insert(Bound::Memory);
        }
        let duration = self.started.elapsed();
        self.terminal = None;
        let seen = self.guard.take().map(Guard::finish).unwrap_or_default();
        let names = self.reserved.as_ref().map(Reserved::names);
        self.reserved.iter().for_each(Reserved::give_names_back);
        let since = (!self.brief).then_some(self.clock);
        let looked = self.plan.after().map(|it| after::look_over(it, names.as_deref(), since));
        let ended = self.sandbox.end();
        let janitor = match self.mounts.take() {
            Some(mounts) => {
                mounts.release(self.reserved.take());
                None
            }
            None => self.reserved.take().map(Reserved::give_back),
        };
        let reached = sampler.map(Sampler::reached).unwrap_or_default();
        let announced = self.announced.take().map(Announced::looked_over);
        let mut outcome = self.outcome(said, ended, buffers, duration, reached)?;
        seen.tell(&mut outcome);
        announced.iter().for_each(|announced| announced.tell(&mut outcome.enforced));
        looked.unwrap_or_default().tell(&mut outcome);
        outcome.notes.extend(names.and_then(|names| names.stayed()));
        // Awaited last: it ends while we look around.
        drop(janitor);
        Ok(outcome)
    }

    /// Takes the descriptors that came with a message.
    fn take(&mut self, message: Message, mut along: Vec<OwnedFd>, said: &mut Said) {
        match message {
            Message::Inlets(rung) => {
                let inlets = Inlets::new(rung, along);
                inlets
                    .zip(self.inlets.take())
                    .into_iter()
                    .for_each(|(inlets, keeper)| (keeper.0)(inlets));
            }
            Message::Terminal => {
                if let Some((terminal, along)) = self.terminal.as_mut().zip(along.pop()) {
                    terminal.begin(along);
                }
            }
            Message::Listener => {
                said.tracer = along.pop().and_then(|along| Tracer::start(along, &self.plan));
            }
            Message::Maker => {
                if let Some((keeper, along)) = self.maker.take().zip(along.pop()) {
                    (keeper.0)(Maker::new(along));
                }
            }
            Message::Ended(_) | Message::Last(_) => said.tmp = along.pop(),
            Message::Go
            | Message::Signal(_)
            | Message::Failed { .. }
            | Message::Started
            | Message::Socket(_) => {}
        }
    }

    /// Does what a signal asks for.
    fn obey(&mut self, told: Told) {
        match told {
            Told::Pass(number) => drop(self.signal(number)),
            Told::Kill => self.stop().now(),
            Told::Resize => self.terminal.iter().for_each(Terminal::resize),
            Told::Suspend => {
                self.signal(libc::SIGSTOP).ok();
                self.terminal.iter_mut().for_each(Terminal::suspend);
                rustix::process::kill_process(rustix::process::getpid(), Signal::STOP).ok();
                // This thread may run on for a moment; that we were woken is a signal of its own.
            }
            Told::Resume => {
                self.terminal.iter_mut().for_each(Terminal::resume);
                self.signal(libc::SIGCONT).ok();
            }
        }
    }

    // Apart, so that its variables are not on the stack while we wait.
    #[inline(never)]
    fn outcome(
        self,
        said: Said,
        ended: Option<Ended>,
        buffers: [Buffer; 2],
        duration: Duration,
        mut reached: Vec<Bound>,
    ) -> Result<Outcome, CannotStart> {
        let end = if let Some((step, errno)) = said.failed {
            let number = usize::try_from(step).unwrap_or(usize::MAX);
            match self.plan.steps().get(number.saturating_sub(said.left_out)) {
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
        } else if said.limit.is_some() {
            End::Signalled(libc::SIGKILL)
        } else if self.stop.load(Ordering::SeqCst) {
            End::Stopped
        } else if said.started {
            // The first process was killed, from outside or by what the command had the kernel do.
            End::Signalled(libc::SIGKILL)
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
        let bounds = self.plan.bounds();
        if stdout.truncated() || stderr.truncated() {
            reached.push(Bound::Output);
        }
        if said.limit.is_none() && met_memory(&bounds, usage) {
            reached.push(Bound::Memory);
        }
        let tmp = said.tmp.filter(|_| touched::has_own_tmp(&self.plan));
        if bounds.tmp.is_some() && tmp.as_ref().is_some_and(|tmp| touched::is_full(tmp.as_fd())) {
            reached.push(Bound::Tmp);
        }
        let is_full =
            |most| full::has_one(&self.plan, self.clock, tmp.as_ref().map(OwnedFd::as_fd), most);
        let limit = said.limit.or_else(|| ended_by(end, &bounds, usage, is_full));
        reached.retain(|bound| Some(*bound) != limit);
        let (violations, used) =
            said.tracer.map_or_else(|| (Violations::Unavailable, Used::default()), Tracer::finish);
        Ok(Outcome {
            limit,
            end,
            stdout,
            stderr,
            duration,
            level: self.plan.level(),
            enforced: self.plan.enforced().to_vec(),
            notes: self.plan.notes().to_vec(),
            usage,
            reached,
            violations,
            used,
            touched: match self.brief {
                true => Vec::new(),
                false => touched::touched(&self.plan, self.clock),
            },
            left_in_tmp: tmp.filter(|_| !self.brief).map(|tmp| touched::left(tmp.as_fd())),
            survivors: self.sandbox.family.survivors(ended),
        })
    }

    /// Returns whether all output has arrived where it goes.
    fn has_passed_all(&self) -> bool {
        self.drains.iter().all(|drain| matches!(drain, Drain::None))
            && self.terminal.as_ref().is_none_or(Terminal::is_done)
    }

    /// Returns whether the command's side of a stream is waited for.
    fn is_reading(&self) -> bool {
        let drains = self.drains.iter().filter_map(Drain::wants);
        let inner = self.terminal.iter().filter_map(|terminal| terminal.wants()[0]);
        drains.chain(inner).any(|(_, flags)| flags.contains(PollFlags::IN))
    }

    /// Waits until something can be done, or the time is up; returns what can be.
    fn watch(
        &self,
        timeout: Option<Duration>,
        closed: bool,
        signals: Option<&Signals>,
    ) -> Vec<Watched> {
        let mut wanted: Vec<(Watched, BorrowedFd<'_>, PollFlags)> = Vec::with_capacity(8);
        if closed {
            // Its first process ends last. A stream may be open for longer, if it was given away.
            let end = (Watched::End, self.sandbox.pidfd(), PollFlags::IN);
            wanted.extend(self.is_reading().then_some(end));
        } else {
            wanted.push((Watched::Control, self.control.as_fd(), PollFlags::IN));
            wanted.extend(self.feed.wants().map(|(fd, flags)| (Watched::Input, fd, flags)));
        }
        for (number, drain) in self.drains.iter().enumerate() {
            wanted.extend(drain.wants().map(|(fd, flags)| (Watched::Output(number), fd, flags)));
        }
        let names = [Watched::Inner, Watched::Keys, Watched::Screen];
        for (name, wish) in names.into_iter().zip(self.terminal.iter().flat_map(Terminal::wants)) {
            wanted.extend(wish.map(|(fd, flags)| (name, fd, flags)));
        }
        wanted.extend(signals.map(|signals| (Watched::Signals, signals.wants(), PollFlags::IN)));
        let mut watched: Vec<PollFd<'_>> =
            wanted.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        let timeout = timeout.and_then(|time| Timespec::try_from(time).ok());
        if poll(&mut watched, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        let ready = watched.iter().zip(&wanted).filter(|(one, _)| !one.revents().is_empty());
        ready.map(|(_, (what, ..))| *what).collect()
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Watched {
    /// The sandbox says something.
    Control,
    /// The sandbox has ended.
    End,
    /// The command can be fed.
    Input,
    /// The command has written to a stream.
    Output(usize),
    /// The sandbox's terminal.
    Inner,
    /// A person typed.
    Keys,
    /// The person's terminal can show more.
    Screen,
    /// A signal reached us.
    Signals,
}
