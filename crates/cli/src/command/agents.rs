//! `palisade agents`: the agents that are known, and where they work.

use std::path::PathBuf;

use palisade::Session;
use palisade::policy::agent::{self, AgentPreset};
use palisade::policy::name::Anchors;
use palisade::policy::text::visible;
use palisade::workspaces::{Unknown, Workspaces};
use palisade::{OpenError, Request};
use serde_json::{Value as Json, json};

use crate::args::{Output, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Show the agents that are known, and where agents work
///
/// `palisade run --agent NAME` gives a known agent what it needs to work behind the walls, where no
/// policy of yours speaks of it: its state folders, its own login and no other's, its variables, the
/// names of its hosts, and its own sandbox off. A policy that speaks of the agent says all of it.
///
/// Each run for an agent remembers where it works, and hides that from every other agent from then
/// on, running or not.
///
/// Exit codes: 0 done, 125 failed.
///
/// Example: palisade agents show claude
#[derive(Debug, clap::Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    List(ListArgs),
    Show(ShowArgs),
    Workspaces(WorkspacesArgs),
    Forget(ForgetArgs),
}

/// List the agents that are known
///
/// Example: palisade agents list --json
#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    output: Output,
}

/// Show what is known of one agent
///
/// What is printed is a policy file: with it, or with a part of it in a policy of yours, the agent gets
/// what it gets without, and you can change it.
///
/// Example: palisade agents show codex --json
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The agent
    name: String,

    #[command(flatten)]
    output: Output,
}

/// List where agents have worked, which is hidden from the others
///
/// Example: palisade agents workspaces
#[derive(Debug, clap::Args)]
struct WorkspacesArgs {
    #[command(flatten)]
    output: Output,
}

/// Forget that agents worked in a folder: it is hidden from nobody then
///
/// An entry that cannot be read, of which `palisade agents workspaces` tells, is not touched.
///
/// Example: palisade agents forget ~/code/app
#[derive(Debug, clap::Args)]
struct ForgetArgs {
    /// The folder, as `palisade agents workspaces` lists it; the project, if none is given
    folder: Option<PathBuf>,

    /// Forget this agent alone: the folder stays hidden for the others that worked there
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Forget every folder that is not there any more
    #[arg(long, conflicts_with_all = ["folder", "agent"])]
    gone: bool,

    #[command(flatten)]
    output: Output,
}

impl AgentsArgs {
    pub(super) fn format(&self) -> Format {
        let inner = match &self.what {
            None => Format::Human,
            Some(What::List(args)) => args.output.format(),
            Some(What::Show(args)) => args.output.format(),
            Some(What::Workspaces(args)) => args.output.format(),
            Some(What::Forget(args)) => args.output.format(),
        };
        if inner == Format::Json { inner } else { self.output.format() }
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let request = Place { root: None }.request()?;
        match &self.what {
            None | Some(What::List(_)) => self.list(ui),
            Some(What::Show(args)) => self.show(ui, &request, &args.name),
            Some(What::Workspaces(_)) => self.workspaces(ui, &request),
            Some(What::Forget(args)) => self.forget(ui, &request, args),
        }
    }

    fn list(&self, ui: &Ui) -> Result<Exit, Failure> {
        let mut agents = Vec::new();
        for name in agent::names() {
            agents.extend(known(name)?);
        }
        match self.format() {
            Format::Json => {
                let agents: Json = agents.iter().map(told).collect();
                ui.json(&json!({ "agents": agents }))?;
            }
            Format::Human => {
                let line = |it: &AgentPreset| {
                    format!("{:10} {:22} {}\n", it.name, it.about, it.programs.join(", "))
                };
                ui.data(&agents.iter().map(line).collect::<String>())?;
            }
        }
        Ok(Exit::Success)
    }

