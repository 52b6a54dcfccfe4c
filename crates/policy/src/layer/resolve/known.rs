//! Agents that Palisade knows, and no policy speaks of.

use super::{CannotResolve, Choice, Stack, Trust};
use crate::agent::{self, AgentPreset};
use crate::dialect;
use crate::policy::{Document, Policy};

/// What is known of the agent that was chosen.
#[derive(Default)]
pub(super) struct Known {
    /// It holds, because no policy that counts speaks of the agent.
    pub(super) holds: Option<Box<AgentPreset>>,
    /// A policy says what holds instead.
    pub(super) spoken_of: Option<Box<AgentPreset>>,
}

impl Stack {
    /// Returns what is known of the agent that was chosen, unless a policy that counts speaks of it:
    /// whoever writes one says all of it. A file of another system that confines says what may be
    /// written and reached, as that system documents, and is not widened either.
    pub(super) fn agent_preset(
        &self,
        choice: &Choice,
        trust: Trust,
    ) -> Result<Known, CannotResolve> {
        let Some(name) = &choice.agent else { return Ok(Known::default()) };
        let says_all = |document: &Document| {
            // Native files have no switch.
            let foreign = document.dialect.is_some_and(|dialect| dialect != dialect::native())
                || !document.enabled.is_empty();
            let confines = document.confines() && document.switched_off(choice).is_none();
            let task = choice.task.as_ref().and_then(|name| document.tasks.get(name));
            let parts = task.map(|task| &task.policy).into_iter().chain([&document.policy]);
            let speaks = parts.into_iter().any(|part| *part != Policy::default());
            document.agents.contains_key(name) || foreign && confines && speaks
        };
        let mut heard = self.documents.iter().filter(|(layer, _)| trust.hears(*layer));
        if !heard.clone().any(|(_, document)| says_all(document)) {
            let holds = agent::named(name, self.builtin.anchors())?;
            return Ok(Known { holds: holds.map(Box::new), spoken_of: None });
        }
        let spoken = heard.any(|(_, document)| document.agents.contains_key(name));
        let known = spoken.then(|| agent::named(name, self.builtin.anchors())).transpose()?;
        Ok(Known { holds: None, spoken_of: known.flatten().map(Box::new) })
    }
}
