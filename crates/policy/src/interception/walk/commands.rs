//! The commands of a call, and the folders that they may run in.

use super::super::arguments::{Arguments, Node, Step, Value};
use super::super::command::{self, Found};
use super::super::parameter::{Holds, Parameters, Role};
use super::super::path::{Count, readings};
use super::super::{Dangers, What, tool};
use super::{Aim, Walk, is_pattern, reason};
use crate::decide::{Answer, Asked, Axis, Call, Reason, Running};
use crate::jail;
use crate::patch::{self, Naming};

/// Most folders in which a tool may work.
const MOST_FOLDERS: usize = 8;
/// What judging one simple command costs.
const STEP: usize = 8;

impl Walk<'_> {
    /// Notes the folders that the call names, in every reading, and returns those in which its
    /// commands are known to run. A model may name a folder that its tool does not heed.
    ///
    /// Where one parameter is a file's name, any other path may be the folder in front of it.
    pub(super) fn find_folders(
        &mut self,
        arguments: &Arguments<'_>,
        holds: &[Holds],
        prefix: &str,
    ) -> Vec<String> {
        let mut honoured = Vec::new();
        let (reads, finds) = (self.aim == Aim::Read, self.finds());
        let name = |node: &Node<'_>| {
            let Step::Key(key) = &node.step else { return false };
            Parameters::is_name(key)
                || reads && (Parameters::is_filter(key) || finds && is_pattern(key))
        };
        let named = arguments.nodes.iter().any(name);
        for (at, (node, holds)) in arguments.nodes.iter().zip(holds).enumerate() {
            let (Value::Text(text), Holds::Path(role) | Holds::Perhaps(role)) =
                (&node.value, holds)
            else {
                continue;
            };
            let before_name = named && matches!(node.step, Step::Key(_)) && !name(node);
            if *role != Role::Folder && !before_name {
                continue;
            }
            let known = prefix.is_empty() && tool::honours(self.tool(), &arguments.pointer(at));
            if self.effort.is_spent() {
                break;
            }
            let (paths, _) = readings(text, Count::One, self.windows);
            self.effort.spend(4 * paths.len() + text.len() / 16);
            let is_plain = paths.len() == 1;
            for path in paths {
                if self.folders.len() > MOST_FOLDERS || !self.effort.spend(1 + path.len() / 64) {
                    break;
                }
                let place = self.judge.ground().place(&path, self.cwd, self.lookup);
                // What is outside is refused by itself, but to those who only read.
                let counts = match self.aim {
                    Aim::Read => place.path.starts_with('/'),
                    Aim::Change(_) => matches!(place.granted(), jail::Answer::Yes),
                };
                if !counts {
                    continue;
                }
                if known && is_plain && *role == Role::Folder {
                    honoured.push(place.path.clone());
                }
                if place.path != self.cwd && !self.folders.contains(&place.path) {
                    self.folders.push(place.path);
                }
            }
        }
        if self.folders.len() > MOST_FOLDERS {
            self.folders.truncate(MOST_FOLDERS);
            let message = "the call names too many folders to work in".to_owned();
            let reason = reason("arguments-too-many", Axis::Structure, message);
            self.refuse(reason, prefix.to_owned(), "", None);
        }
        // Two folders are one too many to know which it is.
        if honoured.len() == 1 { honoured } else { Vec::new() }
    }

    pub(super) fn find_commands(
        &mut self,
        arguments: &Arguments<'_>,
        holds: &[Holds],
        prefix: &str,
        honoured: &[String],
    ) {
        let Some(found) = command::commands(arguments, holds, self.sort()) else {
            let message = "the call holds too many commands".to_owned();
            let reason = reason("arguments-too-many", Axis::Structure, message);
            return self.refuse(reason, prefix.to_owned(), "", None);
        };
        for (at, command) in found {
            let pointer = format!("{prefix}{}", arguments.pointer(at));
            self.command(&command, &pointer, honoured);
        }
    }

    /// Judges a command in the folder that it is known to run in, or in all that it may.
    pub(super) fn command(&mut self, command: &Found, pointer: &str, honoured: &[String]) {
        self.judged += 1;
        self.commands += 1;
        let asked = match command {
            Found::Shell(text) => Asked::Shell(text),
            Found::Argv(argv) => Asked::Argv(argv),
            Found::Unreadable => {
                let message = "there is a command, and it cannot be told which".to_owned();
                let reason = reason("command-unreadable", Axis::Structure, message);
                return self.refuse(reason, pointer.to_owned(), "", None);
            }
        };
        let folders = if honoured.is_empty() { self.all_folders() } else { honoured.to_vec() };
        let outer = self.found.take();
        let text = Call { command: asked, cwd: self.cwd }.text();
        for (at, cwd) in folders.iter().enumerate() {
            // One folder in which it is denied is enough; one in which it is asked is not.
            if self.found == Some(Answer::Deny) || self.effort.is_spent() {
                break;
            }
            let call = Call { command: asked, cwd };
            let running = Running { names: self.names, args: self.args };
            let (verdict, commands) = self.judge.decide_listing(&call, running, self.lookup);
            if at == 0 {
                self.find_danger(&text, &commands, pointer);
            }
            self.take(&verdict, pointer, &text);
            if commands.iter().any(|words| is_patcher(words)) {
                self.fed_patch(command, &text, pointer, cwd);
            }
            self.effort.spend(STEP * (1 + commands.len()) + text.len() / 8);
        }
        if self.windows.is_some() && self.found.is_none() {
            let message = "nobody knows which shell of Windows reads this command".to_owned();
            let unclear = reason("windows-shell", Axis::Structure, message);
            let asked = Reason { answer: Answer::Ask, ..unclear };
            self.refuse(asked, pointer.to_owned(), &text, None);
        }
        self.note(What::Command, pointer, &text);
        self.found = self.found.max(outer);
    }

    fn find_danger(&mut self, text: &str, commands: &[Vec<String>], pointer: &str) {
        let dangers = self.dangers.map(|dangers| dangers.get_or_init(Dangers::default));
        let danger = dangers.and_then(|it| it.find(text, commands, self.judge.root()));
        if let Some(rule) = danger {
            let message = format!("the rule `{rule}` calls this command dangerous");
            let found = reason("dangerous-command", Axis::Rule, message);
            self.refuse(found, pointer.to_owned(), text, None);
        }
    }

    /// Returns every folder in which the tool may work.
    pub(super) fn all_folders(&self) -> Vec<String> {
        let mut folders = vec![self.cwd.to_owned()];
        folders.extend(self.folders.iter().cloned());
        folders
    }

    /// Judges a patch that a command is given, in its words or on its input.
    fn fed_patch(&mut self, command: &Found, text: &str, pointer: &str, cwd: &str) {
        let body = match command {
            Found::Argv(argv) => argv.iter().find(|word| word.contains('\n')).map_or(text, |it| it),
            Found::Shell(_) | Found::Unreadable => text,
        };
        let ground = self.judge.ground();
        let naming = Naming::InPatch;
        let verdict = patch::judge_within(self.effort, body, naming, ground, cwd, self.lookup);
        self.take(&verdict, pointer, body);
    }
}

/// Whether a command applies patches as agents write them. No machine has such a program, but
/// agents' own shells do.
fn is_patcher(words: &[String]) -> bool {
    let program = words.first().and_then(|word| word.rsplit('/').next());
    matches!(program, Some("apply_patch" | "applypatch"))
}
