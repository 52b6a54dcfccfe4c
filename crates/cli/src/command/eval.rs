//! `palisade eval`: how often does an agent solve tasks?

mod screen;

use std::fs::DirBuilder;
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use palisade::eval::{
    self, Candidate, CannotEvaluate, CannotLoad, CommandLine, Evaluation, NoOp, Reference, Report,
    Stopping, Task,
};
use palisade::policy::name::Period;
use palisade::policy::text::visible;
use palisade::{CaughtSignals, Request};

use super::run;
use crate::args::{Output, Place, Said};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};
use screen::Progress;

/// Run an agent on tasks, and count how often it solves them
///
/// A task is a folder with a `task.json` (`id`, `goal`, `verifier`), the files to begin with in
/// `buggy`, the solution in `expected`, and perhaps files that only the verifier sees in `verify`.
/// Without DIR, five small tasks of our own are taken. For each sample the agent is started behind
/// walls, as under `palisade run`, in a fresh copy of the files. It reads the goal from standard input,
/// from EVAL_GOAL, or where its command line says `{goal}`; `{task}` and `{sample}` are filled in as
/// well. The tasks and all other samples are hidden from it. Then the verifier is asked: `file_equals`,
/// `regex_match`, or `shell_exit_zero`, whose command runs behind walls too.
///
/// Tells pass@1, pass@k, mean and p95 latency, and the cost, if the last JSON object that the agent
/// prints has `cost_units`, `cost` or `total_cost_usd`.
///
/// Exit codes: 0 enough samples passed, 1 too few did, 125 nothing could be run, 126 the agent is denied
/// everywhere, 128+n signal n ended it.
///
/// Example: palisade eval --samples 3 --agent claude -- claude -p '{goal}' --output-format json
#[derive(Debug, clap::Args)]
#[command(override_usage = "palisade eval [OPTIONS] [DIR] -- AGENT...\n       \
    palisade eval [OPTIONS] [DIR] <--reference|--no-op>\n       palisade eval --write <DIR>")]
#[command(group = clap::ArgGroup::new("who").required(true).args(["command", "reference", "no_op", "write"]))]
pub(crate) struct EvalArgs {
    /// Folder with a folder for each task
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    /// How often each task is tried
    #[arg(long, short = 'k', value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    samples: u32,

    /// Most samples that are made at the same time; as many as there are processors if nothing is said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Task that is tried, by its id; all are if nothing is said. May be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<String>,

    /// End the agent after this time
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = run::time)]
    timeout: Period,

    /// The share of samples that must pass, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    at_least: f64,

    /// Keep the files of each sample in this folder, to look at them
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Put the solutions there instead of an agent: every sample must pass
    #[arg(long, conflicts_with = "command")]
    reference: bool,

    /// Do nothing instead of an agent: no sample must pass, and that is what exit code 0 then says
    #[arg(long, conflicts_with_all = ["command", "reference", "at_least"])]
    no_op: bool,

    /// Write our own five tasks into this folder, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["command", "reference", "no_op", "folder"])]
    write: Option<PathBuf>,

    /// Agent whose state, login and hosts are opened: one of `palisade agents`
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    #[command(flatten)]
    said: Said,

    #[command(flatten)]
    output: Output,

    /// The agent: a program and its arguments
    #[arg(last = true, value_name = "AGENT")]
    command: Vec<String>,
}

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);

impl EvalArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        if let Some(folder) = &self.write {
            return written(folder, ui);
        }
        let request = self.request()?;
        let bundled = self.folder.is_none().then(Bundled::write).transpose()?;
        let folder = match (&self.folder, &bundled) {
            (Some(folder), _) => folder.as_path(),
            (None, Some(Bundled(folder))) => folder,
            (None, None) => Path::new("."),
        };
        let tasks = self.chosen(eval::load(folder)?)?;
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        if let Some(keep) = &self.keep {
            DirBuilder::new().recursive(true).mode(0o700).create(keep).map_err(|error| {
                let keep = visible(&keep.to_string_lossy());
                Failure::io("eval-keep", format!("cannot make the folder `{keep}`"), &error)
            })?;
        }
        let keep = self.keep.as_ref().map(|keep| request.cwd.join(keep));
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // A verifier is no agent, and has none of its rights.
        let mut plain = request.clone();
        plain.agent = None;
        let evaluation = Evaluation {
            tasks: &tasks,
            samples: self.samples,
            jobs: self.jobs.map_or(cores, usize::from),
            request: &plain,
            hidden: std::iter::once(folder.clone()).chain(keep.clone()).collect(),
            keep,
            stopping: Stopping::default(),
        };
        let agent = self.agent(&request, &folder)?;
        let candidate: &dyn Candidate = match &agent {
            Some(agent) => agent,
            None if self.reference => &Reference,
            None => &NoOp,
        };
        let (report, signal) = attended(&evaluation, candidate, ui, self.format())?;
        if let Some(number) = signal {
            return Ok(Exit::Ran(u8::try_from(128 + number).unwrap_or(u8::MAX)));
        }
        match self.format() {
            Format::Json => ui.json(&report.json())?,
            Format::Human => ui.data(&screen::table(&report))?,
        }
        Ok(self.exit(&report))
    }

    fn exit(&self, report: &Report) -> Exit {
        if self.no_op {
            let solved = report.samples().any(|sample| sample.passed);
            return if solved { Exit::Ran(1) } else { Exit::Success };
        }
        if !report.samples().any(|sample| sample.ran) {
            let denied = report.samples().any(|sample| sample.denied);
            return if denied { Exit::Denied } else { Exit::Failed };
        }
        if report.pass_at_1() >= self.at_least { Exit::Success } else { Exit::Ran(1) }
    }

    fn request(&self) -> Result<Request, Failure> {
        let mut request = Place::default().request()?;
        request.agent.clone_from(&self.agent);
        self.said.put(&mut request);
        // Each sample is somewhere else, and these are meant from here.
        let cwd = request.cwd.clone();
        request.policies = request.policies.iter().map(|file| absolute(file, &cwd)).collect();
        request.profile = request.profile.map(|profile| match profile.contains('/') {
            true => absolute(&profile, &cwd),
            false => profile,
        });
        Ok(request)
    }

    fn chosen(&self, tasks: Vec<Task>) -> Result<Vec<Task>, Failure> {
        if self.only.is_empty() {
            return Ok(tasks);
        }
        if let Some(unknown) = self.only.iter().find(|id| !tasks.iter().any(|it| it.id == **id)) {
            let known: Vec<String> = tasks.iter().map(|task| visible(&task.id)).collect();
            let message = format!("there is no task `{}`", visible(unknown));
            let hint = format!("there are: {}", known.join(", "));
            return Err(Failure::new("eval-unknown", message).hint(hint));
        }
        Ok(tasks.into_iter().filter(|task| self.only.contains(&task.id)).collect())
    }

    /// Returns the agent that was named, if one was; its program is meant from here.
    fn agent(&self, request: &Request, tasks: &Path) -> Result<Option<CommandLine>, Failure> {
        let mut argv = self.command.clone();
        let Some(program) = argv.first_mut() else { return Ok(None) };
        if program.contains('/') {
            let path = request.cwd.join(&*program);
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if real.starts_with(tasks) {
                let message = format!("the agent `{}` lies among the tasks", visible(program));
                return Err(Failure::new("eval-agent", message)
                    .hint("put it elsewhere: the tasks are hidden from it"));
            }
            *program = path.to_string_lossy().into_owned();
        }
        Ok(Some(CommandLine::new(argv, request.clone(), Some(self.timeout.duration()))))
    }
}

