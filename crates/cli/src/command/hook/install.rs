//! `palisade hook install` and `uninstall`.

use std::env;
use std::path::PathBuf;

use palisade::Request;
use palisade::hook::Agent;
use palisade::hook::install::{CannotInstall, Change, Command, Scope, Where};
use palisade::policy::text::visible;

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Put the hook into an agent's settings
///
/// Shows what changes in which file, and asks. What stands there stays, comments and order too. To
/// install once more changes nothing, or the options of the hook that is there.
///
/// Exit codes: 0 it is installed, 126 you said no, 125 the settings cannot be used.
///
/// Example: palisade hook install claude --yes
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    settings: SettingsArgs,

    /// Have the hook let what is allowed pass without the agent's own prompts
    #[arg(long)]
    auto_allow: bool,

    /// Have the hook run allowed shell commands through `palisade run`
    #[arg(long)]
    wrap: bool,
}

/// Take the hook out of an agent's settings
///
/// The file is then what it was before, byte for byte; if somebody changed it since, the hook alone is
/// taken out.
///
/// Exit codes: 0 it is not there any more, 126 you said no, 125 the settings cannot be used.
#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Which settings are meant.
#[derive(Debug, clap::Args)]
struct SettingsArgs {
    /// Agent: claude, codex, copilot, cursor, gemini or opencode
    #[arg(value_name = "AGENT", value_parser = |name: &str| name.parse::<Agent>())]
    agent: Agent,

    #[command(flatten)]
    whose: Whose,

    /// Change without asking
    #[arg(long)]
    yes: bool,

    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    #[command(flatten)]
    place: Place,
}

/// Whose settings they are.
#[derive(Debug, clap::Args)]
struct Whose {
    /// Your own settings, for every project; this is the default
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// The settings of the project, for whoever works on it
    #[arg(long)]
    project: bool,
}

impl InstallArgs {
    /// The hook of an agent, in the user's own settings.
    pub(in crate::command) fn of(agent: Agent, yes: bool) -> Self {
        let whose = Whose { user: true, project: false };
        let settings = SettingsArgs { agent, whose, yes, dry_run: false, place: Place::default() };
        Self { settings, auto_allow: false, wrap: false }
    }

    pub(in crate::command) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let options = [("--auto-allow", self.auto_allow), ("--wrap", self.wrap)];
        let options = options.into_iter().filter(|(_, is_set)| *is_set);
        let command = Command {
            program: self.settings.program()?,
            options: options.map(|(word, _)| word.to_owned()).collect(),
        };
        let change = self.settings.at(|place| place.install(&command))?;
        self.settings.carry_out(&change, ui, "installed")
    }
}

impl UninstallArgs {
    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let change = self.settings.at(|place| {
            let change = place.uninstall()?;
            Ok(change)
        })?;
        self.settings.carry_out(&change, ui, "not there")
    }
}

impl SettingsArgs {
    fn scope(&self) -> Scope {
        if self.whose.project { Scope::Project } else { Scope::User }
    }

    /// Hands over where the settings lie.
    fn at<T>(
        &self,
        does: impl FnOnce(&Where<'_>) -> Result<T, CannotInstall>,
    ) -> Result<T, Failure> {
        let request = self.place.request()?;
        let places = request.places();
        let home = places
            .home
            .as_deref()
            .ok_or_else(|| Failure::new("no-home", "no home folder is known").hint("set HOME"))?;
        let root = match self.scope() {
            Scope::User => PathBuf::new(),
            Scope::Project => self.root(&request)?,
        };
        let place = Where {
            agent: self.agent,
            scope: self.scope(),
            home,
            root: &root,
            env: &request.env,
            state: places.state.as_deref(),
        };
        Ok(does(&place)?)
    }

    fn root(&self, request: &Request) -> Result<PathBuf, Failure> {
        Ok(palisade::Session::open(request)?.root().path.clone())
    }

    /// Returns how the program is started: by its path in settings of one user, and by its name in
    /// those that others read as well.
    fn program(&self) -> Result<String, Failure> {
        let failed = |error| Failure::io("program", "our own program cannot be found", &error);
        let own = env::current_exe().map_err(failed)?;
        if self.scope() == Scope::Project {
            return Ok("palisade".to_owned());
        }
        // As it is found: the place that it leads to may change with the next version.
        let path = env::var_os("PATH").unwrap_or_default();
        let named = env::split_paths(&path).map(|folder| folder.join("palisade"));
        let is_own =
            |file: &PathBuf| file.is_absolute() && file.canonicalize().ok().as_ref() == Some(&own);
        let found = named.into_iter().find(is_own).unwrap_or_else(|| own.clone());
        found
            .into_os_string()
            .into_string()
            .map_err(|_| Failure::new("program", "the path of our own program is no text"))
    }

    /// Shows the change and makes it, if that is wanted.
    fn carry_out(&self, change: &Change, ui: &Ui, done: &str) -> Result<Exit, Failure> {
        let file = visible(&change.file.to_string_lossy());
        if change.is_empty() {
            ui.data(&format!("{file}: the hook is {done}, nothing changes\n"))?;
            return Ok(Exit::Success);
        }
        ui.data(&format!("{file}\n{}", change.diff()))?;
        if self.dry_run {
            return Ok(Exit::Success);
        }
        if !self.yes && !ui.can_ask() {
            let hint = "give --yes to change it, or --dry-run to look only";
            return Err(Failure::new("unconfirmed", "nobody can be asked here").hint(hint));
        }
        if !self.yes && !ui.agrees("Change it?") {
            return Ok(Exit::Declined);
        }
        change.make()?;
        ui.say(&format!("the hook is {done} now"));
        if done == "installed" {
            next(self.agent, ui);
        }
        Ok(Exit::Success)
    }
}

/// Says what else there is to do.
fn next(agent: Agent, ui: &Ui) {
    let hint = match agent {
        Agent::Codex => "Codex runs a new hook only once you have trusted it: type `/hooks` in it",
        Agent::Cursor => "this was not tried with Cursor itself: see docs/guide/cursor.md",
        Agent::Claude | Agent::Copilot | Agent::Gemini | Agent::OpenCode => {
            "it holds from the agent's next start on"
        }
    };
    ui.say(&format!("hint: {hint}"));
}

impl From<CannotInstall> for Failure {
    fn from(error: CannotInstall) -> Self {
        let (code, hint) = match &error {
            CannotInstall::Broken { .. } | CannotInstall::Shape { .. } => {
                ("settings", "mend the file, or move it away")
            }
            CannotInstall::Changed { .. } => ("settings-changed", "try again"),
            CannotInstall::NoWrap(_) => ("no-wrap", "leave out --wrap"),
            CannotInstall::File { .. } => {
                ("settings", "look at the file and at the rights of its folder")
            }
        };
        Self::new(code, error.to_string()).caused_by(&error).hint(hint)
    }
}
