//! What is known of each agent's hooks, as data.

use std::fmt;
use std::str::FromStr;

/// An agent whose hooks are known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// OpenAI Codex CLI.
    Codex,
    /// GitHub Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// OpenCode.
    OpenCode,
}

/// What becomes of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// A tool is about to be called.
    Before,
    /// A command is about to run; it stands in the event itself.
    Shell,
    /// A file is about to be read; it stands in the event itself.
    Read,
    /// A person is about to be asked.
    Permission,
    /// Nothing can be refused any more, or nothing is about to be done.
    Other,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// `hookSpecificOutput` with `permissionDecision`.
    Nested,
    /// `decision` and `reason`.
    Decision,
    /// `permissionDecision` at the top.
    Flat,
    /// `permission`, with a message for each reader.
    Permission,
    /// What our own plugin reads: it wants to hear an allow, too.
    Plugin,
}

/// How the input of a tool is replaced.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Rewrite {
    /// As a whole, in `updatedInput`.
    Whole,
    /// By the parameters that change, in `tool_input`.
    Merged,
    /// As a whole, in `modifiedArgs`.
    Arguments,
    /// As a whole, by our plugin.
    Plugin,
    /// Not at all, or not in a way that every version heeds.
    No,
}

/// What is known of an agent's hooks.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The variable that names the folder it was started in. The folder of a call may be another.
    pub(super) project: Option<&'static str>,
    pub(super) events: &'static [(&'static str, Stage)],
    pub(super) form: Form,
    /// The exit code of a refusal. Where it is 0, what is printed decides, and only so is the reason
    /// told.
    pub(super) refused: u8,
    /// Whether a hook can have a person asked.
    pub(super) asks: bool,
    pub(super) rewrite: Rewrite,
    /// Tools that run shell text, and the parameter in which it stands.
    pub(super) shells: &'static [(&'static str, &'static str)],
    /// Tools whose parameter is told under another name than the tool itself has for it.
    pub(super) renamed: &'static [(&'static str, &'static str, &'static str)],
}

const CLAUDE: Facts = Facts {
    name: "claude",
    title: "Claude Code",
    project: Some("CLAUDE_PROJECT_DIR"),
    events: &[
        ("PreToolUse", Stage::Before),
        ("PermissionRequest", Stage::Permission),
        ("PostToolUse", Stage::Other),
        ("PostToolUseFailure", Stage::Other),
        ("PostToolBatch", Stage::Other),
        ("PermissionDenied", Stage::Other),
        ("SessionStart", Stage::Other),
        ("SessionEnd", Stage::Other),
        ("Notification", Stage::Other),
        ("Stop", Stage::Other),
        ("StopFailure", Stage::Other),
        ("SubagentStart", Stage::Other),
        ("SubagentStop", Stage::Other),
        ("UserPromptSubmit", Stage::Other),
        ("PreCompact", Stage::Other),
        ("PostCompact", Stage::Other),
    ],
    form: Form::Nested,
    refused: 2,
    asks: true,
    rewrite: Rewrite::Whole,
    shells: &[("Bash", "command")],
    renamed: &[],
};

const CODEX: Facts = Facts {
    name: "codex",
    title: "Codex CLI",
    project: None,
    events: &[
        ("PreToolUse", Stage::Before),
        ("PermissionRequest", Stage::Permission),
        ("PostToolUse", Stage::Other),
        ("SessionStart", Stage::Other),
        ("SessionEnd", Stage::Other),
        ("Stop", Stage::Other),
        ("SubagentStart", Stage::Other),
        ("SubagentStop", Stage::Other),
        ("UserPromptSubmit", Stage::Other),
        ("PreCompact", Stage::Other),
        ("PostCompact", Stage::Other),
    ],
    form: Form::Nested,
    refused: 2,
    asks: false,
    rewrite: Rewrite::No,
    shells: &[],
    renamed: &[("apply_patch", "command", "patch")],
};

const COPILOT: Facts = Facts {
    name: "copilot",
    title: "GitHub Copilot CLI",
    project: None,
    events: &[
        ("preToolUse", Stage::Before),
        ("PreToolUse", Stage::Before),
        ("postToolUse", Stage::Other),
        ("PostToolUse", Stage::Other),
    ],
    form: Form::Flat,
    refused: 0,
    asks: true,
    rewrite: Rewrite::Arguments,
    shells: &[("bash", "command"), ("Bash", "command")],
    renamed: &[],
};

const CURSOR: Facts = Facts {
    name: "cursor",
    title: "Cursor",
    project: None,
    events: &[
        ("preToolUse", Stage::Before),
        ("beforeMCPExecution", Stage::Before),
        ("beforeShellExecution", Stage::Shell),
        ("beforeReadFile", Stage::Read),
        ("beforeTabFileRead", Stage::Read),
        ("afterShellExecution", Stage::Other),
        ("afterMCPExecution", Stage::Other),
        ("afterFileEdit", Stage::Other),
        ("postToolUse", Stage::Other),
        ("postToolUseFailure", Stage::Other),
        ("sessionStart", Stage::Other),
        ("sessionEnd", Stage::Other),
        ("stop", Stage::Other),
    ],
    form: Form::Permission,
    refused: 0,
    asks: true,
    rewrite: Rewrite::No,
    shells: &[],
    renamed: &[],
};

const GEMINI: Facts = Facts {
    name: "gemini",
    title: "Gemini CLI",
    project: Some("GEMINI_PROJECT_DIR"),
    events: &[
        ("BeforeTool", Stage::Before),
        ("AfterTool", Stage::Other),
        ("BeforeAgent", Stage::Other),
        ("AfterAgent", Stage::Other),
        ("BeforeModel", Stage::Other),
        ("AfterModel", Stage::Other),
        ("BeforeToolSelection", Stage::Other),
        ("SessionStart", Stage::Other),
        ("SessionEnd", Stage::Other),
        ("Notification", Stage::Other),
        ("PreCompress", Stage::Other),
    ],
    form: Form::Decision,
    refused: 2,
    asks: false,
    rewrite: Rewrite::Merged,
    shells: &[("run_shell_command", "command")],
    renamed: &[],
};

const OPENCODE: Facts = Facts {
    name: "opencode",
    title: "OpenCode",
    project: None,
    events: &[("tool.execute.before", Stage::Before)],
    form: Form::Plugin,
    refused: 0,
    asks: false,
    rewrite: Rewrite::Plugin,
    shells: &[("bash", "command")],
    renamed: &[],
};

impl Agent {
    /// All of them, by name.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Copilot, Self::Cursor, Self::Gemini, Self::OpenCode];

    /// Returns the name that commands and policies know it by.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns its name for people.
    pub fn title(self) -> &'static str {
        self.facts().title
    }

    /// Returns whether a hook can have its shell commands run through `palisade run`.
    pub fn wraps(self) -> bool {
        self.facts().rewrite != Rewrite::No
    }

    pub(super) fn facts(self) -> &'static Facts {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
            Self::Copilot => &COPILOT,
            Self::Cursor => &CURSOR,
            Self::Gemini => &GEMINI,
            Self::OpenCode => &OPENCODE,
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of an agent's.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "no agent of this name has hooks that are known; there are claude, codex, copilot, cursor, gemini and opencode"
)]
pub struct UnknownAgent;

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, UnknownAgent> {
        Self::ALL.into_iter().find(|agent| agent.name() == name).ok_or(UnknownAgent)
    }
}
