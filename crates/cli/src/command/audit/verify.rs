//! `palisade audit verify`.

use palisade::audit::{State, verify_beside};
use palisade::policy::text::visible;

use super::{Which, json};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// How it ends where nothing is amiss, and nothing shows who wrote it.
const UNPROVEN: Exit = Exit::Ran(4);

/// Find out whether the record is as it was written
///
/// Every record is compared with the hash that the next one carries, the last one with the head, and
/// seals and signatures with your key: what others put there, what was edited, taken out, put elsewhere or cut off is told with its file
/// and line. A record that its writer did not finish, because it was ended, is told and is no change.
/// Who has your key can write a record that verifies, and who puts back an older record with its head
/// is not seen: keep copies elsewhere if that matters.
///
/// Without the key only the chain is looked at, which anybody can make anew: it is told then what was not
/// checked, and nothing is called intact.
///
/// Exit codes: 0 it is as it was written, 3 it is not, 4 the chain holds and there was no key to check
/// who wrote it, 125 it cannot be read.
///
/// Example: palisade audit verify --json
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Number of the first record that has to be there: what lies before it was put away
    #[arg(long, value_name = "RECORD", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    from: u64,

    #[command(flatten)]
    pub(super) which: Which,
}

impl VerifyArgs {
    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let (log, key) = self.which.log()?;
        let locks = self.which.locks()?;
        let seen = verify_beside(&log, key.as_ref(), self.from, locks.as_deref());
        let seen = seen.map_err(|error| {
            let shown = visible(&log.to_string_lossy());
            Failure::io("no-log", format!("cannot read the record `{shown}`"), &error).file(&log)
        })?;
        match self.which.output.format() {
            Format::Json => ui.json(&json::verified(&log, &seen, key.as_ref()))?,
            Format::Human => {
                let shown = visible(&log.to_string_lossy());
                let state = match seen.state(key.as_ref()) {
                    State::Intact => "as it was written",
                    State::Changed => "not as it was written",
                    State::Unproven => "a chain that holds, and nothing shows who wrote it",
                };
                let mut text = format!("{shown}: {state}\n");
                text.push_str(&format!("  {} records in {} files", seen.records, seen.files));
                if let (Some(first), Some(last)) = (seen.first, seen.last) {
                    text.push_str(&format!(", {first} to {last}"));
                }
                text.push_str(&match key {
                    Some(_) => format!("; {} signatures hold\n", seen.signatures),
                    None => "\n  not checked, since there is no key: the seal of each record, \
                             checkpoints, and whose head it is\n"
                        .to_owned(),
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
        Ok(match seen.state(key.as_ref()) {
            State::Intact => Exit::Success,
            State::Changed => Exit::Undecided,
            State::Unproven => UNPROVEN,
        })
    }
}
