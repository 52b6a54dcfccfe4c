//! What Palisade itself brings: the policy below all others, the presets and the profiles.
//!
//! They are files under `policies/`, read by the same reader as everybody's. An unset list that
//! closes is an open one, so a built-in text that cannot be read is an error like any other: there
//! is no policy without it.

use crate::key::Field;
use crate::layer::{Layer, Origin};
use crate::name::Anchors;
use crate::policy::{Document, Policy, Preset, Profile};
use crate::text::{Diagnostic, Source};

/// The built-in texts, read for one project and one home.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    policy: Policy,
    confined: Policy,
    runner: Policy,
    profiles: [Policy; 3],
}

impl BuiltIn {
    /// Reads them. Where there is no home, what they say of it names nothing.
    ///
    /// # Errors
    ///
    /// When a path of the project or the home cannot be named.
    pub fn read(anchors: &Anchors) -> Result<Self, Vec<Diagnostic>> {
        let home = anchors.home.clone().unwrap_or_else(|| "/nonexistent".into());
        let anchors = &Anchors { root: anchors.root.clone(), home: Some(home) };
        let read = |name: &str, text: &str, layer: Layer| {
            let source = Source::new(&format!("policies/{name}.yaml"), text);
            Document::parse(&source, layer, anchors).map(|document| document.policy)
        };
        let profile = |name: &str, text: &str| {
            read(&format!("profiles/{name}"), text, Layer::BuiltIn).map(Field::into_default)
        };
        let [readonly, no_network, write] = Profile::NAMES;
        Ok(Self {
            policy: read(
                "builtin",
                include_str!("../../../policies/builtin.yaml"),
                Layer::BuiltIn,
            )?,
            confined: read(
                "presets/confined",
                include_str!("../../../policies/presets/confined.yaml"),
                Layer::Preset,
            )?,
            runner: read(
                "presets/runner",
                include_str!("../../../policies/presets/runner.yaml"),
                Layer::Preset,
            )?,
            profiles: [
                profile(readonly, include_str!("../../../policies/profiles/readonly.yaml"))?,
                profile(
                    no_network,
                    include_str!("../../../policies/profiles/workspace-write-no-network.yaml"),
                )?,
                profile(write, include_str!("../../../policies/profiles/workspace-write.yaml"))?,
            ],
        })
    }

    /// Returns what holds when nobody says anything.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns what a preset adds to that.
    pub fn preset(&self, preset: Preset) -> &Policy {
        match preset {
            Preset::Runner => &self.runner,
            Preset::Confined
            | Preset::AgentaoReadOnly
            | Preset::AgentaoPlan
            | Preset::AgentaoWorkspaceWrite
            | Preset::AgentaoFullAccess => &self.confined,
        }
    }

    /// Returns the defaults that a built-in profile supplies, as if said by whoever chose it; none
    /// for a profile in a file.
    pub fn profile(&self, profile: &Profile, chosen: &Origin) -> Option<Policy> {
        let [readonly, no_network, write] = &self.profiles;
        let mut policy = match profile {
            Profile::Readonly => readonly.clone(),
            Profile::WorkspaceWriteNoNetwork => no_network.clone(),
            Profile::WorkspaceWrite => write.clone(),
            Profile::File(_) => return None,
        };
        policy.files.write.said_by(chosen.layer);
        policy.network.mode.said_by(chosen.layer);
        Some(policy)
    }
}
