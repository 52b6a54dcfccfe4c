//! `palisade plan --export`: the same plan for another engine.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use palisade::plan::Plan;
use palisade::plan::export::{CannotExport, Engine, Export, Lack};
use palisade::policy::decide::Reason;
use palisade::{Sandbox, export_folder, write_export};
use serde_json::{Value as Json, json};

use crate::failure::Failure;
use crate::ui::Ui;

/// For which engine a plan is printed.
#[derive(Debug, Default, Args)]
pub(crate) struct Exporting {
    /// Print what carries the plan to another engine
    #[arg(long = "export", value_name = "ENGINE", value_parser = engines())]
    engine: Option<Engine>,

    /// New folder for the files that the engine reads; not in what the command may write
    #[arg(long, value_name = "DIR", requires = "engine")]
    to: Option<PathBuf>,

    /// Image that the engine starts from, for docker
    #[arg(long, value_name = "NAME", requires = "engine")]
    image: Option<String>,

    /// What the engine may lack, by the names that a refusal lists
    #[arg(long, value_name = "NAMES", requires = "engine")]
    #[arg(value_delimiter = ',', value_parser = lacks(), hide_possible_values = true)]
    without: Vec<Lack>,
}

fn engines() -> impl clap::builder::TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::word)).try_map(|word| word.parse::<Engine>())
}

fn lacks() -> impl clap::builder::TypedValueParser<Value = Lack> {
    PossibleValuesParser::new(Lack::ALL.map(Lack::word)).try_map(|word| word.parse::<Lack>())
}

impl Exporting {
    /// Whether the plan is for another engine.
    pub(super) fn is_asked(&self) -> bool {
        self.engine.is_some()
    }

    /// Carries the plan to the engine, and writes the files that it needs.
    pub(super) fn export(
        &self,
        sandbox: &Sandbox,
        planned: (&Plan, &[Reason]),
    ) -> Result<Option<Export>, Failure> {
        let Some(engine) = self.engine else { return Ok(None) };
        let unwritten = |folder: &Path, error| {
            let message = format!("cannot make the folder `{}`", folder.display());
            Failure::io("export-folder", message, &error).hint("name a new one with --to")
        };
        let folder = self
            .to
            .as_deref()
            .map(|folder| export_folder(folder).map_err(|error| unwritten(folder, error)));
        let folder = folder.transpose()?;
        let from = (folder.as_deref(), self.image.as_deref());
        let export = sandbox.export(planned, engine, from, &self.without)?;
        if let Some(folder) = &folder {
            write_export(&export, folder).map_err(|error| unwritten(folder, error))?;
        }
        Ok(Some(export))
    }

    /// Returns an export for programs.
    pub(super) fn json(&self, export: &Export) -> Json {
        let missing =
            export.missing.iter().map(|it| json!({ "name": it.lack.word(), "what": it.what }));
        let notes = export.notes.iter().map(|it| json!({ "code": it.code, "message": it.message }));
        json!({
            "engine": self.engine.map(Engine::word),
            "text": export.text,
            "files": export.files.iter().map(|file| file.name).collect::<Vec<_>>(),
            "missing": missing.collect::<Vec<_>>(),
            "notes": notes.collect::<Vec<_>>(),
        })
    }
}

/// Prints an export for a person.
pub(super) fn show(export: &Export, ui: &Ui) -> Result<(), Failure> {
    for missing in &export.missing {
        ui.say(&format!("without {}: {}", missing.lack.word(), missing.what));
    }
    for note in &export.notes {
        ui.say(&format!("note: {}", note.message));
    }
    ui.foreign(&export.text)
}

impl From<CannotExport> for Failure {
    fn from(error: CannotExport) -> Self {
        Self::new(error.code(), error.to_string()).hint(error.hint())
    }
}
