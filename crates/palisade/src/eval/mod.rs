//! Evaluation: how often an agent solves tasks, how long that takes, and what it costs.
//!
//! A [`Task`] is a folder with a goal, files to begin with and a [`Verifier`]. A [`Candidate`] is
//! whoever tries: any command line behind walls ([`CommandLine`]), or a program that embeds this. Each
//! sample has a fresh copy of the files, which no other sample reads; from all of them the tasks are
//! hidden, since the solutions lie there.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `task` | What is to be solved? |
//! | `candidate` | Who tries? |
//! | `verifier` | Is it solved? |
//! | `scratch` | Where? |
//! | `stopping` | How does it end before it is done? |
//! | `report` | What came out? |
//! | `bundled` | Which tasks are there without any of your own? |

pub mod bundled;
mod candidate;
mod command_line;
mod report;
mod scratch;
mod stopping;
mod task;
#[cfg(test)]
mod tests;
mod verifier;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

pub use candidate::{Attempt, Candidate, NoOp, Reference, Sample};
pub use command_line::CommandLine;
pub use report::{Report, SampleReport, TaskReport, p95, pass_at_k};
pub use stopping::Stopping;
pub use task::{CannotLoad, Task, load};
pub use verifier::{Verified, Verifier, WrongVerifier};

use crate::session::Request;
use scratch::{Scratch, lay_over};

/// Tasks, and how they are tried.
#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    /// The tasks.
    pub tasks: &'a [Task],
    /// How often each is tried.
    pub samples: u32,
    /// How many samples are made at the same time.
    pub jobs: usize,
    /// Whose policy holds for the commands of verifiers. The project is each sample's own.
    pub request: &'a Request,
    /// Folders that no sample may read, such as the one of the tasks.
    pub hidden: Vec<PathBuf>,
    /// Where the files of each sample are kept afterwards; nowhere if none is named.
    pub keep: Option<PathBuf>,
    /// Ends it before it is done.
    pub stopping: Stopping,
}

/// Why nothing could be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotEvaluate {
    /// There is no room for samples.
    #[error("cannot make a folder for samples in `{}`", folder.display())]
    Scratch {
        /// Where it was to be.
        folder: PathBuf,
        /// Why not.
        #[source]
        because: io::Error,
    },
}

impl Evaluation<'_> {
    /// Has a candidate try every task, and tells `watch` of each sample when it has ended.
    ///
    /// # Errors
    ///
    /// When there is no room for samples. What goes wrong in one of them is its result.
    pub fn run(
        &self,
        candidate: &dyn Candidate,
        watch: &(dyn Fn(&Task, &SampleReport) + Sync),
    ) -> Result<Report, CannotEvaluate> {
        // The first sample of each task comes before the second of any.
        let turns: Vec<(u32, usize)> = (0..self.samples)
            .flat_map(|sample| (0..self.tasks.len()).map(move |task| (sample, task)))
            .collect();
        let jobs = self.jobs.clamp(1, turns.len().max(1));
        let folder = scratch::parent(self.request);
        let scratch = Scratch::make(&folder, jobs)
            .map_err(|because| CannotEvaluate::Scratch { folder, because })?;
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Vec<SampleReport>>> = Mutex::new(vec![Vec::new(); self.tasks.len()]);
        thread::scope(|scope| {
            for slot in scratch.slots() {
                let (next, done, turns, scratch) = (&next, &done, &turns, &scratch);
                scope.spawn(move || {
                    let apart = [scratch.others(slot), self.hidden.clone()].concat();
                    while self.goes_on(candidate)
                        && let Some((index, at)) = turns.get(next.fetch_add(1, Ordering::Relaxed))
                        && let Some(task) = self.tasks.get(*at)
                    {
                        let report = self.sample(candidate, task, *index, slot, &apart);
                        // What was cut short says nothing about whoever tried.
                        if !self.goes_on(candidate) {
                            break;
                        }
                        watch(task, &report);
                        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                        if let Some(done) = done.get_mut(*at) {
                            done.push(report);
                        }
                    }
                });
            }
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let tasks = self.tasks.iter().zip(done);
        let tasks = tasks.map(|(task, samples)| TaskReport::of(&task.id, samples));
        Ok(Report::of(self.samples, tasks.collect()))
    }

    fn goes_on(&self, candidate: &dyn Candidate) -> bool {
        candidate.goes_on() && !self.stopping.is_stopped()
    }

    /// Makes one sample in a folder that is empty before and afterwards.
    fn sample(
        &self,
        candidate: &dyn Candidate,
        task: &Task,
        index: u32,
        slot: &Path,
        apart: &[PathBuf],
    ) -> SampleReport {
        let mut report = SampleReport::begun(index);
        let verifier = match &task.verifier {
            Ok(verifier) => verifier,
            // Nobody could solve it: whoever tries need not be started.
            Err(wrong) => return report.failed(wrong.to_string()),
        };
        let folder = slot.join("project");
        if let Err(error) = fresh(&folder, task) {
            return report.failed(format!("the files cannot be copied: {error}"));
        }
        let sample = Sample { task, index, folder: &folder, apart, stopping: &self.stopping };
        let clock = Instant::now();
        let attempt = candidate.attempt(&sample);
        report.latency = clock.elapsed();
        (report.cost, report.notes, report.ran) = (attempt.cost, attempt.notes, true);
        report.denied = attempt.denied;
        let verified = match attempt.failed {
            Some(why) => {
                report.ran = false;
                Verified { passed: false, detail: why }
            }
            // It does not count any more.
            None if !self.goes_on(candidate) => return report,
            None => self.verified(verifier, &sample),
        };
        (report.passed, report.detail) = (verified.passed, verified.detail);
        if let Some(keep) = &self.keep {
            let name = format!("{}-{index}", task.name());
            if let Err(error) = lay_over(&folder, &keep.join(name)) {
                report.notes.push(format!("its files cannot be kept: {error}"));
            }
        }
        if let Err(error) = scratch::remove(&folder) {
            report.notes.push(format!("its files cannot be removed: {error}"));
        }
        report
    }

    /// Asks the verifier, with its own files in place of those that somebody may have changed.
    fn verified(&self, verifier: &Verifier, sample: &Sample<'_>) -> Verified {
        if let Err(error) = lay_over(&sample.task.kept_back(), sample.folder)
            && error.kind() != io::ErrorKind::NotFound
        {
            let detail = format!("the verifier's own files cannot be put there: {error}");
            return Verified { passed: false, detail };
        }
        verifier.check(sample, &sample.request(self.request))
    }
}

/// Makes a fresh copy of what a task begins with.
fn fresh(folder: &Path, task: &Task) -> io::Result<()> {
    // What an earlier sample left there and could not be removed must not help the next one.
    match scratch::remove(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    lay_over(&task.buggy(), folder)
}
