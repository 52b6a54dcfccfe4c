//! `palisade why`: what a command would find at a path or a host, and why; or why it may not run.

use std::path::{Path, PathBuf};

use palisade::plan::{Finds, Level};
use palisade::policy::name::Host;
use palisade::policy::policy::{NetworkMode, Reached as Judged};
use palisade::policy::text::visible;
use palisade::policy::url::host_of;
use palisade::why::{CannotTell, Reached, Said, WhyHost, WhyPath};
use palisade::{Guard, Sandbox, Session};
use serde_json::{Value as Json, json};

use super::check;
use crate::args::Output;
use crate::asking::Commanding;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Tell why a path, a host or a command is open or closed
///
/// Runs nothing. Of a path it tells what a command would find there, which step of the plan says so,
/// and which line of which policy; of a host, whether it is reached; of a command, what `palisade
/// check` decides. A word with a slash, `~` or a dot at its beginning is a path, one with a dot or a
/// port is a host, and what stands after `--` is a command; --path and --host say it outright.
///
/// Exit codes: 0 open: it can be read, reached or run; 3 somebody would be asked; 126 closed; 125
/// there is no plan.
///
/// Example: palisade why ~/.ssh/id_ed25519
#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    /// Path, host with or without a port, or URL
    #[arg(value_name = "PATH|HOST", conflicts_with_all = ["shell", "argv"])]
    about: Option<String>,

    /// It is a path
    #[arg(long, conflicts_with = "host", requires = "about")]
    path: bool,

    /// It is a host
    #[arg(long, requires = "about")]
    host: bool,

    #[command(flatten)]
    commanding: Commanding,

    #[command(flatten)]
    output: Output,
}

/// What is asked about.
enum About {
    Path(PathBuf),
    Host(Host, u16),
}

impl WhyArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let Some(about) = &self.about else {
            return self.command(ui);
        };
        let about = self.read(about)?;
        let request = self.commanding.request()?;
        let cwd = self.commanding.cwd(&request)?;
        let sandbox = Sandbox::new(&request)?;
        if self.format() == Format::Human {
            super::warn_running(ui, sandbox.session());
        }
        let (told, text, exit) = match about {
            About::Path(path) => {
                let why = sandbox.why_path(&path, Path::new(&cwd)).map_err(failed)?;
                (path_json(&why), path_text(&why), path_exit(&why))
            }
            About::Host(host, port) => {
                let why = sandbox.why_host(host, port).map_err(failed)?;
                (host_json(&why), host_text(&why), host_exit(&why))
            }
        };
        match self.format() {
            Format::Human => ui.data(&text)?,
            Format::Json => {
                let mut told = told;
                told["warnings"] = super::warnings_running(sandbox.session());
                ui.json(&told)?;
            }
        }
        Ok(exit)
    }

    fn read(&self, about: &str) -> Result<About, Failure> {
        let is_path = about.starts_with(['/', '.', '~']) || about.contains('/');
        let has_scheme = about.contains("://");
        if self.path || is_path && !has_scheme && !self.host {
            return Ok(About::Path(about.into()));
        }
        if !self.host && !has_scheme && Path::new(about).symlink_metadata().is_ok() {
            return Ok(About::Path(about.into()));
        }
        let url = if has_scheme { about.to_owned() } else { format!("https://{about}") };
        match host_of(&url) {
            Ok(parsed) if has_scheme || self.host || about.contains(['.', ':']) => {
                Ok(About::Host(parsed.host, parsed.port.unwrap_or(443)))
            }
            Ok(_) => Ok(About::Path(about.into())),
            Err(error) if self.host || has_scheme => {
                Err(Failure::new("no-host", visible(&error.to_string())))
            }
            Err(_) => Ok(About::Path(about.into())),
        }
    }

    fn command(&self, ui: &Ui) -> Result<Exit, Failure> {
        if !self.commanding.is_given() {
            return Ok(super::nothing_asked(ui));
        }
        let request = self.commanding.request()?;
        let cwd = self.commanding.cwd(&request)?;
        let session = &Session::open(&request)?;
        let command = self.commanding.command()?;
        let verdict = command.asked(|asked| Guard::new(session).decide(asked, &cwd));
        let text = command.text();
        match self.format() {
            Format::Human => {
                super::warn(ui, session);
                ui.data(&format!("{}: {}\n", visible(&text), verdict.answer()))?;
                for reason in verdict.reasons() {
                    ui.data(&check::carets(reason, &text))?;
                }
            }
            Format::Json => {
                let mut told = check::json(&verdict, &text);
                told["kind"] = "command".into();
                told["warnings"] = super::warnings_with(session, &command);
                ui.json(&told)?;
            }
        }
        Ok(check::exit(verdict.answer()))
    }
}

