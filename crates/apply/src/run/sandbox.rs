//! The first process of a sandbox: everything in it ends with that.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::process::Pid;

use super::family::Family;
use crate::sys::process::{Ended, Made, await_end};

/// The first process of a sandbox. Dropping it ends the sandbox.
#[derive(Debug)]
pub(super) struct Sandbox {
    pid: Pid,
    pub(super) pidfd: Arc<OwnedFd>,
    pub(super) family: Family,
    ended: Option<Ended>,
}

impl Sandbox {
    pub(super) fn new(made: Made, family: Family) -> Self {
        Self { pid: made.pid, pidfd: Arc::new(made.pidfd), family, ended: None }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    pub(super) fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    pub(super) fn kill(&self) {
        self.family.kill(self.pidfd.as_fd());
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
