//! `palisade audit`: what happened, and whether the record of it is as it was written.

mod json;
mod metrics;
mod query;
mod verify;

use std::path::PathBuf;

use palisade::history;

use crate::args::{Output, Subject};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Read the record of what happened, and verify it
///
/// With `audit.path` in a policy, each decision, confirmation, connection and run is a line of that
/// file, with the hash of the line before it. A head beside the file says how far it goes, and is
/// signed, as every thousandth record is, with a key in your state folder. Secrets are taken out before
/// anything is written.
///
/// Example: palisade audit verify
#[derive(Debug, clap::Subcommand)]
pub(crate) enum AuditCommand {
    Verify(verify::VerifyArgs),
    Tail(query::TailArgs),
    Query(query::QueryArgs),
    Metrics(metrics::MetricsArgs),
}

/// Which record is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// File of records, instead of the one that the policy names
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    output: Output,
}

impl AuditCommand {
    pub(super) fn format(&self) -> Format {
        match self {
            Self::Verify(args) => args.which.output.format(),
            Self::Tail(args) => args.which.output.format(),
            Self::Query(args) => args.which.output.format(),
            Self::Metrics(args) => args.which.output.format(),
        }
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        match self {
            Self::Verify(args) => args.run(ui),
            Self::Tail(args) => args.run(ui),
            Self::Query(args) => args.run(ui),
            Self::Metrics(args) => args.run(ui),
        }
    }
}

impl Which {
    /// Returns the file of records, and where the key lies that signed it.
    fn log(&self) -> Result<(PathBuf, Option<PathBuf>), Failure> {
        let request = self.subject.request()?;
        if let Some(file) = &self.file {
            return Ok((request.cwd.join(file), history::key_of(&request)));
        }
        let session = palisade::Session::open(&request)?;
        let log = history::log_of(&session).ok_or_else(|| {
            Failure::new("no-log", "no policy names a file for the record")
                .hint("write `audit: { path: ~/palisade.jsonl }` into your policy, or use --file")
        })?;
        Ok((log, history::key_of(&request)))
    }
}
