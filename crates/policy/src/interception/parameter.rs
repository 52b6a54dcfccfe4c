//! What a parameter holds, as far as its name tells.

use super::spelling::{ends_with, folded, last_word};
use super::tool::Sort;
use crate::policy::Tools;

/// The names of parameters that hold paths, made ready.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    listed: Vec<String>,
    /// Whether names that nobody listed are looked at as well.
    beyond: Beyond,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Beyond {
    Ours,
    Nothing,
}

/// What a parameter holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Holds {
    /// A path, or several.
    Path(Role),
    /// A path, an address, an image or code.
    Perhaps(Role),
    /// A path only where it is written as a `file:` URI.
    Uri(Role),
    /// A patch, or the path of one.
    Patch,
    /// A command.
    Command(Part),
    /// Nothing that is looked at.
    Nothing,
}

/// What happens at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// The tool changes what lies there.
    Target,
    /// The tool takes it from there.
    Source,
    /// The tool works there.
    Folder,
}

/// Which part of a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// The whole, or the program.
    Whole,
    /// Several commands, one after the other.
    Lines,
    /// The shell that reads it; some call the command itself so.
    Shell,
    /// What follows the program.
    Arguments,
    /// What may be a command if nothing else is.
    Input,
    /// Code, perhaps of another language.
    Code,
    /// The variables it runs with.
    Environment,
}

/// Parameters that mean something else in many tools; a value that looks like a path is one.
const PERHAPS: [&str; 4] = ["image", "source", "src", "target"];

/// Names that are looked at though no list has them, where they hold what looks like a path.
const BESIDES: [&str; 43] = [
    "abspath",
    "base",
    "basename",
    "chdir",
    "copy_to",
    "dirname",
    "dst",
    "file_pattern",
    "folder",
    "from",
    "glob",
    "globs",
    "include",
    "include_glob",
    "include_globs",
    "include_pattern",
    "include_patterns",
    "input",
    "into",
    "link",
    "location",
    "move_to",
    "name",
    "new",
    "new_name",
    "notebook",
    "old_name",
    "out",
    "outfile",
    "output",
    "parent",
    "pathname",
    "pwd",
    "relpath",
    "rename_to",
    "root",
    "save_as",
    "save_to",
    "subdir",
    "symlink",
    "to",
    "wd",
    "workspace",
];

impl Parameters {
    pub(super) fn new(tools: &Tools) -> Self {
        let listed = tools.path_parameters.values().map(|name| folded(&name.0)).collect();
        let is_ours = tools.path_parameters.replaced().is_none();
        Self { listed, beyond: if is_ours { Beyond::Ours } else { Beyond::Nothing } }
    }

    /// Returns what the parameter `key` of a tool holds. `within` is what the object holds in which
    /// it stands.
    pub(super) fn holds(&self, key: &str, within: Holds, sort: Sort) -> Holds {
        let key = folded(key);
        let last = last_word(&key);
        let is_patch =
            key.split('_').any(|word| matches!(word, "patch" | "patches" | "diff" | "diffs"));
        if is_patch || sort == Sort::Patch && matches!(&*key, "input" | "content" | "body" | "text")
        {
            return Holds::Patch;
        }
        if let Some(part) = command(&key, sort) {
            return Holds::Command(part);
        }
        let role = role(&key, last);
        // What is to go may be told by a pattern; elsewhere one says what to look for in files.
        if matches!(last, "pattern" | "patterns")
            && matches!(sort, Sort::Delete | Sort::Move | Sort::Copy)
        {
            return Holds::Path(Role::Source);
        }
        if self.listed.iter().any(|name| ends_with(&key, name)) {
            let word = last.strip_suffix('s').unwrap_or(last);
            return if PERHAPS.contains(&word) { Holds::Perhaps(role) } else { Holds::Path(role) };
        }
        match within {
            // `files: [{name, content}]`
            Holds::Path(role) | Holds::Perhaps(role)
                if matches!(&*key, "name" | "uri" | "value") =>
            {
                Holds::Perhaps(role)
            }
            _ if matches!(last, "uri" | "uris") && self.beyond == Beyond::Ours => {
                Holds::Perhaps(role)
            }
            _ if matches!(last, "uri" | "uris" | "url" | "urls" | "href") => Holds::Uri(role),
            _ if self.beyond == Beyond::Ours && BESIDES.contains(&&*key) => Holds::Perhaps(role),
            Holds::Path(_)
            | Holds::Perhaps(_)
            | Holds::Uri(_)
            | Holds::Patch
            | Holds::Command(_)
            | Holds::Nothing => Holds::Nothing,
        }
    }

