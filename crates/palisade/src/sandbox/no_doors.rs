//! No doors: only Linux has a network that is filtered.

use palisade_apply::Running;
use palisade_plan::Plan;
use palisade_policy::policy::Network;

use super::Sandbox;
use super::network::Traffic;

/// What nothing goes through.
#[derive(Debug)]
pub(super) struct Doors;

impl Doors {
    /// There is nothing to attend to.
    pub(super) fn attend(
        running: Running,
        _: &Plan,
        _: &Network,
        _: (&Sandbox, &str),
    ) -> (Running, Self) {
        (running, Self)
    }

    /// Nothing went through.
    pub(super) fn close(self) -> Option<Traffic> {
        None
    }
}
