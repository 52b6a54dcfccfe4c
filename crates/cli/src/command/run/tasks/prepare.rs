//! Everything that can go wrong with tasks before the first of them begins.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade::policy::agent;
use palisade::policy::dialect::bloom::{Work, WorkCommand, work};
use palisade::policy::name::{Anchors, Folder, Period};
use palisade::policy::policy::Require;
use palisade::policy::text::{Source, visible};
use palisade::read::{Place, read_policy_file};
use palisade::workspaces::Workspace;
use palisade::{Job, OpenError, Sandbox, Session, Warning};
use serde_json::Value as Json;

use super::super::{RunArgs, variable};
use super::fill::fill;
use super::lines::{Line, Lines};
use super::place;
use crate::asking::Given;
use crate::command::{doubt_tool, screens_running, warnings_running};
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// A task that may begin.
pub(super) struct Prepared {
    pub(super) work: Work,
    pub(super) workspace: PathBuf,
    pub(super) agent: Option<String>,
    pub(super) sandbox: Sandbox,
    pub(super) text: String,
    pub(super) warnings: Json,
    /// The tasks before it, by their place.
    pub(super) after: Vec<usize>,
    pub(super) lines: Lines,
    command: WorkCommand,
    variables: Vec<(String, String)>,
    timeout: Option<std::time::Duration>,
    tool: Option<String>,
    trace: bool,
}

impl Prepared {
    /// Returns the job that does it.
    pub(super) fn job(&self) -> Job {
        let job = given(&self.command).job().cwd(&self.workspace);
        let job = self.variables.iter().fold(job, |job, (name, value)| job.variable(name, value));
        let job = self.tool.iter().fold(job, Job::tool);
        let job = if self.trace { job.trace_writes() } else { job };
        match self.timeout {
            Some(time) => job.timeout(time),
            None => job,
        }
    }

    /// Takes the lines that were printed since the last time.
    pub(super) fn printed(&self) -> Vec<Line> {
        self.lines.take()
    }
}

/// Reads the file, makes every workspace ready and opens every policy. Nothing has begun.
pub(super) fn prepare(args: &RunArgs, ui: &Ui) -> Result<Vec<Prepared>, Failure> {
    let usage = |message: &str| Failure::new("tasks", message);
    let [file] = &*args.tasks else {
        return Err(usage("--tasks was given more than once").hint("run one file at a time"));
    };
    if args.commanding.has_place() || args.stdin.is_some() {
        return Err(usage("--root, --cwd and --stdin are not for tasks")
            .hint("each has its `workspace`, and reads nothing"));
    }
    let request = args.commanding.request()?;
    let path = request.cwd.join(file);
    let text = read_policy_file(&path, Place::Named).map_err(|error| match error.code() {
        "policy-missing" => usage(&format!("there is no tasks file `{}`", visible(file)))
            .file(&path)
            .hint("check the spelling"),
        _ => OpenError::Read(error).into(),
    })?;
    let source = Source::new(file, &text);
    let folder = path.parent().unwrap_or(Path::new("/")).to_path_buf();
    let anchors = Anchors { root: folder, home: std::env::home_dir() };
    let mut works = work(&source, &anchors).map_err(OpenError::Text)?;
    // Those of tasks that are not run now are hidden too.
    let mut others = Vec::new();
    if let Some(only) = args.commanding.task() {
        let declared = works.iter().filter_map(|work| match (&work.workspace, &args.workspaces) {
            (Some(folder), _) => Some(folder.path()),
            (None, Some(above)) => Some(request.cwd.join(above).join(&*work.name)),
            (None, None) => None,
        });
        others.extend(declared.filter_map(|folder| folder.canonicalize().ok()));
        works.retain(|work| &*work.name == only);
        works.iter_mut().for_each(|work| work.after.clear());
        if works.is_empty() {
            return Err(usage(&format!("there is no task `{}` in `{file}`", visible(only))));
        }
    }
    let mut here = request.clone();
    here.task = None;
    let around = Session::open(&here)?;
    let listed = request.workspaces().map(|known| known.list());
    let known = listed.iter().flatten().flatten();
    // Here, and where tasks and agents work, links may be commands' of earlier runs.
    let mut ground: Vec<PathBuf> = vec![around.root().path.clone(), anchors.root.clone()];
    ground.extend(args.workspaces.iter().map(|above| request.cwd.join(above)));
    ground.extend(works.iter().filter_map(|work| Some(work.workspace.as_ref()?.path())));
    ground.extend(known.map(|it| it.root.clone()));
    ground.extend(around.policy().files.write.values().map(Folder::path));
    let ground: Vec<PathBuf> = ground.iter().filter_map(|it| it.canonicalize().ok()).collect();
    let mut places = Vec::new();
    for work in &works {
        let place = place::workspace(work, args, &request, &ground)?;
        place::check_open(work, &place, around.policy())?;
        places.push(place);
    }
    others.extend(places.iter().cloned());
    // Whoever works in one of them now does not know of these tasks. Where that cannot be told, a
    // task with an agent is refused below, and one without has nobody to hide from.
    let busy: Vec<PathBuf> = match listed {
        None => Vec::new(),
        Some(Ok(known)) => {
            known.into_iter().filter(Workspace::is_in_use).map(|it| it.root).collect()
        }
        Some(Err(_)) => others.clone(),
    };
    let given = match args.commanding.is_given() {
        true => Some(args.commanding.command()?),
        false => None,
    };
    let mut variables = Vec::new();
    for named in &args.env {
        let (name, value) = variable(named)?;
        variables.extend(value.map(|value| (name, value)));
    }
    let (mut tasks, mut told) = (Vec::new(), Vec::new());
    for (at, work) in works.iter().enumerate() {
        let Some(place) = places.get(at) else { continue };
        check_shared(at, &works, &places)?;
        let mut own = request.clone();
        own.policies.extend(args.settings.iter().map(|file| format!("srt:{file}")));
        own.policies.push(format!("bloom:{file}"));
        own.task = Some(work.name.to_string());
        own.root = Some(place.clone());
        own.apart.extend(others.iter().filter(|other| *other != place).cloned());
        own.beside.extend(others.iter().filter(|other| !busy.contains(other)).cloned());
        let sandbox = Sandbox::new(&own)?;
        let session = sandbox.session();
        check_confined(work, session)?;
        let agent = session.agent().map(str::to_owned);
        let command = command(work, agent.as_deref(), given.as_ref(), place, &anchors)?;
        let mut warnings = warnings_running(session);
        if args.format() == Format::Human {
            warn(ui, session, &mut told);
        }
        // Of the tool a person is told once.
        let say = Some(ui).filter(|_| at == 0 && args.format() == Format::Human);
        doubt_tool(args.tool.as_deref(), session, &mut warnings, say);
        let place_of = |name: &Arc<str>| works.iter().position(|other| other.name == *name);
        tasks.push(Prepared {
            text: self::given(&command).text(),
            warnings,
            after: work.after.iter().filter_map(place_of).collect(),
            work: work.clone(),
            workspace: place.clone(),
            agent,
            sandbox,
            lines: Lines::default(),
            command,
            variables: variables.clone(),
            timeout: args.timeout.map(Period::duration),
            tool: args.tool.clone(),
            trace: args.trace_writes,
        });
    }
    Ok(tasks)
}

