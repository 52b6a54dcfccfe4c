//! Folders of others: what nobody in this session may read, whatever the policy says.

use std::path::Path;

use palisade_policy::Policy;
use palisade_policy::key::{Field as _, Refusals, Sourced};
use palisade_policy::layer::{Layer, Origin, Scope};
use palisade_policy::name::{Folder, PathPattern};

use super::error::{OpenError, Warning};
use super::request::Request;
use super::said_by;
use crate::workspaces::Workspace;

/// Folders of others, which every policy of a session hides.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    /// Where other agents work.
    others: Vec<Workspace>,
    /// What the caller keeps apart.
    kept: Vec<Sourced<PathPattern>>,
}

impl Apart {
    /// Works out what the caller keeps apart, beside where other agents work.
    pub(super) fn new(
        others: Vec<Workspace>,
        request: &Request,
        root: &Path,
    ) -> Result<Self, OpenError> {
        let mut kept = Vec::new();
        for folder in &request.apart {
            let folder = request.cwd.join(folder);
            // By what it is, too: a link beside it must lead no further.
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            if root.starts_with(&real) || real.starts_with(root) {
                return Err(OpenError::Apart { own: root.into(), other: real });
            }
            for path in [&real, &folder] {
                let value = Folder::literal(path)?.as_pattern().clone();
                kept.push(Sourced { value, origin: said_by(request.layer()) });
            }
        }
        Ok(Self { others, kept })
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
        let warnings = hide_others(policy, &self.others, root)?;
        self.kept.iter().for_each(|entry| policy.hide_for_good(entry.clone()));
        Ok(warnings)
    }
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
            let (agent, root) = (agent.clone(), other.clone());
            warnings.push(Warning::SharedWorkspace { agent, root });
        } else {
            add(policy, &folder, agent);
        }
    }
    Ok(warnings)
}

fn add(policy: &mut Policy, folder: &Folder, agent: &str) {
    let value = folder.as_pattern().clone();
    if !policy.files.hide.values().any(|hidden| *hidden == value) {
        // Whoever is refused something there is told why.
        let origin = Origin {
            scope: Scope::Agent(agent.into()),
            file: Some("workspace of another agent".into()),
            ..said_by(Layer::BuiltIn)
        };
        let entry = Sourced { value, origin };
        policy.files.hide.merge(Refusals::new(vec![entry]));
    }
}
