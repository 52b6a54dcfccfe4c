//! `palisade trust`: agree to what a project's policy opens.

use palisade::policy::key::Ignored;
use palisade::policy::text::visible;
use palisade::{Agreement, Opens, ProjectFiles, Request, Session, Warning, revoke};
use serde_json::{Value as Json, json};

use crate::args::{Output, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Trust a project's policy files as they are now
///
/// A project's own policy can always narrow what holds; what it opens is left out until you agree.
/// Shows what the files open, asks, and remembers their exact content in your own state folder. A
/// file that changes has to be trusted anew.
///
/// Exit codes: 0 trusted, or nothing to trust; 3 not trusted (`--show`); 125 failed, or nobody to
/// ask; 126 you said no.
///
/// Example: palisade trust --show
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Only show the state
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    show: bool,

    /// Forget what was trusted
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,

    /// Agree without being asked
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    output: Output,
}

impl TrustArgs {
    pub(crate) fn format(&self) -> Format {
        self.output.format()
    }

    pub(crate) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let request = self.place.request()?;
        if self.revoke {
            return self.forget(ui, &request);
        }
        let session = Session::open(&request)?;
        let opens = session.project_opens()?;
        let Some(files) = session.project_files() else {
            return self.report(ui, &session, &opens, Exit::Success);
        };
        doubts(ui, &session);
        if files.agreement == Agreement::Trusted || opens.now.is_empty() {
            return self.report(ui, &session, &opens, Exit::Success);
        }
        if self.show {
            return self.report(ui, &session, &opens, Exit::Undecided);
        }
        // Shown before the question, and pinned as shown: the hash is of the content in `files`.
        if !self.yes {
            ui.say(&description(&session, &opens));
            if !ui.can_ask() {
                let message = "there is no terminal to ask on; nothing was trusted";
                return Err(Failure::new("nobody-to-ask", message)
                    .hint("read what the files open, then say `palisade trust --yes`"));
            }
            if !ui.agrees("Trust these files as they are now?") {
                ui.say("nothing was trusted");
                return Ok(Exit::Declined);
            }
        }
        files.trust()?;
        record(ui, &session, &request, true);
        let now = Session::open(&request)?;
        match (now.project_files(), files.content) {
            (Some(current), agreed) if current.content == agreed => {
                if !self.yes && self.format() == Format::Human {
                    // The rest was shown with the question.
                    let root = visible(&now.root().path.to_string_lossy());
                    ui.data(&format!("{root}: {}\n", state(Some(current))))?;
                    return Ok(Exit::Success);
                }
                self.report(ui, &now, &now.project_opens()?, Exit::Success)
            }
            _ => Err(Failure::new("changed-meanwhile", "the files changed while you were asked")
                .hint("what you saw is trusted, what is there now is not; look again")),
        }
    }

    fn forget(&self, ui: &Ui, request: &Request) -> Result<Exit, Failure> {
        let (project, forgotten) = revoke(request)?;
        // A policy that cannot be read names no record.
        if let Some(session) = Session::open(request).ok().filter(|_| forgotten) {
            record(ui, &session, request, false);
        }
        let path = project.path.to_string_lossy();
        match self.format() {
            Format::Json => ui.json(&json!({ "root": path, "revoked": forgotten }))?,
            Format::Human if forgotten => {
                ui.data(&format!("{}: no longer trusted\n", visible(&path)))?;
            }
            Format::Human => ui.data(&format!("{}: was not trusted\n", visible(&path)))?,
        }
        Ok(Exit::Success)
    }

    fn report(
        &self,
        ui: &Ui,
        session: &Session,
        opens: &Opens,
        exit: Exit,
    ) -> Result<Exit, Failure> {
        match self.format() {
            Format::Json => ui.json(&object(session, opens))?,
            Format::Human => ui.data(&(description(session, opens) + "\n"))?,
        }
        Ok(exit)
    }
}

/// Shows what the project's files open and asks, as the command does.
pub(super) fn ask(ui: &Ui, place: &Place) -> Result<Exit, Failure> {
    let (place, output) = (Place { root: place.root.clone() }, Output::default());
    TrustArgs { show: false, revoke: false, yes: false, place, output }.run(ui)
}

/// Agrees to the project's files for a person who said so beforehand.
pub(super) fn agree(ui: &Ui, request: &Request) -> Result<(), Failure> {
    let session = Session::open(request)?;
    if let Some(files) = session.project_files() {
        files.trust()?;
        record(ui, &session, request, true);
    }
    Ok(())
}

/// Remembers it, where the policy names a file for that.
fn record(ui: &Ui, session: &Session, request: &Request, trusted: bool) {
    if let Err(error) = palisade::history::record_trust(session, request, trusted) {
        ui.say(&format!("warning: {error}"));
    }
}

/// Says what is odd; what is left out is about to be shown anyway.
fn doubts(ui: &Ui, session: &Session) {
    for warning in session.warnings() {
        if !matches!(warning, Warning::Ignored { .. }) {
            ui.say(&format!("warning: {warning}"));
        }
    }
}

fn state(files: Option<&ProjectFiles>) -> &'static str {
    match files.map(|files| files.agreement) {
        None => "nothing to trust",
        Some(Agreement::Changed) => "changed since you trusted it",
        Some(Agreement::Never) => "not trusted",
        Some(Agreement::Trusted) => "trusted",
    }
}

/// Tells the state, the files, and what they open, for people.
fn description(session: &Session, opens: &Opens) -> String {
    let root = visible(&session.root().path.to_string_lossy());
    let Some(files) = session.project_files() else {
        return format!("{root}: the project has no policy file of its own; nothing to trust");
    };
    let mut text = format!("{root}: {}", state(Some(files)));
    for path in &files.paths {
        text.push_str(&format!("\n  file {}", visible(&path.to_string_lossy())));
    }
    if opens.now.is_empty() {
        text.push_str("\nThe files open nothing; what they narrow holds without your trust.");
    } else {
        let title = match files.agreement {
            Agreement::Trusted => "They open, as you agreed:",
            Agreement::Changed | Agreement::Never => "They would open:",
        };
        list(&mut text, title, &opens.now);
        text.push_str("\nWhat they narrow holds without your trust.");
    }
    let allowed =
        "Other files allow this already; with your trust it stays open if they no longer do:";
    list(&mut text, allowed, &opens.later);
    list(&mut text, "No project may say, trusted or not; left out:", &opens.never);
    text
}

fn list(text: &mut String, title: &str, parts: &[Ignored]) {
    if parts.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}"));
    for Ignored { key, value, origin } in parts {
        text.push_str(&format!("\n  {key}: {}  ({origin})", visible(value)));
    }
}

/// Tells a program how it stands.
pub(super) fn told(session: &Session) -> Result<Json, Failure> {
    Ok(object(session, &session.project_opens()?))
}

fn object(session: &Session, opens: &Opens) -> Json {
    let files = session.project_files();
    let paths = files.map(|files| files.paths.as_slice()).unwrap_or_default();
    json!({
        "root": session.root().path.to_string_lossy(),
        "state": state(files),
        "files": paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        "content": files.map(|files| files.content.to_string()),
        "widens": parts(&opens.now),
        "later": parts(&opens.later),
        "never": parts(&opens.never),
    })
}

fn parts(parts: &[Ignored]) -> Vec<Json> {
    let part = |part: &Ignored| {
        json!({
            "key": part.key,
            "value": part.value,
            "file": part.origin.file.as_deref(),
            "line": part.origin.place.map(|place| place.line),
        })
    };
    parts.iter().map(part).collect()
}
