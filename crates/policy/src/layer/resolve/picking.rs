//! What holds for calls for which rules pick another profile.

use super::Stack;
use crate::dialect;
use crate::key::{Grants, Setting, Sourced};
use crate::policy::{Policy, Profile};

impl Stack {
    /// Returns the same texts as if each that chooses a profile had chosen this one: what holds for
    /// calls that rules pick it for.
    #[must_use]
    pub fn picking(&self, profile: &Profile) -> Self {
        let mut stack = self.clone();
        stack.builtin.pick(profile);
        for (_, document) in &mut stack.documents {
            let ours = document.dialect.is_none_or(|dialect| *dialect == *dialect::native());
            for policy in document.policies_mut() {
                let Some(chosen) = policy.profile.sourced().cloned() else { continue };
                policy.profile = Setting::new(Sourced { value: profile.clone(), ..chosen });
                if !ours {
                    policy.move_workspace(profile);
                }
            }
        }
        stack
    }
}

impl Policy {
    /// Says what another profile may write where a system names the workspace beside its profile.
    fn move_workspace(&mut self, profile: &Profile) {
        let named = self.root.sourced().cloned();
        let folder = named.or_else(|| self.files.write.entries().first().cloned());
        self.files.write = match (profile, folder) {
            (Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork, Some(folder)) => {
                Grants::new(vec![folder])
            }
            (
                Profile::File(_)
                | Profile::Readonly
                | Profile::WorkspaceWrite
                | Profile::WorkspaceWriteNoNetwork,
                _,
            ) => Grants::default(),
        };
    }
}
