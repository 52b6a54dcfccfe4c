//! `palisade plan`: how a command would be confined. Runs nothing.

mod export;

use palisade::{Planned, Sandbox};

use super::check;
use crate::args::Output;
use crate::asking::Commanding;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Show how a command would be confined, step by step
///
/// Runs nothing. Prints the very steps that `palisade run` would carry out on this host, in order,
/// and after them how strongly each layer would hold. Values of variables are not shown. The folders
/// of Palisade's own that such a run would use are made, if there are none.
///
/// With `--export` it prints what carries the same steps to another engine. What that engine cannot
/// carry is refused, unless you accept each of it by name with `--without`.
///
/// Exit codes: 0 planned, 125 it cannot be confined as the policy demands, 126 it is denied.
///
/// Example: palisade plan -- npm test
#[derive(Debug, Default, clap::Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) commanding: Commanding,

    /// Tool of an agent that the command runs for: rules about that tool count, and the profile
    /// they pick
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    #[command(flatten)]
    pub(crate) exporting: export::Exporting,

    #[command(flatten)]
    pub(crate) output: Output,
}

impl PlanArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        if !self.commanding.is_given() {
            return Ok(super::nothing_asked(ui));
        }
        let request = self.commanding.request()?;
        let cwd = self.commanding.cwd(&request)?;
        let command = self.commanding.command()?;
        let text = command.text();
        let sandbox = Sandbox::new(&request)?;
        let mut job = command.job().cwd(cwd);
        if let Some(tool) = &self.tool {
            job = job.tool(tool);
        }
        let planned = match self.exporting.is_asked() {
            true => sandbox.plan_elsewhere(job)?,
            false => sandbox.plan(job)?,
        };
        let export = match &planned {
            Planned::Plan { plan, asks } => self.exporting.export(&sandbox, (plan, asks))?,
            Planned::Denied(_) => None,
        };
        let (reasons, exit) = match &planned {
            Planned::Plan { asks, .. } => (asks, Exit::Success),
            Planned::Denied(reasons) => (reasons, Exit::Denied),
        };
        let mut warnings = super::warnings_running(sandbox.session());
        let say = Some(ui).filter(|_| self.format() == Format::Human);
        super::doubt_tool(self.tool.as_deref(), sandbox.session(), &mut warnings, say);
        match self.format() {
            Format::Human => {
                super::warn_running(ui, sandbox.session());
                for reason in reasons {
                    ui.say(check::carets(reason, &text).trim_end());
                }
                if let Some(export) = &export {
                    export::show(export, ui)?;
                } else if let Planned::Plan { plan, .. } = &planned {
                    // Of what is not confined we have warned above, in the same words.
                    let warned = ["external", "unconfined"];
                    let notes = plan.notes().iter();
                    for note in notes.filter(|note| !warned.contains(&note.code)) {
                        ui.say(&format!("note: {}", note.message));
                    }
                    ui.foreign(&plan.to_string())?;
                }
            }
            Format::Json => {
                let mut told = match (&planned, &export) {
                    (_, Some(export)) => self.exporting.json(export),
                    (Planned::Plan { plan, .. }, None) => plan.json(),
                    (Planned::Denied(_), None) => serde_json::json!({}),
                };
                told["denied"] = (exit == Exit::Denied).into();
                told["reasons"] = reasons.iter().map(|reason| check::one(reason, &text)).collect();
                told["warnings"] = warnings;
                told["executed"] = false.into();
                ui.json(&told)?;
            }
        }
        Ok(exit)
    }
}
