//! `palisade policy check`: is a policy file sound? Changes nothing.

use std::io;
use std::path::{Path, PathBuf};

use palisade::policy::lint::Lint;
use palisade::policy::text::visible;
use palisade::{LoadedFile, Request, Session};
use serde_json::{Value as Json, json};

use crate::args::{Output, Place};
use crate::exit::Exit;
use crate::failure::{Failure, problem};
use crate::ui::{Format, Ui};

/// Check policy files
///
/// Reads each file, what it includes and the profiles it names, and prints every problem the way a
/// compiler does: file, line, column, what was expected, a hint. Files of other systems are told by
/// their name, then by their keys; DIALECT:FILE says which it is. Relative paths in the files start
/// at the project's root. The file `-` is standard input, as YAML. Warnings say what a sound file
/// opens that its author may not mean. Without a file, those are checked that are in force for the
/// project.
///
/// Exit codes: 0 all files are sound, 125 at least one is not.
///
/// Example: palisade policy check .palisade/policy.yaml
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Files to check; `-` for standard input, none for those in force
    #[arg(value_name = "FILE")]
    files: Vec<String>,

    /// System the files are written for, such as `srt`, where their names and keys do not tell
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,

    /// Fail on warnings too
    #[arg(long)]
    deny_warnings: bool,

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
        let root = anchor(&self.place, &request)?;
        let mut exit = Exit::Success;
        let mut report = Vec::new();
        let in_force = if self.files.is_empty() { in_force(ui, &request)? } else { Vec::new() };
        for file in self.files.iter().chain(&in_force) {
            let found = self.look(file, &root, &request);
            let warned = self.deny_warnings && !found.warnings.is_empty();
            let verdict = if warned { "refused for its warnings" } else { "ok" };
            match self.format() {
                Format::Json => report.push(found.json(file, !warned)),
                Format::Human => found.say(ui, file, verdict, exit)?,
            }
            if warned || found.failure.is_some() {
                exit = Exit::Failed;
            }
        }
        if self.format() == Format::Json {
            ui.json(&Json::Array(report))?;
        }
        Ok(exit)
    }

    fn look(&self, file: &str, root: &Path, request: &Request) -> Found {
        let checked = if file == "-" {
            request.check_stream(STDIN, io::stdin(), root)
        } else {
            request.check_file(&in_dialect(self.dialect.as_deref(), file), root)
        };
        let checked = checked.and_then(|checked| Ok((checked.lints()?, checked)));
        match checked {
            Ok((lints, checked)) => {
                let notes = checked.readings.iter().flat_map(|reading| &reading.notes);
                let notes =
                    notes.map(|note| Complaint { screen: note.to_string(), json: problem(note) });
                let warnings = notes.chain(lints.iter().map(Complaint::of_lint)).collect();
                Found { dialect: Some(checked.dialect), warnings, failure: None }
            }
            Err(error) => {
                Found { dialect: None, warnings: Vec::new(), failure: Some(error.into()) }
            }
        }
    }
}

/// Returns the files that have a say in the project, as `--policy` takes them.
fn in_force(ui: &Ui, request: &Request) -> Result<Vec<String>, Failure> {
    let session = Session::open(request)?;
    let named = |file: &LoadedFile| match (file.dialect, file.path.display()) {
        ("native", path) => path.to_string(),
        (dialect, path) => format!("{dialect}:{path}"),
    };
    let files: Vec<String> = session.files().iter().map(named).collect();
    if files.is_empty() {
        ui.say("no policy file; the built-in default holds");
    }
    Ok(files)
}

/// Returns the folder that relative paths start from. A file can be checked where there is no
/// project, but a folder that a person named must exist.
pub(super) fn anchor(place: &Place, request: &Request) -> Result<PathBuf, Failure> {
    match request.project() {
        Ok(project) => Ok(project.path),
        Err(error) if place.root.is_some() => Err(error.into()),
        Err(_) => Ok(request.cwd.clone()),
    }
}

/// Puts the dialect in front of a file's name, as `--policy` takes it.
pub(super) fn in_dialect(dialect: Option<&str>, file: &str) -> String {
    dialect.map_or_else(|| file.to_owned(), |dialect| format!("{dialect}:{file}"))
}

const STDIN: &str = "<stdin>";

/// What became of one file.
struct Found {
    dialect: Option<&'static str>,
    warnings: Vec<Complaint>,
    failure: Option<Failure>,
}

/// A warning, for a person and for a program.
struct Complaint {
    screen: String,
    json: Json,
}

impl Complaint {
    fn of_lint(lint: &Lint) -> Self {
        let place =
            lint.origin.as_ref().map(|origin| format!("\n  --> {origin}")).unwrap_or_default();
        let screen = format!(
            "warning[{}]: {}{place}\n   = {}\n\nhint: {}",
            lint.code,
            visible(&lint.message),
            lint.explanation,
            visible(&lint.fix),
        );
        let at = lint.origin.as_ref().and_then(|origin| origin.place);
        let json = json!({
            "severity": "warning", "code": lint.code, "message": lint.message,
            "file": lint.origin.as_ref().and_then(|origin| origin.file.as_deref()),
            "line": at.map(|place| place.line), "column": at.map(|place| place.column),
            "explanation": lint.explanation, "hint": lint.fix,
        });
        Self { screen, json }
    }
}

impl Found {
    /// Says what became of the file; between two screens of problems stands a blank line.
    fn say(&self, ui: &Ui, file: &str, verdict: &str, so_far: Exit) -> Result<(), Failure> {
        if let Some(failure) = &self.failure {
            if so_far == Exit::Failed {
                ui.say("");
            }
            ui.say(&failure.screen());
            return Ok(());
        }
        for warning in &self.warnings {
            ui.say(&format!("{}\n", warning.screen));
        }
        let (name, dialect) = (visible(name(file)), self.dialect.unwrap_or_default());
        let warned = match self.warnings.len() {
            0 => String::new(),
            1 => ", 1 warning".into(),
            many => format!(", {many} warnings"),
        };
        ui.data(&format!("{name}: {verdict} ({dialect}{warned})\n"))
    }

    fn json(&self, file: &str, clean: bool) -> Json {
        let warnings = self.warnings.iter().map(|warning| warning.json.clone());
        let problems = self.failure.as_ref().map(Failure::problems).unwrap_or_default();
        json!({
            "file": name(file),
            "dialect": self.dialect,
            "ok": clean && self.failure.is_none(),
            "problems": problems.into_iter().chain(warnings).collect::<Vec<Json>>(),
        })
    }
}

fn name(file: &str) -> &str {
    if file == "-" { STDIN } else { file }
}
