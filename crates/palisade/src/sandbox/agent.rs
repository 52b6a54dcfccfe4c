//! What a run for an agent does before it starts: the agent's state is there, and where it works is
//! known to those who must not read it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use palisade_plan::{Note, Order, Plain};
use palisade_policy::Policy;
use palisade_policy::layer::Layer;
use palisade_policy::name::Folder;
use palisade_policy::policy::Require;

use super::{CannotRun, Job, Sandbox};
use crate::places::shown;
use crate::workspaces::{InUse, Unknown, Workspace};

impl Sandbox {
    /// Says where the agent works, and hides where others do. That the first cannot be remembered is
    /// noted; nothing runs while the second is not known.
    pub(super) fn enter_workspace(&self, order: &mut Order) -> Result<Option<InUse>, CannotRun> {
        let session = &self.0.session;
        let (Some(agent), Some(known)) = (session.agent(), self.0.workspaces.as_ref()) else {
            return Ok(None);
        };
        self.make_state();
        let mut in_use = match known.enter(agent, &session.root().path) {
            Ok(in_use) => Some(in_use),
            Err(error @ Unknown::Unwritable { .. }) => {
                let message = format!("other agents are not kept from this workspace: {error}");
                order.notes.push(Note { code: "workspaces", message });
                None
            }
            Err(unknown) => return Err(unknown.into()),
        };
        self.tell_of_running(agent, in_use.as_ref(), order);
        let others = known.of_others(agent).map_err(CannotRun::from);
        match others.and_then(|others| self.hide_newcomers(&others, order)) {
            Ok(()) => Ok(in_use),
            Err(error) => {
                in_use.iter_mut().for_each(InUse::nothing_ran);
                Err(error)
            }
        }
    }

    /// Refuses a folder that does not exist behind the walls, because another agent works there.
    pub(super) fn check_ours(&self, folder: &Path) -> Result<(), CannotRun> {
        if !self.hides() {
            return Ok(());
        }
        let Some(other) = self.0.session.hiding(folder) else { return Ok(()) };
        let (agent, root) = (other.agent.clone(), other.root.clone());
        Err(CannotRun::Others { folder: folder.to_owned(), agent, root })
    }

    /// Returns whether anything of ours hides anything.
    pub(super) fn hides(&self) -> bool {
        let external = self.0.session.policy().require.value() == Require::External;
        !external && self.unconfined().is_none()
    }

    /// Notes who can read this place, because they began before it was known.
    fn tell_of_running(&self, agent: &str, in_use: Option<&InUse>, order: &mut Order) {
        let here = shown(&self.0.session.root().path);
        // Tasks of one file know each other before the first begins.
        let before = in_use.iter().flat_map(|it| &it.before);
        for Workspace { agent: other, root: there, .. } in
            before.filter(|it| !self.0.beside.contains(&it.root))
        {
            let there = shown(there);
            let message = format!(
                "`{other}` was running in `{there}` before `{here}` was known as a workspace of \
                 `{agent}`, and can read it until it ends"
            );
            order.notes.push(Note { code: "agent-running", message });
        }
    }

    /// Hides the places of those who came since the session was opened.
    fn hide_newcomers(&self, others: &[Workspace], order: &mut Order) -> Result<(), CannotRun> {
        let session = &self.0.session;
        let lifted = session.policy().files.unhide.entries();
        for other in others {
            let unnamed = |_| CannotRun::NoText { folder: other.root.clone() };
            let folder = Folder::literal(&other.root).map_err(unnamed)?;
            let pattern = folder.as_pattern();
            order.others.push(other.root.clone());
            let open = lifted.iter().any(|open| open.value.covers(pattern));
            let around = session.root().path.starts_with(&other.root);
            if !open && !around && !order.hide.contains(pattern) {
                order.hide.push(pattern.clone());
            }
        }
        Ok(())
    }

    /// Returns what is executed for a job, and the shell that reads it, if one does. To a known agent
    /// it is said that its own sandbox is off. That is our word and no part of the call, in which the
    /// same would be a way to shake a guard off.
    pub(super) fn argv(&self, job: &Job) -> (Vec<String>, Option<&'static str>) {
        let (argv, shell) = job.words.argv();
        match self.0.session.known_agent().filter(|_| shell.is_none()) {
            Some(preset) => (preset.adapted(&argv), None),
            None => (argv, shell),
        }
    }

    /// Returns the same as it is where nothing of ours confines it: then the agent's own sandbox is
    /// all there is, and stays as its user has it. What we say of it is left out before anything else
    /// is worked out, so that what lies below it holds: a variable that the policy passes.
    pub(super) fn plain(&self, job: &Job, policy: &Policy) -> Option<Plain> {
        let preset = self.0.session.known_agent()?;
        let mut policy = policy.clone();
        policy.env.set.retain(|name, value| {
            let ours = value.origin.layer <= Layer::Preset;
            !(ours && preset.switches().any(|switch| switch == name.as_str()))
        });
        let environment = palisade_plan::environment(&policy, &self.0.environment);
        Some(Plain { argv: job.words.argv().0, environment: job.added_to(environment) })
    }

    /// Makes the folders in which a known agent keeps its state: what is not there cannot be opened
    /// for it, and what it wrote elsewhere would be lost.
    fn make_state(&self) {
        let session = &self.0.session;
        let Some(preset) = session.known_agent() else { return };
        let written: Vec<_> = session.policy().files.write.values().collect();
        for folder in preset.state.iter().filter(|folder| written.contains(&&folder.value)) {
            // Where it cannot be made, the plan says that it is not there.
            DirBuilder::new().recursive(true).mode(0o700).create(folder.value.path()).ok();
        }
    }
}
