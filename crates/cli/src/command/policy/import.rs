//! `palisade policy import`: another system's file as a native one. Changes nothing.

use palisade::policy::Document;
use palisade::policy::layer::{Origin, Scope};
use palisade::policy::text::visible;
use serde_json::{Value as Json, json};

use super::check::{anchor, in_dialect};
use crate::args::{Output, Place};
use crate::exit::Exit;
use crate::failure::{Failure, problem};
use crate::ui::{Format, Ui};

/// Translate another system's policy file
///
/// Prints what the file says as a native policy file. What a native file cannot say, and what means
/// nothing here, is listed on standard error. DIALECT: without a file reads the files that the
/// system documents.
///
/// Exit codes: 0 translated, 125 the file cannot be used.
///
/// Example: palisade policy import ~/.srt-settings.json
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// File to translate, as FILE, DIALECT:FILE or DIALECT:
    #[arg(value_name = "FILE")]
    file: String,

    /// System the file is written for, where its name and keys do not tell
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    output: Output,
}

impl ImportArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let request = self.place.request()?;
        let root = anchor(&self.place, &request)?;
        let named = in_dialect(self.dialect.as_deref(), &self.file);
        let checked = request.check_file(&named, &root)?;
        let (text, lost) = checked.native_text();
        let notes: Vec<_> = checked.readings.iter().flat_map(|reading| &reading.notes).collect();
        let off = checked.readings.iter().flat_map(|reading| switched_off(&reading.document));
        let off: Vec<String> = off.map(ToString::to_string).collect();
        if self.format() == Format::Json {
            let notes: Vec<Json> = notes.into_iter().map(problem).collect();
            ui.json(&json!({ "dialect": checked.dialect, "policy": text, "notes": notes, "lost": lost, "switched_off": off }))?;
            return Ok(Exit::Success);
        }
        for note in notes {
            ui.say(&format!("{note}\n"));
        }
        for lost in lost {
            ui.say(&format!("warning[lost]: {lost}\n"));
        }
        for origin in off {
            let origin = visible(&origin);
            ui.say(&format!(
                "warning[switched-off]: the file switches confinement off: {origin}\n\n\
                 hint: a native file has no such switch; the translation confines\n"
            ));
        }
        ui.data(&text)?;
        Ok(Exit::Success)
    }
}

/// Returns where a file switches confinement off: what nobody said is no switch of the author's.
fn switched_off(document: &Document) -> impl Iterator<Item = &Origin> {
    let said = |scope: &Scope| !document.unsaid.contains(scope);
    let off = document.enabled.iter().filter(move |(scope, switch)| !switch.value && said(scope));
    off.map(|(_, switch)| &switch.origin)
}
