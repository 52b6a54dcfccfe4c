//! `palisade policy`: what holds, and whether a file is sound.

mod check;
mod schema;
mod show;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Show the policy in force, or check a policy file
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum PolicyCommand {
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    /// Print the JSON Schema of policy files
    ///
    /// Editors use it to complete and check `policy.yaml` while it is written.
    ///
    /// Example: palisade policy schema > policy.schema.json
    Schema,
}

impl PolicyCommand {
    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Show(args) => args.format(),
            Self::Check(args) => args.format(),
            Self::Schema => Format::Human,
        }
    }

    pub(crate) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        match self {
            Self::Show(args) => args.run(ui),
            Self::Check(args) => args.run(ui),
            Self::Schema => schema::run(ui),
        }
    }
}
