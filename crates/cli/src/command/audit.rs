//! `palisade audit`: what happened, and whether the record of it is as it was written.

mod json;
mod metrics;
mod query;
mod verify;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use palisade::audit::{Key, read};
use palisade::history;
use palisade::policy::text::visible;
use serde_json::Value as Json;

use crate::args::{Output, Subject};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Read the record of what happened, and verify it
///
/// With `audit.path` in a policy, each decision, confirmation, connection and run is a line of that
/// file, with the hash of the line before it and a seal that only a key in your state folder makes. A
/// head beside the file says how far it goes, and is signed with that key. Secrets are taken out before
/// anything is written.
///
/// Example: palisade audit verify
#[derive(Debug, clap::Subcommand)]
pub(crate) enum AuditCommand {
    Verify(verify::VerifyArgs),
    Tail(query::TailArgs),
    Query(Box<query::QueryArgs>),
    Metrics(metrics::MetricsArgs),
}

/// Which record is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// File of records, instead of the one that the policy names
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// File with the key, instead of the one in your state folder
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    output: Output,
}

/// Which of its lines are shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Shown {
    /// Also lines that your key did not seal: those of another machine, or what somebody put there
    #[arg(long)]
    unsealed: bool,
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
    /// Returns the file of records, and the key that signed it.
    fn log(&self) -> Result<(PathBuf, Option<Key>), Failure> {
        let request = self.subject.request()?;
        let key = self.read_key(history::key_of(&request).as_deref())?;
        if let Some(file) = &self.file {
            return Ok((request.cwd.join(file), key));
        }
        let session = palisade::Session::open(&request)?;
        let log = history::log_of(&session).ok_or_else(|| {
            Failure::new("no-log", "no policy names a file for the record")
                .hint("write `audit: { path: ~/palisade.jsonl }` into your policy, or use --file")
        })?;
        Ok((log, key))
    }

    /// Returns the folder in which those who write to the record keep their lock.
    fn locks(&self) -> Result<Option<PathBuf>, Failure> {
        Ok(history::locks_of(&self.subject.request()?))
    }

    /// Reads the key. One that was named has to be there.
    fn read_key(&self, own: Option<&Path>) -> Result<Option<Key>, Failure> {
        let failed = |path: &Path, error: &std::io::Error| {
            let shown = visible(&path.to_string_lossy());
            Failure::io("key", format!("cannot read the key `{shown}`"), error).file(path)
        };
        match (&self.key, own) {
            (Some(path), _) => Key::read(path).map(Some).map_err(|error| failed(path, &error)),
            (None, None) => Ok(None),
            (None, Some(own)) => match Key::read(own) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                read => read.map(Some).map_err(|error| failed(own, &error)),
            },
        }
    }

    /// Tells of each event. Lines that are not ours are told of once, at the end.
    fn each(
        &self,
        ui: &Ui,
        shown: &Shown,
        tell: impl FnMut(&[u8], Json) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let (log, key) = self.log()?;
        let key = key.filter(|_| !shown.unsealed);
        let left_out = each(&log, key.as_ref(), tell)?;
        if left_out > 0 {
            ui.say(&format!(
                "note: {left_out} lines that your key did not seal are left out; see `audit verify`, \
                 or use --unsealed"
            ));
        }
        Ok(())
    }
}

/// Tells of each event, and returns how many lines are not ours.
fn each(
    log: &Path,
    key: Option<&Key>,
    tell: impl FnMut(&[u8], Json) -> ControlFlow<()>,
) -> Result<u64, Failure> {
    let found = log.symlink_metadata().and_then(|_| read(log, key, tell));
    found.map_err(|error| {
        let shown = visible(&log.to_string_lossy());
        Failure::io("no-log", format!("cannot read the record `{shown}`"), &error).file(log)
    })
}
