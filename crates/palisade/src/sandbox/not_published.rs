//! No published ports: only Linux has a network of its own for each run.

use palisade_apply::Running;
use palisade_plan::Plan;
use palisade_policy::policy::Network;

use super::error::CannotRun;

/// What nobody is led to.
#[derive(Debug)]
pub(super) struct Published;

impl Published {
    /// There is nothing to take.
    #[expect(clippy::unnecessary_wraps, reason = "the shape of the other, which may fail")]
    pub(super) fn take(_: &Plan, _: &Network) -> Result<Self, CannotRun> {
        Ok(Self)
    }

    /// There is nothing to attend to.
    #[expect(clippy::unused_self, reason = "the shape of the other")]
    pub(super) fn attend(&mut self, running: Running) -> Running {
        running
    }

    /// There is nothing to give back.
    pub(super) fn close(self) {}
}
