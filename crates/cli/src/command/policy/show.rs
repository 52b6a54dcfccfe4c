//! `palisade policy show`: the policy in force, as a policy file. Changes nothing.

mod json;
mod yaml;

use palisade::policy::text::visible;
use palisade::root::Found;
use palisade::{Agreement, Session};

use crate::args::{Output, Subject};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Show the policy in force
///
/// Prints what all layers say together, as a policy file that `policy check` accepts and `--policy`
/// reads back. The head says which project it is for and which files had a say. Warnings go to
/// standard error.
///
/// Exit codes: 0 shown, 125 a file cannot be used.
///
/// Example: palisade policy show --origin
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Say where each value comes from: layer, file, line and column
    #[arg(long)]
    origin: bool,

    /// Settings file of srt, as `--policy srt:FILE`
    #[arg(long, value_name = "FILE")]
    settings: Vec<String>,

    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    output: Output,
}

/// Whether values carry their origin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Origins {
    Hidden,
    Shown,
}

impl ShowArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let mut request = self.subject.request()?;
        request.policies.extend(self.settings.iter().map(|file| format!("srt:{file}")));
        let session = Session::open(&request)?;
        let origins = if self.origin { Origins::Shown } else { Origins::Hidden };
        let rows = session.rows();
        match self.format() {
            Format::Human => {
                crate::command::warn(ui, &session);
                ui.data(&format!("{}\n{}", head(&session), yaml::render(&rows, origins)))?;
            }
            Format::Json => ui.json(&json::render(&session, &rows, origins))?,
        }
        Ok(Exit::Success)
    }
}

/// Tells a program everything, with origins.
pub(super) fn told(session: &Session) -> serde_json::Value {
    json::render(session, &session.rows(), Origins::Shown)
}

/// Returns how the project was found, for people.
fn found(how: &Found) -> String {
    match how {
        Found::Marker(name) => format!("found by {}", visible(name)),
        Found::Cwd => "the working folder; no project found around it".into(),
        Found::Given => "as given".into(),
    }
}

/// Returns the value of a key that takes one word.
fn word(session: &Session, key: &str) -> Option<String> {
    let row = session.rows().into_iter().find(|row| row.key == key)?;
    row.values.first().and_then(|value| value.value.as_str().map(str::to_owned))
}

/// Returns a short summary, as comments.
fn head(session: &Session) -> String {
    let mut head = String::new();
    let mut line = |name: &str, value: &str| {
        head.push_str(format!("# {name:<9}{}", visible(value)).trim_end());
        head.push('\n');
    };
    let root = session.root();
    line("root", &format!("{} ({})", root.path.display(), found(&root.how)));
    for key in ["preset", "profile", "require"] {
        line(key, &word(session, key).unwrap_or_default());
    }
    for (name, value) in [("agent", session.agent()), ("task", session.task())] {
        if let Some(value) = value {
            line(name, value);
        }
    }
    if session.files().is_empty() {
        line("files", "no policy file; the built-in default holds");
    }
    let agreement = session.project_files().map(|files| files.agreement);
    for (at, file) in session.files().iter().enumerate() {
        let name = if at == 0 { "files" } else { "" };
        let note = match agreement {
            Some(agreement) if file.layer == palisade::policy::Layer::Project => note(agreement),
            Some(_) | None => "",
        };
        line(name, &format!("{}: {}{note}", file.layer, file.path.display()));
    }
    if let Some(status) = session.agentao_status() {
        let profile = status.default_profile.as_deref().unwrap_or_default();
        let root = status.workspace_root.display();
        line("agentao", &format!("{}, profile {profile}, writes {root}", status.state.word()));
        line("", &format!("profiles: {}", status.profiles.join(", ")));
        if let Some(rule) = &status.shadowed_by {
            line("", &format!("shell commands get {} instead: {}", rule.profile, rule.origin));
        }
    }
    head
}

fn note(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Changed => " (changed since you trusted it: can only narrow)",
        Agreement::Never => " (not trusted: can only narrow)",
        Agreement::Trusted => " (trusted)",
    }
}
