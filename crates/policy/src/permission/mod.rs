//! Which tool calls may happen: rules, modes and the floor beneath both.
//!
//! A call is held against, in this order, the *floor* (what cannot be undone, whoever wants it),
//! the tools that are *injected* as denied for one run, the *rules* of the policy, and the *mode*
//! that the preset names. Who decided is told by [`Source`].
//!
//! | Who speaks | What counts |
//! | --- | --- |
//! | within one list of rules | the first rule that matches |
//! | between lists, and between the commands of one text | the strictest |
//! | a rule that allows | lifts a question, and in `workspace-write` what the mode denies; never the floor, never a line of the policy that denies |
//! | `read-only` | denies every tool that changes something, whatever the rules say |
//! | `plan` and `full-access` | the mode is asked before the rules; a rule that denies holds all the same (Ruling 2) |
//!
//! Commands are matched as they are parsed, not as text alone: each command of a text is held
//! against the rules, and so is what it starts. `allow: ^git ` says nothing about `git log; make`.

mod call;
mod fetch;
mod mode;
mod names;
mod prefix;
mod profile;
mod rules;
mod shell;

pub use call::{Confirmation, Decision, Nature, Source, ToolCall};
pub use prefix::PrefixRules;

use crate::decide::Answer;
use crate::name::{Found, ToolPattern};
use crate::policy::{Action, Policy, Preset};
pub(crate) use fetch::{hosts, names_host, of_web};
use mode::Mode;
pub(crate) use names::Names;
use rules::Rules;
pub(crate) use shell::{ShellCall, Spoken};

/// The tool under which Agentao runs shell text.
pub(crate) const SHELL_TOOL: &str = "run_shell_command";

/// Names under which agents run shell text. A call of `palisade check` goes by all of them.
pub(crate) const SHELL_TOOLS: [&str; 14] = [
    "Bash",
    "Execute",
    "bash",
    "exec",
    "exec_command",
    "execute_bash",
    "execute_command",
    "local_shell",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "shell",
    "terminal",
];

/// The rules and the mode of a policy, made ready. Patterns are compiled when first asked.
#[derive(Clone, Debug)]
pub(crate) struct Permissions {
    rules: Rules,
    mode: Option<Mode>,
    floor: Floor,
    injected: Vec<ToolPattern>,
}

/// Whether what cannot be undone is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Floor {
    Holds,
    Lifted,
}

impl Permissions {
    pub(crate) fn new(policy: &Policy) -> Self {
        let mode = match policy.preset.value() {
            Preset::AgentaoReadOnly => Some(Mode::ReadOnly),
            Preset::AgentaoPlan => Some(Mode::Plan),
            Preset::AgentaoWorkspaceWrite => Some(Mode::WorkspaceWrite),
            Preset::AgentaoFullAccess => Some(Mode::FullAccess),
            Preset::Confined | Preset::Runner => None,
        };
        Self { rules: Rules::new(policy), mode, floor: Floor::Holds, injected: Vec::new() }
    }

    /// Takes the floor away: the library's own choice, that no policy can make.
    pub(crate) fn lift_floor(&mut self) {
        self.floor = Floor::Lifted;
    }

    /// Denies tools for one run.
    pub(crate) fn inject(&mut self, denied: impl IntoIterator<Item = ToolPattern>) {
        self.injected.extend(denied);
    }

    /// Whether more or less than the policy is held against calls.
    pub(crate) fn are_of_one_run(&self) -> bool {
        self.floor == Floor::Lifted || !self.injected.is_empty()
    }

    /// Whether there is nothing that a decision would have to be held against.
    pub(crate) fn is_silent(&self) -> bool {
        self.mode.is_none() && self.injected.is_empty() && self.rules.are_silent()
    }

    /// Returns whether one of a tool's names is denied for this run.
    fn injects(&self, tools: Names<'_>) -> bool {
        let is_denied =
            |tool: &str| self.injected.iter().any(|it| it.matches_in_any_case(tool) != Found::No);
        tools.of(Action::Deny).any(is_denied)
    }

    /// Returns whether a rule about hosts allows the address that a tool call names.
    pub(crate) fn allow_address(&self, call: &ToolCall<'_>, address: &str) -> bool {
        self.rules.allow_address(call, address)
    }

    /// Decides a call of a tool that runs no shell text.
    pub(crate) fn decide(&self, call: &ToolCall<'_>) -> Decision {
        if self.injects(Names::Only(call.tool)) {
            return Decision::new(Answer::Deny, Source::Injected, call.tool);
        }
        let ruled = self.rules.of_tool(call);
        let by_rule = |answer| {
            let ruled = ruled.as_ref().filter(|ruled| ruled.answer == answer)?;
            Some(Decision::ruled(ruled, call.tool))
        };
        let decision = match self.mode {
            // What a rule says of a tool is all there is to say; else the tool itself knows.
            None => [Answer::Deny, Answer::Ask, Answer::Allow].into_iter().find_map(by_rule),
            Some(mode) => Some(mode.decide_tool(call, &by_rule)),
        };
        let mut decision = decision.unwrap_or_else(|| Decision::own(call));
        decision.profile = self.rules.profile_of_tool(call);
        decision
    }
}

#[cfg(test)]
mod tests;
