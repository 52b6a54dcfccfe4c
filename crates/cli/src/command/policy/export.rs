//! `palisade policy export`: the policy in force in another system's form. Changes nothing.

use palisade::export;
use palisade::policy::dialect::{DIALECTS, Effect, Lost};
use palisade::policy::text::visible;
use serde_json::{Value as Json, json};

use crate::args::{Output, Subject};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Write the policy in force for another system
///
/// Prints the policy in the form of the named system. What that system cannot say is listed on
/// standard error, key by key, first what makes the text wider than the policy. What files say for
/// other agents and tasks is not in it: name one with --agent or --task.
///
/// Exit codes: 0 written, 125 a file cannot be used, or --deny-warnings and something was lost.
///
/// Example: palisade policy export --to srt
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// System to write for: native, srt, agentao, bloom, seatbelt or proxy
    #[arg(long, value_name = "NAME")]
    to: String,

    /// Fail if anything could not be carried over
    #[arg(long)]
    deny_warnings: bool,

    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    output: Output,
}

impl ExportArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let (request, session) = self.subject.open()?;
        let Some(written) = export(&session, &request, &self.to) else {
            let writers = DIALECTS.iter().filter(|dialect| dialect.write.is_some());
            let names: Vec<&str> = writers.map(|dialect| dialect.name).collect();
            let message = format!("cannot write for `{}`", visible(&self.to));
            return Err(
                Failure::new("no-writer", message).hint(format!("known: {}", names.join(", ")))
            );
        };
        let exit = if self.deny_warnings && !written.lost.is_empty() {
            Exit::Failed
        } else {
            Exit::Success
        };
        if self.format() == Format::Json {
            let lost: Vec<Json> = written
                .lost
                .iter()
                .map(|Lost { key, value, why, effect }| {
                    let wider = *effect == Effect::Wider;
                    json!({ "key": key, "value": value, "why": why, "wider": wider })
                })
                .collect();
            ui.json(&json!({ "dialect": self.to, "text": written.text, "lost": lost }))?;
            return Ok(exit);
        }
        crate::command::warn(ui, &session);
        if !written.lost.is_empty() {
            let lines = |wanted: Effect| {
                let lost = written.lost.iter().filter(move |lost| lost.effect == wanted);
                lost.map(|Lost { key, value, why, .. }| {
                    format!("\n  {key}: {} ({why})", visible(value))
                })
            };
            for (wanted, what) in
                [(Effect::Wider, "is wider than the policy"), (Effect::Stricter, "is stricter")]
            {
                let lines: String = lines(wanted).collect();
                if !lines.is_empty() {
                    ui.say(&format!("warning: what is written for {} {what}:{lines}\n", self.to));
                }
            }
        }
        ui.foreign(&written.text)?;
        Ok(exit)
    }
}
