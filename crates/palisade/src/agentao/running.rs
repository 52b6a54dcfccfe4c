//! From a session of Agentao's sandbox to commands that run in it.

use std::path::PathBuf;

use super::{CannotOpen, SandboxSession, State};
use crate::sandbox::Sandbox;
use crate::session::Request;
use crate::session::request::Switches;

impl SandboxSession {
    /// Makes a sandbox in which what was switched in this session holds, with the folder, the
    /// environment and the policies of `request`; the project is this session's.
    ///
    /// While the sandbox is on, files that cannot be used let nothing run. Switched off, no
    /// `sandbox.json` has a say, and nothing is confined unless another policy file says so: the
    /// session's warnings and every record tell that.
    ///
    /// # Errors
    ///
    /// Anything unreadable or invalid in a policy, or the chosen profile is gone. Nothing was
    /// executed.
    pub fn sandbox(&self, request: &Request) -> Result<Sandbox, CannotOpen> {
        let mut request = request.clone();
        request.root = Some(self.anchors.root.clone());
        if !request.cwd.starts_with(&self.anchors.root) {
            request.cwd.clone_from(&self.anchors.root);
        }
        if let Some(home) = &self.anchors.home {
            request.env.insert("HOME".into(), home.clone().into());
        }
        let named = request.policies.iter().any(|policy| policy.starts_with("agentao:"));
        let lies =
            |folder: &PathBuf| folder.join(".agentao/sandbox.json").symlink_metadata().is_ok();
        if !named
            && [Some(&self.anchors.root), self.anchors.home.as_ref()]
                .into_iter()
                .flatten()
                .any(lies)
        {
            request.policies.push("agentao:".into());
        }
        request.switches = Switches {
            enabled: self.enabled,
            chosen: match self.state() {
                State::Disabled => None,
                State::Broken | State::Enabled => self.chosen()?.map(Box::new),
            },
            trust: Some(self.trust),
        };
        Ok(Sandbox::new(&request)?)
    }
}