fn failed(error: CannotTell) -> Failure {
    match error {
        CannotTell::Plan(error) => error.into(),
        error @ CannotTell::NothingRuns => Failure::new("nothing-runs", error.to_string())
            .hint("`palisade check -- true` says why"),
    }
}

fn path_exit(why: &WhyPath) -> Exit {
    match why.found.finds {
        Some(finds) if finds.reads() || finds == Finds::Own => Exit::Success,
        Some(_) => Exit::Denied,
        None => Exit::Failed,
    }
}

fn path_text(why: &WhyPath) -> String {
    let path = visible(&why.path.to_string_lossy());
    let mut text = format!("{path}: {}\n", meaning(why.found.finds, why.exists));
    let is_hidden = why.said.as_ref().is_some_and(|said| said.key == "files.hide");
    if is_hidden && !why.exists {
        text.push_str("  should it come during a run, it is hidden once it is seen\n");
    }
    let is_protected = why.said.as_ref().is_some_and(|said| said.key == "files.protect");
    if is_protected && why.found.finds == Some(Finds::Writable) {
        text.push_str(
            "  the name is protected: what is made there is set aside when the run ends\n",
        );
    }
    if !matches!(why.level, Level::Full) {
        text.push_str(&format!("  level: {}\n", why.level.word()));
    }
    if let (Some(number), Some(step)) = (why.found.step, &why.step) {
        let step = crate::ui::cut(&visible(step), 160);
        text.push_str(&format!("  step {} of the plan: {step}\n", number + 1));
    }
    text.push_str(&said_text(why.said.as_ref()));
    if let Some(hint) = path_hint(why) {
        text.push_str(&format!("  to change it: {hint}\n"));
    }
    text
}

fn said_text(said: Option<&Said>) -> String {
    said.map(|said| format!("  by {} ({})\n", said.key, said.origin)).unwrap_or_default()
}

/// Says what a command finds, in words.
fn meaning(finds: Option<Finds>, exists: bool) -> &'static str {
    match (finds, exists) {
        (None, _) => "the profile says; the steps do not tell",
        (Some(Finds::Writable), true) => "can be read and written",
        (Some(Finds::Writable), false) => "is not there, and can be made",
        (Some(Finds::Readable), true) => "can be read, and not written",
        (Some(Finds::Readable), false) => "is not there, and cannot be made",
        (Some(Finds::Protected), _) => "can be read, and stays as it is",
        (Some(Finds::Reserved), _) => "is not there, and cannot be made: the name is protected",
        (Some(Finds::Nothing), _) => "does not exist for the command",
        (Some(Finds::Cover), _) => "is covered: it can be seen, and neither read nor written",
        (Some(Finds::Own), _) => {
            "is a folder of the run alone, empty at its start and gone with it"
        }
        (Some(Finds::Layer), _) => "can be read; what is written goes to a layer of this project",
        (Some(Finds::Replaced), _) => "is replaced by what is made for the run",
        (Some(Finds::Device), _) => "is a device, and can be used",
    }
}

fn path_hint(why: &WhyPath) -> Option<&'static str> {
    match (why.found.finds?, &why.said) {
        (_, Some(said)) if said.key == "files.hide" => Some("`files.unhide` in a policy of yours"),
        (Finds::Readable, _) => Some("list it in `files.write` beside `.`"),
        (Finds::Protected | Finds::Reserved, _) => {
            Some("nothing takes a protected name back; do it outside")
        }
        _ => None,
    }
}

