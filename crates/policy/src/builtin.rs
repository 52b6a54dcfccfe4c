//! What Palisade itself brings: the policy below all others, the presets and the profiles.
//!
//! They are files under `policies/`, read by the same reader as everybody's. An unset list that
//! closes is an open one, so a built-in text that cannot be read is an error like any other: there
//! is no policy without it.

use std::sync::OnceLock;

use crate::key::{Field, Setting, Sourced};
use crate::layer::{Layer, Origin};
use crate::name::Anchors;
use crate::policy::{Document, Policy, Preset, Profile};
use crate::text::{self, Diagnostic, Source, plain};

/// The built-in texts, read for one project and one home.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    anchors: Anchors,
    policy: Box<Policy>,
    confined: Box<Policy>,
    // Read when they are asked for: nobody asks for all of them, and all wait for what a start does.
    runner: Late,
    profiles: [Late; 3],
}

/// A text that is read when somebody asks for it.
type Late = OnceLock<Result<Box<Policy>, Vec<Diagnostic>>>;

/// Every text, with the name it is known by.
const TEXTS: [(&str, &str); 6] = [
    ("policies/builtin.yaml", include_str!("../../../policies/builtin.yaml")),
    ("policies/presets/confined.yaml", include_str!("../../../policies/presets/confined.yaml")),
    ("policies/presets/runner.yaml", include_str!("../../../policies/presets/runner.yaml")),
    ("policies/profiles/readonly.yaml", include_str!("../../../policies/profiles/readonly.yaml")),
    (
        "policies/profiles/workspace-write-no-network.yaml",
        include_str!("../../../policies/profiles/workspace-write-no-network.yaml"),
    ),
    (
        "policies/profiles/workspace-write.yaml",
        include_str!("../../../policies/profiles/workspace-write.yaml"),
    ),
];

impl BuiltIn {
    /// Reads them. Where there is no home, what they say of it names nothing.
    ///
    /// # Errors
    ///
    /// When a path of the project or the home cannot be named.
    pub fn read(anchors: &Anchors) -> Result<Self, Vec<Diagnostic>> {
        let home = anchors.home.clone().unwrap_or_else(|| "/nonexistent".into());
        let anchors = Anchors { root: anchors.root.clone(), home: Some(home) };
        let [builtin, confined, ..] = TEXTS;
        Ok(Self {
            policy: read(builtin, Layer::BuiltIn, &anchors)?,
            confined: read(confined, Layer::Preset, &anchors)?,
            runner: Late::new(),
            profiles: [const { Late::new() }; 3],
            anchors,
        })
    }

    /// Returns the folders that they were read for.
    pub fn anchors(&self) -> &Anchors {
        &self.anchors
    }

    /// Returns what holds when nobody says anything.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Chooses another profile where nobody says anything.
    pub(crate) fn pick(&mut self, profile: &Profile) {
        if let Some(chosen) = self.policy.profile.sourced() {
            let origin = chosen.origin.clone();
            self.policy.profile = Setting::new(Sourced { value: profile.clone(), origin });
        }
    }

    /// Returns what a preset adds to that.
    ///
    /// # Errors
    ///
    /// As [`BuiltIn::read`].
    pub fn preset(&self, preset: Preset) -> Result<&Policy, Vec<Diagnostic>> {
        match preset {
            Preset::Runner => {
                let [_, _, runner, ..] = TEXTS;
                let read = || read(runner, Layer::Preset, &self.anchors);
                self.runner.get_or_init(read).as_deref().map_err(Clone::clone)
            }
            Preset::Confined
            | Preset::AgentaoReadOnly
            | Preset::AgentaoPlan
            | Preset::AgentaoWorkspaceWrite
            | Preset::AgentaoFullAccess => Ok(&self.confined),
        }
    }

    /// Returns the defaults that a built-in profile supplies, as if said by whoever chose it; none
    /// for a profile in a file.
    ///
    /// # Errors
    ///
    /// As [`BuiltIn::read`].
    pub fn profile(
        &self,
        profile: &Profile,
        chosen: &Origin,
    ) -> Result<Option<Policy>, Vec<Diagnostic>> {
        let [readonly, no_network, write] = &self.profiles;
        let [_, _, _, first, second, third] = TEXTS;
        let (late, text) = match profile {
            Profile::Readonly => (readonly, first),
            Profile::WorkspaceWriteNoNetwork => (no_network, second),
            Profile::WorkspaceWrite => (write, third),
            Profile::File(_) => return Ok(None),
        };
        let read = || {
            let policy = read(text, Layer::BuiltIn, &self.anchors)?;
            Ok(Box::new(policy.into_default()))
        };
        let mut policy = late.get_or_init(read).as_deref().map_err(Clone::clone)?.clone();
        policy.files.write.said_by(chosen.layer);
        policy.network.mode.said_by(chosen.layer);
        Ok(Some(policy))
    }
}

#[cfg(test)]
impl BuiltIn {
    /// Breaks the text that is read last, to see what becomes of that.
    pub(crate) fn break_runner(&mut self) {
        let source = Source::new("policies/presets/runner.yaml", "version: 2");
        let broken = Document::parse(&source, Layer::Preset, &self.anchors);
        self.runner = OnceLock::from(broken.map(|document| Box::new(document.policy)));
    }
}

/// Reads one of the texts.
fn read(
    (name, text): (&str, &str),
    layer: Layer,
    anchors: &Anchors,
) -> Result<Box<Policy>, Vec<Diagnostic>> {
    let source = Source::new(name, text);
    let tree = match plain::parse(&source) {
        Some(tree) => tree,
        None => text::parse(&source).map_err(|problem| vec![problem])?,
    };
    Document::read(&source, &tree, layer, anchors).map(|document| Box::new(document.policy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Node, Span, Value};

    /// The two readers end a block in different places, which nobody asks for.
    fn without_ends(node: Node) -> Node {
        let Node { value, span } = node;
        let value = match value {
            Value::List(items) => Value::List(items.into_iter().map(without_ends).collect()),
            Value::Map(mut entries) => {
                for entry in &mut entries {
                    entry.value = without_ends(entry.value.clone());
                }
                Value::Map(entries)
            }
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::Text(_) => {
                return Node { value, span };
            }
        };
        Node { value, span: Span::new(span.start(), span.start()) }
    }

    #[test]
    fn the_quick_reader_reads_every_text_as_the_reader_of_yaml_does() {
        for (name, text) in TEXTS {
            let source = Source::new(name, text);
            let quick = plain::parse(&source).unwrap_or_else(|| panic!("{name} is not plain"));
            assert_eq!(without_ends(quick), without_ends(text::parse(&source).unwrap()), "{name}");
        }
    }
}
