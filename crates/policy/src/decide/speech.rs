//! What other shells than bash read differently.

use super::child::Speech;
use super::walk::{Input, Walk};
use crate::command::Concern;
use crate::shell::{self, Command, CommandKind, Grammar, Part, Piece, Script, Simple};
use crate::text::Span;

/// Commands of zsh that run the words behind them in an odd way, or change how zsh reads.
const ZSH_COMMANDS: [&str; 11] = [
    "-",
    "autoload",
    "emulate",
    "foreach",
    "nocorrect",
    "noglob",
    "repeat",
    "sched",
    "setopt",
    "zmodload",
    "zmv",
];

/// Variables that zsh ties to those that say where programs and functions are found.
const ZSH_PATHS: [&str; 5] = ["cdpath", "fpath", "module_path", "mailpath", "path"];

impl Walk<'_> {
    /// Judges what a text is to the shell that reads it, where that is not bash.
    pub(super) fn read_otherwise(&mut self, script: &Script<'_>, input: &Input) {
        match self.speech {
            Speech::Bash => return,
            Speech::Posix => {}
            Speech::Zsh => {
                let mut odd = Vec::new();
                script.every_part(&mut |part| odd.extend(of_zsh(part)));
                for span in odd {
                    self.raise(Concern::Obfuscates, span);
                }
            }
        }
        // Most texts are the same to all. What such a shell would refuse runs nothing there.
        if let Ok(other) = shell::parse_as(script.text, Grammar::Posix)
            && other.body != script.body
        {
            self.aside(|walk| walk.list(other.text, &other.body, input));
        }
    }
}

/// Returns where something stands that zsh takes for something else than bash does.
fn of_zsh(part: Part<'_, '_>) -> Option<Span> {
    match part {
        Part::Command(Command { kind: CommandKind::Simple(simple), span, .. }) => {
            is_odd(simple).then_some(*span)
        }
        // Functions that zsh calls by itself.
        Part::Command(Command { kind: CommandKind::Function { name, .. }, span, .. }) => {
            let called = name.settled().is_none_or(|name| {
                name.starts_with("TRAP") || matches!(name, "chpwd" | "precmd" | "zshexit")
            });
            called.then_some(*span)
        }
        Part::Command(_) => None,
        Part::Assignment(assignment) => {
            ZSH_PATHS.contains(&&*assignment.name).then_some(assignment.span)
        }
        // `>! file`
        Part::Redirection(redirection) => {
            let bang = redirection.target.settled().is_some_and(|text| text.starts_with('!'));
            bang.then_some(redirection.span)
        }
        // `*(e:cmd:)`
        Part::Word(word) => {
            let qualified = word
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Glob { text, .. } if text.contains('(')));
            qualified.then_some(word.span)
        }
    }
}

fn is_odd(simple: &Simple<'_>) -> bool {
    let mut words = simple.words.iter().filter_map(|word| word.settled());
    let Some(name) = words.next() else { return false };
    let expands = name == "print" && words.any(|word| word.starts_with('-') && word.contains('P'));
    expands || name.starts_with('=') || ZSH_COMMANDS.contains(&name)
}
