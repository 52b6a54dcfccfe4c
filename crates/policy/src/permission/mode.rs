//! Agentao's four modes.

use super::call::{Decision, Nature, Source, ToolCall};
use super::fetch::{self, Reach};
use super::shell;
use crate::decide::Answer;
use crate::decide::notes::{Effect, Notes, Reading};

/// How calls are decided where nobody wrote a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mode {
    /// Only tools that change nothing.
    ReadOnly,
    /// Planning tools, reading, and shell that reads.
    Plan,
    /// Edits and shell that reads; other shell is asked about.
    WorkspaceWrite,
    /// Everything but the floor.
    FullAccess,
}

/// Whether the mode is asked before the rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Order {
    RulesFirst,
    ModeFirst,
}

/// What a mode says about a shell text, and what it is called by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Said {
    pub(super) answer: Answer,
    pub(super) code: &'static str,
    pub(super) message: &'static str,
}

impl Mode {
    pub(super) fn order(self) -> Order {
        match self {
            Self::ReadOnly | Self::WorkspaceWrite => Order::RulesFirst,
            Self::Plan | Self::FullAccess => Order::ModeFirst,
        }
    }

    /// Decides a call of a tool that runs no shell text. `by_rule` tells whether rules give an
    /// answer.
    pub(super) fn decide_tool(
        self,
        call: &ToolCall<'_>,
        by_rule: &dyn Fn(Answer) -> Option<Decision>,
    ) -> Decision {
        if let Some(denied) = by_rule(Answer::Deny) {
            return denied;
        }
        if self == Self::ReadOnly && matches!(call.nature, Nature::Changes(_)) {
            return Decision::new(Answer::Deny, Source::ModePreset, "read-only");
        }
        let ruled = by_rule(Answer::Ask).or_else(|| by_rule(Answer::Allow));
        let preset =
            self.of_tool(call).map(|answer| Decision::new(answer, Source::ModePreset, call.tool));
        let found = match self.order() {
            Order::RulesFirst => ruled.or(preset),
            Order::ModeFirst => preset.or(ruled),
        };
        found.unwrap_or_else(|| Decision::own(call))
    }

    /// What the mode itself says of a tool.
    fn of_tool(self, call: &ToolCall<'_>) -> Option<Answer> {
        match (self, call.tool) {
            (Self::FullAccess, _) => Some(Answer::Allow),
            (Self::ReadOnly, _) => None,
            (Self::WorkspaceWrite, "write_file" | "replace")
            | (Self::Plan, "plan_save" | "plan_finalize") => Some(Answer::Allow),
            (Self::Plan, "write_file" | "replace" | "save_memory" | "todo_write") => {
                Some(Answer::Deny)
            }
            (Self::WorkspaceWrite | Self::Plan, "web_fetch") => {
                Some(match fetch::reach(call.args) {
                    Reach::Known => Answer::Allow,
                    Reach::Closed => Answer::Deny,
                    Reach::Open => Answer::Ask,
                })
            }
            (Self::WorkspaceWrite | Self::Plan, "web_search") => Some(Answer::Ask),
            (Self::WorkspaceWrite | Self::Plan, _) => None,
        }
    }

    /// What the mode itself says of a shell text.
    pub(super) fn of_shell(self, text: &str, notes: &Notes, effect: Effect) -> Said {
        let said = |answer, code, message| Said { answer, code, message };
        match self {
            Self::FullAccess if notes.reading == Reading::Broken => {
                said(Answer::Ask, "mode", "cannot be read to its end")
            }
            Self::FullAccess => said(Answer::Allow, "mode", "the mode allows everything"),
            Self::ReadOnly => said(Answer::Deny, "mode", "the mode `read-only` runs no shell text"),
            Self::Plan | Self::WorkspaceWrite if shell::is_destructive(notes) => {
                said(Answer::Deny, "mode", "the mode refuses `rm -rf`, `sudo`, `mkfs` and `dd if=`")
            }
            Self::Plan | Self::WorkspaceWrite
                if effect == Effect::Reads && shell::only_reads(text, notes) =>
            {
                said(Answer::Allow, "mode", "it only reads")
            }
            Self::Plan => said(Answer::Deny, "mode", "the mode `plan` runs only shell that reads"),
            Self::WorkspaceWrite if !notes.sensitive.is_empty() => said(
                Answer::Ask,
                "sensitive-write",
                "writes a file that every login reads, or that holds passwords",
            ),
            Self::WorkspaceWrite => {
                said(Answer::Ask, "mode", "the mode asks for shell that does more than read")
            }
        }
    }
}
