//! Agents that Palisade knows, and no policy speaks of.

use super::{CannotResolve, Choice, Stack, Trust};
use crate::agent::{self, AgentPreset};
use crate::dialect;
use crate::policy::{Document, Policy};

impl Stack {
    /// Returns what is known of the agent that was chosen, unless a policy that counts speaks of it:
    /// whoever writes one says all of it. A file of another system that confines says what may be
    /// written and reached, as that system documents, and is not widened either.
    pub(super) fn agent_preset(
        &self,
        choice: &Choice,
        trust: Trust,
    ) -> Result<Option<AgentPreset>, CannotResolve> {
        let Some(name) = &choice.agent else { return Ok(None) };
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
        if heard.any(|(_, document)| says_all(document)) {
            return Ok(None);
        }
        Ok(agent::named(name, self.builtin.anchors())?)
    }
}
