//! The arguments of the commands that agents start most, read without the tree of all commands.
//!
//! Building that tree takes longer than the rest of reading them. What is not understood here, what
//! is wrong and what asks for help is left to it, so that all of that is told in one voice; what is
//! understood is read as the tree reads it, and a test holds the two together.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use clap::Parser;

use super::{Cli, Command, Output};
use crate::asking::Commanding;
use crate::command::{check, explain, hook, plan, run};
use crate::ui::Color;

/// One command and nothing else.
#[derive(Debug, Parser)]
#[command(name = "palisade")]
struct Alone<A: clap::Args> {
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,

    #[command(flatten)]
    args: A,
}

impl Cli {
    /// Reads the arguments behind the program's name; none if they are not those of a well-known
    /// command, or if anything is wrong with them.
    pub(super) fn quick(arguments: &[OsString]) -> Option<Self> {
        Self::plain(arguments).or_else(|| Self::alone(arguments))
    }

    /// Reads `WORD [--json] -- ARGV` and `WORD [--json] --shell TEXT`, without any definition of
    /// options.
    fn plain(arguments: &[OsString]) -> Option<Self> {
        let (word, rest) = arguments.split_first()?;
        if word == "hook" {
            return Self::hook(rest);
        }
        let output = Output { json: rest.first().is_some_and(|first| first == "--json") };
        let (option, rest) = if output.json { rest.get(1..)? } else { rest }.split_first()?;
        let mut commanding = Commanding::default();
        match (option.to_str()?, rest) {
            ("--", argv) => commanding.argv = argv.to_vec(),
            ("--shell", [text]) if is_value(text) => commanding.shell = Some(text.clone()),
            _ => return None,
        }
        let command = match word.to_str()? {
            "check" => {
                let mut args = check::CheckArgs { output, ..check::CheckArgs::default() };
                args.asking.commanding = commanding;
                Command::Check(args)
            }
            "plan" => {
                let args = plan::PlanArgs { commanding, output, ..plan::PlanArgs::default() };
                Command::Plan(args)
            }
            "run" => {
                let args = run::RunArgs { commanding, output, ..run::RunArgs::default() };
                Command::Run(Box::new(args))
            }
            _ => return None,
        };
        Some(Self { color: Color::default(), command })
    }

    /// Reads `AGENT [--auto-allow] [--wrap]`.
    fn hook(words: &[OsString]) -> Option<Self> {
        let (agent, options) = words.split_first()?;
        let mut args = hook::HookArgs::default();
        for option in options {
            let is_set = match option.to_str()? {
                "--auto-allow" => &mut args.auto_allow,
                "--wrap" => &mut args.wrap,
                _ => return None,
            };
            // The tree refuses an option that stands there twice.
            if std::mem::replace(is_set, true) {
                return None;
            }
        }
        let command = match agent.to_str()? {
            "claude" => hook::HookCommand::Claude(args),
            "codex" => hook::HookCommand::Codex(args),
            "copilot" => hook::HookCommand::Copilot(args),
            "cursor" => hook::HookCommand::Cursor(args),
            "gemini" => hook::HookCommand::Gemini(args),
            "opencode" => hook::HookCommand::OpenCode(args),
            _ => return None,
        };
        Some(Self { color: Color::default(), command: Command::Hook(command) })
    }

    /// Reads the options of one command, by the definition of that command.
    fn alone(arguments: &[OsString]) -> Option<Self> {
        let (word, rest) = arguments.split_first()?;
        let (color, command) = match word.to_str()? {
            "check" => Alone::<check::CheckArgs>::read(rest, Command::Check)?,
            "explain" => Alone::<explain::ExplainArgs>::read(rest, Command::Explain)?,
            "plan" => Alone::<plan::PlanArgs>::read(rest, Command::Plan)?,
            "run" => Alone::<run::RunArgs>::read(rest, |args| Command::Run(Box::new(args)))?,
            _ => return None,
        };
        Some(Self { color, command })
    }
}

impl<A: clap::Args> Alone<A> {
    fn read(rest: &[OsString], command: impl Fn(A) -> Command) -> Option<(Color, Command)> {
        let program = OsStr::new("palisade");
        let arguments = std::iter::once(program).chain(rest.iter().map(OsString::as_os_str));
        let Self { color, args } = Self::try_parse_from(arguments).ok()?;
        Some((color, command(args)))
    }
}

/// Returns whether the value of an option cannot be taken for anything else.
fn is_value(text: &OsStr) -> bool {
    text.as_bytes().first().is_some_and(|first| *first != b'-')
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn tree(arguments: &[OsString]) -> Option<String> {
        let program = [OsString::from("palisade")];
        let read = Cli::try_parse_from(program.iter().chain(arguments)).ok()?;
        Some(format!("{read:?}"))
    }

    /// Every order of a few words that options are made of, up to three of them.
    fn lines() -> Vec<Vec<OsString>> {
        let words = [
            "--",
            "--json",
            "--shell",
            "ls -l",
            "-",
            "",
            "--color",
            "never",
            "--help",
            "--root=/",
            "--shell=x",
            "--jsonl",
        ];
        let mut lines: Vec<Vec<OsString>> = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..3 {
            let to = lines.len();
            for at in from..to {
                for word in words {
                    let line = lines[at].iter().cloned().chain([word.into()]).collect();
                    lines.push(line);
                }
            }
            from = to;
        }
        lines.push(vec!["--".into(), OsString::from_vec(vec![b'a', 0xff])]);
        lines.push(vec!["--shell".into(), OsString::from_vec(vec![b'a', 0xff])]);
        lines
    }

    #[test]
    fn a_hook_is_read_quickly_as_the_tree_reads_it() {
        let mut quick = 0;
        for agent in ["claude", "codex", "copilot", "cursor", "gemini", "opencode", "install", "x"]
        {
            for options in ["", "--wrap", "--auto-allow --wrap", "--wrap --wrap", "--root /", "x"] {
                let words = ["hook", agent].into_iter().chain(options.split_whitespace());
                let line: Vec<OsString> = words.map(Into::into).collect();
                if let Some(read) = Cli::quick(&line) {
                    assert_eq!(Some(format!("{read:?}")), tree(&line), "{line:?}");
                    quick += 1;
                }
            }
        }
        assert_eq!(quick, 6 * 3);
    }

    #[test]
    fn what_is_read_quickly_is_read_as_the_tree_of_all_commands_reads_it() {
        let mut plain = 0;
        for line in lines() {
            for word in ["run", "check", "plan", "explain", "rum", "help", "--json", "policy"] {
                let arguments: Vec<OsString> =
                    std::iter::once(word.into()).chain(line.iter().cloned()).collect();
                let read = Cli::plain(&arguments);
                if let Some(read) = &read {
                    plain += 1;
                    assert_eq!(Some(format!("{read:?}")), tree(&arguments), "{arguments:?}");
                }
            }
        }
        assert!(plain > 400, "{plain}");
    }

    #[test]
    fn one_definition_reads_what_all_of_them_read() {
        let lines: Vec<_> = lines().into_iter().filter(|line| line.len() < 3).collect();
        for line in lines {
            for word in ["run", "check", "plan", "explain"] {
                let arguments: Vec<OsString> =
                    std::iter::once(word.into()).chain(line.iter().cloned()).collect();
                let alone = Cli::alone(&arguments).map(|read| format!("{read:?}"));
                assert_eq!(alone, tree(&arguments), "{arguments:?}");
            }
        }
        for word in ["rum", "help", "policy", "-V", ""] {
            assert!(Cli::alone(&[word.into()]).is_none(), "{word}");
        }
    }
}
