//! What a tool does, as far as its name tells.

use std::borrow::Cow;
use std::fmt;

use super::spelling::{base, folded};
use crate::name::{Found, ToolPattern};
use crate::permission::{Nature, SHELL_TOOLS};
use crate::policy::{Policy, ToolRegex, Tools};
use crate::text::visible;

/// What becomes of a call by its tool alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Attention {
    /// The policy leaves it alone.
    Excluded,
    /// Its arguments are judged.
    Intercepted(Sort),
    /// It only reads files.
    Reads,
    /// It is known to touch no file.
    Harmless,
    /// Nobody knows it.
    Unknown,
}

/// What kind of change a tool makes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sort {
    /// It runs commands.
    Shell,
    /// It applies patches.
    Patch,
    /// It removes what it names.
    Delete,
    /// It moves one path to another.
    Move,
    /// It copies one path to another.
    Copy,
    /// It writes.
    Write,
}

/// Tools of well-known agents that run commands, besides those that rules go by.
const SHELLS: [&str; 16] = [
    "bash_code_execution",
    "container_exec",
    "execute",
    "execute_shell",
    "local_shell_call",
    "powershell",
    "pwsh",
    "run_bash",
    "run_in_terminal",
    "run_shell",
    "sh",
    "shell_call",
    "shell_command",
    "shell_tool",
    "unified_exec",
    "zsh",
];

/// Tools of well-known agents that change files, besides the documented ones.
const CHANGERS: [&str; 27] = [
    "append_file",
    "append_to_file",
    "apply_patch_call",
    "create_directory",
    "create_new_file",
    "delete_directory",
    "edit",
    "edit_block",
    "edit_files",
    "edit_notebook",
    "file_edit",
    "file_write",
    "insert_edit_into_file",
    "make_file",
    "multi_edit",
    "notebook_edit",
    "overwrite_file",
    "replace",
    "replace_string_in_file",
    "save_file",
    "str_replace_based_edit_tool",
    "str_replace_editor",
    "text_editor",
    "text_editor_code_execution",
    "update_file",
    "write",
    "write_files",
];

/// Tools of well-known agents that read files, besides those that rules go by.
const READERS: [&str; 3] = ["list", "view", "view_image"];

/// Tools of well-known agents that touch no file of the project. What others do for them, agents
/// that they start among these, comes as calls of its own.
const HARMLESS: [&str; 45] = [
    "activate_skill",
    "agent",
    "ask_followup_question",
    "ask_user",
    "ask_user_question",
    "attempt_completion",
    "bash_output",
    "codesearch",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "fetch_copilot_cli_documentation",
    "finish",
    "google_web_search",
    "kill_bash",
    "kill_shell",
    "list_bash",
    "list_mcp_resources",
    "plan_exit",
    "question",
    "read_bash",
    "report_intent",
    "request_user_input",
    "skill",
    "stop_bash",
    "switch_mode",
    "task",
    "task_create",
    "task_get",
    "task_list",
    "task_output",
    "task_stop",
    "task_update",
    "think",
    "todo_read",
    "todo_write",
    "todoread",
    "todowrite",
    "tool_search",
    "update_plan",
    "update_todo_list",
    "web_fetch",
    "web_search",
    "webfetch",
    "write_todos",
];

/// Parameters that are known to be the folder in which a tool runs its commands. Others may be made
/// up by a model, and heeded by nobody.
const FOLDERS: [(&str, &str); 11] = [
    ("container_exec", "/workdir"),
    ("exec", "/workdir"),
    ("exec_command", "/workdir"),
    ("execute_command", "/cwd"),
    ("local_shell", "/action/working_directory"),
    ("local_shell", "/workdir"),
    ("local_shell_call", "/action/working_directory"),
    ("run_shell_command", "/dir_path"),
    ("run_shell_command", "/directory"),
    ("shell", "/workdir"),
    ("shell_command", "/workdir"),
];

/// Whether a tool is known to run its commands in the folder that a parameter names.
pub(super) fn honours(tool: &str, pointer: &str) -> bool {
    FOLDERS.contains(&(&*folded(base(tool)), pointer))
}

