//! From what a policy says about a job to a plan for this machine.

use std::path::PathBuf;

use palisade_apply::Host;
use palisade_plan::{Order, Plan, Verbatim, Walls, build};
use palisade_policy::decide::Permit;
use palisade_policy::policy::{Network, Profile, Require};

use super::Sandbox;
use super::error::CannotRun;
use super::hint::Under;

/// The caller's variable that names the best way for connections to be led to us: tests try the
/// others with it. It lowers, and never raises.
const LOWER: &str = "PALISADE_NETWORK_RUNG";

/// What a policy says about a job.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) order: Order,
    /// What it runs under; none if nothing confines it.
    pub(super) under: Option<Under>,
    /// The profile that supplies what no key says.
    pub(super) profile: Profile,
    /// The folder that it means by the workspace.
    pub(super) workspace: PathBuf,
    /// What it says of the network.
    pub(super) network: Network,
}

impl Sandbox {
    /// Plans a permitted job for `host`.
    pub(super) fn planned(
        &self,
        permit: &Permit,
        ordered: &Ordered,
        host: &Host,
    ) -> Result<Plan, CannotRun> {
        let order = &ordered.order;
        let questions = order.questions();
        // Who accepts less gets it only where more cannot be had, which is found out first: a step
        // that fails in the middle of a start tells nobody what could be done instead.
        let mut facts = host.facts(&questions);
        let accepts_less = matches!(order.require, Require::Landlock | Require::None);
        let needs_proc = order.require == Require::Full && order.walls == Walls::Up;
        if accepts_less || (needs_proc && facts.covers_proc()) {
            facts = host.facts_of(&host.probed(), &questions);
        }
        let lower = self.0.environment.iter().find(|(name, _)| name == LOWER);
        if let Some((_, word)) = lower.filter(|(_, word)| !word.is_empty()) {
            facts.kernel.network = facts.kernel.network.lowered(word);
        }
        let plan = build(permit, order, &facts)
            .map_err(|error| CannotRun::said_in(self.0.session.policy(), error))?;
        let own = self.0.session.profile_text(&ordered.profile);
        let own = own.map(|text| Verbatim { text, workspace: &ordered.workspace });
        for_this_machine(plan, own)
    }
}

/// On macOS there is one wall, and profiles of the user's own are in its own language.
#[cfg(target_os = "macos")]
pub(crate) fn for_this_machine(plan: Plan, own: Option<Verbatim<'_>>) -> Result<Plan, CannotRun> {
    palisade_plan::on_macos(&plan, &palisade_apply::HostLookup, own)
        .map_err(|error| CannotRun::Carried(error.to_string()))
}

#[cfg(not(target_os = "macos"))]
#[expect(clippy::unnecessary_wraps, reason = "the shape of the other, which may fail")]
pub(crate) fn for_this_machine(plan: Plan, _: Option<Verbatim<'_>>) -> Result<Plan, CannotRun> {
    Ok(plan)
}
