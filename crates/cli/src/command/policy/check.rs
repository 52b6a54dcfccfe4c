//! `palisade policy check`: is a policy file sound? Changes nothing.

use std::io;
use std::path::{Path, PathBuf};

use palisade::policy::text::visible;
use palisade::{OpenError, Request};
use serde_json::{Value as Json, json};

use crate::args::{Output, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Check policy files
///
/// Reads each file, and what it includes, as a native policy, and prints every problem the way a
/// compiler does: file, line, column, what was expected, a hint. Relative paths in the files start
/// at the project's root. The file `-` is standard input, as YAML.
///
/// Exit codes: 0 all files are sound, 125 at least one is not.
///
/// Example: palisade policy check .palisade/policy.yaml
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Files to check; `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    output: Output,
}

impl CheckArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let request = self.place.request()?;
        let root = self.anchor(&request)?;
        let mut exit = Exit::Success;
        let mut report = Vec::new();
        for file in &self.files {
            let failure = check(file, &root, &request).err().map(Failure::from);
            match self.format() {
                Format::Json => report.push(entry(file, failure.as_ref())),
                Format::Human => say(ui, file, failure.as_ref(), exit)?,
            }
            if failure.is_some() {
                exit = Exit::Failed;
            }
        }
        if self.format() == Format::Json {
            ui.json(&Json::Array(report))?;
        }
        Ok(exit)
    }

    /// Returns the folder that relative paths start from. A file can be checked where there is no
    /// project, but a folder that a person named must exist.
    fn anchor(&self, request: &Request) -> Result<PathBuf, Failure> {
        match request.project() {
            Ok(project) => Ok(project.path),
            Err(error) if self.place.root.is_some() => Err(error.into()),
            Err(_) => Ok(request.cwd.clone()),
        }
    }
}

fn check(file: &Path, root: &Path, request: &Request) -> Result<(), OpenError> {
    if file == Path::new("-") {
        request.check_stream(STDIN, io::stdin(), root)
    } else {
        palisade::check_file(file, root, request)
    }
}

const STDIN: &str = "<stdin>";

fn name(file: &Path) -> String {
    if file == Path::new("-") { STDIN.into() } else { file.to_string_lossy().into() }
}

/// Says what became of one file; between two screens of problems stands a blank line.
fn say(ui: &Ui, file: &Path, failure: Option<&Failure>, so_far: Exit) -> Result<(), Failure> {
    let Some(failure) = failure else {
        return ui.data(&format!("{}: ok (native)\n", visible(&name(file))));
    };
    if so_far == Exit::Failed {
        ui.say("");
    }
    ui.say(&failure.screen());
    Ok(())
}

fn entry(file: &Path, failure: Option<&Failure>) -> Json {
    json!({
        "file": name(file),
        "ok": failure.is_none(),
        "problems": failure.map(Failure::problems).unwrap_or_default(),
    })
}
