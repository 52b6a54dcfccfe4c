//! `palisade audit verify`.

use std::path::{Path, PathBuf};

use palisade::audit::{Key, verify};
use palisade::policy::text::visible;

use super::{Which, json};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Find out whether the record is as it was written
///
/// Every record is compared with the hash that the next one carries, the last one with the head, and
/// signatures with your key: what was edited, taken out, put elsewhere or cut off is told with its file
/// and line. A record that its writer did not finish, because it was ended, is told and is no change.
/// Who has your key can write a record that verifies, and who puts back an older record with its head
/// is not seen: keep copies elsewhere if that matters.
///
/// Exit codes: 0 it is as it was written, 3 it is not, 125 it cannot be read.
///
/// Example: palisade audit verify --json
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Number of the first record that has to be there: what lies before it was put away
    #[arg(long, value_name = "RECORD", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    from: u64,

    /// File with the key, instead of the one in your state folder
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    #[command(flatten)]
    pub(super) which: Which,
}

impl VerifyArgs {
    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let (log, own) = self.which.log()?;
        let key = self.read_key(own.as_deref())?;
        let seen = verify(&log, key.as_ref(), self.from).map_err(|error| {
            let shown = visible(&log.to_string_lossy());
            Failure::io("no-log", format!("cannot read the record `{shown}`"), &error).file(&log)
        })?;
        match self.which.output.format() {
            Format::Json => ui.json(&json::verified(&log, &seen, key.is_some()))?,
            Format::Human => {
                let shown = visible(&log.to_string_lossy());
                let state =
                    if seen.is_intact() { "as it was written" } else { "not as it was written" };
                let mut text = format!("{shown}: {state}\n");
                text.push_str(&format!("  {} records in {} files", seen.records, seen.files));
                if let (Some(first), Some(last)) = (seen.first, seen.last) {
                    text.push_str(&format!(", {first} to {last}"));
                }
                text.push_str(&match key {
                    Some(_) => format!("; {} signatures hold\n", seen.signatures),
                    None => "; signatures were not looked at: there is no key\n".to_owned(),
                });
                ui.data(&text)?;
                seen.notes.iter().for_each(|note| ui.say(&format!("note: {note}")));
                for problem in &seen.problems {
                    ui.say(&format!("error[{}]: {problem}", problem.code));
                }
                if seen.more > 0 {
                    ui.say(&format!("error: and {} more", seen.more));
                }
            }
        }
        Ok(if seen.is_intact() { Exit::Success } else { Exit::Undecided })
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
}
