//! Folders of others: what nobody in this session may read, whatever the policy says.

use std::path::Path;

use palisade_policy::jail::OWN_STATE;
use palisade_policy::key::{Field as _, Grants, Refusals, Sourced};
use palisade_policy::layer::{Layer, Origin, Scope};
use palisade_policy::name::{Anchors, Folder, PathPattern};
use palisade_policy::{Policy, agent};

use super::error::{OpenError, Warning};
use super::request::Request;
use super::said_by;
use crate::places::OWN;
use crate::workspaces::Workspace;

/// Folders of others, which every policy of a session hides.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    /// Where other agents work.
    others: Vec<Workspace>,
    /// Where other agents keep what they wrote down, wherever they worked.
    states: Vec<(&'static str, Folder)>,
    /// What the caller keeps apart, and what we keep for ourselves.
    kept: Vec<Sourced<PathPattern>>,
}

impl Apart {
    /// Works out what the caller keeps apart, and what is other agents'.
    pub(super) fn new(
        agent: Option<&str>,
        request: &Request,
        anchors: &Anchors,
    ) -> Result<Self, OpenError> {
        let root = &anchors.root;
        let (mut others, mut states) = (Vec::new(), Vec::new());
        if let Some(agent) = agent {
            states = agent::states_of_others(agent, anchors).map_err(OpenError::Text)?;
            if let Some(known) = request.workspaces() {
                others = known.of_others(agent)?;
            }
        }
        let mut kept = Vec::new();
        for folder in &request.apart {
            let folder = request.cwd.join(folder);
            // By what it is, too: a link beside it must lead no further.
            let real = palisade_apply::real(&folder).unwrap_or_else(|_| folder.clone());
            if root.starts_with(&real) || real.starts_with(root) {
                return Err(OpenError::Apart { own: root.clone(), other: real });
            }
            for path in [&real, &folder] {
                let value = Folder::literal(path)?.as_pattern().clone();
                kept.push(Sourced { value, origin: said_by(request.layer()) });
            }
        }
        kept.extend(own_state(request, root));
        Ok(Self { others, states, kept })
    }

    /// Returns whose workspace a folder is that is hidden here, if it is one.
    pub(super) fn hiding(&self, folder: &Path, policy: &Policy, root: &Path) -> Option<&Workspace> {
        let mut others = self.others.iter().filter(|it| folder.starts_with(&it.root));
        others.find(|it| {
            let lifted = Folder::literal(&it.root).is_ok_and(|it| is_lifted(policy, &it));
            !root.starts_with(&it.root) && !lifted
        })
    }

    /// Hides all of them; what cannot be hidden is told of.
    pub(super) fn hide(&self, policy: &mut Policy, root: &Path) -> Result<Vec<Warning>, OpenError> {
        let mut warnings = hide_others(policy, &self.others, root)?;
        warnings.extend(hide_states(policy, &self.states, root));
        self.kept.iter().for_each(|entry| policy.hide_for_good(entry.clone()));
        Ok(warnings)
    }
}

/// Returns what we keep for ourselves. Caches are not among it: a project has its own there.
fn own_state(request: &Request, root: &Path) -> Vec<Sourced<PathPattern>> {
    let Some(state) = request.places().state else { return Vec::new() };
    let real = palisade_apply::real(&state).ok().filter(|real| *real != state);
    let folders = real.iter().chain([&state]).flat_map(|state| OWN.map(|name| state.join(name)));
    // Whoever works in there means to.
    let folders = folders.filter(|folder| !root.starts_with(folder));
    let hidden = folders.filter_map(|folder| Folder::literal(&folder).ok());
    let origin = Origin { file: Some(OWN_STATE.into()), ..said_by(Layer::BuiltIn) };
    hidden
        .map(|folder| Sourced { value: folder.as_pattern().clone(), origin: origin.clone() })
        .collect()
}

fn is_lifted(policy: &Policy, folder: &Folder) -> bool {
    let mut open = policy.files.unhide.entries().iter();
    open.any(|open| open.value.covers(folder.as_pattern()))
}

/// Hides where other agents work; what cannot be hidden is told of.
fn hide_others(
    policy: &mut Policy,
    others: &[Workspace],
    root: &Path,
) -> Result<Vec<Warning>, OpenError> {
    let mut warnings = Vec::new();
    for Workspace { root: other, agent, .. } in others {
        let folder = Folder::literal(other)?;
        if is_lifted(policy, &folder) {
            continue; // somebody who may say so has lifted it
        }
        // The same folder too: whoever starts a second agent in it shares it.
        if root.starts_with(other) {
            // They come by their roots.
            if let Some(Warning::SharedWorkspace { agents, root }) = warnings.last_mut()
                && *root == *other
            {
                agents.push(agent.clone());
                continue;
            }
            let (agents, root) = (vec![agent.clone()], other.clone());
            warnings.push(Warning::SharedWorkspace { agents, root });
        } else {
            add(policy, &folder, agent, "workspace of another agent");
        }
    }
    Ok(warnings)
}

/// Hides where other agents keep their state, unless a policy opens it by name. A folder inside that
/// a policy opens can be read; nothing in a hidden place can be written.
fn hide_states(
    policy: &mut Policy,
    states: &[(&'static str, Folder)],
    root: &Path,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (agent, folder) in states {
        let path = folder.path();
        if is_lifted(policy, folder) {
            continue; // somebody who may say so has opened it
        }
        if root.starts_with(&path) {
            warnings.push(Warning::OthersState { agent, folder: path });
            continue;
        }
        let write = policy.files.write.entries().iter();
        let inside: Vec<_> = write.filter(|open| open.value.path().starts_with(&path)).collect();
        if inside.iter().any(|open| open.value.path() == path) {
            continue; // the same, by another key
        }
        let mut readable = Vec::new();
        for Sourced { value, origin } in inside {
            readable.push(Sourced { value: value.as_pattern().clone(), origin: origin.clone() });
            warnings.push(Warning::InOthersState { agent, folder: value.path() });
        }
        if !readable.is_empty() {
            policy.files.allow_read.merge(Grants::new(readable));
        }
        add(policy, folder, agent, "state of another agent");
    }
    warnings
}

fn add(policy: &mut Policy, folder: &Folder, agent: &str, what: &str) {
    let value = folder.as_pattern().clone();
    if !policy.files.hide.values().any(|hidden| *hidden == value) {
        // Whoever is refused something there is told why.
        let origin = Origin {
            scope: Scope::Agent(agent.into()),
            file: Some(what.into()),
            ..said_by(Layer::BuiltIn)
        };
        let entry = Sourced { value, origin };
        policy.files.hide.merge(Refusals::new(vec![entry]));
    }
}