fn path_json(why: &WhyPath) -> Json {
    let finds = why.found.finds;
    json!({
        "kind": "path",
        "path": why.path.to_string_lossy(),
        "exists": why.exists,
        "finds": finds.map(Finds::word),
        "reads": finds.map(Finds::reads),
        "writes": finds.map(Finds::writes),
        "step": why.found.step.map(|number| number + 1),
        "is": why.step,
        "level": why.level.word(),
        "said": said_json(why.said.as_ref()),
    })
}

fn said_json(said: Option<&Said>) -> Json {
    said.map_or(Json::Null, |said| json!({ "key": said.key, "origin": said.origin.to_string() }))
}

fn host_exit(why: &WhyHost) -> Exit {
    match &why.reached {
        Reached::Unfiltered => Exit::Success,
        Reached::Never => Exit::Denied,
        Reached::Judged(judged) => match judged {
            Judged::Allowed(_) | Judged::Open | Judged::OuterPort => Exit::Success,
            Judged::Asked(_) => Exit::Undecided,
            Judged::Denied(_) | Judged::Unlisted | Judged::NoOuterPort => Exit::Denied,
        },
    }
}

fn host_text(why: &WhyHost) -> String {
    let WhyHost { host, port, .. } = why;
    let meaning = match &why.reached {
        Reached::Never => "is not reached: there is no network".to_owned(),
        Reached::Unfiltered => {
            "is reached as from the host: nothing filters the network".to_owned()
        }
        Reached::Judged(judged) => match judged {
            Judged::Allowed(_) | Judged::OuterPort => "is reached".to_owned(),
            Judged::Open => "is reached, and recorded".to_owned(),
            Judged::Asked(_) => "is reached if you say so when it is asked".to_owned(),
            Judged::Denied(_) | Judged::Unlisted | Judged::NoOuterPort => {
                format!("is not reached [{}]", code(judged).unwrap_or_default())
            }
        },
    };
    let mut text = format!("{host} at port {port}: {meaning}\n");
    let origin = why.mode_origin.as_ref().map(|origin| format!(" ({origin})"));
    text.push_str(&format!("  network.mode: {}{}\n", why.mode, origin.unwrap_or_default()));
    text.push_str(&said_text(why.said.as_ref()));
    let hint = match (&why.reached, why.mode) {
        (Reached::Never, _) => Some("`network: { mode: allow-list, allow: [...] }` in your policy"),
        (Reached::Judged(Judged::Unlisted), NetworkMode::AllowList) => {
            Some("list it in `network.allow`")
        }
        _ => None,
    };
    if let Some(hint) = hint {
        text.push_str(&format!("  to change it: {hint}\n"));
    }
    text
}

fn host_json(why: &WhyHost) -> Json {
    let (answer, code) = match &why.reached {
        Reached::Never => ("deny", Some("no-network")),
        Reached::Unfiltered => ("allow", Some("unfiltered")),
        Reached::Judged(judged) => match judged {
            Judged::Allowed(_) | Judged::Open | Judged::OuterPort => ("allow", None),
            Judged::Asked(_) => ("ask", None),
            Judged::Denied(_) | Judged::Unlisted | Judged::NoOuterPort => ("deny", code(judged)),
        },
    };
    json!({
        "kind": "host",
        "host": why.host.to_string(),
        "port": why.port,
        "mode": why.mode.to_string(),
        "answer": answer,
        "code": code,
        "said": said_json(why.said.as_ref()),
    })
}

/// Names a refusal as connections are told.
fn code(judged: &Judged) -> Option<&'static str> {
    match judged {
        Judged::Denied(_) => Some("host-denied"),
        Judged::Unlisted => Some("host-not-listed"),
        Judged::NoOuterPort => Some("host-port-not-listed"),
        Judged::Allowed(_) | Judged::Open | Judged::OuterPort | Judged::Asked(_) => None,
    }
}