/// Evaluates whoever tries until a signal says otherwise, and returns that signal as well.
fn attended(
    evaluation: &Evaluation<'_>,
    candidate: &dyn Candidate,
    ui: &Ui,
    format: Format,
) -> Result<(Report, Option<i32>), Failure> {
    let signals = CaughtSignals::catch_ending();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let attending = scope.spawn(|| {
            let signals = signals.as_ref()?;
            while !over.load(Ordering::Relaxed) {
                if let Some(number) = signals.next_within(TICK) {
                    evaluation.stopping.now();
                    return Some(number);
                }
            }
            None
        });
        let report = tried(evaluation, candidate, ui, format);
        over.store(true, Ordering::Relaxed);
        let signal = attending.join().unwrap_or_default();
        Ok((report?, signal))
    })
}

fn tried(
    evaluation: &Evaluation<'_>,
    candidate: &dyn Candidate,
    ui: &Ui,
    format: Format,
) -> Result<Report, Failure> {
    let progress = Progress::new(evaluation, io::stderr().is_terminal());
    let report = evaluation.run(candidate, &|task, sample| match format {
        Format::Human => progress.tell(ui, task, sample),
        Format::Json => {}
    });
    progress.end(ui);
    Ok(report?)
}

fn written(folder: &Path, ui: &Ui) -> Result<Exit, Failure> {
    eval::bundled::write(folder).map_err(|error| {
        let folder = visible(&folder.to_string_lossy());
        Failure::io("eval-write", format!("cannot write tasks into `{folder}`"), &error)
            .hint("name a folder that does not exist")
    })?;
    ui.say(&format!("note: five tasks are in {}", visible(&folder.to_string_lossy())));
    Ok(Exit::Success)
}

/// Our own tasks in a temporary folder, which is gone when this is.
struct Bundled(PathBuf);

impl Bundled {
    fn write() -> Result<Self, Failure> {
        let name = format!("palisade-tasks-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&folder);
        // From now on it is ours to remove.
        let made = made.map(|()| Self(folder));
        made.and_then(|bundled| eval::bundled::write(&bundled.0).map(|()| bundled)).map_err(
            |error| {
                Failure::io(
                    "eval-tasks",
                    "cannot write our own tasks into a temporary folder",
                    &error,
                )
                .hint("TMPDIR names the folder it is made in")
            },
        )
    }
}

impl Drop for Bundled {
    fn drop(&mut self) {
        // What cannot be removed lies in the temporary folder, and is nothing of value.
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// Writes a file's name, with or without a dialect before it, so that it means the same elsewhere.
fn absolute(file: &str, cwd: &Path) -> String {
    let (dialect, path) = match file.split_once(':') {
        Some((dialect, path)) if !dialect.contains('/') => (format!("{dialect}:"), path),
        Some(_) | None => (String::new(), file),
    };
    format!("{dialect}{}", cwd.join(path).to_string_lossy())
}

/// Reads a share.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "that is no number from 0 to 1".to_owned())
}

impl From<CannotLoad> for Failure {
    fn from(error: CannotLoad) -> Self {
        let mut failure = Self::new(error.code(), error.to_string()).caused_by(&error);
        if let Some((file, line)) = error.place() {
            failure = failure.file(file).line(line);
        }
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<CannotEvaluate> for Failure {
    fn from(error: CannotEvaluate) -> Self {
        Self::new("eval-scratch", error.to_string())
            .caused_by(&error)
            .hint("TMPDIR names the folder it is made in")
    }
}