    fn show(&self, ui: &Ui, request: &Request, name: &str) -> Result<Exit, Failure> {
        let Some(preset) = known(name)? else {
            let names: Vec<&str> = agent::names().collect();
            let message = format!("no agent `{}` is known", visible(name));
            let hint = match agent::meant(name, &[]) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => {
                    format!("known: {}; a policy can say `agents: {{ NAME: … }}`", names.join(", "))
                }
            };
            return Err(Failure::new("no-such-agent", message).hint(hint));
        };
        // Whether it would hold here.
        let mut asked = request.clone();
        asked.agent = Some(name.to_owned());
        let holds = Session::open(&asked).ok().map(|session| session.agent_preset().is_some());
        match self.format() {
            Format::Json => {
                let mut told = told(&preset);
                told["holds"] = holds.into();
                ui.json(&told)?;
            }
            Format::Human => {
                ui.data(&agent::as_policy(name).unwrap_or_default())?;
                if holds == Some(false) {
                    ui.say("note: a policy of yours speaks of this agent, and says all of it");
                }
            }
        }
        Ok(Exit::Success)
    }

    fn workspaces(&self, ui: &Ui, request: &Request) -> Result<Exit, Failure> {
        let found = store(request)?.look()?;
        if let Some(unknown) = found.unknown.into_iter().next() {
            // Runs for agents are refused: what is seen here must not look whole.
            return Err(unknown.into());
        }
        let found = found.places;
        match self.format() {
            Format::Json => {
                let one = |it: &palisade::workspaces::Workspace| {
                    let root = it.root.to_string_lossy();
                    json!({ "agent": it.agent, "root": root, "running": it.is_in_use() })
                };
                let found: Json = found.iter().map(one).collect();
                ui.json(&json!({ "workspaces": found }))?;
            }
            Format::Human => {
                for it in &found {
                    let running = if it.is_in_use() { "running" } else { "" };
                    let root = visible(&it.root.to_string_lossy());
                    let line = format!("{:10} {running:8} {root}\n", visible(&it.agent));
                    ui.data(&line)?;
                }
                if found.is_empty() {
                    ui.say("no agent has worked anywhere");
                }
            }
        }
        Ok(Exit::Success)
    }

    fn forget(&self, ui: &Ui, request: &Request, args: &ForgetArgs) -> Result<Exit, Failure> {
        if args.gone {
            let forgotten = store(request)?.forget_gone()?;
            match self.format() {
                Format::Json => ui.json(&json!({ "forgotten": forgotten }))?,
                Format::Human => ui.data(&format!("forgotten: {forgotten}\n"))?,
            }
            return Ok(Exit::Success);
        }
        let root = match &args.folder {
            Some(folder) => {
                let folder = request.cwd.join(folder);
                folder.canonicalize().unwrap_or(folder)
            }
            None => request.project()?.path,
        };
        let forgotten = match &args.agent {
            Some(agent) => store(request)?.forget_one(agent, &root)?,
            None => store(request)?.forget(&root)?,
        };
        match self.format() {
            Format::Json => ui.json(&json!({ "forgotten": forgotten }))?,
            Format::Human if forgotten == 0 && args.agent.is_some() => {
                ui.say("that agent has not worked there");
            }
            Format::Human if forgotten == 0 => ui.say("no agent has worked there"),
            Format::Human => {
                let what = match &args.agent {
                    Some(agent) => format!("no workspace of `{}`", visible(agent)),
                    None => "hidden from nobody".into(),
                };
                ui.data(&format!("{} is {what}\n", visible(&root.to_string_lossy())))?;
            }
        }
        Ok(Exit::Success)
    }
}

/// Reads what is known of an agent, with `~` as it stands in the file.
fn known(name: &str) -> Result<Option<AgentPreset>, Failure> {
    let anchors = Anchors { root: "/".into(), home: Some("/~".into()) };
    Ok(agent::named(name, &anchors).map_err(OpenError::Text)?)
}

fn told(preset: &AgentPreset) -> Json {
    fn texts<T: ToString>(values: impl Iterator<Item = T>) -> Vec<String> {
        let short = |value: T| {
            let text = value.to_string();
            text.strip_prefix("/~/").map_or(text.clone(), |below| format!("~/{below}"))
        };
        values.map(short).collect()
    }
    let policy = &preset.policy;
    let set = policy.env.set.iter().map(|(name, value)| (name.to_string(), json!(value.value)));
    json!({
        "agent": preset.name,
        "about": preset.about,
        "programs": preset.programs,
        "headless": preset.headless,
        "sandbox": preset.sandbox,
        "flags": preset.flags,
        "state": texts(preset.state.iter().map(|folder| &folder.value)),
        "protected": texts(policy.files.protect.values()),
        "logins": texts(policy.files.unhide.values()),
        "hosts": texts(policy.network.allow.values()),
        "pass": texts(policy.env.pass.values()),
        "set": set.collect::<serde_json::Map<String, Json>>(),
    })
}

fn store(request: &Request) -> Result<Workspaces, Failure> {
    request.workspaces().ok_or_else(|| {
        Failure::new("no-state", "there is no home folder to remember workspaces in")
            .hint("set HOME")
    })
}

impl From<Unknown> for Failure {
    fn from(unknown: Unknown) -> Self {
        OpenError::Workspaces(unknown).into()
    }
}
