//! Functions: what calls of them may change, and which of them are traps.

use super::walk::Walk;
use crate::command::Concern;
use crate::shell::{Command, CommandKind, Part, Piece, Word};

impl Walk<'_> {
    /// Notes what calls of a function may change from here on.
    pub(super) fn note_function(&mut self, name: &Word<'_>, body: &Command<'_>) {
        let mut moves = false;
        body.every_part(&mut |part| match part {
            Part::Assignment(assignment) => self.volatile.push(assignment.name.to_string()),
            Part::Command(Command { kind: CommandKind::For { name, .. }, .. }) => {
                self.volatile.push(name.to_string());
            }
            Part::Command(Command { kind: CommandKind::Simple(simple), .. }) => {
                let mut words = simple.words.iter().map(Word::settled);
                match words.next().flatten() {
                    Some("cd" | "pushd" | "popd") => moves = true,
                    Some(
                        "declare" | "typeset" | "local" | "export" | "readonly" | "read"
                        | "mapfile" | "readarray" | "unset" | "getopts" | "let" | "printf" | "eval"
                        | "source" | ".",
                    ) => {
                        for word in words.flatten() {
                            let name = word.split(['=', '[', '+']).next().unwrap_or(word);
                            self.volatile.push(name.to_owned());
                        }
                        self.volatile.push("REPLY".to_owned());
                    }
                    Some(_) | None => {}
                }
            }
            Part::Command(_) | Part::Redirection(_) | Part::Word(_) => {}
        });
        if let (true, Some(name)) = (moves, name.settled()) {
            self.movers.push(name.to_owned());
        }
    }

    /// A function that takes the name of what this walk relies on makes the rest unreadable.
    pub(super) fn shadowing(&mut self, name: &Word<'_>) {
        let shadows = match &*name.pieces {
            [Piece::Literal(name) | Piece::Quoted(name)] => matches!(
                &**name,
                "cd" | "pushd" | "popd" | "exit" | "return" | "exec" | "read" | "unset" | "export"
            ),
            _ => true,
        };
        if shadows {
            self.raise(Concern::Obfuscates, name.span);
        }
    }
}

/// Whether a function starts itself more than once, or beside itself: a fork bomb.
pub(super) fn is_bomb(name: &Word<'_>, body: &Command<'_>) -> bool {
    let mut calls = 0;
    body.every_simple(&mut |simple| {
        calls += u32::from(simple.words.first().is_some_and(|word| word.pieces == name.pieces));
    });
    calls > 1
}