/// Refuses a task that nothing keeps from the others, or need not.
fn check_confined(work: &Work, session: &Session) -> Result<(), Failure> {
    let name = visible(&work.name);
    let off = session.warnings().iter().any(|it| matches!(it, Warning::Unconfined { .. }));
    let (message, hint) = match session.policy().require.value() {
        _ if off => (
            format!("nothing confines the task `{name}`"),
            "others could not be kept from it; run it alone, with --task and a command",
        ),
        Require::Full | Require::Landlock => return Ok(()),
        require @ (Require::External | Require::None) => (
            format!("nothing need confine the task `{name}`: the policy says `require: {require}`"),
            "others could not be kept from it; say `require: full` or `require: landlock`, or run \
             it alone, with --task and a command",
        ),
    };
    Err(Failure::new("task-unconfined", message).hint(hint))
}

/// Says what a person should know, once for all tasks.
fn warn(ui: &Ui, session: &Session, told: &mut Vec<String>) {
    for text in screens_running(session) {
        if !told.contains(&text) {
            ui.say(&text);
            told.push(text);
        }
    }
}

/// Refuses a workspace that two tasks may use at the same time.
fn check_shared(at: usize, works: &[Work], places: &[PathBuf]) -> Result<(), Failure> {
    for other in
        (0..works.len()).filter(|other| *other > at && places.get(*other) == places.get(at))
    {
        let (Some(one), Some(two)) = (works.get(at), works.get(other)) else { continue };
        // Sorted: the later may wait for the earlier, and never the other way round.
        if !waits_for(two, one, works) {
            let (one, two) = (visible(&one.name), visible(&two.name));
            let message = format!("the tasks `{one}` and `{two}` have the same workspace");
            return Err(Failure::new("workspaces-overlap", message)
                .hint("give each its own, or let one wait for the other by `depends_on`"));
        }
    }
    Ok(())
}

fn waits_for(task: &Work, other: &Work, works: &[Work]) -> bool {
    task.after.iter().any(|name| {
        *name == other.name
            || works.iter().any(|before| before.name == *name && waits_for(before, other, works))
    })
}

/// Returns what a task runs: its own command, the one that was given, or its agent.
fn command(
    work: &Work,
    agent: Option<&str>,
    given: Option<&Given>,
    place: &Path,
    anchors: &Anchors,
) -> Result<WorkCommand, Failure> {
    if let Some(command) = &work.command {
        return Ok(command.clone());
    }
    let instructions = work.instructions.as_deref().unwrap_or_default();
    match given {
        // Text for a shell is left as it is: what is put into it would be read as shell.
        Some(Given::Shell(text)) => return Ok(WorkCommand::Shell(text.clone())),
        Some(Given::Argv(argv)) => return Ok(WorkCommand::Argv(fill(argv, work, agent, place)?)),
        None => {}
    }
    let known = agent.map(|agent| agent::named(agent, anchors)).transpose();
    let known = known.map_err(OpenError::Text)?.flatten();
    match known.filter(|_| !instructions.is_empty()) {
        // Not every agent takes `--`, and what is an option may switch its guards off.
        Some(_) if instructions.starts_with('-') => {
            let name = visible(&work.name);
            let message = format!(
                "the instructions of the task `{name}` begin with `-`: its agent would take them \
                 for an option"
            );
            Err(Failure::new("instructions", message).hint("begin with a word"))
        }
        Some(known) => Ok(WorkCommand::Argv(known.task(instructions))),
        None => {
            let message = format!("the task `{}` has nothing to run", visible(&work.name));
            Err(Failure::new("no-command", message).hint(
                "write a `command`, or `instructions` and an agent that is known, or give a \
                 command after `--`",
            ))
        }
    }
}

fn given(command: &WorkCommand) -> Given {
    match command {
        WorkCommand::Argv(argv) => Given::Argv(argv.clone()),
        WorkCommand::Shell(text) => Given::Shell(text.clone()),
    }
}
