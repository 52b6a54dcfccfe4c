//! `palisade policy`: what holds, and whether a file is sound.

mod check;
mod export;
mod import;
mod schema;
mod show;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Show, check and translate policies
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum PolicyCommand {
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
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
            Self::Import(args) => args.format(),
            Self::Export(args) => args.format(),
            Self::Schema => Format::Human,
        }
    }

    pub(crate) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        match self {
            Self::Show(args) => args.run(ui),
            Self::Check(args) => args.run(ui),
            Self::Import(args) => args.run(ui),
            Self::Export(args) => args.run(ui),
            Self::Schema => schema::run(ui),
        }
    }
}

/// Tells a program the policy in force, with the origin of each value.
pub(super) fn told(session: &palisade::Session) -> serde_json::Value {
    show::told(session)
}