/// Returns the names that a tool goes by: the whole one, then without the server that offers it, and
/// that as most agents would spell it.
pub(super) fn names(tool: &str) -> Vec<Cow<'_, str>> {
    let base = base(tool);
    let mut names = vec![Cow::Borrowed(tool)];
    for name in [Cow::Borrowed(base), Cow::Owned(folded(base))] {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a tool finds files by a pattern of their names. Others search files for one.
pub(super) fn finds(tool: &str) -> bool {
    let word = folded(base(tool));
    word.split('_').any(|part| matches!(part, "find" | "glob"))
        || matches!(&*word, "file_search" | "list_files" | "search_files")
}

/// Whether a tool searches what files hold.
pub(super) fn searches(tool: &str) -> bool {
    folded(base(tool)).split('_').any(|part| matches!(part, "grep" | "search" | "rg"))
}

/// Whether a tool gets what it is given the address of.
pub(super) fn fetches(tool: &str) -> bool {
    const WORDS: [&str; 10] = [
        "browse", "browser", "crawl", "curl", "download", "fetch", "http", "navigate", "scrape",
        "web",
    ];
    folded(base(tool)).split('_').any(|part| WORDS.contains(&part))
}

/// Whether a tool does nothing but apply a patch.
pub(super) fn applies(tool: &str) -> bool {
    folded(base(tool)).starts_with("apply")
}

/// Whether a tool is a shell by its name, intercepted or not. Rules and arguments go by this one
/// answer.
pub(crate) fn is_shell(name: &str) -> bool {
    let base = base(name);
    names_shell(name, base, &folded(base))
}

/// A tool that is named for a call, and that nothing in a policy is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownTool {
    /// What it is called.
    pub name: String,
    /// The tools that rules of the policy name, as they write them.
    pub ruled: Vec<String>,
}

impl UnknownTool {
    /// Returns a tool that no rule names and nobody knows: it may be a slip, and what was meant for
    /// another holds for nobody.
    pub fn of(policy: &Policy, name: &str) -> Option<Self> {
        let rules = policy.commands.rules.lists().iter().flat_map(|list| &list.rules);
        let every = ToolPattern::every();
        let named: Vec<&ToolPattern> =
            rules.map(|rule| &rule.value.tool).filter(|tool| **tool != every).collect();
        let is_ruled = named.iter().any(|tool| tool.matches_in_any_case(name) != Found::No);
        if is_ruled || attention(&policy.tools, name) != Attention::Unknown {
            return None;
        }
        let mut ruled: Vec<String> = named.iter().map(ToString::to_string).collect();
        ruled.sort();
        ruled.dedup();
        Some(Self { name: name.to_owned(), ruled })
    }

    /// Returns the names that there are.
    pub fn hint(&self) -> String {
        let shells = SHELL_TOOLS.join("`, `");
        match &*self.ruled {
            [] => format!("no rule names any; tools that run commands are known as `{shells}`"),
            some => format!(
                "rules name `{}`; tools that run commands are known as `{shells}`",
                some.join("`, `")
            ),
        }
    }
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = visible(&self.name);
        write!(f, "no rule names the tool `{name}`, and nobody knows it: nothing is said for it")
    }
}

/// Looks a tool up.
pub(super) fn attention(tools: &Tools, name: &str) -> Attention {
    let excluded = tools.exclude.values().any(|tool| tool.matches(name) == Found::Yes);
    if excluded {
        return Attention::Excluded;
    }
    let base = base(name);
    let listed = |tool: &ToolRegex| {
        tool.matches(name) != Found::No || base != name && tool.matches(base) != Found::No
    };
    let word = folded(base);
    let is_ours = tools.patterns.replaced().is_none();
    let known = is_ours && (CHANGERS.contains(&&*word) || names_shell(name, base, &word));
    if known || tools.patterns.values().any(listed) {
        return Attention::Intercepted(sort(name, base, &word));
    }
    let reads = [name, base, &word].into_iter().any(|name| match Nature::of(name) {
        Nature::Reads(_) => true,
        Nature::Changes(_) => false,
    });
    if reads || READERS.contains(&&*word) {
        Attention::Reads
    } else if HARMLESS.contains(&&*word) {
        Attention::Harmless
    } else {
        Attention::Unknown
    }
}

fn sort(name: &str, base: &str, word: &str) -> Sort {
    let has = |words: &[&str]| word.split('_').any(|part| words.contains(&part));
    if names_shell(name, base, word) {
        Sort::Shell
    } else if has(&["patch", "diff"]) {
        Sort::Patch
    } else if has(&["delete", "remove", "unlink"]) {
        Sort::Delete
    } else if has(&["move", "rename"]) {
        Sort::Move
    } else if has(&["copy"]) {
        Sort::Copy
    } else {
        Sort::Write
    }
}

fn names_shell(name: &str, base: &str, word: &str) -> bool {
    let listed = |name: &str| SHELL_TOOLS.iter().any(|tool| name.eq_ignore_ascii_case(tool));
    listed(name) || listed(base) || listed(word) || SHELLS.contains(&word)
}
