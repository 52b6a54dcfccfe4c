//! `palisade init`: a first policy, with the reason beside each value.

use std::path::PathBuf;

use palisade::hook::Agent;
use palisade::init::{CannotInit, Scenario, UnknownScenario, write_project, write_user};
use palisade::policy::agent;
use palisade::policy::text::visible;
use palisade::{Agreement, Request, Session};
use serde_json::json;

use super::hook::install::InstallArgs;
use super::trust;
use crate::args::{Output, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Write a first policy
///
/// Writes `.palisade/policy.yaml` into the project, or your own policy with --user: a commented text
/// for one situation, to be changed. What is there already stays. What the file opens counts once you
/// have trusted it; on a terminal you are asked at once.
///
/// Situations: `dev` (your own machine), `internal` (a tool inside a company), `ci` (a service that
/// builds and tests), `saas` (what strangers send), `multi-tenant` (one process for several projects).
///
/// Exit codes: 0 it is written, 125 it cannot be, or there is one, 126 you said no to a hook; the policy
/// is written then.
///
/// Example: palisade init --for dev --agent claude --hook
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// What the policy is for: dev, internal, ci, saas or multi-tenant
    #[arg(
        long = "for", value_name = "SITUATION", default_value = "dev",
        value_parser = |word: &str| -> Result<Scenario, UnknownScenario> { word.parse() }
    )]
    scenario: Scenario,

    /// Agent that works there: its own hosts are opened for it. May be repeated
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,

    /// Install the hook of each of these agents, too, in your own settings
    #[arg(long, requires = "agent", conflicts_with = "print")]
    hook: bool,

    #[command(flatten)]
    into: Target,

    /// Trust what the file opens and install hooks without asking
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    output: Output,
}

/// Where it goes.
#[derive(Debug, clap::Args)]
struct Target {
    /// Write your own policy, which holds in every project
    #[arg(long, conflicts_with = "root")]
    user: bool,

    /// Print it, and write nothing
    #[arg(long, conflicts_with_all = ["user", "yes"])]
    print: bool,
}

impl InitArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let hooks = self.agents()?;
        let agents: Vec<&str> = self.agent.iter().map(String::as_str).collect();
        let text = self.scenario.policy(&agents);
        if self.into.print {
            match self.format() {
                Format::Human => ui.data(&text)?,
                Format::Json => {
                    ui.json(&json!({ "situation": self.scenario.word(), "text": text }))?;
                }
            }
            return Ok(Exit::Success);
        }
        let request = self.place.request()?;
        let file = self.write(&request, &text)?;
        let opens = if self.into.user { Vec::new() } else { opened(&request)? };
        if self.yes && !opens.is_empty() {
            trust::agree(ui, &request)?;
        }
        match self.format() {
            Format::Json => ui.json(&json!({
                "file": file.to_string_lossy(),
                "situation": self.scenario.word(),
                "agents": agents,
                "opens": opens,
                "trusted": self.into.user || self.yes || opens.is_empty(),
            }))?,
            Format::Human => {
                ui.data(&format!("wrote {}\n", visible(&file.to_string_lossy())))?;
                self.trusted(ui, &opens)?;
            }
        }
        self.install(ui, &hooks)
    }

    /// Returns the agents whose hooks are wanted. Names that nobody knows are refused before anything
    /// is written.
    fn agents(&self) -> Result<Vec<Agent>, Failure> {
        for name in &self.agent {
            if !agent::names().any(|known| known == name) {
                let message = format!("no agent `{}` is known", visible(name));
                return Err(Failure::new("no-such-agent", message)
                    .hint("`palisade agents` lists those that are"));
            }
        }
        if !self.hook {
            return Ok(Vec::new());
        }
        let hooked = |name: &String| {
            name.parse().map_err(|_| {
                let message = format!("there is no hook for `{}`", visible(name));
                Failure::new("no-hook", message).hint("leave out --hook, or that agent")
            })
        };
        self.agent.iter().map(hooked).collect()
    }

    fn write(&self, request: &Request, text: &str) -> Result<PathBuf, Failure> {
        if !self.into.user {
            // Where the project is may be said by a policy that is there.
            let root = Session::open(request)?.root().path.clone();
            return write_project(&root, text).map_err(failed);
        }
        let path = request
            .places()
            .user_policy
            .ok_or_else(|| Failure::new("no-home", "no home folder is known").hint("set HOME"))?;
        write_user(&path, text).map_err(failed)?;
        Ok(path)
    }

    /// Has a person agree to what the file opens.
    fn trusted(&self, ui: &Ui, opens: &[String]) -> Result<(), Failure> {
        if opens.is_empty() || self.yes {
            return Ok(());
        }
        if !ui.can_ask() {
            ui.say(&format!("note: until you trust it, it does not open {}", opens.join(", ")));
            ui.say("hint: read it, then say `palisade trust`");
            return Ok(());
        }
        trust::ask(ui, &self.place).map(|_| ())
    }

    fn install(&self, ui: &Ui, hooks: &[Agent]) -> Result<Exit, Failure> {
        let mut exit = Exit::Success;
        for agent in hooks {
            let ended = InstallArgs::of(*agent, self.yes).run(ui)?;
            if ended != Exit::Success {
                exit = ended;
            }
        }
        Ok(exit)
    }
}

/// Returns the keys by which the project's file opens something that was closed.
fn opened(request: &Request) -> Result<Vec<String>, Failure> {
    let session = Session::open(request)?;
    let trusted = session.project_files().is_none_or(|it| it.agreement == Agreement::Trusted);
    if trusted {
        return Ok(Vec::new());
    }
    let mut keys: Vec<String> =
        session.project_opens()?.now.iter().map(|part| part.key.clone()).collect();
    keys.dedup();
    Ok(keys)
}

fn failed(error: CannotInit) -> Failure {
    let failure = Failure::new(error.code(), visible(&error.to_string()));
    match error {
        CannotInit::Exists(_) => {
            failure.hint("change it, or see what would be written with --print")
        }
        CannotInit::Refused { .. } => failure,
    }
}
