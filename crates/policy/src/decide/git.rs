//! git by other routes: the programs of its own, aliases that are given in front, settings that
//! take its questions away, and names that it reads from its input.

use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Concern, Run};
use crate::text::Span;

/// Commands of git that lie as programs in its folder, and do more than show something.
const PROGRAMS: [&str; 48] = [
    "add",
    "am",
    "apply",
    "archive",
    "bisect",
    "branch",
    "checkout",
    "checkout-index",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "credential",
    "daemon",
    "diff",
    "fast-import",
    "fetch",
    "filter-branch",
    "format-patch",
    "gc",
    "grep",
    "hash-object",
    "init",
    "log",
    "merge",
    "mv",
    "notes",
    "prune",
    "pull",
    "push",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "replace",
    "reset",
    "restore",
    "revert",
    "rm",
    "send-email",
    "stash",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "update-ref",
    "worktree",
];

/// Most names that are read from a text.
const MOST_NAMES: usize = 64;

/// Returns the command of git that a program is: `git-reset` is `git reset`.
pub(super) fn command_of(program: &str) -> Option<&str> {
    let command = program.strip_prefix("git-")?;
    PROGRAMS.contains(&command).then_some(command)
}

impl Walk<'_> {
    /// Judges what the words of git do together.
    pub(super) fn git(&mut self, args: &[Arg<'_>], span: Span, input: &Input) {
        let Some((front, command, rest)) = divided(args) else { return };
        let settings: Vec<(String, Arg<'_>)> = front.windows(2).filter_map(setting).collect();
        let set = |name: &str| settings.iter().rev().find(|(key, _)| key == name);
        let alias = format!("alias.{}", command.text.to_ascii_lowercase());
        if let Some((_, value)) = set(&alias) {
            self.aliased(front, value, rest, span, input);
        }
        let has = |option: &str| rest.iter().any(|arg| arg.text == option);
        let dry = has("--dry-run")
            || rest.iter().any(|arg| {
                arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('n')
            });
        match &*command.text {
            "clean" if !dry => {
                let unasked = set("clean.requireforce").is_some_and(|(_, value)| {
                    matches!(&*value.text, "false" | "no" | "off" | "0" | "")
                });
                if unasked {
                    self.raise(Concern::LosesWork, span);
                }
            }
            "rm" if !dry && !has("--cached") => {
                let all = |arg: &&Arg<'_>| {
                    let text = arg.text.trim_start_matches(":/").trim_start_matches(":(top)");
                    let short = text.len() < arg.text.len() && text.is_empty();
                    short || matches!(text, "*" | "**" | "./*" | "**/*" | ":" | "*.*")
                };
                if let Some(span) = rest.iter().find(all).map(|arg| arg.span) {
                    self.raise(Concern::LosesWork, span);
                }
            }
            "hash-object" if has("--stdin-paths") => {
                let Input::Text(value, at) = input else { return };
                let names: Vec<&str> = value.text.lines().take(MOST_NAMES).collect();
                for name in names {
                    let file = Arg {
                        text: name.to_owned().into(),
                        certainty: value.certainty,
                        span: at.span,
                        verbatim: None,
                    };
                    self.where_written(*at, |walk| {
                        walk.perform(&Act::Read(file.clone()), &Input::Inherited);
                    });
                }
            }
            _ => {}
        }
    }

    /// An alias is what it stands for, with the words behind it.
    fn aliased(
        &mut self,
        front: &[Arg<'_>],
        value: &Arg<'_>,
        rest: &[Arg<'_>],
        span: Span,
        input: &Input,
    ) {
        if let Some(shell) = value.text.strip_prefix('!') {
            let text = Arg { text: shell.to_owned().into(), verbatim: None, ..value.clone() };
            let words = std::iter::once(text).chain(rest.iter().cloned()).collect();
            return self.perform(&Act::Run(Run::ShellWords(words)), input);
        }
        let mut argv = vec![Arg::known("git", span)];
        argv.extend(front.iter().cloned());
        let words = value.text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        argv.extend(words.map(|word| Arg {
            text: word.to_owned().into(),
            verbatim: None,
            ..value.clone()
        }));
        argv.extend(rest.iter().cloned());
        self.deeper(span, |walk| {
            walk.call(&argv, span, input);
        });
    }
}

/// Divides git's words into those in front of its command, the command, and those behind.
fn divided<'a, 't>(args: &'a [Arg<'t>]) -> Option<(&'a [Arg<'t>], &'a Arg<'t>, &'a [Arg<'t>])> {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
        let takes = [
            "-c",
            "-C",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
        ]
        .contains(&&*arg.text);
        at += if takes { 2 } else { 1 };
    }
    let (front, behind) = args.split_at_checked(at)?;
    let (command, rest) = behind.split_first()?;
    Some((front, command, rest))
}

/// Reads `-c key=value`; a key alone is true.
fn setting<'t>(pair: &[Arg<'t>]) -> Option<(String, Arg<'t>)> {
    let [flag, setting] = pair else { return None };
    if flag.text != "-c" {
        return None;
    }
    match setting.text.find('=') {
        Some(equals) => {
            let key = setting.text.get(..equals)?.to_ascii_lowercase();
            Some((key, setting.tail(equals + 1)?))
        }
        None => Some((setting.text.to_ascii_lowercase(), Arg::known("true", setting.span))),
    }
}
