//! From what a policy says about a job to a plan for this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_apply::Host;
use palisade_apply::cache::Held;
use palisade_plan::{Enforced, Kernel, Order, Plan, Verbatim, Walls, build};
use palisade_policy::decide::Permit;
use palisade_policy::policy::{Network, Profile, Require};

use super::error::CannotRun;
use super::hint::Under;
use super::latest::Made;
use super::own_state::OwnState;
use super::{Job, Planned, Sandbox};

/// The caller's variable that names the best way for connections to be led to us: tests try the
/// others with it. It lowers, and never raises.
pub(crate) const LOWER: &str = "PALISADE_NETWORK_RUNG";

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
    /// Whether the job brings variables of its own, which may be secrets: nothing keeps them.
    pub(super) is_own: bool,
}

impl Sandbox {
    /// Plans how a command would be confined, and runs nothing. What a run would use of our own state
    /// is made, so that the plan is the one that it would have.
    ///
    /// # Errors
    ///
    /// When it cannot be confined as the policy demands.
    pub fn plan(&self, job: impl Into<Job>) -> Result<Planned, CannotRun> {
        self.plan_with(&job.into(), |job, place, cwd| self.prepared(job, place, cwd))
    }

    /// Plans the same for another engine, which has no use for the caches that a run keeps.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::plan`].
    pub fn plan_elsewhere(&self, job: impl Into<Job>) -> Result<Planned, CannotRun> {
        self.plan_with(&job.into(), |job, place, cwd| {
            let own = self.0.state.as_deref().map(OwnState::look).transpose()?;
            let mut ordered = self.order(job, (place, cwd), own.as_ref())?;
            own.map_or(Ok(()), |own| own.hide_caches(&mut ordered.order, None))?;
            Ok((ordered, None))
        })
    }

    fn plan_with(
        &self,
        job: &Job,
        prepared: impl Fn(&Job, &Path, &str) -> Result<(Ordered, Option<Held>), CannotRun>,
    ) -> Result<Planned, CannotRun> {
        let (cwd, place) = self.folder(job)?;
        let verdict = self.0.guard.decide_as(job.tool.as_deref(), job.words.asked(), &cwd);
        let Some(permit) = verdict.confirmed() else {
            return Ok(Planned::Denied(verdict.reasons().to_vec()));
        };
        let (ordered, _caches) = prepared(job, &place, &cwd)?;
        let plan = self.planned(&permit, &ordered, &Host::probe())?;
        Ok(Planned::Plan { plan: Box::new(plan), asks: verdict.reasons().to_vec() })
    }

    /// Works out what a run of a job is planned from, and takes the caches that it uses.
    pub(super) fn prepared(
        &self,
        job: &Job,
        place: &Path,
        cwd: &str,
    ) -> Result<(Ordered, Option<Held>), CannotRun> {
        let own = self.own_state()?;
        let mut ordered = self.order(job, (place, cwd), own.as_ref())?;
        let caches = self.caches(&mut ordered.order);
        let folder = caches.as_ref().map(Held::folder);
        own.map_or(Ok(()), |own| own.hide_caches(&mut ordered.order, folder))?;
        Ok((ordered, caches))
    }

    /// Plans a permitted job for `host`.
    pub(super) fn planned(
        &self,
        permit: &Permit,
        ordered: &Ordered,
        host: &Host,
    ) -> Result<Plan, CannotRun> {
        let order = &ordered.order;
        let latest = self.0.latest.as_ref().filter(|_| !ordered.is_own);
        let same = latest.map(|latest| latest.of(order)).unwrap_or_default();
        let questions = match same.first() {
            Some(made) => Arc::clone(&made.questions),
            None => Arc::new(order.questions()),
        };
        // Who accepts less gets it only where more cannot be had, which is found out first: a step
        // that fails in the middle of a start tells nobody what could be done instead.
        let mut facts = host.facts(&questions);
        let accepts_less = matches!(order.require, Require::Landlock | Require::None);
        let needs_proc = order.require == Require::Full && order.walls == Walls::Up;
        if accepts_less || (needs_proc && facts.covers_proc()) {
            let left = facts.left;
            facts = host.facts_of(&host.probed(), &questions);
            facts.left.splice(0..0, left);
        }
        let lower = self.0.environment.iter().find(|(name, _)| name == LOWER);
        if let Some((_, word)) = lower.filter(|(_, word)| !word.is_empty()) {
            facts.kernel.network = facts.kernel.network.lowered(word);
        }
        let plan = match same.iter().find(|made| made.facts == facts) {
            Some(made) => made.plan.clone(),
            None => {
                let plan = build(permit, order, &facts)
                    .map_err(|error| CannotRun::said_in(self.0.session.policy(), error))?;
                if let Some(latest) = latest {
                    let (order, plan) = (order.clone(), plan.clone());
                    latest.keep(Made { order, questions, facts, plan });
                }
                plan
            }
        };
        for_this_machine(plan, self.own_text(ordered))
    }

    /// Returns what would hold, layer by layer, of a command that does nothing, on a host with this
    /// kernel and as if the policy required this. It is planned as a run is, and nothing is run.
    pub(crate) fn held_on(
        &self,
        permit: &Permit,
        host: &Host,
        kernel: &Kernel,
        require: Require,
    ) -> Result<Vec<Enforced>, CannotRun> {
        let job = Job::from(["true"]);
        let (cwd, place) = self.folder(&job)?;
        let (mut ordered, _caches) = self.prepared(&job, &place, &cwd)?;
        let order = &mut ordered.order;
        (order.require, order.walls) = (require, Walls::Up);
        let plan = build(permit, order, &host.facts_of(kernel, &order.questions()))
            .map_err(|error| CannotRun::said_in(self.0.session.policy(), error))?;
        let plan = for_this_machine(plan, self.own_text(&ordered))?;
        Ok(host.enforced(&plan))
    }

    /// Returns the text of a profile of the user's own, if it has one.
    fn own_text<'a>(&'a self, ordered: &'a Ordered) -> Option<Verbatim<'a>> {
        let text = self.0.session.profile_text(&ordered.profile)?;
        Some(Verbatim { text, workspace: &ordered.workspace })
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
