//! Whoever tries.

use std::io;
use std::path::{Path, PathBuf};

use super::scratch::lay_over;
use super::stopping::Stopping;
use super::task::Task;
use crate::session::Request;

/// Somebody who tries to solve tasks, several at the same time.
pub trait Candidate: Sync {
    /// Tries once.
    fn attempt(&self, sample: &Sample<'_>) -> Attempt;

    /// Whether another sample is to be begun. One during which this turns false is not counted.
    fn goes_on(&self) -> bool {
        true
    }
}

/// One try at a task.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The task.
    pub task: &'a Task,
    /// Its number, from zero.
    pub index: u32,
    /// The project: a fresh copy of what the task begins with.
    pub folder: &'a Path,
    /// Folders of others, which nobody who tries may read.
    pub apart: &'a [PathBuf],
    /// What ends the evaluation.
    pub stopping: &'a Stopping,
}

/// What became of a try.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// What it cost, in whatever the candidate counts; none if nobody says.
    pub cost: Option<f64>,
    /// What should be known of it.
    pub notes: Vec<String>,
    /// Why it could not be made at all.
    pub failed: Option<String>,
    /// Whether the policy says no to it.
    pub denied: bool,
}

impl Sample<'_> {
    /// Asks for this sample's project in place of another, with all others hidden.
    pub fn request(&self, of: &Request) -> Request {
        let mut request = of.clone();
        request.cwd = self.folder.into();
        request.root = Some(self.folder.into());
        request.apart.extend(self.apart.iter().cloned());
        request
    }
}

impl Attempt {
    pub(super) fn impossible(why: impl Into<String>) -> Self {
        Self { failed: Some(why.into()), ..Self::default() }
    }
}

/// Puts the solution there: with it every task must be solved.
#[derive(Clone, Copy, Debug)]
pub struct Reference;

impl Candidate for Reference {
    fn attempt(&self, sample: &Sample<'_>) -> Attempt {
        match lay_over(&sample.task.expected(), sample.folder) {
            Ok(()) => Attempt::default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Attempt::impossible("there is no folder `expected` beside `task.json`")
            }
            Err(error) => Attempt::impossible(format!("the solution cannot be copied: {error}")),
        }
    }
}

/// Does nothing: with that no task must be solved.
#[derive(Clone, Copy, Debug)]
pub struct NoOp;

impl Candidate for NoOp {
    fn attempt(&self, _: &Sample<'_>) -> Attempt {
        Attempt::default()
    }
}