    /// Whether a parameter is a file's name, which another one may put a folder in front of.
    pub(super) fn is_name(key: &str) -> bool {
        const NAMES: [&str; 7] =
            ["basename", "entry", "file", "filename", "name", "pathname", "relpath"];
        NAMES.contains(&last_word(&folded(key)))
    }

    /// Whether a parameter says which files of a folder are searched.
    pub(super) fn is_filter(key: &str) -> bool {
        const FILTERS: [&str; 9] = [
            "file_pattern",
            "glob",
            "globs",
            "include",
            "include_glob",
            "include_globs",
            "include_pattern",
            "include_patterns",
            "includes",
        ];
        FILTERS.contains(&&*folded(key))
    }

    /// Whether a parameter says what is looked for in files.
    pub(super) fn is_sought(key: &str) -> bool {
        const SOUGHT: [&str; 6] = ["keyword", "pattern", "prompt", "query", "regex", "search"];
        SOUGHT.contains(&last_word(&folded(key)))
    }

    /// Whether an object under this key is something to write, and its keys are no paths.
    pub(super) fn is_prose(key: &str) -> bool {
        const PROSE: [&str; 12] = [
            "body",
            "content",
            "data",
            "env",
            "environment",
            "headers",
            "json",
            "metadata",
            "schema",
            "text",
            "value",
            "variables",
        ];
        PROSE.contains(&&*folded(key))
    }

    /// Whether a text under this key may be JSON that the tool reads in turn.
    pub(super) fn may_nest(key: &str) -> bool {
        const NESTING: [&str; 10] = [
            "arguments",
            "args",
            "changes",
            "edits",
            "input",
            "kwargs",
            "operations",
            "parameters",
            "params",
            "payload",
        ];
        NESTING.contains(&&*folded(key))
    }
}

fn command(key: &str, sort: Sort) -> Option<Part> {
    let part = match key {
        "command" | "cmd" | "argv" | "shell_command" | "command_line" | "cmdline" => Part::Whole,
        "commands" | "cmds" => Part::Lines,
        "shell" => Part::Shell,
        "bash" | "powershell" | "pwsh" | "sh" | "terminal" | "zsh" if sort == Sort::Shell => {
            Part::Shell
        }
        "exec" | "execute" | "run" if sort == Sort::Shell => Part::Whole,
        "program" | "executable" | "binary" | "exe" | "file" if sort == Sort::Shell => Part::Whole,
        "pre" | "pre_command" | "post" | "post_command" if sort == Sort::Shell => Part::Lines,
        "script" | "code" if sort == Sort::Shell => Part::Code,
        "args" | "arguments" | "extra_args" | "flags" | "params" | "parameters"
            if sort == Sort::Shell =>
        {
            Part::Arguments
        }
        "input" if sort == Sort::Shell => Part::Input,
        "env" | "envs" | "env_vars" | "environment" | "environment_variables" | "variables"
            if sort == Sort::Shell =>
        {
            Part::Environment
        }
        _ => return None,
    };
    Some(part)
}

fn role(key: &str, last: &str) -> Role {
    match last {
        "cwd" | "workdir" | "directory" | "dir" | "dirname" | "folder" | "base" | "chdir"
        | "parent" | "pwd" | "subdir" | "wd" | "workspace" => Role::Folder,
        "source" | "src" | "from" | "glob" | "globs" | "include" | "input" => Role::Source,
        _ if key.starts_with("source_") || key.starts_with("src_") || key.starts_with("old_") => {
            Role::Source
        }
        _ => Role::Target,
    }
}
