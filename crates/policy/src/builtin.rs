//! What Palisade itself brings: the policy below all others, the presets and the profiles.
//!
//! They are files under `policies/`, read by the same reader as everybody's. Should one of them be
//! broken, it counts as a policy that says nothing, and a key that nobody set is at its strictest.

use crate::key::Field;
use crate::layer::{Layer, Origin};
use crate::name::Anchors;
use crate::policy::{Document, Policy, Preset, Profile};
use crate::text::Source;

/// Returns what holds when nobody says anything.
pub fn policy(anchors: &Anchors) -> Policy {
    let text = include_str!("../../../policies/builtin.yaml");
    read("policies/builtin.yaml", text, Layer::BuiltIn, anchors)
}

/// Returns what a preset adds to that.
pub fn preset(preset: Preset, anchors: &Anchors) -> Policy {
    let (name, text) = match preset {
        Preset::Runner => ("runner", include_str!("../../../policies/presets/runner.yaml")),
        Preset::Confined
        | Preset::AgentaoReadOnly
        | Preset::AgentaoPlan
        | Preset::AgentaoWorkspaceWrite
        | Preset::AgentaoFullAccess => {
            ("confined", include_str!("../../../policies/presets/confined.yaml"))
        }
    };
    read(&format!("policies/presets/{name}.yaml"), text, Layer::Preset, anchors)
}

/// Returns the defaults that a built-in profile supplies, as if said by whoever chose it; none for
/// a profile in a file.
pub fn profile(profile: &Profile, chosen: &Origin, anchors: &Anchors) -> Option<Policy> {
    let text = match profile {
        Profile::Readonly => include_str!("../../../policies/profiles/readonly.yaml"),
        Profile::WorkspaceWriteNoNetwork => {
            include_str!("../../../policies/profiles/workspace-write-no-network.yaml")
        }
        Profile::WorkspaceWrite => include_str!("../../../policies/profiles/workspace-write.yaml"),
        Profile::File(_) => return None,
    };
    let name = format!("policies/profiles/{profile}.yaml");
    Some(read(&name, text, chosen.layer, anchors).into_default())
}

fn read(name: &str, text: &str, layer: Layer, anchors: &Anchors) -> Policy {
    let home = anchors.home.clone().unwrap_or_else(|| "/nonexistent".into());
    let anchors = Anchors { root: anchors.root.clone(), home: Some(home) };
    Document::parse(&Source::new(name, text), layer, &anchors)
        .map(|document| document.policy)
        .unwrap_or_default()
}
