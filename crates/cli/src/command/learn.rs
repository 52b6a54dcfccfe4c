//! `palisade learn`: what a command needs, as a change of the policy.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use palisade::learn::{Edited, Learned};
use palisade::places::Places;
use palisade::policy::layer::Layer;
use palisade::policy::policy::NetworkMode;
use palisade::policy::text::visible;
use palisade::{Agreement, Outcome, Request, Session};
use serde_json::json;

use super::run::RunArgs;
use super::trust;
use crate::args::{Output, Place};
use crate::asking::Commanding;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Find out what a command needs, and propose the policy for it
///
/// Runs the command behind the walls of the policy in force, with every public host open and each
/// connection recorded, and watches which files it writes and which programs it starts. Then proposes
/// the smallest change of the project's policy that would let it do the same: hosts that it reached,
/// and folders that it was refused. What your policy forbids stays forbidden: hidden and protected
/// paths, `network.deny`, a network that your own file closes, and what is the system's.
///
/// A command that stops at its first refusal is learned from step by step: apply, and learn again.
///
/// Exit codes: 0 learned, 125 nothing was run or the file cannot be changed, 126 denied. How the
/// command itself ended is told.
///
/// Example: palisade learn -- npm test
#[derive(Debug, clap::Args)]
pub(crate) struct LearnArgs {
    #[command(flatten)]
    commanding: Commanding,

    /// Write the change to the project's policy file
    #[arg(long)]
    apply: bool,

    /// Trust the changed file without asking
    #[arg(long, requires = "apply")]
    yes: bool,

    #[command(flatten)]
    output: Output,
}

impl LearnArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        if !self.commanding.is_given() {
            return Ok(super::nothing_asked(ui));
        }
        let request = self.commanding.request()?;
        let session = Session::open(&request)?;
        let closed = closed_by_a_person(&session);
        let (outcome, text, _) =
            RunArgs::watched(&self.commanding, closed.is_none(), self.format()).ran(ui)?;
        if outcome.denied() {
            return super::run::told_denied(ui, &outcome, &text, self.format());
        }
        // Only what is shown is agreed to: what a file opened before is not.
        let is_plain = session.project_files().is_none_or(|it| it.agreement == Agreement::Trusted)
            || session.project_opens()?.now.is_empty();
        let learned = Learned::of(&outcome, &session).beyond(&session);
        let file = Places::project_policy(&session.root().path);
        let edited = edited(&learned, &file)?;
        let is_changed = self.apply && !edited.is_empty();
        match self.format() {
            Format::Json => {
                if is_changed {
                    self.change(ui, &request, (&file, &edited), is_plain)?;
                }
                let mut told = learned.json();
                told["exit_code"] = outcome.exit_code().into();
                told["file"] = file.to_string_lossy().into();
                told["diff"] = edited.diff().into();
                told["applied"] = is_changed.into();
                told["closed_by"] = json!(closed);
                ui.json(&told)?;
            }
            Format::Human => {
                self.tell(ui, &learned, (&file, &edited), &outcome, closed.as_deref())?;
                if is_changed {
                    self.change(ui, &request, (&file, &edited), is_plain)?;
                }
            }
        }
        Ok(Exit::Success)
    }

    fn tell(
        &self,
        ui: &Ui,
        learned: &Learned,
        (file, edited): (&Path, &Edited),
        outcome: &Outcome,
        closed: Option<&str>,
    ) -> Result<(), Failure> {
        let mut text = format!("the command ended with {}\n", outcome.exit_code());
        list(&mut text, "programs", learned.programs.iter().map(|path| path.display().to_string()));
        let written = learned.written.iter();
        list(&mut text, "wrote in", written.map(|(path, n)| format!("{} ({n})", path.display())));
        list(&mut text, "hosts", learned.hosts.allow.iter().cloned());
        let forbidden = learned.forbidden.iter();
        list(
            &mut text,
            "stays refused",
            forbidden.map(|(path, rule)| format!("{} by {rule}", path.display())),
        );
        if let Some(by) = closed {
            text.push_str(&format!("hosts were not opened: {by} says `deny-all`\n"));
        }
        if learned.more {
            text.push_str("more happened than was kept\n");
        }
        if edited.is_empty() {
            text.push_str("the policy in force is enough\n");
        } else {
            text.push_str(&format!("\n{}\n{}", visible(&file.to_string_lossy()), edited.diff()));
        }
        ui.data(&text)?;
        if !edited.is_empty() && !self.apply {
            ui.say("hint: `--apply` writes it; `palisade trust` then agrees to what it opens");
        }
        Ok(())
    }

    /// Writes the file and has a person agree to it.
    fn change(
        &self,
        ui: &Ui,
        request: &Request,
        (file, edited): (&Path, &Edited),
        is_plain: bool,
    ) -> Result<(), Failure> {
        let root = Session::open(request)?.root().path.clone();
        let written = edited.write(&root);
        written.map_err(|error| {
            let file = visible(&file.to_string_lossy());
            Failure::new("policy-refused", format!("cannot write {file}: {error}"))
        })?;
        // What cannot be read again is put back: nothing of ours breaks a policy.
        if let Err(error) = Session::open(request) {
            edited.undo(&root).ok();
            return Err(Failure::from(error).hint("nothing was changed"));
        }
        if self.yes && is_plain {
            return trust::agree(ui, request);
        }
        if self.yes {
            ui.say("note: the file opens more than was learned, which you have not trusted yet");
        }
        if self.format() == Format::Human && ui.can_ask() {
            return trust::ask(ui, &Place { root: Some(root) }).map(|_| ());
        }
        ui.say("hint: read it, then say `palisade trust`");
        Ok(())
    }
}

/// Returns who closes the network for good: a person's own word is not learned away.
fn closed_by_a_person(session: &Session) -> Option<String> {
    let mode = session.policy().network.mode.sourced()?;
    let is_own = matches!(
        mode.origin.layer,
        Layer::System | Layer::User | Layer::Environment | Layer::CommandLine
    );
    (is_own && mode.value == NetworkMode::DenyAll).then(|| mode.origin.to_string())
}

fn edited(learned: &Learned, file: &Path) -> Result<Edited, Failure> {
    let before = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let file: PathBuf = file.into();
            let message = format!("cannot read {}", visible(&file.to_string_lossy()));
            return Err(Failure::io("policy", message, &error));
        }
    };
    if learned.is_empty() {
        return Ok(Edited { after: before.clone(), before });
    }
    learned.edited(&before).map_err(|error| {
        Failure::new("policy-form", error.to_string())
            .hint("write its sections in lines of their own, or change it by hand: `--json` lists what is needed")
    })
}

fn list(text: &mut String, title: &str, entries: impl Iterator<Item = String>) {
    const MOST: usize = 12;
    let entries: Vec<String> = entries.map(|entry| visible(&entry)).collect();
    if entries.is_empty() {
        return;
    }
    text.push_str(&format!("{title}:\n"));
    entries.iter().take(MOST).for_each(|entry| text.push_str(&format!("  {entry}\n")));
    if entries.len() > MOST {
        text.push_str(&format!("  and {} more\n", entries.len() - MOST));
    }
}
